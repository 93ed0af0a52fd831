//! What a batch is asked to do.

use std::path::PathBuf;

use ragstage_stages::step::{Stage, Step};

use crate::evaluation::EvaluatorConfig;

/// What a batch is asked to do.
pub struct Settings {
    /// Actions that compute at once; the machine's cores by default.
    pub jobs: Option<usize>,
    /// Whether actions that do not depend on a failed one still run; what the evaluation files say by default.
    pub keep_going: bool,
    /// The last stage that is wanted.
    pub until: Stage,
    /// Steps to run again whatever is cached.
    pub force: Vec<Step>,
    /// Evaluators beyond those of the evaluation files.
    pub evaluators: Vec<EvaluatorConfig>,
    /// Where reports go, for a batch of one; what the evaluation file says by default.
    pub output: Option<PathBuf>,
    /// Whether actions of a step may run at all.
    pub may_run: fn(Step) -> bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            jobs: None,
            keep_going: false,
            until: Stage::Aggregate,
            force: Vec::new(),
            evaluators: Vec::new(),
            output: None,
            may_run: |_| true,
        }
    }
}
