//! `hybrid_search`: several modes, fused by reciprocal rank.

use std::collections::BTreeSet;

use ragstage_cache::KeyVisitor;
use serde_json::{Value, json};

use super::fusion::fuse;
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::mode::SearchMode;
use super::searcher::{Ask, Found, Search};
use crate::artifact::Hit;
use crate::contract::Context;
use crate::error::{RowError, RowErrorKind, StageError};
use crate::model::ModelUsage;

/// Version of how results are fused, in the key of this mode and of those that ask it.
const HYBRID_VERSION: u64 = 1;

/// Least number of candidates by default.
const LEAST_CANDIDATES: usize = 50;

/// Several modes, fused by reciprocal rank (Cormack, Clarke and Buettcher 2009).
///
/// Results of a case are the same when kind and id are, so a chunk that several modes find is above one that a single mode finds
/// at the same rank. A hit's metadata says under `ranks` which mode had it, at which rank and with which score. A case fails
/// where a part fails.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridSearch {
    /// The modes.
    pub parts: Vec<HybridPart>,
    /// The constant `k` in `weight / (k + rank)`; 60 in the paper.
    pub rrf_k: f64,
    /// How many candidates each mode gives; `max(3 * top_k, 50)` when `None`.
    pub candidates: Option<u32>,
}

/// A mode that is fused.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridPart {
    /// The mode.
    pub mode: SearchMode,
    /// How much its ranks count; a mode of weight 0 is not asked.
    pub weight: f64,
}

impl HybridSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        self.asked().for_each(|part| part.mode.reads(artifacts));
    }

    /// The parts that count for anything.
    fn asked(&self) -> impl Iterator<Item = &HybridPart> {
        self.parts.iter().filter(|part| part.weight > 0.0)
    }

    pub(super) fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "hybrid");
        v.uint("hybrid_version", HYBRID_VERSION);
        v.float("rrf_k", self.rrf_k);
        // Absent where it follows from top_k.
        if let Some(candidates) = self.candidates {
            v.uint("candidates", u64::from(candidates));
        }
        v.begin_list("parts", self.asked().count());
        for part in self.asked() {
            v.begin_record("", "part");
            v.float("weight", part.weight);
            part.mode.walk("mode", kb, v);
            v.end();
        }
        v.end();
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        let open = |part: &'a HybridPart| Ok(OpenPart { part, search: part.mode.open(context, kb)? });
        let parts = self.asked().map(open).collect::<Result<_, StageError>>()?;
        Ok(Box::new(Open { options: self, parts }))
    }

    /// How many candidates each mode gives for `top_k` results.
    fn candidates(&self, top_k: usize) -> usize {
        match self.candidates {
            Some(candidates) => candidates as usize,
            None => top_k.saturating_mul(3).max(LEAST_CANDIDATES),
        }
    }
}

struct Open<'a> {
    options: &'a HybridSearch,
    parts: Vec<OpenPart<'a>>,
}

struct OpenPart<'a> {
    part: &'a HybridPart,
    search: Box<dyn Search + 'a>,
}

impl Search for Open<'_> {
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        let candidates: Vec<Ask<'_>> =
            asks.iter().map(|ask| Ask { top_k: self.options.candidates(ask.top_k), ..*ask }).collect();
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            parts.push(part.search.search(context, &candidates)?.into_iter());
        }
        let lost = || RowError::new(RowErrorKind::BadReply, "the case was not asked");
        let found = asks.iter().map(|ask| {
            // Every part is moved on, whether or not one before it failed.
            let of_parts: Vec<_> = parts.iter_mut().map(|part| part.next().unwrap_or_else(|| Err(lost()))).collect();
            self.fused(ask, of_parts)
        });
        Ok(found.collect())
    }
}

impl Open<'_> {
    /// One case, with what each part found.
    fn fused(&self, ask: &Ask<'_>, found: Vec<Result<Found, RowError>>) -> Result<Found, RowError> {
        let mut of_parts = Vec::with_capacity(found.len());
        for (OpenPart { part, .. }, found) in self.parts.iter().zip(found) {
            let named =
                |error: RowError| RowError { message: format!("{}: {}", part.mode.name(), error.message), ..error };
            of_parts.push((*part, found.map_err(named)?));
        }
        let lists: Vec<(f64, &[Hit])> =
            of_parts.iter().map(|(part, found)| (part.weight, found.hits.as_slice())).collect();
        let mut hits = fuse(&lists, self.options.rrf_k, ask.top_k);
        for hit in &mut hits {
            let ranks = of_parts.iter().filter_map(|(part, found)| rank(part, &found.hits, hit)).collect();
            hit.metadata.insert("ranks".to_string(), Value::Array(ranks));
        }
        let trace = json!({
            "mode": "hybrid_search",
            "top_k": ask.top_k,
            "result_count": hits.len(),
            "candidates": self.options.candidates(ask.top_k),
            "rrf_k": self.options.rrf_k,
            "parts": of_parts.iter().map(|(part, found)| {
                json!({"mode": part.mode.name(), "weight": part.weight, "result_count": found.hits.len()})
            }).collect::<Vec<_>>(),
        });
        let mut fused = Found { hits, ..Found::default() };
        let said: Vec<Value> = of_parts
            .iter()
            .filter(|(_, found)| !found.metadata.is_empty())
            .map(|(part, found)| json!({"mode": part.mode.name(), "metadata": found.metadata}))
            .collect();
        if !said.is_empty() {
            fused.metadata.insert("parts".to_string(), Value::Array(said));
        }
        for (_, part) in of_parts {
            fused.latency_ms += part.latency_ms;
            part.usage.iter().for_each(|usage| ModelUsage::add_to(&mut fused.usage, usage));
            fused.trace.extend(part.trace);
        }
        fused.trace.push(trace);
        Ok(fused)
    }
}

/// Where a part has a hit: `{mode, rank, score}`.
fn rank(part: &HybridPart, hits: &[Hit], hit: &Hit) -> Option<Value> {
    let position = hits.iter().position(|other| (&other.kind, &other.id) == (&hit.kind, &hit.id))?;
    let score = hits.get(position)?.score;
    Some(json!({"mode": part.mode.name(), "rank": position + 1, "score": score}))
}
