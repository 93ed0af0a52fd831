//! Whose reading of a dataset is evaluated, where another benchmark reads the same files in another way.

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::benchmark::Benchmark;
use super::dataset::object;
use crate::artifact::{Evidence, Gold, Query};

/// Whose questions, gold answers and evidence they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// Ours.
    #[default]
    Own,
    /// Those of OpenViking's benchmark (spec/openviking 2), to compare with its reports.
    OpenViking,
}

impl Variant {
    /// Visits it as a part of a key, where it is not ours.
    pub(super) fn walk(self, v: &mut dyn KeyVisitor) {
        if self == Variant::OpenViking {
            v.text("variant", "openviking");
        }
    }

    /// Whether it is that of OpenViking's benchmark.
    pub(super) fn is_openviking(self) -> bool {
        self == Variant::OpenViking
    }
}

/// The gold answer of OpenViking's benchmark where there is nothing to answer.
pub(super) const NOT_MENTIONED: &str = "Not mentioned";

/// The key of a case's metadata under which it says how OpenViking's files name it: an object of `sample_id` and `category`, both
/// texts.
pub const OPENVIKING_CASE: &str = "openviking";

/// A question as OpenViking's benchmark has it (spec/openviking 1, qa).
pub(super) struct OpenVikingQuestion {
    /// What it is about.
    pub(super) sample_id: String,
    /// The question, with whatever its adapter puts before it.
    pub(super) question: String,
    /// The gold answers.
    pub(super) answers: Vec<String>,
    /// The evidence, as texts.
    pub(super) evidence: Vec<String>,
    /// The category as its files write it: `None` where there is none.
    pub(super) category: Option<String>,
}

impl OpenVikingQuestion {
    /// Puts it in the place of our own reading of the same question, of which ids, labels and metadata stay.
    pub(super) fn replace(self, query: &mut Query, gold: &mut Gold) {
        let OpenVikingQuestion { sample_id, question, answers, evidence, category } = self;
        query.text = question;
        gold.answers = answers;
        gold.evidence = evidence.into_iter().map(|text| Evidence { text: Some(text), ..Evidence::default() }).collect();
        let case = object([
            ("sample_id", sample_id.into()),
            ("category", category.unwrap_or_else(|| "None".to_string()).into()),
        ]);
        gold.case_metadata.insert(OPENVIKING_CASE.to_string(), json!(case));
    }
}

/// The cases of `benchmark` in the order in which OpenViking's benchmark asks them: `groups` are the positions of the cases of
/// each sample, in its order. Of the cases that are not asked `skipped` knows the id, which no order changes.
pub(super) fn in_order_of_samples(benchmark: &mut Benchmark, groups: &[Vec<u32>]) {
    let order: Vec<u32> = groups.iter().flatten().copied().collect();
    let mut places = vec![0u32; order.len()];
    for (place, position) in (0u32..).zip(&order) {
        if let Some(at) = places.get_mut(*position as usize) {
            *at = place;
        }
    }
    let place = |position: &u32| places.get(*position as usize).copied().unwrap_or_default();
    sort(&mut benchmark.queries.rows, &place);
    sort(&mut benchmark.golds.rows, &place);
    for cases in benchmark.units.iter_mut().filter_map(|unit| unit.case_rows.as_mut()) {
        cases.iter_mut().for_each(|position| *position = place(position));
    }
}

fn sort<T>(rows: &mut Vec<T>, place: &dyn Fn(&u32) -> u32) {
    let mut placed: Vec<(u32, T)> =
        (0u32..).zip(rows.drain(..)).map(|(position, row)| (place(&position), row)).collect();
    placed.sort_by_key(|(place, _)| *place);
    rows.extend(placed.into_iter().map(|(_, row)| row));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Golds, Json, Queries, UnitRows};

    #[test]
    fn cases_stand_by_their_samples() {
        let query = |id: &str| Query { case_id: id.to_string(), text: String::new(), category: None };
        let gold = |id: &str| Gold { case_id: id.to_string(), ..Gold::default() };
        let unit = |cases: Option<Vec<u32>>| UnitRows {
            unit_id: String::new(),
            document_rows: None,
            case_rows: cases,
            metadata: Json::new(),
        };
        let mut benchmark = Benchmark {
            queries: Queries { rows: ["a", "b", "c"].map(query).to_vec() },
            golds: Golds { rows: ["a", "b", "c"].map(gold).to_vec() },
            units: vec![unit(None), unit(Some(vec![1])), unit(Some(vec![0, 2]))],
            ..Benchmark::default()
        };
        in_order_of_samples(&mut benchmark, &[vec![0, 2], vec![1]]);
        let ids: Vec<&str> = benchmark.queries.rows.iter().map(|row| row.case_id.as_str()).collect();
        assert_eq!(ids, ["a", "c", "b"]);
        assert!(benchmark.golds.rows.iter().map(|row| row.case_id.as_str()).eq(ids));
        let cases: Vec<_> = benchmark.units.into_iter().map(|unit| unit.case_rows).collect();
        assert_eq!(cases, [None, Some(vec![2]), Some(vec![0, 1])]);
    }
}
