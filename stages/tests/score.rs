//! One evaluator over the responses of a unit: what it gives, what its key holds, and which cases are scored again.

mod memory;

use std::sync::Arc;

use memory::MemoryContext;
use ragstage_cache::key::key_of;
use ragstage_cache::{Digest, KeyVisitor};
use ragstage_stages::artifact::{
    Answer, Answers, Documents, Gold, Golds, Hit, Json, Queries, Query, Results, Retrieved, Score, ScoreState,
    ScoreValue, Scores, Unit, UnitRows,
};
use ragstage_stages::contract::{Action, Produced};
use ragstage_stages::error::{RowError, RowErrorKind};
use ragstage_stages::score::{
    CaseView, Description, Evaluator, EvaluatorSpec, Reads, ResponseView, ScoreResponses, evaluator,
};
use serde_json::json;

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
        let retrieved =
            |case: &str, results: Vec<Hit>| Retrieved { case_id: case.to_string(), results, ..Retrieved::default() };
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

    fn action(&self, memory: &MemoryContext, text: &str) -> ScoreResponses {
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
            unit: Unit::over(rows, &Documents::default(), &queries, &self.golds, &Default::default()).expect("a unit"),
            salt: 0,
        }
    }

    fn run(&self, memory: &MemoryContext, text: &str) -> (Produced, Vec<Score>) {
        let ran = memory.run(&self.action(memory, text));
        let scores: Scores = ran.read("scores");
        (ran.0, scores.rows)
    }

    fn key(&self, text: &str) -> Digest {
        key_of(&self.action(&MemoryContext::default(), text))
    }
}

fn values(scores: &[Score]) -> Vec<(&str, Option<f64>)> {
    scores.iter().map(|score| (score.case_id.as_str(), score.value.as_ref().and_then(ScoreValue::number))).collect()
}

#[test]
fn scores_are_in_the_units_case_order() {
    let memory = MemoryContext::default();
    let bench = Bench::new();
    let (produced, scores) = bench.run(&memory, "RR");
    assert_eq!((produced.failed, produced.outputs[0].rows), (0, 3));
    assert_eq!(values(&scores), [("q3", Some(1.0)), ("q2", Some(0.5)), ("q1", Some(0.0))]);
    assert_eq!(memory.computed(), ["q1", "q2", "q3"]);
    let (_, scores) = bench.run(&memory, "answer_contains");
    assert_eq!(values(&scores), [("q3", Some(1.0)), ("q2", Some(0.0)), ("q1", Some(1.0))]);
}

#[test]
fn only_what_changed_is_scored_again() {
    let memory = MemoryContext::default();
    let mut bench = Bench::new();
    bench.run(&memory, "RR");
    memory.computed();
    bench.run(&memory, "RR");
    assert!(memory.computed().is_empty());
    // A corrected judgement scores its case.
    bench.golds.rows[2].metadata = serde_json::from_value(json!({"judgements": {"x": 1}})).expect("metadata");
    let (_, scores) = bench.run(&memory, "RR");
    assert_eq!(memory.computed(), ["q2"]);
    assert_eq!(values(&scores)[1], ("q2", Some(1.0)));
    // Labels and other answers are not read.
    bench.golds.rows[1].labels.insert("topic".to_string(), "sea".into());
    bench.answers = None;
    bench.run(&memory, "RR");
    assert!(memory.computed().is_empty());
    // Another response of the mode scores its case.
    bench.results.rows[0].results.truncate(1);
    bench.run(&memory, "RR");
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
    let mut forced = bench.action(&MemoryContext::default(), "RR");
    forced.salt = 1;
    assert_ne!(key_of(&forced), bench.key("RR"));
}

#[test]
fn failures_are_counted_and_never_cached_or_zero() {
    let memory = MemoryContext::default();
    let mut bench = Bench::new();
    bench.results.rows[1].error = Some(RowError::new(RowErrorKind::Timeout, "no reply in 30 s"));
    bench.golds.rows[1].metadata = serde_json::from_value(json!({"judgements": {"a": "high"}})).expect("metadata");
    bench.golds.rows[3].metadata = Default::default();
    for _ in 0..2 {
        let (produced, scores) = bench.run(&memory, "RR");
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
    let (produced, scores) = bench.run(&MemoryContext::default(), "answer_contains");
    assert_eq!(produced.failed, 0);
    assert!(scores.iter().all(|score| score.state == ScoreState::Skipped));
}

#[test]
fn responses_to_other_cases_are_refused() {
    let mut bench = Bench::new();
    bench.results.rows.swap(0, 1);
    let memory = MemoryContext::default();
    let error = bench.action(&memory, "RR").run(&memory).expect_err("another order");
    assert!(error.to_string().ends_with("expected case \"q3\", found \"q2\""), "{error}");
    bench.results.rows.pop();
    let error = bench.action(&memory, "RR").run(&memory).expect_err("too few");
    assert!(error.to_string().ends_with("expected 3 cases, found 2"), "{error}");
}

/// An evaluator whose scores are no numbers.
struct Odd;

impl Evaluator for Odd {
    fn name(&self) -> String {
        "odd".to_string()
    }

    fn describe(&self) -> Description {
        Description {
            pretty: "odd".into(),
            description: "odd".into(),
            citation: None,
            higher_is_better: true,
            model: None,
        }
    }

    fn reads(&self) -> Reads {
        Reads::default()
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.text("name", "odd");
    }

    fn evaluate(&self, case: &CaseView, _: &ResponseView) -> Result<Score, RowError> {
        let value = if case.case_id == "q1" { f64::NAN } else { 0.5 };
        Ok(Score::scored(ScoreValue::Number(value), None, Json::new()))
    }
}

#[test]
fn what_is_no_number_is_a_failure_and_never_cached() {
    let memory = MemoryContext::default();
    let action = ScoreResponses { evaluator: Arc::new(Odd), ..Bench::new().action(&memory, "RR") };
    for _ in 0..2 {
        let ran = memory.run(&action);
        assert_eq!(ran.0.failed, 1);
        let scores: Scores = ran.read("scores");
        assert_eq!(values(&scores.rows), [("q3", Some(0.5)), ("q2", Some(0.5)), ("q1", None)]);
        let error = scores.rows[2].error.as_ref().expect("the row failed");
        assert_eq!(error.message, "the score is NaN, which is no number");
    }
}

/// The cases `order`, answered in turn right and wrong, as one unit over all.
fn many(memory: &MemoryContext, order: impl Iterator<Item = usize>) -> ScoreResponses {
    let order: Vec<usize> = order.collect();
    let case = |i: &usize| format!("q{i}");
    let gold = |i: &usize| Gold { case_id: case(i), answers: vec![format!("answer {i}")], ..Gold::default() };
    let answer = |i: &usize| Answer {
        case_id: case(i),
        text: Some(if i.is_multiple_of(2) { format!("the answer {i}") } else { "none".to_string() }),
        error: (i % 1000 == 7).then(|| RowError::new(RowErrorKind::Timeout, "no reply")),
        ..Answer::default()
    };
    let query = |i: &usize| Query { case_id: case(i), text: "who?".to_string(), category: None };
    let golds = Golds { rows: order.iter().map(gold).collect() };
    let queries = Queries { rows: order.iter().map(query).collect() };
    ScoreResponses {
        evaluator: Arc::from(evaluator(&EvaluatorSpec::parse("token_f1").expect("a spec")).expect("an evaluator")),
        results: Digest::of(b"not read"),
        answers: Some(memory.put(&Answers { rows: order.iter().map(answer).collect() })),
        queries: memory.put(&queries),
        gold: memory.put(&golds),
        unit: Unit::over(UnitRows::default(), &Documents::default(), &queries, &golds, &Default::default())
            .expect("a unit"),
        salt: 0,
    }
}

#[test]
fn rows_are_taken_from_the_last_run_wherever_they_stood() {
    const CASES: usize = 9000;
    let memory = MemoryContext::default();
    memory.run(&many(&memory, 0..CASES));
    assert_eq!(memory.computed().len(), CASES - 9, "cases without a response are not scored");
    // A case more at the front moves all others, some of them into the next row group.
    let moved = || [CASES].into_iter().chain(0..CASES);
    let ran = memory.run(&many(&memory, moved()));
    assert_eq!(memory.computed(), [format!("q{CASES}")]);
    let fresh = MemoryContext::default();
    let cold = fresh.run(&many(&fresh, moved()));
    for output in ["scores", "score_keys"] {
        assert!(ran.output(output).bytes == cold.output(output).bytes, "{output}");
    }
    // A forced run takes nothing, nor does another evaluator.
    let forced = ScoreResponses { salt: 1, ..many(&memory, moved()) };
    memory.run(&forced);
    assert_eq!(memory.computed().len(), CASES + 1 - 9);
    let spec = EvaluatorSpec::parse("answer_contains").expect("a spec");
    let other = Arc::from(evaluator(&spec).expect("an evaluator"));
    memory.run(&ScoreResponses { evaluator: other, ..many(&memory, moved()) });
    assert_eq!(memory.computed().len(), CASES + 1 - 9);
}

#[test]
fn passages_are_nothing_to_a_measure_of_documents() {
    let memory = MemoryContext::default();
    let mut bench = Bench::new();
    for text in ["RR", "evidence_recall"] {
        bench.run(&memory, text);
        memory.computed();
        for row in &mut bench.results.rows {
            row.results.iter_mut().for_each(|hit| hit.text = format!("{} more", hit.text).into());
        }
        bench.run(&memory, text);
        assert_eq!(memory.computed().is_empty(), text == "RR", "{text}");
    }
}

/// An evaluator that breaks down.
struct Broken;

impl Evaluator for Broken {
    fn name(&self) -> String {
        "broken".to_string()
    }

    fn describe(&self) -> Description {
        Odd.describe()
    }

    fn reads(&self) -> Reads {
        Reads { results: true, without_texts: true, question: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.text("name", "broken");
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        assert_eq!((case.query, response.answer), ("who?", None));
        assert!(response.results.iter().all(|hit| hit.text.is_empty() && !hit.source.is_empty()));
        assert_ne!(case.case_id, "q2", "it breaks down on this");
        Ok(Score::scored(ScoreValue::Bool(true), None, Json::new()))
    }
}

#[test]
fn an_evaluator_that_breaks_down_fails_that_case() {
    let memory = MemoryContext::default();
    let ran = memory.run(&ScoreResponses { evaluator: Arc::new(Broken), ..Bench::new().action(&memory, "RR") });
    let scores: Scores = ran.read("scores");
    assert_eq!(values(&scores.rows), [("q3", Some(1.0)), ("q2", None), ("q1", Some(1.0))]);
    let error = scores.rows[1].error.as_ref().expect("the row failed");
    assert_eq!(error.message, "q2: the code that reads it broke down on it");
}
