//! A batch: some evaluations over one store, from evaluation files to published reports.

#[expect(clippy::module_inception, reason = "the file is named after the noun inside it")]
mod batch;
mod conclusion;
mod execution;
mod limits;
mod outcome;
mod recorder;
mod run_record;
mod settings;

pub use batch::Batch;
pub use outcome::{BatchOutcome, ClosedPool, EvaluationOutcome};
pub use recorder::EventRecorder;
pub use run_record::{RESPONSES_FILE, RecordedResponses};
pub use settings::Settings;
