//! What an evaluation asks for: as the aggregation plans it and as the report names it.

use std::sync::Arc;

use ragstage_cache::{Digest, Manifest, Walk};
use ragstage_stages::aggregate::{EvaluatorInfo, PlannedQuery, QueryInfo};
use ragstage_stages::artifact::{Json, Units};
use ragstage_stages::error::{InputError, Place};
use ragstage_stages::model::EmbedderSpec;
use ragstage_stages::query::{AnswerOptions, SystemSpec};
use ragstage_stages::score::program::{ProgramSpec, columns};
use ragstage_stages::score::{Evaluator, EvaluatorSpec, evaluator};

use super::error::GraphError;
use crate::evaluation::{
    Evaluation, EvaluatorConfig, OwnEvaluator, ProgramConfig, QuerySpec, Recipe, RecipeKind, ResponsesPlace, same,
};
use crate::exec::Sources;

/// Whether a query is for a recipe.
pub(super) fn asks(query: &QuerySpec, recipe: &Recipe) -> bool {
    query.recipes.as_ref().is_none_or(|recipes| recipes.contains(&recipe.name))
}

/// What the evaluation asks for, in its own order.
pub(super) fn planned(evaluation: &Evaluation, evaluators: &[Arc<dyn Evaluator>]) -> Vec<PlannedQuery> {
    let names: Vec<String> = evaluators.iter().map(|evaluator| evaluator.name()).collect();
    let mut planned = Vec::new();
    for recipe in &evaluation.recipes {
        for query in evaluation.queries.iter().filter(|query| asks(query, recipe)) {
            planned.push(PlannedQuery {
                recipe: recipe.name.clone(),
                query: query.name.clone(),
                mode: query.mode.clone(),
                evaluators: names.clone(),
            });
        }
    }
    planned
}

pub(super) fn query_info(query: &QuerySpec) -> QueryInfo {
    QueryInfo {
        name: query.name.clone(),
        mode: query.mode.clone(),
        top_k: query.top_k,
        options: serde_json::Value::Object(query.options.clone()),
    }
}

pub(super) fn evaluator_info(evaluation: &Evaluation, evaluator: &dyn Evaluator) -> EvaluatorInfo {
    let name = evaluator.name();
    let labels = evaluation.judges().find(|config| config.judge.name == name).and_then(|config| config.labels.clone());
    EvaluatorInfo { name, description: evaluator.describe().description.to_string(), labels }
}

/// How a recipe's answers are made: a system under test answers for itself unless the evaluation says otherwise.
pub(super) fn answer_options(evaluation: &Evaluation, recipe: &Recipe) -> Option<AnswerOptions> {
    match (&recipe.kind, evaluation.answer_given) {
        (RecipeKind::Responses(_), _) => None,
        (RecipeKind::System(_), false) => Some(AnswerOptions::System),
        _ => evaluation.answer.clone(),
    }
}

pub(super) fn evaluators(
    evaluation: &Evaluation,
    units: &Units,
    extra: &[EvaluatorConfig],
    sources: &Sources,
) -> Result<Vec<Arc<dyn Evaluator>>, GraphError> {
    let mut configs = Vec::new();
    let mut errors = Vec::new();
    match &evaluation.evaluators {
        Some(given) => configs.extend(given.iter().cloned()),
        None => {
            for text in &units.default_evaluators {
                match EvaluatorSpec::parse(text) {
                    Ok(spec) => configs.push(EvaluatorConfig::Spec(spec)),
                    Err(error) => errors.push(InputError::new(Place::file(&evaluation.path), error.to_string())),
                }
            }
            configs
                .extend(evaluation.benchmark_judge.iter().map(|judge| EvaluatorConfig::Judge(Box::new(judge.clone()))));
        }
    }
    configs.extend(extra.iter().cloned());
    let mut found: Vec<Arc<dyn Evaluator>> = Vec::new();
    for config in &configs {
        let made: Vec<Arc<dyn Evaluator>> = match config {
            EvaluatorConfig::Spec(spec) => match evaluator(spec) {
                Ok(made) => vec![Arc::from(made)],
                Err(error) => {
                    let mut input = InputError::new(Place::file(&evaluation.path), error.message);
                    input.hint = error.nearest.map(|nearest| format!("did you mean {nearest}?"));
                    errors.push(input);
                    continue;
                }
            },
            EvaluatorConfig::Judge(config) => vec![Arc::new(config.judge.clone())],
            EvaluatorConfig::Program(config) => match program(config, sources) {
                Ok(spec) => columns(spec).into_iter().map(|column| Arc::new(column) as Arc<dyn Evaluator>).collect(),
                Err(missing) => {
                    errors.extend(missing);
                    continue;
                }
            },
            EvaluatorConfig::Own(OwnEvaluator(evaluator)) => vec![evaluator.clone()],
        };
        for made in made {
            match found.iter().find(|other| other.name() == made.name()) {
                None => found.push(made),
                Some(other) if same(&**other, &*made) => {}
                Some(_) => {
                    let message = format!("two evaluators are named {:?}", made.name());
                    let error = InputError::new(Place::file(&evaluation.path), message);
                    errors.push(error.hint("give one of them another `name`, or NAME in its Python file"));
                }
            }
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(GraphError::Input(errors)) }
}

/// The program that `config` stands for, with the digests of its files.
fn program(config: &ProgramConfig, sources: &Sources) -> Result<ProgramSpec, Vec<InputError>> {
    let mut files = Vec::new();
    let mut errors = Vec::new();
    for (name, path) in &config.files {
        match sources.digest(path) {
            Ok(Some(digest)) => files.push((name.clone(), digest)),
            Ok(None) => errors.push(
                InputError::new(Place::file(path), format!("file of evaluator {:?} does not exist", config.name)).hint(
                    "correct its `files`; paths are relative to the evaluation file, and in FILES to the Python file",
                ),
            ),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(ProgramSpec {
        name: config.name.clone(),
        description: config.description.clone(),
        higher_is_better: config.higher_is_better,
        version: config.version.clone(),
        runner: config.runner.clone(),
        files,
        paths: config.files.iter().map(|(_, path)| path.clone()).collect(),
        reads: config.reads,
        scores: config.scores.clone(),
        batch: config.batch,
        launch: config.launch.clone(),
    })
}

/// A recipe's options for the report, without secrets, paths and URLs.
pub(super) fn recipe_manifest(
    recipe: &Recipe,
    system: Option<&SystemSpec>,
    embedder: Option<&EmbedderSpec>,
    answer: Option<&AnswerOptions>,
) -> serde_json::Value {
    let mut manifest = built_or_system(recipe, system, embedder);
    if let Some(options @ AnswerOptions::Chat(_)) = answer {
        manifest["answer"] = described(options);
    }
    manifest
}

fn built_or_system(recipe: &Recipe, system: Option<&SystemSpec>, embedder: Option<&EmbedderSpec>) -> serde_json::Value {
    match (&recipe.kind, system) {
        (RecipeKind::Built(built), _) => {
            let mut manifest =
                serde_json::json!({"parse": built.parse, "chunk": built.chunk, "full_text": built.full_text});
            let mut put = |key: &str, walk: &dyn Walk| manifest[key] = described(walk);
            if let Some(embedder) = embedder {
                put("embed", embedder);
                put("vector", &built.vector);
            }
            if let Some(graph) = &built.graph {
                put("graph", graph);
            }
            manifest
        }
        (RecipeKind::Responses(config), _) => {
            let from = match &config.place {
                ResponsesPlace::File { path, .. } => path.file_name().map(|name| name.to_string_lossy().into_owned()),
                ResponsesPlace::Run(_) => None,
            };
            serde_json::json!({"responses": {"file": from}})
        }
        (RecipeKind::System(config), system) => {
            let files: Vec<(&String, String)> = system
                .map(|system| system.files.iter().map(|(name, digest)| (name, Digest::hex(digest))).collect())
                .unwrap_or_default();
            let name = config.name.as_ref().unwrap_or(&recipe.name);
            let mut manifest = serde_json::json!({"name": name, "version": config.version, "files": files});
            if let Some(spec) = &config.openviking {
                manifest["openviking"] = described(&spec.options);
                manifest["search"] = described(&spec.search);
            }
            serde_json::json!({"system": manifest})
        }
    }
}

/// What is in the keys of `thing`, by dotted path.
fn described(thing: &dyn Walk) -> serde_json::Value {
    let leaves = Manifest::of(thing).leaves();
    leaves.into_iter().map(|(path, value)| (path, serde_json::Value::from(value.to_string()))).collect::<Json>().into()
}
