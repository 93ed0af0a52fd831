//! An evaluator in Rust, and how it is run beside those of an evaluation file.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use ragstage::batch::{Batch, BatchOutcome, Settings};
use ragstage::evaluation::{EvaluatorConfig, OwnEvaluator, read};
use ragstage::exec::{Fanout, Interrupt};
use ragstage_cache::KeyVisitor;
use ragstage_stages::artifact::{Json, Score, ScoreValue};
use ragstage_stages::error::RowError;
use ragstage_stages::score::{CaseView, Description, Evaluator, Reads, ResponseView, evaluator};

/// How near the answer is to the length of the nearest gold answer, from 0 to 1.
struct Brevity;

impl Evaluator for Brevity {
    fn name(&self) -> String {
        "brevity".to_string()
    }

    fn describe(&self) -> Description {
        Description {
            pretty: "Brevity".into(),
            description: "how near the answer is to a gold answer's length".into(),
            citation: None,
            higher_is_better: true,
            model: None,
        }
    }

    fn reads(&self) -> Reads {
        Reads { answer: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("evaluator", "brevity");
        // Another rule is another version: scores that are cached under the old one are not taken for its.
        v.uint("code_version", 1);
        v.end();
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let Some(answer) = response.answer else { return Ok(Score::skipped("there is no answer")) };
        let length = answer.chars().count();
        let ratio = |gold: &String| {
            let gold = gold.chars().count();
            gold.min(length) as f64 / gold.max(length).max(1) as f64
        };
        match case.gold.answers.iter().map(ratio).max_by(f64::total_cmp) {
            Some(value) => Ok(Score::scored(ScoreValue::Number(value), None, Json::new())),
            None => Ok(Score::skipped("the case has no gold answer")),
        }
    }
}

/// Brings the evaluation at `file` up to date, with brevity as a further column; the store is at `store`.
pub fn run(file: &Path, store: &Path) -> Result<BatchOutcome, Box<dyn Error>> {
    let environment = |name: &str| std::env::var(name).ok();
    let known = |spec: &_| evaluator(spec).map(drop).map_err(|error| (error.message, error.nearest));
    let evaluation = read(file, &environment, &known).map_err(|errors| errors.to_string())?;
    let settings =
        Settings { evaluators: vec![EvaluatorConfig::Own(OwnEvaluator(Arc::new(Brevity)))], ..Settings::default() };
    let events = Arc::new(Fanout::default());
    let mut batch = Batch::open(vec![evaluation], settings, store, events, Interrupt::default())?;
    Ok(batch.run()?)
}
