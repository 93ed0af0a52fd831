//! Rows of a planned action: how many there are to come, and where one of them is.

use ragstage_cache::Digest;
use serde::Serialize;

/// Rows of an action: all of them, and those that are not in the row cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RowsToCome {
    /// In all.
    pub total: u64,
    /// To be computed.
    pub missing: u64,
    /// Whether each missing row is a call of a system under test.
    pub calls: bool,
}

/// One row of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowFact {
    /// The item.
    pub item: String,
    /// Where it is or would be; nothing where the action's inputs are not made yet.
    pub place: Option<RowPlace>,
}

/// A place in a row cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowPlace {
    /// The row cache.
    pub slot: Digest,
    /// The row's key there.
    pub key: Digest,
    /// Whether the row is there.
    pub cached: bool,
}
