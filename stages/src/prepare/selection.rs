//! The cases that are asked: categories and a drawn sample.

use std::collections::BTreeSet;
use std::path::Path;

use ragstage_cache::Digest;
use serde_json::Value;

use super::benchmark::Benchmark;
use super::spec::Selection;
use crate::artifact::{Gold, Json};
use crate::error::{InputError, Place};

/// The labels that hold the category where the evaluation names none, in order of preference.
const CATEGORY_LABELS: [&str; 3] = ["category", "question_type", "type"];

impl Selection {
    /// `benchmark` with the categories of its cases, and with the selected cases only, in its own order. Documents stay;
    /// units keep their selected cases, and those without any are dropped. `cases` is the file that errors name.
    ///
    /// The sample is stable: cases are ordered by the hash of seed and case id and the first are taken, so that one more
    /// case in the benchmark changes at most one case of the sample. A sample larger than the benchmark is all of it.
    ///
    /// # Errors
    /// When a label or a category is named that no case has, or no case is left.
    pub fn apply(&self, mut benchmark: Benchmark, cases: &Path) -> Result<Benchmark, Vec<InputError>> {
        for (query, gold) in benchmark.queries.rows.iter_mut().zip(&benchmark.golds.rows) {
            query.category = self.category(&gold.labels);
        }
        let errors = self.check(&benchmark, cases);
        if !errors.is_empty() {
            return Err(errors);
        }
        let kept = self.kept(&benchmark);
        if kept.iter().all(|&kept| kept) {
            return Ok(benchmark);
        }
        let mut next = 0u32;
        let positions: Vec<Option<u32>> = kept
            .iter()
            .map(|&kept| {
                let position = kept.then_some(next);
                next += u32::from(kept);
                position
            })
            .collect();
        retain(&mut benchmark.queries.rows, &kept);
        retain(&mut benchmark.golds.rows, &kept);
        benchmark.units.retain_mut(|unit| match &mut unit.case_rows {
            None => true,
            Some(rows) => {
                *rows = rows.iter().filter_map(|&row| positions.get(row as usize).copied().flatten()).collect();
                !rows.is_empty()
            }
        });
        Ok(benchmark)
    }

    /// The category in `labels`: a text, or a number or truth value as text.
    fn category(&self, labels: &Json) -> Option<String> {
        let text = |label: &str| match labels.get(label)? {
            Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            _ => None,
        };
        match &self.category_label {
            Some(label) => text(label),
            None => CATEGORY_LABELS.into_iter().find_map(text),
        }
    }

    fn check(&self, benchmark: &Benchmark, cases: &Path) -> Vec<InputError> {
        let mut errors = Vec::new();
        let error = |message: String| InputError::new(Place::file(cases), message);
        let there: BTreeSet<&str> =
            benchmark.queries.rows.iter().filter_map(|query| query.category.as_deref()).collect();
        if let Some(label) = self.category_label.as_ref().filter(|_| there.is_empty()) {
            let labels: BTreeSet<&str> =
                benchmark.golds.rows.iter().flat_map(|gold: &Gold| gold.labels.keys().map(String::as_str)).collect();
            errors.push(error(format!("no case has the label {label:?} that the category is to be read from")).hint(
                if labels.is_empty() {
                    "the cases have no labels".to_string()
                } else {
                    format!("there are {}", joined(&labels))
                },
            ));
        } else if let Some(categories) = &self.categories {
            if categories.is_empty() {
                errors.push(
                    error("the selection's list of categories is empty".to_string()).hint("leave it out to keep all"),
                );
            }
            for category in categories.iter().filter(|category| !there.contains(category.as_str())) {
                errors.push(error(format!("no case is of category {category:?}")).hint(if there.is_empty() {
                    "the cases have no categories; name the label that holds them as `category_label`".to_string()
                } else {
                    format!("there are {}", joined(&there))
                }));
            }
        }
        if self.sample == Some(0) {
            errors.push(error("a sample of 0 cases was asked for".to_string()).hint("leave `sample` out to ask all"));
        }
        errors
    }

    /// Which cases are asked.
    fn kept(&self, benchmark: &Benchmark) -> Vec<bool> {
        let queries = &benchmark.queries.rows;
        let mut kept: Vec<bool> = queries
            .iter()
            .map(|query| match (&self.categories, &query.category) {
                (None, _) => true,
                (Some(categories), Some(category)) => categories.contains(category),
                (Some(_), None) => false,
            })
            .collect();
        if let Some(sample) = self.sample {
            let seed = self.seed.to_le_bytes();
            let mut drawn: Vec<(Digest, &str, usize)> = queries
                .iter()
                .enumerate()
                .filter(|(i, _)| kept[*i])
                .map(|(i, query)| {
                    let id = query.case_id.as_str();
                    (Digest::of_parts("ragstage.sample", [seed.as_slice(), id.as_bytes()]), id, i)
                })
                .collect();
            drawn.sort();
            for (_, _, i) in drawn.into_iter().skip(usize::try_from(sample).unwrap_or(usize::MAX)) {
                kept[i] = false;
            }
        }
        kept
    }
}

fn retain<T>(rows: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    rows.retain(|_| kept.next().copied().unwrap_or_default());
}

/// The first few of `names`, quoted.
fn joined(names: &BTreeSet<&str>) -> String {
    const MOST: usize = 12;
    let quoted: Vec<String> = names.iter().take(MOST).map(|name| format!("{name:?}")).collect();
    let rest = names.len().saturating_sub(MOST);
    quoted.join(", ") + &if rest > 0 { format!(" and {rest} more") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::{Golds, Queries, Query, UnitRows};

    fn benchmark(cases: &[(&str, Value)], units: Vec<UnitRows>) -> Benchmark {
        let query = |id: &str| Query { case_id: id.to_string(), text: "q".to_string(), category: None };
        let gold = |id: &str, labels: &Value| Gold {
            case_id: id.to_string(),
            labels: labels.as_object().unwrap().clone(),
            ..Gold::default()
        };
        Benchmark {
            queries: Queries { rows: cases.iter().map(|(id, _)| query(id)).collect() },
            golds: Golds { rows: cases.iter().map(|(id, labels)| gold(id, labels)).collect() },
            units,
            ..Benchmark::default()
        }
    }

    fn numbered(count: usize) -> Benchmark {
        let ids: Vec<String> = (0..count).map(|i| format!("c{i}")).collect();
        let cases: Vec<(&str, Value)> = ids.iter().map(|id| (id.as_str(), json!({}))).collect();
        benchmark(&cases, vec![Benchmark::whole(Json::new())])
    }

    fn ids(benchmark: &Benchmark) -> Vec<&str> {
        assert!(benchmark.queries.rows.iter().map(|q| &q.case_id).eq(benchmark.golds.rows.iter().map(|g| &g.case_id)));
        benchmark.queries.rows.iter().map(|query| query.case_id.as_str()).collect()
    }

    fn sample(sample: u64, seed: u64) -> Selection {
        Selection { sample: Some(sample), seed, ..Selection::default() }
    }

    #[test]
    fn one_more_case_changes_at_most_one_of_the_sample() {
        let before = sample(20, 7).apply(numbered(100), Path::new("c")).unwrap();
        let after = sample(20, 7).apply(numbered(101), Path::new("c")).unwrap();
        let (before, after) = (ids(&before), ids(&after));
        assert_eq!((before.len(), after.len()), (20, 20));
        assert!(before.iter().filter(|id| !after.contains(id)).count() <= 1);
        let number = |id: &&str| id[1..].parse::<u32>().unwrap();
        assert!(before.iter().map(number).is_sorted(), "the benchmark's order is kept");
        let other = sample(20, 8).apply(numbered(100), Path::new("c")).unwrap();
        assert_ne!(ids(&other), before);
    }

    #[test]
    fn a_sample_of_more_than_there_is_is_all() {
        assert_eq!(sample(9, 0).apply(numbered(3), Path::new("c")).unwrap(), numbered(3));
        assert_eq!(sample(0, 0).apply(numbered(3), Path::new("c")).unwrap_err().len(), 1);
    }

    #[test]
    fn the_category_is_the_first_label_there_is() {
        let cases = [
            ("a", json!({"type": "t", "category": "c"})),
            ("b", json!({"question_type": 4, "type": "t"})),
            ("c", json!({"category": null, "type": true})),
            ("d", json!({"category": ["x"], "other": "o"})),
        ];
        let selected = Selection::default().apply(benchmark(&cases, Vec::new()), Path::new("c")).unwrap();
        let categories: Vec<_> = selected.queries.rows.iter().map(|query| query.category.as_deref()).collect();
        assert_eq!(categories, [Some("c"), Some("4"), Some("true"), None]);
        let by_label = Selection { category_label: Some("other".into()), ..Selection::default() };
        let selected = by_label.apply(benchmark(&cases, Vec::new()), Path::new("c")).unwrap();
        let categories: Vec<_> = selected.queries.rows.iter().map(|query| query.category.as_deref()).collect();
        assert_eq!(categories, [None, None, None, Some("o")]);
    }

    #[test]
    fn units_keep_their_selected_cases() {
        let cases = [("a", json!({"type": "x"})), ("b", json!({"type": "y"})), ("c", json!({"type": "x"}))];
        let unit = |id: &str, rows: Option<Vec<u32>>| UnitRows {
            unit_id: id.to_string(),
            case_rows: rows,
            ..UnitRows::default()
        };
        let units = vec![unit("u1", Some(vec![2, 1])), unit("u2", Some(vec![1])), unit("u3", None)];
        let only_x = Selection { categories: Some(vec!["x".into()]), ..Selection::default() };
        let selected = only_x.apply(benchmark(&cases, units), Path::new("c")).unwrap();
        assert_eq!(ids(&selected), ["a", "c"]);
        assert_eq!(selected.units, [unit("u1", Some(vec![1])), unit("u3", None)]);
    }

    #[test]
    fn what_no_case_has_is_an_error() {
        let cases = [("a", json!({"type": "x"})), ("b", json!({}))];
        let errors = |selection: Selection| {
            let errors = selection.apply(benchmark(&cases, Vec::new()), Path::new("c")).unwrap_err();
            errors.into_iter().map(|error| (error.to_string(), error.hint.unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(
            errors(Selection { categories: Some(vec!["x".into(), "z".into()]), ..Selection::default() }),
            [("c: no case is of category \"z\"".to_string(), "there are \"x\"".to_string())]
        );
        assert_eq!(
            errors(Selection { category_label: Some("kind".into()), ..Selection::default() })[0].1,
            "there are \"type\""
        );
    }
}
