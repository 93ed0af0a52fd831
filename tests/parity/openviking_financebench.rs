//! The `financebench` adapter against OpenViking's, on the dataset as it is distributed, and on files that are wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ragstage_cache::Digest;
use ragstage_stages::prepare::{AdapterSpec, DATASETS, FinanceBenchSpec, Scope, Variant};
use serde_json::{Value, json};

use crate::golden::data;
use crate::openviking_adapters::{answers, cases_of, folder, items, read, texts, told, vector};

fn spec(path: PathBuf, scope: Scope) -> AdapterSpec {
    AdapterSpec::FinanceBench(FinanceBenchSpec { path, scope, variant: Variant::Own })
}

#[test]
fn it_agrees() {
    let Some(vector) = vector("financebench") else { return };
    let expected = vector.of("");
    let ours = read(spec(vector.path(""), Scope::Document));
    let theirs: Vec<(&str, &str)> = items(&expected["documents"])
        .iter()
        .map(|document| {
            (document["sample_id"].as_str().expect("an id"), document["file_name"].as_str().expect("a name"))
        })
        .collect();
    let documents = &ours.documents.rows;
    assert_eq!(theirs, documents.iter().map(|row| (row.document_id.as_str(), row.name.as_str())).collect::<Vec<_>>());
    for document in documents {
        let bytes = std::fs::read(vector.folder.join("pdfs").join(&document.name)).expect("a PDF");
        assert_eq!(document.digest, Some(Digest::of(&bytes)));
    }
    assert_eq!(expected["counts"]["qa"], ours.queries.rows.len());
    for sample in items(&expected["samples"]) {
        let name = sample["sample_id"].as_str().expect("an id");
        let unit = ours.units.units.iter().find(|unit| unit.unit_id == name).expect("its unit");
        let is_there = documents.iter().any(|document| document.document_id == name);
        let cases = cases_of(&ours, "document", name);
        assert_eq!((unit.documents, unit.cases), (u64::from(is_there), cases.len() as u64));
        assert_eq!(cases.len(), items(&sample["qa"]).len(), "{name}");
        for ((question, gold), theirs) in cases.into_iter().zip(items(&sample["qa"])) {
            assert_eq!(theirs["question"], question);
            assert_eq!(texts(&theirs["gold_answers"]), answers(gold));
            let pieces: Vec<&str> = gold.evidence.iter().filter_map(|piece| piece.text.as_deref()).collect();
            assert_eq!(texts(&theirs["evidence"]), pieces);
            let metadata = &theirs["metadata"];
            assert_eq!(metadata["financebench_id"], gold.case_id);
            let label = |name: &str| gold.labels.get(name).cloned().unwrap_or_default();
            assert_eq!(
                [&theirs["category"], &metadata["question_reasoning"], &metadata["company"]],
                [&label("question_type"), &label("question_reasoning"), &label("company")]
            );
            let why = unit.skipped.get(&gold.case_id).map(String::as_str);
            assert_eq!(why, (!is_there).then_some("the filing is not on disk: pdfs/ZEPHYR_2022_8K.pdf"));
        }
    }
    // Every piece has its page; that of an empty excerpt has nothing else.
    let pages = |id: &str| -> Vec<Value> {
        let gold = ours.golds.rows.iter().find(|gold| gold.case_id == id).expect("a case");
        gold.evidence.iter().map(|piece| piece.locator["page_index"].clone()).collect()
    };
    assert_eq!(pages("financebench_id_00002"), [40, 41, 33]);
}

#[test]
fn the_dataset_has_its_totals() {
    let Some(path) = data("financebench") else { return };
    let about = DATASETS.iter().find(|about| about.name == "financebench").expect("FinanceBench");
    let ours = read(spec(path.clone(), Scope::Document));
    assert_eq!((ours.queries.rows.len(), ours.units.units.len()), (150, 84));
    let mut categories: BTreeMap<&str, u64> = BTreeMap::new();
    for query in &ours.queries.rows {
        *categories.entry(query.category.as_deref().expect("a category")).or_default() += 1;
    }
    let told: BTreeMap<&str, u64> = about.categories.iter().map(|category| (category.name, category.cases)).collect();
    assert_eq!(categories, told);
    assert_eq!(ours.golds.rows.iter().map(|gold| gold.evidence.len()).sum::<usize>(), 189);
    // 10 of the 84 filings are there: 21 questions can be asked.
    assert_eq!(ours.documents.rows.len(), 10);
    assert_eq!(ours.units.units.iter().map(|unit| unit.skipped.len()).sum::<usize>(), 129);
    let metadata = &ours.units.benchmark.metadata;
    assert_eq!((&metadata["filings_not_on_disk"], &metadata["cases_without_their_filing"]), (&json!(74), &json!(129)));
    let corpus = read(spec(path.join("data/financebench_open_source.jsonl"), Scope::Corpus));
    assert_eq!((corpus.units.units.len(), corpus.units.units[0].skipped.len()), (1, 129));
}

fn faults(questions: &str) -> Vec<String> {
    let folder = folder(&[("financebench_open_source.jsonl", questions.as_bytes()), ("pdfs/A.pdf", b"%PDF")]);
    told(&folder, spec(folder.path().to_path_buf(), Scope::Corpus))
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let file = "financebench_open_source.jsonl";
    let row = |id: &str, document: &str, rest: &str| {
        format!(
            "{{\"financebench_id\": \"{id}\", \"doc_name\": \"{document}\", \"question\": \"q\", \"answer\": \"a\"{rest}}}\n"
        )
    };
    assert_eq!(faults(""), [format!("{file}: expected at least one question, found none")]);
    assert_eq!(
        faults(&row("1", "B", "")),
        [format!("{file}: none of the filings that the questions are about is on disk")]
    );
    let good = row("1", "A", "");
    assert_eq!(
        faults(&format!("{good}{}", &good[..20])),
        [format!("{file}:2:21: invalid JSON: EOF while parsing a value")]
    );
    assert_eq!(faults(&format!("{good}{good}")), [format!("{file}:2: financebench_id \"1\" is taken by line 1")]);
    let wrong = [
        row("1", "../A", ""),
        "{\"doc_name\": \"A\", \"question\": null}\n".to_string(),
        row(
            "2",
            "A",
            ", \"evidence\": [{\"doc_name\": \"A\", \"evidence_page_num\": -1}, {\"evidence_page_num\": 2}, 5]",
        ),
    ];
    assert_eq!(
        faults(&wrong.concat()),
        [
            format!("{file}:1: `doc_name` is \"../A\"; expected the name of a file"),
            format!("{file}:2: `financebench_id` is missing; expected a text"),
            format!("{file}:2: `question` is null; expected a text"),
            format!("{file}:2: `answer` is missing; expected a text"),
            format!("{file}:3: `evidence[0].evidence_page_num` is the number -1; expected the index of a page, from 0"),
            format!("{file}:3: `evidence[1].doc_name` is missing; expected a text"),
            format!("{file}:3: `evidence[2]` is the number 5; expected an object"),
        ]
    );
    let missing = folder(&[("x", b"")]);
    assert_eq!(
        told(&missing, spec(missing.path().to_path_buf(), Scope::Corpus)),
        ["data/financebench_open_source.jsonl: the benchmark's questions file is missing"]
    );
}
