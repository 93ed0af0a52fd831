//! The options of the adapter, and how the file is read.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::about::{INSTRUCTIONS, MUSIQUE};
use crate::artifact::{BenchmarkInfo, Documents, Evidence, Gold, Golds, Queries, Query};
use crate::error::{InputError, Place};
use crate::prepare::about::About;
use crate::prepare::adapter::{Adapter, ReadFiles};
use crate::prepare::benchmark::{Benchmark, append_in_line_order, nothing};
use crate::prepare::dataset::{evaluators, first_file, info, object};
use crate::prepare::fields::{Fields, describe};
use crate::prepare::ids::Ids;
use crate::prepare::lines::{LineEnds, SourceBytes};
use crate::prepare::listing::ListingFile;
use crate::prepare::paragraphs::{ParagraphIds, Paragraphs, one_line};
use crate::prepare::question_scope::QuestionScope;
use crate::prepare::rows::rows;
use crate::prepare::sources::FindDocument;

/// Options of the `musique` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MusiqueSpec {
    /// The file, or the folder that holds `musique_ans_v1.0_<split>.jsonl`, itself or below `data`. May be gzip.
    pub path: PathBuf,
    /// The split.
    #[serde(default = "split")]
    pub split: String,
    /// What a knowledge base is built for.
    #[serde(default)]
    pub scope: QuestionScope,
}

fn split() -> String {
    "dev".to_string()
}

/// The role of the only file.
const QUESTIONS: &str = "questions";

impl Adapter for MusiqueSpec {
    fn name(&self) -> &'static str {
        "musique"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        MUSIQUE.name.to_string()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("split", &self.split);
        self.scope.walk(v);
    }

    fn listing(&self) -> Vec<ListingFile> {
        let name = format!("musique_ans_v1.0_{}.jsonl", self.split);
        let places = ["", "data/"].map(|folder| [format!("{folder}{name}"), format!("{folder}{name}.gz")]);
        let places: Vec<&str> = places.iter().flatten().map(String::as_str).collect();
        vec![ListingFile::required(QUESTIONS, first_file(&self.path, &places))]
    }

    fn advice(&self) -> &'static str {
        "name the file musique_ans_v1.0_dev.jsonl, or the folder that holds it"
    }

    fn root(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self, files: &ReadFiles<'_>, _find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let source = files.needed(QUESTIONS);
        let mut found = Vec::new();
        let info = info(&MUSIQUE, &self.split, self.scope.scope());
        let questions = Questions::read(&info, source, &mut found);
        if questions.queries.rows.is_empty() && found.is_empty() {
            found.push(nothing(Place::file(source.path), "question", "is this musique_ans_v1.0_dev.jsonl?"));
        }
        let mut errors = Vec::new();
        append_in_line_order(&mut errors, found);
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Benchmark {
            info,
            documents: Documents { rows: questions.paragraphs.documents },
            queries: questions.queries,
            golds: questions.golds,
            units: self.scope.units(questions.units),
            default_evaluators: evaluators(&MUSIQUE),
            ..Benchmark::default()
        })
    }

    fn cases_role(&self) -> &'static str {
        QUESTIONS
    }

    fn about(&self) -> Option<&'static About> {
        Some(&MUSIQUE)
    }

    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        &INSTRUCTIONS
    }
}

/// The questions of a file.
struct Questions {
    paragraphs: Paragraphs,
    queries: Queries,
    golds: Golds,
    /// Each question with the rows of its paragraphs.
    units: Vec<(String, Vec<u32>)>,
}

/// A paragraph of a question.
struct Paragraph {
    index: u64,
    title: String,
    text: String,
    is_supporting: bool,
}

impl Questions {
    fn read(info: &BenchmarkInfo, source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Self {
        let mut questions = Questions {
            paragraphs: Paragraphs::new(ParagraphIds::TitleAndText),
            queries: Queries::default(),
            golds: Golds::default(),
            units: Vec::new(),
        };
        let mut ids = Ids::new("id");
        for row in rows(source, LineEnds::Plain, errors) {
            let fields = Fields::of(source.path, &row);
            if let Some((query, gold, rows)) = questions.question(info, &fields, errors) {
                ids.take(&query.case_id, questions.queries.rows.len(), fields.place(), errors);
                questions.units.push((query.case_id.clone(), rows));
                questions.queries.rows.push(query);
                questions.golds.rows.push(gold);
            }
        }
        questions
    }

    /// One question with its gold and the rows of its paragraphs.
    fn question(
        &mut self,
        info: &BenchmarkInfo,
        fields: &Fields<'_>,
        errors: &mut Vec<InputError>,
    ) -> Option<(Query, Gold, Vec<u32>)> {
        let before = errors.len();
        let case_id = fields.text("id", errors);
        let text = fields.text("question", errors);
        let mut answers = Vec::from_iter(fields.text("answer", errors));
        for alias in fields.texts("answer_aliases", errors) {
            if !answers.contains(&alias) {
                answers.push(alias);
            }
        }
        let is_answerable = truth(fields, "answerable", errors).unwrap_or(true);
        let paragraphs = paragraphs(fields, errors);
        if errors.len() > before {
            return None;
        }
        let case_id = case_id?;
        let mut rows = Vec::new();
        let mut evidence: Vec<Evidence> = Vec::new();
        for Paragraph { index, title, text, is_supporting } in paragraphs {
            let row = self.paragraphs.row(info, &title, &[text]);
            if !rows.contains(&row) {
                rows.push(row);
            }
            let id = self.paragraphs.document_id(row);
            if is_supporting && evidence.iter().all(|piece| piece.reference_id.as_deref() != Some(id)) {
                evidence.push(Evidence {
                    reference_id: Some(id.to_string()),
                    locator: object([("document_id", json!(id))]),
                    text: None,
                    metadata: object([("title", json!(title)), ("idx", json!(index))]),
                });
            }
        }
        if !is_answerable {
            answers.clear();
        }
        let composition = composition(&case_id);
        let hops = composition.and_then(|kind| kind.find("hop").and_then(|at| kind.get(..at + "hop".len())));
        let gold = Gold {
            case_id: case_id.clone(),
            answers,
            evidence,
            labels: object([
                ("type", json!(hops)),
                ("composition", json!(composition)),
                ("answerable", json!(is_answerable)),
            ]),
            case_metadata: object([("question_decomposition", decomposition(fields))]),
            ..Gold::default()
        };
        Some((Query { case_id, text: text?, category: None }, gold, rows))
    }
}

/// How a question is composed, as its id begins: `2hop`, `3hop1`, `4hop3`, ...
fn composition(id: &str) -> Option<&str> {
    let (kind, _) = id.split_once("__")?;
    let (number, rest) = kind.split_once("hop")?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!number.is_empty() && digits(number) && digits(rest)).then_some(kind)
}

/// The questions that a question is made of, for people who look into a case.
fn decomposition(fields: &Fields<'_>) -> Value {
    fields.value("question_decomposition").cloned().unwrap_or_default()
}

/// The truth value of `key`.
fn truth(fields: &Fields<'_>, key: &str, errors: &mut Vec<InputError>) -> Option<bool> {
    match fields.value(key)? {
        Value::Bool(value) => Some(*value),
        other => {
            let message = format!("`{}` is {}; expected true or false", fields.name(key), describe(other));
            errors.push(fields.error(message));
            None
        }
    }
}

fn paragraphs(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Vec<Paragraph> {
    let mut paragraphs = Vec::new();
    let mut indexes = BTreeSet::new();
    for (name, item) in fields.needed_list("paragraphs", errors) {
        let Some(paragraph) = fields.as_fields(name.clone(), item, errors) else { continue };
        let title = paragraph.verbatim("title", errors).unwrap_or_default();
        let text = paragraph.text("paragraph_text", errors);
        let is_supporting = truth(&paragraph, "is_supporting", errors).unwrap_or_default();
        let index = paragraph.value("idx");
        let Some(number) = index.and_then(Value::as_u64) else {
            let found = index.map_or("missing".to_string(), describe);
            errors.push(fields.error(format!("`{name}.idx` is {found}; expected a whole number")));
            continue;
        };
        if !indexes.insert(number) {
            errors.push(fields.error(format!("`{name}.idx` is {number}, as that of an earlier paragraph")));
        }
        if let Some(text) = text {
            paragraphs.push(Paragraph { index: number, title: one_line(&title), text: one_line(&text), is_supporting });
        }
    }
    if paragraphs.is_empty() && errors.is_empty() {
        errors.push(fields.error("`paragraphs` is empty; expected at least one"));
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::listing::SourceFile;

    fn read(text: &str) -> Result<Benchmark, Vec<String>> {
        let spec = MusiqueSpec { path: "m.jsonl".into(), split: split(), scope: QuestionScope::Question };
        let digest = ragstage_cache::Digest::of(text.as_bytes());
        let file = SourceFile { role: QUESTIONS.to_string(), path: "m.jsonl".into(), digest, size: 0 };
        let files = ReadFiles { files: vec![(&file, text.as_bytes().to_vec())], ..ReadFiles::default() };
        let told = |errors: Vec<InputError>| errors.iter().map(ToString::to_string).collect();
        spec.read(&files, &|_| Ok(None)).map_err(told)
    }

    fn question(id: &str, changes: Value) -> String {
        let mut question = json!({
            "id": id, "question": "Who kept the light of the pier?", "answer": "Ada Holt",
            "answer_aliases": ["Holt", "Ada Holt"], "answerable": true,
            "question_decomposition": [{"id": 1, "question": "pier >> light", "answer": "Mole", "paragraph_support_idx": 2}],
            "paragraphs": [
                {"idx": 0, "title": "Mole", "paragraph_text": "A mole\ndigs.", "is_supporting": false},
                {"idx": 1, "title": "Ada Holt", "paragraph_text": "She kept the light.", "is_supporting": true},
                {"idx": 2, "title": "Mole", "paragraph_text": "The Mole is a pier.", "is_supporting": true},
            ],
        });
        let fields = question.as_object_mut().expect("an object");
        fields.extend(changes.as_object().cloned().expect("an object"));
        question.to_string()
    }

    #[test]
    fn questions_have_their_own_paragraphs() {
        let text = format!("{}\n{}\n", question("3hop1__1_2_3", json!({})), question("2hop__4_5", json!({})));
        let benchmark = read(&text).expect("a benchmark");
        assert_eq!((benchmark.documents.rows.len(), benchmark.units.len()), (3, 2));
        assert_eq!(benchmark.documents.rows[0].data.as_deref(), Some(b"Mole\n\nA mole digs.".as_slice()));
        assert_eq!(benchmark.units[1].document_rows, Some(vec![0, 1, 2]));
        let gold = &benchmark.golds.rows[0];
        assert_eq!(gold.answers, ["Ada Holt", "Holt"]);
        let labels = json!({"type": "3hop", "composition": "3hop1", "answerable": true});
        assert_eq!(Value::Object(gold.labels.clone()), labels);
        let supporting: Vec<_> =
            gold.evidence.iter().map(|piece| (piece.reference_id.as_deref(), &piece.metadata["idx"])).collect();
        let id = |row: usize| Some(benchmark.documents.rows[row].document_id.as_str());
        assert_eq!(supporting, [(id(1), &json!(1)), (id(2), &json!(2))]);
        assert!(id(0).is_some_and(|id| id.starts_with("Mole_")) && id(0) != id(2));
        assert_eq!(gold.case_metadata["question_decomposition"][0]["answer"], "Mole");
    }

    #[test]
    fn what_cannot_be_answered_has_no_gold_answer() {
        let benchmark = read(&question("x", json!({"answerable": false}))).expect("a benchmark");
        assert!(benchmark.golds.rows[0].answers.is_empty());
        assert_eq!(Value::Object(benchmark.golds.rows[0].labels.clone()), json!({"answerable": false}));
    }

    #[test]
    fn every_fault_is_told_with_its_line() {
        let paragraph = |changes: Value| {
            let mut paragraph = json!({"idx": 0, "title": "T", "paragraph_text": "x", "is_supporting": true});
            paragraph.as_object_mut().expect("an object").extend(changes.as_object().cloned().expect("an object"));
            paragraph
        };
        let text = [
            question("a", json!({"answer": null, "answerable": "yes"})),
            question("a", json!({"paragraphs": [paragraph(json!({})), paragraph(json!({"is_supporting": 1})), 3]})),
            question("a", json!({"paragraphs": [paragraph(json!({"idx": "1", "paragraph_text": " "}))]})),
            question("b", json!({})),
            question("b", json!({})),
            question("c", json!({"answer_aliases": "Holt"})),
            "{\"id\": \"d\", ".to_string(),
        ];
        assert_eq!(
            read(&text.join("\n")).expect_err("faults"),
            [
                "m.jsonl:1: `answer` is null; expected a text",
                "m.jsonl:1: `answerable` is the text \"yes\"; expected true or false",
                "m.jsonl:2: `paragraphs[1].is_supporting` is the number 1; expected true or false",
                "m.jsonl:2: `paragraphs[1].idx` is 0, as that of an earlier paragraph",
                "m.jsonl:2: `paragraphs[2]` is the number 3; expected an object",
                "m.jsonl:3: `paragraphs[0].paragraph_text` is blank",
                "m.jsonl:3: `paragraphs[0].idx` is the text \"1\"; expected a whole number",
                "m.jsonl:5: id \"b\" is taken by line 4",
                "m.jsonl:6: `answer_aliases` is the text \"Holt\"; expected a list",
                "m.jsonl:7:13: invalid JSON: EOF while parsing a value",
            ]
        );
        assert_eq!(read("\n").expect_err("a fault"), ["m.jsonl: expected at least one question, found none"]);
    }

    #[test]
    fn ids_say_how_questions_are_composed() {
        assert_eq!(composition("4hop3__1_2_3_4"), Some("4hop3"));
        for id in ["4hop3", "hop__1", "2shop__1", "2hopx__1", "x"] {
            assert_eq!(composition(id), None, "{id}");
        }
    }
}
