//! What is asked again of models after each kind of change, and what is not: the table of the design for embeddings, vectors, graphs,
//! modes that ask models, and answers. What ran is told by events, what was asked by the server.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use ragstage_cache::Digest;

use super::model_server::{Act, ModelServer, Request};
use super::small::{self, CASE_COUNT, DOCUMENT_COUNT};
use super::space::{Ran, Space, steps};

/// The queries of the town.
const QUERIES: [&str; 7] = ["bm25", "near", "both", "graph", "ranked", "worded", "hops"];

/// The town, with every kind of model at one server.
pub struct Town {
    /// Its folder.
    pub space: Space,
    /// The server.
    pub server: ModelServer,
    /// What the server was asked for so far.
    asked: RefCell<BTreeSet<String>>,
}

/// What a run asked.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    /// The texts that were to be embedded, sorted.
    texts: Vec<String>,
    /// How many rankings were asked for.
    rankings: usize,
    /// How many replies of each chat model.
    chat: BTreeMap<String, usize>,
}

impl Asked {
    fn nothing() -> Self {
        Asked { texts: Vec::new(), rankings: 0, chat: BTreeMap::new() }
    }

    fn chat(&self, model: &str) -> usize {
        self.chat.get(model).copied().unwrap_or_default()
    }
}

/// Chat models say something else to every request, unless it has a schema.
pub fn script(request: &Request) -> Act {
    match (request.path.as_str(), request.schema()) {
        ("chat/completions", None) => {
            Act::Say(format!("I say {}.", Digest::of(request.body.to_string().as_bytes()).short()))
        }
        _ => Act::Answer,
    }
}

fn model(request: &Request) -> String {
    request.body["model"].as_str().unwrap_or_default().to_string()
}

/// What a request asks for, none of which is to be asked for twice: of an embedder the single texts, else all of it.
pub fn parts(request: &Request) -> Vec<String> {
    let embedder = format!("{} {}", model(request), request.body["dimensions"]);
    match request.path.as_str() {
        "embeddings" => request.texts().into_iter().map(|text| format!("{embedder} {text}")).collect(),
        _ => vec![request.body.to_string()],
    }
}

impl Town {
    /// Not evaluated yet.
    pub fn new() -> Self {
        let (space, server) = (Space::new(), ModelServer::new(script));
        small::write(&space);
        let url = server.base_url();
        let evaluation = format!(
            r#"name: small
benchmark:
  adapter: jsonl
  name: harbour
  documents: documents.jsonl
  cases: cases.jsonl
models:
  - {{name: answerer, model: answerer-1, base_url: "{url}", price: {{input_per_million: 1, output_per_million: 2}}}}
  - {{name: planner, model: planner-1, base_url: "{url}"}}
rerankers:
  - {{name: cross, model: cross-1, base_url: "{url}"}}
recipes:
  - name: fine
    chunk: {{size: 12}}
    embed: {{provider: openai, model: embedder-1, base_url: "{url}", dimensions: 256, batch: 8}}
    graph: {{max_entities: 12}}
queries:
  - {{mode: full_text_search, name: bm25, top_k: 3}}
  - {{mode: vector_search, name: near, top_k: 3}}
  - {{mode: hybrid_search, name: both, top_k: 3}}
  - {{mode: graph_search, name: graph, top_k: 3}}
  - {{mode: rerank_search, name: ranked, top_k: 3, options: {{base_mode: full_text_search, reranker: cross}}}}
  - {{mode: rewrite_search, name: worded, top_k: 3, options: {{base_mode: full_text_search, llm: planner}}}}
  - {{mode: multihop_search, name: hops, top_k: 3, options: {{base_mode: full_text_search, llm: planner, rounds: 1}}}}
answer: {{provider: openai, llm: answerer, max_tokens: 48, context: {{tokens: 200, results: 2}}}}
evaluators: [evidence_recall@3, answer_contains]
statistics: {{resamples: 100}}
"#
        );
        space.write("evaluation.yaml", &evaluation);
        Town { space, server, asked: RefCell::default() }
    }

    /// Evaluated once.
    fn evaluated() -> Self {
        let town = Town::new();
        let (ran, asked) = town.run();
        assert_eq!(ran.row_counts()["retrieve"], QUERIES.len() * CASE_COUNT);
        assert_eq!((asked.rankings, asked.chat("planner-1")), (CASE_COUNT, 2 * CASE_COUNT));
        // Cases of several queries that have one context share a reply.
        assert!((CASE_COUNT..=QUERIES.len() * CASE_COUNT).contains(&asked.chat("answerer-1")), "{asked:?}");
        town
    }

    /// Runs, and fails if anything is asked that was asked before.
    fn run(&self) -> (Ran, Asked) {
        self.run_file("evaluation.yaml")
    }

    fn run_file(&self, file: &str) -> (Ran, Asked) {
        self.server.rescript(script);
        let ran = self.space.run(file).expect(0);
        let mut asked = Asked::nothing();
        let mut known = self.asked.borrow_mut();
        for path in ["embeddings", "rerank", "chat/completions"] {
            for request in self.server.requests(path) {
                let model = model(&request);
                for part in parts(&request) {
                    assert!(known.insert(part.clone()), "asked twice: {part}");
                }
                match path {
                    "embeddings" => asked.texts.extend(request.texts().into_iter().map(str::to_string)),
                    "rerank" => asked.rankings += 1,
                    _ => *asked.chat.entry(model).or_default() += 1,
                }
            }
        }
        asked.texts.sort();
        (ran, asked)
    }

    /// Replaces `old` in the evaluation file by `new`, and runs.
    fn after(&self, old: &str, new: &str) -> (Ran, Asked) {
        self.space.edit("evaluation.yaml", old, new);
        self.run()
    }
}

/// Fails if a step ran that builds.
fn expect_no_build(ran: &Ran) {
    for step in ["sources", "prepare", "materialize", "chunk"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    for step in ["full_text_index", "embed", "vector_index", "extract_graph", "build_graph"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
}

/// The queries for which a step ran, sorted.
fn queries(ran: &Ran, step: &str) -> Vec<String> {
    let labels = ran.executed_labels();
    let of_step = labels.iter().filter_map(|label| label.strip_prefix(&format!("{step} ")));
    let mut found: Vec<String> = of_step.filter_map(|rest| rest.split(' ').nth(2)).map(str::to_string).collect();
    found.sort();
    found.dedup();
    found
}

/// Fails unless `query` alone was retrieved again, for every case, and answered and scored for no other.
fn expect_only(ran: &Ran, query: &str) {
    expect_no_build(ran);
    assert_eq!(queries(ran, "retrieve"), [query]);
    assert_eq!(ran.items("retrieve"), small::case_ids());
    for step in ["answer", "score"] {
        assert!(queries(ran, step).iter().all(|other| other == query), "{:?}", ran.executed_labels());
    }
}

#[test]
fn nothing_changed() {
    let town = Town::evaluated();
    let (ran, asked) = town.run();
    ran.expect_nothing();
    assert_eq!(asked, Asked::nothing());
}

#[test]
fn chunk_size_embeds_new_texts_only() {
    let town = Town::evaluated();
    let (ran, _) = town.after("size: 12", "size: 24");
    assert!(!ran.executed().contains_key("materialize"));
    for step in ["chunk", "full_text_index", "embed", "vector_index", "extract_graph", "build_graph"] {
        assert_eq!(ran.executed().get(step), Some(&1), "{step}");
    }
    // Most documents are one chunk in either size, and no question is another one. (That nothing is asked twice is seen to
    // by every run.)
    let (ran, asked) = town.after("size: 24", "size: 26");
    assert_eq!(ran.executed().get("embed"), Some(&1));
    assert!((1..DOCUMENT_COUNT).contains(&asked.texts.len()), "{:?}", asked.texts);
    assert_eq!(ran.items("embed").len(), asked.texts.len());
    // And back.
    let (ran, asked) = town.after("size: 26", "size: 12");
    ran.expect_nothing();
    assert_eq!(asked, Asked::nothing());
}

#[test]
fn another_embedder_is_nothing_to_modes_without_vectors() {
    let town = Town::evaluated();
    let (ran, asked) = town.after("embedder-1", "embedder-2");
    for step in ["chunk", "full_text_index", "extract_graph", "build_graph"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    assert_eq!(ran.executed().get("embed"), Some(&1));
    assert_eq!(queries(&ran, "retrieve"), ["both", "near"]);
    // It gives the same vectors under another name, so what is built of them is as it was, and so are the answers.
    assert!(!ran.executed().contains_key("vector_index"));
    assert_eq!((asked.rankings, asked.chat.len()), (0, 0));
    let questions = ran.items("retrieve");
    assert_eq!(questions.len(), 2 * CASE_COUNT);
    // Every chunk once and every question once.
    assert_eq!(asked.texts.len(), ran.items("embed").len() + CASE_COUNT);

    // Another length gives other vectors.
    let (ran, asked) = town.after("dimensions: 256", "dimensions: 64");
    assert_eq!((ran.executed()["embed"], ran.executed()["vector_index"]), (1, 1));
    assert_eq!(queries(&ran, "retrieve"), ["both", "near"]);
    assert_eq!(asked.texts.len(), ran.items("embed").len() + CASE_COUNT);
    assert_eq!((asked.rankings, asked.chat("planner-1")), (0, 0));
}

#[test]
fn another_metric_embeds_nothing() {
    let town = Town::evaluated();
    let (ran, asked) = town.after("graph: {max", "vector: {metric: l2}\n    graph: {max");
    assert!(!ran.executed().contains_key("embed"));
    assert_eq!(ran.executed().get("vector_index"), Some(&1));
    assert_eq!(queries(&ran, "retrieve"), ["both", "near"]);
    // Of vectors of length 1, the nearest are those of the smallest angle: contexts are what they were.
    assert_eq!(asked, Asked::nothing());
}

#[test]
fn options_of_the_graph_are_nothing_to_other_modes() {
    let town = Town::evaluated();
    let (ran, asked) = town.after("max_entities: 12", "max_entities: 2");
    assert_eq!((ran.executed()["extract_graph"], ran.executed()["build_graph"]), (1, 1));
    for step in ["chunk", "full_text_index", "embed", "vector_index"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    assert_eq!(queries(&ran, "retrieve"), ["graph"]);
    assert_eq!(queries(&ran, "answer"), ["graph"]);
    assert_eq!((asked.texts.len(), asked.rankings, asked.chat("planner-1")), (0, 0, 0));
}

#[test]
fn options_of_a_mode_ask_it_alone() {
    let town = Town::evaluated();
    let options = [
        ("both", "name: both, top_k: 3", "name: both, top_k: 3, options: {rrf_k: 1}"),
        ("graph", "name: graph, top_k: 3", "name: graph, top_k: 3, options: {ranking: pagerank}"),
        ("ranked", "reranker: cross", "reranker: cross, candidates: 4"),
        ("worded", "llm: planner}}\n  - {mode: multihop", "llm: planner, rrf_k: 1}}\n  - {mode: multihop"),
        ("hops", "rounds: 1", "rounds: 1, merge: max_score"),
    ];
    for (query, old, new) in options {
        let (ran, asked) = town.after(old, new);
        expect_only(&ran, query);
        assert_eq!((&asked.texts, asked.chat("planner-1")), (&Vec::new(), 0), "{query}: {asked:?}");
        // Fewer candidates are another request to the reranker, where there were more.
        assert!(asked.rankings <= if query == "ranked" { CASE_COUNT } else { 0 }, "{query}: {asked:?}");
        // Whose context changed, unless another query had this context before.
        assert!(asked.chat("answerer-1") <= ran.items("answer").len(), "{query}: {asked:?}");
    }
}

#[test]
fn top_k_embeds_nothing_and_asks_for_no_answer_with_the_same_context() {
    let town = Town::evaluated();
    let (ran, asked) = town.after("name: near, top_k: 3", "name: near, top_k: 5");
    expect_only(&ran, "near");
    assert_eq!((ran.items("answer"), asked), (Vec::new(), Asked::nothing()));
    // One result is less than what answers read.
    let (ran, asked) = town.after("name: near, top_k: 5", "name: near, top_k: 1");
    expect_only(&ran, "near");
    // A result alone was the context of some query before.
    let answers = ran.items("answer").len();
    assert!((CASE_COUNT / 2..=CASE_COUNT).contains(&answers), "{answers}");
    assert_eq!(asked, Asked { chat: BTreeMap::from([("answerer-1".to_string(), answers)]), ..Asked::nothing() });
}

#[test]
fn a_prompt_of_a_mode_asks_its_model_and_builds_nothing() {
    let town = Town::evaluated();
    town.space.write("words.md", "Other words for: {{ query }}\n");
    let (ran, asked) =
        town.after("llm: planner}}\n  - {mode: multihop", "llm: planner, prompt: words.md}}\n  - {mode: multihop");
    expect_only(&ran, "worded");
    assert_eq!((asked.chat("planner-1"), asked.texts.len(), asked.rankings), (CASE_COUNT, 0, 0));
    // A comment in it fills no prompt otherwise.
    town.space.write("words.md", "{# Ours. #}Other words for: {{ query }}\n");
    let (ran, asked) = town.run();
    assert_eq!(queries(&ran, "retrieve"), ["worded"]);
    assert_eq!(asked, Asked::nothing());
}

#[test]
fn the_model_of_a_mode_asks_its_modes_alone() {
    let town = Town::evaluated();
    let (ran, asked) = town.after("planner-1", "planner-2");
    expect_no_build(&ran);
    assert_eq!(queries(&ran, "retrieve"), ["hops", "worded"]);
    assert_eq!(asked.chat, BTreeMap::from([("planner-2".to_string(), 2 * CASE_COUNT)]), "it plans the same");
    let (ran, asked) = town.after("cross-1", "cross-2");
    expect_only(&ran, "ranked");
    assert_eq!(asked, Asked { rankings: CASE_COUNT, ..Asked::nothing() }, "it ranks the same");
}

/// Fails unless all answers were asked for again, and scored, and nothing else was done.
fn expect_answers(ran: &Ran, asked: &Asked) {
    let mut executed = ran.executed();
    // Two queries that were answered alike have one score.
    let scores = executed.remove("score").unwrap_or_default();
    assert!((1..=QUERIES.len()).contains(&scores), "the evaluator of evidence reads no answers: {scores}");
    assert_eq!(executed, steps(&[("answer", QUERIES.len()), ("aggregate", 1), ("report", 1)]));
    assert_eq!((asked.texts.len(), asked.rankings, asked.chat.len()), (0, 0, 1));
    assert_eq!(asked.chat("answerer-2"), ran.items("answer").len());
}

#[test]
fn the_answering_model_and_its_prompt_retrieve_nothing() {
    let town = Town::evaluated();
    let (ran, by_model) = town.after("answerer-1", "answerer-2");
    expect_answers(&ran, &by_model);
    assert!(by_model.chat("answerer-2") >= CASE_COUNT, "{by_model:?}");

    let prompt = "{% for passage in context %}{{ passage.text }}\n{% endfor %}Asked: {{ question }}\n";
    town.space.write("prompt.md", prompt);
    let (ran, by_prompt) = town.after("llm: answerer,", "llm: answerer, prompt: prompt.md,");
    expect_answers(&ran, &by_prompt);
    // Without numbers and titles, contexts differ by their texts alone.
    assert!((CASE_COUNT..=by_model.chat("answerer-2")).contains(&by_prompt.chat("answerer-2")), "{by_prompt:?}");
}

#[test]
fn a_document_that_nobody_finds_asks_for_no_answer() {
    let town = Town::evaluated();
    let documents = town.space.read("documents.jsonl");
    let added = small::document("quarry", "Slate quarrymen split grey slabs using iron wedges.");
    town.space.write("documents.jsonl", &(documents + &added));
    let (ran, asked) = town.run();
    assert_eq!(
        (ran.items("materialize"), ran.items("chunk")),
        (vec!["quarry".to_string()], vec!["quarry".to_string()])
    );
    for step in ["full_text_index", "embed", "vector_index", "extract_graph", "build_graph"] {
        assert_eq!(ran.executed().get(step), Some(&1), "{step}");
    }
    assert_eq!(queries(&ran, "retrieve").len(), QUERIES.len());
    assert_eq!(ran.items("embed").len(), 1);
    assert_eq!((asked.texts.len(), asked.chat("planner-1"), asked.chat("answerer-1")), (1, 0, 0), "{asked:?}");
    assert_eq!(ran.items("answer"), Vec::<String>::new());
}

#[test]
fn prices_places_and_limits_are_in_no_key() {
    let town = Town::evaluated();
    let other = ModelServer::healthy();
    let limits = "limits:\n  jobs: 1\n  embeddings: {concurrency: 1, timeout_s: 7, retries: 0}\n  \
                  llm: {concurrency: 2, requests_per_minute: 9, tokens_per_minute: 9999, breaker: 3}\n  \
                  rerank: {timeout_s: 3}\n  budget_usd: 0.5\n";
    let evaluation = town.space.read("evaluation.yaml").replace(&town.server.base_url(), &other.base_url());
    town.space.write("evaluation.yaml", &(evaluation + limits));
    town.space.edit("evaluation.yaml", "input_per_million: 1,", "input_per_million: 50,");
    town.space.edit(
        "evaluation.yaml",
        "dimensions: 256, batch: 8",
        "dimensions: 256, batch: 2, price: {input_per_million: 1}",
    );
    town.space.edit("evaluation.yaml", "model: cross-1,", "model: cross-1, batch: 3, price: {input_per_million: 1},");
    let (ran, asked) = town.run();
    ran.expect_nothing();
    assert_eq!((asked, other.total()), (Asked::nothing(), 0));
}

#[test]
fn a_trace_asks_no_model() {
    let town = Town::evaluated();
    for query in QUERIES {
        let name = format!("name: {query}, ");
        let (ran, asked) = town.after(&name, &format!("{name}trace: true, "));
        expect_only(&ran, query);
        assert_eq!((ran.items("answer"), asked), (Vec::new(), Asked::nothing()), "{query}");
    }
}

#[test]
fn a_second_recipe_shares_its_vectors() {
    let town = Town::evaluated();
    let evaluation = town.space.read("evaluation.yaml");
    let embed = evaluation.lines().find(|line| line.contains("embed:")).expect("an embedder");
    let twin = |more: &str| format!("  - name: twin\n{more}{embed}\n    graph: {{max_entities: 12}}\nqueries:\n");
    // The same chunks in another index.
    let metric = "    chunk: {size: 12}\n    vector: {metric: dot}\n";
    let (ran, asked) = town.after("queries:\n", &twin(metric));
    let of_build: Vec<String> =
        ran.executed_labels().into_iter().filter(|label| label.starts_with("vector_index ")).collect();
    assert_eq!(of_build, ["vector_index harbour/corpus twin"]);
    for step in ["chunk", "full_text_index", "embed", "extract_graph", "build_graph"] {
        assert!(!ran.executed().contains_key(step), "{step}");
    }
    assert_eq!(queries(&ran, "retrieve"), ["both", "near"]);
    // Vectors of length 1 are as near by either metric, but for ties that rounding settles.
    assert_eq!((asked.texts.len(), asked.rankings, asked.chat("planner-1")), (0, 0, 0));
    // Other chunks, of which many have the texts of those that there are.
    let (ran, _) = town.after(&twin(metric), &twin("    chunk: {size: 24}\n"));
    assert_eq!(ran.executed().get("embed"), Some(&1));
    let (ran, asked) = town.after("chunk: {size: 24}", "chunk: {size: 26}");
    assert_eq!(ran.executed().get("embed"), Some(&1));
    assert!((1..DOCUMENT_COUNT).contains(&asked.texts.len()), "{:?}", asked.texts);
}

#[test]
fn the_same_text_in_another_benchmark_is_embedded_already() {
    let town = Town::evaluated();
    let documents = town.space.read("documents.jsonl");
    let renamed = documents.replace("\"document_id\":\"", "\"document_id\":\"my-");
    assert_ne!(documents, renamed);
    town.space.write("mine.jsonl", &renamed);
    let cases = town.space.read("cases.jsonl").replace("\"reference_id\":\"", "\"reference_id\":\"my-");
    town.space.write("questions.jsonl", &cases.replace("\"case_id\":\"", "\"case_id\":\"my-"));
    let other =
        town.space.read("evaluation.yaml").replace("name: small", "name: other").replace("name: harbour", "name: port");
    let other = other.replace("documents.jsonl", "mine.jsonl").replace("cases.jsonl", "questions.jsonl");
    town.space.write("other.yaml", &other);
    let (ran, asked) = town.run_file("other.yaml");
    assert_eq!(ran.executed().get("embed"), Some(&1));
    assert_eq!(ran.items("embed"), Vec::<String>::new());
    // The same vectors in the same order have the same index.
    assert!(!ran.executed().contains_key("vector_index"));
    assert_eq!(ran.row_counts()["retrieve"], QUERIES.len() * CASE_COUNT);
    // What is put in order, planned and answered is text as well.
    assert_eq!(asked, Asked::nothing());
}
