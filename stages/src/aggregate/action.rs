//! The aggregation of an evaluation.

use ragstage_cache::{Digest, KeyVisitor, Walk};
use rayon::prelude::*;

use super::case_list::CaseList;
use super::failures::FailureGroup;
use super::latency::Latency;
use super::options::StatisticsOptions;
use super::planned_query::PlannedQuery;
use super::response_errors::ResponseErrors;
use super::score_table;
use super::series::Series;
use super::summary::{MeasureSummary, ResponseCounts, Summary};
use super::usage::UsageTable;
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key};
use crate::error::StageError;
use crate::step::Step;

/// One evaluator over one unit in one query mode of one recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    /// The recipe's name.
    pub recipe: String,
    /// The query's name.
    pub query: String,
    /// The evaluator's canonical name.
    pub evaluator: String,
    /// The unit.
    pub unit_id: String,
    /// The `scores` artifact.
    pub scores: Digest,
    /// The `observations` artifact, where models were asked on the way.
    pub observations: Option<Digest>,
}

/// The responses of one unit in one query mode of one recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseTable {
    /// The recipe's name.
    pub recipe: String,
    /// The query's name.
    pub query: String,
    /// The query mode, e.g. `full_text_search`.
    pub mode: String,
    /// The unit.
    pub unit_id: String,
    /// The `results` artifact.
    pub results: Digest,
    /// The `answers` artifact, where answers are asked for.
    pub answers: Option<Digest>,
    /// The retrieval's `observations` artifact.
    pub retrieve_observations: Option<Digest>,
    /// The answers' `observations` artifact.
    pub answer_observations: Option<Digest>,
}

impl Walk for ScoreTable {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "score_table");
        v.text("recipe", &self.recipe);
        v.text("query", &self.query);
        v.text("evaluator", &self.evaluator);
        v.text("unit_id", &self.unit_id);
        v.digest("scores", &self.scores);
        if let Some(observations) = &self.observations {
            v.digest("observations", observations);
        }
        v.end();
    }
}

impl Walk for ResponseTable {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "response_table");
        v.text("recipe", &self.recipe);
        v.text("query", &self.query);
        v.text("mode", &self.mode);
        v.text("unit_id", &self.unit_id);
        v.digest("results", &self.results);
        for (name, digest) in [
            ("answers", &self.answers),
            ("retrieve_observations", &self.retrieve_observations),
            ("answer_observations", &self.answer_observations),
        ] {
            if let Some(digest) = digest {
                v.digest(name, digest);
            }
        }
        v.end();
    }
}

/// Visits `items` as the list `name`.
pub(super) fn walk_list(v: &mut dyn KeyVisitor, name: &str, items: &[impl Walk]) {
    v.begin_list(name, items.len());
    for item in items {
        item.walk(v);
    }
    v.end();
}

/// The aggregation of an evaluation: [`Summary`] (`summary`), every score (`score_table`) and, as observations, [`Latency`]
/// (`latency`) and, where models were asked, [`UsageTable`] (`usage`).
///
/// A unit without a table counts as failed cases, so that a knowledge base that could not be built is not left out of the
/// means in silence.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// What people call the evaluation; not in the key.
    pub evaluation: String,
    /// What is asked for, in the order in which it is reported.
    pub plan: Vec<PlannedQuery>,
    /// The score tables that there are.
    pub scores: Vec<ScoreTable>,
    /// The response tables that there are.
    pub responses: Vec<ResponseTable>,
    /// The `queries` artifact.
    pub queries: Digest,
    /// The `units` artifact.
    pub units: Digest,
    /// How scores are summed up.
    pub statistics: StatisticsOptions,
    /// See [`begin_key`].
    pub salt: u64,
}

impl Walk for Aggregate {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Aggregate, self.salt);
        walk_list(v, "plan", &self.plan);
        walk_list(v, "scores", &self.scores);
        walk_list(v, "responses", &self.responses);
        v.digest("queries", &self.queries);
        v.digest("units", &self.units);
        self.statistics.walk(v);
        v.end();
    }
}

impl Action for Aggregate {
    fn step(&self) -> Step {
        Step::Aggregate
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let step = self.step();
        let encode = |error: &dyn std::fmt::Display| StageError::encode(step, error);
        let cases = CaseList::read(context, step, &self.units, &self.queries)?;
        let series = Series::read(context, step, &self.plan, &self.scores, &cases)?;
        let errors = ResponseErrors::read(context, step, &self.plan, &self.responses, &cases)?;
        let categories = cases.categories();
        let measure = |series| MeasureSummary::of(series, &cases, &categories, &self.statistics);
        let summary = Summary {
            cases: cases.len() as u64,
            units: cases.units.units.len() as u64,
            statistics: self.statistics.clone(),
            measures: series.par_iter().map(measure).collect(),
            responses: errors
                .iter()
                .map(|errors| ResponseCounts {
                    recipe: errors.recipe.clone(),
                    query: errors.query.clone(),
                    cases: cases.len() as u64,
                    failed: errors.failures().len() as u64,
                    refused: errors.refused,
                })
                .collect(),
            failures: FailureGroup::all(&cases, &errors, &series),
        };
        let latency = Latency::read(context, step, &self.plan, &self.responses, &cases)?;
        let usage = UsageTable::read(context, step, &self.plan, (&self.responses, &self.scores), &cases)?;
        let (table, rows) = score_table::encode(&series, &cases).map_err(|error| encode(&error))?;
        let mut outputs = vec![
            Output::value("summary", summary.encode().map_err(|error| encode(&error))?, summary.measures.len()),
            Output::value("score_table", table, rows),
            Output::observation("latency", latency.encode().map_err(|error| encode(&error))?, latency.queries.len()),
        ];
        // Only where a model was asked.
        if !usage.rows.is_empty() {
            let bytes = usage.encode().map_err(|error| encode(&error))?;
            outputs.push(Output::observation("usage", bytes, usage.rows.len()));
        }
        Ok(Produced { outputs, ..Produced::default() })
    }
}
