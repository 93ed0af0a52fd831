//! The prompts of judges: our own, and what every judge is told of its reply.

use serde_json::{Value, json};

use crate::model::{Prompt, PromptFault};

pub(super) const CLAIMS: &str = include_str!("prompts/claims.md");
pub(super) const ENTAILMENT: &str = include_str!("prompts/entailment.md");
pub(super) const CONTEXT_PRECISION: &str = include_str!("prompts/context_precision.md");
pub(super) const ANSWER_RELEVANCE: &str = include_str!("prompts/answer_relevance.md");
pub(super) const CORRECTNESS: &str = include_str!("prompts/correctness.md");
pub(super) const OPENVIKING_GENERIC: &str = include_str!("prompts/openviking_generic.md");
pub(super) const OPENVIKING_LOCOMO: &str = include_str!("prompts/openviking_locomo.md");
pub(super) const RUBRIC_CASE: &str = include_str!("prompts/rubric_case.md");
const REPLY_CLAIMS: &str = include_str!("prompts/reply_claims.md");
const REPLY_VERDICTS: &str = include_str!("prompts/reply_verdicts.md");
const REPLY_PASSAGES: &str = include_str!("prompts/reply_passages.md");
const REPLY_GRADE: &str = include_str!("prompts/reply_grade.md");
const REPLY_LABEL: &str = include_str!("prompts/reply_label.md");

/// What a reply must look like, told in words: models without structured output know it from nowhere else.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReplyForm {
    /// A list of claims.
    Claims,
    /// A verdict on each of so many claims.
    Verdicts(usize),
    /// A verdict on each of so many passages.
    Passages(usize),
    /// One of these numbers, and whether the answer is noncommittal where that is asked.
    Grade { values: String, noncommittal: bool },
    /// One of these labels.
    Label(Vec<String>),
}

impl ReplyForm {
    fn words(&self) -> Result<String, PromptFault> {
        let (text, view) = match self {
            ReplyForm::Claims => (REPLY_CLAIMS, json!({})),
            ReplyForm::Verdicts(count) => (REPLY_VERDICTS, json!({"count": count})),
            ReplyForm::Passages(count) => (REPLY_PASSAGES, json!({"count": count})),
            ReplyForm::Grade { values, noncommittal } => {
                (REPLY_GRADE, json!({"values": values, "noncommittal": noncommittal}))
            }
            ReplyForm::Label(labels) => {
                let quoted: Vec<String> = labels.iter().map(|label| Value::from(label.as_str()).to_string()).collect();
                (REPLY_LABEL, json!({"values": quoted.join(", ")}))
            }
        };
        Prompt::new(text).fill(&view)
    }
}

/// The message that `prompt` filled with `view` is, with what the reply must look like at its end.
///
/// # Errors
/// When the prompt cannot be filled: one of the user's own may fail on what a single case holds.
pub(super) fn message(prompt: &Prompt, view: &Value, form: &ReplyForm) -> Result<String, String> {
    let told = |fault: PromptFault| {
        let line = fault.line.map(|line| format!("line {line} of the prompt: ")).unwrap_or_default();
        format!("{line}{fault}")
    };
    Ok(format!("{}\n\n{}", prompt.fill(view).map_err(told)?, form.words().map_err(told)?))
}
