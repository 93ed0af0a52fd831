//! The action that asks a unit's queries in one query mode.

use std::sync::Arc;

use ragstage_cache::key::walk_json;
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde_json::Value;

use super::case_rows::{CaseKey, measured, observation_of, queries_of, rows_of, value_of};
use super::options::SystemSpec;
use super::system::Client;
use super::system::protocol::{PROTOCOL_VERSION, Request};
use crate::artifact::{Chunk, Chunks, Hit, Json, Observations, Queries, Results, Retrieved, Unit};
use crate::build::full_text::{ANALYZER_VERSION, Bm25, Bm25Options, Index};
use crate::contract::{Action, Artifact, Context, Output, Pool, Produced, RowOutcome, begin_key, decoded};
use crate::error::{StageError, StageErrorKind};
use crate::step::Step;

/// Version of how full-text hits are made of chunks, in the key of that mode only: a bump asks no system again.
const FULL_TEXT_VERSION: u64 = 1;

/// What is asked, with the digests of what this mode reads.
#[derive(Debug, Clone, PartialEq)]
pub enum ModeSpec {
    /// Our full-text index.
    FullText {
        /// The index.
        index: Digest,
        /// The chunks that it is an index of.
        chunks: Digest,
        /// How matches are ranked.
        bm25: Bm25Options,
    },
    /// A system under test.
    System {
        /// The system.
        system: SystemSpec,
        /// The mode's name, sent along.
        mode: String,
        /// The mode's options, sent along.
        options: Json,
        /// The unit's documents, which the system is supposed to have read.
        documents_digest: Digest,
    },
}

impl Walk for ModeSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        match self {
            ModeSpec::FullText { index, chunks, bm25 } => {
                v.begin_record("mode", "full_text");
                v.uint("full_text_version", FULL_TEXT_VERSION);
                v.uint("analyzer_version", ANALYZER_VERSION);
                v.digest("index", index);
                v.digest("chunks", chunks);
                bm25.walk(v);
            }
            ModeSpec::System { system, mode, options, documents_digest } => {
                v.begin_record("mode", "system");
                v.uint("protocol_version", PROTOCOL_VERSION);
                system.walk(v);
                v.text("mode", mode);
                walk_json(v, "options", &Value::Object(options.clone()));
                v.digest("documents", documents_digest);
            }
        }
        v.end();
    }
}

/// A unit's queries to [`Results`] (output `results`) and [`Observations`] (output `observations`), in case order.
///
/// A row depends on the text of its query alone, beyond the mode and `top_k`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieve {
    /// What is asked.
    pub mode: ModeSpec,
    /// The benchmark's queries. Only where to read: the key holds the digest of the unit's own.
    pub queries: Digest,
    /// Whose cases are asked.
    pub unit: Unit,
    /// Most results per case.
    pub top_k: u32,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Retrieve {
    fn open(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Retrieve, self.salt);
        self.mode.walk(v);
        v.uint("top_k", u64::from(self.top_k));
    }

    fn artifact_error(&self, digest: &Digest, why: String) -> StageError {
        StageError { step: Step::Retrieve, kind: StageErrorKind::Artifact { digest: *digest, why } }
    }

    fn mode<'a>(&'a self, context: &dyn Context) -> Result<Mode<'a>, StageError> {
        match &self.mode {
            ModeSpec::FullText { index: digest, chunks, bm25 } => {
                let index = decoded::<Index>(context, Step::Retrieve, digest)?;
                let chunks = decoded::<Chunks>(context, Step::Retrieve, chunks)?;
                if index.lengths().len() != chunks.rows.len() {
                    let (found, expected) = (index.lengths().len(), chunks.rows.len());
                    return Err(self.artifact_error(digest, format!("indexes {found} chunks, expected {expected}")));
                }
                let bm25 = Bm25::new(index, bm25).map_err(|why| self.artifact_error(digest, why))?;
                Ok(Mode::FullText { bm25: Box::new(bm25), chunks })
            }
            ModeSpec::System { system, mode, options, .. } => {
                let client = Client::new(&system.transport).map_err(provider)?;
                Ok(Mode::System { client: Box::new(client), mode, options })
            }
        }
    }
}

impl Walk for Retrieve {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.open(v);
        v.digest("queries", &self.unit.queries_digest);
        v.end();
    }
}

/// The key without its queries: the rows of all cases that were ever asked this way.
struct Slot<'a>(&'a Retrieve);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.0.open(v);
        v.end();
    }
}

/// A mode ready to be asked.
enum Mode<'a> {
    FullText { bm25: Box<Bm25>, chunks: Arc<Chunks> },
    System { client: Box<Client>, mode: &'a str, options: &'a Json },
}

impl Action for Retrieve {
    fn step(&self) -> Step {
        Step::Retrieve
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let all = decoded::<Queries>(context, Step::Retrieve, &self.queries)?;
        let queries = queries_of(&self.unit, &all, &self.queries, Step::Retrieve)?;
        let keys: Vec<CaseKey<'_>> = queries
            .iter()
            .map(|query| CaseKey {
                key: Digest::of_parts("ragstage.retrieve.row", [query.text.as_bytes()]),
                case_id: &query.case_id,
            })
            .collect();
        let mode = self.mode(context)?;
        let pool = match mode {
            Mode::FullText { .. } => Pool::Cpu,
            Mode::System { .. } => Pool::Queries,
        };
        let text = |case: usize| queries.get(case).map(|query| query.text.as_str()).unwrap_or_default();
        let outcomes = rows_of(context, &Slot(self), pool, &keys, &|case, call| match &mode {
            Mode::FullText { bm25, chunks } => measured(call, || {
                Ok(Retrieved { results: hits(bm25, chunks, text(case), self.top_k), ..Retrieved::default() })
            }),
            Mode::System { client, mode, options } => measured(call, || {
                let request = Request { query: text(case), mode, top_k: self.top_k, options, id: None };
                let reply = client.ask(&request, call.timeout)?;
                Ok(Retrieved {
                    results: reply.results,
                    answer: reply.answer,
                    metadata: reply.metadata,
                    ..Retrieved::default()
                })
            }),
        });
        if let Mode::System { client, .. } = &mode {
            // Before anything else that went wrong: rows that were kept may be wrong.
            client.close().map_err(|why| StageError { step: Step::Retrieve, kind: StageErrorKind::Doubt(why) })?;
        }
        let outcomes = outcomes?;
        let mut results = Results::default();
        let mut observations = Observations::default();
        for (outcome, CaseKey { key, case_id }) in outcomes.iter().zip(&keys) {
            observations.rows.push(observation_of(outcome, case_id));
            results.rows.push(match outcome {
                RowOutcome::Done(row) => {
                    Retrieved { case_id: case_id.to_string(), ..value_of(row, key, Step::Retrieve)? }
                }
                RowOutcome::Failed(error) => {
                    Retrieved { case_id: case_id.to_string(), error: Some(error.clone()), ..Retrieved::default() }
                }
            });
        }
        let failed = results.rows.iter().filter(|row| row.error.is_some()).count() as u64;
        let bytes = |encoded: Result<Vec<u8>, _>| encoded.map_err(|error| StageError::encode(Step::Retrieve, error));
        let outputs = vec![
            Output::value("results", bytes(results.encode())?, results.rows.len()),
            Output::observation("observations", bytes(observations.encode())?, observations.rows.len()),
        ];
        Ok(Produced { outputs, failed, rejected: 0 })
    }
}

fn provider(why: String) -> StageError {
    StageError { step: Step::Retrieve, kind: StageErrorKind::Provider(why) }
}

fn hits(bm25: &Bm25, chunks: &Chunks, query: &str, top_k: u32) -> Vec<Hit> {
    bm25.search(query, top_k as usize)
        .into_iter()
        .filter_map(|ranked| chunks.rows.get(ranked.document as usize).map(|chunk| hit(chunk, ranked.score)))
        .collect()
}

fn hit(chunk: &Chunk, score: f64) -> Hit {
    let mut source = Json::new();
    let mut put = |name: &str, value: Value| source.insert(name.to_string(), value);
    put("document_id", chunk.document_id.as_str().into());
    put("source_key", chunk.source_key.as_str().into());
    put("name", chunk.name.as_str().into());
    put("page_index", chunk.page_index.into());
    put("chunk_index", chunk.chunk_index.into());
    put("start", chunk.start.into());
    put("end", chunk.end.into());
    if let Some(title) = &chunk.title {
        put("title", title.as_str().into());
    }
    if let Some(heading) = &chunk.heading {
        put("heading", heading.as_str().into());
    }
    Hit {
        id: chunk.chunk_id.clone(),
        text: chunk.text.as_str().into(),
        score: Some(score),
        kind: "chunk".to_string(),
        source: source.into(),
        metadata: Json::new(),
    }
}
