//! `score --cases --responses`: responses of a file against cases of a file.

use std::io::{BufWriter, Write};
use std::path::Path;

use ragstage_stages::aggregate::StatisticsOptions;
use ragstage_stages::artifact::{Gold, Score, ScoreValue};
use ragstage_stages::prepare::{SourceBytes, read_jsonl_cases};
use ragstage_stages::score::Evaluator;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::flags::{Format, RunFlags};
use super::open::same_file;
use super::out::{first_of, out, out_json};
use super::standalone::{Missing, StandaloneFlags, columns, evaluators, invalid, number};
use crate::exit;
use crate::publish::write_with;
use crate::scorer::{CaseScores, EvaluatorSummary, MissingCases, read_bytes};

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
    let floor = flags.coverage_floor.unwrap_or(StatisticsOptions::default().coverage_floor);
    let summaries: Vec<(String, EvaluatorSummary)> =
        (0..).zip(&evaluators).map(|(place, evaluator)| (evaluator.name(), scores.summary(place, floor))).collect();
    match run.format {
        Format::Text => out(&text(&summaries))?,
        Format::Json => out_json(&document(flags, &summaries, &scores, golds.rows.len()))?,
    }
    Ok(code(&summaries, &scores, golds.rows.len()))
}

/// The exit code, as that of an evaluation: a number that is withheld is graver than an item that failed.
fn code(summaries: &[(String, EvaluatorSummary)], scores: &CaseScores, cases: usize) -> u8 {
    let failed = |summary: &EvaluatorSummary| summary.counts.failed > 0;
    if cases > 0 && scores.missing.len() == cases {
        tell!("error: nothing was scored: no case has a response");
        tell!("  hint: are the cases and the responses of the same benchmark?");
        return exit::COVERAGE;
    }
    if summaries.iter().any(|(_, summary)| summary.mean.is_none() && failed(summary)) {
        tell!("coverage is under its floor, so some numbers are withheld; --coverage-floor sets another");
        return exit::COVERAGE;
    }
    if summaries.iter().any(|(_, summary)| failed(summary)) { exit::ITEMS_FAILED } else { exit::OK }
}

fn tell_what_does_not_match(path: &Path, scores: &CaseScores, missing: MissingCases) {
    let file = path.display();
    let count = |n: usize, thing: &str| if n == 1 { format!("1 {thing} has") } else { format!("{n} {thing}s have") };
    if !scores.missing.is_empty() {
        let fate = match missing {
            MissingCases::Fail => "count as failed (--missing skip leaves them out)",
            MissingCases::LeaveOut => "are left out",
        };
        let (cases, named) = (count(scores.missing.len(), "case"), first_of(&scores.missing));
        tell!("warning: {cases} no response in {file}; such {fate}: {named}");
    }
    if !scores.unknown.is_empty() {
        let names: Vec<String> = scores.unknown.iter().map(|(line, name)| format!("{name} (line {line})")).collect();
        tell!("warning: {} no case and no score: {}", count(names.len(), "response"), first_of(&names));
    }
}

fn text(summaries: &[(String, EvaluatorSummary)]) -> String {
    let header = ["evaluator", "mean", "scored", "failed", "skipped", "coverage"];
    let mut table = columns(header.map(String::from), 1);
    for (name, EvaluatorSummary { counts, mean, no_mean }) in summaries {
        let withheld = no_mean.map(|why| format!("({why})"));
        table.add_row([
            name.clone(),
            withheld.unwrap_or_else(|| number(*mean)),
            counts.scored.to_string(),
            counts.failed.to_string(),
            counts.skipped.to_string(),
            counts.coverage.map_or_else(|| "-".to_string(), |coverage| format!("{:.1} %", coverage * 100.0)),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

fn document(
    flags: &StandaloneFlags,
    summaries: &[(String, EvaluatorSummary)],
    scores: &CaseScores,
    cases: usize,
) -> Value {
    let of = |(name, summary): &(String, EvaluatorSummary)| {
        let EvaluatorSummary { counts, mean, no_mean } = summary;
        let mut value = json!({
            "evaluator": name, "mean": mean, "scored": counts.scored, "failed": counts.failed,
            "skipped": counts.skipped, "coverage": counts.coverage,
        });
        if let Some(why) = no_mean {
            value["why_not"] = why.to_string().into();
        }
        value
    };
    json!({
        "format": "ragstage.score.cases.v1",
        "cases_file": flags.cases,
        "responses_file": flags.responses,
        "cases": cases,
        "missing_cases": scores.missing.len(),
        "unknown_responses": scores.unknown.len(),
        "evaluators": summaries.iter().map(of).collect::<Vec<_>>(),
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
    write_with(path, |file| {
        let mut file = BufWriter::new(file);
        for (gold, scores) in golds.iter().zip(cases).filter(|(_, scores)| !scores.is_empty()) {
            let all: Map<String, Value> = names.iter().cloned().zip(scores.iter().map(shown)).collect();
            serde_json::to_writer(&mut file, &json!({"case_id": gold.case_id, "scores": all}))?;
            file.write_all(b"\n")?;
        }
        file.flush()
    })
}

fn shown(score: &Score) -> Value {
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
    value
}
