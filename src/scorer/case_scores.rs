//! Scores of responses, case by case.

use std::collections::HashMap;
use std::path::Path;

use ragstage_stages::artifact::{Golds, Json, Queries, Score, ScoreState, ScoreValue};
use ragstage_stages::error::{InputError, RowError, RowErrorKind};
use ragstage_stages::responses::{Parts, Response, ResponseLine, Twins, parse_response, response_lines};
use ragstage_stages::score::{CaseView, Evaluator, Passages, Reads, ResponseView};
use rayon::prelude::*;

use super::faults::unreadable;
use super::line_blocks::LineBlocks;
use super::read_file;

/// What becomes of cases without response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingCases {
    /// They fail.
    Fail,
    /// They are left out.
    LeaveOut,
}

/// Scores of some responses.
#[derive(Debug)]
pub struct CaseScores {
    /// The scores of each case, in the order of the cases and of the evaluators; empty where it is left out.
    pub cases: Vec<Vec<Score>>,
    /// Cases without response.
    pub missing: Vec<String>,
    /// Responses to no case, with their lines.
    pub unknown: Vec<(u64, String)>,
}

/// What one evaluator gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvaluatorSummary {
    /// The mean over scored cases; `None` where none has a number.
    pub mean: Option<f64>,
    /// Cases with a value.
    pub scored: usize,
    /// Cases whose response or evaluator failed.
    pub failed: usize,
    /// Cases without gold of the needed kind.
    pub skipped: usize,
    /// The scored cases among those that are not skipped.
    pub coverage: Option<f64>,
}

impl CaseScores {
    /// Scores the responses in the JSON-lines file `path`, plain or gzip, by `evaluators`, none of which asks others. Each sees
    /// only what it reads. Details are kept where `details` says so. Of the file no more is in memory than two blocks.
    ///
    /// # Errors
    /// When the file cannot be read; all lines that are no response, and cases that have two.
    pub fn of(
        path: &Path,
        (queries, golds): (&Queries, &Golds),
        evaluators: &[Box<dyn Evaluator>],
        missing: MissingCases,
        details: bool,
    ) -> Result<Self, Vec<InputError>> {
        let places: HashMap<&str, usize> =
            golds.rows.iter().enumerate().map(|(place, gold)| (gold.case_id.as_str(), place)).collect();
        let reads: Vec<Reads> = evaluators.iter().map(|evaluator| evaluator.reads()).collect();
        let parts = Parts {
            results: reads.iter().any(|reads| reads.results),
            answer: reads.iter().any(|reads| reads.answer),
            others: false,
        };
        let score = |place: usize, response: &Response| -> Vec<Score> {
            let (Some(query), Some(gold)) = (queries.rows.get(place), golds.rows.get(place)) else { return Vec::new() };
            // Made once for all that look at the same texts.
            let passages = Passages::new(&response.results);
            let one = |(evaluator, reads): (&dyn Evaluator, &Reads)| {
                let query = if reads.question { query.text.as_str() } else { "" };
                let case = CaseView { case_id: &gold.case_id, query, gold };
                let mut score = evaluate(evaluator, *reads, &case, response, &passages);
                if !details {
                    score.detail = Json::new();
                }
                score
            };
            evaluators.iter().map(Box::as_ref).zip(&reads).map(one).collect()
        };
        let read = |line: &ResponseLine<'_>| {
            let mut response = parse_response(path, *line, parts)?;
            let place = places.get(response.case_id.as_str()).copied();
            let scores = place.map(|place| (place, score(place, &response)));
            Ok((line.number, std::mem::take(&mut response.case_id), scores))
        };
        let mut errors = Vec::new();
        let mut twins = Twins::default();
        let mut cases: Vec<Vec<Score>> = vec![Vec::new(); golds.rows.len()];
        let mut unknown = Vec::new();

        let failed = |error| unreadable(path, &error);
        let mut blocks = LineBlocks::new(read_file::open(path).map_err(failed)?);
        let mut block = blocks.next(Vec::new()).map_err(failed)?;
        let (mut spare, mut first) = (Vec::new(), 1);
        while let Some(text) = block {
            let memory = std::mem::take(&mut spare);
            let work = || -> Vec<Result<_, InputError>> {
                response_lines(&text, first).par_iter().with_min_len(8).map(read).collect()
            };
            let (next, found) = rayon::join(|| blocks.next(memory), work);
            for found in found {
                match found {
                    Err(error) => errors.push(error),
                    Ok((number, case_id, scores)) => {
                        errors.extend(twins.check(path, number, &case_id));
                        match scores.and_then(|(place, scores)| Some((cases.get_mut(place)?, scores))) {
                            Some((case, scores)) => *case = scores,
                            None => unknown.push((number, case_id)),
                        }
                    }
                }
            }
            first += memchr::memchr_iter(b'\n', &text).count() as u64;
            spare = text;
            block = next.map_err(failed)?;
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut absent = Vec::new();
        for (case, gold) in cases.iter_mut().zip(&golds.rows) {
            if case.is_empty() && !evaluators.is_empty() {
                absent.push(gold.case_id.clone());
                if missing == MissingCases::Fail {
                    let error = RowError::new(RowErrorKind::Upstream, "there is no response to the case");
                    *case = vec![Score::failed(error); evaluators.len()];
                }
            }
        }
        Ok(CaseScores { cases, missing: absent, unknown })
    }

    /// What evaluator `evaluator` gave.
    pub fn summary(&self, evaluator: usize) -> EvaluatorSummary {
        let mut summary = EvaluatorSummary { mean: None, scored: 0, failed: 0, skipped: 0, coverage: None };
        let (mut sum, mut numbers) = (0.0, 0usize);
        for score in self.cases.iter().filter_map(|scores| scores.get(evaluator)) {
            match score.state {
                ScoreState::Scored => summary.scored += 1,
                ScoreState::Failed => summary.failed += 1,
                ScoreState::Skipped => summary.skipped += 1,
            }
            if let Some(value) = score.value.as_ref().and_then(ScoreValue::number) {
                sum += value;
                numbers += 1;
            }
        }
        summary.mean = (numbers > 0).then(|| sum / numbers as f64);
        let expected = summary.scored + summary.failed;
        summary.coverage = (expected > 0).then(|| summary.scored as f64 / expected as f64);
        summary
    }
}

fn evaluate(
    evaluator: &dyn Evaluator,
    reads: Reads,
    case: &CaseView<'_>,
    response: &Response,
    passages: &Passages<'_>,
) -> Score {
    if let Some(why) = &response.error {
        return Score::failed(RowError::new(RowErrorKind::Upstream, why.clone()));
    }
    let results = if reads.results { response.results.as_slice() } else { &[] };
    let of = |answer, citations| {
        let view = ResponseView::new(results, answer, citations);
        evaluator.evaluate(case, &if reads.results { view.sharing(passages) } else { view })
    };
    let score = if !reads.answer {
        of(None, &[])
    } else if response.samples.len() > 1 {
        let scores = response.samples.iter().map(|sample| of(Some(sample.text.as_str()), sample.citations.as_slice()));
        scores.collect::<Result<Vec<_>, _>>().map(ragstage_stages::score::mean_score)
    } else {
        of(response.answer.as_deref(), &response.citations)
    };
    score.unwrap_or_else(Score::failed)
}
