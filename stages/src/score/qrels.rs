//! Graded judgements of documents, as trec_eval's qrels.

use std::collections::BTreeMap;

use serde_json::Value;

use super::measures::Judgements;
use super::ranked_unit::RankedUnit;
use super::source::{raw_key_document, text_of};
use crate::artifact::{Evidence, Gold};
use crate::error::{RowError, RowErrorKind};

/// The judged documents of one case. A document that is not in it is unjudged, which counts as not relevant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Qrels {
    grades: BTreeMap<String, i64>,
}

impl Qrels {
    /// The judgements that a case's gold holds:
    ///
    /// 1. of each piece of evidence, the document (its `reference_id`, else its locator's `document_id`, else the document
    ///    in its locator's `source_key`, `object_key` or `source_key_prefix`) with the grade `metadata.relevance`,
    ///    1 where there is none; of repeated documents the highest grade;
    /// 2. over them, every entry of the expectation's `metadata.judgements` (document id to grade), which may be 0 or less.
    ///
    /// Empty where the gold judges no document.
    ///
    /// # Errors
    /// When a grade is no whole number.
    pub fn of(gold: &Gold) -> Result<Self, RowError> {
        Self::of_units(gold, RankedUnit::Document)
    }

    /// The judgements of documents, pages or chunks. `metadata.judgements` are of documents, or of chunks; pages have none.
    ///
    /// # Errors
    /// When a grade is no whole number.
    pub(crate) fn of_units(gold: &Gold, unit: RankedUnit) -> Result<Self, RowError> {
        let mut grades: BTreeMap<String, i64> = BTreeMap::new();
        for (i, evidence) in gold.evidence.iter().enumerate() {
            let Some(document) = unit.of_evidence(evidence, document_of(evidence)) else { continue };
            let grade = match evidence.metadata.get("relevance") {
                None | Some(Value::Null) => 1,
                Some(value) => grade(value).ok_or_else(|| not_a_grade(&format!("evidence {i}"), value))?,
            };
            let known = grades.entry(document).or_insert(grade);
            *known = grade.max(*known);
        }
        match gold.metadata.get("judgements") {
            None | Some(Value::Null) => {}
            Some(_) if unit == RankedUnit::Page => {}
            Some(Value::Object(judgements)) => {
                for (document, value) in judgements {
                    let grade = grade(value).ok_or_else(|| not_a_grade(&format!("document {document:?}"), value))?;
                    grades.insert(document.clone(), grade);
                }
            }
            Some(other) => {
                let message = format!("expected judgements to map document ids to grades, found {other}");
                return Err(RowError::new(RowErrorKind::Evaluator, message));
            }
        }
        Ok(Qrels { grades })
    }

    /// Whether no document is judged.
    pub fn is_empty(&self) -> bool {
        self.grades.is_empty()
    }

    /// The grade of a document; `None` where it is unjudged.
    pub fn grade(&self, document: &str) -> Option<i64> {
        self.grades.get(document).copied()
    }

    /// Everything that is judged with its grade, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.grades.iter().map(|(name, grade)| (name.as_str(), *grade))
    }

    /// How often each grade was given.
    pub fn judgements(&self) -> Judgements {
        self.grades.values().copied().collect()
    }
}

impl<D: Into<String>> FromIterator<(D, i64)> for Qrels {
    fn from_iter<I: IntoIterator<Item = (D, i64)>>(judgements: I) -> Self {
        Qrels { grades: judgements.into_iter().map(|(document, grade)| (document.into(), grade)).collect() }
    }
}

fn document_of(evidence: &Evidence) -> Option<String> {
    if let Some(reference) = evidence.reference() {
        return Some(reference.to_string());
    }
    if let Some(document) = evidence.locator.get("document_id").and_then(text_of) {
        return Some(document.into_owned());
    }
    ["source_key", "object_key", "source_key_prefix"]
        .into_iter()
        .filter_map(|key| evidence.locator.get(key).and_then(Value::as_str))
        .find_map(raw_key_document)
        .map(str::to_string)
}

/// A whole number, also when written as `2.0` or as a text.
fn grade(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn whole(value: f64) -> Option<i64> {
    // Beyond 2^53 a double does not tell neighbours apart.
    (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(value as i64)
}

fn not_a_grade(what: &str, value: &Value) -> RowError {
    RowError::new(
        RowErrorKind::Evaluator,
        format!("expected the relevance of {what} to be a whole number, found {value}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gold(evidence: Value, metadata: Value) -> Gold {
        Gold {
            evidence: serde_json::from_value(evidence).expect("evidence"),
            metadata: serde_json::from_value(metadata).expect("metadata"),
            ..Gold::default()
        }
    }

    #[test]
    fn evidence_gives_documents_and_grades() {
        let gold = gold(
            json!([
                {"reference_id": "a"},
                {"reference_id": "b", "metadata": {"relevance": 3}},
                {"reference_id": "b", "metadata": {"relevance": 2.0}},
                {"reference_id": "c", "metadata": {"relevance": " 2 "}},
                {"locator": {"document_id": 7}},
                {"locator": {"source_key_prefix": "raw/benchmarks/sea/test/tide/"}},
                {"text": "no document"},
            ]),
            json!({}),
        );
        let qrels = Qrels::of(&gold).expect("qrels");
        let expected = [("a", 1), ("b", 3), ("c", 2), ("7", 1), ("tide", 1)];
        assert_eq!(qrels, expected.into_iter().collect());
        assert_eq!(qrels.judgements().positive(), [3, 2, 1, 1, 1]);
    }

    #[test]
    fn judgements_win_and_may_be_negative() {
        let gold = gold(json!([{"reference_id": "a"}]), json!({"judgements": {"a": 2, "b": 0, "c": -1}}));
        let qrels = Qrels::of(&gold).expect("qrels");
        assert_eq!(qrels, [("a", 2), ("b", 0), ("c", -1)].into_iter().collect());
        assert_eq!(qrels.judgements().positive(), [2]);
        assert_eq!((qrels.grade("b"), qrels.grade("unjudged")), (Some(0), None));
    }

    #[test]
    fn grades_that_are_no_whole_numbers_are_errors() {
        for relevance in [json!("high"), json!(1.5), json!(true), json!([1])] {
            let gold = gold(json!([{"reference_id": "a", "metadata": {"relevance": relevance}}]), json!({}));
            assert!(Qrels::of(&gold).is_err());
        }
        let error = Qrels::of(&gold(json!([]), json!({"judgements": {"a": "x"}}))).expect_err("no grade");
        assert_eq!(error.message, "expected the relevance of document \"a\" to be a whole number, found \"x\"");
        assert!(Qrels::of(&gold(json!([]), json!({"judgements": [1]}))).is_err());
    }
}
