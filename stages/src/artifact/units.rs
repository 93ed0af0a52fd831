//! `units`: which documents and cases share a knowledge base, and the digests that drive what is built from them.

use std::collections::BTreeMap;

use ragstage_cache::Digest;
use serde::{Deserialize, Serialize};

use super::documents::Documents;
use super::gold::Golds;
use super::json::{Json, to_json};
use super::queries::Queries;
use crate::contract::Artifact;
use crate::error::DecodeError;

/// What a benchmark says of itself (spec/heta 1, BenchmarkManifest).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BenchmarkInfo {
    /// Name.
    pub name: String,
    /// The dataset's version.
    pub version: String,
    /// The split, e.g. `test`.
    pub split: String,
    /// Free text, e.g. `rag_qa`.
    pub task_type: String,
    /// `corpus` (one knowledge base) or `case` (many).
    pub build_scope: String,
    /// Where it is from.
    pub homepage: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// How to cite it.
    pub citation: Option<String>,
    /// Digest of the documents, queries and gold that are evaluated: which version of the dataset this is, whatever it calls
    /// itself, and which part of it.
    #[serde(default)]
    pub digest: Option<Digest>,
    /// The dataset's own fields.
    pub metadata: Json,
}

/// Documents and cases that share one knowledge base.
///
/// `None` rows mean all. The digests cover exactly what the stages that read the unit may depend on, so another unit's
/// documents, or a case's gold, never enter them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Unique within the benchmark.
    pub unit_id: String,
    /// Positions in `documents`, in the unit's order.
    pub document_rows: Option<Vec<u32>>,
    /// Positions in `queries` and `gold`, in the unit's order.
    pub case_rows: Option<Vec<u32>>,
    /// How many documents.
    pub documents: u64,
    /// How many cases.
    pub cases: u64,
    /// The cases that cannot be asked, by id, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<String, String>,
    /// Digest of the documents: ids, names, media types, bytes.
    pub documents_digest: Digest,
    /// Digest of the documents' ids and bytes, in no order: what a system under test depends on. We hand it neither an
    /// order nor the names of files and benchmarks.
    pub document_set_digest: Digest,
    /// Digest of the queries: case ids and texts, and why some are not asked.
    pub queries_digest: Digest,
    /// Digest of the gold: case ids and each case's gold digest.
    pub gold_digest: Digest,
    /// The dataset's own fields.
    pub metadata: Json,
}

/// A unit before its digests are known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnitRows {
    /// Unique within the benchmark.
    pub unit_id: String,
    /// Positions in `documents`; `None` means all.
    pub document_rows: Option<Vec<u32>>,
    /// Positions in `queries`; `None` means all.
    pub case_rows: Option<Vec<u32>>,
    /// The dataset's own fields.
    pub metadata: Json,
}

impl Unit {
    /// Whether there is a case to ask: a knowledge base that nobody asks need not be built.
    pub fn is_asked(&self) -> bool {
        (self.skipped.len() as u64) < self.cases
    }

    /// The unit over `documents`, `queries` and `golds` (the latter two in the same case order); `skipped` has the reasons why
    /// cases, by id, cannot be asked.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn over(
        rows: UnitRows,
        documents: &Documents,
        queries: &Queries,
        golds: &Golds,
        skipped: &BTreeMap<String, String>,
    ) -> Result<Self, DecodeError> {
        let document_rows = positions(&rows.document_rows, documents.rows.len());
        let case_rows = positions(&rows.case_rows, queries.rows.len());
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut digests: Vec<String> = Vec::with_capacity(document_rows.len());
        for &i in &document_rows {
            let document = &documents.rows[i];
            let digest = document.digest.map(|digest| digest.hex()).unwrap_or_default();
            digests.push(digest.clone());
            let line = [&document.document_id, &document.name, &document.media_type, &digest, &document.source_key];
            parts.push(to_json(&line)?.into_bytes());
        }
        let documents_digest = Digest::of_parts("ragstage.unit.documents", parts.iter().map(Vec::as_slice));
        let mut contents: Vec<[&str; 2]> = Vec::with_capacity(document_rows.len());
        for (&i, digest) in document_rows.iter().zip(&digests) {
            contents.push([&documents.rows[i].document_id, digest]);
        }
        contents.sort_unstable();
        let contents = contents.iter().flatten().map(|part| part.as_bytes());
        let document_set_digest = Digest::of_parts("ragstage.unit.document_set", contents);
        let mut texts: Vec<&str> =
            case_rows.iter().flat_map(|&i| [queries.rows[i].case_id.as_str(), queries.rows[i].text.as_str()]).collect();
        let case_ids = case_rows.iter().map(|&i| &queries.rows[i].case_id);
        let skipped: BTreeMap<String, String> =
            case_ids.filter_map(|id| Some((id.clone(), skipped.get(id)?.clone()))).collect();
        texts.extend(skipped.iter().flat_map(|(id, why)| [id.as_str(), why.as_str()]));
        let queries_digest = Digest::of_parts("ragstage.unit.queries", texts.iter().map(|text| text.as_bytes()));
        let mut gold = Vec::new();
        for &i in &case_rows {
            gold.push(golds.rows[i].case_id.as_bytes().to_vec());
            gold.push(golds.rows[i].digest()?.0.to_vec());
        }
        Ok(Unit {
            unit_id: rows.unit_id,
            documents: document_rows.len() as u64,
            cases: case_rows.len() as u64,
            document_rows: rows.document_rows,
            case_rows: rows.case_rows,
            skipped,
            documents_digest,
            document_set_digest,
            queries_digest,
            gold_digest: Digest::of_parts("ragstage.unit.gold", gold.iter().map(Vec::as_slice)),
            metadata: rows.metadata,
        })
    }

    /// The unit's documents as positions in a table of `all` rows.
    pub fn document_positions(&self, all: usize) -> Vec<usize> {
        positions(&self.document_rows, all)
    }

    /// The unit's cases as positions in a table of `all` rows.
    pub fn case_positions(&self, all: usize) -> Vec<usize> {
        positions(&self.case_rows, all)
    }
}

fn positions(rows: &Option<Vec<u32>>, all: usize) -> Vec<usize> {
    match rows {
        Some(rows) => rows.iter().map(|&i| i as usize).collect(),
        None => (0..all).collect(),
    }
}

/// The benchmark and its units, as JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Units {
    /// What the benchmark says of itself.
    pub benchmark: BenchmarkInfo,
    /// The units in the adapter's order.
    pub units: Vec<Unit>,
    /// For each row of `queries` the first row of those that share gold documents with it; empty where none do, or where many go together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<u32>,
    /// Evaluators (in evaluator grammar) that the benchmark asks for when the evaluation names none.
    pub default_evaluators: Vec<String>,
}

impl Artifact for Units {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(serde_json::to_vec(self)?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(&bytes)?)
    }
}
