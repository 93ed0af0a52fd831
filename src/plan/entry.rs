//! One action of a plan.

use ragstage_cache::Digest;
use ragstage_cache::action::OutputRecord;
use ragstage_stages::step::Step;
use serde::Serialize;

use super::calls::CallsToCome;
use super::rows::RowsToCome;
use crate::stale::StaleReason;

/// How an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Its outputs are there.
    Fresh,
    /// It has to run.
    Stale,
    /// Something it depends on has to run first.
    Cascade,
}

impl Standing {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Fresh => "fresh",
            Standing::Stale => "stale",
            Standing::Cascade => "cascade",
        }
    }
}

/// One action of the plan.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// Step.
    pub step: Step,
    /// Label.
    pub label: String,
    /// How it stands.
    pub standing: Standing,
    /// Its key, where its inputs are known.
    pub key: Option<Digest>,
    /// Why it has to run.
    pub reasons: Vec<StaleReason>,
    /// Its rows, where it has any and they are known (a cascade's are the most there can be).
    pub rows: Option<RowsToCome>,
    /// Its calls of somebody else, by pool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallsToCome>,
    #[serde(skip)]
    pub(super) outputs: Vec<OutputRecord>,
    /// Why what it made outside of the store is known to be gone, where it is.
    #[serde(skip)]
    pub(super) withdrawn: Option<String>,
    /// Whether a run looks at what it made outside of the store before that is used again.
    #[serde(skip)]
    pub(super) looked_at: bool,
}
