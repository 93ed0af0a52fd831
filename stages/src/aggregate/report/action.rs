//! The report of an evaluation in every format.

use std::collections::{BTreeMap, BTreeSet};

use ragstage_cache::key::{key_of, walk_json, walk_texts};
use ragstage_cache::table_file::Rows;
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::Serialize;

use super::case_response::{CaseParts, CaseResponse};
use super::case_results::CaseResults;
use super::case_texts::CaseTexts;
use super::evaluation_report::EvaluationReport;
use super::findings::Findings;
use super::human_agreement::HumanAgreements;
use super::lints::Lints;
use super::page::Page;
use super::run_info::RunInfo;
use super::scale::Scale;
use super::shown_cases::ShownCases;
use super::view::{Material, View};
use super::worst_cases::WorstCases;
use crate::aggregate::action::walk_list;
use crate::aggregate::case_list::CaseList;
use crate::aggregate::observed::Observed;
use crate::aggregate::response_errors::ResponseErrors;
use crate::aggregate::series::Series;
use crate::aggregate::unit_responses::UnitResponses;
use crate::aggregate::{
    Baseline, GateOutcome, GateSpec, Latency, PlannedQuery, ResponseTable, ScoreTable, Summary, UsageTable, gate,
    paired_gate,
};
use crate::artifact::Documents;
use crate::contract::{Action, Context, Output, Produced, begin_key, decoded};
use crate::error::StageError;
use crate::score::judge::HumanLabels;
use crate::step::Step;

/// A recipe, as reports name it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecipeInfo {
    /// Its name.
    pub name: String,
    /// All that it says: steps, models, options.
    pub manifest: serde_json::Value,
}

/// A query, as reports name it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryInfo {
    /// Its name.
    pub name: String,
    /// The query mode, e.g. `full_text_search`.
    pub mode: String,
    /// How many results are asked for.
    pub top_k: u32,
    /// The mode's options.
    pub options: serde_json::Value,
}

/// An evaluator, as reports name it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatorInfo {
    /// Its canonical name.
    pub name: String,
    /// What it measures, in a sentence.
    pub description: String,
    /// What people say of the same cases, where the evaluation names a file of that.
    #[serde(skip)]
    pub labels: Option<HumanLabels>,
}

/// The output with the report's key in an object store, where it is kept in one.
pub const REPORT_KEY: &str = "report_key";

/// The report of an evaluation: `report.json`, `report.md` and `report.html`, all observations, since they tell times.
///
/// What it lists is bounded by [`CaseResults`]: beyond that, what is not listed is in the table of all scores alone.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildReport {
    /// What people call the evaluation.
    pub evaluation: String,
    /// What is asked for, in the order in which it is reported; as given to the aggregation.
    pub plan: Vec<PlannedQuery>,
    /// The `summary` artifact.
    pub summary: Digest,
    /// The `score_table` artifact; read where a gate compares.
    pub score_table: Digest,
    /// The `latency` artifact.
    pub latency: Option<Digest>,
    /// The `usage` artifact, where models were asked.
    pub usage: Option<Digest>,
    /// The score tables that were aggregated.
    pub scores: Vec<ScoreTable>,
    /// The response tables that were aggregated.
    pub responses: Vec<ResponseTable>,
    /// The `queries` artifact.
    pub queries: Digest,
    /// The `gold` artifact.
    pub gold: Digest,
    /// The `documents` artifact.
    pub documents: Digest,
    /// The `units` artifact.
    pub units: Digest,
    /// The recipes in the evaluation's order.
    pub recipes: Vec<RecipeInfo>,
    /// The queries in the evaluation's order.
    pub queries_info: Vec<QueryInfo>,
    /// The evaluators in the evaluation's order.
    pub evaluators: Vec<EvaluatorInfo>,
    /// The bounds that the means must keep.
    pub gates: Vec<GateSpec>,
    /// What gates compare with, where one asks for it.
    pub baseline: Option<Baseline>,
    /// Lints that were found before anything ran: name and message.
    pub known_lints: Vec<(String, String)>,
    /// Names of lints that are not told.
    pub silenced: Vec<String>,
    /// Which case results are listed.
    pub case_results: CaseResults,
    /// What the report is told of its run.
    pub run: RunInfo,
    /// When the evaluation began, RFC 3339 in UTC; not in the key.
    pub started_at: String,
    /// When it ended, RFC 3339 in UTC; not in the key.
    pub finished_at: String,
    /// See [`begin_key`].
    pub salt: u64,
}

impl Walk for RecipeInfo {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "recipe");
        v.text("name", &self.name);
        walk_json(v, "manifest", &self.manifest);
        v.end();
    }
}

impl Walk for QueryInfo {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "query");
        v.text("name", &self.name);
        v.text("mode", &self.mode);
        v.uint("top_k", u64::from(self.top_k));
        walk_json(v, "options", &self.options);
        v.end();
    }
}

impl Walk for EvaluatorInfo {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "evaluator");
        v.text("name", &self.name);
        v.text("description", &self.description);
        if let Some(labels) = &self.labels {
            labels.walk(v);
        }
        v.end();
    }
}

impl Walk for BuildReport {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Report, self.salt);
        v.digest("templates", &Page::templates());
        v.text("version", env!("CARGO_PKG_VERSION"));
        v.text("evaluation", &self.evaluation);
        for (name, digest) in self.inputs() {
            v.digest(name, digest);
        }
        walk_list(v, "plan", &self.plan);
        walk_list(v, "score_tables", &self.scores);
        walk_list(v, "responses", &self.responses);
        walk_list(v, "recipes", &self.recipes);
        walk_list(v, "query_infos", &self.queries_info);
        walk_list(v, "evaluators", &self.evaluators);
        walk_list(v, "gates", &self.gates);
        if let Some(baseline) = &self.baseline {
            baseline.walk(v);
        }
        // Two judges may have the same fault.
        let mut told: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, message) in &self.known_lints {
            let number = told.entry(name).or_default();
            *number += 1;
            match *number {
                1 => v.text(&format!("lint.{name}"), message),
                number => v.text(&format!("lint.{name}.{number}"), message),
            }
        }
        if !self.silenced.is_empty() {
            walk_texts(v, "silenced", &self.silenced);
        }
        self.case_results.walk(v);
        self.run.walk(v);
        v.end();
    }
}

impl BuildReport {
    /// The artifacts that the report is made of, by name.
    pub(super) fn inputs(&self) -> Vec<(&'static str, &Digest)> {
        let mut inputs = vec![("summary", &self.summary), ("score_table", &self.score_table)];
        inputs.extend(self.latency.as_ref().map(|latency| ("latency", latency)));
        inputs.extend(self.usage.as_ref().map(|usage| ("usage", usage)));
        inputs.extend([
            ("queries", &self.queries),
            ("gold", &self.gold),
            ("documents", &self.documents),
            ("units", &self.units),
        ]);
        inputs
    }

    /// The id that the user gives, else `eval_` and 32 hexadecimal digits of the report's key: the same evaluation has the same id.
    fn report_id(&self) -> String {
        let derived = || format!("eval_{}", key_of(self).hex().chars().take(32).collect::<String>());
        self.run.report_id.clone().unwrap_or_else(derived)
    }

    /// Hands every listed case in every query to `visit`: units in order, in them cases, in them queries. A row group of a
    /// unit's responses to all queries is in memory at a time.
    fn visit_cases(
        &self,
        context: &dyn Context,
        cases: &CaseList,
        texts: &CaseTexts,
        columns: &[(&PlannedQuery, &[Series])],
        shown: &ShownCases,
        mut visit: impl FnMut(usize, CaseResponse<'_>) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        let step = self.step();
        let tables = columns.iter().map(|(planned, _)| cases.responses(step, planned, &self.responses));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        for unit in 0..cases.units.units.len() {
            let first = cases.range(unit).start;
            for (group, range) in cases.groups(unit) {
                let mut read = Vec::with_capacity(columns.len());
                let entries = first + range.start..first + range.end;
                for (column, ((_, own), tables)) in columns.iter().zip(&tables).enumerate() {
                    let listed = shown.listed(entries.clone(), column);
                    let listed: Vec<usize> = listed.into_iter().map(|entry| entry - entries.start).collect();
                    let rows = if listed.len() == range.len() { Rows::All } else { Rows::Some(listed.clone()) };
                    let ids: Vec<&str> = listed.iter().map(|row| cases.query(entries.start + row).case_id).collect();
                    let responses = match tables[unit] {
                        Some(table) if !listed.is_empty() => Some((
                            UnitResponses::read(context, step, table, cases, unit, (group, &rows), &ids)?,
                            Observed::read(context, step, table, cases, unit)?,
                        )),
                        _ => None,
                    };
                    let details = match listed.is_empty() {
                        true => Vec::new(),
                        false => {
                            let details = own.iter().map(|series| series.details(context, step, unit, group, &rows));
                            details.collect::<Result<Vec<_>, _>>()?
                        }
                    };
                    read.push((listed, responses, details));
                }
                let any: BTreeSet<usize> = read.iter().flat_map(|(listed, ..)| listed).copied().collect();
                for entry in any.into_iter().map(|row| entries.start + row) {
                    for (column, ((planned, own), (listed, responses, details))) in
                        columns.iter().zip(&read).enumerate()
                    {
                        let Ok(row) = listed.binary_search(&(entry - entries.start)) else { continue };
                        let Some((query, gold)) = texts.get(cases.entries[entry].row) else { continue };
                        let parts = CaseParts {
                            query,
                            gold,
                            scores: own.iter().map(|s| (s.evaluator.as_str(), s.outcome(cases, entry))).collect(),
                            details: details.iter().map(|details| details.get(row)).collect(),
                        };
                        visit(column, CaseResponse::new(cases, planned, responses.as_ref(), entry, row, parts))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The scales of each planned query's evaluators.
    fn scales(&self, summary: &Summary) -> Vec<Vec<Option<Scale>>> {
        let scale = |planned: &PlannedQuery, evaluator: &String| {
            let measures = summary.measures.iter();
            let mut own = measures.filter(|m| m.recipe == planned.recipe && m.query == planned.query);
            own.find(|m| m.evaluator == *evaluator)?.distribution.as_ref().map(Scale::of)
        };
        self.plan
            .iter()
            .map(|planned| planned.evaluators.iter().map(|evaluator| scale(planned, evaluator)).collect())
            .collect()
    }
}

impl Action for BuildReport {
    fn step(&self) -> Step {
        Step::Report
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let step = self.step();
        let cases = CaseList::read(context, step, &self.units, &self.queries)?;
        let documents = decoded::<Documents>(context, step, &self.documents)?;
        let summary = decoded::<Summary>(context, step, &self.summary)?;
        let latency = match &self.latency {
            Some(digest) => decoded::<Latency>(context, step, digest)?,
            None => Default::default(),
        };
        let usage = match &self.usage {
            Some(digest) => decoded::<UsageTable>(context, step, digest)?,
            None => Default::default(),
        };
        let report_id = self.report_id();
        let mut judged = gate::judged(&summary, &self.gates);
        let statistics = &summary.statistics;
        let own = (&self.score_table, &cases.units.benchmark);
        let other_data = paired_gate::compare(context, &mut judged, own, self.baseline.as_ref(), statistics)?;
        let scales = self.scales(&summary);
        let json_fault = |error: serde_json::Error| StageError::encode(step, error);
        let base = self.run.base_name(&self.evaluation);
        let report_key = self.run.report_key(&self.evaluation, &report_id);
        let names = (base.as_str(), report_key.as_deref());
        let mut json = EvaluationReport::begin(self, names, &report_id, &cases, &summary).map_err(json_fault)?;
        let series = Series::read(context, step, &self.plan, &self.scores, &cases)?;
        let errors = ResponseErrors::read(context, step, &self.plan, &self.responses, &cases)?;
        let mut rest = series.as_slice();
        let mut columns = Vec::with_capacity(self.plan.len());
        for planned in &self.plan {
            // The series follow the plan.
            let (own, others) = rest.split_at(planned.evaluators.len().min(rest.len()));
            rest = others;
            columns.push((planned, own));
        }
        let shown = ShownCases::of(self.case_results, &cases, &columns, &scales, &errors);
        let texts = CaseTexts::read(context, step, (&self.queries, &self.gold), &cases, &shown)?;
        let mut lints = Lints::begin(&cases, &self.plan, texts.golds(), &documents);
        columns.iter().enumerate().for_each(|(column, (_, own))| lints.see_scores(column, own));
        let mut agreements = HumanAgreements::begin(&self.plan, &self.evaluators);
        let mut worst = WorstCases::default();
        let mut case_results = 0;
        self.visit_cases(context, &cases, &texts, &columns, &shown, |column, case| {
            worst.offer(&case, &scales[column]);
            lints.see(column, &case);
            agreements.see(column, &case);
            case_results += 1;
            json.case(&case).map_err(json_fault)
        })?;
        let mut known_lints = self.known_lints.clone();
        known_lints.extend(other_data.map(|message| ("other-data".to_string(), message)));
        let lints = lints.finish(&judged, &known_lints, &self.silenced);
        let gates: Vec<GateOutcome> = judged.into_iter().map(|(_, outcome)| outcome).collect();
        let agreements = agreements.finish();
        let findings = Findings {
            summary: &summary,
            latency: &latency,
            usage: &usage,
            gates: &gates,
            lints: &lints,
            agreements: &agreements,
        };
        let json = json.finish(&documents, &findings, &shown).map_err(json_fault)?;
        let (worst, hidden_cases) = worst.finish();
        let hidden_cases = shown.bad.map_or(hidden_cases, |bad| bad.saturating_sub(worst.len()));
        let view = View::of(&Material {
            report: self,
            report_id: &report_id,
            benchmark: &cases.units.benchmark,
            documents: documents.rows.len(),
            findings,
            worst: &worst,
            hidden_cases,
        });
        let judged = serde_json::to_vec(&gates).map_err(json_fault)?;
        let render = |page: Page| page.render(&view).map_err(|error| StageError::encode(step, error));
        let mut outputs = vec![
            Output::observation("report.json", json, case_results),
            Output::observation("report.md", render(Page::Markdown)?, summary.measures.len()),
            Output::observation("report.html", render(Page::Html)?, summary.measures.len()),
            Output::observation("gates", judged, gates.len()),
        ];
        outputs.extend(report_key.map(|key| Output::observation(REPORT_KEY, key.into_bytes(), 1)));
        Ok(Produced { outputs, ..Produced::default() })
    }
}
