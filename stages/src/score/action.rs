//! The action: one evaluator over the responses of one unit in one query mode.

use std::sync::Arc;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::case::{Case, CaseDigests};
use super::evaluator::{Evaluator, Reads};
use super::row_digests::{AnswerDigests, GoldDigests, HitDigests};
use crate::artifact::{Answers, Gold, Golds, Queries, Results, Score, Scores, Unit};
use crate::contract::{
    Action, Artifact, Context, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome, begin_key, decoded,
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
        Ok(Produced { outputs: vec![Output::value("scores", bytes, scores.rows.len())], failed, rejected: 0 })
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
        let batch = RowBatch { slot: &slot, pool: Pool::Cpu, items: &items };
        let outcomes = context.rows(batch, &|i, _| {
            let case = scorable
                .get(i)
                .ok_or_else(|| RowError::new(RowErrorKind::Evaluator, format!("there is no row {i} to score")))?;
            let score = case.evaluate(&*self.evaluator)?;
            let value = serde_json::to_vec(&score)
                .map_err(|error| RowError::new(RowErrorKind::Evaluator, error.to_string()))?;
            Ok(Row { value, observation: Vec::new() })
        })?;
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

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::artifact::{Answer, Documents, Hit, Query, Retrieved, ScoreState, ScoreValue, UnitRows};
    use crate::contract::{Call, ComputeRow, Decoded, MakeValue};
    use crate::score::{EvaluatorSpec, evaluator};

    /// Blobs and rows in memory; counts the rows that were computed.
    #[derive(Default)]
    struct Memory {
        blobs: BTreeMap<Digest, Vec<u8>>,
        rows: Mutex<BTreeMap<(Digest, Digest), Arc<Row>>>,
        computed: Mutex<Vec<String>>,
    }

    impl Memory {
        fn put(&mut self, artifact: &impl Artifact) -> Digest {
            let bytes = artifact.encode().expect("an artifact");
            let digest = Digest::of(&bytes);
            self.blobs.insert(digest, bytes);
            digest
        }

        fn computed(&self) -> Vec<String> {
            std::mem::take(&mut *self.computed.lock().expect("no panic"))
        }
    }

    impl Context for Memory {
        fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError> {
            self.blobs.get(digest).cloned().ok_or_else(|| artifact(digest, "is not there".to_string()))
        }

        fn value(&self, _: &Digest, _: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError> {
            make().map(|(value, _)| value)
        }

        fn source(&self, _: &Digest) -> Result<Option<Vec<u8>>, StageError> {
            Ok(None)
        }

        fn rows(&self, batch: RowBatch<'_>, compute: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
            assert_eq!(batch.pool, Pool::Cpu);
            let slot = ragstage_cache::key::key_of(batch.slot);
            let mut rows = self.rows.lock().expect("no panic");
            let call = Call { timeout: Duration::from_secs(1), attempt: 1 };
            let mut outcomes = Vec::new();
            for (i, item) in batch.items.iter().enumerate() {
                let known = rows.get(&(slot, item.key)).cloned();
                outcomes.push(match known.map_or_else(|| compute(i, &call).map(Arc::new), Ok) {
                    Err(error) => RowOutcome::Failed(error),
                    Ok(row) => {
                        if rows.insert((slot, item.key), row.clone()).is_none() {
                            self.computed.lock().expect("no panic").push(item.label.to_string());
                        }
                        RowOutcome::Done(row)
                    }
                });
            }
            Ok(outcomes)
        }
    }

    /// Four cases; the unit has all but the first, last one first.
    struct Bench {
        golds: Golds,
        results: Results,
        answers: Option<Answers>,
    }

    impl Bench {
        fn new() -> Self {
            let gold = |case: &str, document: &str| Gold {
                case_id: case.to_string(),
                answers: vec![document.to_string()],
                metadata: serde_json::from_value(json!({"judgements": {document: 1}})).expect("metadata"),
                ..Gold::default()
            };
            let hits = |documents: &[&str]| -> Vec<Hit> {
                let hit = |d: &&str| json!({"id": "c", "text": "t", "source": {"document_id": d}});
                serde_json::from_value(documents.iter().map(hit).collect()).expect("hits")
            };
            let retrieved = |case: &str, results: Vec<Hit>| Retrieved {
                case_id: case.to_string(),
                results,
                ..Retrieved::default()
            };
            let answer = |case: &str, text: &str| Answer {
                case_id: case.to_string(),
                text: Some(text.to_string()),
                ..Answer::default()
            };
            Bench {
                golds: Golds { rows: vec![gold("q0", "z"), gold("q1", "a"), gold("q2", "b"), gold("q3", "c")] },
                results: Results {
                    rows: vec![
                        retrieved("q3", hits(&["c", "x"])),
                        retrieved("q2", hits(&["x", "b"])),
                        retrieved("q1", hits(&["x"])),
                    ],
                },
                answers: Some(Answers { rows: vec![answer("q3", "c!"), answer("q2", "no"), answer("q1", "A")] }),
            }
        }

        fn action(&self, memory: &mut Memory, text: &str) -> ScoreResponses {
            let query = |gold: &Gold| Query { case_id: gold.case_id.clone(), text: "who?".to_string(), category: None };
            let queries = Queries { rows: self.golds.rows.iter().map(query).collect() };
            let rows = UnitRows { unit_id: "u".to_string(), case_rows: Some(vec![3, 2, 1]), ..UnitRows::default() };
            let spec = EvaluatorSpec::parse(text).expect("a spec");
            ScoreResponses {
                evaluator: Arc::from(evaluator(&spec).expect("an evaluator")),
                results: memory.put(&self.results),
                answers: self.answers.as_ref().map(|answers| memory.put(answers)),
                queries: memory.put(&queries),
                gold: memory.put(&self.golds),
                unit: Unit::over(rows, &Documents::default(), &queries, &self.golds).expect("a unit"),
                salt: 0,
            }
        }

        fn run(&self, memory: &mut Memory, text: &str) -> (Produced, Vec<Score>) {
            let action = self.action(memory, text);
            let produced = action.run(memory).unwrap_or_else(|error| panic!("{error}"));
            let scores = Scores::decode(produced.outputs[0].bytes.clone()).expect("scores");
            (produced, scores.rows)
        }

        fn key(&self, text: &str) -> Digest {
            ragstage_cache::key::key_of(&self.action(&mut Memory::default(), text))
        }
    }

    fn values(scores: &[Score]) -> Vec<(&str, Option<f64>)> {
        scores.iter().map(|score| (score.case_id.as_str(), score.value.as_ref().and_then(ScoreValue::number))).collect()
    }

    #[test]
    fn scores_are_in_the_units_case_order() {
        let mut memory = Memory::default();
        let bench = Bench::new();
        let (produced, scores) = bench.run(&mut memory, "RR");
        assert_eq!((produced.failed, produced.outputs[0].rows), (0, 3));
        assert_eq!(values(&scores), [("q3", Some(1.0)), ("q2", Some(0.5)), ("q1", Some(0.0))]);
        assert_eq!(memory.computed(), ["q3", "q2", "q1"]);
        let (_, scores) = bench.run(&mut memory, "answer_contains");
        assert_eq!(values(&scores), [("q3", Some(1.0)), ("q2", Some(0.0)), ("q1", Some(1.0))]);
    }

    #[test]
    fn only_what_changed_is_scored_again() {
        let mut memory = Memory::default();
        let mut bench = Bench::new();
        bench.run(&mut memory, "RR");
        memory.computed();
        bench.run(&mut memory, "RR");
        assert!(memory.computed().is_empty());
        // A corrected judgement scores its case.
        bench.golds.rows[2].metadata = serde_json::from_value(json!({"judgements": {"x": 1}})).expect("metadata");
        let (_, scores) = bench.run(&mut memory, "RR");
        assert_eq!(memory.computed(), ["q2"]);
        assert_eq!(values(&scores)[1], ("q2", Some(1.0)));
        // Labels and other answers are not read.
        bench.golds.rows[1].labels.insert("topic".to_string(), "sea".into());
        bench.answers = None;
        bench.run(&mut memory, "RR");
        assert!(memory.computed().is_empty());
        // Another response of the mode scores its case.
        bench.results.rows[0].results.truncate(1);
        bench.run(&mut memory, "RR");
        assert_eq!(memory.computed(), ["q3"]);
    }

    #[test]
    fn the_key_holds_what_the_evaluator_reads_and_nothing_else() {
        let bench = Bench::new();
        let mut other_results = Bench::new();
        other_results.results.rows[0].results.clear();
        let mut other_answers = Bench::new();
        other_answers.answers = None;
        let mut other_gold = Bench::new();
        other_gold.golds.rows[3].answers.clear();
        let mut gold_of_another_unit = Bench::new();
        gold_of_another_unit.golds.rows[0].answers.clear();
        for (text, results, answers) in [("RR", true, false), ("token_f1", false, true)] {
            let key = bench.key(text);
            assert_eq!(key, Bench::new().key(text));
            assert_eq!(key != other_results.key(text), results, "{text}");
            assert_eq!(key != other_answers.key(text), answers, "{text}");
            assert_ne!(key, other_gold.key(text));
            assert_eq!(key, gold_of_another_unit.key(text));
        }
        assert_ne!(bench.key("RR"), bench.key("RR@10"));
        let mut forced = bench.action(&mut Memory::default(), "RR");
        forced.salt = 1;
        assert_ne!(ragstage_cache::key::key_of(&forced), bench.key("RR"));
    }

    #[test]
    fn failures_are_counted_and_never_cached_or_zero() {
        let mut memory = Memory::default();
        let mut bench = Bench::new();
        bench.results.rows[1].error = Some(RowError::new(RowErrorKind::Timeout, "no reply in 30 s"));
        bench.golds.rows[1].metadata = serde_json::from_value(json!({"judgements": {"a": "high"}})).expect("metadata");
        bench.golds.rows[3].metadata = Default::default();
        for _ in 0..2 {
            let (produced, scores) = bench.run(&mut memory, "RR");
            assert_eq!(produced.failed, 2);
            let states: Vec<ScoreState> = scores.iter().map(|score| score.state).collect();
            assert_eq!(states, [ScoreState::Skipped, ScoreState::Failed, ScoreState::Failed]);
            let kinds: Vec<_> = scores.iter().filter_map(|score| score.error.as_ref()).collect();
            assert_eq!(kinds[0], &RowError::new(RowErrorKind::Upstream, "timeout: no reply in 30 s"));
            assert_eq!(kinds[1].kind, RowErrorKind::Evaluator);
            assert!(scores.iter().all(|score| score.value.is_none()));
        }
    }

    #[test]
    fn without_answers_there_is_nothing_to_score() {
        let mut bench = Bench::new();
        bench.answers = None;
        let (produced, scores) = bench.run(&mut Memory::default(), "answer_contains");
        assert_eq!(produced.failed, 0);
        assert!(scores.iter().all(|score| score.state == ScoreState::Skipped));
    }

    #[test]
    fn responses_to_other_cases_are_refused() {
        let mut bench = Bench::new();
        bench.results.rows.swap(0, 1);
        let mut memory = Memory::default();
        let error = bench.action(&mut memory, "RR").run(&memory).expect_err("another order");
        assert!(error.to_string().ends_with("expected case \"q3\", found \"q2\""), "{error}");
        bench.results.rows.pop();
        let error = bench.action(&mut memory, "RR").run(&memory).expect_err("too few");
        assert!(error.to_string().ends_with("expected 3 cases, found 2"), "{error}");
    }
}
