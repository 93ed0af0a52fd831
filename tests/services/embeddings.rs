//! Vectors of a real server, and of the same model in this process.

use super::counting_proxy::CountingProxy;
use super::servers;
use super::space::{Ran, Space};
use super::town;

/// A headline's mean.
fn mean(ran: &Ran, recipe: &str, query: &str, evaluator: &str) -> f64 {
    let outcome = ran.json();
    let headlines = outcome["evaluations"][0]["headlines"].as_array().expect("headlines").clone();
    let line = headlines
        .iter()
        .find(|line| line["recipe"] == recipe && line["query"] == query && line["evaluator"] == evaluator)
        .unwrap_or_else(|| panic!("no {recipe} {query} {evaluator} in {headlines:?}"));
    line["mean"].as_f64().expect("a mean")
}

#[test]
fn a_served_embedder_is_asked_once_per_text() {
    let Some(server) = servers::embeddings() else { return };
    let proxy = CountingProxy::before(&server.base_url);
    let space = Space::new();
    town::write(
        &space,
        &format!(
            "recipe: {{name: served, embed: {{provider: openai, model: {}, base_url: \"{}\"}}}}\n\
             queries: [{{mode: vector_search, top_k: 1}}, {{mode: hybrid_search, top_k: 1}}]\n\
             answer: none\nevaluators: [Success@1]\n",
            server.model,
            proxy.base_url()
        ),
    );
    let ran = space.run("--format json").expect(0);
    for query in ["vector_search", "hybrid_search"] {
        assert_eq!(mean(&ran, "served", query, "Success@1"), 1.0, "{query}");
    }
    // Three documents in one request; the two questions in one, for both modes.
    assert_eq!(proxy.count(), 2, "{:?}", proxy.paths());
    space.run("").expect(0).expect_nothing();
    assert_eq!(proxy.count(), 2);
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &town::case(&town::MORE)));
    space.run("").expect(0);
    assert_eq!(proxy.count(), 3, "one more question");
    // A chunk size that cuts nothing in another way makes no new text.
    space.edit("evaluation.yaml", "name: served, ", "name: served, chunk: {size: 100}, ");
    space.run("").expect(0);
    assert_eq!(proxy.count(), 3, "no new text");
}

#[test]
fn static_vectors_find_the_evidence() {
    let Some(folder) = servers::folder("WORDLLAMA_DIR") else { return };
    let space = Space::new();
    town::write(
        &space,
        &format!(
            "recipe: {{name: words, embed: {{provider: static, model: \"{folder}\"}}}}\n\
             queries: [{{mode: vector_search, top_k: 1}}]\nanswer: none\nevaluators: [Success@1]\n"
        ),
    );
    let ran = space.run("--format json").expect(0);
    assert_eq!(mean(&ran, "words", "vector_search", "Success@1"), 1.0);
}

/// The same weights, served and in process, find the same.
#[cfg(feature = "bert")]
#[test]
fn a_sentence_transformer_in_process_ranks_as_the_server_does() {
    let (Some(server), Some(folder)) = (servers::embeddings(), servers::folder("MINILM_DIR")) else { return };
    let space = Space::new();
    town::write(
        &space,
        &format!(
            "recipes:\n  - {{name: served, embed: {{provider: openai, model: {}, base_url: \"{}\"}}}}\n  \
             - {{name: here, embed: {{provider: bert, model: \"{folder}\"}}}}\n\
             queries: [{{mode: vector_search, top_k: 3}}]\nanswer: none\nevaluators: [nDCG@3]\n",
            server.model, server.base_url
        ),
    );
    space.run("").expect(0);
    let report = space.json("reports/town/report.json");
    let found = |recipe: &str| -> Vec<(String, f64)> {
        let cases = report["case_results"].as_array().expect("case results").iter();
        let hits = cases
            .filter(|case| case["metadata"]["recipe"] == recipe)
            .flat_map(|case| case["response"]["results"].as_array().expect("results"));
        hits.map(|hit| (hit["id"].to_string(), hit["score"].as_f64().expect("a score"))).collect()
    };
    let (served, here) = (found("served"), found("here"));
    assert_eq!(served.len(), 6, "three results for each of two questions");
    for (served, here) in served.iter().zip(&here) {
        assert_eq!(served.0, here.0);
        // The server computes in other units of work; its vectors agree to a cosine of 0.999998.
        assert!((served.1 - here.1).abs() < 2e-3, "{served:?} and {here:?}");
    }
}
