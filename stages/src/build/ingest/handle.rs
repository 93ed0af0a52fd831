//! `handle`: where a unit's documents are in a system under test.

use serde::{Deserialize, Serialize};

use crate::contract::Artifact;
use crate::error::DecodeError;

/// A knowledge base within a system under test. It is a place and no bytes, so it is in no key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handle {
    /// What the system calls it.
    pub handle: String,
    /// How many documents were put there.
    pub documents: u64,
    /// What the system counted right after that, where it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// A query that a system with these documents finds something for: the beginning of the first of them.
    pub canary: String,
    /// Why the documents could not be handed over, where they could not: then there is nothing that could be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Artifact for Handle {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(serde_json::to_vec(self)?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(&bytes)?)
    }
}
