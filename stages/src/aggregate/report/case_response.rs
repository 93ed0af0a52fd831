//! All that is known of one case in one query of one recipe.

use crate::aggregate::case_list::CaseList;
use crate::aggregate::observed::Observed;
use crate::aggregate::planned_query::PlannedQuery;
use crate::aggregate::series::Outcome;
use crate::aggregate::unit_responses::{ResponseFailure, UnitResponses};
use crate::aggregate::usage::UsagePart;
use crate::artifact::{Answer, Gold, Json, Query, Retrieved};
use crate::model::ModelUsage;

/// A case, its response and its scores.
pub(super) struct CaseResponse<'a> {
    pub(super) planned: &'a PlannedQuery,
    pub(super) unit_id: &'a str,
    /// How many documents its unit has.
    pub(super) unit_documents: u64,
    pub(super) query: &'a Query,
    pub(super) gold: Option<&'a Gold>,
    pub(super) retrieved: Option<&'a Retrieved>,
    pub(super) answer: Option<&'a Answer>,
    pub(super) failure: Option<ResponseFailure>,
    /// Of retrieval and answer together.
    pub(super) latency_ms: Option<f64>,
    /// What models took for each part, where any were asked.
    pub(super) usage: Vec<(UsagePart, &'a [ModelUsage])>,
    /// Evaluator and outcome, in the plan's order.
    pub(super) scores: Vec<(&'a str, Outcome<'a>)>,
    /// What led to each of the scores.
    pub(super) details: Vec<Option<&'a Json>>,
}

/// A case's texts and scores.
pub(super) struct CaseParts<'a> {
    pub(super) query: &'a Query,
    pub(super) gold: Option<&'a Gold>,
    pub(super) scores: Vec<(&'a str, Outcome<'a>)>,
    pub(super) details: Vec<Option<&'a Json>>,
}

impl<'a> CaseResponse<'a> {
    /// The case `entry` of `planned`, with `responses` of which it is row `row`, where its unit was asked.
    pub(super) fn new(
        cases: &'a CaseList,
        planned: &'a PlannedQuery,
        responses: Option<&'a (UnitResponses, Observed)>,
        entry: usize,
        row: usize,
        parts: CaseParts<'a>,
    ) -> Self {
        let CaseParts { query, gold, scores, details } = parts;
        let within = cases.within(entry);
        CaseResponse {
            planned,
            unit_id: cases.unit_id(entry),
            unit_documents: cases.unit_documents(entry),
            query,
            gold,
            retrieved: responses.and_then(|(responses, _)| responses.retrieved(row)),
            answer: responses.and_then(|(responses, _)| responses.answer(row)),
            failure: match responses {
                Some((responses, _)) => responses.failure(row),
                None => Some(ResponseFailure::absent()),
            },
            latency_ms: responses.and_then(|(_, observed)| observed.total(within)),
            usage: match responses {
                Some((_, observed)) => observed.usage(within).collect(),
                None => Vec::new(),
            },
            scores,
            details,
        }
    }

    /// Whether the response or any evaluator failed.
    pub(super) fn failed(&self) -> bool {
        self.failure.is_some() || self.scores.iter().any(|(_, outcome)| outcome.error.is_some())
    }
}
