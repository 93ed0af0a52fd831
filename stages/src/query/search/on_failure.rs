//! What becomes of a case for which a model gave no usable reply.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{RowError, RowErrorKind};

/// What becomes of a case for which a model gave no usable reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It fails.
    #[default]
    Fail,
    /// It gets what the base mode found, and its metadata say so. A reply that never came fails the case all the same: a
    /// fallback is kept like any result, and must not be what a passing fault of a server leaves behind.
    Base,
}

impl OnFailure {
    /// The issue to note in place of `error`.
    ///
    /// # Errors
    /// `error` itself, where it fails the case.
    pub(super) fn issue(self, code: &str, error: RowError) -> Result<Value, RowError> {
        match (self, error.kind) {
            (OnFailure::Base, RowErrorKind::BadReply) => Ok(json!({"code": code, "message": error.message})),
            _ => Err(error),
        }
    }
}
