//! Options of modes that may ask a chat model: which, with which prompt, and what if it says nothing of use.

use ragstage_stages::model::Prompt;
use ragstage_stages::query::search::{OnFailure, PromptedModel};
use serde_json::Value;

use super::super::diagnostic::Faults;
use super::super::shape::{Choice, Field, Need, Shape, TEXT};
use super::super::view::View;
use super::modes::Modes;

pub(super) const LLM_FIELD: Field = Field {
    name: "llm",
    doc: "The chat model that is asked: a name under `models` at the top of the file.",
    shape: TEXT,
    need: Need::Optional,
};

pub(super) const ON_FAILURE_FIELD: Field = Field {
    name: "on_failure",
    doc: "What becomes of a case for which a model gave no usable reply. A server that does not reply fails the case in \
          any case.",
    shape: Shape::Choice(&[
        Choice { word: "fail", doc: "it fails" },
        Choice { word: "base", doc: "it gets what the base mode found, marked with `fallback` in its metadata" },
    ]),
    need: Need::Default("\"fail\""),
};

/// The words of `rewriter` and `planner`.
pub(super) const LLM_OR_LEXICAL: Shape = Shape::Choice(&[
    Choice { word: "llm", doc: "the chat model that `llm` names" },
    Choice { word: "lexical", doc: "rules on the words; no model" },
]);

/// What is asked of a mode's chat model.
pub(super) struct Ours {
    /// The prompt where the options name none.
    pub prompt: Prompt,
    /// What it is filled with.
    pub example: Value,
    /// Most tokens where the options say nothing.
    pub max_tokens: u32,
}

/// The chat model that `llm` names, with its prompt.
pub(super) fn model(view: &View<'_>, modes: &Modes<'_>, ours: Ours, faults: &mut Faults) -> Option<PromptedModel> {
    let model = modes.models.find(&view.get("llm"), faults);
    let prompt = modes.prompts.prompt(&view.get("prompt"), ours.prompt, &ours.example, faults);
    let max_tokens = view.get("max_tokens").int().unwrap_or(ours.max_tokens);
    Some(PromptedModel { model: model?, prompt: prompt?, max_tokens })
}

pub(super) fn on_failure(view: &View<'_>) -> OnFailure {
    view.get("on_failure").choice().unwrap_or_default()
}

/// Whether a chat model is asked (`Some(true)`), or the rules on words that the word at `key` stands for. Reports options
/// that say neither, or both.
pub(super) fn asks_llm(view: &View<'_>, key: &str, faults: &mut Faults) -> Option<bool> {
    let llm = view.get("llm");
    let who = view.get(key);
    if view.is_faulty("llm") || view.is_faulty(key) {
        return None;
    }
    match (llm.is_given(), who.text()) {
        (true, None | Some("llm")) => Some(true),
        (false, Some("lexical")) => Some(false),
        (true, Some(_)) => {
            let message = format!("`llm` has no meaning beside `{key}: lexical`");
            faults.add_hint(llm.start(), &llm.path, message, "remove one of the two".to_string());
            None
        }
        (false, _) => {
            let hint = format!("name one of `models`, or write `{key}: lexical`, which needs no model");
            faults.add_hint(view.start(), &view.path, "missing `llm`, the chat model that is asked", hint);
            None
        }
    }
}

/// Reports the options among `keys`, which are given to a model, where there is none.
pub(super) fn refuse_without_model(view: &View<'_>, keys: &[&str], model: &str, faults: &mut Faults) {
    for key in keys {
        let option = view.get(key);
        if option.is_given() {
            let message = format!("`{key}` has no meaning without {model}");
            faults.add_hint(option.start(), &option.path, message, format!("remove it, or name {model}"));
        }
    }
}
