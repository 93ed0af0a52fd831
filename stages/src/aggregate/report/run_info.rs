//! What an evaluation says of its run for Heta's report (spec/heta 1, BenchmarkRunConfig; 3, inputs of the runner).

use ragstage_cache::KeyVisitor;
use ragstage_cache::key::walk_json;

use super::knowledge_base_name::base_name_of;
use super::report_key::report_key;
use crate::artifact::Json;

/// What a report is told of its run beside what was run. All of it may be unsaid.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunInfo {
    /// What the names of knowledge bases begin with; by default the evaluation's name.
    pub knowledge_base_name: Option<String>,
    /// The report's id; by default one that its key gives.
    pub report_id: Option<String>,
    /// Whether the report is kept in an object store too, so that it has a key there.
    pub persist_report: bool,
    /// The user's own fields of the report's metadata.
    pub metadata: Json,
}

impl RunInfo {
    /// What the names of the knowledge bases of `evaluation` begin with.
    pub(super) fn base_name(&self, evaluation: &str) -> String {
        self.knowledge_base_name.clone().unwrap_or_else(|| base_name_of(evaluation))
    }

    /// Where an object store keeps the report `report_id` of `evaluation`, if it is to.
    pub(super) fn report_key(&self, evaluation: &str, report_id: &str) -> Option<String> {
        self.persist_report.then(|| report_key(&self.base_name(evaluation), report_id))
    }

    /// The same before the report is there, where the user gives its id.
    pub fn given_report_key(&self, evaluation: &str) -> Option<String> {
        self.report_key(evaluation, self.report_id.as_deref()?)
    }

    /// Visits what is said, and nothing else: reports of evaluations that say nothing keep their keys.
    pub(super) fn walk(&self, v: &mut dyn KeyVisitor) {
        if let Some(name) = &self.knowledge_base_name {
            v.text("knowledge_base_name", name);
        }
        if let Some(report_id) = &self.report_id {
            v.text("report_id", report_id);
        }
        if self.persist_report {
            v.bool("persist_report", true);
        }
        if !self.metadata.is_empty() {
            walk_json(v, "metadata", &serde_json::Value::Object(self.metadata.clone()));
        }
    }
}
