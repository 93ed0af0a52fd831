//! Reranking.

use ragstage_stages::contract::Spend;
use ragstage_stages::error::{RowError, RowErrorKind};
use ragstage_stages::model::{Ranking, RerankApi, RerankRequest, Reranker, UsageSource, rerank};
use ragstage_stages::step::Step;
use serde_json::json;

use super::models::reranker;
use crate::memory::MemoryContext;
use crate::model_server::{Act, ModelServer};

fn request(query: &str, texts: &[&str]) -> (String, RerankRequest) {
    let texts = texts.iter().map(ToString::to_string).collect();
    (query.to_string(), RerankRequest { query: query.to_string(), texts })
}

fn ask(
    memory: &MemoryContext,
    reranker: &Reranker,
    requests: &[(String, RerankRequest)],
) -> Vec<Result<Ranking, RowError>> {
    rerank(memory, Step::Retrieve, reranker, requests).expect("rows")
}

const TEXTS: [&str; 3] = ["a pump", "the old lamp", "lamp"];

#[test]
fn candidates_have_their_scores_in_their_order() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let reranker = reranker(&server, RerankApi::Cohere, 1000);
    let requests = [request("old lamp", &TEXTS), request("nothing", &[]), request("a pump", &TEXTS[..1])];
    let rows = ask(&memory, &reranker, &requests);
    let ranking = |i: usize| rows[i].as_ref().expect("a ranking");
    assert_eq!(ranking(0).scores, [0.0, 1.0, 0.5]);
    assert_eq!((ranking(1).scores.len(), ranking(1).usage.calls), (0, 0));
    assert_eq!(ranking(2).scores, [1.0]);
    let usage = &ranking(0).usage;
    assert_eq!((usage.model.as_str(), usage.calls, usage.nano_usd), ("rerank-1", 1, 7000));
    assert_eq!((usage.usage.prompt_tokens, usage.usage.source), (7, UsageSource::Server));
    assert!(ranking(0).latency_ms > 0.0);
    assert_eq!(memory.spent(), Spend { tokens: 14, nano_usd: 14_000 });
    let asked = server.requests("rerank");
    assert_eq!(asked.len(), 2, "nobody is asked about no candidates");
    let of_lamp = asked.iter().find(|request| request.body["query"] == "old lamp").expect("a request");
    assert_eq!(
        of_lamp.body,
        json!({"model": "rerank-1", "query": "old lamp", "documents": TEXTS, "top_n": 3, "return_documents": false})
    );
    assert_eq!(ask(&memory, &reranker, &requests), rows);
    assert_eq!(server.total(), 2);
    // The row is of the query and of all its candidates.
    ask(&memory, &reranker, &[request("old lamp", &TEXTS[..2]), request("lamp", &TEXTS)]);
    assert_eq!(server.total(), 4);
}

#[test]
fn tei_is_asked_in_its_own_words_and_in_batches() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let tei = reranker(&server, RerankApi::Tei, 2);
    let rows = ask(&memory, &tei, &[request("old lamp", &TEXTS)]);
    let ranking = rows[0].as_ref().expect("a ranking");
    assert_eq!((ranking.scores.as_slice(), ranking.usage.calls), ([0.0, 1.0, 0.5].as_slice(), 2));
    // "old lamp" is 2 tokens and is read with each of 3 texts of 2, 3 and 1.
    assert_eq!((ranking.usage.usage.prompt_tokens, ranking.usage.usage.source), (12, UsageSource::Counted));
    let bodies: Vec<_> = server.requests("rerank").into_iter().map(|request| request.body).collect();
    assert_eq!(
        bodies,
        [
            json!({"query": "old lamp", "texts": ["a pump", "the old lamp"], "truncate": true}),
            json!({"query": "old lamp", "texts": ["lamp"], "truncate": true}),
        ]
    );
    // The scores are the model's, however they are asked for.
    ask(&memory, &reranker(&server, RerankApi::Cohere, 1000), &[request("old lamp", &TEXTS)]);
    assert_eq!(server.total(), 2);
}

#[test]
fn a_ranking_that_lacks_a_score_is_not_kept() {
    let server = ModelServer::new(|_| Act::Json(json!({"results": [{"index": 0, "relevance_score": 1}]})));
    let memory = MemoryContext::default();
    let reranker = reranker(&server, RerankApi::Cohere, 1000);
    let error = ask(&memory, &reranker, &[request("old lamp", &TEXTS)]).remove(0).expect_err("no ranking");
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert!(error.message.contains("each of 3 candidates, found 1"), "{}", error.message);
    assert_eq!(memory.spent().tokens, 12, "it was paid for");
    server.rescript(|_| Act::Answer);
    assert!(ask(&memory, &reranker, &[request("old lamp", &TEXTS)])[0].is_ok());
}
