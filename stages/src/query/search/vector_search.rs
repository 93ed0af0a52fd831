//! `vector_search`: the chunks nearest to the query.

use std::collections::BTreeSet;
use std::sync::Arc;

use ragstage_cache::{KeyVisitor, Walk};
use serde_json::json;

use super::chunk_hit::chunk_hit;
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::searcher::{Ask, Found, Search};
use super::vector_lookup::{Near, VectorLookup};
use crate::artifact::Chunks;
use crate::build::vector::Neighbour;
use crate::contract::{Context, decoded};
use crate::error::{RowError, StageError};
use crate::step::Step;

/// Version of how neighbours are found and made hits, in the key of this mode and of those that ask it.
const VECTOR_VERSION: u64 = 1;

/// The chunks whose vectors are nearest to the query's. It has no options of its own: embedder and metric are the recipe's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VectorSearch;

impl VectorSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        artifacts.extend([KbArtifact::Chunks, KbArtifact::VectorIndex]);
    }

    pub(super) fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "vector");
        v.uint("vector_version", VECTOR_VERSION);
        for (field, artifact) in [("index", KbArtifact::VectorIndex), ("chunks", KbArtifact::Chunks)] {
            if let Some(digest) = kb.artifacts.get(&artifact) {
                v.digest(field, digest);
            }
        }
        if let Some(embedder) = &kb.embedder {
            embedder.walk(v);
        }
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        let chunks = decoded::<Chunks>(context, Step::Retrieve, &kb.digest(KbArtifact::Chunks)?)?;
        let index = kb.digest(KbArtifact::VectorIndex)?;
        let lookup = VectorLookup::open(context, index, kb.embedder()?, chunks.rows.len(), "chunks")?;
        Ok(Box::new(Open { lookup, chunks }))
    }
}

struct Open<'a> {
    lookup: VectorLookup<'a>,
    chunks: Arc<Chunks>,
}

impl Open<'_> {
    fn found(&self, ask: &Ask<'_>, near: Near) -> Found {
        let hit = |near: &Neighbour| Some(chunk_hit(self.chunks.rows.get(near.text as usize)?, near.score));
        let hits: Vec<_> = near.neighbours.iter().filter_map(hit).collect();
        let trace = vec![json!({
            "mode": "vector_search",
            "top_k": ask.top_k,
            "result_count": hits.len(),
            "metric": self.lookup.index().metric().name(),
            "exact": self.lookup.index().exact(),
        })];
        Found { hits, trace, latency_ms: near.latency_ms, usage: near.usage.into_iter().collect(), ..Found::default() }
    }
}

impl Search for Open<'_> {
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        let near = self.lookup.near(context, asks)?;
        Ok(asks.iter().zip(near).map(|(ask, near)| Ok(self.found(ask, near?))).collect())
    }
}
