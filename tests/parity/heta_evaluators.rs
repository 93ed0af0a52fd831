//! Heta's evaluators against scores recorded from Heta Evaluation (every `heta_evaluators*.jsonl`).
//!
//! Every record is run, by its evaluator's name and never by its id; one of an evaluator that we do not have is said and
//! passed over, unless it is of the three families that we claim (`evidence_`, `answer_`, `beir_`):
//!
//! - `beir_*` under that name, `evidence_recall` with `variant=heta`, the answer evaluators as they are (they have no
//!   variant: ours are Heta's);
//! - value, `passed`, whether it was skipped, and every field of its metadata must be the same. What Heta calls a skipped
//!   score of 0 is for us a skipped case without a value;
//! - an error of the stage `params` must be one of ours when the evaluator is made, one of `evaluate` when it runs;
//! - errors of the stages `case` and `response` are those of Heta's own types (spec/heta 1), before any evaluator. The rules
//!   of these types stand in `record_rules.rs`: they must refuse these records, and no others. What of them concerns our
//!   evaluators too: a blank gold answer or a blank answer must not pass;
//! - a record whose note starts with `bug` or `weakness` need not be copied. The variant does copy it; where it does not,
//!   that is said on standard error and is no failure. What our own `evidence_recall` makes of it is said beside it.

use std::collections::BTreeSet;
use std::fs;

use ragstage_stages::artifact::{Citation, Evidence, Gold, Hit, Json, Score, ScoreState, ScoreValue};
use ragstage_stages::score::{CaseView, EvaluatorSpec, ResponseView, evaluator, names};
use serde_json::Value;

use crate::golden::{entries, golden, say};
use crate::record_rules::{refused_stage, stripped};

/// How running a record came out.
enum Outcome {
    /// There is no such evaluator.
    Refused(String),
    /// The evaluator failed on the case.
    Failed(String),
    /// A score.
    Scored(Score),
}

struct Record {
    json: Value,
    gold: Gold,
    results: Vec<Hit>,
    answer: Option<String>,
    citations: Vec<Citation>,
}

fn map(value: &Value) -> Json {
    value.as_object().cloned().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

impl Record {
    fn read(line: &str) -> Result<Self, serde_json::Error> {
        let json: Value = serde_json::from_str(line)?;
        let expected = &json["case"]["expected"];
        let evidence = list(&expected["evidence"]).iter().map(|piece| Evidence {
            reference_id: stripped(&piece["reference_id"]),
            locator: map(&piece["locator"]),
            text: stripped(&piece["text"]),
            metadata: map(&piece["metadata"]),
        });
        let gold = Gold {
            case_id: stripped(&json["case"]["case_id"]).unwrap_or_default(),
            answers: list(&expected["answers"]).iter().filter_map(stripped).collect(),
            evidence: evidence.collect(),
            value: expected["value"].clone(),
            metadata: map(&expected["metadata"]),
            labels: map(&json["case"]["labels"]),
            case_metadata: map(&json["case"]["metadata"]),
        };
        let response = &json["response"];
        let results = list(&response["results"]).iter().cloned().map(|mut result| {
            for field in ["id", "text"] {
                if let Some(text) = stripped(&result[field]) {
                    result[field] = text.into();
                }
            }
            serde_json::from_value(result)
        });
        let citations = list(&response["citations"]).iter().cloned().map(serde_json::from_value);
        Ok(Record {
            gold,
            results: results.collect::<Result<_, _>>()?,
            answer: stripped(&response["answer"]),
            citations: citations.collect::<Result<_, _>>()?,
            json,
        })
    }

    /// The evaluator's text in our grammar.
    fn text(&self, variant: &str) -> String {
        let name = self.json["evaluator"].as_str().unwrap_or_default();
        let variant = if name == "evidence_recall" { variant } else { "" };
        match &self.json["params"]["k"] {
            Value::Null => format!("{name}{variant}"),
            k => format!("{name}{variant}@{k}"),
        }
    }

    fn run(&self, text: &str) -> Outcome {
        let evaluator = match EvaluatorSpec::parse(text) {
            Err(error) => return Outcome::Refused(error.to_string()),
            Ok(spec) => match evaluator(&spec) {
                Err(error) => return Outcome::Refused(error.to_string()),
                Ok(evaluator) => evaluator,
            },
        };
        let query = self.json["case"]["query"].as_str().unwrap_or_default();
        let case = CaseView { case_id: &self.gold.case_id, query, gold: &self.gold };
        let response = ResponseView::new(&self.results, self.answer.as_deref(), &self.citations);
        match evaluator.evaluate(&case, &response) {
            Ok(score) => Outcome::Scored(score),
            Err(error) => Outcome::Failed(error.message),
        }
    }

    /// Why `outcome` is not what Heta recorded.
    fn difference(&self, outcome: &Outcome) -> Option<String> {
        let expected = &self.json["expected"];
        let stage = expected["error"]["stage"].as_str();
        let refused = refused_stage(&self.json["case"], &self.json["response"]);
        let of_a_type = stage.filter(|stage| matches!(*stage, "case" | "response"));
        if self.is_of_heta() && refused != of_a_type {
            return Some(format!("the rules of Heta's types refuse {refused:?}, expected {of_a_type:?}"));
        }
        match (stage, outcome) {
            (None, Outcome::Scored(score)) => score_difference(score, expected),
            (None, Outcome::Refused(why) | Outcome::Failed(why)) => Some(format!("expected a score, found: {why}")),
            (Some("params"), Outcome::Refused(_)) | (Some("evaluate"), Outcome::Failed(_)) => None,
            (Some("case" | "response"), Outcome::Scored(score)) if self.has_blank_answer() => {
                score.passed.filter(|passed| *passed).map(|_| "an answer passed that Heta refuses to read".to_string())
            }
            (Some("case" | "response"), _) => None,
            (Some(stage), Outcome::Refused(why) | Outcome::Failed(why)) => {
                Some(format!("expected an error of stage {stage}, found another: {why}"))
            }
            (Some(stage), Outcome::Scored(_)) => Some(format!("expected an error of stage {stage}, found a score")),
        }
    }

    /// Whether the answer or a gold answer is blank.
    fn has_blank_answer(&self) -> bool {
        self.gold.answers.iter().chain(&self.answer).any(String::is_empty)
    }

    /// Whether the evaluator is of a family that Heta has.
    fn is_of_heta(&self) -> bool {
        let name = self.json["evaluator"].as_str().unwrap_or_default();
        ["evidence_", "answer_", "beir_"].iter().any(|family| name.starts_with(family))
    }

    /// Whether the record shows what need not be copied.
    fn fault_of_heta(&self) -> bool {
        let note = self.json["note"].as_str().unwrap_or_default();
        note.starts_with("bug") || note.starts_with("weakness")
    }

    fn label(&self) -> String {
        let note = self.json["note"].as_str().unwrap_or("no note");
        format!("{} {} ({note})", self.json["id"], self.text(""))
    }
}

fn score_difference(score: &Score, expected: &Value) -> Option<String> {
    let metadata = &expected["metadata"];
    if metadata["skipped"] == Value::Bool(true) {
        let skipped = score.state == ScoreState::Skipped && score.value.is_none() && score.passed.is_none();
        return (!skipped).then(|| format!("expected a skipped case, found {score:?}"));
    }
    let same_value = match (&score.value, &expected["value"]) {
        (Some(ScoreValue::Number(ours)), Value::Number(heta)) => {
            heta.as_f64().is_some_and(|heta| (ours - heta).abs() <= 1e-9)
        }
        (Some(ScoreValue::Bool(ours)), Value::Bool(heta)) => ours == heta,
        (Some(ScoreValue::Label(ours)), Value::String(heta)) => ours == heta,
        _ => false,
    };
    if !same_value {
        return Some(format!("value {:?}, Heta has {}", score.value, expected["value"]));
    }
    if score.passed != expected["passed"].as_bool() {
        return Some(format!("passed {:?}, Heta has {}", score.passed, expected["passed"]));
    }
    let mut fields = metadata.as_object().into_iter().flatten();
    let different = fields.find(|(name, value)| score.detail.get(name).as_ref() != Some(*value));
    different.map(|(name, value)| format!("{name} {:?}, Heta has {value}", score.detail.get(name)))
}

#[test]
fn evaluators_match_heta() {
    let Some(root) = golden("") else { return };
    let mut files = entries(&root);
    files.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("heta_evaluators") && name.ends_with(".jsonl")
    });
    if files.is_empty() {
        return say(&format!("SKIPPED: there is no heta_evaluators.jsonl in {}", root.display()));
    }
    let mut lines = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).expect("the recorded scores");
        let here = text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.extend(here.map(|(i, line)| (format!("{}:{}", path.display(), i + 1), line.to_string())));
    }
    let mut differences = Vec::new();
    let mut unknown = BTreeSet::new();
    let mut records = 0;
    for (place, line) in &lines {
        let record = Record::read(line).unwrap_or_else(|error| panic!("{place}: {error}"));
        let name = record.json["evaluator"].as_str().unwrap_or_default();
        if !record.is_of_heta() && !names().contains(&name) {
            unknown.insert(name.to_string());
            continue;
        }
        records += 1;
        let difference = record.difference(&record.run(&record.text("(variant=heta)")));
        if record.fault_of_heta() {
            let own = match record.difference(&record.run(&record.text(""))) {
                Some(difference) => format!("ours differs: {difference}"),
                None => "ours is the same".to_string(),
            };
            match difference {
                Some(difference) => eprintln!("NOT COPIED {}: {difference}; {own}", record.label()),
                None => eprintln!("copied by the variant {}; {own}", record.label()),
            }
        } else if let Some(difference) = difference {
            differences.push(format!("{}: {difference}", record.label()));
        }
    }
    assert!(records > 0, "no records in {files:?}");
    say(&format!("heta_evaluators: {records} records in {} files", files.len()));
    if !unknown.is_empty() {
        let unknown: Vec<String> = unknown.into_iter().collect();
        say(&format!("heta_evaluators: NOT IMPLEMENTED, not compared: {}", unknown.join(", ")));
    }
    assert!(differences.is_empty(), "{} of {records} differ:\n{}", differences.len(), differences.join("\n"));
}

/// What ours does right where Heta does not, whatever the recorded vectors hold.
#[test]
fn our_evidence_recall_has_none_of_the_faults() {
    let cases = [
        // Bug 2: a benchmark document id is found in the raw key.
        (r#"{"locator": {"document_id": "tide"}}"#, r#"{"object_key": "raw/benchmarks/sea/test/tide/tide.txt"}"#, 1.0),
        // Bug 18: null in a locator, a bare string and null in chunk_ids, true for 1.
        (r#"{"locator": {"section": null}}"#, r#"{"document_id": "x"}"#, 0.0),
        (r#"{"locator": {"chunk_id": "chunk_9"}}"#, r#"{"chunk_ids": "chunk_9f"}"#, 0.0),
        (r#"{"locator": {"chunk_id": "chunk_9"}}"#, r#"{"chunk_ids": null}"#, 0.0),
        (r#"{"locator": {"page_index": 1}}"#, r#"{"page_index": true}"#, 0.0),
        // Weakness 28: the result "a" is a part of any gold text.
        (r#"{"text": "a lighthouse keeper"}"#, r#"{}"#, 0.0),
    ];
    for (piece, source, expected) in cases {
        let line = format!(
            r#"{{"evaluator": "evidence_recall", "params": {{"k": 5}}, "case": {{"expected": {{"evidence": [{piece}]}}}},
            "response": {{"results": [{{"id": "c", "text": "a", "source": {source}}}]}}}}"#
        );
        let record = Record::read(&line).expect("a record");
        match record.run(&record.text("")) {
            Outcome::Scored(score) => assert_eq!(score.value, Some(ScoreValue::Number(expected)), "{piece}"),
            Outcome::Refused(why) | Outcome::Failed(why) => panic!("{piece}: {why}"),
        }
    }
}
