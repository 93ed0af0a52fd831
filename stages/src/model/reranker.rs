//! Rerankers behind a `/v1/rerank` endpoint.

use std::time::Instant;

use ragstage_cache::{Digest, KeyHasher, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::endpoint::Endpoint;
use super::json_client::JsonClient;
use super::json_reply::{bad_reply, json};
use super::price::Price;
use super::rerank_reply::{scores, stated_tokens};
use super::usage::{ModelUsage, Usage, UsageSource};
use crate::build::chunk::Tokenizer;
use crate::contract::{Call, Context, Cost, Pool, Row, RowBatch, RowItem, RowOutcome, Spend};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// Version of what is sent and of what is read from the reply, in the key of every ranking.
const RERANK_VERSION: u64 = 1;

/// A cross-encoder behind `/v1/rerank`, as vLLM, TEI, Jina and Cohere serve it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranker {
    /// The model's own name, sent along; in the key.
    pub model: String,
    /// Where it is served; its label is in the key.
    pub endpoint: Endpoint,
    /// How requests are written. In no key: the scores are the model's.
    pub api: RerankApi,
    /// Candidates per request; a query with more is asked in several requests. In no key: a cross-encoder looks at one
    /// candidate at a time.
    pub batch: u32,
    /// What it costs. In no key.
    pub price: Price,
}

/// How requests to a reranker are written. Replies of either are read in both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerankApi {
    /// `{"model", "query", "documents", "top_n", "return_documents"}` (Cohere, Jina, vLLM, llama.cpp).
    #[default]
    Cohere,
    /// `{"query", "texts", "truncate"}` (Hugging Face's text-embeddings-inference).
    Tei,
}

impl RerankApi {
    /// The name in evaluation files.
    pub fn name(self) -> &'static str {
        match self {
            RerankApi::Cohere => "cohere",
            RerankApi::Tei => "tei",
        }
    }

    /// How many candidates such servers take at once by default.
    pub fn batch(self) -> u32 {
        match self {
            RerankApi::Cohere => 1000,
            RerankApi::Tei => 32,
        }
    }
}

impl Walk for Reranker {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("reranker", "reranker");
        v.uint("rerank_version", RERANK_VERSION);
        v.text("model", &self.model);
        v.text("endpoint", &self.endpoint.label);
        v.end();
    }
}

/// One query with its candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankRequest {
    /// The query.
    pub query: String,
    /// The candidates' texts.
    pub texts: Vec<String>,
}

impl RerankRequest {
    /// The key of its scores, beside the reranker's identity.
    pub fn key(&self) -> Digest {
        let mut hasher = KeyHasher::new();
        let v: &mut dyn KeyVisitor = &mut hasher;
        v.begin_record("", "ragstage.rerank.request");
        v.text("query", &self.query);
        v.begin_list("texts", self.texts.len());
        for text in &self.texts {
            v.text("", text);
        }
        v.end();
        v.end();
        hasher.finish()
    }

    /// A cross-encoder reads the query with every candidate.
    fn counted(&self, texts: &[String]) -> u64 {
        let tokens = |text: &str| Tokenizer::Cl100kBase.count(text);
        tokens(&self.query) * texts.len() as u64 + texts.iter().map(|text| tokens(text)).sum::<u64>()
    }
}

/// A score for each candidate, in their order, and what was observed.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Higher is better; one per candidate.
    pub scores: Vec<f64>,
    /// Tokens and money.
    pub usage: ModelUsage,
    /// Milliseconds that the call took.
    pub latency_ms: f64,
}

#[derive(Serialize, Deserialize)]
struct Observed {
    usage: Usage,
    calls: u64,
    /// Billionths of a US dollar at the price of the run that asked.
    nano_usd: u64,
    latency_ms: f64,
}

struct Slot<'a>(&'a Reranker);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "ragstage.rerank");
        self.0.walk(v);
        v.end();
    }
}

struct RerankCost<'a> {
    price: Price,
    asked: &'a [(&'a str, &'a RerankRequest)],
}

impl Cost for RerankCost<'_> {
    fn estimate(&self, item: usize) -> Spend {
        let tokens = self.asked.get(item).map_or(0, |(_, request)| request.counted(&request.texts));
        self.price.spend(&Usage { prompt_tokens: tokens, completion_tokens: 0, source: UsageSource::Counted })
    }

    fn of(&self, row: &Row) -> Spend {
        observed(row).map(|observed| self.price.spend(&observed.usage)).unwrap_or_default()
    }
}

fn observed(row: &Row) -> Option<Observed> {
    serde_json::from_slice(&row.observation).ok()
}

/// The ranking of each of `requests` (with a label for people), in order: from the row cache, else asked for. Every candidate
/// has exactly one finite score. A query without candidates has an empty ranking, and nobody is asked.
///
/// # Errors
/// As [`Context::rows`], and when the endpoint cannot be used at all.
pub fn rerank(
    context: &dyn Context,
    step: Step,
    reranker: &Reranker,
    requests: &[(String, RerankRequest)],
) -> Result<Vec<Result<Ranking, RowError>>, StageError> {
    let client = reranker
        .endpoint
        .client(&format!("reranker {}", reranker.model), "rerank")
        .map_err(|why| StageError { step, kind: StageErrorKind::Provider(why) })?;
    let with_candidates = requests.iter().filter(|(_, request)| !request.texts.is_empty());
    let asked: Vec<(&str, &RerankRequest)> =
        with_candidates.map(|(label, request)| (label.as_str(), request)).collect();
    let items: Vec<RowItem<'_>> = asked.iter().map(|(label, request)| RowItem { key: request.key(), label }).collect();
    let cost = RerankCost { price: reranker.price, asked: &asked };
    let batch = RowBatch { slot: &Slot(reranker), pool: Pool::Rerank, items: &items, cost: &cost };
    let outcomes = context.rows(batch, &|index, call| match asked.get(index) {
        Some((_, request)) => ask(&client, reranker, request, call).map_err(|error| client.masked(error)),
        None => Err(bad_reply(format!("there is no request {index}"))),
    })?;
    let mut outcomes = outcomes.into_iter().zip(items);
    requests
        .iter()
        .map(|(_, request)| {
            let outcome = if request.texts.is_empty() { None } else { outcomes.next() };
            match outcome {
                None => Ok(Ok(ranking(reranker, Vec::new(), None))),
                Some((RowOutcome::Failed(error), _)) => Ok(Err(error)),
                Some((RowOutcome::Done(row), item)) => match serde_json::from_slice::<Vec<f64>>(&row.value) {
                    Ok(scores) if scores.len() == request.texts.len() => {
                        Ok(Ok(ranking(reranker, scores, observed(&row))))
                    }
                    _ => Err(StageError {
                        step,
                        kind: StageErrorKind::Artifact { digest: item.key, why: "is no ranking".to_string() },
                    }),
                },
            }
        })
        .collect()
}

fn ranking(reranker: &Reranker, scores: Vec<f64>, observed: Option<Observed>) -> Ranking {
    let Observed { usage, calls, nano_usd, latency_ms } =
        observed.unwrap_or(Observed { usage: Usage::default(), calls: 0, nano_usd: 0, latency_ms: 0.0 });
    let usage = ModelUsage { model: reranker.model.clone(), calls, usage, nano_usd };
    Ranking { scores, usage, latency_ms }
}

/// The scores of one query's candidates, in as many requests as that takes.
fn ask(client: &JsonClient, reranker: &Reranker, request: &RerankRequest, call: &Call) -> Result<Row, RowError> {
    let start = Instant::now();
    let mut all = Vec::with_capacity(request.texts.len());
    let mut usage = Usage::default();
    let mut calls = 0;
    for texts in request.texts.chunks(reranker.batch.max(1) as usize) {
        let (scores, spent) = ask_once(client, reranker, request, texts, call)?;
        all.extend(scores);
        usage = usage.plus(spent);
        calls += 1;
    }
    let nano_usd = reranker.price.spend(&usage).nano_usd;
    let observed = Observed { usage, calls, nano_usd, latency_ms: start.elapsed().as_secs_f64() * 1e3 };
    Ok(Row {
        value: serde_json::to_vec(&all).map_err(no_json)?,
        observation: serde_json::to_vec(&observed).map_err(no_json)?,
    })
}

fn ask_once(
    client: &JsonClient,
    reranker: &Reranker,
    request: &RerankRequest,
    texts: &[String],
    call: &Call,
) -> Result<(Vec<f64>, Usage), RowError> {
    let body = match reranker.api {
        RerankApi::Cohere => json!({
            "model": reranker.model,
            "query": request.query,
            "documents": texts,
            "top_n": texts.len(),
            "return_documents": false,
        }),
        // Without it, a text beyond the model's length is a refusal of all; the others cut such texts by themselves.
        RerankApi::Tei => json!({"query": request.query, "texts": texts, "truncate": true}),
    };
    let body = serde_json::to_vec(&body).map_err(no_json)?;
    let bytes = client.post_for_bytes(&body, call.timeout)?;
    let value = json(&bytes);
    let scores = value.as_ref().map_err(RowError::clone).and_then(|value| scores(value, texts.len()));
    let usage = match value.as_ref().ok().and_then(stated_tokens) {
        Some(tokens) => Usage { prompt_tokens: tokens, completion_tokens: 0, source: UsageSource::Server },
        None => {
            let tokens = request.counted(texts);
            Usage { prompt_tokens: tokens, completion_tokens: 0, source: UsageSource::Counted }
        }
    };
    // What came with a status of success is paid for, unless it says that it failed.
    if scores.as_ref().err().is_none_or(|error| error.kind == RowErrorKind::BadReply) {
        call.meter.add(reranker.price.spend(&usage));
    }
    Ok((scores?, usage))
}

fn no_json(error: serde_json::Error) -> RowError {
    bad_reply(format!("cannot be written as JSON: {error}"))
}
