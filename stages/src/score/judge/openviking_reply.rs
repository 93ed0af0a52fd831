//! How OpenViking's benchmark reads a judge's reply (spec/openviking 6.4): there is a score whatever the reply says.
//!
//! For its own files and for comparison with it. It takes the first digit in prose ("2 of the 3 ... a 4" is 2) and the first of
//! several digits ("score": 40 is 4), and no reply at all is 0; no other judge here does any of that.

use serde_json::{Map, Value};

use super::judge_kind::OpenVikingScale;
use crate::python::{int, is_alphanumeric, strip};

/// What a score was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParsedBy {
    /// The reply is a JSON object.
    Json,
    /// `"score":` and a digit stand somewhere.
    ScoreField,
    /// A digit stands alone somewhere.
    StandaloneDigit,
    /// Nothing.
    Nothing,
}

impl ParsedBy {
    /// Its name in details.
    pub fn name(self) -> &'static str {
        match self {
            ParsedBy::Json => "json",
            ParsedBy::ScoreField => "score_field",
            ParsedBy::StandaloneDigit => "standalone_digit",
            ParsedBy::Nothing => "none",
        }
    }
}

/// A reply as OpenViking reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenVikingReply {
    /// 0 to 4; of the binary scale 0 or 4.
    pub score: i64,
    /// What it was found in.
    pub parsed_by: ParsedBy,
    /// The reasoning that a JSON object gives, of whatever type; null where it gives none, and the reply itself where it is none.
    pub reasoning: Value,
    /// Whether the reasoning is that of a JSON object.
    pub reasoned: bool,
}

/// Reads `reply` as OpenViking does. Its scale is the binary one where the dataset's name contains `locomo` in any letter case.
pub fn parse_openviking_reply(scale: OpenVikingScale, reply: &str) -> OpenVikingReply {
    let clamp = |score: i64| match scale {
        OpenVikingScale::Graded => score.clamp(0, 4),
        OpenVikingScale::Binary if score == 4 => 4,
        OpenVikingScale::Binary => 0,
    };
    if let Ok(Value::Object(object)) = serde_json::from_str(reply)
        && let Some(score) = stated(&object)
    {
        let reasoning = object.get("reasoning").cloned();
        return OpenVikingReply {
            score: clamp(score),
            parsed_by: ParsedBy::Json,
            reasoned: reasoning.is_some(),
            reasoning: reasoning.unwrap_or_default(),
        };
    }
    let text = strip(reply);
    let (score, parsed_by) = match (after_field(text), standalone(text)) {
        (Some(score), _) => (score, ParsedBy::ScoreField),
        (None, Some(score)) => (score, ParsedBy::StandaloneDigit),
        (None, None) => (0, ParsedBy::Nothing),
    };
    OpenVikingReply { score: clamp(score), parsed_by, reasoning: text.into(), reasoned: false }
}

/// `score` as Python's `int` takes it; 0 where it is missing.
fn stated(object: &Map<String, Value>) -> Option<i64> {
    match object.get("score") {
        None => Some(0),
        Some(Value::Bool(flag)) => Some(i64::from(*flag)),
        // A cast of a double saturates, and cuts toward zero.
        Some(Value::Number(number)) => number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)),
        Some(Value::String(text)) => int(text),
        Some(_) => None,
    }
}

fn digit(c: char) -> Option<i64> {
    matches!(c, '0'..='4').then(|| i64::from(u32::from(c) - u32::from('0')))
}

/// The digit after the first `"score":` that has one.
fn after_field(text: &str) -> Option<i64> {
    text.match_indices("\"score\"").find_map(|(at, field)| {
        let rest = text.get(at + field.len()..)?.trim_start_matches(crate::python::is_whitespace);
        rest.strip_prefix(':')?.trim_start_matches(crate::python::is_whitespace).chars().next().and_then(digit)
    })
}

/// The first digit that no letter, digit or underscore stands beside.
fn standalone(text: &str) -> Option<i64> {
    let word = |c: Option<char>| c.is_some_and(|c| c == '_' || is_alphanumeric(c));
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if let Some(digit) = digit(c)
            && !word(before)
            && !word(rest.peek().copied())
        {
            return Some(digit);
        }
        before = Some(c);
    }
    None
}
