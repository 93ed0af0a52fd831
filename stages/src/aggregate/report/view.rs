//! What the pages show, with every number already written out.

use serde::Serialize;

use super::action::BuildReport;
use super::bar::Bar;
use super::findings::Findings;
use super::lints::Lint;
use super::slice_table::SliceTable;
use super::worst_cases::WorstCase;
use crate::aggregate::{
    FailureGroup, GateOutcome, Headline, Latency, LatencyStatistics, MeasureSummary, NoHeadline, PlannedQuery,
    Resampled, Summary, UsageRow,
};
use crate::artifact::BenchmarkInfo;
use crate::model::dollars;

/// How many groups of failures a page shows; all are in the JSON report.
const SHOWN_FAILURES: usize = 100;

/// The context of the templates.
#[derive(Serialize)]
pub(super) struct View<'a> {
    evaluation: &'a str,
    report_id: &'a str,
    started_at: &'a str,
    finished_at: &'a str,
    benchmark: &'a BenchmarkInfo,
    documents: usize,
    units: u64,
    cases: u64,
    confidence: String,
    floor: String,
    queries: Vec<QueryColumn<'a>>,
    matrix: Vec<MatrixRow<'a>>,
    headlines: Vec<HeadlineRow<'a>>,
    gates: Vec<GateRow<'a>>,
    failed_gates: usize,
    clustered: Option<&'static str>,
    warnings: Vec<String>,
    lints: &'a [Lint],
    labels: Vec<LabelRow<'a>>,
    categories: Vec<SliceTable>,
    unit_tables: Vec<SliceTable>,
    latency: Vec<LatencyRow<'a>>,
    usage: Vec<UsageLine<'a>>,
    failed_responses: u64,
    refused_responses: u64,
    failures: &'a [FailureGroup],
    hidden_failures: usize,
    worst: &'a [WorstCase],
    worst_by: Option<&'a str>,
    hidden_cases: usize,
    settings: Vec<Setting>,
    records: Vec<Record<'a>>,
}

/// One query of one recipe.
#[derive(Serialize)]
struct QueryColumn<'a> {
    recipe: &'a str,
    query: &'a str,
    mode: &'a str,
    cases: u64,
    failed: u64,
    refused: u64,
}

/// An evaluator over all queries, for the Markdown page.
#[derive(Serialize)]
struct MatrixRow<'a> {
    evaluator: &'a str,
    cells: Vec<String>,
}

/// An evaluator over one query, for the HTML page.
#[derive(Serialize)]
struct HeadlineRow<'a> {
    recipe: &'a str,
    query: &'a str,
    evaluator: &'a str,
    mean: Option<String>,
    low: Option<String>,
    high: Option<String>,
    bar: Option<Bar>,
    std: Option<String>,
    scored: u64,
    failed: u64,
    skipped: u64,
    coverage: String,
    why_not: Option<String>,
}

/// A gate on one query of one recipe.
#[derive(Serialize)]
struct GateRow<'a> {
    passed: bool,
    measure: &'a str,
    recipe: &'a str,
    query: &'a str,
    value: Option<String>,
    bounds: String,
    why: Option<&'a str>,
}

/// How often one label was given.
#[derive(Serialize)]
struct LabelRow<'a> {
    recipe: &'a str,
    query: &'a str,
    evaluator: &'a str,
    label: &'a str,
    cases: u64,
    share: String,
}

/// Latencies of one part of one query.
#[derive(Serialize)]
struct LatencyRow<'a> {
    recipe: &'a str,
    query: &'a str,
    part: &'static str,
    count: u64,
    mean: String,
    p50: String,
    p95: String,
    p99: String,
}

/// What one part of one query took of one model.
#[derive(Serialize)]
struct UsageLine<'a> {
    recipe: &'a str,
    query: &'a str,
    part: String,
    model: &'a str,
    cases: u64,
    calls: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    tokens_per_case: String,
    usd: String,
    usd_per_case: String,
    counted_by: String,
}

/// A name and a value of the provenance.
#[derive(Serialize)]
struct Setting {
    name: &'static str,
    value: String,
}

/// A document of the provenance, as indented JSON.
#[derive(Serialize)]
struct Record<'a> {
    kind: &'static str,
    name: &'a str,
    text: String,
}

/// What a view is made from.
pub(super) struct Material<'a> {
    pub(super) report: &'a BuildReport,
    pub(super) report_id: &'a str,
    pub(super) benchmark: &'a BenchmarkInfo,
    pub(super) documents: usize,
    pub(super) findings: Findings<'a>,
    pub(super) worst: &'a [WorstCase],
    pub(super) hidden_cases: usize,
}

impl<'a> View<'a> {
    /// The view of `material`.
    pub(super) fn of(material: &Material<'a>) -> Self {
        let Material { report, findings: Findings { summary, latency, usage, gates, lints, .. }, .. } = *material;
        let statistics = &summary.statistics;
        let shown_failures = summary.failures.len().min(SHOWN_FAILURES);
        View {
            evaluation: &report.evaluation,
            report_id: material.report_id,
            started_at: &report.started_at,
            finished_at: &report.finished_at,
            benchmark: material.benchmark,
            documents: material.documents,
            units: summary.units,
            cases: summary.cases,
            confidence: format!("{} %", (statistics.confidence * 1e4).round() / 100.0),
            floor: number(statistics.coverage_floor),
            queries: report.plan.iter().map(|planned| query_column(planned, summary)).collect(),
            matrix: matrix(&report.plan, summary),
            headlines: headline_rows(summary),
            gates: gates.iter().map(gate_row).collect(),
            failed_gates: gates.iter().filter(|gate| !gate.passed).count(),
            clustered: clustered(&summary.measures),
            lints,
            warnings: warnings(&report.plan, summary),
            labels: summary.measures.iter().flat_map(label_rows).collect(),
            categories: SliceTable::all(&summary.measures, |measure| &measure.categories),
            unit_tables: SliceTable::all(&summary.measures, |measure| &measure.units),
            latency: latency_rows(latency),
            usage: usage.rows.iter().map(usage_line).collect(),
            failed_responses: summary.responses.iter().map(|response| response.failed).sum(),
            refused_responses: summary.responses.iter().map(|response| response.refused).sum(),
            failures: &summary.failures[..shown_failures],
            hidden_failures: summary.failures.len() - shown_failures,
            worst: material.worst,
            worst_by: evaluators(summary).first().copied(),
            hidden_cases: material.hidden_cases,
            settings: settings(report, summary),
            records: records(report),
        }
    }
}

fn number(value: f64) -> String {
    format!("{value:.4}")
}

fn query_column<'a>(planned: &'a PlannedQuery, summary: &Summary) -> QueryColumn<'a> {
    let counts =
        summary.responses.iter().find(|counts| counts.recipe == planned.recipe && counts.query == planned.query);
    QueryColumn {
        recipe: &planned.recipe,
        query: &planned.query,
        mode: &planned.mode,
        cases: counts.map_or(0, |counts| counts.cases),
        failed: counts.map_or(0, |counts| counts.failed),
        refused: counts.map_or(0, |counts| counts.refused),
    }
}

/// The evaluators in order of first appearance.
fn evaluators(summary: &Summary) -> Vec<&str> {
    let mut evaluators: Vec<&str> = Vec::new();
    for measure in &summary.measures {
        if !evaluators.contains(&measure.evaluator.as_str()) {
            evaluators.push(&measure.evaluator);
        }
    }
    evaluators
}

fn matrix<'a>(plan: &[PlannedQuery], summary: &'a Summary) -> Vec<MatrixRow<'a>> {
    let cell = |evaluator: &str, planned: &PlannedQuery| {
        let own =
            |m: &&MeasureSummary| m.evaluator == evaluator && m.recipe == planned.recipe && m.query == planned.query;
        summary.measures.iter().find(own).map_or_else(String::new, matrix_cell)
    };
    evaluators(summary)
        .into_iter()
        .map(|evaluator| MatrixRow { evaluator, cells: plan.iter().map(|planned| cell(evaluator, planned)).collect() })
        .collect()
}

fn matrix_cell(measure: &MeasureSummary) -> String {
    let headline = Headline::from(measure);
    let counts = format!("{}/{}/{}", headline.scored, headline.failed, headline.skipped);
    match (headline.mean, headline.interval, headline.why_not) {
        (Some(mean), Some((low, high)), _) => format!("{mean:.4} [{low:.4}, {high:.4}] {counts}"),
        (Some(mean), None, _) => format!("{mean:.4} {counts}"),
        (None, _, Some(why)) => format!("– ({why}) {counts}"),
        (None, _, None) => format!("– {counts}"),
    }
}

/// Evaluator by evaluator, so that what is compared stands together.
fn headline_rows(summary: &Summary) -> Vec<HeadlineRow<'_>> {
    let of = |evaluator| summary.measures.iter().filter(move |measure| measure.evaluator == evaluator);
    evaluators(summary).into_iter().flat_map(of).map(headline_row).collect()
}

fn headline_row(measure: &MeasureSummary) -> HeadlineRow<'_> {
    let headline = Headline::from(measure);
    let distribution = measure.headline.and(measure.distribution.as_ref());
    HeadlineRow {
        recipe: &measure.recipe,
        query: &measure.query,
        evaluator: &measure.evaluator,
        mean: headline.mean.map(number),
        low: headline.interval.map(|(low, _)| number(low)),
        high: headline.interval.map(|(_, high)| number(high)),
        bar: Bar::of(measure),
        std: distribution.and_then(|distribution| distribution.std).map(number),
        scored: headline.scored,
        failed: headline.failed,
        skipped: headline.skipped,
        coverage: headline.coverage.map_or_else(|| "–".to_string(), number),
        why_not: headline.why_not.map(|why| why.to_string()),
    }
}

fn gate_row(gate: &GateOutcome) -> GateRow<'_> {
    let bounds = [("at least", gate.at_least), ("at most", gate.at_most)];
    let bounds: Vec<String> =
        bounds.into_iter().filter_map(|(word, bound)| Some(format!("{word} {}", bound?))).collect();
    let paired = gate.paired.as_ref().map(|paired| {
        let interval = paired.interval.map(|(low, high)| format!(" [{low:+.4}, {high:+.4}]")).unwrap_or_default();
        format!("difference {:+.4}{interval} over {} cases", paired.difference, paired.cases)
    });
    let bounds: Vec<String> = bounds.into_iter().chain(paired).collect();
    GateRow {
        passed: gate.passed,
        measure: &gate.measure,
        recipe: gate.recipe.as_deref().unwrap_or("any"),
        query: gate.query.as_deref().unwrap_or("any"),
        value: gate.value.map(number),
        bounds: bounds.join(", "),
        why: gate.why.as_deref(),
    }
}

/// What intervals are drawn from, where it is not single cases.
fn clustered(measures: &[MeasureSummary]) -> Option<&'static str> {
    measures.iter().find_map(|measure| match measure.interval?.resampled {
        Resampled::Units => Some("whole units are resampled, because their cases go up and down together"),
        Resampled::Documents => {
            Some("cases that share gold documents are resampled together, because they are found or missed together")
        }
        Resampled::Cases | Resampled::Nothing => None,
    })
}

/// One line per query whose evaluators lack a headline. That labels have no mean is no shortcoming.
fn warnings(plan: &[PlannedQuery], summary: &Summary) -> Vec<String> {
    let of = |planned: &PlannedQuery| {
        let own = summary.measures.iter().filter(|m| m.recipe == planned.recipe && m.query == planned.query);
        let missing: Vec<String> = own
            .filter_map(|measure| {
                let why = measure.no_headline.filter(|why| *why != NoHeadline::Labels)?;
                Some(format!("{} ({why})", measure.evaluator))
            })
            .collect();
        let PlannedQuery { recipe, query, .. } = planned;
        (!missing.is_empty()).then(|| format!("{recipe} / {query}: no number for {}", missing.join(", ")))
    };
    plan.iter().filter_map(of).collect()
}

fn label_rows(measure: &MeasureSummary) -> impl Iterator<Item = LabelRow<'_>> {
    measure.labels.iter().map(|label| LabelRow {
        recipe: &measure.recipe,
        query: &measure.query,
        evaluator: &measure.evaluator,
        label: &label.label,
        cases: label.cases,
        share: number(label.cases as f64 / measure.counts.scored.max(1) as f64),
    })
}

fn latency_rows(latency: &Latency) -> Vec<LatencyRow<'_>> {
    let ms = |value: f64| format!("{value:.1}");
    let mut rows = Vec::new();
    for query in &latency.queries {
        let mut push = |part, statistics: &Option<LatencyStatistics>| {
            if let Some(statistics) = statistics {
                rows.push(LatencyRow {
                    recipe: &query.recipe,
                    query: &query.query,
                    part,
                    count: statistics.count,
                    mean: ms(statistics.mean_ms),
                    p50: ms(statistics.p50_ms),
                    p95: ms(statistics.p95_ms),
                    p99: ms(statistics.p99_ms),
                });
            }
        };
        push("retrieve", &query.retrieve);
        push("answer", &query.answer);
        push("total", &query.total);
    }
    rows
}

fn usage_line(row: &UsageRow) -> UsageLine<'_> {
    UsageLine {
        recipe: &row.recipe,
        query: &row.query,
        part: match &row.evaluator {
            Some(evaluator) => format!("{} {evaluator}", row.part.name()),
            None => row.part.name().to_string(),
        },
        model: &row.model,
        cases: row.cases,
        calls: row.calls,
        prompt_tokens: row.prompt_tokens,
        completion_tokens: row.completion_tokens,
        tokens_per_case: format!("{:.1}", row.tokens_per_case),
        usd: dollars(row.usd, 6),
        usd_per_case: dollars(row.usd_per_case, 6),
        counted_by: match row.counted_cases {
            0 => "server".to_string(),
            all if all == row.cases => "ragstage".to_string(),
            some => format!("server; ragstage for {some} cases"),
        },
    }
}

fn settings(report: &BuildReport, summary: &Summary) -> Vec<Setting> {
    let statistics = &summary.statistics;
    let mut settings = vec![
        Setting { name: "ragstage", value: env!("CARGO_PKG_VERSION").to_string() },
        Setting { name: "bootstrap resamples", value: statistics.resamples.to_string() },
        Setting { name: "seed", value: statistics.seed.to_string() },
        Setting { name: "coverage floor", value: number(statistics.coverage_floor) },
    ];
    settings.extend(report.inputs().into_iter().map(|(name, digest)| Setting { name, value: digest.hex() }));
    settings
}

fn records(report: &BuildReport) -> Vec<Record<'_>> {
    let pretty = |value: &serde_json::Value| format!("{value:#}");
    let recipes = report.recipes.iter().map(|r| Record { kind: "recipe", name: &r.name, text: pretty(&r.manifest) });
    let queries = report.queries_info.iter().map(|query| Record {
        kind: "query",
        name: &query.name,
        text: pretty(&serde_json::json!({"mode": query.mode, "options": query.options, "top_k": query.top_k})),
    });
    let evaluators = report.evaluators.iter().map(|evaluator| Record {
        kind: "evaluator",
        name: &evaluator.name,
        text: evaluator.description.clone(),
    });
    recipes.chain(queries).chain(evaluators).collect()
}
