//! A judge with all its options.

use std::sync::Arc;

use super::judge_kind::JudgeKind;
use crate::model::{ChatModel, Prompt};

/// What the value of a judge with several samples is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gives {
    /// The mean of its scores, or the label that most have.
    #[default]
    Score,
    /// How often two of its scores for one response are equal, in [0, 1]: the judge's agreement with itself.
    Consistency,
}

/// A judge with all its options.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// The column's name in reports; in no key.
    pub name: String,
    /// What it decides.
    pub kind: JudgeKind,
    /// Who decides.
    pub model: Arc<ChatModel>,
    /// What the model is asked.
    pub prompt: Prompt,
    /// Most tokens of a reply.
    pub max_tokens: u32,
    /// Sampling temperature.
    pub temperature: f64,
    /// How often each response is judged, at least once.
    pub samples: u32,
    /// How often a reply that does not fit is asked for again; in no key.
    pub further_times: u32,
    /// How many of the passages are shown, best first; all where `None`.
    pub contexts: Option<u32>,
    /// What its value is.
    pub gives: Gives,
    /// Whether replies are read as OpenViking reads them, prose and all; for its own judge, to compare with its files.
    pub openviking_reading: bool,
}
