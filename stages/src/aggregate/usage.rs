//! `usage`: what models took to respond and to judge, in tokens and money. An observation: servers may count otherwise another time.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::action::{ResponseTable, ScoreTable};
use super::case_list::CaseList;
use super::observed::{Observed, ObservedRows};
use super::planned_query::PlannedQuery;
use crate::contract::{Artifact, Context};
use crate::error::{DecodeError, StageError};
use crate::model::{ModelUsage, Usage, UsageSource};
use crate::step::Step;

/// What the responses of an evaluation, and those who judge them, took of models.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageTable {
    /// One row per recipe, query, part (for judges: evaluator) and model that was asked: queries and evaluators in the
    /// evaluation's order, models in the order in which cases name them.
    pub rows: Vec<UsageRow>,
}

/// What one part of one query of one recipe took of one model. A reply that several cases share counts for each of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageRow {
    /// The recipe.
    pub recipe: String,
    /// The query.
    pub query: String,
    /// What the model was asked for.
    pub part: UsagePart,
    /// The evaluator that judged; `None` where nothing was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluator: Option<String>,
    /// The model, as the evaluation file names it.
    pub model: String,
    /// Cases that it was asked for.
    pub cases: u64,
    /// Calls of all these cases.
    pub calls: u64,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Cases whose tokens were counted here, because the server said nothing of them.
    pub counted_cases: u64,
    /// Tokens read and written per case, on average.
    pub tokens_per_case: f64,
    /// US dollars, at the prices of the runs that asked.
    pub usd: f64,
    /// US dollars per case, on average.
    pub usd_per_case: f64,
}

/// What a model was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsagePart {
    /// To find passages: rewriting, reranking, planning, embedding of questions.
    Retrieve,
    /// To answer.
    Answer,
    /// To judge responses.
    Judge,
}

impl UsagePart {
    /// The name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            UsagePart::Retrieve => "retrieve",
            UsagePart::Answer => "answer",
            UsagePart::Judge => "judge",
        }
    }
}

impl UsageTable {
    /// Sums up the usage of every query of `plan`, in its order: of its responses, then of those who judged them.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        plan: &[PlannedQuery],
        (responses, scores): (&[ResponseTable], &[ScoreTable]),
        cases: &CaseList,
    ) -> Result<Self, StageError> {
        let mut rows = Vec::new();
        for planned in plan {
            let units = Observed::all(context, step, planned, responses, cases)?;
            for part in [UsagePart::Retrieve, UsagePart::Answer] {
                let own = units.iter().flat_map(|(_, observed)| observed.parts()).filter(|(of, _)| *of == part);
                let sums = Sum::of(own.flat_map(|(_, rows)| rows.usage()));
                rows.extend(sums.into_iter().map(|sum| sum.row(planned, part, None)));
            }
            for evaluator in &planned.evaluators {
                let read = |(unit, table): (usize, Option<&ScoreTable>)| {
                    let digest = table?.observations.as_ref()?;
                    Some(ObservedRows::read(context, step, digest, cases, unit))
                };
                let units = cases.scores(step, planned, evaluator, scores)?.into_par_iter().enumerate();
                let units = units.filter_map(read).collect::<Result<Vec<_>, StageError>>()?;
                let sums = Sum::of(units.iter().flat_map(|rows| rows.usage()));
                rows.extend(sums.into_iter().map(|sum| sum.row(planned, UsagePart::Judge, Some(evaluator))));
            }
        }
        Ok(UsageTable { rows })
    }
}

/// The usage of one model, so far.
struct Sum {
    all: ModelUsage,
    cases: u64,
    counted_cases: u64,
}

impl Sum {
    /// The sums of what each case took, one per model.
    fn of<'a>(usage: impl Iterator<Item = &'a ModelUsage>) -> Vec<Sum> {
        let mut sums = Vec::new();
        usage.for_each(|case| Sum::add_to(&mut sums, case));
        sums
    }

    fn add_to(sums: &mut Vec<Sum>, case: &ModelUsage) {
        let counted = u64::from(case.usage.source == UsageSource::Counted);
        match sums.iter_mut().find(|sum| sum.all.model == case.model) {
            Some(sum) => {
                sum.all.calls += case.calls;
                sum.all.usage = sum.all.usage.plus(case.usage);
                sum.all.nano_usd = sum.all.nano_usd.saturating_add(case.nano_usd);
                sum.cases += 1;
                sum.counted_cases += counted;
            }
            None => sums.push(Sum { all: case.clone(), cases: 1, counted_cases: counted }),
        }
    }

    fn row(self, planned: &PlannedQuery, part: UsagePart, evaluator: Option<&String>) -> UsageRow {
        let Usage { prompt_tokens, completion_tokens, .. } = self.all.usage;
        let cases = self.cases.max(1) as f64;
        UsageRow {
            recipe: planned.recipe.clone(),
            query: planned.query.clone(),
            part,
            evaluator: evaluator.cloned(),
            model: self.all.model,
            cases: self.cases,
            calls: self.all.calls,
            prompt_tokens,
            completion_tokens,
            counted_cases: self.counted_cases,
            tokens_per_case: prompt_tokens.saturating_add(completion_tokens) as f64 / cases,
            usd: self.all.nano_usd as f64 / 1e9,
            usd_per_case: self.all.nano_usd as f64 / cases / 1e9,
        }
    }
}

impl Artifact for UsageTable {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(serde_json::to_vec(self)?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_one_model_are_summed_up() {
        let case = |model: &str, calls, prompt_tokens, source, nano_usd| ModelUsage {
            model: model.to_string(),
            calls,
            usage: Usage { prompt_tokens, completion_tokens: 10, source },
            nano_usd,
        };
        let cases = [
            case("a", 2, 100, UsageSource::Server, 3_000_000),
            case("b", 1, 50, UsageSource::Server, 0),
            case("a", 1, 200, UsageSource::Counted, 1_000_000),
        ];
        let sums = Sum::of(cases.iter());
        let planned = PlannedQuery {
            recipe: "r".to_string(),
            query: "q".to_string(),
            mode: "full_text_search".to_string(),
            evaluators: Vec::new(),
        };
        let rows: Vec<UsageRow> = sums.into_iter().map(|sum| sum.row(&planned, UsagePart::Answer, None)).collect();
        assert_eq!((rows[0].model.as_str(), rows[1].model.as_str()), ("a", "b"));
        assert_eq!((rows[0].cases, rows[0].calls, rows[0].counted_cases), (2, 3, 1));
        assert_eq!((rows[0].prompt_tokens, rows[0].completion_tokens), (300, 20));
        assert_eq!((rows[0].tokens_per_case, rows[0].usd, rows[0].usd_per_case), (160.0, 0.004, 0.002));
    }
}
