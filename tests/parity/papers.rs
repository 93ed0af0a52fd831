//! UDA-Benchmark's question files whole, and the part of MultiHop-RAG that is there: how many of what they have.

use std::collections::{BTreeMap, BTreeSet};

use ragstage_stages::prepare::{
    AdapterSpec, BenchmarkSpec, DATASETS, MultihopRagSpec, Selection, UdaDocuments, UdaSpec, UdaSubset,
};

use crate::golden::data;
use crate::prepared::{Prepared, prepare};

fn read(adapter: AdapterSpec) -> Prepared {
    let spec = BenchmarkSpec { adapter, selection: Selection::default() };
    prepare(&spec, &|_, bytes| bytes).expect("the files are well formed")
}

fn uda(subset: UdaSubset, documents: UdaDocuments) -> Option<Prepared> {
    Some(read(AdapterSpec::Uda(UdaSpec { path: data("uda")?, subset, documents })))
}

/// What `about` says that there is of `what`.
fn said(dataset: &str, what: &str) -> u64 {
    let about = DATASETS.iter().find(|about| about.name == dataset).expect("a dataset");
    about.counts.iter().find(|count| count.what == what).expect("a count").count
}

/// Documents that are there, questions on them, and questions with evidence, by subset. A Wikipedia page serves both subsets that
/// ask for it, whichever folder it is in.
const COUNTS: [(UdaSubset, u64, u64, usize); 6] = [
    (UdaSubset::Fin, 2, 21, 451),
    (UdaSubset::Tat, 2, 42, 450),
    (UdaSubset::PaperText, 5, 9, 455),
    (UdaSubset::PaperTab, 3, 3, 393),
    (UdaSubset::Feta, 3, 4, 350),
    (UdaSubset::Nq, 2, 2, 0),
];

#[test]
fn uda_is_read_whole() {
    for (subset, present, asked, with_evidence) in COUNTS {
        let Some(found) = uda(subset, UdaDocuments::All) else { return };
        let name = format!("uda_{}", subset.word());
        let questions = said(&name, "questions");
        assert_eq!(found.queries.rows.len() as u64, questions, "{name}");
        let documents: BTreeSet<&str> =
            found.golds.rows.iter().filter_map(|gold| gold.labels["doc_name"].as_str()).collect();
        assert_eq!(documents.len() as u64, said(&name, "documents"), "{name}");
        let with = found.golds.rows.iter().filter(|gold| !gold.evidence.is_empty()).count();
        assert_eq!(with, with_evidence, "{name}");
        assert!(found.golds.rows.iter().all(|gold| !gold.answers.is_empty()), "{name}: every question has gold");
        assert_eq!(found.documents.rows.len() as u64, present, "{name}");
        let skipped: usize = found.units.units.iter().map(|unit| unit.skipped.len()).sum();
        assert_eq!(skipped as u64, questions - asked, "{name}");
        // One unit for each document that is there, and one for all cases that cannot be asked.
        assert_eq!(found.units.units.len() as u64, present + 1, "{name}");
        assert_eq!(found.units.units.iter().map(|unit| unit.cases).sum::<u64>(), questions, "{name}");
        assert_eq!(found.units.benchmark.metadata["documents_missing"], documents.len() as u64 - present, "{name}");

        let found = uda(subset, UdaDocuments::Present).expect("the same files");
        assert_eq!((found.queries.rows.len() as u64, found.units.units.len() as u64), (asked, present), "{name}");
    }
}

#[test]
fn the_kinds_of_questions_are_as_many_as_is_said() {
    let Some(found) = uda(UdaSubset::Tat, UdaDocuments::All) else { return };
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for query in &found.queries.rows {
        *kinds.entry(query.category.as_deref().expect("a category")).or_default() += 1;
    }
    let about = DATASETS.iter().find(|about| about.name == "uda_tat").expect("a dataset");
    let said: BTreeMap<&str, u64> = about.categories.iter().map(|category| (category.name, category.cases)).collect();
    assert_eq!(kinds, said);
}

#[test]
fn the_carriage_return_in_feta_is_a_part_of_its_question() {
    let Some(found) = uda(UdaSubset::Feta, UdaDocuments::All) else { return };
    let row = found.queries.rows.iter().position(|query| query.case_id == "8114").expect("the question");
    assert!(found.queries.rows[row].text.ends_with('?'), "stripped at its end");
    assert_eq!(found.golds.rows[row].answers.len(), 1);
}

#[test]
fn the_part_of_multihop_rag_is_read_whole() {
    let Some(path) = data("multihop_rag") else { return };
    let found = read(AdapterSpec::MultihopRag(MultihopRagSpec { path }));
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for query in &found.queries.rows {
        *kinds.entry(query.category.as_deref().expect("a category")).or_default() += 1;
    }
    let expected = [("comparison_query", 154), ("inference_query", 161), ("null_query", 71), ("temporal_query", 114)];
    assert_eq!(kinds, BTreeMap::from(expected));
    assert_eq!((found.documents.rows.len(), found.queries.rows.len()), (326, 500));
    assert_eq!(found.golds.rows.iter().map(|gold| gold.evidence.len()).sum::<usize>(), 1_153);
    assert!(!found.units.benchmark.metadata.contains_key("evidence_without_document"));
}
