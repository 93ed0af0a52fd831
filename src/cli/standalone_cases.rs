//! `score --cases --responses`: responses of a file against cases of a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ragstage_stages::artifact::{Gold, Score, ScoreValue};
use ragstage_stages::prepare::{SourceBytes, read_jsonl_cases};
use ragstage_stages::score::Evaluator;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::flags::{Format, RunFlags};
use super::open::same_file;
use super::out::{out, out_json};
use super::standalone::{MOST_NAMED, Missing, StandaloneFlags, columns, evaluators, invalid, number};
use crate::exit;
use crate::scorer::{CaseScores, MissingCases, read_bytes};

/// What responses are scored by where no evaluator is named: the defaults of the `jsonl` adapter.
const DEFAULT_EVALUATORS: [&str; 2] = ["evidence_recall@5", "answer_contains"];

/// Scores responses.
///
/// # Errors
/// When a flag is missing, or a file is wrong.
pub fn score_cases(flags: &StandaloneFlags, run: &RunFlags) -> Result<u8, Failure> {
    let (Some(cases), Some(responses)) = (&flags.cases, &flags.responses) else {
        return Err(Failure::Usage("--cases FILE and --responses FILE are needed, both of them".to_string()));
    };
    let texts = match run.evaluator.as_slice() {
        [] => DEFAULT_EVALUATORS.map(String::from).to_vec(),
        texts => texts.to_vec(),
    };
    let evaluators = evaluators("--evaluator", &texts)?;
    if let Some(asking) = evaluators.iter().find(|evaluator| evaluator.together().is_some()) {
        let name = asking.name();
        return Err(Failure::Usage(format!(
            "--evaluator {name} asks a model or a program, which needs an evaluation file that says whom"
        )));
    }
    let case_bytes = read_bytes(cases).map_err(invalid)?;
    let (queries, golds) = read_jsonl_cases(SourceBytes { path: cases, bytes: &case_bytes }).map_err(invalid)?;
    let missing = match flags.missing {
        Some(Missing::Skip) => MissingCases::LeaveOut,
        _ => MissingCases::Fail,
    };
    if let Some(path) = flags.per_case.as_deref()
        && (same_file(path, responses) || same_file(path, cases))
    {
        let shown = path.display();
        return Err(Failure::Usage(format!("--per-case {shown} would write over a file that is read")));
    }
    let details = flags.per_case.is_some();
    let scores = CaseScores::of(responses, (&queries, &golds), &evaluators, missing, details);
    let scores = scores.map_err(invalid)?;
    tell_what_does_not_match(responses, &scores, missing);
    if let Some(path) = &flags.per_case {
        let failed = |error| Failure::Io { what: format!("write {}", path.display()), error };
        write_cases(path, &golds.rows, &evaluators, &scores.cases).map_err(failed)?;
    }
    match run.format {
        Format::Text => out(&text(&evaluators, &scores))?,
        Format::Json => out_json(&document(flags, &evaluators, &scores, golds.rows.len()))?,
    }
    let failed = (0..evaluators.len()).any(|evaluator| scores.summary(evaluator).failed > 0);
    Ok(if failed { exit::ITEMS_FAILED } else { exit::OK })
}

fn tell_what_does_not_match(path: &Path, scores: &CaseScores, missing: MissingCases) {
    let file = path.display();
    let named = |names: &[&str]| {
        let more = if names.len() > MOST_NAMED { ", ..." } else { "" };
        format!("{}{more}", names.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", "))
    };
    let count = |n: usize, thing: &str| if n == 1 { format!("1 {thing} has") } else { format!("{n} {thing}s have") };
    if !scores.missing.is_empty() {
        let names: Vec<&str> = scores.missing.iter().map(String::as_str).collect();
        let fate = match missing {
            MissingCases::Fail => "count as failed (--missing skip leaves them out)",
            MissingCases::LeaveOut => "are left out",
        };
        tell!("warning: {} no response in {file}; such {fate}: {}", count(names.len(), "case"), named(&names));
    }
    if !scores.unknown.is_empty() {
        let names: Vec<String> = scores.unknown.iter().map(|(line, name)| format!("{name} (line {line})")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        tell!("warning: {} no case and no score: {}", count(names.len(), "response"), named(&names));
    }
}

fn text(evaluators: &[Box<dyn Evaluator>], scores: &CaseScores) -> String {
    let header = ["evaluator", "mean", "scored", "failed", "skipped", "coverage"];
    let mut table = columns(header.map(String::from), 1);
    for (place, evaluator) in evaluators.iter().enumerate() {
        let summary = scores.summary(place);
        table.add_row([
            evaluator.name(),
            number(summary.mean),
            summary.scored.to_string(),
            summary.failed.to_string(),
            summary.skipped.to_string(),
            summary.coverage.map_or_else(|| "-".to_string(), |coverage| format!("{:.1} %", coverage * 100.0)),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

fn document(flags: &StandaloneFlags, evaluators: &[Box<dyn Evaluator>], scores: &CaseScores, cases: usize) -> Value {
    let of = |(place, evaluator): (usize, &dyn Evaluator)| {
        let summary = scores.summary(place);
        json!({
            "evaluator": evaluator.name(), "mean": summary.mean, "scored": summary.scored, "failed": summary.failed,
            "skipped": summary.skipped, "coverage": summary.coverage,
        })
    };
    json!({
        "format": "ragstage.score.cases.v1",
        "cases_file": flags.cases,
        "responses_file": flags.responses,
        "cases": cases,
        "missing_cases": scores.missing.len(),
        "unknown_responses": scores.unknown.len(),
        "evaluators": evaluators.iter().map(Box::as_ref).enumerate().map(of).collect::<Vec<_>>(),
    })
}

/// One line per case that has scores: `{"case_id": ..., "scores": {evaluator: {"state", "value", ...}}}`. What a score
/// does not have (`value`, `passed`, `reason`, `error`) is left out.
fn write_cases(
    path: &Path,
    golds: &[Gold],
    evaluators: &[Box<dyn Evaluator>],
    cases: &[Vec<Score>],
) -> std::io::Result<()> {
    let names: Vec<String> = evaluators.iter().map(|evaluator| evaluator.name()).collect();
    let mut file = BufWriter::new(File::create(path)?);
    for (gold, scores) in golds.iter().zip(cases).filter(|(_, scores)| !scores.is_empty()) {
        let mut all = Map::new();
        for (name, score) in names.iter().zip(scores) {
            let mut value = json!({"state": score.state.name(), "detail": score.detail});
            match &score.value {
                Some(ScoreValue::Number(number)) => value["value"] = json!(number),
                Some(ScoreValue::Bool(truth)) => value["value"] = json!(truth),
                Some(ScoreValue::Label(label)) => value["value"] = json!(label),
                None => {}
            }
            if let Some(passed) = score.passed {
                value["passed"] = passed.into();
            }
            if let Some(reason) = &score.reason {
                value["reason"] = reason.as_str().into();
            }
            if let Some(error) = &score.error {
                value["error"] = error.to_string().into();
            }
            all.insert(name.clone(), value);
        }
        serde_json::to_writer(&mut file, &json!({"case_id": gold.case_id, "scores": all}))?;
        file.write_all(b"\n")?;
    }
    file.flush()
}
