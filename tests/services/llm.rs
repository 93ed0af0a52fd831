//! A real chat model: answers, graph extraction, rewriting and multihop search.

use super::counting_proxy::CountingProxy;
use super::servers;
use super::space::Space;
use super::town;

/// Runs an evaluation with `recipe` and `queries` twice; gives how many requests the first run made. The second makes none.
fn asked(recipe: &str, queries: &str, answer: &str) -> Option<usize> {
    let server = servers::llm()?;
    let proxy = CountingProxy::before(&server.base_url);
    let space = Space::new();
    town::write(
        &space,
        &format!(
            "models: [{{name: tiny, model: {}, base_url: \"{}\"}}]\nrecipe: {recipe}\nqueries: {queries}\nanswer: {answer}\n\
             evaluators: [Success@1]\nlimits: {{llm: {{concurrency: 1, timeout_s: 300}}}}\n",
            server.model,
            proxy.base_url()
        ),
    );
    space.run("").expect(0);
    let first = proxy.count();
    assert!(proxy.paths().iter().all(|path| path == "/v1/chat/completions"), "{:?}", proxy.paths());
    space.run("").expect(0).expect_nothing();
    assert_eq!(proxy.count(), first, "a warm run asks nothing");
    Some(first)
}

#[test]
fn answers_are_asked_for_once() {
    let answer = "{provider: openai, llm: tiny, max_tokens: 48, context: {tokens: 100, results: 1}}";
    if let Some(requests) = asked("{}", "[{mode: full_text_search, top_k: 1}]", answer) {
        assert_eq!(requests, 2, "one per question");
    }
}

#[test]
fn a_graph_is_extracted_once_per_chunk() {
    let recipe = "{name: graph, graph: {extractor: llm, llm: tiny, max_entities: 2, max_tokens: 400}}";
    if let Some(requests) = asked(recipe, "[{mode: graph_search, top_k: 2}]", "none") {
        assert!(
            (3..=9).contains(&requests),
            "{requests}: one per chunk, and up to two more where a reply does not fit"
        );
    }
}

#[test]
fn wordings_are_asked_for_once_per_question() {
    let queries = "[{mode: rewrite_search, top_k: 1, options: {base_mode: full_text_search, llm: tiny, variants: 2}}]";
    if let Some(requests) = asked("{}", queries, "none") {
        assert!((2..=6).contains(&requests), "{requests}");
    }
}

#[test]
fn rounds_are_planned_once() {
    let queries = "[{mode: multihop_search, top_k: 1, \
                   options: {base_mode: full_text_search, llm: tiny, rounds: 2, evidence_chars: 400}}]";
    if let Some(requests) = asked("{}", queries, "none") {
        assert!((2..=12).contains(&requests), "{requests}");
    }
}

#[test]
fn candidates_are_ordered_once_per_question() {
    let queries = "[{mode: rerank_search, top_k: 1, options: {base_mode: vector_search, llm: tiny, candidates: 2}}]";
    if let Some(requests) = asked("{embed: {provider: hashing}}", queries, "none") {
        assert!((1..=6).contains(&requests), "{requests}");
    }
}
