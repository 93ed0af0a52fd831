//! The cases that are asked: categories and a drawn sample.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ragstage_cache::Digest;
use serde_json::Value;

use super::benchmark::Benchmark;
use super::shared_documents::gold_documents;
use super::spec::Selection;
use super::strata::quotas;
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
    /// Documents are drawn in the same way, of those that a case is about, and before cases are. `first` keeps the first of what is left, and the sample is of those: a case stays if a drawn
    /// document is among those that its evidence names, or is the only one of its unit. The other documents stay in the
    /// knowledge bases of their units, since the questions would be easier without them.
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
        if !kept.contains(&true) {
            let message = "no case of these categories says which document it is about";
            return Err(vec![
                InputError::new(Place::file(cases), message).hint("leave `sample_documents` out; `sample` draws cases"),
            ]);
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
        if self.first == Some(0) {
            errors.push(error("the first 0 cases were asked for".to_string()).hint("leave `first` out to ask all"));
        }
        if self.sample == Some(0) {
            errors.push(error("a sample of 0 cases was asked for".to_string()).hint("leave `sample` out to ask all"));
        }
        if self.sample_documents == Some(0) {
            errors.push(
                error("a sample of 0 documents was asked for".to_string())
                    .hint("leave `sample_documents` out to take all"),
            );
        } else if self.sample_documents.is_some() && documents_of_cases(benchmark).iter().all(BTreeSet::is_empty) {
            errors.push(
                error("documents are to be drawn, and no case says which it is about".to_string())
                    .hint("leave `sample_documents` out; `sample` draws cases"),
            );
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
        if let Some(documents) = self.sample_documents {
            let of_cases = documents_of_cases(benchmark);
            let named: BTreeSet<&str> =
                of_cases.iter().zip(&kept).filter(|(_, kept)| **kept).flat_map(|(of, _)| of.iter().copied()).collect();
            let drawn: BTreeSet<&str> =
                self.first(named.into_iter().map(|id| (id, id)), "ragstage.sample.documents", documents).collect();
            for (kept, of) in kept.iter_mut().zip(&of_cases) {
                *kept &= of.iter().any(|id| drawn.contains(id));
            }
        }
        if let Some(first) = self.first {
            let mut left = first;
            for kept in kept.iter_mut().filter(|kept| **kept) {
                *kept = left > 0;
                left = left.saturating_sub(1);
            }
        }
        if let Some(sample) = self.sample {
            let mut strata: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
            for (i, query) in queries.iter().enumerate().filter(|(i, _)| kept[*i]) {
                let stratum = query.category.as_deref().filter(|_| self.stratify);
                strata.entry(stratum).or_default().push(i);
            }
            let sizes: Vec<usize> = strata.values().map(Vec::len).collect();
            let quotas = quotas(&sizes, usize::try_from(sample).unwrap_or(usize::MAX));
            kept.fill(false);
            for (stratum, quota) in strata.into_values().zip(quotas) {
                let cases = stratum.into_iter().map(|i| (queries[i].case_id.as_str(), i));
                for i in self.first(cases, "ragstage.sample", quota as u64) {
                    kept[i] = true;
                }
            }
        }
        kept
    }

    /// The first `count` of things with ids, ordered by the hash of seed and id.
    fn first<'a, T: Ord>(
        &self,
        things: impl Iterator<Item = (&'a str, T)>,
        domain: &str,
        count: u64,
    ) -> impl Iterator<Item = T> {
        let seed = self.seed.to_le_bytes();
        let mut drawn: Vec<(Digest, &str, T)> =
            things.map(|(id, thing)| (Digest::of_parts(domain, [seed.as_slice(), id.as_bytes()]), id, thing)).collect();
        drawn.sort();
        drawn.into_iter().take(usize::try_from(count).unwrap_or(usize::MAX)).map(|(_, _, thing)| thing)
    }
}

/// The ids of the documents that each case is about: its gold documents, and that of its unit if that has only one.
fn documents_of_cases(benchmark: &Benchmark) -> Vec<BTreeSet<&str>> {
    let documents = &benchmark.documents.rows;
    let mut of_cases = gold_documents(&benchmark.documents, &benchmark.golds);
    for unit in &benchmark.units {
        let only = match &unit.document_rows {
            Some(rows) if rows.len() == 1 => rows.first().map(|row| *row as usize),
            None if documents.len() == 1 => Some(0),
            _ => None,
        };
        let Some(only) = only else { continue };
        match &unit.case_rows {
            Some(rows) => {
                for row in rows {
                    if let Some(of_case) = of_cases.get_mut(*row as usize) {
                        of_case.push(only);
                    }
                }
            }
            None => of_cases.iter_mut().for_each(|of_case| of_case.push(only)),
        }
    }
    let id = |row: usize| documents.get(row).map(|document| document.document_id.as_str());
    of_cases.into_iter().map(|rows| rows.into_iter().filter_map(id).collect()).collect()
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
    use crate::artifact::{Document, Documents, Evidence, Golds, Queries, Query, UnitRows};

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
    fn the_first_are_kept_and_the_sample_is_of_them() {
        let first = |first: u64, sample: Option<u64>| Selection { first: Some(first), sample, ..Selection::default() };
        assert_eq!(ids(&first(3, None).apply(numbered(9), Path::new("c")).unwrap()), ["c0", "c1", "c2"]);
        assert_eq!(first(9, None).apply(numbered(3), Path::new("c")).unwrap(), numbered(3));
        let both = first(5, Some(2)).apply(numbered(40), Path::new("c")).unwrap();
        assert_eq!(ids(&both), ids(&sample(2, 0).apply(numbered(5), Path::new("c")).unwrap()));
        let labels = json!({"type": "t"});
        let cases = [("a", json!({})), ("b", labels.clone()), ("c", labels.clone()), ("d", labels)];
        let of_kind = Selection { categories: Some(vec!["t".to_string()]), ..first(2, None) };
        let of_kind = of_kind.apply(benchmark(&cases, vec![Benchmark::whole(Json::new())]), Path::new("c")).unwrap();
        assert_eq!(ids(&of_kind), ["b", "c"]);
        assert_eq!(first(0, None).apply(numbered(3), Path::new("c")).unwrap_err().len(), 1);
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

    /// Documents `a` to `d`; cases named after the documents that their evidence names.
    fn about(cases: &[&str], units: Vec<UnitRows>) -> Benchmark {
        let rows: Vec<(&str, Value)> = cases.iter().map(|id| (*id, json!({"type": &id[..1]}))).collect();
        let mut benchmark = benchmark(&rows, units);
        for (gold, id) in benchmark.golds.rows.iter_mut().zip(cases) {
            let piece = |letter: char| Evidence { reference_id: Some(letter.to_string()), ..Evidence::default() };
            gold.evidence = id.chars().filter(|letter| letter.is_alphabetic()).map(piece).collect();
        }
        let document = |id: char| Document {
            document_id: id.to_string(),
            name: format!("{id}.txt"),
            source_key: format!("raw/{id}"),
            media_type: "text/plain".to_string(),
            digest: None,
            size: None,
            source_uri: None,
            data: None,
            metadata: Json::new(),
        };
        benchmark.documents = Documents { rows: ('a'..='d').map(document).collect() };
        benchmark
    }

    #[test]
    fn cases_of_drawn_documents_are_asked_and_documents_stay() {
        let cases = ["a1", "a2", "b1", "bc1", "d1", "1"];
        let documents = |count: u64, seed: u64| {
            let selection = Selection { sample_documents: Some(count), seed, ..Selection::default() };
            let whole = about(&cases, vec![Benchmark::whole(Json::new())]);
            let drawn = selection.apply(whole, Path::new("c")).expect("a selection");
            assert_eq!(drawn.documents.rows.len(), 4);
            ids(&drawn).into_iter().map(str::to_string).collect::<Vec<_>>()
        };
        let by_document = [vec!["a1", "a2"], vec!["b1", "bc1"], vec!["bc1"], vec!["d1"]];
        let mut seen = BTreeSet::new();
        for seed in 0..20 {
            let one = documents(1, seed);
            let position = by_document.iter().position(|cases| *cases == one).expect("the cases of one document");
            seen.insert(position);
            // Of more documents there is nothing less.
            let two = documents(2, seed);
            assert!(one.iter().all(|case| two.contains(case)) && two.len() >= one.len());
        }
        assert_eq!(seen.len(), 4);
        // A case that is about no document is of none that is drawn.
        assert_eq!(documents(99, 0), ["a1", "a2", "b1", "bc1", "d1"]);
    }

    #[test]
    fn the_document_of_a_unit_is_that_of_its_cases() {
        let unit = |id: &str, document: u32, cases: Vec<u32>| UnitRows {
            unit_id: id.to_string(),
            document_rows: Some(vec![document]),
            case_rows: Some(cases),
            metadata: Json::new(),
        };
        let units = vec![unit("a", 0, vec![0, 1]), unit("b", 1, vec![2]), unit("c", 2, Vec::new())];
        let selection = Selection { sample_documents: Some(1), ..Selection::default() };
        let drawn = selection.apply(about(&["1", "2", "3"], units), Path::new("c")).expect("a selection");
        let of_a = (vec!["1", "2"], "a");
        let of_b = (vec!["3"], "b");
        assert_eq!(drawn.units.len(), 1, "other units are dropped");
        assert!([of_a, of_b].contains(&(ids(&drawn), drawn.units[0].unit_id.as_str())));
        let whole = vec![Benchmark::whole(Json::new())];
        let errors = selection.apply(about(&["1", "2"], whole), Path::new("c")).expect_err("refused");
        assert_eq!(errors[0].to_string(), "c: documents are to be drawn, and no case says which it is about");
        let numbered = Selection { categories: Some(vec!["1".to_string()]), ..selection };
        let whole = vec![Benchmark::whole(Json::new())];
        let errors = numbered.apply(about(&["1", "a2"], whole), Path::new("c")).expect_err("refused");
        assert_eq!(errors[0].to_string(), "c: no case of these categories says which document it is about");
        let none = Selection { sample_documents: Some(0), ..Selection::default() };
        assert_eq!(none.apply(about(&["a1"], Vec::new()), Path::new("c")).expect_err("refused").len(), 1);
    }

    #[test]
    fn categories_have_their_share_of_a_sample() {
        let cases: Vec<String> = (0..60).map(|i| format!("{}{i}", if i % 10 == 0 { "b" } else { "a" })).collect();
        let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
        for seed in 0..10 {
            let selection = Selection { stratify: true, ..sample(20, seed) };
            let whole = about(&cases, vec![Benchmark::whole(Json::new())]);
            let drawn = selection.apply(whole.clone(), Path::new("c")).expect("a selection");
            let of_b = ids(&drawn).into_iter().filter(|id| id.starts_with('b')).count();
            assert_eq!((drawn.queries.rows.len(), of_b), (20, 2));
            // One category alone is drawn as without.
            let only = vec!["a".to_string()];
            let of_a = Selection { categories: Some(only.clone()), ..selection };
            let plain = Selection { categories: Some(only), ..sample(20, seed) };
            let [of_a, plain] = [of_a, plain].map(|selection| selection.apply(whole.clone(), Path::new("c")));
            assert_eq!(of_a.expect("a selection"), plain.expect("a selection"));
        }
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
