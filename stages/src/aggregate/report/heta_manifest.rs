//! Recipes and knowledge bases as Heta's manifests describe them (spec/heta 3.3): which steps there are and what each needs
//! and gives. What steps are set to, which Heta's do not say, is in `metadata`.

use std::collections::{BTreeSet, HashSet};

use ragstage_cache::Digest;
use serde::Serialize;
use serde_json::{Value, json};

use super::action::{BuildReport, RecipeInfo};
use super::knowledge_base_name::KnowledgeBaseNames;
use crate::artifact::Unit;

/// A report describes no more knowledge bases than that; a benchmark may have a hundred thousand of them.
const MOST: usize = 1000;

/// A kind of steps, by the key that a recipe has for it.
struct StepKind {
    key: &'static str,
    name: &'static str,
    class: &'static str,
    components: &'static [&'static str],
    needs: &'static [&'static str],
    gives: &'static [&'static str],
    queries: &'static [&'static str],
    /// Kind and name of the index, and the store that has it.
    asset: Option<(&'static str, &'static str, &'static str)>,
}

impl StepKind {
    const fn new(key: &'static str, name: &'static str, class: &'static str) -> Self {
        StepKind { key, name, class, components: &[], needs: &[], gives: &[], queries: &[], asset: None }
    }
}

/// In the order in which they run. Names and artifacts are Heta's where the step is one that Heta has.
static STEPS: [StepKind; 8] = [
    StepKind {
        components: &["parsers.documents", "stores.objects"],
        gives: &["parsed_document_keys"],
        ..StepKind::new("parse", "parse_documents", "ParseDocuments")
    },
    StepKind {
        components: &["stores.objects"],
        needs: &["parsed_document_keys"],
        gives: &["chunk_keys"],
        ..StepKind::new("chunk", "split_documents", "SplitDocuments")
    },
    StepKind {
        components: &["models.embedding", "stores.objects"],
        needs: &["chunk_keys"],
        gives: &["chunk_embedding_keys"],
        ..StepKind::new("embed", "embed_chunks", "EmbedChunks")
    },
    StepKind {
        components: &["stores.objects", "stores.vector"],
        needs: &["chunk_embedding_keys", "chunk_keys"],
        queries: &["vector_search"],
        asset: Some(("chunk_vector_index", "chunks", "stores.vector")),
        ..StepKind::new("vector", "index_vectors", "IndexVectors")
    },
    StepKind {
        components: &["stores.objects", "stores.text_index"],
        needs: &["chunk_keys"],
        queries: &["full_text_search"],
        asset: Some(("chunk_full_text_index", "chunk_full_text", "stores.text_index")),
        ..StepKind::new("full_text", "index_full_text", "IndexFullText")
    },
    StepKind {
        components: &["stores.objects"],
        needs: &["chunk_keys"],
        queries: &["graph_search"],
        asset: Some(("graph_tables", "graph", "stores.objects")),
        ..StepKind::new("graph", "build_graph", "BuildGraph")
    },
    StepKind {
        components: &["systems.under_test"],
        ..StepKind::new("system", "hand_over_documents", "HandOverDocuments")
    },
    StepKind { components: &["stores.objects"], ..StepKind::new("responses", "import_responses", "ImportResponses") },
];

/// Which steps the recipes of `manifests` have; a recipe that does not say takes part in none.
fn steps(recipes: &[&RecipeInfo]) -> Vec<&'static StepKind> {
    STEPS.iter().filter(|step| recipes.iter().any(|recipe| recipe.manifest.get(step.key).is_some())).collect()
}

fn requirements(step: &StepKind) -> Value {
    json!({"components": step.components, "artifacts": step.needs, "queries": []})
}

fn assets(step: &StepKind) -> Vec<Value> {
    let asset = |(kind, name, store)| json!({"kind": kind, "name": name, "store": store, "metadata": {}});
    step.asset.map(asset).into_iter().collect()
}

fn capabilities(step: &StepKind) -> Value {
    json!({"artifacts": step.gives, "queries": step.queries, "search_assets": assets(step)})
}

/// Each of what `of` names once, sorted.
fn union(steps: &[&StepKind], of: fn(&StepKind) -> &'static [&'static str]) -> BTreeSet<&'static str> {
    steps.iter().flat_map(|step| of(step)).copied().collect()
}

/// The manifest of the recipes of a report: steps of any of them, since Heta has one recipe. All that each says is in
/// `metadata`: as it is of a single recipe, else under `recipes`.
pub(super) fn recipe_manifest(recipes: &[RecipeInfo]) -> Value {
    let metadata = match recipes {
        [only] => only.manifest.clone(),
        several => json!({"recipes": several}),
    };
    manifest(&recipes.iter().collect::<Vec<_>>(), metadata)
}

fn manifest(recipes: &[&RecipeInfo], metadata: Value) -> Value {
    let steps = steps(recipes);
    let listed: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            json!({
                "index": index,
                "name": step.name,
                "type": step.class,
                "requirements": requirements(step),
                "capabilities": capabilities(step),
            })
        })
        .collect();
    json!({
        "schema_version": "1",
        "steps": listed,
        "component_refs": union(&steps, |step| step.components),
        "artifacts_required": union(&steps, |step| step.needs),
        "capabilities_provided": union(&steps, |step| step.queries),
        "metadata": metadata,
    })
}

/// That not all knowledge bases are described.
#[derive(Debug, Serialize)]
pub(super) struct TruncatedKnowledgeBases {
    listed: usize,
    of: usize,
}

/// What a report says of its knowledge bases: of a single one its manifest, of several `{"knowledge_bases": [...]}`, recipe by
/// recipe, in them units in order; and what is left out, where not all are described.
pub(super) fn knowledge_bases(
    report: &BuildReport,
    report_id: &str,
    units: &[Unit],
    names: &KnowledgeBaseNames,
) -> (Value, Option<TruncatedKnowledgeBases>) {
    let of = report.recipes.len() * units.len();
    let each = report.recipes.iter().flat_map(|recipe| units.iter().map(move |unit| (recipe, unit)));
    let tables = report.responses.iter();
    let there: HashSet<[&str; 3]> =
        tables.map(|table| [table.recipe.as_str(), table.query.as_str(), table.unit_id.as_str()]).collect();
    let manifest = |(recipe, unit): (&RecipeInfo, &Unit)| {
        let mut planned = report.plan.iter().filter(|planned| planned.recipe == recipe.name);
        let succeeded = planned.all(|planned| there.contains(&[recipe.name.as_str(), &planned.query, &unit.unit_id]));
        let status = if succeeded { "succeeded" } else { "failed" };
        knowledge_base(report, report_id, (recipe, unit), names.get(&recipe.name, &unit.unit_id), status)
    };
    let mut listed: Vec<Value> = each.take(MOST).map(manifest).collect();
    let truncated = (listed.len() < of).then_some(TruncatedKnowledgeBases { listed: listed.len(), of });
    match of {
        1 => (listed.pop().unwrap_or_default(), truncated),
        _ => (json!({"knowledge_bases": listed}), truncated),
    }
}

/// An RFC 3339 time with the offset of UTC as Heta writes it: many readers of ISO 8601 know no `Z`.
pub(super) fn heta_time(time: &str) -> String {
    time.strip_suffix('Z').map_or_else(|| time.to_string(), |local| format!("{local}+00:00"))
}

/// Steps are cached and shared with other evaluations, so they have no times of their own here: all times are those of the
/// evaluation.
fn knowledge_base(
    report: &BuildReport,
    report_id: &str,
    (recipe, unit): (&RecipeInfo, &Unit),
    name: &str,
    status: &str,
) -> Value {
    let (started_at, finished_at) = (heta_time(&report.started_at), heta_time(&report.finished_at));
    let steps = steps(&[recipe]);
    let run_id = Digest::of_parts("ragstage.report.run", [report_id.as_bytes(), name.as_bytes()]).hex();
    let step_records: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            json!({
                "index": index,
                "step_name": step.name,
                "step_type": step.class,
                "status": status,
                "started_at": started_at,
                "finished_at": finished_at,
                "requirements": requirements(step),
                "capabilities": capabilities(step),
                "input_artifacts": step.needs,
                "output_artifacts": step.gives,
                "issues": [],
                "error": null,
            })
        })
        .collect();
    json!({
        "schema_version": "1",
        "name": name,
        "description": null,
        "created_at": started_at,
        "updated_at": finished_at,
        "recipe": manifest(&[recipe], json!({"recipe": recipe.name})),
        "run_record": {
            "run_id": format!("run_{}", run_id.chars().take(32).collect::<String>()),
            "status": status,
            "started_at": started_at,
            "finished_at": finished_at,
            "step_records": step_records,
            "artifacts": {},
            "capabilities": {
                "artifacts": union(&steps, |step| step.gives),
                "queries": union(&steps, |step| step.queries),
                "search_assets": steps.iter().flat_map(|step| assets(step)).collect::<Vec<_>>(),
            },
            "issues": [],
        },
        "metadata": {
            "recipe": recipe.name,
            "unit_id": unit.unit_id,
            "documents": unit.documents,
            "documents_digest": unit.documents_digest,
        },
    })
}
