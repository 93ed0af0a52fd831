//! Asking the model, and reading what it replies.

use caseless::default_case_fold_str;
use serde_json::json;

use super::marks::Marks;
use super::options::ChatAnswerOptions;
use super::passages::Passages;
use super::prompt::{Template, TemplateFault, Variables};
use crate::artifact::{Answer, AnswerSample, Citation, Json, Observation, Query, Retrieved};
use crate::contract::Context;
use crate::error::{InputError, Place, RowError, StageError};
use crate::model::{ChatReply, ChatRequest, Message, ModelUsage, Outcome, ask_chat};
use crate::step::Step;

/// The answer to each of `cases`, all of which have results, with what was observed of it.
///
/// What a reply depends on is its request: messages, sampling and sample number. So a change elsewhere in the knowledge base,
/// in another category's instruction or in a prompt that comes out the same asks nothing.
///
/// # Errors
/// As [`ask_chat`], and when a template cannot be filled. What the model fails to answer is its case's error.
pub(in crate::query) fn answers(
    context: &dyn Context,
    options: &ChatAnswerOptions,
    salt: u64,
    cases: &[(&Query, &Retrieved)],
) -> Result<Vec<(Answer, Observation)>, StageError> {
    let samples = options.samples.max(1);
    let mut read = Vec::with_capacity(cases.len());
    let mut requests = Vec::with_capacity(cases.len() * samples as usize);
    for (query, found) in cases {
        let passages = Passages::of(&found.results, &options.context);
        let category = query.category.as_deref().unwrap_or_default();
        let variables = Variables {
            question: &query.text,
            context: &passages.list,
            category,
            instructions: options.instructions.get(category).map(String::as_str).unwrap_or_default(),
            refusal: &options.refusal,
            citations: options.citations,
        };
        let messages = options.prompt.messages(&variables).map_err(unfilled)?;
        requests.extend((0..samples).map(|sample| (query.case_id.clone(), request(options, salt, &messages, sample))));
        read.push(passages);
    }
    let outcomes = ask_chat(context, Step::Answer, &options.model, &requests, &|_, reply| accept(reply))?;
    let of_cases = outcomes.chunks(samples as usize).zip(&read);
    Ok(of_cases.map(|(outcomes, passages)| answer(options, passages, outcomes)).collect())
}

fn request(options: &ChatAnswerOptions, salt: u64, messages: &[Message], sample: u32) -> ChatRequest {
    ChatRequest {
        messages: messages.to_vec(),
        max_tokens: options.max_tokens,
        temperature: options.temperature,
        seed: options.seed.map(|seed| seed.wrapping_add(u64::from(sample))),
        stop: options.stop.clone(),
        schema: None,
        sample,
        salt,
        attempts: 1,
    }
}

/// A reply without words is no answer: a model that has none is told what to reply.
fn accept(reply: &ChatReply) -> Result<(), String> {
    if !reply.text.trim().is_empty() {
        return Ok(());
    }
    let cut = if reply.finish_reason.as_deref() == Some("length") { " (cut at max_tokens)" } else { "" };
    Err(format!("expected an answer, found an empty reply{cut}"))
}

fn unfilled((template, TemplateFault { line, message, hint }): (&Template, TemplateFault)) -> StageError {
    let file = template.file.clone().unwrap_or_else(|| "the built-in prompt".into());
    let place = Place { file, line, column: None };
    StageError::input(Step::Answer, vec![InputError::new(place, message).hint(hint)])
}

fn answer(
    options: &ChatAnswerOptions,
    passages: &Passages<'_>,
    outcomes: &[Result<Outcome, RowError>],
) -> (Answer, Observation) {
    let mut samples = Vec::with_capacity(outcomes.len());
    let mut seen = Observation::default();
    let (mut out_of_range, mut cut_reply, mut latency_ms) = (0, false, 0.0);
    for outcome in outcomes {
        match outcome {
            Ok(outcome) => {
                let marks = match options.citations {
                    true => Marks::of(&outcome.reply.text, passages.list.len()),
                    false => Marks::default(),
                };
                out_of_range += marks.out_of_range;
                cut_reply |= outcome.reply.finish_reason.as_deref() == Some("length");
                samples.push(AnswerSample {
                    text: outcome.reply.text.trim().to_string(),
                    citations: citations(&marks, passages),
                });
                latency_ms += outcome.latency_ms;
                seen.attempts = seen.attempts.max(outcome.attempts);
                ModelUsage::add_to(&mut seen.usage, &outcome.usage);
            }
            Err(error) => {
                let attempts = error.attempts;
                let answer = Answer { error: Some(error.clone()), ..Answer::default() };
                return (answer, Observation { attempts, ..Observation::default() });
            }
        }
    }
    seen.latency_ms = (!samples.is_empty()).then(|| latency_ms / samples.len() as f64);
    let mut metadata = Json::new();
    let read = json!({"passages": passages.list.len(), "tokens": passages.tokens, "cut": passages.cut});
    metadata.insert("context".to_string(), read);
    if out_of_range > 0 {
        metadata.insert("citations_out_of_range".to_string(), out_of_range.into());
    }
    if cut_reply {
        metadata.insert("cut_at_max_tokens".to_string(), true.into());
    }
    let first = samples.first().cloned().unwrap_or_default();
    let refusal = plain(&options.refusal);
    let answer = Answer {
        refused: !refusal.is_empty() && plain(&first.text) == refusal,
        text: Some(first.text),
        citations: first.citations,
        samples: if samples.len() > 1 { samples } else { Vec::new() },
        metadata,
        ..Answer::default()
    };
    (answer, seen)
}

fn citations(marks: &Marks, passages: &Passages<'_>) -> Vec<Citation> {
    let cited = marks.numbers.iter().filter_map(|number| passages.list.get(number.checked_sub(1)?));
    cited
        .enumerate()
        .map(|(i, passage)| Citation {
            id: format!("citation_{}", i + 1),
            result_id: Some(passage.id.to_string()),
            source: passage.source.clone(),
            text: Some(passage.text.to_string()),
        })
        .collect()
}

/// A text without case and punctuation, its words one blank apart.
fn plain(text: &str) -> String {
    let folded: String =
        default_case_fold_str(text).chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_differ_in_case_and_punctuation_only() {
        assert_eq!(plain(" i DON’T know \n"), plain("I don't know."));
        assert_ne!(plain("I don't know that."), plain("I don't know."));
        assert_eq!(plain("Das weiß ich nicht!"), plain("das WEISS ich nicht"));
    }

    #[test]
    fn replies_without_words_are_refused() {
        let reply = |text: &str, why: &str| ChatReply {
            text: text.to_string(),
            finish_reason: Some(why.to_string()),
            asking: 0,
        };
        assert_eq!(accept(&reply("1871", "length")), Ok(()));
        assert_eq!(accept(&reply(" \n", "stop")), Err("expected an answer, found an empty reply".to_string()));
        assert!(accept(&reply("", "length")).unwrap_err().ends_with("(cut at max_tokens)"));
    }
}
