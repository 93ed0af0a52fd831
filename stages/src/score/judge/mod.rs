//! Judges: evaluators that ask a chat model. Each reply is a row of its own, kept whole, and nothing is read out of a reply
//! that is not exactly what was asked for.

mod claims;
mod contexts;
mod grades;
mod human_labels;
mod judge_evaluator;
mod judge_kind;
mod kappa;
mod openviking_reply;
mod passages;
mod prompts;
mod questions;
mod repeats;
mod reply_rule;
mod rubric;

pub use contexts::ContextLimits;
pub use human_labels::{HumanLabel, HumanLabels};
pub use judge_evaluator::{Judge, JudgeOptions};
pub use judge_kind::{JudgeKind, OpenVikingParse, OpenVikingScale};
pub use kappa::{Agreement, KappaScale, agreement};
pub use openviking_reply::{OpenVikingReply, ParsedBy, ReasoningKind, parse_openviking_reply};
pub use rubric::{Rubric, RubricScale};
