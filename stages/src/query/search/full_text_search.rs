//! `full_text_search`: BM25 over the chunks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use ragstage_cache::{KeyVisitor, Walk};
use serde_json::json;

use super::chunk_hit::chunk_hit;
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::searcher::{Ask, Found, Search, SearchAlone};
use crate::artifact::Chunks;
use crate::build::full_text::{ANALYZER_VERSION, Bm25, Index};
use crate::contract::{Context, decoded};
use crate::error::{RowError, StageError, StageErrorKind};
use crate::step::Step;

/// Version of how full-text hits are made of chunks, in the key of this mode and of those that ask it.
const FULL_TEXT_VERSION: u64 = 1;

/// BM25 over the chunks. It has no options of its own: ranking is the recipe's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FullTextSearch;

impl FullTextSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        artifacts.extend([KbArtifact::Chunks, KbArtifact::FullTextIndex]);
    }

    pub(super) fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "full_text");
        v.uint("full_text_version", FULL_TEXT_VERSION);
        v.uint("analyzer_version", ANALYZER_VERSION);
        for (field, artifact) in [("index", KbArtifact::FullTextIndex), ("chunks", KbArtifact::Chunks)] {
            if let Some(digest) = kb.artifacts.get(&artifact) {
                v.digest(field, digest);
            }
        }
        kb.bm25.walk(v);
        v.end();
    }

    pub(super) fn open<'a>(
        &self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        let digest = kb.digest(KbArtifact::FullTextIndex)?;
        let index = decoded::<Index>(context, Step::Retrieve, &digest)?;
        let chunks = decoded::<Chunks>(context, Step::Retrieve, &kb.digest(KbArtifact::Chunks)?)?;
        let wrong = |why: String| StageError { step: Step::Retrieve, kind: StageErrorKind::Artifact { digest, why } };
        if index.lengths().len() != chunks.rows.len() {
            let (found, expected) = (index.lengths().len(), chunks.rows.len());
            return Err(wrong(format!("indexes {found} chunks, expected {expected}")));
        }
        Ok(Box::new(Open { bm25: Bm25::new(index, &kb.bm25).map_err(wrong)?, chunks }))
    }
}

struct Open {
    bm25: Bm25,
    chunks: Arc<Chunks>,
}

impl SearchAlone for Open {
    fn search_one(&self, ask: &Ask<'_>) -> Result<Found, RowError> {
        let start = Instant::now();
        let ranked = self.bm25.search(ask.text, ask.top_k).into_iter();
        let hits: Vec<_> = ranked
            .filter_map(|hit| self.chunks.rows.get(hit.document as usize).map(|chunk| chunk_hit(chunk, hit.score)))
            .collect();
        let trace = vec![json!({"mode": "full_text_search", "top_k": ask.top_k, "result_count": hits.len()})];
        Ok(Found { hits, trace, latency_ms: start.elapsed().as_secs_f64() * 1e3, ..Found::default() })
    }
}

impl Search for Open {
    fn search(&self, _: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        use rayon::prelude::*;
        Ok(asks.par_iter().map(|ask| self.search_one(ask)).collect())
    }

    fn alone(&self) -> Option<&dyn SearchAlone> {
        Some(self)
    }
}
