//! The `syllabusqa` adapter against OpenViking's, on the dataset as it is distributed, and on files that are wrong.
//!
//! Theirs makes Markdown of Word files while it prepares; ours hands on the files, which the parser of Word files reads. Reasoning
//! steps are no evidence of ours (spec/openviking 9, 8), a span that is there twice is one, and the syllabus `Odd.docx` has its
//! file `Odd.docx.docx`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ragstage_stages::prepare::{AdapterSpec, DATASETS, Scope, SyllabusForm, SyllabusQaSpec, Variant};
use serde_json::Value;

use crate::golden::data;
use crate::openviking_adapters::{Vector, answers, cases_of, folder, items, read, texts, told, vector, without_prefix};
use crate::prepared::Prepared;

fn spec(path: PathBuf) -> SyllabusQaSpec {
    SyllabusQaSpec {
        path,
        split: "all".to_string(),
        documents: None,
        scope: Scope::Document,
        no_answer: false,
        variant: Variant::Own,
    }
}

#[test]
fn it_agrees() {
    let Some(vector) = vector("syllabusqa") else { return };
    for variant in ["", "single_csv_variant", "json_variant"] {
        compare(&vector, variant);
    }
}

fn compare(vector: &Vector, variant: &str) {
    let expected = vector.of(variant);
    let ours = read(AdapterSpec::SyllabusQa(spec(vector.path(variant))));
    assert_eq!(expected["counts"]["qa"], ours.queries.rows.len());
    let theirs: BTreeSet<String> = items(&expected["documents"])
        .iter()
        .map(|document| format!("{}.docx", document["sample_id"].as_str().expect("an id")))
        .collect();
    let files: BTreeSet<String> = ours.documents.rows.iter().map(|document| document.name.clone()).collect();
    let odd: BTreeSet<String> = files.difference(&theirs).cloned().collect();
    let is_asked = ours.golds.rows.iter().any(|gold| gold.labels["syllabus"] == "Odd.docx");
    assert_eq!(odd, is_asked.then(|| "Odd.docx.docx".to_string()).into_iter().collect(), "{variant}");
    assert!(theirs.is_subset(&files), "{variant}");
    for document in &ours.documents.rows {
        let path = vector.folder.join("syllabi/syllabi_redacted/word").join(&document.name);
        let bytes = std::fs::read(path).expect("a Word file");
        assert_eq!(
            (document.digest, document.size),
            (Some(ragstage_cache::Digest::of(&bytes)), Some(bytes.len() as u64))
        );
        assert!(document.media_type.ends_with("wordprocessingml.document"));
    }
    for sample in items(&expected["samples"]) {
        let syllabus = sample["sample_id"].as_str().expect("an id");
        let cases = cases_of(&ours, "syllabus", syllabus);
        assert_eq!(cases.len(), items(&sample["qa"]).len(), "{syllabus}");
        for ((question, gold), theirs) in cases.into_iter().zip(items(&sample["qa"])) {
            assert_eq!(
                without_prefix(theirs["question"].as_str().expect("a question"), "syllabus", syllabus),
                question
            );
            assert_eq!(texts(&theirs["gold_answers"]), answers(gold), "{question}");
            let id = theirs["metadata"]["id"].as_str().expect("an id");
            assert!(id.is_empty() || id == gold.case_id, "{id}");
            let steps = texts(&theirs["metadata"]["reasoning_steps"]);
            assert_eq!(steps, gold.case_metadata.get("reasoning_steps").map(texts).unwrap_or_default());
            let mut spans: Vec<&str> = Vec::new();
            for text in texts(&theirs["evidence"]) {
                if !steps.contains(&text) && !spans.contains(&text) {
                    spans.push(text);
                }
            }
            let pieces: Vec<&str> = gold.evidence.iter().filter_map(|piece| piece.text.as_deref()).collect();
            assert_eq!(pieces, spans, "{question}");
            let category = theirs["category"].as_str().filter(|category| !category.is_empty());
            assert_eq!(gold.labels.get("question_type").and_then(Value::as_str), category);
            assert_eq!(
                ours.units.units.iter().any(|unit| unit.skipped.contains_key(&gold.case_id)),
                !files.contains(&format!("{syllabus}.docx"))
            );
        }
    }
}

fn categories(prepared: &Prepared) -> BTreeMap<&str, u64> {
    let mut categories: BTreeMap<&str, u64> = BTreeMap::new();
    for query in &prepared.queries.rows {
        *categories.entry(query.category.as_deref().expect("a category")).or_default() += 1;
    }
    categories
}

#[test]
fn the_dataset_has_its_totals() {
    let Some(path) = data("syllabusqa") else { return };
    let about = DATASETS.iter().find(|about| about.name == "syllabusqa").expect("SyllabusQA");
    let ours = read(AdapterSpec::SyllabusQa(spec(path.clone())));
    assert_eq!((ours.documents.rows.len(), ours.queries.rows.len(), ours.units.units.len()), (63, 4358, 63));
    let told: BTreeMap<&str, u64> = about.categories.iter().map(|category| (category.name, category.cases)).collect();
    assert_eq!(categories(&ours), told);
    assert_eq!(ours.units.benchmark.metadata["no_answer_left_out"], 720);
    assert_eq!(ours.units.benchmark.metadata["syllabi_not_on_disk"], 0);
    let whole = SyllabusQaSpec { no_answer: true, documents: Some(SyllabusForm::Text), ..spec(path.clone()) };
    let whole = read(AdapterSpec::SyllabusQa(whole));
    assert_eq!((whole.documents.rows.len(), whole.queries.rows.len()), (63, 5078));
    assert!(whole.documents.rows.iter().all(|document| document.media_type == "text/plain"));
    assert_eq!(categories(&whole)["no answer"], 720);
    for (split, documents, questions) in [("train", 39, 3018), ("val", 11, 957), ("test", 13, 1103)] {
        let part = SyllabusQaSpec { split: split.to_string(), no_answer: true, ..spec(path.clone()) };
        let part = read(AdapterSpec::SyllabusQa(part));
        assert_eq!((part.documents.rows.len(), part.queries.rows.len()), (documents, questions), "{split}");
        assert_eq!(part.units.benchmark.split, split);
    }
    // 40 of the 63 PDFs are not there: their questions are skipped, each with its file.
    let pdf = read(AdapterSpec::SyllabusQa(SyllabusQaSpec {
        documents: Some(SyllabusForm::Pdf),
        scope: Scope::Corpus,
        ..spec(path)
    }));
    let skipped = &pdf.units.units[0].skipped;
    assert_eq!(pdf.units.benchmark.metadata["syllabi_not_on_disk"], 63 - pdf.documents.rows.len());
    let of_missing = pdf
        .golds
        .rows
        .iter()
        .filter(|gold| !pdf.documents.rows.iter().any(|document| gold.labels["syllabus"] == document.document_id));
    assert_eq!(skipped.len(), of_missing.count());
    assert!(skipped.values().all(|why| why.starts_with("the syllabus is not on disk: syllabi/syllabi_redacted/pdf/")));
    let asked = &pdf.queries.rows[0].text;
    assert!(asked.starts_with("About the syllabus \""), "{asked}");
}

const HEADER: &str = "id,syllabus_name,question_type,question,answer,answer_span_1\n";

fn faults(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let folder = folder(&files);
    told(&folder, AdapterSpec::SyllabusQa(spec(folder.path().to_path_buf())))
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let table = |rows: &str| format!("{HEADER}{rows}");
    let syllabus = ("syllabi/S.txt", "text");
    assert_eq!(
        faults(&[("train.csv", &table("1,S,t,q,a,\n2,S,t,q,a\n")), ("val.csv", ""), syllabus]),
        [
            "train.csv:3: expected 6 cells as in the first row, found 5",
            "val.csv: expected a table of questions, found an empty file",
        ]
    );
    assert_eq!(
        faults(&[
            ("dataset_split/train.csv", &table("1,S,t,q,a,\n")),
            ("dataset_split/val.csv", &table("1,S,t,q,a,\n")),
            syllabus
        ]),
        ["dataset_split/val.csv:2: id \"1\" is taken by line 2"]
    );
    assert_eq!(
        faults(&[("train.csv", &HEADER.replace("answer,", "anser,")), syllabus]),
        ["train.csv:1: the column `answer` is missing"]
    );
    let rows = table("1,S,no answer,q,a,\n");
    assert_eq!(
        faults(&[("train.csv", &rows), syllabus])[0],
        "train.csv: expected at least one question to ask, found none"
    );
    assert_eq!(faults(&[("train.csv", &table("1,S,t,q,a,\n"))])[0], "train.csv: none of the 1 syllabi is on disk");
    assert_eq!(
        faults(&[("notes.txt", "x")]),
        ["test", "train", "val"].map(|split| {
            let file = format!("data/dataset_split/{split}.csv");
            format!("{file}: the benchmark's {file} file is missing")
        })
    );
    let folder = folder(&[("q.json", b"{\"S\": [{\"question\": \"q\"},\n {\"question\": 1, \"answer\": []}")]);
    let told = told(&folder, AdapterSpec::SyllabusQa(spec(folder.path().join("q.json"))));
    assert_eq!(told, ["q.json:2:31: invalid JSON: EOF while parsing a list"]);
}

#[test]
fn the_syllabi_are_found_above_a_file_of_questions() {
    let huge = format!("{HEADER}1,S,yes/no,\"Is it\r\nthere?\",Yes,\"{}\"\n", "word ".repeat(10 << 20));
    let folder = folder(&[("data/dataset_split/train.csv", huge.as_bytes()), ("syllabi/S.txt", b"text")]);
    let ours = read(AdapterSpec::SyllabusQa(spec(folder.path().join(Path::new("data/dataset_split/train.csv")))));
    assert_eq!(ours.documents.rows.len(), 1);
    assert_eq!(ours.queries.rows[0].text, "Is it\nthere?");
}
