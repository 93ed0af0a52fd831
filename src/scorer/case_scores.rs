//! Scores of responses, case by case.

use std::collections::HashMap;
use std::path::Path;

use ragstage_stages::aggregate::{Counts, NoHeadline, mean};
use ragstage_stages::artifact::{Detail, Golds, Queries, Score, ScoreValue};
use ragstage_stages::error::{InputError, RowError, RowErrorKind};
use ragstage_stages::responses::{Parts, Response, ResponseLine, Twins, parse_response, response_lines};
use ragstage_stages::score::{CaseView, Evaluator, Passages, Reads, ResponseView};
use rayon::prelude::*;

use super::blocks::{Blocks, last_line};
use super::faults::unreadable;
use super::read_file;

/// Bytes that are read at once.
const BLOCK: usize = 4 << 20;

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
    /// How many cases are behind the mean.
    pub counts: Counts,
    /// The mean over scored cases, where it may be told.
    pub mean: Option<f64>,
    /// Why it may not.
    pub no_mean: Option<NoHeadline>,
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
                    score.detail = Detail::new();
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
        let mut blocks = Blocks::new(read_file::open(path).map_err(failed)?, BLOCK, last_line);
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

    /// What evaluator `evaluator` gave; no mean is told where a smaller share of the cases is scored than `floor`.
    pub fn summary(&self, evaluator: usize, floor: f64) -> EvaluatorSummary {
        let scores = || self.cases.iter().filter_map(|scores| scores.get(evaluator));
        let values = || scores().filter_map(|score| score.value.as_ref());
        let counts = Counts::of(scores().map(|score| score.state));
        let numeric = !values().any(|value| matches!(value, ScoreValue::Label(_)));
        let no_mean = NoHeadline::of(&counts, numeric, floor);
        let numbers: Vec<f64> = values().filter_map(ScoreValue::number).collect();
        EvaluatorSummary { counts, mean: mean(&numbers).filter(|_| no_mean.is_none()), no_mean }
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
