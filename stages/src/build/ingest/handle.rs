//! `handle`: where a unit's documents are in a system under test.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::artifact::Hit;
use crate::contract::Artifact;
use crate::error::DecodeError;
use crate::model::ModelUsage;
use crate::query::system::document_at;

/// A knowledge base within a system under test. It is a place and no bytes, so it is in no key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Where the results of a system name places and no documents: the document at each place below the handle.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, String>,
    /// What the system's models took to take the documents in, by its own account.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<ModelUsage>,
    /// Of how many hand-overs the system did not say what they took: `usage` is without theirs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub usage_unknown: u64,
    /// How long it took to hand all of them over, in seconds, where one run did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Why the documents could not be handed over, where they could not: then there is nothing that could be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Handle {
    /// Writes into each of `results` that is at one of our places which document it is of.
    pub fn name_documents(&self, results: &mut [Hit]) {
        if self.places.is_empty() {
            return;
        }
        for hit in results {
            if let Some(document) = document_at(&hit.id, &self.handle, &self.places) {
                Arc::make_mut(&mut hit.source).insert("document_id".to_string(), document.into());
            }
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Artifact for Handle {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(serde_json::to_vec(self)?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(&bytes)?)
    }
}
