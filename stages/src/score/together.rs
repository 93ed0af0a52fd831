//! Evaluators that score all responses of a unit at once, since they ask models or programs on the way.

use ragstage_cache::{Digest, KeyHasher, KeyVisitor};

use super::action::{ScoreResponses, Slot, artifact};
use super::case::{Case, NO_ANSWERS, finite, of_samples, unscored};
use super::evaluator::{Reads, Scorable, ScoreTogether};
use super::row_digests::{AnswerDigests, GoldDigests, HitDigests};
use super::unit_tables::same_cases;
use crate::artifact::{Answers, Gold, Golds, Observation, Observations, Queries, Results, Score, Scores};
use crate::contract::{Artifact, Context, Free, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome, decoded};
use crate::error::{DecodeError, RowError, RowErrorKind, StageError};
use crate::model::ModelUsage;
use crate::step::Step;

impl ScoreResponses {
    /// Scores all cases at once, each of them a row of the row cache.
    pub(super) fn score_together(
        &self,
        context: &dyn Context,
        together: &dyn ScoreTogether,
    ) -> Result<Produced, StageError> {
        let reads = self.evaluator.reads();
        let all = decoded::<Golds>(context, Step::Score, &self.gold)?;
        let golds: Vec<&Gold> = self.of_unit(&all.rows, &self.gold)?;
        let rows = if reads.needs_answer() && self.answers.is_none() {
            golds.iter().map(|_| Score::skipped(NO_ANSWERS)).collect()
        } else {
            self.score_all(context, together, reads, &all, &golds)?
        };
        let scores = Scores {
            rows: rows
                .into_iter()
                .zip(&golds)
                .map(|(score, gold)| Score { case_id: gold.case_id.clone(), ..score })
                .collect(),
        };
        let failed = scores.rows.iter().filter(|score| score.error.is_some()).count() as u64;
        let encode = |error: DecodeError| StageError::encode(Step::Score, error);
        let mut outputs = vec![Output::value("scores", scores.encode().map_err(encode)?, scores.rows.len())];
        // Only where a model was asked.
        if scores.rows.iter().any(|score| !score.usage.is_empty()) {
            let rows = scores.rows.into_iter().map(|Score { case_id, usage, .. }| {
                let attempts = u32::from(!usage.is_empty());
                Observation { case_id, latency_ms: None, attempts, usage }
            });
            let observations = Observations { rows: rows.collect() };
            let bytes = observations.encode().map_err(encode)?;
            outputs.push(Output::observation("observations", bytes, observations.rows.len()));
        }
        Ok(Produced { outputs, failed, ..Produced::default() })
    }

    /// A score per case, in the order of `golds`, which are the unit's of `all`.
    fn score_all(
        &self,
        context: &dyn Context,
        together: &dyn ScoreTogether,
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
        let same = |digest: &Digest, cases: Vec<&str>| match cases.len() == golds.len() {
            true => same_cases(digest, cases.into_iter().zip(golds.iter().map(|gold| gold.case_id.as_str()))),
            false => Err(artifact(digest, format!("expected {} cases, found {}", golds.len(), cases.len()))),
        };
        if let Some(results) = &results {
            same(&self.results, results.rows.iter().map(|row| row.case_id.as_str()).collect())?;
        }
        if let Some((digest, answers)) = &answers {
            same(digest, answers.rows.iter().map(|row| row.case_id.as_str()).collect())?;
        }
        let questions = match &queries {
            Some(queries) => self.of_unit(&queries.rows, &self.queries)?,
            None => Vec::new(),
        };
        if queries.is_some() {
            same(&self.queries, questions.iter().map(|query| query.case_id.as_str()).collect())?;
        }
        let cases: Vec<Case> = golds
            .iter()
            .zip(gold_digests)
            .enumerate()
            .map(|(i, (gold, gold_digest))| {
                let retrieved = results.as_ref().and_then(|results| results.rows.get(i));
                let answer = answers.as_ref().and_then(|(_, answers)| answers.rows.get(i));
                let query = questions.get(i).map(|query| query.text.as_str()).unwrap_or_default();
                let results = hit_digests.as_ref().and_then(|digests| digests.0.get(i));
                let answer_digest = answer_digests.as_ref().and_then(|digests| digests.0.get(i));
                Case {
                    gold,
                    query,
                    hits: retrieved.map(|row| row.results.as_slice()).unwrap_or_default(),
                    answer,
                    upstream: retrieved
                        .and_then(|row| row.error.as_ref())
                        .or_else(|| answer.and_then(|row| row.error.as_ref())),
                    key: key(gold_digest, reads.question.then_some(query), results, answer_digest),
                }
            })
            .collect();
        let scorable: Vec<&Case> = cases.iter().filter(|case| case.upstream.is_none()).collect();
        let items: Vec<RowItem> =
            scorable.iter().map(|case| RowItem { key: case.key, label: &case.gold.case_id }).collect();
        let slot = Slot { evaluator: &*self.evaluator, salt: self.salt };
        let batch = RowBatch { slot: &slot, pool: Pool::Cpu, items: &items, cost: &Free };
        let outcomes = context.rows_together(batch, &|missing| {
            let of = |i: &usize| scorable.get(*i).map(|case| case.scorables(reads, self.salt)).unwrap_or_default();
            let answers: Vec<Vec<Scorable<'_>>> = missing.iter().map(of).collect();
            let all: Vec<Scorable<'_>> = answers.iter().flatten().copied().collect();
            let mut scores = together.score(context, &all)?.into_iter();
            let of_case = |answers: &Vec<Scorable<'_>>| scores.by_ref().take(answers.len()).collect::<Vec<_>>();
            let scores: Vec<Vec<Result<Score, RowError>>> = answers.iter().map(of_case).collect();
            Ok(scores.into_iter().map(|scores| row(&finite(of_samples(scores.into_iter())?)?)).collect())
        })?;
        let mut outcomes = outcomes.into_iter().zip(&items);
        cases
            .iter()
            .map(|case| match (case.upstream, case.upstream.is_none().then(|| outcomes.next()).flatten()) {
                (Some(error), _) => Ok(unscored(error)),
                (None, Some((RowOutcome::Failed(error), _))) => Ok(Score::failed(error)),
                (None, Some((RowOutcome::Done(row), item))) => {
                    let score = serde_json::from_slice::<Score>(&row.value);
                    let score = score.map_err(|error| artifact(&item.key, error.to_string()))?;
                    Ok(Score { usage: usage(&row), ..score })
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

/// The row that is kept of a score.
fn row(score: &Score) -> Result<Row, RowError> {
    let fault = |error: serde_json::Error| RowError::new(RowErrorKind::Evaluator, error.to_string());
    let observation = match score.usage.as_slice() {
        [] => Vec::new(),
        usage => serde_json::to_vec(usage).map_err(fault)?,
    };
    Ok(Row { value: serde_json::to_vec(score).map_err(fault)?, observation })
}

/// What models took for the score in `row`, where that is known.
fn usage(row: &Row) -> Vec<ModelUsage> {
    serde_json::from_slice(&row.observation).unwrap_or_default()
}

/// The row's key: all that the score depends on beyond the evaluator.
fn key(gold: &Digest, question: Option<&str>, results: Option<&Digest>, answer: Option<&Digest>) -> Digest {
    let mut v = KeyHasher::new();
    v.begin_record("", "ragstage.score.row");
    v.digest("gold", gold);
    if let Some(question) = question {
        v.text("question", question);
    }
    for (name, digest) in [("results", results), ("answer", answer)] {
        if let Some(digest) = digest {
            v.digest(name, digest);
        }
    }
    v.end();
    v.finish()
}
