//! The `beir` adapter: a folder with `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv` (spec/heta 4.2).

use std::collections::HashMap;
use std::path::PathBuf;

use ragstage_cache::{Digest, KeyVisitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::adapter::{Adapter, ReadFiles};
use super::benchmark::{Benchmark, append_in_line_order, nothing, source_key};
use super::fields::Fields;
use super::ids::Ids;
use super::lines::{LineEnds, SourceBytes};
use super::listing::ListingFile;
use super::qrels::{Judgement, Qrels};
use super::rows::rows;
use super::safe_id::safe_id;
use super::sources::FindDocument;
use super::spec::split;
use crate::artifact::{BenchmarkInfo, Document, Documents, Evidence, Gold, Golds, Json, Queries, Query};
use crate::error::{InputError, Place};
use crate::python::strip;

/// Options of the `beir` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeirSpec {
    /// The folder with `corpus.jsonl` (or `.gz`), `queries.jsonl` and `qrels/<split>.tsv`.
    pub path: PathBuf,
    /// The dataset's id, e.g. `scifact`.
    pub dataset: String,
    /// The split.
    #[serde(default = "split")]
    pub split: String,
    /// Where the dataset is from; the place of BEIR's own datasets by default. Nothing is fetched from it.
    #[serde(default)]
    pub dataset_url: Option<String>,
}

/// The files of a BEIR folder; any of them may be gzip.
#[derive(Debug, Clone, Copy)]
pub struct BeirFiles<'a> {
    /// One document per line: `_id`, `title`, `text`.
    pub corpus: SourceBytes<'a>,
    /// One query per line: `_id`, `text`.
    pub queries: SourceBytes<'a>,
    /// The split's judgements.
    pub qrels: SourceBytes<'a>,
}

/// The role of the corpus.
const CORPUS: &str = "corpus";
/// The role of the queries.
const QUERIES: &str = "queries";
/// The role of the judgements.
const QRELS: &str = "qrels";

impl Adapter for BeirSpec {
    fn name(&self) -> &'static str {
        "beir"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        format!("beir_{}", self.dataset)
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("dataset", &self.dataset);
        v.text("split", &self.split);
        if let Some(url) = &self.dataset_url {
            v.text("dataset_url", url);
        }
    }

    /// Of `corpus.jsonl` and `corpus.jsonl.gz` it is the one that exists, the first where both do.
    fn listing(&self) -> Vec<ListingFile> {
        let plain = self.path.join("corpus.jsonl");
        let packed = self.path.join("corpus.jsonl.gz");
        let corpus = if !plain.exists() && packed.exists() { packed } else { plain };
        let qrels = self.path.join("qrels").join(format!("{}.tsv", plain_id(&self.split)));
        vec![
            ListingFile::required(CORPUS, corpus),
            ListingFile::required(QUERIES, self.path.join("queries.jsonl")),
            ListingFile::required(QRELS, qrels),
        ]
    }

    fn advice(&self) -> &'static str {
        "a BEIR folder holds corpus.jsonl (or corpus.jsonl.gz), queries.jsonl and qrels/<split>.tsv"
    }

    fn root(&self) -> PathBuf {
        self.path.clone()
    }

    fn check(&self) -> Result<(), Vec<InputError>> {
        check_ids(self)
    }

    fn read(&self, files: &ReadFiles<'_>, _find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let files =
            BeirFiles { corpus: files.needed(CORPUS), queries: files.needed(QUERIES), qrels: files.needed(QRELS) };
        read_beir(self, files)
    }

    fn cases_role(&self) -> &'static str {
        QUERIES
    }
}

/// Datasets that have a task type of their own.
const TASK_TYPES: [(&str, &str); 4] = [
    ("scifact", "scientific_fact_retrieval"),
    ("nfcorpus", "biomedical_information_retrieval"),
    ("fiqa", "financial_question_answering_retrieval"),
    ("hotpotqa", "multi_hop_question_answering_retrieval"),
];

/// The evaluators of an evaluation that names none. The reference system computes five measures at five depths each; these
/// are what is usually reported.
const DEFAULT_EVALUATORS: [&str; 5] = ["nDCG@10", "AP@100", "R@100", "P@10", "RR@10"];

/// The key of the benchmark's metadata that says how many judgements are of no query that there is; absent where none is.
pub(crate) const QRELS_WITHOUT_QUERY: &str = "qrels_without_query";

/// The benchmark in `files`.
///
/// # Errors
/// All that is malformed in any of the files, with file and line.
pub fn read_beir(spec: &BeirSpec, files: BeirFiles<'_>) -> Result<Benchmark, Vec<InputError>> {
    check_ids(spec)?;
    let mut errors = Vec::new();
    let (dataset, split) = (plain_id(&spec.dataset), plain_id(&spec.split));
    let url = spec.dataset_url.as_deref().map(|url| strip(url).to_string());
    if url.as_deref().is_some_and(str::is_empty) {
        errors.push(InputError::new(Place::file(&spec.path), "`dataset_url` is blank").hint("leave the key out"));
    }
    let names = Names { benchmark: format!("beir_{dataset}"), dataset, split };

    let documents = read_corpus(&names, files.corpus, &mut errors);
    let queries = read_queries(files.queries, &mut errors);
    let mut found = Vec::new();
    let qrels = Qrels::read(files.qrels, &mut found);
    append_in_line_order(&mut errors, found);
    let strays = qrels.without(&queries.iter().map(|(id, _)| id.as_str()).collect());
    let (queries, golds) = judged(&names, queries, &qrels);
    if queries.rows.is_empty() && errors.is_empty() {
        let hint = match qrels.example() {
            Some(query) => format!("the judgements speak of {query:?}, which is no query's `_id`"),
            None => "there are no judgements".to_string(),
        };
        errors.push(nothing(Place::file(files.qrels.path), "judged query", &hint));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let unit = Benchmark::whole(names.labels());
    let mut info = names.info(url);
    if strays > 0 {
        info.metadata.insert(QRELS_WITHOUT_QUERY.to_string(), json!(strays));
    }
    Ok(Benchmark {
        info,
        documents,
        queries,
        golds,
        units: vec![unit],
        default_evaluators: DEFAULT_EVALUATORS.map(String::from).to_vec(),
        ..Benchmark::default()
    })
}

/// The id of a dataset or split: stripped, in lower case, and no path.
fn plain_id(text: &str) -> String {
    strip(text).to_lowercase()
}

/// Checks the ids of `spec`, of which a file's name and the benchmark's keys are made.
///
/// # Errors
/// For each of dataset and split that is blank or a path.
fn check_ids(spec: &BeirSpec) -> Result<(), Vec<InputError>> {
    let mut errors = Vec::new();
    for (field, text, example) in [("dataset", &spec.dataset, "scifact"), ("split", &spec.split, "test")] {
        if strip(text).is_empty() {
            let error = InputError::new(Place::file(&spec.path), format!("`{field}` is blank"));
            errors.push(error.hint(format!("write its id, e.g. `{example}`")));
        } else if text.contains(['/', '\\']) {
            let message = format!("`{field}` is {text:?}; expected an id, not a path");
            errors.push(InputError::new(Place::file(&spec.path), message).hint("write the folder under `path`"));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// What the benchmark and its parts are called.
struct Names {
    benchmark: String,
    dataset: String,
    split: String,
}

impl Names {
    fn info(&self, url: Option<String>) -> BenchmarkInfo {
        let task_type =
            TASK_TYPES.iter().find(|(dataset, _)| *dataset == self.dataset).map(|(_, task_type)| *task_type);
        let dataset = &self.dataset;
        let url = url.unwrap_or_else(|| {
            format!("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/{dataset}.zip")
        });
        BenchmarkInfo {
            name: self.benchmark.clone(),
            version: "official".to_string(),
            split: self.split.clone(),
            task_type: task_type.unwrap_or("information_retrieval").to_string(),
            build_scope: "corpus".to_string(),
            homepage: Some("https://github.com/beir-cellar/beir".to_string()),
            license: None,
            citation: Some(
                "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models".to_string(),
            ),
            digest: None,
            metadata: object([
                ("dataset", json!(dataset)),
                ("recommended", json!(task_type.is_some())),
                ("description", Value::Null),
                ("dataset_url", json!(url)),
            ]),
        }
    }

    fn labels(&self) -> Json {
        object([("dataset", json!(self.dataset)), ("split", json!(self.split))])
    }
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Json {
    entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

fn read_corpus(names: &Names, source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Documents {
    let mut found = Vec::new();
    let mut ids = Ids::new("_id");
    let mut documents = Vec::new();
    for row in rows(source, LineEnds::Plain, &mut found) {
        let fields = Fields::of(source.path, &row);
        let title = fields.verbatim("title", &mut found).unwrap_or_default();
        let text = fields.verbatim("text", &mut found).unwrap_or_default();
        let Some(id) = fields.text("_id", &mut found) else { continue };
        ids.take(&id, documents.len(), fields.place(), &mut found);
        let (title, text) = (strip(&title), strip(&text));
        let content = match (title, text) {
            // An empty document would be no document: the id stands in, as in the reference system.
            ("", "") => id.clone(),
            (title, "") => title.to_string(),
            ("", text) => text.to_string(),
            (title, text) => format!("{title}\n\n{text}"),
        };
        let document_id = safe_id(&id);
        let name = format!("{document_id}.txt");
        let data = content.into_bytes();
        documents.push(Document {
            source_key: source_key(&names.benchmark, &names.split, &document_id, &name),
            media_type: "text/plain".to_string(),
            digest: Some(Digest::of(&data)),
            size: Some(data.len() as u64),
            data: Some(data),
            source_uri: None,
            metadata: object([
                ("beir_doc_id", json!(id)),
                ("beir_document_id", json!(document_id)),
                ("dataset", json!(names.dataset)),
                ("title", json!(title)),
            ]),
            document_id,
            name,
        });
    }
    if documents.is_empty() && found.is_empty() {
        found.push(nothing(Place::file(source.path), "document", "is this the corpus of the dataset?"));
    }
    append_in_line_order(errors, found);
    Documents { rows: documents }
}

/// Ids and texts of the queries; a repeated id keeps its first place and takes its last text.
fn read_queries(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut queries: Vec<(String, String)> = Vec::new();
    for row in rows(source, LineEnds::Plain, &mut found) {
        let fields = Fields::of(source.path, &row);
        let (id, text) = (fields.text("_id", &mut found), fields.text("text", &mut found));
        let (Some(id), Some(text)) = (id, text) else { continue };
        match places.get(&id).and_then(|&place| queries.get_mut(place)) {
            Some(earlier) => earlier.1 = text,
            None => {
                places.insert(id.clone(), queries.len());
                queries.push((id, text));
            }
        }
    }
    append_in_line_order(errors, found);
    queries
}

/// The queries that have a judgement, with their gold.
fn judged(names: &Names, queries: Vec<(String, String)>, qrels: &Qrels) -> (Queries, Golds) {
    let mut rows = Vec::new();
    let mut golds = Vec::new();
    for (id, text) in queries {
        let Some(judgements) = qrels.of(&id) else { continue };
        golds.push(gold(names, &id, judgements));
        rows.push(Query { case_id: id, text, category: None });
    }
    (Queries { rows }, Golds { rows: golds })
}

/// The gold of a query: one piece of evidence per relevant document. A query without any is kept and has no evidence.
/// `judgements` of the metadata holds every grade: measures that tell judged from unjudged documents need those of zero and
/// below, which the reference system drops.
fn gold(names: &Names, query: &str, judgements: &[Judgement]) -> Gold {
    let Names { benchmark, dataset, split } = names;
    let mut evidence = Vec::new();
    let mut grades = Json::new();
    for Judgement { document, grade } in judgements {
        let document_id = safe_id(document);
        if *grade > 0 {
            let prefix = format!("raw/benchmarks/{benchmark}/{split}/{document_id}/");
            evidence.push(Evidence {
                reference_id: Some(document_id.clone()),
                locator: object([("source_key_prefix", json!(prefix))]),
                text: None,
                metadata: object([
                    ("beir_doc_id", json!(document)),
                    ("beir_document_id", json!(document_id)),
                    ("relevance", json!(grade)),
                ]),
            });
        }
        grades.insert(document_id, json!(grade));
    }
    Gold {
        case_id: query.to_string(),
        answers: Vec::new(),
        value: Value::Null,
        metadata: object([
            ("beir_query_id", json!(query)),
            ("positive_qrels", json!(evidence.len())),
            ("judgements", Value::Object(grades)),
        ]),
        evidence,
        labels: names.labels(),
        case_metadata: object([("beir_query_id", json!(query)), ("dataset", json!(dataset))]),
    }
}
