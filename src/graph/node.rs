//! A node: one action before the digests of its inputs are known.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use ragstage_cache::key::key_of;
use ragstage_cache::{Digest, KeyHasher, KeyVisitor, Walk};
use ragstage_stages::aggregate::{
    Baseline, CaseResults, EvaluatorInfo, GateSpec, PlannedQuery, QueryInfo, RecipeInfo, RunInfo, StatisticsOptions,
};
use ragstage_stages::artifact::Unit;
use ragstage_stages::build::chunk::ChunkOptions;
use ragstage_stages::build::full_text::{AnalyzerOptions, Bm25Options};
use ragstage_stages::build::graph::GraphOptions;
use ragstage_stages::build::vector::VectorOptions;
use ragstage_stages::materialize::ParseOptions;
use ragstage_stages::model::EmbedderSpec;
use ragstage_stages::prepare::BenchmarkSpec;
use ragstage_stages::query::search::{KbArtifact, KnowledgeBase, SearchMode};
use ragstage_stages::query::{AnswerOptions, ImportSpec, SystemSpec};
use ragstage_stages::score::Evaluator;
use ragstage_stages::step::Step;
use serde::Serialize;

use crate::evaluation::ServedModel;
use ragstage_stages::artifact::Json;

/// A node's position in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct NodeId(pub usize);

/// What a node is about, for people and for `explain`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Scope {
    /// Benchmark.
    pub benchmark: String,
    /// Run unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Recipes that share the node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recipes: Vec<String>,
    /// Query mode's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Evaluator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluator: Option<String>,
    /// Evaluation, for the nodes that belong to one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<String>,
}

/// Responses of one unit in one query mode of one recipe, as nodes.
#[derive(Debug, Clone)]
pub struct ResponseNodes {
    /// Recipe.
    pub recipe: String,
    /// The query's name.
    pub query: String,
    /// The query's mode.
    pub mode: String,
    /// Unit.
    pub unit_id: String,
    /// The `retrieve` node.
    pub retrieve: NodeId,
    /// The `answer` node, where answers are made.
    pub answer: Option<NodeId>,
    /// The `score` nodes by evaluator.
    pub scores: Vec<(String, NodeId)>,
}

/// What a node embeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedWhat {
    /// Chunks.
    Chunks,
    /// Entities and relations.
    Graph,
}

/// The parameters of a node, by step.
#[derive(Clone)]
pub enum Spec {
    /// Which further files the benchmark's own files name.
    Sources {
        /// The benchmark.
        benchmark: Arc<BenchmarkSpec>,
    },
    /// The benchmark itself. Input: sources.
    Prepare {
        /// The benchmark.
        benchmark: Arc<BenchmarkSpec>,
    },
    /// A unit's documents as pages. Input: prepare.
    Materialize {
        /// The unit.
        unit: Arc<Unit>,
        /// Parser options.
        options: ParseOptions,
    },
    /// A unit's chunks. Input: materialize.
    Chunk {
        /// Chunker options.
        options: ChunkOptions,
    },
    /// A unit's full-text index. Input: chunk.
    FullTextIndex {
        /// Analyzer options.
        analyzer: AnalyzerOptions,
        /// How often titles count.
        title_weight: u32,
    },
    /// A unit's chunks, or its graph, as vectors. Input: chunk or build_graph.
    Embed {
        /// What is embedded.
        what: EmbedWhat,
        /// The embedder.
        embedder: Arc<EmbedderSpec>,
    },
    /// Vectors that can be searched. Input: embed.
    VectorIndex {
        /// How they are compared.
        options: VectorOptions,
    },
    /// What chunks say of entities and relations. Input: chunk.
    ExtractGraph {
        /// How.
        options: Arc<GraphOptions>,
    },
    /// A unit's graph. Input: extract_graph.
    BuildGraph,
    /// A mode asks a knowledge base. Inputs: prepare and the nodes of `artifacts`.
    Search {
        /// The unit.
        unit: Arc<Unit>,
        /// The mode.
        mode: Arc<SearchMode>,
        /// Who makes each artifact that it reads.
        artifacts: Arc<BTreeMap<KbArtifact, NodeId>>,
        /// How full-text matches are ranked.
        bm25: Bm25Options,
        /// What embeds queries.
        embedder: Option<Arc<EmbedderSpec>>,
        /// Most results per case.
        top_k: u32,
        /// Whether what the mode does is kept.
        trace: bool,
    },
    /// A unit's documents are handed to a system under test. Input: prepare.
    Ingest {
        /// The unit.
        unit: Arc<Unit>,
        /// The system.
        system: Arc<SystemSpec>,
        /// The system's declared files: what it is handed while one of them is written to is not trusted.
        watched: Arc<Vec<PathBuf>>,
    },
    /// A system under test is asked. Inputs: prepare, and ingest where it takes documents in.
    System {
        /// The unit.
        unit: Arc<Unit>,
        /// The system.
        system: Arc<SystemSpec>,
        /// The mode that is passed to it.
        mode: String,
        /// The options that are passed to it.
        options: Json,
        /// Most results per case.
        top_k: u32,
        /// The system's declared files: replies made while one of them is written to are not trusted.
        watched: Arc<Vec<PathBuf>>,
    },
    /// Answers. Inputs: prepare, retrieve.
    Answer {
        /// The unit.
        unit: Arc<Unit>,
        /// How.
        options: AnswerOptions,
    },
    /// Responses that were made elsewhere. Input: prepare.
    Import {
        /// The unit.
        unit: Arc<Unit>,
        /// The set.
        set: Arc<ImportSpec>,
    },
    /// One evaluator. Inputs: prepare, retrieve, and answer where there is one.
    Score {
        /// The unit.
        unit: Arc<Unit>,
        /// The evaluator.
        evaluator: Arc<dyn Evaluator>,
    },
    /// Means and slices. Inputs: prepare and all that `responses` names.
    Aggregate {
        /// The evaluation's name.
        evaluation: String,
        /// What is asked for.
        plan: Arc<Vec<PlannedQuery>>,
        /// What is summed up.
        responses: Arc<Vec<ResponseNodes>>,
        /// How.
        statistics: StatisticsOptions,
    },
    /// The report. Inputs: prepare, aggregate, and all that `responses` names.
    Report {
        /// The evaluation's name.
        evaluation: String,
        /// What is asked for.
        plan: Arc<Vec<PlannedQuery>>,
        /// What is reported.
        responses: Arc<Vec<ResponseNodes>>,
        /// The recipes, without secrets, paths and URLs.
        recipes: Arc<Vec<RecipeInfo>>,
        /// The queries.
        queries: Arc<Vec<QueryInfo>>,
        /// The evaluators.
        evaluators: Arc<Vec<EvaluatorInfo>>,
        /// The bounds that the means must keep.
        gates: Arc<Vec<GateSpec>>,
        /// What gates compare with.
        baseline: Option<Arc<Baseline>>,
        /// Name and message of the lints that the file tells.
        known_lints: Arc<Vec<(String, String)>>,
        /// Names of lints that are not told.
        silenced: Arc<Vec<String>>,
        /// Which case results it lists.
        case_results: CaseResults,
        /// What it is told of its run.
        run: Arc<RunInfo>,
    },
}

/// One action before the digests of its inputs are known.
#[derive(Clone)]
pub struct Node {
    /// Step.
    pub step: Step,
    /// Unique text; the same action has the same label in the next run.
    pub label: String,
    /// What it is about.
    pub scope: Scope,
    /// The nodes whose outputs it reads.
    pub inputs: Vec<NodeId>,
    /// Parameters.
    pub spec: Spec,
    /// Bumped by `--force`; 0 otherwise.
    pub salt: u64,
}

/// All nodes, inputs before the nodes that read them.
#[derive(Default)]
pub struct Graph {
    nodes: Vec<Node>,
    index: HashMap<Digest, NodeId>,
    labels: HashMap<String, usize>,
    systems: HashMap<Digest, Arc<SystemSpec>>,
    served: Vec<ServedModel>,
}

impl Graph {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// All nodes with their ids, in an order in which inputs come first.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i), node))
    }

    /// Notes a system under test. Gives the one that was noted before it with the same key, reached in another way: their
    /// responses would be taken for each other's.
    pub fn note_system(&mut self, system: &Arc<SystemSpec>) -> Option<Arc<SystemSpec>> {
        let known = self.systems.entry(key_of(&**system)).or_insert_with(|| system.clone());
        (known.transport != system.transport).then(|| known.clone())
    }

    /// Notes a model behind an endpoint. Gives the one of the same kind, name and endpoint that was noted before it, at
    /// another URL: their replies would be taken for each other's.
    pub fn note_served(&mut self, served: &ServedModel) -> Option<ServedModel> {
        let key = |model: &ServedModel| (model.kind, model.model.clone(), model.endpoint.clone());
        match self.served.iter().find(|known| key(known) == key(served)) {
            Some(known) => (known.base_url != served.base_url).then(|| known.clone()),
            None => {
                self.served.push(served.clone());
                None
            }
        }
    }

    /// Adds a node, or finds the one that is the same action: same step, parameters, salt and inputs.
    pub fn add(&mut self, node: Node) -> NodeId {
        let identity = identity(&node);
        if let Some(&id) = self.index.get(&identity) {
            let known = &mut self.nodes[id.0].scope;
            for recipe in node.scope.recipes {
                if !known.recipes.contains(&recipe) {
                    known.recipes.push(recipe);
                }
            }
            return id;
        }
        let id = NodeId(self.nodes.len());
        let mut node = node;
        // Two benchmarks may bear one name; labels must stay unique, and the same from run to run.
        let seen = self.labels.entry(node.label.clone()).or_insert(0);
        *seen += 1;
        if *seen > 1 {
            node.label = format!("{} #{seen}", node.label);
        }
        self.index.insert(identity, id);
        self.nodes.push(node);
        id
    }
}

/// What makes two nodes one action: everything static that will be in the key, and the inputs.
fn identity(node: &Node) -> Digest {
    let mut hasher = KeyHasher::new();
    let v: &mut dyn KeyVisitor = &mut hasher;
    v.text("step", node.step.name());
    v.uint("salt", node.salt);
    v.begin_list("inputs", node.inputs.len());
    for input in &node.inputs {
        v.uint("", input.0 as u64);
    }
    v.end();
    match &node.spec {
        Spec::Sources { benchmark } | Spec::Prepare { benchmark } => {
            benchmark.adapter.walk(v);
            benchmark.selection.walk(v);
            // Two datasets may have equal options: here, and only here, their places tell them apart.
            for file in benchmark.listing() {
                v.text("", &file.path.to_string_lossy());
            }
        }
        Spec::Materialize { unit, options } => {
            v.text("unit", &unit.unit_id);
            options.walk(v);
        }
        Spec::Chunk { options } => options.walk(v),
        Spec::FullTextIndex { analyzer, title_weight } => {
            analyzer.walk(v);
            v.uint("title_weight", u64::from(*title_weight));
        }
        Spec::Embed { what, embedder } => {
            v.text("what", &format!("{what:?}"));
            embedder.walk(v);
        }
        Spec::VectorIndex { options } => options.walk(v),
        Spec::ExtractGraph { options } => options.walk(v),
        Spec::BuildGraph => {}
        Spec::Search { unit, mode, artifacts, bm25, embedder, top_k, trace } => {
            v.text("unit", &unit.unit_id);
            for (artifact, id) in artifacts.iter() {
                v.uint(&format!("{artifact:?}"), id.0 as u64);
            }
            let kb = KnowledgeBase { artifacts: BTreeMap::new(), bm25: *bm25, embedder: embedder.as_deref().cloned() };
            mode.walk("mode", &kb, v);
            v.uint("top_k", u64::from(*top_k));
            v.bool("trace", *trace);
        }
        Spec::Ingest { unit, system, watched: _ } => {
            v.text("unit", &unit.unit_id);
            system.walk(v);
        }
        Spec::System { unit, system, mode, options, top_k, watched: _ } => {
            v.text("unit", &unit.unit_id);
            system.walk(v);
            system.walk_search(v);
            v.text("mode", mode);
            ragstage_cache::key::walk_json(v, "options", &serde_json::Value::Object(options.clone()));
            v.uint("top_k", u64::from(*top_k));
        }
        Spec::Answer { unit, options } => {
            v.text("unit", &unit.unit_id);
            options.walk(v);
        }
        Spec::Import { unit, set } => {
            v.text("unit", &unit.unit_id);
            set.walk(v);
        }
        Spec::Score { unit, evaluator } => {
            v.text("unit", &unit.unit_id);
            v.begin_record("evaluator", "evaluator");
            evaluator.walk(v);
            v.end();
        }
        // One per evaluation.
        Spec::Aggregate { evaluation, .. } | Spec::Report { evaluation, .. } => v.text("evaluation", evaluation),
    }
    hasher.finish()
}
