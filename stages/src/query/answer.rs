//! The action that answers a unit's questions from what one query mode found.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::case_rows::{CaseKey, measured, observation_of, queries_of, rows_of, value_of};
use super::chat_answer::{self, ChatAnswerOptions};
use super::extractive::Extractive;
use super::options::{AnswerOptions, ExtractiveOptions};
use crate::artifact::{Answer, Answers, Hit, Observation, Observations, Queries, Query, Results, Retrieved, Unit};
use crate::build::full_text::ANALYZER_VERSION;
use crate::contract::{Action, Artifact, Context, Free, Output, Pool, Produced, RowOutcome, begin_key, decoded};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// A unit's results to [`Answers`] (output `answers`) and [`Observations`] (output `observations`), in case order.
///
/// A row of the extractive answerer depends on its question and on the ids and texts of the hits that are read, in their order: a knowledge base that
/// changed elsewhere answers nothing again. Where cited hits are from is filled in afterwards, from the results as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerQuestions {
    /// How answers are made.
    pub options: AnswerOptions,
    /// What was found.
    pub results: Digest,
    /// The benchmark's queries. Only where to read: the key holds the digest of the unit's own.
    pub queries: Digest,
    /// Whose cases are answered.
    pub unit: Unit,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl AnswerQuestions {
    fn open(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Answer, self.salt);
        self.options.walk(v);
        if let AnswerOptions::Extractive(_) = self.options {
            v.uint("analyzer_version", ANALYZER_VERSION);
        }
    }

    /// The unit's queries, each with its row of the results.
    fn cases<'a>(
        &self,
        queries: &'a Queries,
        results: &'a Results,
    ) -> Result<Vec<(&'a Query, &'a Retrieved)>, StageError> {
        let queries = queries_of(&self.unit, queries, &self.queries, Step::Answer)?;
        let wrong = |why: String| StageError {
            step: Step::Answer,
            kind: StageErrorKind::Artifact { digest: self.results, why },
        };
        if queries.len() != results.rows.len() {
            return Err(wrong(format!("has {} rows, expected {}", results.rows.len(), queries.len())));
        }
        let pairs = queries.into_iter().zip(&results.rows);
        pairs
            .map(|(query, retrieved)| match query.case_id == retrieved.case_id {
                true => Ok((query, retrieved)),
                false => Err(wrong(format!("has case {}, expected {}", retrieved.case_id, query.case_id))),
            })
            .collect()
    }

    fn extract(
        &self,
        options: &ExtractiveOptions,
        cases: &[(&Query, &Retrieved)],
        context: &dyn Context,
    ) -> Result<Vec<(Answer, Observation)>, StageError> {
        let extractive = Extractive::new(options).map_err(|why| StageError::encode(Step::Answer, why))?;
        let found: Vec<&(&Query, &Retrieved)> = cases.iter().filter(|(_, found)| found.error.is_none()).collect();
        let keys: Vec<CaseKey<'_>> = found
            .iter()
            .map(|(query, found)| CaseKey { key: row_key(&query.text, read(found, options)), case_id: &query.case_id })
            .collect();
        let outcomes = rows_of(context, &Slot(self), (Pool::Cpu, &Free), &keys, &|case, call| {
            measured(call, || {
                let Some((query, found)) = found.get(case) else { return Ok(Answer::default()) };
                let answer = extractive.answer(&query.text, &found.results);
                answer.map_err(|error| RowError::new(RowErrorKind::Process, error.to_string()))
            })
        })?;
        let mut computed = outcomes.iter().zip(&keys);
        let mut answers = Vec::with_capacity(cases.len());
        for (_, found) in cases {
            answers.push(match &found.error {
                Some(error) => failed_upstream(error),
                None => {
                    let Some((outcome, CaseKey { key, case_id })) = computed.next() else { break };
                    let answer = match outcome {
                        RowOutcome::Done(row) => cite(value_of(row, key, Step::Answer)?, read(found, options)),
                        RowOutcome::Failed(error) => Answer { error: Some(error.clone()), ..Answer::default() },
                    };
                    (answer, observation_of(outcome, case_id))
                }
            });
        }
        Ok(answers)
    }

    /// The model is asked for the cases that have results.
    fn ask(
        &self,
        options: &ChatAnswerOptions,
        cases: &[(&Query, &Retrieved)],
        context: &dyn Context,
    ) -> Result<Vec<(Answer, Observation)>, StageError> {
        let found: Vec<(&Query, &Retrieved)> =
            cases.iter().filter(|(_, found)| found.error.is_none()).copied().collect();
        let mut asked = chat_answer::answers(context, options, self.salt, &found)?.into_iter();
        let lost = || StageError::encode(Step::Answer, "fewer answers came back than were asked for");
        cases
            .iter()
            .map(|(_, found)| match &found.error {
                Some(error) => Ok(failed_upstream(error)),
                None => asked.next().ok_or_else(lost),
            })
            .collect()
    }
}

impl Walk for AnswerQuestions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.open(v);
        v.digest("results", &self.results);
        v.digest("queries", &self.unit.queries_digest);
        v.end();
    }
}

/// The key without questions and results: all answers that were ever made this way.
struct Slot<'a>(&'a AnswerQuestions);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.0.open(v);
        v.end();
    }
}

impl Action for AnswerQuestions {
    fn step(&self) -> Step {
        Step::Answer
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let queries = decoded::<Queries>(context, Step::Answer, &self.queries)?;
        let results = decoded::<Results>(context, Step::Answer, &self.results)?;
        let cases = self.cases(&queries, &results)?;
        let made = match &self.options {
            AnswerOptions::Extractive(options) => self.extract(options, &cases, context)?,
            AnswerOptions::Chat(options) => self.ask(options, &cases, context)?,
            AnswerOptions::System => cases.iter().map(|(_, found)| given(found)).collect(),
        };
        let mut answers = Answers::default();
        let mut observations = Observations::default();
        for ((query, _), (answer, observation)) in cases.iter().zip(made) {
            answers.rows.push(Answer { case_id: query.case_id.clone(), ..answer });
            observations.rows.push(Observation { case_id: query.case_id.clone(), ..observation });
        }
        let failed =
            answers.rows.iter().filter(|row| row.error.as_ref().is_some_and(RowError::is_failure)).count() as u64;
        let bytes = |encoded: Result<Vec<u8>, _>| encoded.map_err(|error| StageError::encode(Step::Answer, error));
        let outputs = vec![
            Output::value("answers", bytes(answers.encode())?, answers.rows.len()),
            Output::observation("observations", bytes(observations.encode())?, observations.rows.len()),
        ];
        Ok(Produced { outputs, failed, ..Produced::default() })
    }
}

/// The hits that an answer is made of.
fn read<'a>(found: &'a Retrieved, options: &ExtractiveOptions) -> &'a [Hit] {
    let count = found.results.len().min(options.results as usize);
    found.results.get(..count).unwrap_or_default()
}

fn row_key(question: &str, hits: &[Hit]) -> Digest {
    let context = hits.iter().flat_map(|hit| [hit.id.as_bytes(), hit.text.as_bytes()]);
    Digest::of_parts("ragstage.answer.row", std::iter::once(question.as_bytes()).chain(context))
}

/// Fills in where the cited hits are from. Of hits with one id the first counts, in a cold run as in a warm one.
fn cite(mut answer: Answer, hits: &[Hit]) -> Answer {
    for citation in &mut answer.citations {
        if let Some(hit) = hits.iter().find(|hit| Some(&hit.id) == citation.result_id.as_ref()) {
            citation.source = (*hit.source).clone();
        }
    }
    answer
}

/// The answer that the system gave along with its results: nothing is computed, so nothing is observed.
fn given(found: &Retrieved) -> (Answer, Observation) {
    match &found.error {
        Some(error) => failed_upstream(error),
        None => (found.answer.clone().unwrap_or_default(), Observation::default()),
    }
}

fn failed_upstream(error: &RowError) -> (Answer, Observation) {
    if !error.is_failure() {
        return (Answer { error: Some(error.clone()), ..Answer::default() }, Observation::default());
    }
    let tries = if error.attempts == 1 { "1 attempt".to_string() } else { format!("{} attempts", error.attempts) };
    let message = format!("retrieval failed after {tries}: {error}");
    let error = RowError { attempts: 0, ..RowError::new(RowErrorKind::Upstream, message) };
    (Answer { error: Some(error), ..Answer::default() }, Observation::default())
}
