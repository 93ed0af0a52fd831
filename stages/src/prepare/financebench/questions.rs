//! Questions about filings, with what is expected of each (spec/openviking 2.4).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Value, json};

use crate::artifact::{BenchmarkInfo, Document, Documents, Evidence, Gold, Golds, Json, Queries, Query};
use crate::error::{InputError, Place};
use crate::prepare::benchmark::source_key;
use crate::prepare::dataset::object;
use crate::prepare::document_path::document_path;
use crate::prepare::fields::{Fields, describe};
use crate::prepare::ids::Ids;
use crate::prepare::rows::Row;
use crate::prepare::sources::FindDocument;
use crate::prepare::variant::{OpenVikingQuestion, Variant};
use crate::python::strip;

/// The path of a filing's PDF below the root; `None` where its name is no file's.
pub(super) fn filing(name: &str) -> Option<String> {
    if name.contains(['/', '\\']) || strip(name).is_empty() {
        return None;
    }
    document_path(&format!("pdfs/{name}.pdf")).ok()
}

/// The questions of the file.
pub(super) struct FinanceQuestions {
    variant: Variant,
    ids: Ids,
    queries: Queries,
    golds: Golds,
    /// For each filing, in order of first appearance, its name, the line that names it first, and its questions' positions.
    filings: Vec<(String, u64, Vec<u32>)>,
    positions: HashMap<String, usize>,
}

/// The questions, with the filings that are on disk.
#[derive(Debug, Default)]
pub(super) struct WithFilings {
    pub(super) queries: Queries,
    pub(super) golds: Golds,
    pub(super) documents: Documents,
    pub(super) skipped: BTreeMap<String, String>,
    /// For each filing its name, the position of its document where it is there, and those of its questions.
    pub(super) groups: Vec<(String, Option<u32>, Vec<u32>)>,
    /// The positions of the questions about each filing, in order of first appearance.
    pub(super) samples: Vec<Vec<u32>>,
}

impl FinanceQuestions {
    /// None yet.
    pub(super) fn new(variant: Variant) -> Self {
        FinanceQuestions {
            variant,
            ids: Ids::new("financebench_id"),
            queries: Queries::default(),
            golds: Golds::default(),
            filings: Vec::new(),
            positions: HashMap::new(),
        }
    }

    /// Adds the question of `row`.
    pub(super) fn add(&mut self, path: &Path, row: &Row, errors: &mut Vec<InputError>) {
        let fields = Fields::of(path, row);
        let name = fields.text("doc_name", errors);
        if let Some(name) = name.as_ref().filter(|name| filing(name).is_none()) {
            errors.push(fields.error(format!("`doc_name` is {name:?}; expected the name of a file")));
        }
        let id = fields.text("financebench_id", errors);
        let position = self.queries.rows.len();
        if let Some(id) = &id {
            self.ids.take(id, position, fields.place(), errors);
        }
        let (question, answer) = (fields.text("question", errors), fields.text("answer", errors));
        let mut evidence = Vec::new();
        for (name, item) in fields.list("evidence", errors) {
            evidence.extend(fields.as_fields(name, item, errors).and_then(|fields| piece(&fields, errors)));
        }
        let written = self.variant.is_openviking().then(|| openviking_question(&fields));
        let mut optional = |key: &str| fields.verbatim(key, errors).filter(|text| !strip(text).is_empty());
        let mut gold = Gold {
            case_id: id.clone().unwrap_or_default(),
            answers: answer.clone().into_iter().collect(),
            evidence,
            value: Value::Null,
            metadata: Json::new(),
            labels: object([
                ("question_type", optional("question_type").into()),
                ("question_reasoning", optional("question_reasoning").into()),
                ("company", optional("company").into()),
                ("document", name.clone().into()),
            ]),
            case_metadata: object([("justification", optional("justification").into())]),
        };
        let (Some(case_id), Some(text), Some(_), Some(name)) = (id, question, answer, name) else { return };
        let filing = *self.positions.entry(name.clone()).or_insert(self.filings.len());
        if filing == self.filings.len() {
            self.filings.push((name, row.line, Vec::new()));
        }
        if let Some((_, _, cases)) = self.filings.get_mut(filing) {
            cases.extend(u32::try_from(position));
        }
        let mut query = Query { case_id, text, category: None };
        if let Some(written) = written {
            written.replace(&mut query, &mut gold);
        }
        self.queries.rows.push(query);
        self.golds.rows.push(gold);
    }

    /// The questions with the filings that they are about, in the order of their names. A question whose filing is not on
    /// disk cannot be asked.
    pub(super) fn with_filings(
        self,
        info: &BenchmarkInfo,
        find: &FindDocument<'_>,
        path: &Path,
        errors: &mut Vec<InputError>,
    ) -> WithFilings {
        let FinanceQuestions { queries, golds, mut filings, .. } = self;
        let samples = filings.iter().map(|(_, _, cases)| cases.clone()).collect();
        let mut all = WithFilings { queries, golds, samples, ..WithFilings::default() };
        filings.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        for (name, line, cases) in filings {
            let Some(file) = filing(&name) else { continue };
            let document = match find(&file) {
                Ok(Some((digest, size))) => {
                    let file_name = format!("{name}.pdf");
                    all.documents.rows.push(Document {
                        source_key: source_key(&info.name, &info.split, &name, &file_name),
                        document_id: name.clone(),
                        name: file_name,
                        media_type: "application/pdf".to_string(),
                        digest: Some(digest),
                        size: Some(size),
                        data: None,
                        source_uri: None,
                        metadata: Json::new(),
                    });
                    u32::try_from(all.documents.rows.len() - 1).ok()
                }
                Ok(None) => {
                    let ids = cases.iter().filter_map(|case| all.queries.rows.get(*case as usize));
                    all.skipped
                        .extend(ids.map(|query| (query.case_id.clone(), format!("the filing is not on disk: {file}"))));
                    None
                }
                Err(why) => {
                    errors.push(InputError::new(Place::line(path, line), format!("the filing {file} {why}")));
                    None
                }
            };
            all.groups.push((name, document, cases));
        }
        all
    }
}

impl WithFilings {
    /// What the benchmark says of what is not there.
    pub(super) fn counted(&self) -> Json {
        let missing = self.groups.iter().filter(|(_, document, _)| document.is_none()).count();
        object([("filings_not_on_disk", missing.into()), ("cases_without_their_filing", self.skipped.len().into())])
    }
}

/// The question as OpenViking's benchmark has it: nothing is stripped, and evidence is the annotators' excerpts.
fn openviking_question(fields: &Fields<'_>) -> OpenVikingQuestion {
    // What is wrong with them has been told.
    let text = |key: &str| fields.verbatim(key, &mut Vec::new());
    let (sample_id, question, answer) = (text("doc_name"), text("question"), text("answer"));
    let category = text("question_type");
    let pieces = fields.value("evidence").and_then(Value::as_array).into_iter().flatten();
    let texts = pieces.filter_map(|piece| piece.get("evidence_text")?.as_str());
    OpenVikingQuestion {
        sample_id: sample_id.unwrap_or_default(),
        question: question.unwrap_or_default(),
        answers: answer.into_iter().collect(),
        evidence: texts.filter(|text| !text.is_empty()).map(str::to_string).collect(),
        category,
    }
}

/// A piece of evidence: its page, counted from 0 as ours are, and the annotators' excerpt of it. One without an excerpt has
/// its page all the same.
fn piece(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Option<Evidence> {
    let name = fields.text("doc_name", errors);
    let text = fields.verbatim("evidence_text", errors).filter(|text| !strip(text).is_empty());
    let page = match fields.value("evidence_page_num") {
        None => None,
        Some(value) => {
            let page = value.as_u64();
            if page.is_none() {
                let found = describe(value);
                let key = fields.name("evidence_page_num");
                errors.push(fields.error(format!("`{key}` is {found}; expected the index of a page, from 0")));
            }
            page
        }
    };
    let name = name?;
    Some(Evidence {
        locator: object([("document_id", json!(name)), ("page_index", page.into())]),
        reference_id: Some(name),
        text: text.map(|text| strip(&text).to_string()),
        metadata: Json::new(),
    })
}
