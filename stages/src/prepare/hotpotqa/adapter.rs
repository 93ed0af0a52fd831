//! The options of the adapter, and how the file is read.

use std::collections::HashMap;
use std::path::PathBuf;

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::about::{HOTPOTQA, INSTRUCTIONS};
use crate::artifact::{BenchmarkInfo, Documents, Evidence, Gold, Golds, Queries, Query};
use crate::error::{InputError, Place};
use crate::prepare::about::About;
use crate::prepare::adapter::{Adapter, ReadFiles};
use crate::prepare::benchmark::{Benchmark, append_in_line_order, nothing};
use crate::prepare::dataset::{evaluators, first_file, info, object};
use crate::prepare::fields::{Fields, describe};
use crate::prepare::json_file::{JsonFile, JsonPart};
use crate::prepare::lines::SourceBytes;
use crate::prepare::listing::ListingFile;
use crate::prepare::paragraphs::{ParagraphIds, Paragraphs, one_line};
use crate::prepare::question_scope::QuestionScope;
use crate::prepare::rendering::spans_json;
use crate::prepare::sources::FindDocument;

/// Options of the `hotpotqa` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotpotqaSpec {
    /// The file, or the folder that holds `hotpot_<split>_distractor_v1.json` (of the train split `hotpot_train_v1.1.json`).
    /// May be gzip.
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

/// The key of the benchmark's metadata that counts supporting facts that name no sentence; absent where there is none.
const DANGLING: &str = "dangling_supporting_facts";

impl Adapter for HotpotqaSpec {
    fn name(&self) -> &'static str {
        "hotpotqa"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        HOTPOTQA.name.to_string()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("split", &self.split);
        self.scope.walk(v);
    }

    fn listing(&self) -> Vec<ListingFile> {
        let split = &self.split;
        let names = [format!("hotpot_{split}_distractor_v1.json"), format!("hotpot_{split}_v1.1.json")];
        let places: Vec<String> = names.iter().flat_map(|name| [name.clone(), format!("{name}.gz")]).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        vec![ListingFile::required(QUESTIONS, first_file(&self.path, &places))]
    }

    fn advice(&self) -> &'static str {
        "name the file hotpot_dev_distractor_v1.json, or the folder that holds it"
    }

    fn root(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self, files: &ReadFiles<'_>, _find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let source = files.needed(QUESTIONS);
        let mut found = Vec::new();
        let mut info = info(&HOTPOTQA, &self.split, self.scope.scope());
        let questions = Questions::read(&info, source, &mut found);
        if questions.queries.rows.is_empty() && found.is_empty() {
            found.push(nothing(Place::file(source.path), "question", "is this hotpot_dev_distractor_v1.json?"));
        }
        let mut errors = Vec::new();
        append_in_line_order(&mut errors, found);
        if !errors.is_empty() {
            return Err(errors);
        }
        if questions.dangling > 0 {
            info.metadata.insert(DANGLING.to_string(), json!(questions.dangling));
        }
        Ok(Benchmark {
            info,
            documents: Documents { rows: questions.paragraphs.documents },
            queries: questions.queries,
            golds: questions.golds,
            units: self.scope.units(questions.units),
            default_evaluators: evaluators(&HOTPOTQA),
            ..Benchmark::default()
        })
    }

    fn cases_role(&self) -> &'static str {
        QUESTIONS
    }

    fn about(&self) -> Option<&'static About> {
        Some(&HOTPOTQA)
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
    /// Supporting facts that name no sentence.
    dangling: u64,
}

/// A paragraph of a question's context.
struct Context {
    row: u32,
    sentences: Vec<String>,
}

impl Questions {
    fn read(info: &BenchmarkInfo, source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Self {
        let mut questions = Questions {
            paragraphs: Paragraphs::new(ParagraphIds::Title),
            queries: Queries::default(),
            golds: Golds::default(),
            units: Vec::new(),
            dangling: 0,
        };
        let mut ids: HashMap<String, String> = HashMap::new();
        let file = JsonFile::open(source, errors);
        let parts = file.as_ref().map(|file| file.root().items(errors)).unwrap_or_default();
        for part in &parts {
            let Some((query, gold, rows)) = questions.question(info, part, errors) else { continue };
            if let Some(other) = ids.insert(query.case_id.clone(), part.name.clone()) {
                let message = format!("`{}._id` {:?} is that of `{other}` too", part.name, query.case_id);
                errors.push(part.error(message).hint("give every question an id of its own"));
                continue;
            }
            questions.units.push((query.case_id.clone(), rows));
            questions.queries.rows.push(query);
            questions.golds.rows.push(gold);
        }
        questions
    }

    /// One question with its gold and the rows of its paragraphs.
    fn question(
        &mut self,
        info: &BenchmarkInfo,
        part: &JsonPart<'_>,
        errors: &mut Vec<InputError>,
    ) -> Option<(Query, Gold, Vec<u32>)> {
        let row = match part.row() {
            Ok(row) => row,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        let fields = Fields::named(part.path(), &row, &part.name);
        let before = errors.len();
        let case_id = fields.text("_id", errors);
        let text = fields.text("question", errors);
        let answer = fields.text("answer", errors);
        let kind = fields.optional_text("type", errors);
        let level = fields.optional_text("level", errors);
        let context = context(&fields, errors);
        let facts = facts(&fields, errors);
        if errors.len() > before {
            return None;
        }
        let mut by_title: HashMap<String, Context> = HashMap::new();
        let mut rows = Vec::new();
        for (title, sentences) in context {
            let row = self.paragraphs.row(info, &title, &sentences);
            if !rows.contains(&row) {
                rows.push(row);
            }
            by_title.entry(title).or_insert(Context { row, sentences });
        }
        let mut evidence: Vec<Evidence> = Vec::new();
        for (title, sentence) in facts {
            match by_title.get(&title).and_then(|context| self.evidence(context, &title, sentence)) {
                // The facts are a set.
                Some(piece) if evidence.contains(&piece) => {}
                Some(piece) => evidence.push(piece),
                None => self.dangling += 1,
            }
        }
        let gold = Gold {
            case_id: case_id.clone()?,
            answers: vec![answer?],
            evidence,
            labels: object([("type", json!(kind)), ("level", json!(level))]),
            ..Gold::default()
        };
        Some((Query { case_id: case_id?, text: text?, category: None }, gold, rows))
    }

    /// The piece of evidence that is a sentence of `context`.
    fn evidence(&self, context: &Context, title: &str, sentence: usize) -> Option<Evidence> {
        let text = context.sentences.get(sentence).filter(|text| !text.is_empty())?;
        let id = self.paragraphs.document_id(context.row);
        let span = self.paragraphs.line(context.row, sentence);
        Some(Evidence {
            reference_id: Some(id.to_string()),
            locator: object([("document_id", json!(id)), ("spans", spans_json(&[span]))]),
            text: Some(text.clone()),
            metadata: object([("title", json!(title)), ("sentence", json!(sentence))]),
        })
    }
}

/// The titles and sentences of `context`: `[[title, [sentence, ...]], ...]`.
fn context(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Vec<(String, Vec<String>)> {
    let wrong = |name: &str, item: &Value, expected: &str| {
        fields.error(format!("`{name}` is {}; expected {expected}", describe(item)))
    };
    let mut paragraphs = Vec::new();
    for (name, item) in fields.needed_list("context", errors) {
        match item.as_array().map(Vec::as_slice) {
            Some([Value::String(title), Value::Array(sentences)]) => {
                let mut lines = Vec::with_capacity(sentences.len());
                for (i, sentence) in sentences.iter().enumerate() {
                    match sentence {
                        Value::String(text) => lines.push(one_line(text)),
                        other => errors.push(wrong(&format!("{name}[1][{i}]"), other, "a text")),
                    }
                }
                paragraphs.push((one_line(title), lines));
            }
            _ => errors.push(wrong(&name, item, "a title and a list of sentences")),
        }
    }
    paragraphs
}

/// The title and the sentence's number of each of `supporting_facts`: `[[title, number], ...]`.
fn facts(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Vec<(String, usize)> {
    let mut facts = Vec::new();
    for (name, item) in fields.list("supporting_facts", errors) {
        let fact = match item.as_array().map(Vec::as_slice) {
            Some([Value::String(title), Value::Number(number)]) => number.as_u64().map(|number| (title, number)),
            _ => None,
        };
        match fact {
            Some((title, number)) => facts.push((one_line(title), usize::try_from(number).unwrap_or(usize::MAX))),
            None => {
                let message = format!("`{name}` is {}; expected a title and the number of a sentence", describe(item));
                errors.push(fields.error(message));
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::prepare::listing::SourceFile;

    fn read_scoped(text: &str, scope: QuestionScope) -> Result<Benchmark, Vec<InputError>> {
        let spec = HotpotqaSpec { path: "q.json".into(), split: split(), scope };
        let digest = ragstage_cache::Digest::of(text.as_bytes());
        let file = SourceFile { role: QUESTIONS.to_string(), path: "q.json".into(), digest, size: 0 };
        let files = ReadFiles { files: vec![(&file, text.as_bytes().to_vec())], ..ReadFiles::default() };
        spec.read(&files, &|_| Ok(None))
    }

    fn read(text: &str) -> Result<Benchmark, Vec<String>> {
        let told = |errors: Vec<InputError>| errors.iter().map(ToString::to_string).collect();
        read_scoped(text, QuestionScope::Question).map_err(told)
    }

    const TWO: &str = r#"[
{"_id": "a1", "question": " Who kept the light? ", "answer": "yes", "type": "comparison", "level": "hard",
 "supporting_facts": [["Mole", 1], ["Ada Holt", 0], ["Mole", 1], ["Mole", 9], ["Nobody", 0]],
 "context": [["Mole", ["The Mole is a pier.", " Ada Holt kept its light.", " "]], ["Ada Holt", ["Ada Holt was a keeper."]]]},
{"_id": "b2", "question": "Where?", "answer": "Porto", "type": "bridge", "level": "easy",
 "supporting_facts": [["Mole", 0]],
 "context": [["Mole", ["The Mole is a pier.", " Ada Holt kept its light.", " "]], ["Mole", ["A mole digs."]]]}
]"#;

    #[test]
    fn questions_have_their_own_paragraphs() {
        let benchmark = read(TWO).expect("a benchmark");
        let ids: Vec<&str> = benchmark.documents.rows.iter().map(|document| document.document_id.as_str()).collect();
        assert_eq!(ids.len(), 3);
        assert_eq!(ids[0], "Mole");
        assert!(ids[1].starts_with("Ada_Holt") && ids[2].starts_with("Mole_"), "{ids:?}");
        let text = "Mole\n\nThe Mole is a pier.\nAda Holt kept its light.";
        assert_eq!(benchmark.documents.rows[0].data.as_deref(), Some(text.as_bytes()));
        let units: Vec<_> =
            benchmark.units.iter().map(|unit| (unit.unit_id.as_str(), unit.document_rows.clone())).collect();
        assert_eq!(units, [("a1", Some(vec![0, 1])), ("b2", Some(vec![0, 2]))]);
        let query = &benchmark.queries.rows[0];
        assert_eq!((query.case_id.as_str(), query.text.as_str()), ("a1", "Who kept the light?"));
        let gold = &benchmark.golds.rows[0];
        assert_eq!(gold.answers, ["yes"]);
        assert_eq!(Value::Object(gold.labels.clone()), json!({"type": "comparison", "level": "hard"}));
        let pieces: Vec<_> =
            gold.evidence.iter().map(|piece| (piece.reference_id.as_deref(), piece.text.as_deref())).collect();
        assert_eq!(
            pieces,
            [(Some("Mole"), Some("Ada Holt kept its light.")), (Some(ids[1]), Some("Ada Holt was a keeper."))]
        );
        let locator = json!({"document_id": "Mole", "spans": [[26, 50]]});
        assert_eq!(Value::Object(gold.evidence[0].locator.clone()), locator);
        assert_eq!(text.chars().skip(26).take(24).collect::<String>(), "Ada Holt kept its light.");
        assert_eq!(Value::Object(benchmark.info.metadata.clone()), json!({"dangling_supporting_facts": 2}));
        assert_eq!(benchmark.info.build_scope, "case");
        assert_eq!(benchmark.info.license.as_deref(), Some("CC BY-SA 4.0"));
        let whole = read_scoped(TWO, QuestionScope::Corpus).expect("a benchmark");
        assert_eq!((whole.units.len(), whole.info.build_scope.as_str()), (1, "corpus"));
        assert_eq!(whole.documents, benchmark.documents);
    }

    #[test]
    fn every_fault_is_told_with_its_line_and_name() {
        let text = r#"[
{"_id": "a", "question": "q", "answer": "x", "supporting_facts": [["T"], "T", ["T", -1]], "context": [["T", ["s"]]]},
{"_id": "a", "answer": null, "supporting_facts": {}, "context": [["T", "s"], ["T", [1]]]},
{"_id": "b", "question": "q", "answer": "x", "supporting_facts": []},
7]"#;
        assert_eq!(
            read(text).expect_err("faults"),
            [
                "q.json:2: `[0].supporting_facts[0]` is a list; expected a title and the number of a sentence",
                "q.json:2: `[0].supporting_facts[1]` is the text \"T\"; expected a title and the number of a sentence",
                "q.json:2: `[0].supporting_facts[2]` is a list; expected a title and the number of a sentence",
                "q.json:3: `[1].question` is missing; expected a text",
                "q.json:3: `[1].answer` is null; expected a text",
                "q.json:3: `[1].context[0]` is a list; expected a title and a list of sentences",
                "q.json:3: `[1].context[1][1][0]` is the number 1; expected a text",
                "q.json:3: `[1].supporting_facts` is an object; expected a list",
                "q.json:4: `[2].context` is missing; expected a list",
                "q.json:5: `[3]` is the number 7; expected an object",
            ]
        );
    }

    #[test]
    fn ids_that_come_twice_are_told() {
        let one = r#"{"_id": "a", "question": "q", "answer": "x", "supporting_facts": [], "context": [["T", ["s"]]]}"#;
        assert_eq!(
            read(&format!("[{one},\n {one}]")).expect_err("a fault"),
            ["q.json:2: `[1]._id` \"a\" is that of `[0]` too"]
        );
    }

    #[test]
    fn files_that_are_cut_off_empty_or_something_else_are_told() {
        let whole = TWO.len();
        let cut = read(&TWO[..whole - 40]).expect_err("a fault");
        assert_eq!(cut.len(), 1);
        assert!(cut[0].starts_with("q.json:7:") && cut[0].contains("EOF"), "{cut:?}");
        assert_eq!(read("").expect_err("a fault"), ["q.json: expected JSON, found an empty file"]);
        assert_eq!(read("[]").expect_err("a fault"), ["q.json: expected at least one question, found none"]);
        assert_eq!(read("{}").expect_err("a fault"), ["q.json:1: expected a list, found an object"]);
        let lines = read("{\"_id\": 1}\n{\"_id\": 2}\n").expect_err("a fault");
        assert!(lines.len() == 1 && lines[0].starts_with("q.json:1: expected a list"), "{lines:?}");
    }

    #[test]
    fn a_file_of_one_huge_line_takes_no_longer_than_one_of_many() {
        let sentence = "The tide is high. ".repeat(600_000);
        let one = |id: usize| {
            let context = json!([["T", [sentence]]]);
            json!({"_id": id, "question": "q", "answer": "x", "supporting_facts": [["T", 0]], "context": context})
        };
        let text = json!((0..5).map(one).collect::<Vec<_>>()).to_string();
        assert!(text.len() > 50_000_000 && !text.contains('\n'));
        let benchmark = read(&text).expect("a benchmark");
        assert_eq!((benchmark.documents.rows.len(), benchmark.queries.rows.len()), (1, 5));
    }

    #[test]
    fn a_folder_has_the_file_of_its_split() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("hotpot_dev_distractor_v1.json.gz"), b"x").expect("a file");
        let spec = |split: &str| HotpotqaSpec {
            path: folder.path().to_path_buf(),
            split: split.to_string(),
            scope: QuestionScope::Question,
        };
        let file = |split: &str| {
            let path = spec(split).listing().remove(0).path;
            path.strip_prefix(folder.path()).map(Path::to_path_buf).expect("a path below the folder")
        };
        assert_eq!(file("dev"), Path::new("hotpot_dev_distractor_v1.json.gz"));
        assert_eq!(file("train"), Path::new("hotpot_train_distractor_v1.json"));
    }
}
