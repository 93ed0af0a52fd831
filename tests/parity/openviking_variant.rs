//! `variant: openviking` of the four adapters: questions, gold answers, evidence, categories and order are those that OpenViking's
//! own adapters made of the same files, to the letter (spec/openviking 12).

use std::path::PathBuf;

use ragstage_stages::artifact::Gold;
use ragstage_stages::prepare::{
    AdapterSpec, FinanceBenchSpec, LocomoSpec, OPENVIKING_CASE, QasperSpec, Scope, SyllabusQaSpec, Variant,
};
use serde_json::{Value, json};

use crate::openviking_adapters::{items, read, vector};

fn locomo(path: PathBuf) -> AdapterSpec {
    AdapterSpec::Locomo(LocomoSpec { path, scope: Scope::Corpus, adversarial: false, variant: Variant::OpenViking })
}

fn syllabusqa(path: PathBuf) -> AdapterSpec {
    AdapterSpec::SyllabusQa(SyllabusQaSpec {
        path,
        split: "all".to_string(),
        documents: None,
        scope: Scope::Corpus,
        no_answer: false,
        variant: Variant::OpenViking,
    })
}

fn qasper(path: PathBuf) -> AdapterSpec {
    AdapterSpec::Qasper(QasperSpec {
        path,
        split: "all".to_string(),
        scope: Scope::Corpus,
        unanswerable: false,
        variant: Variant::OpenViking,
    })
}

fn financebench(path: PathBuf) -> AdapterSpec {
    AdapterSpec::FinanceBench(FinanceBenchSpec { path, scope: Scope::Corpus, variant: Variant::OpenViking })
}

/// A case as `expected.json` writes it, with the sample that it is of.
fn as_written(question: &str, gold: &Gold) -> (Value, Value) {
    let case = &gold.case_metadata[OPENVIKING_CASE];
    let evidence: Vec<&str> = gold.evidence.iter().map(|piece| piece.text.as_deref().expect("a text")).collect();
    let written = json!({
        "question": question,
        "gold_answers": gold.answers,
        "evidence": evidence,
        "category_as_written": case["category"],
    });
    (case["sample_id"].clone(), written)
}

fn agrees(adapter: &str, variants: &[&str], spec: fn(PathBuf) -> AdapterSpec) {
    let Some(vector) = vector(adapter) else { return };
    for variant in variants {
        let ours = read(spec(vector.path(variant)));
        let cases = ours.queries.rows.iter().zip(&ours.golds.rows);
        let ours: Vec<(Value, Value)> = cases.map(|(query, gold)| as_written(&query.text, gold)).collect();
        let samples = items(&vector.of(variant)["samples"]);
        let theirs = samples.iter().flat_map(|sample| items(&sample["qa"]).iter().map(|qa| (&sample["sample_id"], qa)));
        let theirs: Vec<(Value, Value)> = theirs
            .map(|(id, qa)| {
                let keys = ["question", "gold_answers", "evidence", "category_as_written"];
                let mut written: Value = keys.iter().map(|key| (key.to_string(), qa[*key].clone())).collect();
                // Ours is always a list.
                if written["evidence"].is_null() {
                    written["evidence"] = json!([]);
                }
                (id.clone(), written)
            })
            .collect();
        assert!(!theirs.is_empty());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{adapter} {variant}");
        }
        assert_eq!(ours.len(), theirs.len(), "{adapter} {variant}");
    }
}

#[test]
fn conversations_are_theirs() {
    agrees("locomo", &[""], locomo);
}

#[test]
fn syllabi_are_theirs() {
    agrees("syllabusqa", &["", "single_csv_variant", "json_variant"], syllabusqa);
}

#[test]
fn papers_are_theirs() {
    agrees("qasper", &["", "single_file_variant"], qasper);
}

#[test]
fn filings_are_theirs() {
    agrees("financebench", &[""], financebench);
}
