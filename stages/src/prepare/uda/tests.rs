//! The adapter on files of our own.

use std::path::Path;

use ragstage_cache::Digest;
use serde_json::json;

use super::*;
use crate::prepare::SourceFile;

/// A file that is there, with its bytes.
fn file(role: &str, path: &str, bytes: &[u8]) -> (SourceFile, Vec<u8>) {
    let (digest, size) = (Digest::of(bytes), bytes.len() as u64);
    (SourceFile { role: role.to_string(), path: path.into(), digest, size }, bytes.to_vec())
}

/// The benchmark of a question file, an extended file and the documents at paths; or what is wrong, in full and with hints.
fn read(
    spec: &UdaSpec,
    questions: &[u8],
    extended: Option<&str>,
    documents: &[&str],
) -> Result<Benchmark, Vec<(String, String)>> {
    let questions = file(QUESTIONS, "qa.csv", questions);
    let extended = extended.map(|text| file(EXTENDED, "bench.json", text.as_bytes()));
    let files: Vec<(&SourceFile, Vec<u8>)> =
        std::iter::once(&questions).chain(&extended).map(|(file, bytes)| (file, bytes.clone())).collect();
    let below: Vec<String> = documents.iter().map(|path| path.to_string()).collect();
    let named = spec.named(&ReadFiles { files: files.clone(), documents: Vec::new() }, &below);
    let read = ReadFiles { files, documents: named.iter().map(String::as_str).collect() };
    let find = |path: &str| {
        if path.contains("locked") {
            Err("cannot be read: permission denied".to_string())
        } else {
            Ok(Some((Digest::of(path.as_bytes()), 3)))
        }
    };
    spec.read(&read, &find).map_err(|errors| {
        errors.iter().map(|error| (error.to_string(), error.hint.clone().unwrap_or_default())).collect()
    })
}

fn spec(subset: UdaSubset) -> UdaSpec {
    UdaSpec { path: "UDA".into(), subset, documents: UdaDocuments::All }
}

/// What is wrong with a question file of FinQA, where its document is there.
fn faults(text: &str) -> Vec<String> {
    let errors = read(&spec(UdaSubset::Fin), text.as_bytes(), None, &["A.pdf", "B.pdf"]).expect_err("errors");
    errors.into_iter().map(|(message, _)| message).collect()
}

fn benchmark(subset: UdaSubset, text: &str, extended: Option<&str>) -> Benchmark {
    read(&spec(subset), text.as_bytes(), extended, &["A.pdf", "B.pdf"]).expect("a benchmark")
}

const FIN: &str = "doc_name|q_uid|question|answer_1|answer_2\n";

#[test]
fn a_carriage_return_within_a_cell_ends_nothing() {
    let text = "doc_name|q_uid|question|answer|doc_url\nA|7|Which roles in 2000?\r|Two.|u\nB|8|\"a\nb\"|Three.|u\n";
    let found = benchmark(UdaSubset::Feta, text, None);
    let texts: Vec<&str> = found.queries.rows.iter().map(|query| query.text.as_str()).collect();
    assert_eq!(texts, ["Which roles in 2000?", "a\nb"]);
    assert_eq!(found.golds.rows[0].answers, ["Two."]);
    let windows = text.replace('\r', "").replace('\n', "\r\n");
    let other = benchmark(UdaSubset::Feta, &windows, None);
    assert_eq!(other.golds, found.golds);
}

#[test]
fn every_fault_of_the_question_file_has_its_line() {
    let text = format!(
        "\u{feff}{FIN}A|u1|q|1|2\n\nA|u2|\"a\nquestion\"|1|2|3\nA|u3\n |u4|q|1|2\nA||q|1|2\nA|u5| |1|2\nA|u1|q|1|2\n--|u6|q|1|2\n"
    );
    assert_eq!(
        faults(&text),
        [
            "qa.csv:4: expected 5 cells, found 6",
            "qa.csv:6: expected 5 cells, found 2",
            "qa.csv:7: `doc_name` is blank",
            "qa.csv:8: `q_uid` is blank",
            "qa.csv:9: `question` is blank",
            "qa.csv:10: q_uid \"u1\" is taken by line 2",
            "qa.csv:11: `doc_name` is \"--\"; expected a letter or a digit in it",
        ]
    );
}

#[test]
fn a_file_of_another_kind_is_one_error() {
    for (text, message, hint) in [
        ("", "qa.csv: expected a header with doc_name, q_uid, question, found an empty file", "fetch the file again"),
        (
            "doc_name|q_uid|answer_1|answer_2\nA|u|1|2\n",
            "qa.csv:1: the column is missing: `question`",
            "there are doc_name, q_uid, answer_1, answer_2; is it the file of the subset fin?",
        ),
        (
            "doc_name,q_uid,question\nA,u,q\n",
            "qa.csv:1: the columns are missing: `doc_name`, `q_uid`, `question`, `answer_1`, `answer_2`",
            "columns are parted by `|`, and here is but one: \"doc_name,q_uid,question\"",
        ),
        (FIN, "qa.csv: expected at least one question, found none", "is this the question file of the subset?"),
        (
            "doc_name|q_uid|question|answer_1|answer_2\nA|u|\"a question|1|2\nA|u2|q|1|2\n",
            "qa.csv:2: a double quote opens a cell of this record, and none closes it",
            "a quote within a cell in quotes is doubled; is the file cut off?",
        ),
    ] {
        let errors = read(&spec(UdaSubset::Fin), text.as_bytes(), None, &["A.pdf"]).expect_err("an error");
        assert_eq!(errors, [(message.to_string(), hint.to_string())], "{text}");
    }
    let errors = read(&spec(UdaSubset::Fin), b"doc_name|q_uid\n\xc3\xa9\xff", None, &["A.pdf"]).expect_err("an error");
    assert_eq!(errors[0].0, "qa.csv:2:2: expected UTF-8, found the byte 0xff");
}

#[test]
fn very_many_wrong_records_are_counted() {
    let text = format!("{FIN}{}", "A|u\n".repeat(1000));
    let errors = faults(&text);
    assert_eq!(errors.len(), 21);
    assert_eq!(errors[20], "qa.csv:22: ... and 980 more records");
}

#[test]
fn a_huge_cell_is_a_cell() {
    let text = format!("{FIN}A|u|\"{}\"|1|2\nA|u2|q|1|2\n", "x ".repeat(8 << 20));
    let found = benchmark(UdaSubset::Fin, &text, None);
    assert_eq!(found.queries.rows.len(), 2);
    assert_eq!(found.queries.rows[0].text.len(), (16 << 20) - 1);
}

#[test]
fn a_case_whose_document_is_missing_is_skipped_in_a_unit_of_its_own() {
    let text = format!("{FIN}C|u1|q|1|2\nA|u2|q|1|2\nD|u3|q|1|2\nC|u4|q|1|2\n");
    let found = benchmark(UdaSubset::Fin, &text, None);
    let reason = "the dataset's folder has no document \"C\": there is no file C.pdf";
    assert_eq!(found.skipped["u1"], reason);
    assert_eq!(found.skipped.keys().collect::<Vec<_>>(), ["u1", "u3", "u4"]);
    let units: Vec<_> =
        found.units.iter().map(|unit| (unit.unit_id.as_str(), &unit.document_rows, &unit.case_rows)).collect();
    assert_eq!(
        units,
        [("A", &Some(vec![0]), &Some(vec![1])), ("without-documents", &Some(vec![]), &Some(vec![0, 2, 3])),]
    );
    assert_eq!(found.info.metadata["documents_missing"], 2);
    assert_eq!((found.documents.rows.len(), found.queries.rows.len()), (1, 4));
}

#[test]
fn only_what_is_there_is_asked_on_demand() {
    let text = format!("{FIN}C|u1|q|1|2\nA|u2|q|1|2\nC|u4|q|1|2\n");
    let spec = UdaSpec { documents: UdaDocuments::Present, ..spec(UdaSubset::Fin) };
    let found = read(&spec, text.as_bytes(), None, &["A.pdf"]).expect("a benchmark");
    assert_eq!(found.queries.rows.iter().map(|query| query.case_id.as_str()).collect::<Vec<_>>(), ["u2"]);
    assert!(found.skipped.is_empty());
    assert_eq!((found.units.len(), &found.units[0].case_rows), (1, &Some(vec![0])));
    assert_eq!(
        (&found.info.metadata["documents_missing"], &found.info.metadata["cases_left_out"]),
        (&json!(1), &json!(2))
    );
}

#[test]
fn without_any_document_the_folder_is_wrong() {
    let text = format!("{FIN}C|u1|q|1|2\n");
    let errors = read(&spec(UdaSubset::Fin), text.as_bytes(), None, &["A.pdf", "other/B.pdf"]).expect_err("an error");
    let message =
        "qa.csv: none of the 1 documents that the questions are on is there; no file below UDA is called after one";
    assert_eq!(errors[0].0, message);
    assert!(errors[0].1.contains("fin_docs.zip"));
    let text = format!("{FIN}locked|u1|q|1|2\nA|u2|q|1|2\n");
    let errors = read(&spec(UdaSubset::Fin), text.as_bytes(), None, &["A.pdf", "locked.pdf"]).expect_err("an error");
    assert_eq!(errors[0].0, "qa.csv:2: the document \"locked.pdf\" cannot be read: permission denied");
}

#[test]
fn the_extended_file_tells_where_it_is_wrong() {
    let wrong = |subset: UdaSubset, header: &str, extended: &str| -> Vec<String> {
        let text = format!("{header}\nA|u|q|{}\n", if subset == UdaSubset::Tat { "['1']||span" } else { "1|2" });
        let errors = read(&spec(subset), text.as_bytes(), Some(extended), &["A.pdf"]).expect_err("errors");
        errors.into_iter().map(|(message, _)| message).collect()
    };
    let fin = |extended: &str| wrong(UdaSubset::Fin, FIN.trim_end(), extended);
    assert_eq!(fin("[]"), ["bench.json:1: expected an object, found a list"]);
    assert_eq!(fin("{\"A\":\n [{\"q_uid\": \"u\""), ["bench.json:2:16: invalid JSON: EOF while parsing an object"]);
    assert_eq!(fin("{\"A\": {}}"), ["bench.json:1: `A` is an object; expected a list"]);
    assert_eq!(
        fin("{\"A\": [7,\n {\"question\": \"q\"}]}"),
        [
            "bench.json:1: `A[0]` is the number 7; expected an object",
            "bench.json:2: `A[1].q_uid` is missing; expected a text",
        ]
    );
    assert_eq!(
        fin("{\"A\":\n [{\"q_uid\": \"u\", \"answers\": [], \"evidence\": {\"t\": [1]}}]}"),
        [
            "bench.json:2: `A[0].answers` is a list; expected an object",
            "bench.json:2: `A[0].evidence.t` is a list; expected a text",
        ]
    );
    let tat =
        |extended: &str| wrong(UdaSubset::Tat, "doc_name|q_uid|question|answer|answer_scale|answer_type", extended);
    assert_eq!(
        tat("{\"A\": [{\"q_uid\": \"u\", \"facts\": \"x\"}]}"),
        ["bench.json:1: `A[0].facts` is the text \"x\"; expected a list"]
    );
    let feta = |evidence: &str| {
        let text = "doc_name|q_uid|question|answer|doc_url\nA|7|q|a|u\n";
        let extended = format!("{{\"A\": [{{\"q_uid\": 7, \"evidence\": {evidence}}}]}}");
        let errors = read(&spec(UdaSubset::Feta), text.as_bytes(), Some(&extended), &["A.pdf"]);
        errors.map(|found| found.golds.rows[0].evidence.clone()).map_err(|errors| errors[0].0.clone())
    };
    assert_eq!(
        feta("{\"table_array\": [[\"x\"]], \"highlighted_cell_ids\": [[0, 0]]}").expect("evidence")[0].text.as_deref(),
        Some("x")
    );
    assert_eq!(
        feta("{\"table_array\": [[\"x\"]], \"highlighted_cell_ids\": [[0, 1]]}"),
        Err("bench.json:1: `highlighted_cell_ids` names the cell [0,1], which `table_array` does not have".to_string())
    );
    assert!(feta("{}").is_err());
    assert_eq!(feta("null"), Ok(Vec::new()));
}

#[test]
fn evidence_is_each_text_once() {
    let text = "doc_name|q_uid|question|answer_1|answer_2|answer_3\nA|u|q|a||\n";
    let extended = json!({"A": [{"q_uid": "u", "evidence": [
        {"raw_evidence": ["One.", " ", "FLOAT SELECTED: Table 1: Two"], "highlighted_evidence": []},
        {"raw_evidence": ["One."]},
    ]}], "Z": [{"q_uid": "u"}]});
    let found = benchmark(UdaSubset::PaperTab, text, Some(&extended.to_string()));
    let texts: Vec<_> = found.golds.rows[0].evidence.iter().map(|piece| piece.text.as_deref()).collect();
    assert_eq!(texts, [Some("One."), Some("Table 1: Two")]);
    assert_eq!(found.golds.rows[0].evidence[1].locator["source_key_prefix"], "raw/benchmarks/uda_paper_tab/all/A/");
    assert_eq!(found.golds.rows[0].case_metadata["has_extended_info"], true);
}

#[test]
fn files_are_found_however_much_of_the_repository_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let listing = |path: &Path| -> Vec<PathBuf> {
        let spec = UdaSpec { path: path.to_path_buf(), ..spec(UdaSubset::Nq) };
        spec.listing().into_iter().map(|file| file.path).collect()
    };
    let root = folder.path();
    assert_eq!(listing(root)[0], root.join("dataset/qa/nq_qa.csv"));
    std::fs::create_dir_all(root.join("dataset/qa")).expect("folders");
    std::fs::write(root.join("dataset/qa/nq_qa.csv"), "").expect("a file");
    assert_eq!(listing(root)[0], root.join("dataset/qa/nq_qa.csv"));
    assert_eq!(listing(&root.join("dataset"))[0], root.join("dataset/qa/nq_qa.csv"));
    assert_eq!(listing(&root.join("dataset/qa"))[0], root.join("dataset/qa/nq_qa.csv"));
}
