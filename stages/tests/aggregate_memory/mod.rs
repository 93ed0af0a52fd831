//! Artifacts in memory, and the context that lends them to an action.

mod evaluation;

use std::collections::BTreeMap;

use ragstage_cache::Digest;
use ragstage_stages::contract::{Action, Artifact, ComputeRow, Context, Decoded, Output, RowBatch, RowOutcome};
use ragstage_stages::error::{DecodeError, StageError, StageErrorKind};
use ragstage_stages::step::Step;

pub use evaluation::{Evaluation, fault};

/// Blobs by digest.
#[derive(Default)]
pub struct Memory {
    blobs: BTreeMap<Digest, Vec<u8>>,
}

impl Memory {
    /// Keeps `artifact` and gives its digest.
    pub fn put(&mut self, artifact: &impl Artifact) -> Digest {
        self.put_bytes(artifact.encode().expect("encode"))
    }

    /// Keeps `bytes` and gives their digest.
    pub fn put_bytes(&mut self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        self.blobs.insert(digest, bytes);
        digest
    }

    /// Runs `action` and gives its outputs.
    pub fn run(&self, action: &dyn Action) -> Vec<Output> {
        action.run(self).expect("run").outputs
    }
}

/// The bytes of the output `name`.
pub fn bytes<'a>(outputs: &'a [Output], name: &str) -> &'a [u8] {
    &outputs.iter().find(|output| output.name == name).expect("output").bytes
}

impl Context for Memory {
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError> {
        let missing = || StageErrorKind::Artifact { digest: *digest, why: "is not in memory".to_string() };
        self.blobs.get(digest).cloned().ok_or_else(|| StageError { step: Step::Aggregate, kind: missing() })
    }

    fn decoded(
        &self,
        digest: &Digest,
        decode: &dyn Fn(Vec<u8>) -> Result<Decoded, DecodeError>,
    ) -> Result<Decoded, StageError> {
        decode(self.blob(digest)?).map_err(|error| StageError {
            step: Step::Aggregate,
            kind: StageErrorKind::Artifact { digest: *digest, why: error.to_string() },
        })
    }

    fn source(&self, _: &Digest) -> Result<Option<Vec<u8>>, StageError> {
        Ok(None)
    }

    fn rows(&self, _: RowBatch<'_>, _: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError> {
        Err(StageError::encode(Step::Aggregate, "aggregation has no rows of its own"))
    }
}
