//! The outputs of a plan's nodes: those that are there, and stand-ins for those that are not made yet.

use ragstage_cache::Digest;
use ragstage_cache::action::OutputRecord;

use super::entry::Entry;
use crate::exec::NodeOutputs;
use crate::graph::NodeId;

/// Stands for the digest of an artifact that is not made yet.
pub const UNKNOWN: Digest = Digest([0; 32]);

/// The outputs that are there.
pub(super) struct Outputs<'a>(pub(super) &'a [Entry]);

impl NodeOutputs for Outputs<'_> {
    fn outputs(&self, id: NodeId) -> &[OutputRecord] {
        self.0.get(id.0).map_or(&[], |entry| &entry.outputs)
    }
}

/// The outputs of the plan's nodes; those that are not made yet are [`UNKNOWN`].
pub(super) struct Expected<'a> {
    entries: &'a [Entry],
    unknown: Vec<OutputRecord>,
}

impl<'a> Expected<'a> {
    /// Those of `entries`. `no_sources` is the digest of a list of no source files, which is read at once: it stands for that of a
    /// benchmark whose program has not run yet.
    pub(super) fn new(entries: &'a [Entry], no_sources: Digest) -> Self {
        let names = [
            "records",
            "parsed",
            "chunks",
            "full_text_index",
            "embeddings",
            "vector_index",
            "extracted",
            "entities",
            "relations",
            "mentions",
            "handle",
            "results",
            "answers",
            "observations",
            "scores",
            "summary",
            "score_table",
            "latency",
        ];
        let record =
            |name: &str, digest| OutputRecord { name: name.to_string(), digest, bytes: 0, rows: 0, observation: false };
        let unknown = names.into_iter().map(|name| record(name, UNKNOWN));
        let unknown = unknown.chain([record("sources", no_sources)]).collect();
        Expected { entries, unknown }
    }
}

impl NodeOutputs for Expected<'_> {
    fn outputs(&self, id: NodeId) -> &[OutputRecord] {
        match self.entries.get(id.0) {
            Some(entry) if !entry.outputs.is_empty() => &entry.outputs,
            _ => &self.unknown,
        }
    }
}
