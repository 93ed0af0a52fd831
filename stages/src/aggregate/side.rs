//! One side of a comparison: the scores and responses of one query of one recipe, as a report and its table tell them.

use std::collections::BTreeMap;
use std::path::Path;

use ragstage_cache::Digest;
use ragstage_cache::table::{TableError, TableReader};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bootstrap::LEAST_CLUSTERS;
use crate::artifact::{self, BenchmarkInfo};
use crate::query::IMPORTED;

/// What one evaluator said of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The number; truth values are 1 and 0. `None` where the case was skipped or failed, or has a label.
    pub value: Option<f64>,
    /// The label, of evaluators that give labels.
    pub label: Option<String>,
    /// Whether the case passed.
    pub passed: Option<bool>,
}

/// The scores and responses of one query of one recipe.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// What people call it.
    pub name: String,
    /// The recipe.
    pub recipe: String,
    /// The query.
    pub query: String,
    /// By evaluator and case.
    pub scores: BTreeMap<String, BTreeMap<String, Scored>>,
    /// The run unit of each case.
    pub units: BTreeMap<String, String>,
    /// Of each case the first case of those that share gold documents, where the table says so.
    pub clusters: BTreeMap<String, String>,
    /// A digest of hits and answer of each case whose response the report lists.
    pub responses: BTreeMap<String, Digest>,
    /// What it is an evaluation of and how, by dotted path: the recipe's options, the query's, the benchmark's.
    pub identity: BTreeMap<String, String>,
}

/// Whether two sides are of the same data, as far as both say what they are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SameData {
    /// Nothing says otherwise.
    Yes,
    /// Of one benchmark, but of other documents, cases or gold.
    OtherState,
    /// Of benchmarks with different names.
    OtherBenchmark,
}

impl Side {
    /// What it calls its benchmark.
    pub fn benchmark(&self) -> Option<&str> {
        self.identity.get("benchmark.name").map(String::as_str)
    }

    /// Whether `other` is of the same data.
    pub fn same_data(&self, other: &Side) -> SameData {
        let differ = |path: &str| match (self.identity.get(path), other.identity.get(path)) {
            (Some(one), Some(another)) => one != another,
            _ => false,
        };
        match () {
            () if differ("benchmark.name") => SameData::OtherBenchmark,
            () if differ("benchmark.digest") => SameData::OtherState,
            () => SameData::Yes,
        }
    }

    /// The one of `others` that stands for what this one of `own` does: the same recipe and query. Responses that were made
    /// elsewhere answer the query [`IMPORTED`] and are named after their recipe, and after recipe and query where a run had
    /// several queries.
    pub fn twin<'a>(&self, own: &[Side], others: &'a [Side]) -> Option<&'a Side> {
        let named_after = |imported: &Side, asked: &Side| {
            imported.query == IMPORTED && imported.recipe == format!("{}-{}", asked.recipe, asked.query)
        };
        let lone = |sides: &[Side]| sides.iter().filter(|side| side.recipe == self.recipe).count() == 1;
        let exact = others.iter().find(|other| other.recipe == self.recipe && other.query == self.query);
        exact.or_else(|| others.iter().find(|other| named_after(other, self) || named_after(self, other))).or_else(
            || {
                let of_recipe = others.iter().find(|other| other.recipe == self.recipe)?;
                let imported = self.query == IMPORTED || of_recipe.query == IMPORTED;
                (imported && lone(own) && lone(others)).then_some(of_recipe)
            },
        )
    }

    /// The number of the cluster of each of `cases`: of its unit, or of the cases that share gold documents with it; `None` where
    /// there are too few of either.
    pub fn clusters<'a>(&self, cases: impl Iterator<Item = &'a String> + Clone) -> Option<Vec<usize>> {
        [&self.units, &self.clusters].into_iter().find_map(|names| {
            let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
            let numbered = cases.clone().map(|case| {
                let next = numbers.len();
                *numbers.entry(names.get(case).map(String::as_str).unwrap_or_default()).or_insert(next)
            });
            let numbered: Vec<usize> = numbered.collect();
            (numbers.len() >= LEAST_CLUSTERS).then_some(numbered)
        })
    }
}

/// A report that cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum SideError {
    /// `report.json` is no report.
    #[error("no report: {0}")]
    Report(#[from] serde_json::Error),
    /// `scores.parquet` is no table of scores.
    #[error("no table of scores: {0}")]
    Scores(#[from] TableError),
    /// A score that no evaluator gives.
    #[error("expected finite scores up to {:e}, found {value} of {evaluator} for case {case:?}", artifact::Score::MOST)]
    Value {
        /// The evaluator.
        evaluator: String,
        /// The case.
        case: String,
        /// The number.
        value: f64,
    },
}

#[derive(Deserialize)]
struct ReportFile {
    #[serde(default)]
    benchmark: Value,
    case_results: Vec<CaseResult>,
    #[serde(default)]
    recipe_manifest: Value,
    #[serde(default)]
    ragstage: Option<Ragstage>,
}

#[derive(Deserialize)]
struct Ragstage {
    #[serde(default)]
    recipes: Vec<Named>,
    #[serde(default)]
    queries: Vec<Value>,
    #[serde(default)]
    version: Value,
    #[serde(default)]
    benchmark_digest: Value,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    manifest: Value,
}

#[derive(Deserialize)]
struct CaseResult {
    case_id: String,
    query_mode: String,
    #[serde(default)]
    scores: Vec<Score>,
    #[serde(default)]
    response: Option<Response>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Score {
    name: String,
    value: Value,
    #[serde(default)]
    passed: Option<bool>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    results: Vec<Hit>,
    #[serde(default)]
    answer: Option<String>,
}

#[derive(Deserialize)]
struct Hit {
    id: String,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    recipe: String,
    #[serde(default)]
    benchmark_run_unit: String,
}

impl Response {
    fn digest(&self) -> Digest {
        let answer = self.answer.as_deref();
        let given = [u8::from(answer.is_some())];
        let parts = self.results.iter().flat_map(|hit| [hit.id.as_bytes(), hit.text.as_bytes()]);
        Digest::of_parts(
            "ragstage.compare.response",
            parts.chain([given.as_slice(), answer.unwrap_or_default().as_bytes()]),
        )
    }
}

/// The sides in a report, in its order. `scores` is the table beside it, where there is one: a large report does not list every
/// case. `place` is what people call the report, where there are several.
///
/// # Errors
/// When either is something else.
pub fn sides_of_report(place: Option<&Path>, report: &[u8], scores: Option<Vec<u8>>) -> Result<Vec<Side>, SideError> {
    let file: ReportFile = serde_json::from_slice(report)?;
    let mut sides: Vec<Side> = Vec::new();
    for result in &file.case_results {
        let side = side(&mut sides, &result.metadata.recipe, &result.query_mode);
        side.units.insert(result.case_id.clone(), result.metadata.benchmark_run_unit.clone());
        if let Some(response) = &result.response {
            side.responses.insert(result.case_id.clone(), response.digest());
        }
        for score in &result.scores {
            let value = match &score.value {
                Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
                other => other.as_f64(),
            };
            let label = score.value.as_str().map(str::to_string);
            let of_evaluator = side.scores.entry(score.name.clone()).or_default();
            of_evaluator.insert(result.case_id.clone(), Scored { value, label, passed: score.passed });
        }
    }
    if let Some(scores) = scores {
        read_table(&mut sides, scores)?;
    }
    sound(&sides)?;
    for side in &mut sides {
        side.identity = identity(&file, side);
        side.name = match place {
            Some(place) => format!("{}: {} / {}", place.display(), side.recipe, side.query),
            None => format!("{} / {}", side.recipe, side.query),
        };
    }
    Ok(sides)
}

/// The sides in a table of scores of `benchmark` alone.
///
/// # Errors
/// When it is something else.
pub fn sides_of_scores(scores: Vec<u8>, benchmark: &BenchmarkInfo) -> Result<Vec<Side>, SideError> {
    let mut sides = Vec::new();
    read_table(&mut sides, scores)?;
    let benchmark = serde_json::to_value(benchmark)?;
    for side in &mut sides {
        leaves("benchmark", &benchmark, &mut side.identity);
        side.name = format!("{} / {}", side.recipe, side.query);
    }
    Ok(sides)
}

fn side<'a>(sides: &'a mut Vec<Side>, recipe: &str, query: &str) -> &'a mut Side {
    let position = match sides.iter().position(|side| side.recipe == recipe && side.query == query) {
        Some(position) => position,
        None => {
            sides.push(Side { recipe: recipe.to_string(), query: query.to_string(), ..Side::default() });
            sides.len() - 1
        }
    };
    &mut sides[position]
}

/// Checks that every score is one that an evaluator may give.
fn sound(sides: &[Side]) -> Result<(), SideError> {
    for (evaluator, scores) in sides.iter().flat_map(|side| &side.scores) {
        for (case, scored) in scores {
            if let Some(value) = scored.value.filter(|value| !value.is_finite() || value.abs() > artifact::Score::MOST)
            {
                return Err(SideError::Value { evaluator: evaluator.clone(), case: case.clone(), value });
            }
        }
    }
    Ok(())
}

/// The table has every case, and decides.
fn read_table(sides: &mut Vec<Side>, scores: Vec<u8>) -> Result<(), TableError> {
    let table = TableReader::open_any(scores)?;
    let (recipes, queries, evaluators) = (table.text("recipe")?, table.text("query")?, table.text("evaluator")?);
    let (units, cases) = (table.text("unit_id")?, table.text("case_id")?);
    let clusters = if table.has("cluster") { table.opt_text("cluster")? } else { Vec::new() };
    let (values, passed, labels) = (table.opt_float("value")?, table.opt_bool("passed")?, table.opt_text("label")?);
    for (i, (case, unit)) in cases.into_iter().zip(units).enumerate() {
        let text = |column: &[String]| column.get(i).cloned().unwrap_or_default();
        let side = side(sides, &text(&recipes), &text(&queries));
        side.units.insert(case.clone(), unit);
        if let Some(Some(cluster)) = clusters.get(i) {
            side.clusters.insert(case.clone(), cluster.clone());
        }
        let scored = Scored {
            value: values.get(i).copied().flatten(),
            label: labels.get(i).cloned().flatten(),
            passed: passed.get(i).copied().flatten(),
        };
        side.scores.entry(text(&evaluators)).or_default().insert(case, scored);
    }
    Ok(())
}

fn identity(file: &ReportFile, side: &Side) -> BTreeMap<String, String> {
    let mut identity = BTreeMap::new();
    leaves("benchmark", &file.benchmark, &mut identity);
    let ours = file.ragstage.as_ref();
    let recipe = ours.and_then(|ours| ours.recipes.iter().find(|recipe| recipe.name == side.recipe));
    leaves("recipe", recipe.map_or(&file.recipe_manifest, |recipe| &recipe.manifest), &mut identity);
    if let Some(ours) = ours {
        leaves("version", &ours.version, &mut identity);
        leaves("benchmark.digest", &ours.benchmark_digest, &mut identity);
        let named = |query: &&Value| query.get("name").and_then(Value::as_str) == Some(&side.query);
        if let Some(query) = ours.queries.iter().find(named) {
            leaves("query", query, &mut identity);
        }
    }
    // What they are called is no difference.
    identity.remove("query.name");
    identity
}

fn leaves(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| leaves(&format!("{path}.{key}"), value, into)),
        Value::Null => {}
        Value::String(text) => drop(into.insert(path.to_string(), text.clone())),
        other => drop(into.insert(path.to_string(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(names: &[(&str, &str)]) -> Vec<Side> {
        let side = |(recipe, query): &(&str, &str)| Side {
            recipe: recipe.to_string(),
            query: query.to_string(),
            ..Side::default()
        };
        names.iter().map(side).collect()
    }

    #[test]
    fn imported_responses_stand_for_what_they_are_named_after() {
        let twins = |own: &[(&str, &str)], others: &[(&str, &str)]| -> Vec<Option<(String, String)>> {
            let (own, others) = (sides(own), sides(others));
            let twin = |side: &Side| side.twin(&own, &others).map(|twin| (twin.recipe.clone(), twin.query.clone()));
            own.iter().map(twin).collect()
        };
        let some = |recipe: &str, query: &str| Some((recipe.to_string(), query.to_string()));
        let asked = [("a", "bm25"), ("b", "bm25")];
        let imported = [("b", "imported"), ("a", "imported")];
        assert_eq!(twins(&asked, &asked), [some("a", "bm25"), some("b", "bm25")]);
        assert_eq!(twins(&asked, &imported), [some("a", "imported"), some("b", "imported")]);
        assert_eq!(twins(&imported, &asked), [some("b", "bm25"), some("a", "bm25")]);
        // Which of the two queries a lone set is of, nobody knows.
        let queries = [("a", "bm25"), ("a", "dense")];
        assert_eq!(twins(&queries, &[("a", "imported")]), [None, None]);
        let both = [("a-bm25", "imported"), ("a-dense", "imported")];
        assert_eq!(twins(&queries, &both), [some("a-bm25", "imported"), some("a-dense", "imported")]);
        assert_eq!(twins(&both, &queries), [some("a", "bm25"), some("a", "dense")]);
        assert_eq!(twins(&[("a", "bm25")], &[("a", "dense")]), [None]);
    }
}
