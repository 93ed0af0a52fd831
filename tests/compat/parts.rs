//! What has a version of its own: adapters, parsers, tokenizers, splitters, the analyzer, the protocol of systems under
//! test, answers of chat models, and every evaluator in each of its variants.

use std::borrow::Cow;
use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{
    Answer, Answers, Document, Documents, Golds, Hit, Json, ParsedDocuments, Queries, Results, Retrieved, Unit,
    UnitRows,
};
use ragstage_stages::build::chunk::{ChunkDocuments, ChunkOptions, Splitter, Tokenizer};
use ragstage_stages::build::full_text::{AnalyzerOptions, FullTextIndex, StopWords};
use ragstage_stages::contract::{Action, Artifact};
use ragstage_stages::error::RowError;
use ragstage_stages::materialize::{Materialize, ParseOptions};
use ragstage_stages::model::{ChatModel, Endpoint, Price};
use ragstage_stages::prepare::BenchmarkSpec;
use ragstage_stages::query::system::protocol::{PROTOCOL_VERSION, Reply};
use ragstage_stages::query::{AnswerOptions, AnswerQuestions, ChatAnswerOptions, ContextOptions};
use ragstage_stages::score::{
    CutoffRule, Definition, EvaluatorSpec, ParameterKind, ScoreResponses, aliases, definitions, evaluator,
};
use serde::Deserialize;

use crate::golden::{Golden, folder, version_in_key};
use crate::harbour::{Done, Prepared, beir, command, jsonl, questions, trec};
use crate::memory::MemoryContext;
use crate::model_server::{Act, ModelServer};

#[test]
fn adapters_read_what_they_read() {
    let specs = [jsonl("harbour"), beir("reef"), trec(), command()];
    for spec in specs.into_iter().chain(questions()) {
        let mut sampled = spec.clone();
        sampled.selection.sample = Some(2);
        let (name, version) = (format!("adapter-{}", spec.adapter.name()), spec.adapter.version());
        let mut golden = Golden::new(&name, version, "AdapterSpec::version");
        let mut take = |what: &str, spec: BenchmarkSpec| {
            let prepared = Prepared::read(&MemoryContext::default(), spec);
            golden.take_values(what, &prepared.sources.action, &prepared.sources.ran);
            golden.take_values(what, &prepared.prepare.action, &prepared.prepare.ran);
        };
        take("", spec);
        take("sampled", sampled);
        golden.check();
    }
}

/// Parses the documents of the harbour for which `of` says so.
fn parse(memory: &MemoryContext, of: &dyn Fn(&str) -> bool) -> Done<Materialize> {
    let benchmark = Prepared::read(memory, jsonl("harbour"));
    let documents: Documents = benchmark.artifact("documents");
    let rows = (0u32..).zip(&documents.rows).filter(|(_, document)| of(&document.media_type)).map(|(i, _)| i).collect();
    let rows = UnitRows { document_rows: Some(rows), case_rows: Some(Vec::new()), ..UnitRows::default() };
    let unit =
        Unit::over(rows, &documents, &Queries::default(), &Golds::default(), &Default::default()).expect("a unit");
    let documents = benchmark.digest("documents");
    Done::run(memory, Materialize { documents, unit, options: ParseOptions::default(), salt: 0 })
}

#[test]
fn parsers_find_what_they_find() {
    for (parser, media_type) in [("text", "text/plain"), ("markdown", "text/markdown"), ("html", "text/html")] {
        let parsed = parse(&MemoryContext::default(), &|other| other == media_type);
        assert!(parsed.ran.0.outputs[0].rows > 0, "no document is {media_type}");
        let version = version_in_key(&parsed.action, &format!("parsers.{parser}"));
        let mut golden = Golden::new(&format!("parser-{parser}"), version, "Parser::code_version");
        golden.take_values("", &parsed.action, &parsed.ran);
        golden.check();
    }
}

#[test]
fn parsers_of_files_find_what_they_find() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents");
    for (parser, name) in [("csv", "tolls.csv"), ("tsv", "tolls.tsv"), ("pdf", "aes-256.pdf"), ("docx", "office.docx")]
    {
        let memory = MemoryContext::default();
        let bytes = std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let document = Document {
            document_id: name.to_string(),
            name: name.to_string(),
            media_type: "application/octet-stream".to_string(),
            digest: Some(Digest::of(&bytes)),
            size: Some(bytes.len() as u64),
            data: Some(bytes),
            source_uri: None,
            source_key: name.to_string(),
            metadata: Json::new(),
        };
        let documents = Documents { rows: vec![document] };
        let rows = UnitRows { case_rows: Some(Vec::new()), ..UnitRows::default() };
        let (queries, golds) = (Queries::default(), Golds::default());
        let unit = Unit::over(rows, &documents, &queries, &golds, &Default::default()).expect("a unit");
        let documents = memory.put(&documents);
        let action = Materialize { documents, unit, options: ParseOptions::default(), salt: 0 };
        let parsed = Done::run(&memory, action);
        let found: ParsedDocuments = memory.read(&parsed.ran.digest("parsed"));
        assert_eq!((found.rows[0].parser.as_str(), &found.rows[0].error), (parser, &None), "{name}");
        let version = version_in_key(&parsed.action, &format!("parsers.{parser}"));
        let mut golden = Golden::new(&format!("parser-{parser}"), version, "Parser::code_version");
        golden.take_values("", &parsed.action, &parsed.ran);
        golden.check();
    }
}

#[test]
fn tokenizers_and_splitters_cut_where_they_cut() {
    let memory = MemoryContext::default();
    let parsed = parse(&memory, &|_| true).ran.digest("parsed");
    for (name, tokenizer, size) in [
        ("words", Tokenizer::Words, 12),
        ("unicode", Tokenizer::Unicode, 80),
        ("cl100k_base", Tokenizer::Cl100kBase, 20),
    ] {
        let cut = |splitter, overlap, minimum| {
            let options = ChunkOptions { splitter, tokenizer, size, overlap, minimum };
            Done::run(&memory, ChunkDocuments { parsed, options, salt: 0 })
        };
        let chunks = |splitter, overlap| cut(splitter, overlap, 0);
        let first = chunks(Splitter::Token, 0);
        let version = version_in_key(&first.action, "tokenizer_version");
        let place = "Tokenizer::code_version, or the chunk step in Step::code_version for a splitter";
        let mut golden = Golden::new(&format!("tokenizer-{name}"), version, place);
        for (what, splitter) in [
            ("token", Splitter::Token),
            ("sentence", Splitter::Sentence),
            ("heading", Splitter::Heading),
            ("recursive", Splitter::Recursive),
        ] {
            for overlap in [0, size / 3] {
                let done = chunks(splitter, overlap);
                golden.take_values(&format!("{what} overlap {overlap}"), &done.action, &done.ran);
            }
            let joined = cut(splitter, 0, size / 2);
            golden.take_values(&format!("{what} minimum"), &joined.action, &joined.ran);
        }
        golden.check();
    }
}

#[test]
fn the_analyzer_gives_the_terms_that_it_gives() {
    let memory = MemoryContext::default();
    let parsed = parse(&memory, &|_| true).ran.digest("parsed");
    let chunks = Done::run(&memory, ChunkDocuments { parsed, options: ChunkOptions::default(), salt: 0 });
    let chunks = chunks.ran.digest("chunks");
    let weighted =
        |analyzer, title_weight| Done::run(&memory, FullTextIndex { chunks, analyzer, title_weight, salt: 0 });
    let index = |analyzer: AnalyzerOptions| weighted(analyzer, 1);
    let version = version_in_key(&index(AnalyzerOptions::default()).action, "analyzer_version");
    let mut golden = Golden::new("analyzer", version, "ANALYZER_VERSION");
    let mut take = |what: &str, analyzer: AnalyzerOptions| {
        let done = index(analyzer);
        golden.take_values(what, &done.action, &done.ran);
    };
    for language in [
        "none",
        "danish",
        "dutch",
        "english",
        "finnish",
        "french",
        "german",
        "italian",
        "norwegian",
        "porter",
        "portuguese",
        "russian",
        "spanish",
        "swedish",
    ] {
        take(language, AnalyzerOptions { language: language.to_string(), ..AnalyzerOptions::default() });
    }
    take("without stemming", AnalyzerOptions { stem: false, ..AnalyzerOptions::default() });
    take("with case", AnalyzerOptions { lower_case: false, ..AnalyzerOptions::default() });
    take("without stop words", AnalyzerOptions { stop_words: StopWords::None, ..AnalyzerOptions::default() });
    let listed = StopWords::List(vec!["the".to_string(), "lamp".to_string()]);
    take("listed stop words", AnalyzerOptions { stop_words: listed, ..AnalyzerOptions::default() });
    for weight in [0, 3] {
        let done = weighted(AnalyzerOptions::default(), weight);
        golden.take_values(&format!("titles {weight} times"), &done.action, &done.ran);
    }
    golden.check();
}

#[test]
fn replies_of_systems_are_read_as_they_are_read() {
    let bytes = std::fs::read(folder().join("reply.json")).expect("a reply");
    let reply = Reply::parse(&bytes, 2).expect("a reply");
    let row =
        Retrieved { results: reply.results, answer: reply.answer, metadata: reply.metadata, ..Retrieved::default() };
    let mut golden = Golden::new("protocol", PROTOCOL_VERSION, "PROTOCOL_VERSION");
    let key = Digest::of_parts("protocol", [&PROTOCOL_VERSION.to_le_bytes(), bytes.as_slice()]);
    golden.take("row", key, &row.value().expect("a value"));
    golden.take("results", key, &Results { rows: vec![row] }.encode().expect("a table"));
    golden.check();
}

#[test]
fn chat_models_are_asked_what_they_were_asked_and_read_as_they_were() {
    // The digest of a request in its reply: another request gives other bytes.
    let server = ModelServer::new(|request| {
        let digest = Digest::of(request.body.to_string().as_bytes());
        Act::Say(format!("{} [1, 9].", digest.hex().chars().take(16).collect::<String>()))
    });
    let endpoint = Endpoint {
        label: "default".to_string(),
        base_url: server.base_url(),
        headers: Vec::new(),
        variables: Vec::new(),
    };
    let model = ChatModel {
        name: "small".to_string(),
        model: "m".to_string(),
        endpoint,
        structured: true,
        price: Price::default(),
    };
    let memory = MemoryContext::default();
    let benchmark = Prepared::read(&memory, jsonl("harbour"));
    let unit = benchmark.units[0].clone();
    let queries: Queries = benchmark.artifact("queries");
    let (found, _) = responses();
    let hits: Vec<Hit> = found.rows.iter().flat_map(|row| row.results.iter().cloned()).take(4).collect();
    let cases = unit.case_positions(queries.rows.len()).into_iter().map(|row| queries.rows[row].case_id.clone());
    let rows = cases.map(|case_id| Retrieved { case_id, results: hits.clone(), ..Retrieved::default() }).collect();
    let results = memory.put(&Results { rows });
    let answers = |options: ChatAnswerOptions| {
        let options = AnswerOptions::Chat(Box::new(options));
        let queries = benchmark.digest("queries");
        Done::run(&memory, AnswerQuestions { options, results, queries, unit: unit.clone(), salt: 0 })
    };
    let plain = || ChatAnswerOptions::new(Arc::new(model.clone()));
    let category = queries.rows.iter().find_map(|query| query.category.clone()).unwrap_or_default();
    let context = ContextOptions { tokens: 12, tokenizer: Tokenizer::Words, results: 3, result_chars: None };
    let every = ChatAnswerOptions {
        instructions: [(category, "Be brief.".to_string())].into(),
        context,
        temperature: 0.5,
        seed: Some(1),
        stop: vec!["END".to_string()],
        samples: 2,
        ..plain()
    };
    let version = version_in_key(&answers(plain()).action, "answer.answer_version");
    let mut golden = Golden::new("answer-openai", version, "ANSWER_VERSION or CHAT_VERSION");
    for (what, options) in [
        ("", plain()),
        ("with every option", every),
        ("without citations", ChatAnswerOptions { citations: false, ..plain() }),
    ] {
        let done = answers(options);
        assert_eq!(done.ran.0.failed, 0);
        golden.take_values(what, &done.action, &done.ran);
    }
    golden.check();
}

/// A response as `scored/responses.jsonl` has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Response {
    case_id: String,
    results: Vec<Hit>,
    answer: Option<Answer>,
    error: Option<RowError>,
}

/// Responses to the cases of `scored`, in its order.
fn responses() -> (Results, Answers) {
    let text = std::fs::read_to_string(folder().join("scored/responses.jsonl")).expect("responses");
    let (mut results, mut answers) = (Results::default(), Answers::default());
    for line in text.lines() {
        let Response { case_id, results: hits, answer, error } = serde_json::from_str(line).expect("a response");
        answers.rows.push(Answer { case_id: case_id.clone(), error: error.clone(), ..answer.unwrap_or_default() });
        results.rows.push(Retrieved { case_id, results: hits, answer: None, metadata: Json::new(), error });
    }
    (results, answers)
}

/// The evaluator as it is without options, and with each value of each option.
fn variants(definition: &Definition) -> Vec<String> {
    let cutoffs: &[Cow<'static, str>] = match definition.cutoff {
        CutoffRule::None => &[Cow::Borrowed("")],
        CutoffRule::Required => &[Cow::Borrowed("@1"), Cow::Borrowed("@3")],
        CutoffRule::Optional | CutoffRule::Default(_) => &[Cow::Borrowed(""), Cow::Borrowed("@3")],
    };
    let mut options = vec![String::new()];
    for parameter in definition.parameters {
        match parameter.kind {
            ParameterKind::Whole { min, .. } => options.push(format!("({}={})", parameter.name, min + 1)),
            ParameterKind::Real { max, .. } => options.push(format!("({}={})", parameter.name, max / 2.0)),
            ParameterKind::Choice(words) => {
                options.extend(words.iter().map(|word| format!("({}={word})", parameter.name)));
            }
            ParameterKind::Texts(_) => options.push(format!("({}=[\"no\",\"yes\"])", parameter.name)),
        }
    }
    // How many words are enough is only asked where texts are compared by words.
    if definition.parameters.iter().any(|parameter| parameter.name == "text") {
        let of_words = |option: &&mut String| option.starts_with("(minimum=") || option.starts_with("(threshold=");
        options.iter_mut().filter(of_words).for_each(|option| option.insert_str(1, "text=cover,"));
    }
    let with = |option: &String| -> Vec<String> {
        cutoffs.iter().map(|cutoff| format!("{}{option}{cutoff}", definition.name)).collect()
    };
    options.iter().flat_map(with).collect()
}

#[test]
fn every_evaluator_gives_its_recorded_scores() {
    let memory = MemoryContext::default();
    let benchmark = Prepared::read(&memory, jsonl("scored"));
    let (results, answers) = responses();
    let (results, answers) = (memory.put(&results), memory.put(&answers));
    for definition in definitions() {
        let place = format!("code_version in the definition of {}", definition.name);
        let mut golden = Golden::new(&format!("evaluator-{}", definition.name), definition.code_version, &place);
        let aliases = aliases().iter().filter(|alias| alias.of == definition.name).map(|alias| alias.name.to_string());
        for text in variants(definition).into_iter().chain(aliases) {
            let spec = EvaluatorSpec::parse(&text).unwrap_or_else(|error| panic!("{error}"));
            let action = ScoreResponses {
                evaluator: evaluator(&spec).unwrap_or_else(|error| panic!("{text}: {error}")).into(),
                results,
                answers: Some(answers),
                queries: benchmark.digest("queries"),
                gold: benchmark.digest("gold"),
                unit: benchmark.units[0].clone(),
                salt: 0,
            };
            let ran = memory.run(&action);
            let scored = ran.read::<ragstage_stages::artifact::Scores>("scores");
            assert!(scored.rows.iter().any(|score| score.value.is_some()), "{text} scores no case");
            golden.take(&text, key_of(&action as &dyn Action), &ran.output("scores").bytes);
        }
        golden.check();
    }
}
