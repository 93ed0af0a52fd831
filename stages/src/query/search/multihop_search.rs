//! `multihop_search`: another mode, asked in rounds until what was found suffices.

use std::collections::{BTreeSet, HashMap};

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::distinct_asks::search_distinct;
use super::fusion::fuse;
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::lexical_planner::LexicalPlanner;
use super::mode::SearchMode;
use super::multihop_case::{Case, Plan};
use super::on_failure::OnFailure;
use super::prompted_model::{PromptedModel, Question, passages};
use super::searcher::{Ask, Found, Search};
use crate::artifact::Hit;
use crate::build::full_text::ANALYZER_VERSION;
use crate::contract::Context;
use crate::error::{RowError, RowErrorKind, StageError};
use crate::model::{Prompt, ReplySchema};

/// Version of how rounds are planned and merged, in the key of this mode and of those that ask it.
const MULTIHOP_VERSION: u64 = 1;

/// Most characters of what a model notes and asks in a round, so that its reply fits into the default of 200 tokens.
const LONGEST_INFORMATION: usize = 300;
const LONGEST_QUERY: usize = 150;

/// Another mode, asked in rounds until what was found suffices (spec/heta 7.3).
///
/// A case ends when its evidence suffices, when the planner names no query that was not asked before (the same query would
/// find the same again), or after the last round.
#[derive(Debug, Clone, PartialEq)]
pub struct MultihopSearch {
    /// The mode that is asked in each round.
    pub base: Box<SearchMode>,
    /// Most rounds.
    pub rounds: u32,
    /// Who judges what was found and plans the next round.
    pub planner: Planner,
    /// How the rounds' results become one list.
    pub merge: Merge,
    /// What becomes of a case for which the model gave no usable reply.
    pub on_failure: OnFailure,
}

/// Who judges what was found and plans the next round.
#[derive(Debug, Clone, PartialEq)]
pub enum Planner {
    /// A chat model, asked once per round (spec/heta asks twice: for what is useful, then whether it suffices).
    Llm {
        /// The model. Its prompt is given `query`, `current_query`, `round`, `passages` (each with `number` and `text`)
        /// and `information`, what earlier rounds noted.
        model: PromptedModel,
        /// How many characters of a round's results it is shown, best first; in the key.
        evidence_chars: u32,
    },
    /// Which words of the query no passage has yet; no model.
    Lexical,
}

/// How the results of several rounds become one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// By reciprocal rank with k = 60: scores of different queries need not be comparable, and BM25's are not.
    #[default]
    Rrf,
    /// By the highest score, as spec/heta does.
    MaxScore,
}

/// The constant of [`Merge::Rrf`].
const RRF_K: f64 = 60.0;

impl MultihopSearch {
    /// The prompt that a chat model is given by default.
    pub fn prompt() -> Prompt {
        Prompt::new(include_str!("prompts/multihop.md"))
    }

    /// An example of what a prompt is filled with.
    pub fn example() -> Value {
        json!({
            "query": "a query",
            "current_query": "another query",
            "round": 2,
            "passages": [{"number": 1, "text": "a passage"}],
            "information": ["a finding"],
        })
    }

    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.base.reads(artifacts);
    }

    pub(super) fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "multihop");
        v.uint("multihop_version", MULTIHOP_VERSION);
        self.base.walk("base_mode", kb, v);
        v.uint("rounds", u64::from(self.rounds));
        match &self.planner {
            Planner::Llm { model, evidence_chars } => {
                model.walk("llm", v);
                v.uint("evidence_chars", u64::from(*evidence_chars));
            }
            Planner::Lexical => v.uint("analyzer_version", ANALYZER_VERSION),
        }
        v.bool("max_score", self.merge == Merge::MaxScore);
        v.bool("base_on_failure", self.on_failure == OnFailure::Base);
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        Ok(Box::new(Open { mode: self, base: self.base.open(context, kb)?, lexical: LexicalPlanner::new()? }))
    }

    pub(super) fn calls_models(&self) -> bool {
        matches!(self.planner, Planner::Llm { .. }) || self.base.calls_models()
    }
}

struct Open<'a> {
    mode: &'a MultihopSearch,
    base: Box<dyn Search + 'a>,
    lexical: LexicalPlanner,
}

impl Open<'_> {
    /// What follows from the latest results of each of `cases`, in their order.
    fn plans(
        &self,
        context: &dyn Context,
        round: u32,
        cases: &mut [&mut Case<'_>],
    ) -> Result<Vec<Result<Plan, RowError>>, StageError> {
        let (model, evidence_chars) = match &self.mode.planner {
            Planner::Lexical => {
                return Ok(cases.iter_mut().map(|case| Ok(case.plan_lexically(&self.lexical))).collect());
            }
            Planner::Llm { model, evidence_chars } => (model, *evidence_chars as usize),
        };
        let questions: Vec<Question<'_>> = cases
            .iter()
            .map(|case| Question {
                label: case.ask.label,
                view: json!({
                    "query": case.ask.text,
                    "current_query": case.query,
                    "round": round,
                    "passages": passages(case.latest(), usize::MAX, evidence_chars),
                    "information": case.information,
                }),
                schema: plan_schema(),
            })
            .collect();
        let replies = model.ask(context, &questions, &|_, text| read_plan(text))?;
        Ok(replies
            .into_iter()
            .map(|reply| {
                reply.map(|reply| Plan { usage: Some(reply.usage), latency_ms: reply.latency_ms, ..reply.value })
            })
            .collect())
    }

    fn finish(&self, case: Case<'_>) -> Result<Found, RowError> {
        let mut found = case.outcome?;
        found.hits = match self.mode.merge {
            Merge::Rrf => {
                let lists: Vec<(f64, &[Hit])> = case.lists.iter().map(|hits| (1.0, hits.as_slice())).collect();
                fuse(&lists, RRF_K, case.ask.top_k)
            }
            Merge::MaxScore => by_highest_score(case.lists, case.ask.top_k),
        };
        let mut put = |name: &str, value: Value| found.metadata.insert(name.to_string(), value);
        put("base_mode", self.mode.base.name().into());
        match &self.mode.planner {
            Planner::Llm { model, .. } => {
                put("planner", "llm".into());
                put("planner_model", model.model.model.as_str().into());
            }
            Planner::Lexical => {
                put("planner", "lexical".into());
            }
        }
        put("rounds", case.reports.len().into());
        put("round_reports", case.reports.into());
        put("issues", case.issues.into());
        if case.fell_back {
            put("fallback", self.mode.base.name().into());
        }
        Ok(found)
    }
}

impl Search for Open<'_> {
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        let mut cases: Vec<Case<'_>> = asks.iter().map(|ask| Case::new(ask, &self.lexical)).collect();
        for round in 1..=self.mode.rounds {
            let queries: Vec<String> = cases.iter().filter(|case| case.open).map(|case| case.query.clone()).collect();
            if queries.is_empty() {
                break;
            }
            let open = cases.iter().filter(|case| case.open);
            let nested: Vec<Ask<'_>> =
                open.zip(&queries).map(|(case, query)| Ask { text: query, ..*case.ask }).collect();
            let found = search_distinct(&*self.base, context, &nested)?;
            for (case, found) in cases.iter_mut().filter(|case| case.open).zip(found) {
                case.take(found, round);
            }
            let mut open: Vec<&mut Case<'_>> = cases.iter_mut().filter(|case| case.open).collect();
            let plans = self.plans(context, round, &mut open)?;
            let lost = || Err(RowError::new(RowErrorKind::BadReply, "the round was not judged"));
            let mut plans = plans.into_iter();
            for case in open {
                case.follow(plans.next().unwrap_or_else(lost), round, self.mode.rounds, self.mode.on_failure);
            }
        }
        Ok(cases.into_iter().map(|case| self.finish(case)).collect())
    }
}

/// The results of all rounds, each once with its highest score, best first; of equals, the one found first.
fn by_highest_score(lists: Vec<Vec<Hit>>, top_k: usize) -> Vec<Hit> {
    let score = |hit: &Hit| hit.score.unwrap_or(f64::NEG_INFINITY);
    let mut hits: Vec<Hit> = Vec::new();
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    for hit in lists.into_iter().flatten() {
        let position = *known.entry((hit.kind.clone(), hit.id.clone())).or_insert(hits.len());
        match hits.get_mut(position) {
            None => hits.push(hit),
            Some(other) if score(&hit) > score(other) => *other = hit,
            Some(_) => {}
        }
    }
    hits.sort_by(|a, b| score(b).total_cmp(&score(a)));
    hits.truncate(top_k);
    hits
}

fn plan_schema() -> ReplySchema {
    ReplySchema {
        name: "plan",
        schema: json!({
            "type": "object",
            "properties": {
                "useful": {"type": "boolean"},
                "information": {"type": "string", "maxLength": LONGEST_INFORMATION},
                "sufficient": {"type": "boolean"},
                "next_query": {"anyOf": [{"type": "string", "maxLength": LONGEST_QUERY}, {"type": "null"}]},
            },
            "required": ["useful", "information", "sufficient", "next_query"],
            "additionalProperties": false,
        }),
    }
}

#[derive(Deserialize)]
struct PlanReply {
    useful: bool,
    information: String,
    sufficient: bool,
    #[serde(default)]
    next_query: Option<String>,
}

fn read_plan(text: &str) -> Result<Plan, String> {
    let reply: PlanReply = serde_json::from_str(text).map_err(|error| {
        format!("expected {{\"useful\": ..., \"information\": ..., \"sufficient\": ..., \"next_query\": ...}}: {error}")
    })?;
    let given = |text: &str| Some(text.trim().to_string()).filter(|text| !text.is_empty());
    Ok(Plan {
        information: given(&reply.information).filter(|_| reply.useful),
        sufficient: reply.sufficient,
        next_query: reply.next_query.as_deref().and_then(given),
        ..Plan::default()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::artifact::Json;

    fn hit(id: &str, score: Option<f64>) -> Hit {
        Hit {
            id: id.to_string(),
            text: Arc::from(id),
            score,
            kind: "chunk".to_string(),
            source: Arc::default(),
            metadata: Json::new(),
        }
    }

    #[test]
    fn the_highest_score_of_all_rounds_counts() {
        let lists = vec![
            vec![hit("a", Some(3.0)), hit("b", Some(2.0)), hit("x", None)],
            vec![hit("c", Some(3.0)), hit("b", Some(2.5)), hit("a", Some(1.0))],
        ];
        let merged = by_highest_score(lists.clone(), 10);
        let merged: Vec<_> = merged.iter().map(|hit| (hit.id.as_str(), hit.score)).collect();
        assert_eq!(merged, [("a", Some(3.0)), ("c", Some(3.0)), ("b", Some(2.5)), ("x", None)]);
        assert_eq!(by_highest_score(lists, 2).len(), 2);
    }

    #[test]
    fn a_plan_is_read_strictly() {
        let read = |text: &str| read_plan(text);
        let plan = read(r#"{"useful": true, "information": " x ", "sufficient": false, "next_query": " q "}"#).unwrap();
        assert_eq!(
            (plan.information.as_deref(), plan.sufficient, plan.next_query.as_deref()),
            (Some("x"), false, Some("q"))
        );
        // Information of passages that are not useful is none, and a blank query is none.
        let plan = read(r#"{"useful": false, "information": "x", "sufficient": true, "next_query": " "}"#).unwrap();
        assert_eq!((plan.information, plan.sufficient, plan.next_query), (None, true, None));
        assert!(read(r#"{"useful": "yes"}"#).unwrap_err().starts_with("expected {\"useful\": ..., "));
    }

    #[test]
    fn the_prompt_takes_its_example() {
        let filled = MultihopSearch::prompt().fill(&MultihopSearch::example()).unwrap();
        let end = "Question: a query\n\nKnown so far:\n- a finding\n\nLast search: another query\n[1] a passage";
        assert!(filled.ends_with(end), "{filled}");
        let mut nothing = MultihopSearch::example();
        nothing["passages"] = json!([]);
        nothing["information"] = json!([]);
        let filled = MultihopSearch::prompt().fill(&nothing).unwrap();
        assert!(filled.ends_with("Question: a query\n\nLast search: another query\nIt found nothing."), "{filled}");
    }
}
