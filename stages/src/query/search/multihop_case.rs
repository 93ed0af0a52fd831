//! A case on its way through the rounds of `multihop_search`.

use serde_json::{Value, json};

use super::lexical_planner::{Chain, LexicalPlanner};
use super::on_failure::OnFailure;
use super::searcher::{Ask, Found};
use crate::artifact::{Hit, Json};
use crate::error::RowError;
use crate::model::ModelUsage;

/// What follows from a round.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What the round's results say about the question; `None` when they are of no use.
    pub information: Option<String>,
    /// Whether the evidence suffices.
    pub sufficient: bool,
    /// What to search for next.
    pub next_query: Option<String>,
    /// Tokens and money.
    pub usage: Option<ModelUsage>,
    /// Milliseconds that the planning took.
    pub latency_ms: f64,
}

/// A case on its way.
pub(super) struct Case<'a> {
    /// What is asked.
    pub ask: &'a Ask<'a>,
    /// What is searched for in this round.
    pub query: String,
    /// What was searched for in earlier rounds.
    asked: Vec<String>,
    /// The results of each round.
    pub lists: Vec<Vec<Hit>>,
    /// What rounds have noted.
    pub information: Vec<String>,
    /// One object per round.
    pub reports: Vec<Value>,
    /// What went wrong on the way.
    pub issues: Vec<Value>,
    /// Whether it goes on.
    pub open: bool,
    /// Whether it ended because the model gave no usable reply.
    pub fell_back: bool,
    /// Trace, latency and usage so far; or why the case failed.
    pub outcome: Result<Found, RowError>,
    /// What the round's results say of themselves.
    nested: Json,
    chain: Chain,
}

impl<'a> Case<'a> {
    pub(super) fn new(ask: &'a Ask<'a>, lexical: &LexicalPlanner) -> Self {
        Case {
            ask,
            query: ask.text.to_string(),
            asked: Vec::new(),
            lists: Vec::new(),
            information: Vec::new(),
            reports: Vec::new(),
            issues: Vec::new(),
            open: true,
            fell_back: false,
            outcome: Ok(Found::default()),
            nested: Json::new(),
            chain: lexical.chain(ask.text),
        }
    }

    /// The results of the latest round.
    pub(super) fn latest(&self) -> &[Hit] {
        self.lists.last().map(Vec::as_slice).unwrap_or_default()
    }

    /// Takes the results of a round.
    pub(super) fn take(&mut self, found: Result<Found, RowError>, round: u32) {
        match (found, &mut self.outcome) {
            (Ok(found), Ok(so_far)) => {
                so_far.latency_ms += found.latency_ms;
                so_far.trace.extend(found.trace);
                found.usage.iter().for_each(|usage| ModelUsage::add_to(&mut so_far.usage, usage));
                if found.hits.is_empty() {
                    self.issues.push(json!({"code": "round_no_results", "round": round}));
                }
                self.lists.push(found.hits);
                self.nested = found.metadata;
            }
            (Err(error), _) => self.fail(error),
            (Ok(_), Err(_)) => self.open = false,
        }
    }

    /// What the lexical planner makes of the latest round.
    pub(super) fn plan_lexically(&mut self, planner: &LexicalPlanner) -> Plan {
        let hits = self.lists.last().map(Vec::as_slice).unwrap_or_default();
        let plan = planner.advance(&mut self.chain, hits);
        Plan {
            information: Some(plan.added.join(", ")).filter(|added| !added.is_empty()),
            sufficient: plan.sufficient,
            next_query: plan.next_query,
            ..Plan::default()
        }
    }

    /// Ends round `round` of `rounds` as planned.
    pub(super) fn follow(&mut self, plan: Result<Plan, RowError>, round: u32, rounds: u32, on_failure: OnFailure) {
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => match on_failure.issue("multihop_invalid_output", error) {
                Ok(issue) => {
                    self.issues.push(issue);
                    self.fell_back = true;
                    Plan::default()
                }
                Err(error) => return self.fail(error),
            },
        };
        if !self.fell_back && plan.information.is_none() {
            self.issues.push(json!({"code": "round_no_useful_information", "round": round}));
        }
        let result_count = self.latest().len();
        self.asked.push(self.query.clone());
        // What was asked before would find the same again.
        let next = plan.next_query.filter(|next| !plan.sufficient && !self.asked.contains(next));
        let mut report = json!({
            "round": round,
            "query": self.query,
            "result_count": result_count,
            "information": plan.information,
            "sufficient": plan.sufficient,
            "next_query": next,
        });
        let nested = std::mem::take(&mut self.nested);
        if !nested.is_empty() {
            report["base"] = nested.into();
        }
        self.reports.push(report);
        if let Ok(so_far) = &mut self.outcome {
            so_far.latency_ms += plan.latency_ms;
            plan.usage.iter().for_each(|usage| ModelUsage::add_to(&mut so_far.usage, usage));
            so_far.trace.push(json!({
                "mode": "multihop_search",
                "round": round,
                "query": self.query,
                "result_count": result_count,
                "useful": plan.information.is_some(),
                "sufficient": plan.sufficient,
            }));
        }
        self.information.extend(plan.information);
        match next.filter(|_| round < rounds) {
            Some(next) => self.query = next,
            None => {
                self.open = false;
                if !plan.sufficient && !self.fell_back {
                    self.issues.push(json!({"code": "answer_not_confirmed"}));
                }
            }
        }
    }

    fn fail(&mut self, error: RowError) {
        self.open = false;
        self.outcome = Err(error);
    }
}
