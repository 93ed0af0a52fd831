//! The action: one evaluator over the responses of one unit in one query mode.

use std::sync::Arc;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::case::{Case, CaseDigests};
use super::evaluator::{Evaluator, Reads, Scorable};
use super::row_digests::{AnswerDigests, GoldDigests, HitDigests};
use super::sample_scores::mean_score;
use crate::artifact::{Answers, Gold, Golds, Queries, Results, Score, ScoreValue, Scores, Unit};
use crate::contract::{
    Action, Artifact, Context, Free, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome, begin_key, decoded,
};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// Scores every case of a unit; gives `scores` in the unit's case order.
///
/// The key holds the evaluator, the digests of what it reads, and the unit's gold; the artifacts `queries` and `gold` only
/// say where that is read, so that another unit's gold makes nothing stale here. A row's key holds the same of one case, so
/// that a corrected gold answer scores one case.
pub struct ScoreResponses {
    /// The evaluator.
    pub evaluator: Arc<dyn Evaluator>,
    /// The unit's results.
    pub results: Digest,
    /// The unit's answers, where any were asked for.
    pub answers: Option<Digest>,
    /// The benchmark's queries.
    pub queries: Digest,
    /// The benchmark's gold.
    pub gold: Digest,
    /// The unit.
    pub unit: Unit,
    /// 0, or what tells a forced run apart.
    pub salt: u64,
}

impl Walk for ScoreResponses {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        let reads = self.evaluator.reads();
        begin_key(v, Step::Score, self.salt);
        self.evaluator.walk(v);
        if reads.results {
            v.digest("results", &self.results);
        }
        if reads.answer {
            match &self.answers {
                Some(answers) => v.digest("answers", answers),
                None => v.null("answers"),
            }
        }
        if reads.question {
            v.digest("queries", &self.unit.queries_digest);
        }
        v.digest("gold", &self.unit.gold_digest);
        v.end();
    }
}

/// The row cache of an evaluator: all its scores, of any benchmark and mode.
struct Slot<'a> {
    evaluator: &'a dyn Evaluator,
    salt: u64,
}

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Score, self.salt);
        self.evaluator.walk(v);
        v.end();
    }
}

impl Action for ScoreResponses {
    fn step(&self) -> Step {
        Step::Score
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let reads = self.evaluator.reads();
        let all = decoded::<Golds>(context, Step::Score, &self.gold)?;
        let golds: Vec<&Gold> = self.of_unit(&all.rows, &self.gold)?;
        let rows = if reads.answer && self.answers.is_none() {
            golds.iter().map(|_| Score::skipped("no answers were asked for")).collect()
        } else {
            self.score(context, reads, &all, &golds)?
        };
        let scores = Scores {
            rows: rows
                .into_iter()
                .zip(&golds)
                .map(|(score, gold)| Score { case_id: gold.case_id.clone(), ..score })
                .collect(),
        };
        let failed = scores.rows.iter().filter(|score| score.error.is_some()).count() as u64;
        let bytes = scores.encode().map_err(|error| StageError::encode(Step::Score, error))?;
        Ok(Produced { outputs: vec![Output::value("scores", bytes, scores.rows.len())], failed, ..Produced::default() })
    }
}

impl ScoreResponses {
    /// A score per case, in the order of `golds`, which are the unit's of `all`.
    fn score(
        &self,
        context: &dyn Context,
        reads: Reads,
        all: &Golds,
        golds: &[&Gold],
    ) -> Result<Vec<Score>, StageError> {
        let gold_digests = GoldDigests::read(context, &self.gold, all)?;
        let gold_digests = self.of_unit(&gold_digests.0, &self.gold)?;
        let results = match reads.results {
            true => Some(decoded::<Results>(context, Step::Score, &self.results)?),
            false => None,
        };
        let hit_digests = match &results {
            Some(results) => Some(HitDigests::read(context, &self.results, results)?),
            None => None,
        };
        let answers = match &self.answers {
            Some(digest) if reads.answer => Some((digest, decoded::<Answers>(context, Step::Score, digest)?)),
            _ => None,
        };
        let answer_digests = match &answers {
            Some((digest, answers)) => Some(AnswerDigests::read(context, digest, answers)?),
            None => None,
        };
        let queries = match reads.question {
            true => Some(decoded::<Queries>(context, Step::Score, &self.queries)?),
            false => None,
        };
        if let Some(results) = &results {
            same_cases(&self.results, golds, results.rows.iter().map(|row| row.case_id.as_str()))?;
        }
        if let Some((digest, answers)) = &answers {
            same_cases(digest, golds, answers.rows.iter().map(|row| row.case_id.as_str()))?;
        }
        let questions = match &queries {
            Some(queries) => self.of_unit(&queries.rows, &self.queries)?,
            None => Vec::new(),
        };
        if queries.is_some() {
            same_cases(&self.queries, golds, questions.iter().map(|query| query.case_id.as_str()))?;
        }
        let cases: Vec<Case> = golds
            .iter()
            .zip(gold_digests)
            .enumerate()
            .map(|(i, (gold, gold_digest))| {
                let retrieved = results.as_ref().and_then(|results| results.rows.get(i));
                let answer = answers.as_ref().and_then(|(_, answers)| answers.rows.get(i));
                Case {
                    gold,
                    query: questions.get(i).map(|query| query.text.as_str()).unwrap_or_default(),
                    hits: retrieved.map(|row| row.results.as_slice()).unwrap_or_default(),
                    answer,
                    upstream: retrieved
                        .and_then(|row| row.error.as_ref())
                        .or_else(|| answer.and_then(|row| row.error.as_ref())),
                    digests: CaseDigests {
                        gold: *gold_digest,
                        results: hit_digests.as_ref().and_then(|digests| digests.0.get(i).copied()),
                        answer: answer_digests.as_ref().and_then(|digests| digests.0.get(i).copied()),
                    },
                }
            })
            .collect();
        let scorable: Vec<&Case> = cases.iter().filter(|case| case.upstream.is_none()).collect();
        let items: Vec<RowItem> =
            scorable.iter().map(|case| RowItem { key: case.key(reads), label: &case.gold.case_id }).collect();
        let slot = Slot { evaluator: &*self.evaluator, salt: self.salt };
        let batch = RowBatch { slot: &slot, pool: Pool::Cpu, items: &items, cost: &Free };
        let of = |i: usize| {
            let case = scorable.get(i).copied();
            case.ok_or_else(|| RowError::new(RowErrorKind::Evaluator, format!("there is no row {i} to score")))
        };
        let outcomes = match self.evaluator.together() {
            None => context.rows(batch, &|i, _| row(&of(i)?.evaluate(&*self.evaluator)?))?,
            Some(together) => context.rows_together(batch, &|missing| {
                let answers: Vec<Vec<Scorable<'_>>> = missing
                    .iter()
                    .map(|&i| of(i).map(|case| case.scorables(reads, self.salt)).unwrap_or_default())
                    .collect();
                let all: Vec<Scorable<'_>> = answers.iter().flatten().copied().collect();
                let mut scores = together.score(context, &all)?.into_iter();
                let of_case = |answers: &Vec<Scorable<'_>>| scores.by_ref().take(answers.len()).collect::<Vec<_>>();
                let scores: Vec<Vec<Result<Score, RowError>>> = answers.iter().map(of_case).collect();
                Ok(scores.into_iter().map(|scores| row(&of_samples(scores)?)).collect())
            })?,
        };
        let mut outcomes = outcomes.into_iter().zip(&items);
        cases
            .iter()
            .map(|case| match (case.upstream, case.upstream.is_none().then(|| outcomes.next()).flatten()) {
                (Some(error), _) => Ok(Score::failed(upstream(error))),
                (None, Some((RowOutcome::Failed(error), _))) => Ok(Score::failed(error)),
                (None, Some((RowOutcome::Done(row), item))) => {
                    serde_json::from_slice(&row.value).map_err(|error| artifact(&item.key, error.to_string()))
                }
                (None, None) => Err(StageError::encode(Step::Score, "fewer rows came back than were asked for")),
            })
            .collect()
    }

    /// The unit's rows of a table of the benchmark.
    fn of_unit<'a, T>(&self, rows: &'a [T], digest: &Digest) -> Result<Vec<&'a T>, StageError> {
        let positions = self.unit.case_positions(rows.len());
        positions
            .into_iter()
            .map(|i| rows.get(i).ok_or_else(|| artifact(digest, format!("has {} rows, none at {i}", rows.len()))))
            .collect()
    }
}

/// One score of those of a case's answers; an answer without one is a case without one.
fn of_samples(scores: Vec<Result<Score, RowError>>) -> Result<Score, RowError> {
    let mut scores: Vec<Score> = scores.into_iter().collect::<Result<_, _>>()?;
    match scores.len() {
        1 => Ok(scores.remove(0)),
        0 => Err(RowError::new(RowErrorKind::Evaluator, "the evaluator gave fewer scores than were asked for")),
        _ => Ok(mean_score(scores)),
    }
}

/// The row that is kept of a score.
fn row(score: &Score) -> Result<Row, RowError> {
    // A row is JSON, which has no such number, and a mean of it would be none.
    if let Some(ScoreValue::Number(value)) = score.value
        && !value.is_finite()
    {
        return Err(RowError::new(RowErrorKind::Evaluator, format!("the score is {value}, which is no number")));
    }
    let value = serde_json::to_vec(score).map_err(|error| RowError::new(RowErrorKind::Evaluator, error.to_string()))?;
    Ok(Row { value, observation: Vec::new() })
}

/// Checks that a table has the cases of `golds` in that order.
fn same_cases<'a>(
    digest: &Digest,
    golds: &[&Gold],
    cases: impl ExactSizeIterator<Item = &'a str>,
) -> Result<(), StageError> {
    if cases.len() != golds.len() {
        return Err(artifact(digest, format!("expected {} cases, found {}", golds.len(), cases.len())));
    }
    for (case, gold) in cases.zip(golds) {
        if case != gold.case_id {
            return Err(artifact(digest, format!("expected case {:?}, found {case:?}", gold.case_id)));
        }
    }
    Ok(())
}

fn artifact(digest: &Digest, why: String) -> StageError {
    StageError { step: Step::Score, kind: StageErrorKind::Artifact { digest: *digest, why } }
}

/// The error of a response as the error of its score.
fn upstream(error: &RowError) -> RowError {
    let message = match error.kind {
        RowErrorKind::Upstream => error.message.clone(),
        _ => error.to_string(),
    };
    RowError { kind: RowErrorKind::Upstream, message, attempts: error.attempts, retry_after_s: None }
}
