//! What a chat model replied.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json_reply::{bad_reply, excerpt, stated_error};
use super::usage::{Usage, UsageSource};
use crate::error::{RowError, RowErrorKind};
use crate::unique_json::UniqueJson;

/// What a chat model replied: the value that the row cache keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The words.
    pub text: String,
    /// Why it ended: `stop`, `length`, ...
    #[serde(default)]
    pub finish_reason: Option<String>,
    /// Which asking it is the reply to, from 0: more where earlier replies did not fit the schema. With the request it tells the
    /// seed that was sent.
    #[serde(default, skip_serializing_if = "is_first")]
    pub asking: u32,
}

fn is_first(asking: &u32) -> bool {
    *asking == 0
}

impl ChatReply {
    /// The first choice's message of a chat completion.
    ///
    /// # Errors
    /// `refused` where the server, its content filter or the model refuses, with its words; an error that is stated in a
    /// reply of status 200 has its own class. `bad_reply` where there is no text.
    pub(super) fn of(value: &Value) -> Result<Self, RowError> {
        if let Some(error) = stated_error(value) {
            return Err(error);
        }
        let found = |what: &Value| excerpt(&what.to_string());
        let Some(choice) = value.pointer("/choices/0") else {
            return Err(bad_reply(format!("expected `choices` with one choice, found {}", found(value))));
        };
        if let Some(error) = stated_error(choice) {
            return Err(error);
        }
        let finish_reason = choice.get("finish_reason").and_then(Value::as_str).map(str::to_string);
        let reason = finish_reason.as_deref().unwrap_or_default();
        let refusal = choice.pointer("/message/refusal").and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(refusal) = refusal {
            return Err(RowError::new(RowErrorKind::Refused, format!("the model refuses: {}", excerpt(refusal))));
        }
        if reason == "content_filter" {
            return Err(RowError::new(RowErrorKind::Refused, "the server's content filter stopped the reply"));
        }
        match choice.pointer("/message/content") {
            Some(Value::String(text)) if !text.is_empty() || reason != "length" => {
                Ok(ChatReply { text: text.clone(), finish_reason, asking: 0 })
            }
            _ if reason == "length" => Err(bad_reply(
                "the model wrote nothing before `max_tokens` were used up: one that thinks first needs more"
                    .to_string(),
            )),
            _ => Err(bad_reply(format!("expected a text at choices[0].message.content, found {}", found(choice)))),
        }
    }

    /// The reply to a request with a schema, with the JSON object alone as its text. A model without structured output wraps
    /// JSON in a fence of Markdown, as chat windows show it: where `fenced`, one fence around all of it is taken off. Nothing
    /// else is, and nothing is repaired.
    ///
    /// # Errors
    /// What was found in place of a JSON object.
    pub(super) fn into_json(mut self, fenced: bool) -> Result<Self, String> {
        if fenced && let Some(inner) = unfenced(&self.text) {
            self.text = inner.to_string();
        }
        match serde_json::from_str(&self.text) {
            Ok(UniqueJson(Value::Object(_))) => Ok(self),
            Ok(_) => Err(format!("expected a JSON object, found {}", excerpt(&self.text))),
            Err(error) if self.cut() => Err(format!(
                "expected a JSON object, found one that was cut off at `max_tokens` ({error}): {}",
                excerpt(&self.text)
            )),
            Err(error) => Err(format!("expected a JSON object, found {} ({error})", excerpt(&self.text))),
        }
    }

    /// Whether it ended because no more tokens were allowed.
    pub(super) fn cut(&self) -> bool {
        self.finish_reason.as_deref() == Some("length")
    }
}

/// What is in a fence around all of `text`.
fn unfenced(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    let (language, inner) = inner.split_once('\n')?;
    matches!(language.trim().to_ascii_lowercase().as_str(), "" | "json").then(|| inner.trim())
}

/// The tokens that a server states, where it states both numbers.
pub(super) fn stated_usage(value: &Value) -> Option<Usage> {
    let usage = value.get("usage")?;
    Some(Usage {
        prompt_tokens: usage.get("prompt_tokens")?.as_u64()?,
        completion_tokens: usage.get("completion_tokens")?.as_u64()?,
        source: UsageSource::Server,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(value: Value) -> (RowErrorKind, String) {
        let error = ChatReply::of(&value).expect_err("no reply");
        (error.kind, error.message)
    }

    #[test]
    fn a_reply_is_the_text_of_the_first_choice() {
        let choice = |text: &str| json!({"message": {"content": text}, "finish_reason": "stop"});
        let reply = ChatReply::of(&json!({"choices": [choice("a"), choice("b")], "error": null})).expect("a reply");
        assert_eq!((reply.text.as_str(), reply.finish_reason.as_deref()), ("a", Some("stop")));
        assert_eq!(ChatReply::of(&json!({"choices": [choice("")]})).expect("says nothing").text, "");
        let plain = json!({"choices": [{"message": {"content": "a"}}]});
        assert_eq!(ChatReply::of(&plain).expect("a reply").finish_reason, None);
    }

    #[test]
    fn what_is_no_reply_says_why() {
        let choice = |choice: Value| error(json!({ "choices": [choice] }));
        for (found, kind, words) in [
            (error(json!({"choices": []})), RowErrorKind::BadReply, "expected `choices` with one choice"),
            (error(json!("lamp")), RowErrorKind::BadReply, "expected `choices` with one choice, found \"lamp\""),
            (error(json!({"error": {"message": "no such model"}})), RowErrorKind::Refused, "no such model"),
            (error(json!({"error": {"code": 503, "message": "busy"}})), RowErrorKind::Server, "busy"),
            (choice(json!({"error": {"code": 429, "message": "wait"}})), RowErrorKind::RateLimited, "wait"),
            (choice(json!({"message": {"content": null}})), RowErrorKind::BadReply, "expected a text"),
            (choice(json!({"message": {"content": ["a"]}})), RowErrorKind::BadReply, "expected a text"),
            (choice(json!({})), RowErrorKind::BadReply, "expected a text at choices[0].message.content"),
            (
                choice(json!({"message": {"content": null, "refusal": "I must not"}})),
                RowErrorKind::Refused,
                "the model refuses: I must not",
            ),
            (
                choice(json!({"message": {"content": "I w"}, "finish_reason": "content_filter"})),
                RowErrorKind::Refused,
                "content filter",
            ),
            (
                choice(json!({"message": {"content": ""}, "finish_reason": "length"})),
                RowErrorKind::BadReply,
                "wrote nothing before `max_tokens`",
            ),
        ] {
            assert!(found.0 == kind && found.1.contains(words), "{words}: {found:?}");
        }
    }

    #[test]
    fn json_is_strict_and_a_fence_is_taken_off_where_it_may_be() {
        let reply =
            |text: &str, reason: &str| ChatReply { text: text.into(), finish_reason: Some(reason.into()), asking: 0 };
        let json = |text: &str, fenced| reply(text, "stop").into_json(fenced).map(|reply| reply.text);
        assert_eq!(json("{\"a\": 1}", false).as_deref(), Ok("{\"a\": 1}"));
        for text in ["```json\n{\"a\": 1}\n```", " ```\n{\"a\": 1}```\n", "{\"a\": 1}"] {
            assert_eq!(json(text, true).as_deref(), Ok("{\"a\": 1}"), "{text}");
        }
        for text in [
            "Here it is: {\"a\": 1}",
            "```python\n{\"a\": 1}\n```",
            "```json\n{\"a\": 1}\n``` Enjoy",
            "{\"a\": 1} {\"a\": 2}",
            "{\"a\": 1, \"a\": 2}",
            "{'a': 1}",
            "[1]",
            "",
        ] {
            assert!(json(text, true).is_err_and(|why| why.starts_with("expected a JSON object, found")), "{text}");
        }
        assert!(json("```json\n{\"a\": 1}\n```", false).is_err(), "a model with structured output has no excuse");
        let why = reply("{\"a\": [1, 2", "length").into_json(false).expect_err("cut");
        assert!(why.contains("cut off at `max_tokens`"), "{why}");
    }

    #[test]
    fn usage_is_stated_in_numbers_or_not_at_all() {
        let usage = |usage: Value| stated_usage(&json!({ "usage": usage }));
        let both = usage(json!({"prompt_tokens": 3, "completion_tokens": 4})).expect("usage");
        assert_eq!((both.prompt_tokens, both.completion_tokens, both.source), (3, 4, UsageSource::Server));
        for bad in
            [json!(null), json!({}), json!({"prompt_tokens": 3}), json!({"prompt_tokens": "3", "completion_tokens": 4})]
        {
            assert_eq!(usage(bad.clone()), None, "{bad}");
        }
        assert_eq!(usage(json!({"prompt_tokens": -1, "completion_tokens": 4})), None);
    }
}
