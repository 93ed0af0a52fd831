//! What OpenViking's judge reads out of a reply: a lenient cascade, kept to compare with its results (openviking 6.4).

use serde_json::Value;

use super::judge_kind::OpenVikingScale;
use crate::python::{int, is_alphanumeric};

/// Where a score was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParsedBy {
    /// In the JSON object that the whole reply is.
    Json,
    /// In something that looks like a field `"score"`.
    ScoreField,
    /// In a digit that stands alone.
    StandaloneDigit,
    /// Nowhere: it is 0.
    None,
}

impl ParsedBy {
    /// The name in recorded results.
    pub fn name(self) -> &'static str {
        match self {
            ParsedBy::Json => "json",
            ParsedBy::ScoreField => "score_field",
            ParsedBy::StandaloneDigit => "standalone_digit",
            ParsedBy::None => "none",
        }
    }
}

/// What its reasoning is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningKind {
    /// The object's own, of any type.
    FromJson,
    /// The object has none.
    Default,
    /// The whole reply, since it is no such object.
    FallbackWithRaw,
    /// There is no reply.
    FallbackEmpty,
}

impl ReasoningKind {
    /// The name in recorded results.
    pub fn name(self) -> &'static str {
        match self {
            ReasoningKind::FromJson => "from_json",
            ReasoningKind::Default => "default",
            ReasoningKind::FallbackWithRaw => "fallback_with_raw",
            ReasoningKind::FallbackEmpty => "fallback_empty",
        }
    }
}

/// What OpenViking makes of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenVikingReply {
    /// 0 to 4, or 0 or 4.
    pub score: i64,
    /// `Generic_0-4` or `Locomo_0or4`.
    pub prompt_type: &'static str,
    /// Where the score was found.
    pub parsed_by: ParsedBy,
    /// What the reasoning is.
    pub reasoning_kind: ReasoningKind,
    /// The object's reasoning, where it has one.
    pub reasoning: Option<Value>,
}

/// Reads `raw`, the model's reply (`None` where the call failed), as OpenViking does (6.4, parsing cascade): the `score` of a
/// strict JSON object, converted as Python's `int` does; else the first digit 0 to 4 after `"score":`; else the first digit 0
/// to 4 that stands alone; else 0. It is wrong in known ways (`"score": 40` is 4, the 2 of "2 of 3" is a score): use it to
/// read what OpenViking wrote, and not to judge.
pub fn parse_openviking_reply(scale: OpenVikingScale, raw: Option<&str>) -> OpenVikingReply {
    let raw = raw.unwrap_or_default();
    let reply = |score: i64, parsed_by, reasoning_kind, reasoning| OpenVikingReply {
        score: match scale {
            OpenVikingScale::Binary => 4 * i64::from(score == 4),
            OpenVikingScale::Graded => score.clamp(0, 4),
        },
        prompt_type: scale.prompt_type(),
        parsed_by,
        reasoning_kind,
        reasoning,
    };
    // Of a key that stands twice, this reader too keeps the last value.
    if let Ok(Value::Object(mut object)) = serde_json::from_str::<Value>(raw)
        && let Some(score) = object.get("score").map_or(Some(0), whole)
    {
        return match object.remove("reasoning") {
            Some(reasoning) => reply(score, ParsedBy::Json, ReasoningKind::FromJson, Some(reasoning)),
            None => reply(score, ParsedBy::Json, ReasoningKind::Default, None),
        };
    }
    let text = raw.trim_matches(crate::python::is_whitespace);
    if text.is_empty() {
        return reply(0, ParsedBy::None, ReasoningKind::FallbackEmpty, None);
    }
    let (score, parsed_by) = match (score_field(text), standalone_digit(text)) {
        (Some(score), _) => (score, ParsedBy::ScoreField),
        (None, Some(score)) => (score, ParsedBy::StandaloneDigit),
        (None, None) => (0, ParsedBy::None),
    };
    reply(score, parsed_by, ReasoningKind::FallbackWithRaw, None)
}

/// Python's `int(value)`.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(value) => Some(i64::from(*value)),
        // Beyond 64 bits only the sign counts, for scores are clamped.
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)),
        Value::String(text) => int(text),
        _ => None,
    }
}

/// A score 0 to 4 as one digit.
fn digit(c: Option<char>) -> Option<i64> {
    c.filter(|c| ('0'..='4').contains(c)).and_then(|c| c.to_digit(10)).map(i64::from)
}

/// `"score"\s*:\s*([0-4])`, the first match.
fn score_field(text: &str) -> Option<i64> {
    let space = crate::python::is_whitespace;
    text.match_indices("\"score\"").find_map(|(at, field)| {
        let rest = text.get(at + field.len()..)?.trim_start_matches(space);
        digit(rest.strip_prefix(':')?.trim_start_matches(space).chars().next())
    })
}

/// `\b([0-4])\b`, the first match.
fn standalone_digit(text: &str) -> Option<i64> {
    let is_word = |c: char| c == '_' || is_alphanumeric(c);
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let alone = !before.is_some_and(is_word) && !chars.peek().copied().is_some_and(is_word);
        if let Some(score) = digit(Some(c)).filter(|_| alone) {
            return Some(score);
        }
        before = Some(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_of_each_step_of_the_cascade() {
        let read = |raw: &str| {
            let reply = parse_openviking_reply(OpenVikingScale::Graded, Some(raw));
            (reply.score, reply.parsed_by.name(), reply.reasoning_kind.name())
        };
        assert_eq!(read("{\"score\": 9}"), (4, "json", "default"));
        assert_eq!(read("{\"score\": 1e300, \"reasoning\": 1}"), (4, "json", "from_json"));
        assert_eq!(read("so: {\"score\": 40}"), (4, "score_field", "fallback_with_raw"));
        assert_eq!(read("2 of the 3 are there, hence a 4"), (2, "standalone_digit", "fallback_with_raw"));
        assert_eq!(read("\u{1c} \n"), (0, "none", "fallback_empty"));
        let binary = parse_openviking_reply(OpenVikingScale::Binary, Some("3"));
        assert_eq!((binary.score, binary.prompt_type), (0, "Locomo_0or4"));
    }
}
