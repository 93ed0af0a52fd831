//! `rerank_search`: candidates of another mode, put into a better order.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use ragstage_cache::{KeyVisitor, Walk};
use serde_json::{Value, json};

use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::lexical_reranker::LexicalReranker;
use super::mode::SearchMode;
use super::on_failure::OnFailure;
use super::prompted_model::{PromptedModel, Question, passages};
use super::searcher::{Ask, Found, Search};
use crate::artifact::Hit;
use crate::build::full_text::ANALYZER_VERSION;
use crate::contract::Context;
use crate::error::{RowError, RowErrorKind, StageError};
use crate::model::{ModelUsage, Prompt, ReplySchema, RerankRequest, Reranker, rerank};
use crate::step::Step;

/// Version of how candidates are shown and put in order, in the key of this mode and of those that ask it.
const RERANK_VERSION: u64 = 1;

/// Fewest candidates where their number is not given.
const CANDIDATES: usize = 50;

/// The same for a chat model, which reads all of them at once: the window of RankGPT (Sun et al. 2023).
const CANDIDATES_OF_LLM: usize = 20;

/// Candidates of another mode, put into a better order. Each hit keeps its score and rank of before in its metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct RerankSearch {
    /// The mode that gives the candidates.
    pub base: Box<SearchMode>,
    /// How many candidates it gives, though never fewer than `top_k`; when `None`, `max(3 * top_k, 50)`, or `max(top_k, 20)`
    /// for a chat model.
    pub candidates: Option<u32>,
    /// Who orders them.
    pub by: RerankBy,
    /// What becomes of a case for which a model gave no usable reply.
    pub on_failure: OnFailure,
}

/// Who orders candidates.
#[derive(Debug, Clone, PartialEq)]
pub enum RerankBy {
    /// A cross-encoder, which scores each candidate.
    Endpoint(Arc<Reranker>),
    /// A chat model that is shown all candidates at once and replies with their order; a hit's score is then 1 / rank.
    Llm {
        /// The model. Its prompt is given `query` and `passages`, each with `number` and `text`.
        model: PromptedModel,
        /// How many characters of a candidate it is shown; in the key.
        passage_chars: u32,
    },
    /// The share of the query's terms that a candidate has, weighted by idf among the candidates; no model.
    Lexical,
}

impl RerankBy {
    /// The name in metadata.
    fn name(&self) -> &'static str {
        match self {
            RerankBy::Endpoint(_) => "endpoint",
            RerankBy::Llm { .. } => "llm",
            RerankBy::Lexical => "lexical",
        }
    }

    /// The model's own name.
    fn model(&self) -> Option<&str> {
        match self {
            RerankBy::Endpoint(reranker) => Some(&reranker.model),
            RerankBy::Llm { model, .. } => Some(&model.model.model),
            RerankBy::Lexical => None,
        }
    }
}

impl RerankSearch {
    /// The prompt that a chat model is given by default.
    pub fn prompt() -> Prompt {
        Prompt::new(include_str!("prompts/rerank.md"))
    }

    /// An example of what a prompt is filled with.
    pub fn example() -> Value {
        json!({"query": "a query", "passages": [{"number": 1, "text": "a passage"}, {"number": 2, "text": "another"}]})
    }

    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.base.reads(artifacts);
    }

    pub(super) fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "rerank");
        v.uint("rerank_version", RERANK_VERSION);
        self.base.walk("base_mode", kb, v);
        // Absent where it follows from top_k.
        if let Some(candidates) = self.candidates {
            v.uint("candidates", u64::from(candidates));
        }
        match &self.by {
            RerankBy::Endpoint(reranker) => reranker.walk(v),
            RerankBy::Llm { model, passage_chars } => {
                model.walk("llm", v);
                v.uint("passage_chars", u64::from(*passage_chars));
            }
            RerankBy::Lexical => v.uint("analyzer_version", ANALYZER_VERSION),
        }
        v.bool("base_on_failure", self.on_failure == OnFailure::Base);
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        Ok(Box::new(Open { mode: self, base: self.base.open(context, kb)?, lexical: LexicalReranker::new()? }))
    }

    pub(super) fn calls_models(&self) -> bool {
        !matches!(self.by, RerankBy::Lexical) || self.base.calls_models()
    }

    fn candidates(&self, top_k: usize) -> usize {
        match (self.candidates, &self.by) {
            (Some(candidates), _) => top_k.max(candidates as usize),
            (None, RerankBy::Llm { .. }) => top_k.max(CANDIDATES_OF_LLM),
            (None, _) => top_k.saturating_mul(3).max(CANDIDATES),
        }
    }
}

struct Open<'a> {
    mode: &'a RerankSearch,
    base: Box<dyn Search + 'a>,
    lexical: LexicalReranker,
}

/// An order of candidates.
struct Order {
    /// Positions of candidates with their new scores, best first.
    ranked: Vec<(usize, f64)>,
    usage: Option<ModelUsage>,
    latency_ms: f64,
}

impl Open<'_> {
    /// The order of the candidates of each case, in case order.
    fn orders(
        &self,
        context: &dyn Context,
        cases: &[(&Ask<'_>, &[Hit])],
    ) -> Result<Vec<Result<Order, RowError>>, StageError> {
        match &self.mode.by {
            RerankBy::Lexical => {
                use rayon::prelude::*;
                Ok(cases.par_iter().map(|(ask, hits)| Ok(self.lexical_order(ask, hits))).collect())
            }
            RerankBy::Endpoint(reranker) => {
                let requests: Vec<(String, RerankRequest)> = cases
                    .iter()
                    .map(|(ask, hits)| {
                        let texts = hits.iter().map(|hit| hit.text.to_string()).collect();
                        (ask.label.to_string(), RerankRequest { query: ask.text.to_string(), texts })
                    })
                    .collect();
                let rankings = rerank(context, Step::Retrieve, reranker, &requests)?;
                Ok(rankings
                    .into_iter()
                    .map(|ranking| {
                        let ranking = ranking?;
                        let ranked = by_score(&ranking.scores);
                        Ok(Order { ranked, usage: Some(ranking.usage), latency_ms: ranking.latency_ms })
                    })
                    .collect())
            }
            RerankBy::Llm { model, passage_chars } => self.llm_orders(context, cases, model, *passage_chars as usize),
        }
    }

    /// The same, asked of a chat model; a candidate alone is in order without it.
    fn llm_orders(
        &self,
        context: &dyn Context,
        cases: &[(&Ask<'_>, &[Hit])],
        model: &PromptedModel,
        passage_chars: usize,
    ) -> Result<Vec<Result<Order, RowError>>, StageError> {
        let asked: Vec<&(&Ask<'_>, &[Hit])> = cases.iter().filter(|(_, hits)| hits.len() > 1).collect();
        let questions: Vec<Question<'_>> = asked
            .iter()
            .map(|(ask, hits)| Question {
                label: ask.label,
                view: json!({"query": ask.text, "passages": passages(hits, passage_chars, usize::MAX)}),
                schema: order_schema(hits.len()),
            })
            .collect();
        let count = |question: usize| asked.get(question).map_or(0, |(_, hits)| hits.len());
        let mut replies =
            model.ask(context, &questions, &|question, text| read_order(text, count(question)))?.into_iter();
        let order = |(_, hits): &(&Ask<'_>, &[Hit])| {
            if hits.len() < 2 {
                return Ok(Order { ranked: vec![(0, 1.0)], usage: None, latency_ms: 0.0 });
            }
            let reply = replies.next().unwrap_or_else(lost)?;
            let ranked = reply.value.into_iter().zip(1..).map(|(at, rank)| (at, 1.0 / f64::from(rank)));
            Ok(Order { ranked: ranked.collect(), usage: Some(reply.usage), latency_ms: reply.latency_ms })
        };
        Ok(cases.iter().map(order).collect())
    }

    fn lexical_order(&self, ask: &Ask<'_>, hits: &[Hit]) -> Order {
        let start = Instant::now();
        let texts: Vec<&str> = hits.iter().map(|hit| &*hit.text).collect();
        let ranked = by_score(&self.lexical.scores(ask.text, &texts));
        Order { ranked, usage: None, latency_ms: start.elapsed().as_secs_f64() * 1e3 }
    }

    /// What becomes of a case with its candidates in a new order; or of one without a usable reply.
    fn finish(&self, ask: &Ask<'_>, base: Found, order: Option<Result<Order, RowError>>) -> Result<Found, RowError> {
        let candidates = base.hits.len();
        let mut found = Found { trace: base.trace, latency_ms: base.latency_ms, usage: base.usage, ..Found::default() };
        found.metadata.insert("base_mode".to_string(), self.mode.base.name().into());
        if !base.metadata.is_empty() {
            found.metadata.insert("base".to_string(), base.metadata.into());
        }
        let mut used = self.mode.by.name();
        match order {
            Some(Ok(order)) => {
                found.latency_ms += order.latency_ms;
                order.usage.iter().for_each(|usage| ModelUsage::add_to(&mut found.usage, usage));
                let reranked = order.ranked.iter().filter_map(|&(at, score)| Some((at, score, base.hits.get(at)?)));
                found.hits = reranked.take(ask.top_k).map(|(at, score, hit)| reranked_hit(hit, at, score)).collect();
            }
            Some(Err(error)) => {
                let issue = self.mode.on_failure.issue("rerank_invalid_output", error)?;
                found.metadata.insert("fallback".to_string(), self.mode.base.name().into());
                found.metadata.insert("issues".to_string(), json!([issue]));
                used = "none";
                found.hits = base.hits;
                found.hits.truncate(ask.top_k);
            }
            // There was nothing to put in order.
            None => {}
        }
        found.metadata.insert("reranker".to_string(), used.into());
        let model = self.mode.by.model().filter(|_| used != "none");
        if let Some(model) = model {
            found.metadata.insert("reranker_model".to_string(), model.into());
        }
        found.trace.push(json!({
            "mode": "rerank_search",
            "base_mode": self.mode.base.name(),
            "candidate_count": candidates,
            "result_count": found.hits.len(),
            "reranker": used,
            "reranker_model": model,
        }));
        Ok(found)
    }
}

impl Search for Open<'_> {
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        let wider: Vec<Ask<'_>> =
            asks.iter().map(|ask| Ask { top_k: self.mode.candidates(ask.top_k), ..*ask }).collect();
        let found = self.base.search(context, &wider)?;
        let cases: Vec<(&Ask<'_>, &[Hit])> = asks
            .iter()
            .zip(&found)
            .filter_map(|(ask, found)| Some((ask, found.as_ref().ok()?.hits.as_slice())))
            .filter(|(_, hits)| !hits.is_empty())
            .collect();
        let mut orders = self.orders(context, &cases)?.into_iter();
        Ok(asks
            .iter()
            .zip(found)
            .map(|(ask, found)| {
                let found = found?;
                let order = (!found.hits.is_empty()).then(|| orders.next().unwrap_or_else(lost));
                self.finish(ask, found, order)
            })
            .collect())
    }
}

fn lost<T>() -> Result<T, RowError> {
    Err(RowError::new(RowErrorKind::BadReply, "the candidates were not put in order"))
}

/// Positions by score, best first; of equals, the one that comes first.
fn by_score(scores: &[f64]) -> Vec<(usize, f64)> {
    let mut ranked: Vec<(usize, f64)> = scores.iter().copied().enumerate().collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked
}

fn reranked_hit(hit: &Hit, at: usize, score: f64) -> Hit {
    let mut hit = hit.clone();
    hit.metadata.insert("pre_rerank_score".to_string(), hit.score.into());
    hit.metadata.insert("pre_rerank_rank".to_string(), (at + 1).into());
    hit.score = Some(score);
    hit
}

fn order_schema(candidates: usize) -> ReplySchema {
    ReplySchema {
        name: "order",
        schema: json!({
            "type": "object",
            "properties": {
                "order": {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1, "maximum": candidates},
                    "minItems": 1,
                    "maxItems": candidates,
                },
            },
            "required": ["order"],
            "additionalProperties": false,
        }),
    }
}

#[derive(serde::Deserialize)]
struct OrderReply {
    order: Vec<i64>,
}

/// Positions of all candidates in the order that a reply gives; those that it leaves out come last, as they were.
fn read_order(text: &str, candidates: usize) -> Result<Vec<usize>, String> {
    let reply: OrderReply =
        serde_json::from_str(text).map_err(|error| format!("expected {{\"order\": [numbers]}}: {error}"))?;
    if reply.order.is_empty() {
        return Err("expected the numbers of passages in `order`, found none".to_string());
    }
    let mut positions: Vec<usize> = Vec::with_capacity(candidates);
    for number in reply.order {
        let position = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let Some(position) = position.filter(|&position| position < candidates) else {
            return Err(format!("expected numbers from 1 to {candidates} in `order`, found {number}"));
        };
        if positions.contains(&position) {
            return Err(format!("expected each number once in `order`, found {number} twice"));
        }
        positions.push(position);
    }
    let rest: Vec<usize> = (0..candidates).filter(|position| !positions.contains(position)).collect();
    positions.extend(rest);
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_strictly_and_completed() {
        assert_eq!(read_order(r#"{"order": [3, 1]}"#, 4).unwrap(), [2, 0, 1, 3]);
        let fault = |text: &str| read_order(text, 4).unwrap_err();
        assert_eq!(fault(r#"{"order": [3, 5]}"#), "expected numbers from 1 to 4 in `order`, found 5");
        assert_eq!(fault(r#"{"order": [0]}"#), "expected numbers from 1 to 4 in `order`, found 0");
        assert_eq!(fault(r#"{"order": [2, 2]}"#), "expected each number once in `order`, found 2 twice");
        assert_eq!(fault(r#"{"order": []}"#), "expected the numbers of passages in `order`, found none");
        assert!(fault(r#"{"ranking": [1]}"#).starts_with("expected {\"order\": [numbers]}: missing field"));
    }

    #[test]
    fn equals_keep_their_order() {
        assert_eq!(by_score(&[0.5, 0.9, 0.5]), [(1, 0.9), (0, 0.5), (2, 0.5)]);
    }

    #[test]
    fn the_prompt_takes_its_example() {
        let filled = RerankSearch::prompt().fill(&RerankSearch::example()).unwrap();
        assert!(filled.ends_with("Query: a query\n\n[1] a passage\n[2] another"), "{filled}");
    }
}
