//! The `qasper` adapter against OpenViking's, on the test set as it is distributed, and on files that are wrong.
//!
//! A question whose annotators answered nothing at all (blank spans, no field set) has the gold `Not mentioned` in theirs; ours
//! has no gold answer, and does not expect a refusal: nobody said that the paper does not tell.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ragstage_stages::artifact::Gold;
use ragstage_stages::prepare::{AdapterSpec, DATASETS, QasperSpec, Scope, Variant};
use serde_json::{Value, json};

use crate::golden::{data, say};
use crate::openviking_adapters::{
    cases_of, compare_documents, folder, items, read, texts, told, vector, without_prefix,
};
use crate::prepared::Prepared;

fn spec(path: PathBuf) -> QasperSpec {
    QasperSpec { path, split: "all".to_string(), scope: Scope::Document, unanswerable: false, variant: Variant::Own }
}

#[test]
fn it_agrees() {
    let Some(vector) = vector("qasper") else { return };
    for variant in ["", "single_file_variant"] {
        let expected = vector.of(variant);
        let ours = read(AdapterSpec::Qasper(spec(vector.path(variant))));
        compare_documents(expected, &ours);
        assert_eq!(expected["counts"]["qa"], ours.queries.rows.len());
        for sample in items(&expected["samples"]) {
            compare_sample(sample, &ours);
        }
    }
}

fn compare_sample(sample: &Value, ours: &Prepared) {
    let id = sample["sample_id"].as_str().expect("an id");
    let document = ours.documents.rows.iter().find(|document| document.document_id == id).expect("its document");
    let title = document.metadata["title"].as_str().expect("a title");
    let cases = cases_of(ours, "paper", id);
    assert_eq!(cases.len(), items(&sample["qa"]).len(), "{id}");
    for ((question, gold), theirs) in cases.into_iter().zip(items(&sample["qa"])) {
        let asked = theirs["question"].as_str().expect("a question");
        assert_eq!(without_prefix(asked, "paper", title), question);
        assert_eq!(theirs["metadata"]["question_id"], gold.case_id);
        // Where somebody answered, the others' refusals are no answers (spec/openviking 9, 10).
        let mut answers = texts(&theirs["gold_answers"]);
        answers.retain(|answer| *answer != "Not mentioned");
        assert_eq!(answers, gold.answers, "{question}");
        assert_eq!(gold.metadata.get("unanswerable"), None);
        let evidence: Vec<&str> = texts(&theirs["evidence"])
            .into_iter()
            .map(|text| text.trim().trim_start_matches("FLOAT SELECTED: "))
            .collect();
        assert_eq!(evidence, gold.evidence.iter().filter_map(|piece| piece.text.as_deref()).collect::<Vec<_>>());
        let floats = texts(&theirs["evidence"]).iter().filter(|text| text.starts_with("FLOAT")).count();
        assert_eq!(floats, gold.evidence.iter().filter(|piece| piece.metadata.contains_key("float")).count());
        assert_eq!(theirs["metadata"]["answer_types"], gold.case_metadata["answer_types"]);
        compare_annotations(theirs, gold);
    }
}

/// Theirs lists the annotations that gave a text, refusals with theirs.
fn compare_annotations(theirs: &Value, gold: &Gold) {
    let with_text: Vec<Value> = items(&gold.case_metadata["annotations"])
        .iter()
        .filter(|annotation| annotation["answer"].is_string() || annotation["answer_type"] == "unanswerable")
        .map(|annotation| {
            let answer = annotation["answer"].as_str().unwrap_or("Not mentioned");
            json!({"answer": answer, "answer_type": annotation["answer_type"], "evidence": annotation["evidence"]})
        })
        .collect();
    assert_eq!(theirs["metadata"]["answer_evidence_pairs"], json!(with_text), "{}", gold.case_id);
}

fn categories(prepared: &Prepared) -> BTreeMap<String, u64> {
    let mut categories = BTreeMap::new();
    for query in &prepared.queries.rows {
        *categories.entry(query.category.clone().expect("a category")).or_default() += 1;
    }
    categories
}

#[test]
fn the_test_set_has_its_totals() {
    let Some(path) = data("qasper/qasper-test-v0.3.json.gz") else { return };
    let about = DATASETS.iter().find(|about| about.name == "qasper").expect("Qasper");
    let ours = read(AdapterSpec::Qasper(QasperSpec { unanswerable: true, ..spec(path.clone()) }));
    assert_eq!((ours.documents.rows.len(), ours.queries.rows.len()), (416, 1451));
    assert_eq!(ours.units.units.len(), 416);
    let told: BTreeMap<String, u64> =
        about.categories.iter().map(|category| (category.name.to_string(), category.cases)).collect();
    assert_eq!(categories(&ours), told);
    let unanswerable = |gold: &&Gold| gold.metadata.get("unanswerable") == Some(&json!(true));
    assert_eq!(ours.golds.rows.iter().filter(unanswerable).count(), 79);
    assert!(ours.golds.rows.iter().all(|gold| gold.answers.is_empty() == unanswerable(&gold)));
    let filtered = read(AdapterSpec::Qasper(spec(path)));
    assert_eq!(filtered.queries.rows.len(), 1372);
    assert_eq!(filtered.units.benchmark.metadata["unanswerable_left_out"], 79);

    // What evidence says stands where its spans are.
    let (mut placed, mut pieces) = (0, 0);
    for gold in &ours.golds.rows {
        for piece in &gold.evidence {
            pieces += 1;
            let Some(spans) = piece.locator.get("spans") else { continue };
            placed += 1;
            let id = piece.reference_id.as_deref().expect("a document");
            let document = ours.documents.rows.iter().find(|document| document.document_id == id).expect("a document");
            let text = std::str::from_utf8(document.data.as_deref().expect("bytes")).expect("UTF-8");
            for span in items(spans) {
                let [start, end] = [0, 1].map(|i| span[i].as_u64().expect("an offset") as usize);
                let there: String = text.chars().skip(start).take(end - start).collect();
                assert_eq!(Some(there.trim()), piece.text.as_deref());
            }
        }
    }
    say(&format!("qasper: {placed} of {pieces} pieces of evidence stand in their paper to the letter"));
    assert_eq!((placed, pieces), (3705, 3726));
    assert_eq!(ours.units.benchmark.metadata["evidence_not_in_paper"], pieces - placed);
}

#[test]
fn a_corpus_question_names_its_paper_and_later_files_win() {
    let paper = |title: &str, question: &str| {
        let answer = json!({"unanswerable": false, "extractive_spans": [], "free_form_answer": "yes", "yes_no": null, "evidence": []});
        json!({"title": title, "full_text": [], "qas": [{"question": question, "question_id": question, "answers": [{"answer": answer}]}]})
    };
    let first = json!({"p1": paper("One", "a"), "p2": paper("Two", "b")}).to_string();
    let second = json!({"p1": paper("One again", "c")}).to_string();
    let folder =
        folder(&[("a.json", first.as_bytes()), ("b.json", second.as_bytes()), ("sampling_metadata.json", b"[")]);
    let ours = read(AdapterSpec::Qasper(QasperSpec { scope: Scope::Corpus, ..spec(folder.path().to_path_buf()) }));
    let asked: Vec<&str> = ours.queries.rows.iter().map(|query| query.text.as_str()).collect();
    assert_eq!(asked, ["About the paper \"One again\": c", "About the paper \"Two\": b"]);
    assert_eq!(ours.units.units.len(), 1);
    assert_eq!(ours.units.benchmark.metadata["papers_replaced_by_later_files"], 1);
}

fn faults(text: &str) -> Vec<String> {
    let folder = folder(&[("qasper-dev-v0.3.json", text.as_bytes())]);
    told(&folder, AdapterSpec::Qasper(QasperSpec { split: "dev".to_string(), ..spec(folder.path().to_path_buf()) }))
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let file = "qasper-dev-v0.3.json";
    assert_eq!(faults(""), [format!("{file}: expected JSON, found an empty file")]);
    assert_eq!(faults("{}"), [format!("{file}: expected at least one paper, found none")]);
    assert_eq!(faults("[]"), [format!("{file}:1: expected an object, found a list")]);
    assert_eq!(
        faults("{\"p\": {\"title\": \"t\",\n \"qas\": [{\"q"),
        [format!("{file}:2:13: invalid JSON: EOF while parsing a string")]
    );
    assert_eq!(faults("{\"p\": {},\n\"p\": {}}"), [format!("{file}:2:8: the key `p` is there twice")]);
    let question =
        |id: &str, answer: &str| format!("{{\"question\": \"q\", \"question_id\": \"{id}\", \"answers\": [{answer}]}}");
    let paper = |qas: &str| format!("{{\"p\": {{\"title\": \"t\",\n\"qas\": [{qas}]}}}}");
    assert_eq!(faults(&paper("")), [format!("{file}: expected at least one question to ask, found none")]);
    let good = r#"{"answer": {"yes_no": true, "evidence": ["no such paragraph"]}}"#;
    assert_eq!(
        faults(&paper(&[question("a", good), question("a", good)].join(",\n"))),
        [format!("{file}:3: question_id \"a\" is taken by line 2")]
    );
    let wrong = [
        question(
            "a",
            r#"{"answer": {"yes_no": "Yes", "unanswerable": 1, "extractive_spans": "x", "evidence": [null]}}"#,
        ),
        question("b", r#"{"reply": {}}, 3"#),
        "{\"question\": null, \"question_id\": 7}".to_string(),
    ];
    assert_eq!(
        faults(&paper(&wrong.join(",\n"))),
        [
            format!("{file}:2: `p.qas[0].answers[0].answer.unanswerable` is the number 1; expected true or false"),
            format!("{file}:2: `p.qas[0].answers[0].answer.extractive_spans` is the text \"x\"; expected a list"),
            format!("{file}:2: `p.qas[0].answers[0].answer.yes_no` is the text \"Yes\"; expected true or false"),
            format!("{file}:2: `p.qas[0].answers[0].answer.evidence[0]` is null; expected a text"),
            format!("{file}:3: `p.qas[1].answers[0].answer` is missing; expected an object"),
            format!("{file}:3: `p.qas[1].answers[1]` is the number 3; expected an object"),
            format!("{file}:4: `p.qas[2].question` is null; expected a text"),
        ]
    );
    let missing = folder(&[("other.txt", b"")]);
    assert_eq!(
        told(&missing, AdapterSpec::Qasper(spec(missing.path().to_path_buf()))),
        ["qasper-test-v0.3.json: the benchmark's qasper-test-v0.3.json file is missing"]
    );
}

#[test]
fn dangling_evidence_is_kept_and_counted() {
    let text = r#"{"p": {"title": "t", "abstract": "An abstract.", "full_text": [{"section_name": "S", "paragraphs": ["Here it is."]}],
        "qas": [{"question": "q", "question_id": "a", "answers": [
        {"answer": {"free_form_answer": "x", "evidence": ["Here it is. ", "FLOAT SELECTED: gone", "An abstract.", "S"]}}]}]}}"#;
    let folder = folder(&[("p.json", text.as_bytes())]);
    let ours = read(AdapterSpec::Qasper(spec(folder.path().join("p.json"))));
    assert_eq!(ours.units.benchmark.metadata["evidence_not_in_paper"], 1);
    let spans: Vec<Option<&Value>> =
        ours.golds.rows[0].evidence.iter().map(|piece| piece.locator.get("spans")).collect();
    assert_eq!(spans, [Some(&json!([[48, 59]])), None, Some(&json!([[29, 41]])), Some(&json!([[46, 47]]))]);
}
