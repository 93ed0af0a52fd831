//! What a knowledge base is built for, where a dataset leaves the choice.

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::benchmark::Benchmark;
use crate::artifact::{Json, UnitRows};

/// Which documents share a knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All of them.
    Corpus,
    /// None: each has one of its own, and is asked its own cases.
    Document,
}

impl Scope {
    /// The word of a benchmark's `build_scope`.
    pub(super) fn build_scope(self) -> &'static str {
        match self {
            Scope::Corpus => "corpus",
            Scope::Document => "case",
        }
    }

    /// Visits it as a part of a key.
    pub(super) fn walk(self, v: &mut dyn KeyVisitor) {
        v.text("scope", self.build_scope());
    }

    /// The units of `groups`: for each document its id, its position where it is there, and the positions of its cases.
    /// A document without cases makes no unit of its own.
    pub(super) fn units(self, groups: Vec<(String, Option<u32>, Vec<u32>)>) -> Vec<UnitRows> {
        match self {
            Scope::Corpus => vec![Benchmark::whole(Json::new())],
            Scope::Document => groups
                .into_iter()
                .filter(|(_, _, cases)| !cases.is_empty())
                .map(|(unit_id, document, cases)| UnitRows {
                    metadata: Json::from_iter([("document_id".to_string(), json!(unit_id))]),
                    unit_id,
                    document_rows: Some(document.into_iter().collect()),
                    case_rows: Some(cases),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_with_cases_is_a_unit() {
        let groups = || {
            vec![
                ("a".to_string(), Some(0), vec![0, 2]),
                ("b".to_string(), Some(1), vec![]),
                ("c".to_string(), None, vec![1]),
            ]
        };
        assert_eq!(Scope::Corpus.units(groups()), [Benchmark::whole(Json::new())]);
        let units = Scope::Document.units(groups());
        let rows: Vec<_> = units
            .iter()
            .map(|unit| (unit.unit_id.as_str(), unit.document_rows.clone(), unit.case_rows.clone()))
            .collect();
        assert_eq!(rows, [("a", Some(vec![0]), Some(vec![0, 2])), ("c", Some(vec![]), Some(vec![1]))]);
    }
}
