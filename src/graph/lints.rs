//! Lints that an evaluation file alone tells, before anything is spent.

use ragstage_stages::query::AnswerOptions;

use crate::evaluation::Evaluation;

/// The parts of names by which providers serve whatever is newest of a family.
const FAMILIES: [&str; 8] = ["gpt-", "o1", "o3", "o4", "claude-", "gemini-", "mistral-", "deepseek-"];
/// A revision is told by that many digits in a row: a date, or a build.
const REVISION_DIGITS: usize = 4;

/// Name and message of each.
pub fn known_lints(evaluation: &Evaluation) -> Vec<(String, String)> {
    let mut lints: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, message: String| {
        if !evaluation.silence.iter().any(|silenced| silenced == name) {
            lints.push((name.to_string(), message));
        }
    };
    for served in &evaluation.served {
        if is_floating(&served.model) {
            let kind = served.kind;
            add(
                "floating-model",
                format!("the {kind} {:?} is an alias: who serves it may put another model behind it", served.model),
            );
        }
    }
    let answering = match &evaluation.answer {
        Some(AnswerOptions::Chat(options)) => Some((&options.model.model, &options.model.endpoint.label)),
        _ => None,
    };
    for judge in evaluation.judges() {
        let model = &judge.judge.options.model;
        if answering == Some((&model.model, &model.endpoint.label)) {
            add(
                "self-judge",
                format!(
                    "{} is judged by {:?}, which also answers: it likes its own words",
                    judge.judge.name, model.model
                ),
            );
        }
    }
    lints
}

fn is_floating(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let mut run = 0;
    let revised = name.chars().any(|c| {
        run = if c.is_ascii_digit() { run + 1 } else { 0 };
        run >= REVISION_DIGITS
    });
    name.ends_with("latest") || FAMILIES.iter().any(|family| name.starts_with(family)) && !revised
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_float_and_revisions_do_not() {
        for model in
            ["gpt-4o", "gpt-4o-mini", "openai/gpt-4.1", "claude-sonnet-latest", "chatgpt-4o-latest", "gemini-2.0-flash"]
        {
            assert!(is_floating(model), "{model}");
        }
        for model in
            ["gpt-4o-2024-08-06", "claude-3-5-sonnet-20241022", "smollm2-135m-instruct", "m-1", "mistral-large-2411"]
        {
            assert!(!is_floating(model), "{model}");
        }
    }
}
