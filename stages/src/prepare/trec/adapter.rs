//! The options of the adapter, and the benchmark that it makes of a collection.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::about::CRANFIELD;
use super::collection;
use super::judgements;
use super::topics::{self, Topic, Topics};
use crate::artifact::{BenchmarkInfo, Evidence, Gold, Golds, Json, Queries, Query};
use crate::error::{InputError, Place};
use crate::prepare::about::About;
use crate::prepare::adapter::{Adapter, ReadFiles};
use crate::prepare::beir::QRELS_WITHOUT_QUERY;
use crate::prepare::benchmark::{Benchmark, append_in_line_order, nothing};
use crate::prepare::dataset::object;
use crate::prepare::lines::SourceBytes;
use crate::prepare::listing::{ListingFile, files_below};
use crate::prepare::qrels::{Judgement, Qrels};
use crate::prepare::safe_id::safe_id;
use crate::prepare::sources::FindDocument;
use crate::prepare::spec::split;

/// Options of the `trec` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrecSpec {
    /// Files of documents, or folders of nothing but such files. Any of them may be gzip.
    pub documents: Vec<PathBuf>,
    /// The topics' file.
    pub topics: PathBuf,
    /// The judgements' file.
    pub qrels: PathBuf,
    /// The benchmark's name. Of a public collection's name what is known of it is told.
    pub name: String,
    /// The collection's version.
    #[serde(default)]
    pub version: Option<String>,
    /// The split.
    #[serde(default = "split")]
    pub split: String,
    /// What the numbers of the judgements mean.
    #[serde(default)]
    pub relevance: Relevance,
    /// What the judgements' query numbers mean. Without it they are those that the topics have, unless they are not.
    #[serde(default)]
    pub query_ids: Option<QueryIds>,
    /// What of TREC's topics is asked, in this order; the title by default.
    #[serde(default)]
    pub topic_fields: Vec<TopicField>,
    /// Where it is from.
    #[serde(default)]
    pub homepage: Option<String>,
    /// Its licence.
    #[serde(default)]
    pub license: Option<String>,
    /// How to cite it.
    #[serde(default)]
    pub citation: Option<String>,
}

/// What the numbers of judgements mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relevance {
    /// Grades: a greater number is a higher relevance, and 0 and below is none.
    #[default]
    Grades,
    /// Cranfield's codes: 1 is a complete answer, 4 of minimum interest, 5 of none. The code -1, which the collection's authors
    /// do not define, is the highest of all, as in the corrected judgements that are distributed with it.
    Cranfield,
}

/// What query numbers in judgements mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryIds {
    /// The topic that has the number.
    AsWritten,
    /// The topic at that place in its file, from 1.
    Position,
}

/// A part of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicField {
    /// A few words.
    Title,
    /// A sentence.
    Description,
    /// What is relevant and what is not.
    Narrative,
}

impl Relevance {
    /// The grade that `number` means; `None` where it means nothing.
    pub(super) fn grade(self, number: i64) -> Option<i64> {
        match self {
            Relevance::Grades => Some(number),
            Relevance::Cranfield => match number {
                -1 => Some(5),
                1..=5 => Some(5 - number),
                _ => None,
            },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Relevance::Grades => "grades",
            Relevance::Cranfield => "cranfield",
        }
    }
}

impl QueryIds {
    fn name(self) -> &'static str {
        match self {
            QueryIds::AsWritten => "as_written",
            QueryIds::Position => "position",
        }
    }
}

impl TopicField {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            TopicField::Title => "title",
            TopicField::Description => "description",
            TopicField::Narrative => "narrative",
        }
    }

    /// The element that holds it.
    pub(super) fn element(self) -> &'static str {
        match self {
            TopicField::Title => "title",
            TopicField::Description => "desc",
            TopicField::Narrative => "narr",
        }
    }
}

/// How the roles of document files begin.
const DOCUMENTS: &str = "documents";
/// The role of the topics.
const TOPICS: &str = "topics";
/// The role of the judgements.
const QRELS: &str = "qrels";

/// The key of the benchmark's metadata that says how many topics have no judgement and are left out; absent where none is.
const TOPICS_WITHOUT_QRELS: &str = "topics_without_qrels";

/// The evaluators of an evaluation that names none.
const DEFAULT_EVALUATORS: [&str; 3] = ["nDCG@10", "AP", "R@100"];

impl TrecSpec {
    fn wanted(&self) -> &[TopicField] {
        if self.topic_fields.is_empty() { &[TopicField::Title] } else { &self.topic_fields }
    }

    fn info(&self) -> BenchmarkInfo {
        let about = self.about();
        let known = |given: &Option<String>, known: fn(&About) -> &'static str| {
            given.clone().or_else(|| about.map(|about| known(about).to_string()))
        };
        BenchmarkInfo {
            name: self.name.clone(),
            version: known(&self.version, |about| about.version).unwrap_or_else(|| "1".to_string()),
            split: self.split.clone(),
            task_type: "information_retrieval".to_string(),
            build_scope: "corpus".to_string(),
            homepage: known(&self.homepage, |about| about.homepage),
            license: known(&self.license, |about| about.license),
            citation: known(&self.citation, |about| about.citation),
            ..BenchmarkInfo::default()
        }
    }
}

impl Adapter for TrecSpec {
    fn name(&self) -> &'static str {
        "trec"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        self.name.clone()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        let BenchmarkInfo { name, version, split, homepage, license, citation, .. } = self.info();
        for (key, value) in [("name", &name), ("dataset_version", &version), ("split", &split)] {
            v.text(key, value);
        }
        for (key, value) in [("homepage", homepage), ("license", license), ("citation", citation)] {
            if let Some(value) = value {
                v.text(key, &value);
            }
        }
        v.text("relevance", self.relevance.name());
        if let Some(ids) = self.query_ids {
            v.text("query_ids", ids.name());
        }
        v.begin_list("topic_fields", self.wanted().len());
        self.wanted().iter().for_each(|field| v.text("", field.name()));
        v.end();
    }

    /// Of a folder it is all files below, without hidden ones, by name; of a file its place among `documents`.
    fn listing(&self) -> Vec<ListingFile> {
        let mut files = Vec::new();
        for (i, path) in self.documents.iter().enumerate() {
            let role = if self.documents.len() == 1 { DOCUMENTS.to_string() } else { format!("{DOCUMENTS}[{i}]") };
            let below = if path.is_dir() { files_below(path).ok() } else { None };
            match below {
                // What cannot be listed cannot be read either, and that is told.
                None => files.push(ListingFile::required(role, path.clone())),
                Some(names) => files.extend(
                    names.into_iter().map(|name| ListingFile::required(format!("{role}/{name}"), path.join(&name))),
                ),
            }
        }
        files.push(ListingFile::required(TOPICS, self.topics.clone()));
        files.push(ListingFile::required(QRELS, self.qrels.clone()));
        files
    }

    fn advice(&self) -> &'static str {
        "check the paths under `benchmark` in the evaluation file"
    }

    fn root(&self) -> PathBuf {
        let first = self.documents.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
        first.parent().unwrap_or(Path::new("")).to_path_buf()
    }

    fn read(&self, files: &ReadFiles<'_>, _find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let mut errors = Vec::new();
        let mut info = self.info();
        let sources: Vec<SourceBytes<'_>> =
            files.iter().filter(|(role, _)| role.starts_with(DOCUMENTS)).map(|(_, source)| source).collect();
        let documents = collection::read(&info, &sources, &mut errors);
        if documents.rows.is_empty() && errors.is_empty() {
            let place = Place::file(self.documents.first().cloned().unwrap_or_default());
            errors.push(nothing(place, "document", "are there files with documents?"));
        }
        let source = files.needed(TOPICS);
        let mut found = Vec::new();
        let topics = topics::read(source, self.wanted(), &mut found);
        if topics.rows.is_empty() && found.is_empty() {
            found.push(nothing(Place::file(source.path), "topic", "is this the file of the topics?"));
        }
        append_in_line_order(&mut errors, found);
        let mut found = Vec::new();
        let source = files.needed(QRELS);
        let qrels = judgements::read(source, self.relevance, &mut found);
        append_in_line_order(&mut errors, found);
        let topics = match self.identified(topics, &qrels, source.path) {
            Ok(topics) => topics,
            Err(mut found) => {
                errors.append(&mut found);
                Vec::new()
            }
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let strays = qrels.without(&topics.iter().map(|topic| topic.id.as_str()).collect());
        let all = topics.len();
        let (queries, golds) = judged(topics, &qrels);
        if queries.rows.is_empty() {
            let hint = match qrels.example() {
                Some(query) => format!("the judgements speak of {query:?}, which is no topic's number"),
                None => "there are no judgements".to_string(),
            };
            return Err(vec![nothing(Place::file(source.path), "judged topic", &hint)]);
        }
        for (key, count) in [(QRELS_WITHOUT_QUERY, strays), (TOPICS_WITHOUT_QRELS, all - queries.rows.len())] {
            if count > 0 {
                info.metadata.insert(key.to_string(), json!(count));
            }
        }
        Ok(Benchmark {
            info,
            documents,
            queries,
            golds,
            units: vec![Benchmark::whole(Json::new())],
            default_evaluators: DEFAULT_EVALUATORS.map(String::from).to_vec(),
            ..Benchmark::default()
        })
    }

    fn cases_role(&self) -> &'static str {
        TOPICS
    }

    fn about(&self) -> Option<&'static About> {
        (self.name == CRANFIELD.name).then_some(&CRANFIELD)
    }
}

impl TrecSpec {
    /// The topics by the numbers that judgements call them by.
    ///
    /// # Errors
    /// For topics with one number, and where it is not clear what the judgements' numbers mean.
    fn identified(&self, topics: Topics, qrels: &Qrels, judgements: &Path) -> Result<Vec<Topic>, Vec<InputError>> {
        let Topics { rows: mut topics, are_smart } = topics;
        if self.query_ids == Some(QueryIds::Position) {
            for (position, topic) in (1u64..).zip(&mut topics) {
                topic.fields.insert("number".to_string(), json!(topic.id));
                topic.id = position.to_string();
            }
            return Ok(topics);
        }
        let mut errors = Vec::new();
        let mut places: HashMap<&str, &Place> = HashMap::new();
        for topic in &topics {
            if let Some(other) = places.insert(&topic.id, &topic.place) {
                let message = format!("topic {:?} is there already, at {other}", topic.id);
                errors.push(InputError::new(topic.place.clone(), message).hint("give every topic a number of its own"));
            }
        }
        // Numbers that are places would, read as they are written, judge other topics than is meant, without a word.
        if are_smart && self.query_ids.is_none() && errors.is_empty() {
            let written: HashSet<&str> = topics.iter().map(|topic| topic.id.as_str()).collect();
            let is_place = |query: &str| query.parse::<usize>().is_ok_and(|place| (1..=topics.len()).contains(&place));
            if qrels.queries().all(is_place) && !qrels.queries().all(|query| written.contains(query)) {
                let message =
                    "the judgements' query numbers are not those of the topics, and may be their places in the file";
                errors.push(
                    InputError::new(Place::file(judgements), message)
                        .hint("say which is meant: `query_ids: position`, or `query_ids: as_written`"),
                );
            }
        }
        if errors.is_empty() { Ok(topics) } else { Err(errors) }
    }
}

/// The topics that are judged, with their gold.
fn judged(topics: Vec<Topic>, qrels: &Qrels) -> (Queries, Golds) {
    let mut queries = Vec::new();
    let mut golds = Vec::new();
    for Topic { id, text, fields, place: _ } in topics {
        let Some(judgements) = qrels.of(&id) else { continue };
        golds.push(gold(&id, fields, judgements));
        queries.push(Query { case_id: id, text, category: None });
    }
    (Queries { rows: queries }, Golds { rows: golds })
}

/// The gold of a topic: a piece of evidence for each relevant document, and `judgements` with the grades of all that were
/// judged. A topic of which nothing is relevant is kept, and has no evidence.
fn gold(id: &str, fields: Json, judgements: &[Judgement]) -> Gold {
    let mut evidence = Vec::new();
    let mut grades = Json::new();
    for Judgement { document, grade } in judgements {
        let document_id = safe_id(document);
        if *grade > 0 {
            evidence.push(Evidence {
                reference_id: Some(document_id.clone()),
                locator: object([("document_id", json!(document_id))]),
                text: None,
                metadata: object([("docno", json!(document)), ("relevance", json!(grade))]),
            });
        }
        grades.insert(document_id, json!(grade));
    }
    Gold {
        case_id: id.to_string(),
        evidence,
        metadata: object([("judgements", Value::Object(grades))]),
        case_metadata: fields,
        ..Gold::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::listing::SourceFile;

    fn spec() -> TrecSpec {
        TrecSpec {
            documents: vec!["docs".into()],
            topics: "topics".into(),
            qrels: "qrels".into(),
            name: "reef".to_string(),
            version: None,
            split: split(),
            relevance: Relevance::Grades,
            query_ids: None,
            topic_fields: Vec::new(),
            homepage: None,
            license: None,
            citation: None,
        }
    }

    fn read(spec: &TrecSpec, documents: &str, topics: &str, qrels: &str) -> Result<Benchmark, Vec<String>> {
        let given = [(DOCUMENTS, "docs", documents), (TOPICS, "topics", topics), (QRELS, "qrels", qrels)];
        let sources = given.map(|(role, path, text)| SourceFile {
            role: role.to_string(),
            path: path.into(),
            digest: ragstage_cache::Digest::of(text.as_bytes()),
            size: 0,
        });
        let texts = given.map(|(_, _, text)| text.as_bytes().to_vec());
        let files = ReadFiles { files: sources.iter().zip(texts).collect(), ..ReadFiles::default() };
        let told = |errors: Vec<InputError>| {
            errors.iter().map(|error| format!("{error} [{}]", error.hint.as_deref().unwrap_or_default())).collect()
        };
        spec.read(&files, &|_| Ok(None)).map_err(told)
    }

    const DOCUMENTS_TEXT: &str = "{\"id\": \"a\", \"text\": \"high\"}\n{\"id\": \"b\", \"text\": \"\"}\n";

    #[test]
    fn a_collection_is_one_unit_of_judged_topics() {
        let qrels = "1 0 a 2\n1 0 b 0\n1 0 gone 1\n9 0 a 1\n3 0 b 0\n";
        let benchmark = read(&spec(), DOCUMENTS_TEXT, "1\thigh\n2\tlow\n3\tnone\n", qrels).expect("a benchmark");
        let ids: Vec<&str> = benchmark.queries.rows.iter().map(|query| query.case_id.as_str()).collect();
        assert_eq!(ids, ["1", "3"]);
        let gold = &benchmark.golds.rows[0];
        assert_eq!(Value::Object(gold.metadata.clone()), json!({"judgements": {"a": 2, "b": 0, "gone": 1}}));
        assert_eq!(gold.evidence.len(), 2);
        assert_eq!(gold.evidence[0].metadata["relevance"], 2);
        assert!(benchmark.golds.rows[1].evidence.is_empty());
        let metadata = json!({"qrels_without_query": 1, "topics_without_qrels": 1});
        assert_eq!(Value::Object(benchmark.info.metadata.clone()), metadata);
        assert_eq!((benchmark.info.version.as_str(), benchmark.info.license), ("1", None));
    }

    const SMART_TOPICS: &str = ".I 001\n.W\nhigh\n.I 002\n.W\nlow\n.I 004\n.W\nnone\n";

    #[test]
    fn what_query_numbers_mean_is_never_guessed() {
        let qrels = "1 a 2\n3 b 1\n";
        assert_eq!(
            read(&spec(), DOCUMENTS_TEXT, SMART_TOPICS, qrels).expect_err("unclear"),
            ["qrels: the judgements' query numbers are not those of the topics, and may be their places in the file \
                 [say which is meant: `query_ids: position`, or `query_ids: as_written`]"]
        );
        let by_place = TrecSpec { query_ids: Some(QueryIds::Position), ..spec() };
        let benchmark = read(&by_place, DOCUMENTS_TEXT, SMART_TOPICS, qrels).expect("a benchmark");
        let asked: Vec<_> =
            benchmark.queries.rows.iter().map(|query| (query.case_id.as_str(), query.text.as_str())).collect();
        assert_eq!(asked, [("1", "high"), ("3", "none")]);
        assert_eq!(benchmark.golds.rows[1].case_metadata["number"], "004");
        let as_written = TrecSpec { query_ids: Some(QueryIds::AsWritten), ..spec() };
        let benchmark = read(&as_written, DOCUMENTS_TEXT, SMART_TOPICS, "001 a 2\n3 b 1\n").expect("a benchmark");
        assert_eq!(benchmark.queries.rows.len(), 1);
        // Those that are the topics' own are clear.
        assert!(read(&spec(), DOCUMENTS_TEXT, SMART_TOPICS, "001 a 2\n004 b 1\n").is_ok());
    }

    #[test]
    fn every_fault_of_every_file_is_told() {
        let errors = read(&spec(), "x\n", "1\thigh\n1\tlow\n", "1 a\n").expect_err("faults");
        let places: Vec<&str> = errors.iter().filter_map(|error| error.split(": ").next()).collect();
        assert_eq!(places, ["docs", "qrels:1", "topics:2"]);
        let errors = read(&spec(), DOCUMENTS_TEXT, "1\thigh\n", "7 a 1\n").expect_err("no judged topic");
        assert_eq!(
            errors,
            [
                "qrels: expected at least one judged topic, found none [the judgements speak of \"7\", which is no topic's number]"
            ]
        );
        let errors = read(&spec(), "", "", "").expect_err("empty files");
        assert_eq!(errors.len(), 2, "{errors:?}");
    }

    #[test]
    fn a_folder_is_its_files_and_a_known_name_has_what_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("b")).expect("a folder");
        for name in ["b/2.gz", "1.jsonl", ".hidden"] {
            std::fs::write(folder.path().join(name), b"x").expect("a file");
        }
        let spec =
            |documents: &[PathBuf]| TrecSpec { documents: documents.to_vec(), name: "cranfield".to_string(), ..spec() };
        let roles = |spec: TrecSpec| spec.listing().into_iter().map(|file| file.role).collect::<Vec<_>>();
        let here = folder.path().to_path_buf();
        assert_eq!(
            roles(spec(std::slice::from_ref(&here))),
            ["documents/1.jsonl", "documents/b/2.gz", "topics", "qrels"]
        );
        assert_eq!(
            roles(spec(&["x".into(), here.join("b")])),
            ["documents[0]", "documents[1]/2.gz", "topics", "qrels"]
        );
        let cranfield = spec(&["x".into()]);
        assert_eq!(cranfield.about(), Some(&CRANFIELD));
        assert_eq!(cranfield.info().citation.as_deref(), Some(CRANFIELD.citation));
    }
}
