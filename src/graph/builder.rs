//! Evaluations to nodes.

use std::collections::BTreeSet;
use std::sync::Arc;

use ragstage_stages::aggregate::{GateSpec, RecipeInfo};
use ragstage_stages::artifact::{Unit, Units};
use ragstage_stages::error::{InputError, Place};
use ragstage_stages::query::SystemSpec;
use ragstage_stages::score::Evaluator;
use ragstage_stages::step::{Stage, Step};

use super::asked::{answer_options, asks, evaluator_info, evaluators, planned, query_info, recipe_manifest};
use super::baseline;
use super::embedder;
use super::error::GraphError;
use super::evaluation_nodes::EvaluationNodes;
use super::import;
use super::knowledge_base::KbNodes;
use super::lints::known_lints;
use super::node::{Graph, Node, NodeId, ResponseNodes, Scope, Spec};
use super::unit_place::UnitPlace;
use crate::evaluation::{
    BuiltRecipe, Evaluation, EvaluatorConfig, QuerySpec, Recipe, RecipeKind, ServedModel, SystemConfig,
};
use crate::exec::Sources;

/// Adds evaluations to a graph.
pub struct GraphBuilder<'a> {
    /// The graph.
    pub graph: &'a mut Graph,
    /// The last stage that is wanted.
    pub until: Stage,
    /// Looks up files that recipes declare.
    pub sources: &'a Sources,
    /// The nodes of the evaluation that is being added.
    pub members: BTreeSet<NodeId>,
}

impl GraphBuilder<'_> {
    /// The nodes that tell what the benchmark consists of.
    pub fn benchmark(&mut self, evaluation: &Evaluation, salt: &dyn Fn(Step) -> u64) -> NodeId {
        let benchmark = Arc::new(evaluation.benchmark.clone());
        let name = benchmark.adapter.benchmark_name();
        let scope = Scope { benchmark: name.clone(), ..Scope::default() };
        let sources = self.insert(Node {
            step: Step::Sources,
            label: format!("sources {name}"),
            scope: scope.clone(),
            inputs: Vec::new(),
            spec: Spec::Sources { benchmark: benchmark.clone() },
            salt: salt(Step::Sources),
        });
        self.insert(Node {
            step: Step::Prepare,
            label: format!("prepare {name}"),
            scope,
            inputs: vec![sources],
            spec: Spec::Prepare { benchmark },
            salt: salt(Step::Prepare),
        })
    }

    /// Everything after `prepare`, up to the wanted stage.
    ///
    /// # Errors
    /// When a declared file is missing or an evaluator is unknown.
    pub fn evaluation(
        &mut self,
        evaluation: &Evaluation,
        prepare: NodeId,
        units: &Units,
        extra: &[EvaluatorConfig],
        salt: &dyn Fn(Step) -> u64,
    ) -> Result<EvaluationNodes, GraphError> {
        let evaluators = evaluators(evaluation, units, extra, self.sources)?;
        let shared_units: Vec<Arc<Unit>> = units.units.iter().cloned().map(Arc::new).collect();
        let benchmark = evaluation.benchmark.adapter.benchmark_name();
        let mut responses = Vec::new();
        let mut errors = Vec::new();
        let mut recipes = Vec::new();
        for served in &evaluation.served {
            if self.graph.note_served(served).is_some() {
                errors.push(same_model(evaluation, served));
            }
        }
        for recipe in &evaluation.recipes {
            let system = match &recipe.kind {
                RecipeKind::System(config) => match self.system(evaluation, recipe, config) {
                    Ok(system) => {
                        let system = Arc::new(system);
                        if self.graph.note_system(&system).is_some() {
                            errors.push(same_system(evaluation, recipe, &system));
                        }
                        Some(system)
                    }
                    Err(found) => {
                        errors.extend(found);
                        continue;
                    }
                },
                RecipeKind::Built(_) | RecipeKind::Responses(_) => None,
            };
            let import = match &recipe.kind {
                RecipeKind::Responses(config) => match import::import(&recipe.name, config, self.sources) {
                    Ok(set) => Some(Arc::new(set)),
                    Err(found) => {
                        errors.push(found);
                        continue;
                    }
                },
                _ => None,
            };
            let embedder = match &recipe.kind {
                RecipeKind::Built(BuiltRecipe { embed: Some(config), .. }) => {
                    match embedder::embedder(config, self.sources) {
                        Ok(embedder) => Some(Arc::new(embedder)),
                        Err(found) => {
                            errors.extend(found);
                            continue;
                        }
                    }
                }
                _ => None,
            };
            let answer = answer_options(evaluation, recipe);
            recipes.push(RecipeInfo {
                name: recipe.name.clone(),
                manifest: recipe_manifest(recipe, system.as_deref(), embedder.as_deref(), answer.as_ref()),
            });
            for unit in &shared_units {
                let (system, embedder, import) = (system.as_ref(), embedder.as_ref(), import.as_ref());
                let at = UnitPlace { benchmark: &benchmark, unit, recipe, system, embedder, import, prepare };
                self.unit(evaluation, &at, &evaluators, salt, &mut responses);
            }
        }
        if !errors.is_empty() {
            return Err(GraphError::Input(errors));
        }
        let baseline = baseline::baseline(evaluation, self.sources).map_err(|error| GraphError::Input(vec![error]))?;
        let baseline = baseline.map(Arc::new);
        let responses = Arc::new(responses);
        let mut nodes = EvaluationNodes { prepare: Some(prepare), responses: responses.clone(), ..Default::default() };
        if self.until < Stage::Aggregate {
            nodes.members = self.members.iter().copied().collect();
            return Ok(nodes);
        }
        let scope = Scope { benchmark, evaluation: Some(evaluation.name.clone()), ..Scope::default() };
        let mut inputs = vec![prepare];
        for response in responses.iter() {
            inputs.push(response.retrieve);
            inputs.extend(response.answer);
            inputs.extend(response.scores.iter().map(|(_, id)| *id));
        }
        inputs.sort();
        inputs.dedup();
        let plan = Arc::new(planned(evaluation, &evaluators));
        let aggregate = self.insert(Node {
            step: Step::Aggregate,
            label: format!("aggregate {}", evaluation.name),
            scope: scope.clone(),
            inputs: inputs.clone(),
            spec: Spec::Aggregate {
                evaluation: evaluation.name.clone(),
                plan: plan.clone(),
                responses: responses.clone(),
                statistics: evaluation.statistics.clone(),
            },
            salt: salt(Step::Aggregate),
        });
        inputs.push(aggregate);
        nodes.aggregate = Some(aggregate);
        nodes.report = Some(self.insert(Node {
            step: Step::Report,
            label: format!("report {}", evaluation.name),
            scope,
            inputs,
            spec: Spec::Report {
                evaluation: evaluation.name.clone(),
                plan,
                responses,
                recipes: Arc::new(recipes),
                queries: Arc::new(evaluation.queries.iter().map(query_info).collect()),
                evaluators: Arc::new(
                    evaluators.iter().map(|evaluator| evaluator_info(evaluation, &**evaluator)).collect(),
                ),
                gates: Arc::new(evaluation.gates.iter().map(GateSpec::from).collect()),
                baseline,
                known_lints: Arc::new(known_lints(evaluation)),
                silenced: Arc::new(evaluation.silence.clone()),
                case_results: evaluation.case_results,
                run: Arc::new(evaluation.run.clone()),
            },
            salt: salt(Step::Report),
        }));
        nodes.members = self.members.iter().copied().collect();
        Ok(nodes)
    }

    fn insert(&mut self, node: Node) -> NodeId {
        let id = self.graph.add(node);
        self.members.insert(id);
        id
    }

    fn system(
        &self,
        evaluation: &Evaluation,
        recipe: &Recipe,
        config: &SystemConfig,
    ) -> Result<SystemSpec, Vec<InputError>> {
        let mut files = Vec::new();
        let mut errors = Vec::new();
        let base = evaluation.path.parent().unwrap_or(std::path::Path::new(""));
        for path in &config.files {
            match self.sources.digest(path) {
                Ok(Some(digest)) => {
                    // Relative to the evaluation file; reports do not tell where else on this machine a file is.
                    let outside = || path.file_name().map_or(path.as_path(), std::path::Path::new);
                    let name =
                        path.strip_prefix(base).unwrap_or_else(|_| outside()).to_string_lossy().replace('\\', "/");
                    files.push((name, digest));
                }
                Ok(None) => errors.push(
                    InputError::new(Place::file(path), format!("file of recipe {:?} does not exist", recipe.name))
                        .hint("correct `system.files`; paths are relative to the evaluation file"),
                ),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            Ok(SystemSpec {
                name: config.name.clone().unwrap_or_else(|| recipe.name.clone()),
                version: config.version.clone(),
                files,
                mapping: config.mapping.clone(),
                ingest_batch: config.ingest_batch,
                openviking: config.openviking.clone(),
                transport: config.transport.clone(),
            })
        } else {
            Err(errors)
        }
    }

    fn unit(
        &mut self,
        evaluation: &Evaluation,
        at: &UnitPlace<'_>,
        evaluators: &[Arc<dyn Evaluator>],
        salt: &dyn Fn(Step) -> u64,
        responses: &mut Vec<ResponseNodes>,
    ) {
        let watched = Arc::new(match &at.recipe.kind {
            RecipeKind::System(config) => config.files.clone(),
            RecipeKind::Built(_) | RecipeKind::Responses(_) => Vec::new(),
        });
        let built = match &at.recipe.kind {
            RecipeKind::Built(built) if !at.unit.is_asked() => {
                (self.until >= Stage::Build).then(|| (built, KbNodes::none()))
            }
            RecipeKind::Built(built) if self.until >= Stage::Materialize => {
                let spec = Spec::Materialize { unit: at.unit.clone(), options: built.parse.clone() };
                let pages = self.add(at, Step::Materialize, None, vec![at.prepare], spec, salt);
                (self.until >= Stage::Build).then(|| {
                    let mut needed = BTreeSet::new();
                    let asked = evaluation.queries.iter().filter(|query| asks(query, at.recipe));
                    asked.filter_map(|query| query.search.as_ref()).for_each(|mode| mode.reads(&mut needed));
                    (built, self.knowledge_base(at, built, pages, &needed, salt))
                })
            }
            _ => None,
        };
        let ingests = |system: &SystemSpec| system.ingests() && self.until >= Stage::Build && at.unit.is_asked();
        let ingest = at.system.filter(|system| ingests(system)).cloned().map(|system| {
            let spec = Spec::Ingest { unit: at.unit.clone(), system, watched: watched.clone() };
            self.add(at, Step::Ingest, None, vec![at.prepare], spec, salt)
        });
        if self.until < Stage::Query {
            return;
        }
        for query in &evaluation.queries {
            if !asks(query, at.recipe) {
                continue;
            }
            if let Some(set) = at.import {
                let spec = Spec::Import { unit: at.unit.clone(), set: set.clone() };
                let import = self.add(at, Step::Import, Some(query), vec![at.prepare], spec, salt);
                self.responses(at, query, (import, Some(import)), evaluators, salt, responses);
                continue;
            }
            let (inputs, spec) = match (at.system, &built, &query.search) {
                (Some(system), _, _) => (
                    [at.prepare].into_iter().chain(ingest).collect(),
                    Spec::System {
                        unit: at.unit.clone(),
                        system: system.clone(),
                        mode: query.mode.clone(),
                        options: query.options.clone(),
                        top_k: query.top_k,
                        watched: watched.clone(),
                    },
                ),
                (None, Some((built, kb)), Some(mode)) => {
                    let artifacts = kb.of(mode);
                    let mut inputs: Vec<NodeId> = artifacts.values().copied().collect();
                    inputs.sort();
                    inputs.dedup();
                    inputs.insert(0, at.prepare);
                    let spec = Spec::Search {
                        unit: at.unit.clone(),
                        mode: mode.clone(),
                        artifacts: Arc::new(artifacts),
                        bm25: built.full_text.bm25,
                        embedder: at.embedder.cloned(),
                        top_k: query.top_k,
                        trace: query.trace,
                    };
                    (inputs, spec)
                }
                _ => continue,
            };
            let retrieve = self.add(at, Step::Retrieve, Some(query), inputs, spec, salt);
            let answer = answer_options(evaluation, at.recipe).map(|options| {
                let spec = Spec::Answer { unit: at.unit.clone(), options };
                self.add(at, Step::Answer, Some(query), vec![at.prepare, retrieve], spec, salt)
            });
            self.responses(at, query, (retrieve, answer), evaluators, salt, responses);
        }
    }

    /// The scores of the responses that `retrieve` and `answer` make.
    fn responses(
        &mut self,
        at: &UnitPlace<'_>,
        query: &QuerySpec,
        (retrieve, answer): (NodeId, Option<NodeId>),
        evaluators: &[Arc<dyn Evaluator>],
        salt: &dyn Fn(Step) -> u64,
        responses: &mut Vec<ResponseNodes>,
    ) {
        let scores = if self.until < Stage::Score {
            Vec::new()
        } else {
            evaluators.iter().map(|e| self.score(at, query, retrieve, answer, e, salt)).collect()
        };
        responses.push(ResponseNodes {
            recipe: at.recipe.name.clone(),
            query: query.name.clone(),
            mode: query.mode.clone(),
            unit_id: at.unit.unit_id.clone(),
            retrieve,
            answer,
            scores,
        });
    }

    fn score(
        &mut self,
        at: &UnitPlace<'_>,
        query: &QuerySpec,
        retrieve: NodeId,
        answer: Option<NodeId>,
        evaluator: &Arc<dyn Evaluator>,
        salt: &dyn Fn(Step) -> u64,
    ) -> (String, NodeId) {
        let name = evaluator.name();
        let reads = evaluator.reads();
        let mut inputs = vec![at.prepare, retrieve];
        if reads.answer {
            inputs.extend(answer);
        }
        let id = self.insert(Node {
            step: Step::Score,
            label: format!("score {} {} {} {name}", at.place(), at.recipe.name, query.name),
            scope: Scope { evaluator: Some(name.clone()), ..at.scope(Some(query)) },
            inputs,
            spec: Spec::Score { unit: at.unit.clone(), evaluator: evaluator.clone() },
            salt: salt(Step::Score),
        });
        (name, id)
    }

    pub(super) fn add(
        &mut self,
        at: &UnitPlace<'_>,
        step: Step,
        query: Option<&QuerySpec>,
        inputs: Vec<NodeId>,
        spec: Spec,
        salt: &dyn Fn(Step) -> u64,
    ) -> NodeId {
        let label = match query {
            Some(query) => format!("{step} {} {} {}", at.place(), at.recipe.name, query.name),
            None => format!("{step} {} {}", at.place(), at.recipe.name),
        };
        self.insert(Node { step, label, scope: at.scope(query), inputs, spec, salt: salt(step) })
    }

    /// A node of a knowledge base; `part` tells it from another of the same step.
    pub(super) fn add_part(
        &mut self,
        at: &UnitPlace<'_>,
        step: Step,
        part: Option<&str>,
        inputs: Vec<NodeId>,
        spec: Spec,
        salt: &dyn Fn(Step) -> u64,
    ) -> NodeId {
        let part = part.map(|part| format!(" {part}")).unwrap_or_default();
        let label = format!("{step} {} {}{part}", at.place(), at.recipe.name);
        self.insert(Node { step, label, scope: at.scope(None), inputs, spec, salt: salt(step) })
    }
}

/// Two systems that are one by their keys, but reached in different ways.
fn same_system(evaluation: &Evaluation, recipe: &Recipe, system: &SystemSpec) -> InputError {
    InputError::new(
        Place::file(&evaluation.path),
        format!(
            "the system of recipe {:?} has the name {:?}, version {:?} and files of another evaluation's, but is reached in \
             another way",
            recipe.name, system.name, system.version
        ),
    )
    .hint("give different systems different `name`s or `version`s: responses are kept by these, not by URL")
}

/// Two models that are one by their keys, but served in different places.
fn same_model(evaluation: &Evaluation, served: &ServedModel) -> InputError {
    let ServedModel { kind, model, endpoint, base_url, .. } = served;
    InputError::new(
        Place::file(&evaluation.path),
        format!("the {kind} {model:?} of endpoint {endpoint:?} is at {base_url}, and at another URL as well"),
    )
    .hint("give different servers different `endpoint`s: replies are kept by model and endpoint, not by URL")
}
