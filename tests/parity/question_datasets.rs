//! HotpotQA, MuSiQue and Cranfield as they are distributed.

use std::collections::BTreeMap;

use ragstage_stages::prepare::{
    AdapterSpec, BenchmarkSpec, DATASETS, HotpotqaSpec, MusiqueSpec, QueryIds, QuestionScope, Relevance, Selection,
    TrecSpec,
};

use crate::golden::data;
use crate::prepared::{Prepared, prepare};

fn read(adapter: AdapterSpec) -> Prepared {
    let spec = BenchmarkSpec { adapter, selection: Selection::default() };
    prepare(&spec, &|_, bytes| bytes).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// How many cases are of each category.
fn categories(prepared: &Prepared) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for query in &prepared.queries.rows {
        *counts.entry(query.category.as_deref().unwrap_or_default()).or_default() += 1;
    }
    counts
}

fn hotpotqa(scope: QuestionScope) -> Option<Prepared> {
    let path = data("hotpotqa/hotpot_dev_distractor_v1.sample200.json")?;
    Some(read(AdapterSpec::Hotpotqa(HotpotqaSpec { path, split: "dev".to_string(), scope })))
}

#[test]
fn hotpotqas_sample_is_read_whole() {
    let Some(prepared) = hotpotqa(QuestionScope::Question) else { return };
    assert_eq!((prepared.queries.rows.len(), prepared.units.units.len()), (200, 200));
    // Every title is one paragraph here.
    assert_eq!(prepared.documents.rows.len(), 1_971);
    assert_eq!(categories(&prepared), BTreeMap::from([("bridge", 134), ("comparison", 66)]));
    let paragraphs: Vec<u64> = prepared.units.units.iter().map(|unit| unit.documents).collect();
    assert_eq!(paragraphs.iter().filter(|count| **count == 10).count(), 199);
    assert_eq!(paragraphs.iter().min(), Some(&2));
    let facts: usize = prepared.golds.rows.iter().map(|gold| gold.evidence.len()).sum();
    assert!(prepared.golds.rows.iter().all(|gold| gold.evidence.len() >= 2 && gold.answers.len() == 1));
    assert!(facts > 400, "{facts}");
    assert!(prepared.units.benchmark.metadata.is_empty(), "{:?}", prepared.units.benchmark.metadata);
    // Each fact is a line of its document, where its locator says that it is.
    for piece in prepared.golds.rows.iter().flat_map(|gold| &gold.evidence) {
        let id = piece.reference_id.as_deref().expect("a document");
        let document = prepared.documents.rows.iter().find(|row| row.document_id == id).expect("the document");
        let text = std::str::from_utf8(document.data.as_deref().expect("a text")).expect("UTF-8");
        let sentence = piece.text.as_deref().expect("a sentence");
        assert!(text.lines().any(|line| line == sentence), "{sentence}");
        let span: Vec<usize> = serde_json::from_value(piece.locator["spans"][0].clone()).expect("a span");
        let at: String = text.chars().skip(span[0]).take(span[1] - span[0]).collect();
        assert_eq!(at, sentence);
    }
    let whole = hotpotqa(QuestionScope::Corpus).expect("it was there");
    assert_eq!((whole.units.units.len(), whole.units.units[0].documents), (1, 1_971));
}

#[test]
fn musiques_sample_is_read_whole() {
    let Some(path) = data("musique/musique_ans_v1.0_dev.sample200.jsonl") else { return };
    let spec = MusiqueSpec { path, split: "dev".to_string(), scope: QuestionScope::Question };
    let prepared = read(AdapterSpec::Musique(spec));
    assert_eq!((prepared.queries.rows.len(), prepared.documents.rows.len()), (200, 3_141));
    assert_eq!(categories(&prepared), BTreeMap::from([("2hop", 145), ("3hop", 32), ("4hop", 23)]));
    assert!(prepared.units.units.iter().all(|unit| unit.documents == 20));
    for gold in &prepared.golds.rows {
        let hops: usize =
            gold.labels["type"].as_str().and_then(|hops| hops.get(..1)).and_then(|n| n.parse().ok()).expect("hops");
        assert_eq!(gold.evidence.len(), hops, "{}", gold.case_id);
    }
}

fn cranfield(qrels: &str, relevance: Relevance) -> Option<Prepared> {
    let folder = data("cranfield")?;
    Some(read(AdapterSpec::Trec(TrecSpec {
        documents: vec![folder.join("cran.all.1400")],
        topics: folder.join("cran.qry"),
        qrels: folder.join(qrels),
        name: "cranfield".to_string(),
        version: None,
        split: "test".to_string(),
        relevance,
        query_ids: Some(QueryIds::Position),
        topic_fields: Vec::new(),
        homepage: None,
        license: None,
        citation: None,
    })))
}

#[test]
fn cranfield_is_read_whole_by_either_file_of_judgements() {
    let Some(corrected) = cranfield("QRelsCorrectedforTRECeval", Relevance::Grades) else { return };
    assert_eq!((corrected.documents.rows.len(), corrected.queries.rows.len()), (1_400, 225));
    let judgements = |prepared: &Prepared| -> usize {
        let all =
            prepared.golds.rows.iter().map(|gold| gold.metadata["judgements"].as_object().map_or(0, |map| map.len()));
        all.sum()
    };
    assert_eq!(judgements(&corrected), 1_837);
    assert!(corrected.units.benchmark.metadata.is_empty(), "{:?}", corrected.units.benchmark.metadata);
    let empty = corrected.documents.rows.iter().filter(|document| document.size == Some(0));
    assert_eq!(empty.map(|document| document.document_id.as_str()).collect::<Vec<_>>(), ["471", "995"]);
    let first = std::str::from_utf8(corrected.documents.rows[0].data.as_deref().expect("a text")).expect("UTF-8");
    let title = "experimental investigation of the aerodynamics of a wing in a slipstream .";
    assert!(first.starts_with(&format!("{title}\n\n  an experimental study of a wing")), "{first}");
    assert_eq!(first.matches("experimental investigation").count(), 1, "the title is not there twice");
    let query = &corrected.queries.rows[2];
    assert!(query.case_id == "3" && query.text.starts_with("what problems of heat conduction in composite slabs"));

    let codes = cranfield("cranqrel", Relevance::Cranfield).expect("it was there");
    assert_eq!(codes.documents, corrected.documents);
    assert_eq!(codes.queries, corrected.queries);
    assert_eq!(codes.golds, corrected.golds);
    let wrong = cranfield("cranqrel", Relevance::Grades).expect("it was there");
    assert_ne!(wrong.golds, corrected.golds);
}

#[test]
fn what_is_known_of_datasets_adds_up() {
    let names: Vec<&str> = DATASETS.iter().map(|about| about.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    for about in DATASETS {
        for evaluator in about.evaluators {
            let spec = ragstage_stages::score::EvaluatorSpec::parse(evaluator).expect("a specification");
            ragstage_stages::score::evaluator(&spec).map(drop).unwrap_or_else(|error| panic!("{error}"));
        }
        let categories: u64 = about.categories.iter().map(|category| category.cases).sum();
        if ["hotpotqa", "musique"].contains(&about.name) {
            assert_eq!(categories, about.counts[0].count, "{}", about.name);
        }
    }
}
