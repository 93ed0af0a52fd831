//! `vector_search`: the chunks nearest to the query.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use ragstage_cache::{KeyVisitor, Walk};
use serde_json::json;

use super::chunk_hit::chunk_hit;
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::searcher::{Ask, Found, Search};
use crate::artifact::Chunks;
use crate::build::vector::{Neighbour, VectorIndex, Wanted};
use crate::contract::{Context, decoded, derived};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::model::{Embedded, EmbedderSpec, TextRole, embed_texts};
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
        let digest = kb.digest(KbArtifact::VectorIndex)?;
        let wrong = |why: String| StageError { step: Step::Retrieve, kind: StageErrorKind::Artifact { digest, why } };
        let index = derived(context, Step::Retrieve, &digest, &|| {
            let file = context.blob_file(&digest)?;
            VectorIndex::open(&file).map_err(|error| wrong(error.to_string()))
        })?;
        let chunks = decoded::<Chunks>(context, Step::Retrieve, &kb.digest(KbArtifact::Chunks)?)?;
        if index.texts() != chunks.rows.len() {
            let (found, expected) = (index.texts(), chunks.rows.len());
            return Err(wrong(format!("indexes {found} chunks, expected {expected}")));
        }
        Ok(Box::new(Open { index, chunks, embedder: kb.embedder()? }))
    }
}

struct Open<'a> {
    index: Arc<VectorIndex>,
    chunks: Arc<Chunks>,
    embedder: &'a EmbedderSpec,
}

impl Open<'_> {
    /// Whether the index has vectors like this one.
    fn check(&self, embedded: Result<Embedded, RowError>) -> Result<Embedded, RowError> {
        let embedded = embedded?;
        let (found, expected) = (embedded.vector.len(), self.index.dimensions());
        if self.index.vectors() > 0 && found != expected {
            let why = format!("the query's vector has {found} numbers, those of the chunks have {expected}");
            return Err(RowError::new(RowErrorKind::BadReply, why));
        }
        Ok(embedded)
    }

    fn found(&self, ask: &Ask<'_>, near: &[Neighbour], embedded: Embedded, share_ms: f64) -> Found {
        let hit = |near: &Neighbour| Some(chunk_hit(self.chunks.rows.get(near.text as usize)?, near.score));
        let hits: Vec<_> = near.iter().filter_map(hit).collect();
        let trace = vec![json!({
            "mode": "vector_search",
            "top_k": ask.top_k,
            "result_count": hits.len(),
            "metric": self.index.metric().name(),
            "exact": self.index.exact(),
        })];
        let latency_ms = embedded.latency_ms + share_ms;
        Found { hits, trace, latency_ms, usage: embedded.usage.into_iter().collect(), ..Found::default() }
    }
}

impl Search for Open<'_> {
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        let texts: Vec<(&str, &str)> = asks.iter().map(|ask| (ask.label, ask.text)).collect();
        let embedded = embed_texts(context, Step::Retrieve, self.embedder, TextRole::Query, &texts)?;
        let embedded: Vec<Result<Embedded, RowError>> =
            embedded.into_iter().map(|embedded| self.check(embedded)).collect();
        let start = Instant::now();
        let of_ask = |(ask, embedded): (&Ask<'_>, &'_ Result<Embedded, RowError>)| {
            embedded.as_ref().ok().map(|embedded| (embedded.vector.clone(), ask.top_k))
        };
        let vectors: Vec<(Arc<[f32]>, usize)> = asks.iter().zip(&embedded).filter_map(of_ask).collect();
        let wanted: Vec<Wanted<'_>> = vectors.iter().map(|(vector, top_k)| Wanted { vector, top_k: *top_k }).collect();
        let mut near = self.index.nearest(&wanted).into_iter();
        let share_ms = start.elapsed().as_secs_f64() * 1e3 / wanted.len().max(1) as f64;
        let found = asks.iter().zip(embedded).map(|(ask, embedded)| {
            let embedded = embedded?;
            Ok(self.found(ask, &near.next().unwrap_or_default(), embedded, share_ms))
        });
        Ok(found.collect())
    }
}
