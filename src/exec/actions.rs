//! From a node and the outputs of its inputs to an action with a key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ragstage_cache::action::OutputRecord;
use ragstage_cache::{Digest, StoreError};
use ragstage_stages::aggregate::{Aggregate, BuildReport, ResponseTable, ScoreTable};
use ragstage_stages::build::chunk::ChunkDocuments;
use ragstage_stages::build::full_text::FullTextIndex;
use ragstage_stages::build::graph::{BuildGraph, ExtractGraph};
use ragstage_stages::build::ingest::Ingest;
use ragstage_stages::build::vector::{BuildVectorIndex, Embed, EmbedInput};
use ragstage_stages::contract::{Action, Artifact};
use ragstage_stages::error::{InputError, Place};
use ragstage_stages::materialize::Materialize;
use ragstage_stages::prepare::{
    BenchmarkSpec, DocumentFile, PrepareBenchmark, SourceFile, SourceList, Sources as ListSources,
};
use ragstage_stages::query::search::KnowledgeBase;
use ragstage_stages::query::{AnswerQuestions, ExternalKb, ImportResponses, ModeSpec, Retrieve};
use ragstage_stages::score::ScoreResponses;

use super::outcome::RunError;
use super::sources::Sources;
use crate::graph::{EmbedWhat, Node, NodeId, ResponseNodes, Spec};

/// The outputs of the nodes that are done.
pub trait NodeOutputs {
    /// The outputs of a node; empty where it is not done.
    fn outputs(&self, id: NodeId) -> &[OutputRecord];

    /// Whether the node ran in this run, so that what it made outside of the store is there.
    fn ran(&self, _id: NodeId) -> bool {
        false
    }

    /// Why what the node made outside of the store is known to be gone, where it is.
    fn withdrawn(&self, _id: NodeId) -> Option<&str> {
        None
    }
}

/// Reads a blob.
pub type ReadBlob = dyn Fn(&Digest) -> Result<Vec<u8>, StoreError> + Send + Sync;

/// Makes actions out of nodes.
pub struct ActionSource {
    /// The files of the benchmarks.
    pub sources: Arc<Sources>,
    /// Reads blobs; `plan` has some that were never stored.
    pub blob: Box<ReadBlob>,
    /// When this run started (RFC 3339, UTC); reports say so.
    pub started_at: String,
}

impl ActionSource {
    /// The action of `node`.
    ///
    /// # Errors
    /// When a source file is missing or unreadable, or the store fails.
    pub fn action(&self, node: &Node, outputs: &dyn NodeOutputs) -> Result<Box<dyn Action>, RunError> {
        let input = |position: usize| node.inputs.get(position).copied().unwrap_or(NodeId(usize::MAX));
        let of = |id: NodeId, name: &str| digest(outputs, id, name);
        let salt = node.salt;
        Ok(match &node.spec {
            Spec::Sources { benchmark } => Box::new(ListSources {
                spec: (**benchmark).clone(),
                files: self.listing(benchmark)?,
                below: below_root(benchmark)?,
                salt,
            }),
            Spec::Prepare { benchmark } => Box::new(PrepareBenchmark {
                spec: (**benchmark).clone(),
                files: self.listing(benchmark)?,
                documents: self.documents(benchmark, &of(input(0), "sources")?)?,
                records: outputs
                    .outputs(input(0))
                    .iter()
                    .find(|output| output.name == "records")
                    .and_then(|output| benchmark.records(output.digest, output.bytes)),
                salt,
            }),
            Spec::Materialize { unit, options } => Box::new(Materialize {
                documents: of(input(0), "documents")?,
                unit: (**unit).clone(),
                options: options.clone(),
                salt,
            }),
            Spec::Chunk { options } => {
                Box::new(ChunkDocuments { parsed: of(input(0), "parsed")?, options: options.clone(), salt })
            }
            Spec::FullTextIndex { analyzer, title_weight } => Box::new(FullTextIndex {
                chunks: of(input(0), "chunks")?,
                analyzer: analyzer.clone(),
                title_weight: *title_weight,
                salt,
            }),
            Spec::Embed { what, embedder } => Box::new(Embed {
                input: match what {
                    EmbedWhat::Chunks => EmbedInput::Chunks(of(input(0), "chunks")?),
                    EmbedWhat::Graph => {
                        EmbedInput::Graph { entities: of(input(0), "entities")?, relations: of(input(0), "relations")? }
                    }
                },
                embedder: (**embedder).clone(),
                salt,
            }),
            Spec::VectorIndex { options } => {
                Box::new(BuildVectorIndex { embeddings: of(input(0), "embeddings")?, options: *options, salt })
            }
            Spec::ExtractGraph { options } => {
                Box::new(ExtractGraph { chunks: of(input(0), "chunks")?, options: (**options).clone(), salt })
            }
            Spec::BuildGraph => Box::new(BuildGraph { extracted: of(input(0), "extracted")?, salt }),
            Spec::Search { unit, mode, artifacts, bm25, embedder, top_k, trace } => {
                let artifacts = artifacts
                    .iter()
                    .map(|(artifact, id)| Ok((*artifact, of(*id, artifact.output())?)))
                    .collect::<Result<_, RunError>>()?;
                let kb = KnowledgeBase { artifacts, bm25: *bm25, embedder: embedder.as_deref().cloned() };
                Box::new(Retrieve {
                    mode: ModeSpec::Built { mode: mode.clone(), kb, trace: *trace },
                    queries: of(input(0), "queries")?,
                    unit: (**unit).clone(),
                    top_k: *top_k,
                    salt,
                })
            }
            Spec::Ingest { unit, system, watched: _ } => Box::new(Ingest {
                documents: of(input(0), "documents")?,
                unit: (**unit).clone(),
                system: (**system).clone(),
                salt,
            }),
            Spec::System { unit, system, mode, options, top_k, watched: _ } => Box::new(Retrieve {
                mode: ModeSpec::System {
                    system: system.clone(),
                    mode: mode.clone(),
                    options: options.clone(),
                    documents_digest: system.documents_digest(unit),
                    external: match node.inputs.get(1) {
                        Some(&ingest) => Some(ExternalKb {
                            handle: of(ingest, "handle")?,
                            probed: !outputs.ran(ingest),
                            withdrawn: outputs.withdrawn(ingest).map(str::to_string),
                        }),
                        None => None,
                    },
                },
                queries: of(input(0), "queries")?,
                unit: (**unit).clone(),
                top_k: *top_k,
                salt,
            }),
            Spec::Answer { unit, options } => Box::new(AnswerQuestions {
                options: options.clone(),
                results: of(input(1), "results")?,
                queries: of(input(0), "queries")?,
                unit: (**unit).clone(),
                salt,
            }),
            Spec::Import { unit, set } => Box::new(ImportResponses {
                set: (**set).clone(),
                queries: of(input(0), "queries")?,
                units: of(input(0), "units")?,
                unit: (**unit).clone(),
                salt,
            }),
            Spec::Score { unit, evaluator } => Box::new(ScoreResponses {
                evaluator: evaluator.clone(),
                results: of(input(1), "results")?,
                answers: node.inputs.get(2).map(|id| of(*id, "answers")).transpose()?,
                queries: of(input(0), "queries")?,
                gold: of(input(0), "gold")?,
                unit: (**unit).clone(),
                salt,
            }),
            Spec::Aggregate { evaluation, plan, responses, statistics } => Box::new(Aggregate {
                evaluation: evaluation.clone(),
                plan: (**plan).clone(),
                scores: score_tables(outputs, responses)?,
                responses: response_tables(outputs, responses)?,
                queries: of(input(0), "queries")?,
                units: of(input(0), "units")?,
                statistics: statistics.clone(),
                salt,
            }),
            Spec::Report {
                evaluation,
                plan,
                responses,
                recipes,
                queries,
                evaluators,
                gates,
                baseline,
                known_lints,
                silenced,
                case_results,
                run,
            } => {
                let prepare = input(0);
                let aggregate = node.inputs.last().copied().unwrap_or(prepare);
                Box::new(BuildReport {
                    evaluation: evaluation.clone(),
                    plan: (**plan).clone(),
                    summary: of(aggregate, "summary")?,
                    score_table: of(aggregate, "score_table")?,
                    latency: optional(outputs, aggregate, "latency"),
                    usage: optional(outputs, aggregate, "usage"),
                    scores: score_tables(outputs, responses)?,
                    responses: response_tables(outputs, responses)?,
                    documents: of(prepare, "documents")?,
                    queries: of(prepare, "queries")?,
                    gold: of(prepare, "gold")?,
                    units: of(prepare, "units")?,
                    recipes: (**recipes).clone(),
                    queries_info: (**queries).clone(),
                    evaluators: (**evaluators).clone(),
                    gates: (**gates).clone(),
                    baseline: baseline.as_deref().cloned(),
                    known_lints: known_lints.to_vec(),
                    silenced: silenced.to_vec(),
                    case_results: *case_results,
                    run: (**run).clone(),
                    started_at: self.started_at.clone(),
                    finished_at: crate::clock::now(),
                    salt,
                })
            }
        })
    }

    /// The benchmark's own files with their digests.
    fn listing(&self, benchmark: &BenchmarkSpec) -> Result<Vec<SourceFile>, RunError> {
        let mut files = Vec::new();
        let mut errors = Vec::new();
        for file in benchmark.listing() {
            match self.sources.fact(&file.path) {
                Ok(Some(fact)) => {
                    files.push(SourceFile { role: file.role, path: file.path, digest: fact.digest, size: fact.size })
                }
                Ok(None) if !file.required => {}
                Ok(None) => errors.push(
                    InputError::new(
                        Place::file(&file.path),
                        format!("the benchmark's {} file does not exist", file.role),
                    )
                    .hint("correct the path under `benchmark` in the evaluation file; it is relative to that file"),
                ),
                Err(error) => {
                    errors.push(InputError::new(Place::file(&file.path), format!("cannot be read: {error}")));
                }
            }
        }
        if errors.is_empty() { Ok(files) } else { Err(RunError::Input(errors)) }
    }

    /// The further files that the benchmark names, with their digests.
    fn documents(&self, benchmark: &BenchmarkSpec, list: &Digest) -> Result<Vec<DocumentFile>, RunError> {
        let bytes = (self.blob)(list)?;
        let list = SourceList::decode(bytes).map_err(|error| RunError::Internal(format!("source list: {error}")))?;
        let root = benchmark.root();
        let mut files = Vec::with_capacity(list.paths.len());
        for relative in list.paths {
            let path: PathBuf = root.join(Path::new(&relative));
            // What cannot be read is told by the step that knows the line which names it.
            let (fact, fault) = match self.sources.fact(&path) {
                Ok(fact) => (fact, None),
                Err(error) => (None, Some(format!("cannot be read: {error}"))),
            };
            files.push(DocumentFile {
                relative,
                digest: fact.map(|fact| fact.digest),
                size: fact.map_or(0, |fact| fact.size),
                fault,
            });
        }
        Ok(files)
    }
}

/// The names of the files in the benchmark's folder, where they matter.
fn below_root(benchmark: &BenchmarkSpec) -> Result<Vec<String>, RunError> {
    benchmark.below_root().map_err(|error| {
        RunError::Input(vec![InputError::new(Place::file(benchmark.root()), format!("cannot be listed: {error}"))])
    })
}

/// An output that the action may have given or not.
fn optional(outputs: &dyn NodeOutputs, id: NodeId, name: &str) -> Option<Digest> {
    outputs.outputs(id).iter().find(|output| output.name == name).map(|output| output.digest)
}

fn digest(outputs: &dyn NodeOutputs, id: NodeId, name: &str) -> Result<Digest, RunError> {
    outputs
        .outputs(id)
        .iter()
        .find(|output| output.name == name)
        .map(|output| output.digest)
        .ok_or_else(|| RunError::Internal(format!("node {} has no output {name}", id.0)))
}

fn score_tables(outputs: &dyn NodeOutputs, responses: &[ResponseNodes]) -> Result<Vec<ScoreTable>, RunError> {
    let mut tables = Vec::new();
    for response in responses {
        for (evaluator, id) in &response.scores {
            tables.push(ScoreTable {
                recipe: response.recipe.clone(),
                query: response.query.clone(),
                evaluator: evaluator.clone(),
                unit_id: response.unit_id.clone(),
                scores: digest(outputs, *id, "scores")?,
                observations: optional(outputs, *id, "observations"),
            });
        }
    }
    Ok(tables)
}

fn response_tables(outputs: &dyn NodeOutputs, responses: &[ResponseNodes]) -> Result<Vec<ResponseTable>, RunError> {
    responses
        .iter()
        .map(|response| {
            Ok(ResponseTable {
                recipe: response.recipe.clone(),
                query: response.query.clone(),
                mode: response.mode.clone(),
                unit_id: response.unit_id.clone(),
                results: digest(outputs, response.retrieve, "results")?,
                answers: response.answer.map(|id| digest(outputs, id, "answers")).transpose()?,
                retrieve_observations: optional(outputs, response.retrieve, "observations"),
                // Responses made elsewhere come whole from one node.
                answer_observations: response
                    .answer
                    .filter(|id| *id != response.retrieve)
                    .and_then(|id| optional(outputs, id, "observations")),
            })
        })
        .collect()
}
