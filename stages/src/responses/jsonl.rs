//! Responses as JSON lines, one object per case.
//!
//! | key | meaning |
//! |---|---|
//! | `case_id` | required: a text or a whole number |
//! | `answer` | a text; null or absent where there is none |
//! | `results` | a list of hits, best first: `id` (required), `text`, `score`, `kind`, `source` (an object), `metadata` (an object) |
//! | `citations` | a list: `id` (required), `result_id`, `source`, `text` |
//! | `samples` | several answers: a list of `text` and `citations`; `answer` is then the first of them |
//! | `latency_ms` | a number |
//! | `error` | why there is no response; the case then counts as failed |
//! | `metadata` | an object |
//!
//! Other keys are ignored, but a key that is nearly one of these is an error, and so is a key that stands twice. Lines end at
//! LF or CRLF; blank lines are passed over.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;
use serde_json::error::Category;

use super::Response;
use crate::artifact::{AnswerSample, Citation, Hit, Json};
use crate::error::{InputError, Place};
use crate::nearest::misspelt;

/// What is wanted of each response; the rest is passed over, which is faster than reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The hits.
    pub results: bool,
    /// The answer, its samples and its citations.
    pub answer: bool,
    /// Everything else beside the case's id and the error.
    pub others: bool,
}

impl Parts {
    /// Everything.
    pub const ALL: Parts = Parts { results: true, answer: true, others: true };
}

/// A line that is not blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseLine<'a> {
    /// Its number, from 1; blank lines count.
    pub number: u64,
    /// Its bytes without its end.
    pub bytes: &'a [u8],
}

/// The lines that are not blank of a file, or of a part of one whose first line is number `first`. A byte order mark is no
/// part of a file's first line.
pub fn response_lines(bytes: &[u8], first: u64) -> Vec<ResponseLine<'_>> {
    let mark: &[u8] = if first == 1 { b"\xef\xbb\xbf" } else { b"" };
    let bytes = bytes.strip_prefix(mark).unwrap_or(bytes);
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    let lines = (first..).zip(ends).map(|(number, end)| {
        let bytes = bytes.get(start..end).unwrap_or_default().trim_ascii();
        start = end + 1;
        ResponseLine { number, bytes }
    });
    lines.filter(|line| !line.bytes.is_empty()).collect()
}

/// The response on a line of the file `path`.
///
/// # Errors
/// When the line is no response, with line and column.
pub fn parse_response(path: &Path, line: ResponseLine<'_>, parts: Parts) -> Result<Response, InputError> {
    let text = match std::str::from_utf8(line.bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = line.bytes.get(..error.valid_up_to()).unwrap_or_default();
            let column = String::from_utf8_lossy(valid).chars().count() as u64 + 1;
            let error = InputError::new(Place::at(path, line.number, column), "expected UTF-8");
            return Err(error.hint("save the file as UTF-8"));
        }
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let response = LineSeed(parts).deserialize(&mut deserializer).and_then(|response| {
        deserializer.end()?;
        Ok(response)
    });
    response.map_err(|error| wrong(path, line.number, text, &error))
}

/// All responses of the file `path` with the content `bytes`, in its order.
///
/// # Errors
/// All lines that are no response, and cases that have two.
pub fn read_jsonl_responses(path: &Path, bytes: &[u8]) -> Result<Vec<Response>, Vec<InputError>> {
    let lines = response_lines(bytes, 1);
    let parsed: Vec<_> = lines.par_iter().map(|line| parse_response(path, *line, Parts::ALL)).collect();
    let mut errors = Vec::new();
    let mut responses = Vec::with_capacity(parsed.len());
    let mut twins = Twins::default();
    for (line, response) in lines.iter().zip(parsed) {
        match response {
            Ok(response) => {
                errors.extend(twins.check(path, line.number, &response.case_id));
                responses.push(response);
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(responses) } else { Err(errors) }
}

/// Finds cases that have two responses.
#[derive(Debug, Default)]
pub struct Twins {
    lines: HashMap<String, u64>,
}

impl Twins {
    /// An error where the case had a response before.
    pub fn check(&mut self, path: &Path, line: u64, case_id: &str) -> Option<InputError> {
        match self.lines.entry(case_id.to_string()) {
            Entry::Vacant(entry) => {
                entry.insert(line);
                None
            }
            Entry::Occupied(entry) => {
                let message = format!("case_id {case_id:?} is taken by line {}", entry.get());
                let hint = "one response per case; several answers to one case are its `samples`";
                Some(InputError::new(Place::line(path, line), message).hint(hint))
            }
        }
    }
}

fn wrong(path: &Path, number: u64, text: &str, error: &serde_json::Error) -> InputError {
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    let bytes = if error.classify() == Category::Eof { text.len() } else { error.column().saturating_sub(1) };
    let column = text.char_indices().take_while(|(at, _)| *at < bytes).count() as u64 + 1;
    let (message, hint) = match error.classify() {
        Category::Data => (what.to_string(), "a response is `{\"case_id\": ..., \"answer\": ..., \"results\": [...]}`"),
        _ => (format!("invalid JSON: {what}"), "write one JSON object per line"),
    };
    InputError::new(Place::at(path, number, column), message).hint(hint)
}

/// A text, borrowed where it has no escapes; a whole number is the text of its digits.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_string())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }
}

#[derive(Deserialize)]
#[serde(expecting = "a hit: an object")]
struct HitLine<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    source: Option<Json>,
    #[serde(default)]
    metadata: Option<Json>,
}

impl From<HitLine<'_>> for Hit {
    fn from(line: HitLine<'_>) -> Self {
        Hit {
            id: line.id.0.into_owned(),
            text: line.text.map_or_else(Arc::default, |text| Arc::from(&*text.0)),
            score: line.score,
            kind: line.kind.unwrap_or_else(|| "chunk".to_string()),
            source: Arc::new(line.source.unwrap_or_default()),
            metadata: line.metadata.unwrap_or_default(),
        }
    }
}

/// A list of hits, made as they are read.
struct Hits(Vec<Hit>);

impl<'de> Deserialize<'de> for Hits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HitsVisitor;

        impl<'de> Visitor<'de> for HitsVisitor {
            type Value = Hits;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of hits")
            }

            fn visit_unit<E>(self) -> Result<Hits, E> {
                Ok(Hits(Vec::new()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Hits, A::Error> {
                let mut hits = Vec::new();
                while let Some(hit) = items.next_element::<HitLine<'de>>()? {
                    hits.push(hit.into());
                }
                Ok(Hits(hits))
            }
        }

        deserializer.deserialize_any(HitsVisitor)
    }
}

const KEYS: [&str; 8] = ["case_id", "answer", "results", "citations", "samples", "latency_ms", "error", "metadata"];

struct LineSeed(Parts);

impl<'de> DeserializeSeed<'de> for LineSeed {
    type Value = Response;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Response, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LineSeed {
    type Value = Response;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a response: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Response, A::Error> {
        let LineSeed(parts) = self;
        let mut response = Response::default();
        let mut seen = [false; KEYS.len()];
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            let Some(place) = KEYS.iter().position(|known| *known == key) else {
                if let Some(meant) = misspelt(&key, KEYS) {
                    return Err(A::Error::custom(format!("unknown key `{key}`; `{meant}` is meant?")));
                }
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if let Some(seen) = seen.get_mut(place)
                && std::mem::replace(seen, true)
            {
                return Err(A::Error::custom(format!("the key `{key}` is there twice")));
            }
            match &*key {
                "case_id" => response.case_id = map.next_value::<Text<'de>>()?.0.into_owned(),
                "error" => response.error = error_text(map.next_value()?),
                "results" if parts.results => response.results = map.next_value::<Hits>()?.0,
                "answer" if parts.answer => {
                    response.answer = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0.into_owned());
                }
                "citations" if parts.answer => {
                    response.citations = map.next_value::<Option<Vec<Citation>>>()?.unwrap_or_default();
                }
                "samples" if parts.answer => {
                    response.samples = map.next_value::<Option<Vec<AnswerSample>>>()?.unwrap_or_default();
                }
                "latency_ms" if parts.others => response.latency_ms = map.next_value()?,
                "metadata" if parts.others => {
                    response.metadata = map.next_value::<Option<Json>>()?.unwrap_or_default();
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if response.case_id.trim().is_empty() {
            return Err(A::Error::custom("`case_id` is missing; expected a text"));
        }
        if let (None, Some(first)) = (&response.answer, response.samples.first()) {
            response.answer = Some(first.text.clone());
            response.citations.clone_from(&first.citations);
        }
        Ok(response)
    }
}

/// What a file says of a failed case, in whatever form.
fn error_text(value: Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Vec<Response>, Vec<String>> {
        let read = read_jsonl_responses(Path::new("r.jsonl"), text.as_bytes());
        read.map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_line_is_a_response() {
        let line = json!({
            "case_id": 7, "answer": "a \"quoted\" word", "latency_ms": 3.5, "metadata": {"seed": 1}, "extra": [1, {"a": 2}],
            "results": [{"id": "c1", "text": "one\ntwo", "score": 0.5, "source": {"document_id": "d"}}, {"id": 2}],
            "citations": [{"id": "citation_1", "result_id": "c1"}],
        });
        let text =
            format!("\u{feff}\r\n{line}\r\n\n{}", json!({"case_id": "b", "error": {"code": 500}, "answer": null}));
        let responses = read(&text).expect("responses");
        let [first, second] = responses.as_slice() else { panic!("{responses:?}") };
        assert_eq!((first.case_id.as_str(), first.answer.as_deref()), ("7", Some("a \"quoted\" word")));
        assert_eq!((first.latency_ms, &first.metadata["seed"]), (Some(3.5), &json!(1)));
        assert_eq!((first.results.len(), first.citations.len()), (2, 1));
        assert_eq!((&*first.results[0].text, &first.results[0].source["document_id"]), ("one\ntwo", &json!("d")));
        assert_eq!((first.results[1].id.as_str(), first.results[1].kind.as_str()), ("2", "chunk"));
        assert_eq!((second.answer.as_deref(), second.error.as_deref()), (None, Some("{\"code\":500}")));
    }

    #[test]
    fn several_answers_make_the_answer() {
        let responses = read(r#"{"case_id": "a", "samples": [{"text": "x"}, {"text": "y"}]}"#).expect("responses");
        assert_eq!((responses[0].answer.as_deref(), responses[0].samples.len()), (Some("x"), 2));
    }

    #[test]
    fn what_is_not_wanted_is_not_read() {
        let line =
            ResponseLine { number: 1, bytes: br#"{"case_id": "a", "answer": 1.5, "results": "none", "metadata": 3}"# };
        let parts = Parts { results: false, answer: false, others: false };
        let response = parse_response(Path::new("r"), line, parts).expect("a response");
        assert_eq!(response, Response { case_id: "a".to_string(), ..Response::default() });
    }

    #[test]
    fn faults_have_line_and_column() {
        let text = concat!(
            "{\"case_id\": \"a\"}\n",
            "{\"answer\": \"x\"}\n",
            "{\"case_id\": \"é\", \"answer\": [1]}\n",
            "{\"case_id\": \"a\"}\n\n",
            "{\"case_id\": \"b\", \"answr\": \"x\"}\n",
            "{\"case_id\": \"c\", \"case_id\": \"c\"}\n",
            "{\"case_id\": \"d\", \"results\": [{\"text\": \"x\"}]}\n",
            "{\"case_id\": \n",
            "[1]\n",
        );
        assert_eq!(
            read(text).expect_err("faults"),
            [
                "r.jsonl:2:15: `case_id` is missing; expected a text",
                "r.jsonl:3:28: invalid type: sequence, expected a text",
                "r.jsonl:4: case_id \"a\" is taken by line 1",
                "r.jsonl:6:24: unknown key `answr`; `answer` is meant?",
                "r.jsonl:7:26: the key `case_id` is there twice",
                "r.jsonl:8:42: missing field `id`",
                "r.jsonl:9:12: invalid JSON: EOF while parsing a value",
                "r.jsonl:10:1: invalid type: sequence, expected a response: an object",
            ]
        );
    }
}
