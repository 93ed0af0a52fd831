//! The key table of ARCHITECTURE.md against the manifests of real actions: a field that enters a key enters the table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use ragstage_cache::{Digest, KeyVisitor, Manifest, Walk};
use ragstage_stages::build::vector::{Embed, EmbedInput};
use ragstage_stages::model::{BertEmbedder, EmbedderSpec, Pooling, StaticEmbedder};
use ragstage_stages::process::Launch;
use ragstage_stages::score::program::{Program, ProgramRunner, ProgramSpec, columns};
use ragstage_stages::score::{Evaluator, Reads};
use serde_json::Value;

use crate::model_server::ModelServer;
use crate::openviking_server::OpenViking;

/// Objects whose keys are the user's, or belong to the options of one evaluator.
const FREE: [&str; 8] = [
    "adapter.metadata",
    "mode.options",
    "mode.system.mapping.request",
    "system.mapping.request",
    "answer.instructions",
    "evaluator.options",
    "recipes.*.manifest",
    "query_infos.*.options",
];

const STAGES: [&str; 6] = ["prepare", "materialize", "build", "query", "score", "aggregate"];

/// Everything optional of the JSONL adapter, of selection and of a built recipe; and answers that are not asked for.
const BUILT: &str = r#"
name: built
benchmark:
  {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl, build_scope: group, homepage: h, license: l,
   citation: c, metadata: {a: 1}, first: 1, sample: 1, sample_documents: 1, stratify: true, categories: [fact], category_label: kind}
recipes:
  - {name: words, parse: {encoding: utf-8}, chunk: {minimum: 5}, full_text: {stop_words: [the], title_weight: 2}}
  - {name: default}
evaluators: [nDCG@10, answer_contains]
gates: [{measure: answer_contains, recipe: words, query: full_text_search, at_least: 0, at_most: 1}]
"#;

const RETRIEVAL_ONLY: &str = r#"
name: retrieval-only
benchmark: {adapter: beir, path: beir, dataset: tiny, dataset_url: u}
recipe: {}
answer: none
evaluators: [R@10, token_f1]
"#;

/// A dataset whose documents are found by their names.
const DATASET: &str = r#"
name: dataset
benchmark: {adapter: uda, path: UDA, subset: nq, documents: present}
recipe: {}
answer: none
evaluators: [uda_f1]
"#;

const SYSTEM: &str = r#"
name: system
benchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}
recipe:
  name: mine
  system:
    command: [sh, -c, 'while read line; do echo "{\"results\": [], \"answer\": \"a lighthouse\"}"; done']
    version: "1"
    files: [documents.jsonl]
queries: [{mode: any, options: {rerank: true}}]
evaluators: [answer_contains]
"#;

/// Test collections and questions with paragraphs of their own, with everything optional.
const TREC: &str = r#"
name: trec
benchmark:
  {adapter: trec, documents: trec/documents.jsonl, topics: trec/topics.tsv, qrels: trec/qrels.txt, version: "1", homepage: h,
   license: l, citation: c, query_ids: as_written, topic_fields: [title]}
recipe: {}
answer: none
evaluators: [R@10]
"#;

const HOTPOTQA: &str = r#"
name: hotpotqa
benchmark: {adapter: hotpotqa, path: hotpotqa.json}
recipe: {}
answer: none
evaluators: [supporting_facts_f1]
"#;

/// A dataset as OpenViking's benchmark reads it.
const LOCOMO: &str = r#"
name: locomo
benchmark: {adapter: locomo, path: locomo10.json, variant: openviking}
recipe: {}
answer: none
evaluators: [openviking_recall]
"#;

/// A benchmark that a program prints.
const COMMAND: &str = r#"
name: command
benchmark: {adapter: command, command: [cat, records.jsonl], version: "1"}
recipe: {}
answer: none
evaluators: [R@10]
"#;

/// Answers by a chat model, whose URL stands for `URL`.
const CHAT: &str = r#"
name: chat
benchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}
models: [{name: small, model: m, base_url: "URL"}]
recipe: {}
answer: {provider: openai, llm: small, instructions: {fact: Be brief.}, seed: 1, stop: [END], context: {result_chars: 900}}
evaluators: [answer_contains]
"#;

/// Judges of each kind of reply, and a program, with all that their keys may hold. `URL` stands for a model server's.
const ASKING: &str = r#"
name: asking
benchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}
models: [{name: judge, model: j, base_url: "URL"}]
recipe: {}
evaluators:
  - {judge: faithfulness, model: judge}
  - {judge: openviking, model: judge, refusal: override}
  - {judge: rubric, name: number, rubric: number.md, model: judge}
  - {judge: rubric, name: label, rubric: label.md, model: judge}
  - {program: [sh, length.sh], name: length, version: "1", files: [length.sh], scores: [words]}
"#;

/// The evaluators of [`ASKING`] that are judges.
const JUDGES: [&str; 4] = ["faithfulness", "openviking", "number", "label"];

/// Every mode that builds on something, with and without models; `URL` stands for a model server's. A query is called after its
/// mode, with more after a hyphen. Words in `embed` and in modes that the other recipe has otherwise are there once in each way.
const MODES: &str = r#"
name: modes
benchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}
models: [{name: small, model: m, base_url: "URL"}]
rerankers: [{name: cross, model: r, base_url: "URL"}]
recipes:
  - {name: hashed, embed: {provider: hashing, dimensions: 16}, vector: {index: hnsw, min_rows: 2}, graph: {}}
  - name: served
    embed: {provider: openai, model: e, base_url: "URL", dimensions: 16}
    graph: {extractor: llm, llm: small, entity_types: [word]}
queries:
  - {mode: full_text_search, trace: true}
  - {mode: vector_search, trace: true}
  - {mode: hybrid_search, trace: true, options: {candidates: 5}}
  - {mode: graph_search, trace: true, options: {match: vector, entity_limit: 5, relation_limit: 5, evidence_limit: 5}}
  - {mode: graph_search, name: graph_search-walk, options: {ranking: pagerank}}
  - {mode: rerank_search, trace: true, options: {candidates: 5}}
  - {mode: rerank_search, name: rerank_search-cross, options: {reranker: cross}}
  - {mode: rerank_search, name: rerank_search-llm, options: {llm: small, base_mode: graph_search}}
  - {mode: rewrite_search, trace: true, options: {rewriter: lexical}}
  - {mode: rewrite_search, name: rewrite_search-llm, options: {llm: small, base_mode: vector_search}}
  - {mode: multihop_search, trace: true, options: {planner: lexical, base_mode: rerank_search}}
  - {mode: multihop_search, name: multihop_search-llm, options: {llm: small}}
answer: none
evaluators: [evidence_recall@5]
"#;

/// A system that takes documents in, with requests and replies of another shape. `URL` says the same to everybody.
const INGESTING: &str = r#"
name: ingesting
benchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}
recipe:
  name: mine
  system:
    http: {query: URL, ingest: URL, request: {q: '{{query}}', kb: '{{handle}}'}, response: {text: /page}}
    version: "2"
    files: [documents.jsonl]
queries: [{mode: any, options: {rerank: true}}]
evaluators: [answer_contains]
"#;

/// An OpenViking server, with all that is in a key.
const OPENVIKING: &str = r#"
name: openviking
benchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}
recipe:
  name: viking
  system: {provider: openviking, url: "URL", version: "0.5.2", processing_mode: vectors_only, word: markdown,
           retrieval_instruction: Find}
queries: [{mode: find, options: {level: 2}}]
answer: none
evaluators: [evidence_recall@5]
"#;

const FILES: [(&str, &str); 26] = [
    ("built.yaml", BUILT),
    ("retrieval-only.yaml", RETRIEVAL_ONLY),
    ("dataset.yaml", DATASET),
    ("system.yaml", SYSTEM),
    ("ingesting.yaml", INGESTING),
    (
        "documents.jsonl",
        "{\"document_id\": \"a\", \"name\": \"a.txt\", \"media_type\": \"text/plain\", \"text\": \"A lighthouse.\"}\n\
         {\"document_id\": \"b\", \"name\": \"b.txt\", \"media_type\": \"text/plain\", \"path\": \"b.txt\"}\n",
    ),
    ("b.txt", "A harbour."),
    ("number.md", "---\nmax: 4\npasses: 3\n---\nIs the answer kind?\n"),
    ("label.md", "---\nlabels: [kind, rude]\npasses: [kind]\n---\nIs the answer kind?\n"),
    (
        "length.sh",
        "while read -r line; do id=${line#*\\\"id\\\":}; echo \"{\\\"id\\\": ${id%%,*}, \\\"scores\\\": {\\\"words\\\": 2}}\"; done\n",
    ),
    (
        "cases.jsonl",
        "{\"case_id\": \"q\", \"query\": \"Which lighthouse?\", \"labels\": {\"kind\": \"fact\"}, \
         \"expected\": {\"answers\": [\"a lighthouse\"], \"evidence\": [{\"reference_id\": \"a\"}]}}\n",
    ),
    (
        "UDA/qa/nq_qa.csv",
        "doc_name|q_uid|question|short_answer|long_answer\nHarbour|1|Where are ships?|here|They are here.\n",
    ),
    ("UDA/wiki_nq_docs/Harbour.txt", "Ships."),
    ("beir/corpus.jsonl", "{\"_id\": \"d\", \"title\": \"Harbour\", \"text\": \"Ships.\"}\n"),
    ("beir/queries.jsonl", "{\"_id\": \"q\", \"text\": \"Where are ships?\"}\n"),
    ("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n"),
    ("trec.yaml", TREC),
    ("locomo.yaml", LOCOMO),
    (
        "locomo10.json",
        "[{\"sample_id\": \"c\", \"conversation\": {\"session_1\": [{\"speaker\": \"Ann\", \"text\": \"Ships.\", \"dia_id\": \"D1:1\"}]}, \
         \"qa\": [{\"question\": \"Where are ships?\", \"answer\": \"harbour\", \"evidence\": [\"D1:1\"], \"category\": 4}]}]",
    ),
    ("hotpotqa.yaml", HOTPOTQA),
    ("command.yaml", COMMAND),
    ("trec/documents.jsonl", "{\"id\": \"d\", \"title\": \"Harbour\", \"text\": \"Ships.\"}\n"),
    ("trec/topics.tsv", "q\tWhere are ships?\n"),
    ("trec/qrels.txt", "q 0 d 1\n"),
    (
        "hotpotqa.json",
        "[{\"_id\": \"q\", \"question\": \"Where are ships?\", \"answer\": \"harbour\", \
         \"supporting_facts\": [[\"Harbour\", 0]], \"context\": [[\"Harbour\", [\"Ships.\"]]]}]",
    ),
    (
        "records.jsonl",
        "{\"type\": \"document\", \"document_id\": \"d\", \"name\": \"d\", \"media_type\": \"text/plain\", \"text\": \"Ships.\"}\n\
         {\"type\": \"case\", \"case_id\": \"q\", \"query\": \"Where are ships?\"}\n",
    ),
];

/// By step, of `retrieve` by mode and of `score` by who is asked: the fields of the key.
type Table = BTreeMap<String, BTreeSet<String>>;

/// The fields of keys as they were found.
#[derive(Default)]
struct Found {
    table: Table,
    /// Those of modes within modes, as if the mode were not within another.
    nested: BTreeSet<String>,
}

#[test]
fn architecture_lists_every_field_of_every_key() {
    let table = documented();
    let Found { table: found, nested } = observed();
    assert_eq!(table.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "steps");
    for (step, fields) in &found {
        let documented = &table[step];
        let missing: Vec<_> = fields.difference(documented).collect();
        let gone: Vec<_> = documented.difference(fields).collect();
        assert!(missing.is_empty() && gone.is_empty(), "{step}: not in the table {missing:?}, in no key {gone:?}");
    }
    let of_modes: BTreeSet<&String> =
        table.iter().filter(|(step, _)| step.starts_with("retrieve ")).flat_map(|(_, fields)| fields).collect();
    let missing: Vec<_> = nested.iter().filter(|field| !of_modes.contains(field)).collect();
    assert!(missing.is_empty(), "fields of modes within modes that no mode has: {missing:?}");
}

#[test]
fn the_table_holds_nothing_that_may_not_be_in_a_key() {
    for (step, fields) in documented() {
        for field in fields {
            let last = field.rsplit('.').next().unwrap_or_default();
            let banned =
                ["path", "url", "http", "headers", "mtime", "jobs", "concurrency", "timeout", "retries", "host"];
            assert!(!banned.contains(&last), "{step}: {field}");
        }
    }
}

/// The rows of the table: the step (and what tells it from others of its name), then its fields, each in backticks.
fn documented() -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).expect("ARCHITECTURE.md");
    let (_, rest) = text.split_once("<!-- key table").expect("the beginning of the table");
    let (table, _) = rest.split_once("<!-- end of the key table -->").expect("the end of the table");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.split('|').skip(1);
        let step = cells.next().expect("a step").trim().replace('`', "");
        let fields = cells.next().expect("fields").split('`').skip(1).step_by(2);
        (step, fields.map(str::to_string).collect())
    })
    .collect()
}

/// The fields that the keys of real actions hold, as `ragstage explain` shows them.
fn observed() -> Found {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = endpoint();
    for (name, text) in FILES {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text.replace("URL", &url)).expect("write");
    }
    let server = ModelServer::healthy();
    for (name, text) in [("chat.yaml", CHAT), ("modes.yaml", MODES), ("asking.yaml", ASKING)] {
        std::fs::write(folder.path().join(name), text.replace("URL", &server.base_url())).expect("write");
    }
    let viking = OpenViking::new();
    std::fs::write(folder.path().join("openviking.yaml"), OPENVIKING.replace("URL", &viking.url())).expect("write");
    let files = [
        "built.yaml",
        "retrieval-only.yaml",
        "dataset.yaml",
        "system.yaml",
        "ingesting.yaml",
        "openviking.yaml",
        "chat.yaml",
        "modes.yaml",
        "trec.yaml",
        "locomo.yaml",
        "hotpotqa.yaml",
        "command.yaml",
        "asking.yaml",
    ];
    ragstage(folder.path(), &[&["run", "--quiet"], files.as_slice()].concat());
    let mut found = Found::default();
    look(folder.path(), &files, &mut found);
    // Keys of forced actions have one field more.
    let mut force = vec!["run", "--quiet"];
    force.extend(STAGES.iter().flat_map(|stage| ["--force", stage]));
    ragstage(folder.path(), &[force.as_slice(), files.as_slice()].concat());
    look(folder.path(), &files, &mut found);
    for fields in embedders() {
        for (step, prefix) in
            [("embed", ""), ("retrieve by vector_search", "mode."), ("retrieve by graph_search", "mode.")]
        {
            found
                .table
                .entry(step.to_string())
                .or_default()
                .extend(fields.iter().map(|field| format!("{prefix}{field}")));
        }
    }
    found.table.entry("score by a program".to_string()).or_default().extend(python_fields());
    found
}

/// The fields of an evaluator that is a Python file. It needs no Python.
fn python_fields() -> BTreeSet<String> {
    struct Key(Program);
    impl Walk for Key {
        fn walk(&self, v: &mut dyn KeyVisitor) {
            self.0.walk(v);
        }
    }
    let launch =
        Launch { command: Vec::new(), directory: Default::default(), environment: Vec::new(), variables: Vec::new() };
    let spec = ProgramSpec {
        name: "mine".to_string(),
        description: String::new(),
        higher_is_better: true,
        version: String::new(),
        runner: ProgramRunner::Python,
        files: vec![("mine.py".to_string(), Digest::of(b"def evaluate"))],
        paths: Vec::new(),
        reads: Reads { answer: true, ..Reads::default() },
        scores: vec!["words".to_string()],
        batch: None,
        launch,
    };
    let of = |program| Manifest::of(&Key(program)).leaves().into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    let fields = columns(spec).into_iter().flat_map(of);
    fields.map(|field| general(&field)).collect()
}

/// The fields of embedders whose models are files.
fn embedders() -> [BTreeSet<String>; 2] {
    let digest = Digest::of(b"weights");
    let of_files = StaticEmbedder { model: String::new(), folder: Default::default(), digest };
    let transformer = BertEmbedder {
        model: String::new(),
        folder: Default::default(),
        digest,
        pooling: Pooling::Mean,
        max_tokens: 256,
        query_prefix: String::new(),
        passage_prefix: String::new(),
    };
    [EmbedderSpec::Static(of_files), EmbedderSpec::Bert(transformer)].map(|embedder| {
        let embed = Embed { input: EmbedInput::Chunks(digest), embedder, salt: 0 };
        let fields = Manifest::of(&embed).leaves().into_iter().map(|(path, _)| path);
        fields.filter(|path| path.starts_with("embedder.")).collect()
    })
}

fn look(folder: &Path, files: &[&str], found: &mut Found) {
    for file in files {
        // A system under test is not built, unless it takes documents in.
        let none: &[&str] = match *file {
            "system.yaml" => &["materialize", "build"],
            "ingesting.yaml" | "openviking.yaml" => &["materialize"],
            _ => &[],
        };
        let stages = STAGES.iter().filter(|stage| !none.contains(stage));
        for stage in stages {
            let printed = ragstage(folder, &["explain", stage, "--format", "json", "--file", file]);
            let document: Value = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
            for action in document["actions"].as_array().expect("actions") {
                let label = action["label"].as_str().expect("a label");
                for leaf in action["preimage"].as_array().expect("a preimage") {
                    let [path, value] = [&leaf[0], &leaf[1]].map(|text| text.as_str().expect("a text"));
                    // An empty list or record is no field. (A text is shown in quotes.)
                    if !value.ends_with("{0 fields}") && value != "[0 entries]" {
                        found.take(label, general(path));
                    }
                }
            }
        }
    }
}

impl Found {
    /// Takes a field of the action `label`.
    fn take(&mut self, label: &str, field: String) {
        let fields = self.table.entry(row_of(label)).or_default();
        match within(&field) {
            Some((within, rest)) => {
                fields.insert(format!("mode.{within}**"));
                self.nested.insert(format!("mode.{rest}"));
            }
            None => {
                fields.insert(field);
            }
        }
    }
}

/// The row of the table for an action: its step, of `retrieve` the mode too, and of `score` who is asked.
fn row_of(label: &str) -> String {
    let mut words = label.split(' ');
    let step = words.next().unwrap_or_default();
    match (step, words.next_back()) {
        ("retrieve", Some("any" | "find")) => "retrieve by a system".to_string(),
        ("score", Some(evaluator)) if JUDGES.contains(&evaluator) => "score by a judge".to_string(),
        ("score", Some("length.words")) => "score by a program".to_string(),
        ("retrieve", Some(query)) => format!("retrieve by {}", query.split('-').next().unwrap_or_default()),
        _ => step.to_string(),
    }
}

/// Of a field of a mode within a mode: where that mode is in the outermost one, and what the field is in the innermost.
fn within(field: &str) -> Option<(&str, &str)> {
    let mut rest = field.strip_prefix("mode.")?;
    let mut outermost = None;
    while let Some(place) = ["base_mode.", "parts.*.mode."].into_iter().find(|place| rest.starts_with(place)) {
        outermost.get_or_insert(place);
        rest = &rest[place.len()..];
    }
    Some((outermost?, rest))
}

/// The URL of an endpoint with one reply, which is one to documents as well as to questions.
fn endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut request, mut buffer) = (String::new(), [0; 4096]);
            // Every request is a JSON object of one line.
            while !request.ends_with('}') {
                match stream.read(&mut buffer) {
                    Ok(count @ 1..) => request.push_str(&String::from_utf8_lossy(&buffer[..count])),
                    _ => break,
                }
            }
            let body = r#"{"results": [], "answer": "a lighthouse"}"#;
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("\"http://{address}/\"")
}

/// A path with `*` for positions and for what is below a free object.
fn general(path: &str) -> String {
    let parts: Vec<&str> =
        path.split('.').map(|part| if part.bytes().all(|byte| byte.is_ascii_digit()) { "*" } else { part }).collect();
    let path = parts.join(".");
    match FREE.iter().find(|free| path.strip_prefix(*free).is_some_and(|rest| rest.starts_with('.'))) {
        Some(free) => format!("{free}.*"),
        None => path,
    }
}

/// Runs the command, which must succeed, and gives what it printed.
fn ragstage(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ragstage"));
    let output = command.current_dir(folder).env_remove("RAGSTAGE_STORE").args(arguments).output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {:?}\n{out}\n{err}", output.status);
    out.into_owned()
}
