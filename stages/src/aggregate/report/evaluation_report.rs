//! The JSON report (spec/heta 1.1, EvaluationReport): Heta's keys in Heta's order, and all else under `ragstage`.

use std::collections::{BTreeMap, BTreeSet};

use ragstage_cache::Digest;
use serde::Serialize;
use serde_json::Value;

use super::action::{BuildReport, EvaluatorInfo, QueryInfo, RecipeInfo};
use super::case_response::CaseResponse;
use super::case_result::CaseResult;
use super::findings::Findings;
use super::heta_manifest::{TruncatedKnowledgeBases, heta_time, knowledge_bases, recipe_manifest};
use super::human_agreement::HumanAgreement;
use super::json_object::JsonObject;
use super::knowledge_base_name::KnowledgeBaseNames;
use super::lints::Lint;
use super::shown_cases::{ShownCases, Truncated};
use crate::aggregate::case_list::CaseList;
use crate::aggregate::{GateOutcome, Latency, Summary, UsageTable};
use crate::artifact::{BenchmarkInfo, Documents, Json};

/// Version of what is under `ragstage`.
const FORMAT: u32 = 1;

/// A report that is being written.
pub(super) struct EvaluationReport<'a> {
    report: &'a BuildReport,
    cases: &'a CaseList,
    names: KnowledgeBaseNames,
    truncated: Option<TruncatedKnowledgeBases>,
    object: JsonObject,
}

/// A unit (spec/heta 1, BenchmarkRunUnit); empty lists mean all.
#[derive(Serialize)]
struct RunUnit<'a> {
    unit_id: &'a str,
    document_ids: Vec<&'a str>,
    case_ids: Vec<&'a str>,
    metadata: &'a Json,
}

/// What the benchmark says of itself (spec/heta 1, BenchmarkManifest). The digest, which Heta's lacks, is under `ragstage`.
#[derive(Serialize)]
struct Benchmark<'a> {
    name: &'a str,
    version: &'a str,
    split: &'a str,
    task_type: &'a str,
    build_scope: &'a str,
    homepage: Option<&'a str>,
    license: Option<&'a str>,
    citation: Option<&'a str>,
    metadata: &'a Json,
}

impl<'a> From<&'a BenchmarkInfo> for Benchmark<'a> {
    fn from(info: &'a BenchmarkInfo) -> Self {
        Benchmark {
            name: &info.name,
            version: &info.version,
            split: &info.split,
            task_type: &info.task_type,
            build_scope: &info.build_scope,
            homepage: info.homepage.as_deref(),
            license: info.license.as_deref(),
            citation: info.citation.as_deref(),
            metadata: &info.metadata,
        }
    }
}

/// The user's own fields, which ours win over.
#[derive(Serialize)]
struct ReportMetadata<'a> {
    #[serde(flatten)]
    own: BTreeMap<&'a str, &'a Value>,
    benchmark_document_keys: Vec<&'a str>,
    run_units: Vec<RunUnit<'a>>,
}

/// What Heta's report has no place for.
#[derive(Serialize)]
struct Ragstage<'a> {
    format: u32,
    version: &'static str,
    evaluation: &'a str,
    benchmark_digest: Option<Digest>,
    recipes: &'a [RecipeInfo],
    queries: &'a [QueryInfo],
    evaluators: &'a [EvaluatorInfo],
    summary: &'a Summary,
    latency: &'a Latency,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a UsageTable>,
    gates: &'a [GateOutcome],
    lints: &'a [Lint],
    #[serde(skip_serializing_if = "Option::is_none")]
    case_results_truncated: Option<&'a Truncated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knowledge_bases_truncated: Option<&'a TruncatedKnowledgeBases>,
    #[serde(skip_serializing_if = "<[HumanAgreement<'_>]>::is_empty")]
    human_agreement: &'a [HumanAgreement<'a>],
    digests: BTreeMap<&'static str, String>,
}

impl<'a> EvaluationReport<'a> {
    /// Writes all that comes before the case results. `base` is what the names of knowledge bases begin with; the report has a key
    /// where it is kept in an object store.
    pub(super) fn begin(
        report: &'a BuildReport,
        (base, report_key): (&str, Option<&str>),
        report_id: &str,
        cases: &'a CaseList,
        summary: &Summary,
    ) -> Result<Self, serde_json::Error> {
        let mut query_modes: Vec<&str> = Vec::new();
        for planned in &report.plan {
            if !query_modes.contains(&planned.query.as_str()) {
                query_modes.push(&planned.query);
            }
        }
        let recipes: Vec<&str> = report.recipes.iter().map(|recipe| recipe.name.as_str()).collect();
        let names = KnowledgeBaseNames::of(base, &recipes, &cases.units);
        let (manifest, truncated) = knowledge_bases(report, report_id, &cases.units.units, &names);
        let mut object = JsonObject::new();
        object.field("schema_version", "1")?;
        object.field("report_id", report_id)?;
        object.field("report_key", &report_key)?;
        object.field("benchmark", &Benchmark::from(&cases.units.benchmark))?;
        object.field("knowledge_base_name", base)?;
        object.field("knowledge_base_manifest", &manifest)?;
        object.field("recipe_manifest", &recipe_manifest(&report.recipes))?;
        object.field("query_modes", &query_modes)?;
        object.field("score_summary", &score_summary(report, summary))?;
        object.begin_array("case_results")?;
        Ok(EvaluationReport { report, cases, names, truncated, object })
    }

    /// Writes a case result.
    pub(super) fn case(&mut self, case: &CaseResponse<'_>) -> Result<(), serde_json::Error> {
        let name = self.names.get(&case.planned.recipe, case.unit_id);
        self.object.item(&CaseResult::of(case, name))
    }

    /// Writes all that comes after the case results.
    pub(super) fn finish(
        mut self,
        documents: &Documents,
        findings: &Findings<'_>,
        shown: &ShownCases,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let report = self.report;
        self.object.end_array();
        self.object.field("started_at", &heta_time(&report.started_at))?;
        self.object.field("finished_at", &heta_time(&report.finished_at))?;
        self.object.field("metadata", &metadata(report, self.cases, documents))?;
        let ragstage = Ragstage {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            evaluation: &report.evaluation,
            benchmark_digest: self.cases.units.benchmark.digest,
            recipes: &report.recipes,
            queries: &report.queries_info,
            evaluators: &report.evaluators,
            summary: findings.summary,
            latency: findings.latency,
            usage: Some(findings.usage).filter(|usage| !usage.rows.is_empty()),
            gates: findings.gates,
            lints: findings.lints,
            case_results_truncated: shown.truncated.as_ref(),
            knowledge_bases_truncated: self.truncated.as_ref(),
            human_agreement: findings.agreements,
            digests: report.inputs().into_iter().map(|(name, digest)| (name, digest.hex())).collect(),
        };
        self.object.field("ragstage", &ragstage)?;
        Ok(self.object.finish())
    }
}

/// Headline numbers by `{query}.{evaluator}`, as Heta names them, and by `{recipe}.{query}.{evaluator}` where there are
/// several recipes. A mean without enough coverage is left out, as Heta leaves out what has no number: whoever reads only
/// this map must not take it for a result. It is in `ragstage.summary`.
fn score_summary(report: &BuildReport, summary: &Summary) -> BTreeMap<String, f64> {
    let several = report.recipes.len() > 1;
    let name = |recipe: &str, query: &str, evaluator: &str| {
        if several { format!("{recipe}.{query}.{evaluator}") } else { format!("{query}.{evaluator}") }
    };
    let measures = summary.measures.iter();
    measures.filter_map(|m| Some((name(&m.recipe, &m.query, &m.evaluator), m.headline?))).collect()
}

fn metadata<'a>(report: &'a BuildReport, cases: &'a CaseList, documents: &'a Documents) -> ReportMetadata<'a> {
    let mut seen = BTreeSet::new();
    let keys = documents.rows.iter().map(|document| document.source_key.as_str());
    let run_units = cases.units.units.iter().map(|unit| {
        let of = |rows: &Option<Vec<u32>>| rows.as_ref().into_iter().flatten().map(|&row| row as usize).collect();
        let (document_rows, case_rows): (Vec<usize>, Vec<usize>) = (of(&unit.document_rows), of(&unit.case_rows));
        RunUnit {
            unit_id: &unit.unit_id,
            document_ids: document_rows
                .into_iter()
                .filter_map(|row| documents.rows.get(row))
                .map(|document| document.document_id.as_str())
                .collect(),
            case_ids: case_rows.into_iter().map(|row| cases.name(row).case_id).collect(),
            metadata: &unit.metadata,
        }
    });
    let ours = ["benchmark_document_keys", "run_units"];
    let own = report.run.metadata.iter().filter(|(key, _)| !ours.contains(&key.as_str()));
    ReportMetadata {
        own: own.map(|(key, value)| (key.as_str(), value)).collect(),
        benchmark_document_keys: keys.filter(|key| seen.insert(*key)).collect(),
        run_units: run_units.collect(),
    }
}
