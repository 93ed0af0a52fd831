//! Queries embedded and looked up in a vector index.

use std::sync::Arc;
use std::time::Instant;

use ragstage_cache::Digest;

use super::searcher::Ask;
use crate::build::vector::{Neighbour, VectorIndex, Wanted};
use crate::contract::{Context, derived};
use crate::error::{RowError, StageError, StageErrorKind};
use crate::model::{Embedded, EmbedderSpec, ModelUsage, TextRole, embed_texts};
use crate::step::Step;

/// A vector index that is open, with what embeds queries as its texts were.
pub(super) struct VectorLookup<'a> {
    index: Arc<VectorIndex>,
    embedder: &'a EmbedderSpec,
}

/// What is near a query.
pub(super) struct Near {
    /// The texts, best first.
    pub neighbours: Vec<Neighbour>,
    /// Milliseconds: the query's share of the look-up of all, and of the call that embedded it.
    pub latency_ms: f64,
    /// What embedding took.
    pub usage: Option<ModelUsage>,
}

impl<'a> VectorLookup<'a> {
    /// The index `digest` of `texts` texts, called `what`. It is verified and mapped once per process.
    ///
    /// # Errors
    /// When the index is lost, or is something else.
    pub fn open(
        context: &dyn Context,
        digest: Digest,
        embedder: &'a EmbedderSpec,
        texts: usize,
        what: &str,
    ) -> Result<Self, StageError> {
        let wrong = |why: String| StageError { step: Step::Retrieve, kind: StageErrorKind::Artifact { digest, why } };
        let index = derived(context, Step::Retrieve, &digest, &|| {
            let file = context.blob_file(&digest)?;
            VectorIndex::open(&file).map_err(|error| wrong(error.to_string()))
        })?;
        match index.texts() {
            found if found == texts => Ok(VectorLookup { index, embedder }),
            found => Err(wrong(format!("indexes {found} {what}, expected {texts}"))),
        }
    }

    /// The index.
    pub fn index(&self) -> &VectorIndex {
        &self.index
    }

    /// What is near each of `asks`, in their order: for as many as each wants.
    ///
    /// # Errors
    /// When the store or the embedder fails as a whole; a query that cannot be embedded is that case's error.
    pub fn near(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Near, RowError>>, StageError> {
        let texts: Vec<(&str, &str)> = asks.iter().map(|ask| (ask.label, ask.text)).collect();
        let length = self.index.length();
        let embedded = embed_texts(context, Step::Retrieve, self.embedder, TextRole::Query, &texts, length)?;
        let start = Instant::now();
        let wanted: Vec<Wanted<'_>> = asks
            .iter()
            .zip(&embedded)
            .filter_map(|(ask, embedded)| Some(Wanted { vector: &embedded.as_ref().ok()?.vector, top_k: ask.top_k }))
            .collect();
        let mut found = self.index.nearest(&wanted).into_iter();
        let share_ms = start.elapsed().as_secs_f64() * 1e3 / wanted.len().max(1) as f64;
        let near = embedded.into_iter().map(|embedded| {
            let Embedded { usage, latency_ms, .. } = embedded?;
            Ok(Near { neighbours: found.next().unwrap_or_default(), latency_ms: latency_ms + share_ms, usage })
        });
        Ok(near.collect())
    }
}
