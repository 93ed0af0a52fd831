//! The `locomo` adapter against OpenViking's, on the dataset as it is distributed, and on files that are wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ragstage_stages::prepare::{AdapterSpec, DATASETS, LocomoSpec, Scope, Variant};
use serde_json::{Value, json};

use crate::golden::{data, say};
use crate::openviking_adapters::{answers, cases_of, compare_documents, folder, items, read, texts, told, vector};
use crate::prepared::Prepared;

fn spec(path: PathBuf) -> AdapterSpec {
    AdapterSpec::Locomo(LocomoSpec { path, scope: Scope::Document, adversarial: false, variant: Variant::Own })
}

#[test]
fn it_agrees() {
    let Some(vector) = vector("locomo") else { return };
    let expected = vector.of("");
    let ours = read(spec(vector.path("")));
    compare_documents(expected, &ours);
    assert_eq!(expected["counts"]["qa"], ours.queries.rows.len());
    for sample in items(&expected["samples"]) {
        let id = sample["sample_id"].as_str().expect("an id");
        let cases = cases_of(&ours, "conversation", id);
        assert_eq!(cases.len(), items(&sample["qa"]).len(), "{id}");
        let document = ours.documents.rows.iter().find(|document| document.document_id == id).expect("its document");
        let text = String::from_utf8(document.data.clone().expect("bytes")).expect("UTF-8");
        for ((question, gold), theirs) in cases.into_iter().zip(items(&sample["qa"])) {
            assert_eq!(theirs["question"], question);
            assert_eq!(texts(&theirs["gold_answers"]), answers(gold), "{question}");
            // Ours names the turns that there are, one by one; theirs keeps what is written.
            let written = texts(&theirs["evidence"]).join(" ");
            let named: Vec<&str> =
                written.split([' ', ';']).filter(|id| !id.is_empty() && text.contains(&format!("[{id}]"))).collect();
            let turns: Vec<&Value> = gold.evidence.iter().map(|piece| &piece.metadata["turn"]).collect();
            assert_eq!(turns, named, "{question}");
            assert_eq!(
                theirs["category_as_written"],
                gold.labels.get("category_number").map_or(json!("None"), Value::clone)
            );
            assert_eq!(
                theirs["metadata"]["original_id"],
                gold.case_metadata.get("original_id").cloned().unwrap_or_default()
            );
        }
    }
}

/// The text of a document between the ends of a span.
fn text_at(ours: &Prepared, document: &str, span: &Value) -> String {
    let document = ours.documents.rows.iter().find(|row| row.document_id == document).expect("the document");
    let text = std::str::from_utf8(document.data.as_deref().expect("bytes")).expect("UTF-8");
    let [start, end] = [0, 1].map(|i| span[i].as_u64().expect("an offset") as usize);
    text.chars().skip(start).take(end - start).collect()
}

#[test]
fn the_dataset_has_its_totals() {
    let Some(path) = data("locomo/locomo10.json") else { return };
    let about = DATASETS.iter().find(|about| about.name == "locomo").expect("LoCoMo");
    let ours = read(spec(path.clone()));
    assert_eq!((ours.documents.rows.len(), ours.queries.rows.len(), ours.units.units.len()), (10, 1540, 10));
    let cases: Vec<u64> = ours.units.units.iter().map(|unit| unit.cases).collect();
    assert_eq!(cases, [152, 81, 152, 199, 178, 123, 150, 191, 156, 158]);
    let mut categories: BTreeMap<&str, u64> = BTreeMap::new();
    for query in &ours.queries.rows {
        *categories.entry(query.category.as_deref().expect("a category")).or_default() += 1;
    }
    let told: BTreeMap<&str, u64> = about.categories.iter().map(|category| (category.name, category.cases)).collect();
    assert_eq!(categories, told);
    assert_eq!(categories["multi-hop"], 282);
    let total = |key: &str| -> u64 {
        ours.documents.rows.iter().map(|document| document.metadata[key].as_u64().expect("a count")).sum()
    };
    assert_eq!((total("sessions"), total("turns")), (272, 5882));
    let info = &ours.units.benchmark;
    assert_eq!(info.metadata["adversarial_left_out"], 446);
    assert_eq!(info.metadata["evidence_of_no_turn"], 4);
    assert_eq!((info.build_scope.as_str(), info.license.as_deref()), ("case", Some("CC BY-NC 4.0")));
    // Every piece of evidence is the line of its turn, and ends with its mark.
    let mut pieces = 0;
    for gold in &ours.golds.rows {
        for piece in &gold.evidence {
            let line = text_at(&ours, piece.reference_id.as_deref().expect("a document"), &piece.locator["spans"][0]);
            assert!(line.starts_with("**") && line.ends_with(piece.text.as_deref().expect("a mark")), "{line}");
            pieces += 1;
        }
    }
    let bare = ours.golds.rows.iter().filter(|gold| gold.evidence.is_empty()).count();
    say(&format!("locomo: {pieces} pieces of evidence, {bare} questions without"));
    assert_eq!(info.metadata["cases_without_evidence"], bare);

    let whole = LocomoSpec { path, scope: Scope::Corpus, adversarial: true, variant: Variant::Own };
    let whole = read(AdapterSpec::Locomo(whole));
    assert_eq!((whole.queries.rows.len(), whole.units.units.len()), (1986, 1));
    let adversarial = whole.golds.rows.iter().filter(|gold| gold.labels["category"] == "adversarial");
    let adversarial: Vec<_> = adversarial.collect();
    assert_eq!(adversarial.len(), 446);
    assert!(adversarial.iter().all(|gold| gold.answers.is_empty() && gold.metadata["unanswerable"] == true));
    // A case has the same id whatever is asked beside it.
    let ids = |prepared: &Prepared| prepared.queries.rows.iter().map(|row| row.case_id.clone()).collect::<Vec<_>>();
    let all = ids(&whole);
    assert!(ids(&ours).iter().all(|id| all.contains(id)));
    assert!(whole.units.default_evaluators.contains(&"refusal_agreement".to_string()));
}

fn faults(text: &str) -> Vec<String> {
    let folder = folder(&[("locomo10.json", text.as_bytes())]);
    told(&folder, spec(folder.path().to_path_buf()))
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let turn = r#"{"speaker": "A", "dia_id": "D1:1", "text": "hi"}"#;
    let sample = |id: &str, turns: &str, qa: &str| {
        format!("{{\"sample_id\": \"{id}\", \"conversation\": {{\"session_1\": [{turns}]}},\n \"qa\": [{qa}]}}")
    };
    let question = r#"{"question": "q", "answer": "a", "category": 1}"#;
    assert_eq!(faults(""), ["locomo10.json: expected JSON, found an empty file"]);
    assert_eq!(faults("[]"), ["locomo10.json: expected at least one conversation, found none"]);
    assert_eq!(faults(&sample("a", turn, "")), ["locomo10.json: expected at least one question to ask, found none"]);
    let cut = sample("a", turn, question);
    assert_eq!(
        faults(&format!("[{}", &cut[..cut.len() - 3])),
        ["locomo10.json:2:55: invalid JSON: EOF while parsing an object"]
    );
    assert_eq!(
        faults(&format!("[{},\n{}]", sample("a", turn, question), sample("a", turn, question))),
        ["locomo10.json:3: `[1].sample_id` \"a\" is that of `[0]` too"]
    );
    assert_eq!(
        faults(&sample("a", &format!("{turn},\n{turn}"), question)),
        ["locomo10.json:2: dia_id \"D1:1\" is taken by line 1"]
    );
    let wrong = [
        r#"{"answer": "a", "category": 1}"#,
        r#"{"question": "q", "answer": {"a": 1}, "evidence": "D1:1", "category": [1]}"#,
        r#"{"question": " ", "answer": [["a"]], "evidence": [1]}"#,
        "7",
    ];
    assert_eq!(
        faults(&sample("a", turn, &wrong.join(",\n"))),
        [
            "locomo10.json:2: `qa[0].question` is missing; expected a text",
            "locomo10.json:3: `qa[1].category` is a list; expected a text",
            "locomo10.json:3: `qa[1].answer` holds an object; expected texts",
            "locomo10.json:3: `qa[1].evidence` is the text \"D1:1\"; expected a list",
            "locomo10.json:4: `qa[2].question` is blank",
            "locomo10.json:4: `qa[2].answer` holds a list; expected texts",
            "locomo10.json:4: `qa[2].evidence[0]` is the number 1; expected a text",
            "locomo10.json:5: `qa[3]` is the number 7; expected an object",
        ]
    );
    let turns = [r#"{"speaker": ["A"], "text": "x", "img_url": 3}"#, "null"].join(",\n");
    assert_eq!(
        faults(&sample("a", &turns, question)),
        [
            "locomo10.json:1: `conversation.session_1[0].speaker` is a list; expected a text",
            "locomo10.json:1: `conversation.session_1[0].img_url` is the number 3; expected a list",
            "locomo10.json:2: `conversation.session_1[1]` is null; expected an object",
        ]
    );
    assert_eq!(
        faults(&format!("[{{\"qa\": [{question}]}}]")),
        ["locomo10.json:1: `[0].conversation` is missing; expected an object"]
    );
}

#[test]
fn the_folder_without_its_file_says_what_to_name() {
    let folder = folder(&[("other.json", b"{}")]);
    let faults = told(&folder, spec(folder.path().to_path_buf()));
    assert_eq!(faults, ["locomo10.json: the benchmark's conversations file is missing"]);
}

#[test]
fn dangling_evidence_is_counted_and_a_huge_line_is_read() {
    let text = "word ".repeat(10 << 20);
    let sample = json!([{
        "sample_id": "long",
        "conversation": {"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": text}, {"speaker": null, "text": null}]},
        "qa": [{"question": "q", "answer": null, "evidence": ["D1:1", "D7:7", "D1:1; D"], "category": 4}],
    }]);
    let folder = folder(&[("data/locomo10.json", sample.to_string().as_bytes())]);
    let ours = read(spec(folder.path().to_path_buf()));
    assert_eq!(ours.units.benchmark.metadata["evidence_of_no_turn"], 2);
    let gold = &ours.golds.rows[0];
    assert_eq!(gold.evidence.len(), 1);
    assert_eq!(
        (&gold.case_metadata["evidence_of_no_turn"], &gold.metadata["unanswerable"]),
        (&json!(["D7:7", "D"]), &json!(true))
    );
    let document = String::from_utf8(ours.documents.rows[0].data.clone().expect("bytes")).expect("UTF-8");
    // Null is absence, which theirs prints as `None`.
    assert!(document.ends_with("[D1:1]\n**Unknown**: "), "{}", &document[document.len() - 40..]);
    assert_eq!(gold.labels["category"], "single-hop");
}
