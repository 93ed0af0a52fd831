//! Failures that share place, class and message.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::case_list::CaseList;
use super::response_errors::ResponseErrors;
use super::series::Series;

/// How many case ids a group names.
const NAMED: usize = 10;

/// Cases that failed in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureGroup {
    /// The recipe.
    pub recipe: String,
    /// The query.
    pub query: String,
    /// Where: `retrieve`, `answer` or an evaluator.
    pub place: String,
    /// The class of fault (`timeout`, `server`, ...).
    pub error_type: String,
    /// What the other side said.
    pub message: String,
    /// How many cases.
    pub count: u64,
    /// Their ids: the first ten.
    pub cases: Vec<String>,
}

/// Collects failures in the order in which they are met.
#[derive(Default)]
struct Collector {
    groups: Vec<FailureGroup>,
    positions: BTreeMap<[String; 5], usize>,
}

impl Collector {
    fn add(&mut self, key: [&str; 5], case_id: &str) {
        let key = key.map(str::to_string);
        let position = *self.positions.entry(key.clone()).or_insert_with(|| {
            let [recipe, query, place, error_type, message] = key;
            self.groups.push(FailureGroup { recipe, query, place, error_type, message, count: 0, cases: Vec::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[position];
        group.count += 1;
        if group.cases.len() < NAMED {
            group.cases.push(case_id.to_string());
        }
    }
}

impl FailureGroup {
    /// The failures of an evaluation, most frequent first. An evaluator that only passes on the failure of the response
    /// is not counted again.
    pub(super) fn all(cases: &CaseList, responses: &[ResponseErrors], series: &[Series]) -> Vec<FailureGroup> {
        let mut collector = Collector::default();
        for response in responses {
            for (entry, failure) in response.failures() {
                let (place, error) = (failure.step.name(), &failure.error);
                let key = [&response.recipe, &response.query, place, error.kind.name(), error.message.as_str()];
                collector.add(key, cases.query(entry).case_id);
            }
        }
        for series in series {
            let response = responses.iter().find(|r| r.recipe == series.recipe && r.query == series.query);
            for entry in 0..cases.len() {
                let Some(error) = series.outcome(cases, entry).error else { continue };
                if response.is_none_or(|response| response.failure(entry).is_none()) {
                    let names = [&series.recipe, &series.query, &series.evaluator].map(String::as_str);
                    let [recipe, query, evaluator] = names;
                    let key = [recipe, query, evaluator, error.kind.name(), error.message.as_str()];
                    collector.add(key, cases.query(entry).case_id);
                }
            }
        }
        let mut groups = collector.groups;
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        groups
    }
}
