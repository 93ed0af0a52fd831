//! Judges: chat models that score responses.

mod claims;
mod context_precision;
mod entailment;
mod graded;
mod judge_evaluator;
mod judge_kind;
mod openviking_reply;
mod options;
mod panel;
mod reply_schema;
mod rubric;

pub use judge_evaluator::judge;
pub use judge_kind::{JUDGES, JudgeInfo, JudgeKind, OpenVikingScale};
pub use openviking_reply::{OpenVikingReply, ParsedBy, parse_openviking_reply};
pub use options::{Gives, JudgeOptions};
pub use reply_schema::SchemaFault;
pub use rubric::{Rubric, RubricFault};
