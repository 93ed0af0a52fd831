//! What an embeddings endpoint replied.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::json_reply::{bad_reply, excerpt, json, stated_error};
use crate::error::RowError;

/// What an embeddings endpoint replied to so many texts.
#[derive(Debug, PartialEq)]
pub(super) struct EmbeddingReply {
    /// Of each text its vector, all numbers finite, or what is wrong with it.
    pub vectors: Vec<Result<Vec<f32>, RowError>>,
    /// Tokens read, where the server says so.
    pub prompt_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Body {
    data: Vec<Entry>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Entry {
    /// Servers that leave out zeros leave out the first one's.
    index: Option<u64>,
    embedding: Numbers,
}

impl EmbeddingReply {
    /// Reads the reply to `texts` texts: `data[].embedding`, each at its `index`.
    ///
    /// # Errors
    /// Of all texts, where it cannot be told which vector is whose: no such JSON, an index that is no text's or is there
    /// twice. An error that is stated in a reply of status 200 has its own class.
    pub(super) fn of(bytes: &[u8], texts: usize) -> Result<Self, RowError> {
        let bytes = with_null_for_nan(bytes);
        let body: Body = serde_json::from_slice(&bytes).map_err(|error| match json(&bytes) {
            Err(error) => error,
            Ok(value) => stated_error(&value).unwrap_or_else(|| {
                bad_reply(format!(
                    "expected `data` with an index and an embedding for each text, found {}: {error}",
                    excerpt(&value.to_string())
                ))
            }),
        })?;
        let mut found: Vec<Option<Numbers>> = (0..texts).map(|_| None).collect();
        for (position, entry) in body.data.into_iter().enumerate() {
            let index = entry.index.unwrap_or(position as u64);
            let place = usize::try_from(index).ok().and_then(|index| found.get_mut(index));
            match place {
                None => {
                    return Err(bad_reply(format!(
                        "expected indexes below {texts}, found data[{position}].index {index}"
                    )));
                }
                Some(Some(_)) => {
                    return Err(bad_reply(format!("expected one vector per text, found two with index {index}")));
                }
                Some(place) => *place = Some(entry.embedding),
            }
        }
        let vectors = found.into_iter().enumerate().map(|(index, numbers)| match numbers {
            Some(Numbers(Ok(vector))) if !vector.is_empty() => Ok(vector),
            Some(Numbers(Ok(_))) => Err(bad_reply("expected a vector, found one of no numbers".to_string())),
            Some(Numbers(Err(found))) => Err(bad_reply(format!("expected a vector of finite numbers, found {found}"))),
            None => {
                Err(bad_reply(format!("expected a vector for each of {texts} texts, found none for number {index}")))
            }
        });
        let tokens = |name: &str| body.usage.get(name).and_then(Value::as_u64);
        Ok(EmbeddingReply {
            vectors: vectors.collect(),
            prompt_tokens: tokens("prompt_tokens").or_else(|| tokens("total_tokens")),
        })
    }
}

/// `bytes` with `null` for `NaN` and `Infinity`, which are no JSON but what some servers write: then only the vector that they
/// are in is bad, and not all that were paid for with it.
fn with_null_for_nan(bytes: &[u8]) -> Cow<'_, [u8]> {
    if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let (mut rest, mut quoted) = (bytes, false);
    while let Some((&byte, after)) = rest.split_first() {
        let word = [b"NaN".as_slice(), b"Infinity", b"-Infinity"].into_iter().find(|word| rest.starts_with(word));
        match (byte, word) {
            (_, Some(word)) if !quoted => {
                out.extend_from_slice(b"null");
                rest = rest.get(word.len()..).unwrap_or_default();
                continue;
            }
            (b'\\', _) if quoted => {
                // An escaped quote ends no text.
                out.push(byte);
                if let Some((&next, after)) = after.split_first() {
                    out.push(next);
                    rest = after;
                    continue;
                }
            }
            (b'"', _) => {
                quoted = !quoted;
                out.push(byte);
            }
            _ => out.push(byte),
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// A list of finite numbers, or what was found in its place.
struct Numbers(Result<Vec<f32>, String>);

/// A finite number, or what was found in its place.
struct Number(Result<f32, String>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Numbers, A::Error> {
        let mut vector = Ok(Vec::new());
        while let Some(Number(number)) = items.next_element()? {
            vector = match (vector, number) {
                (Ok(mut vector), Ok(number)) => {
                    vector.push(number);
                    Ok(vector)
                }
                (Ok(vector), Err(found)) => Err(format!("{found} at position {}", vector.len())),
                (Err(first), _) => Err(first),
            };
        }
        Ok(Numbers(vector))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Numbers, E> {
        Ok(Numbers(Err(format!("the text {}", excerpt(text)))))
    }

    fn visit_unit<E: Error>(self) -> Result<Numbers, E> {
        Ok(Numbers(Err("null".to_string())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Numbers, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Numbers(Err("an object".to_string())))
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        let number = value as f32;
        Ok(Number(if number.is_finite() { Ok(number) } else { Err(format!("{value:e}, which is too large,")) }))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(Ok(value as f32)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number(Ok(value as f32)))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Number, E> {
        Ok(Number(Err(value.to_string())))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        Ok(Number(Err(format!("the text {}", excerpt(text)))))
    }

    fn visit_unit<E: Error>(self) -> Result<Number, E> {
        Ok(Number(Err("null or NaN".to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Number, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number(Err("a list".to_string())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Number, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Number(Err("an object".to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RowErrorKind;

    fn read(body: &str, texts: usize) -> Result<EmbeddingReply, (RowErrorKind, String)> {
        EmbeddingReply::of(body.as_bytes(), texts).map_err(|error| (error.kind, error.message))
    }

    fn words(reply: EmbeddingReply) -> Vec<Result<Vec<f32>, String>> {
        reply.vectors.into_iter().map(|vector| vector.map_err(|error| error.message)).collect()
    }

    #[test]
    fn vectors_go_by_index() {
        let reply = read(
            r#"{"object": "list", "data": [{"index": 1, "embedding": [0, 1]}, {"embedding": [-2, 0.5], "index": 0}],
                "usage": {"prompt_tokens": 7, "total_tokens": 7}}"#,
            2,
        )
        .expect("a reply");
        assert_eq!(
            reply,
            EmbeddingReply { vectors: vec![Ok(vec![-2.0, 0.5]), Ok(vec![0.0, 1.0])], prompt_tokens: Some(7) }
        );
        let reply =
            read(r#"{"data": [{"embedding": [1]}, {"index": 1, "embedding": [2]}], "usage": {"total_tokens": 4}}"#, 2);
        let reply = reply.expect("a reply");
        assert_eq!(reply, EmbeddingReply { vectors: vec![Ok(vec![1.0]), Ok(vec![2.0])], prompt_tokens: Some(4) });
    }

    #[test]
    fn a_bad_vector_spoils_no_other() {
        let bad = [
            ("[1, null]", "null or NaN at position 1"),
            ("[NaN, 1]", "null or NaN at position 0"),
            ("[1, -Infinity]", "null or NaN at position 1"),
            ("[1, 1e39]", "1e39, which is too large, at position 1"),
            ("[1, \"2\"]", "the text 2 at position 1"),
            ("[[1, 2]]", "a list at position 0"),
            ("[{\"a\": 1}, true]", "an object at position 0"),
            ("[true, 1]", "true at position 0"),
            ("\"AACAPwAAAEA=\"", "the text AACAPwAAAEA="),
            ("null", "found null"),
            ("{\"a\": [1]}", "an object"),
            ("[]", "no numbers"),
        ];
        for (vector, found) in bad {
            let body = format!(
                r#"{{"data": [{{"index": 0, "embedding": {vector}}}, {{"index": 1, "embedding": [1, 2]}}],
                                   "model": "say \"NaN\" \\"}}"#
            );
            let vectors = words(read(&body, 2).expect("a reply"));
            assert_eq!(vectors[1], Ok(vec![1.0, 2.0]), "{vector}");
            let why = vectors[0].as_ref().expect_err(vector);
            assert!(why.starts_with("expected a vector") && why.contains(found), "{vector}: {why}");
        }
        let missing = words(read(r#"{"data": [{"index": 1, "embedding": [1]}]}"#, 3).expect("a reply"));
        assert!(missing[0].is_err() && missing[1].is_ok() && missing[2].is_err(), "{missing:?}");
    }

    #[test]
    fn where_a_vector_may_be_anybodys_none_is_taken() {
        for (body, kind, found) in [
            (r#"{"data": [{"index": 2, "embedding": [1]}]}"#, RowErrorKind::BadReply, "data[0].index 2"),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}"#,
                RowErrorKind::BadReply,
                "two with index 0",
            ),
            (
                r#"{"data": [{"embedding": [1]}, {"embedding": [1]}, {"embedding": [1]}]}"#,
                RowErrorKind::BadReply,
                "data[2].index 2",
            ),
            (r#"{"data": [{"index": 0}]}"#, RowErrorKind::BadReply, "embedding"),
            (r#"{"data": [{"index": -1, "embedding": [1]}]}"#, RowErrorKind::BadReply, "-1"),
            (r#"{"embeddings": [[1]]}"#, RowErrorKind::BadReply, "expected `data`"),
            (r#"{"data": [{"index": 0, "embedding": [1"#, RowErrorKind::BadReply, "expected one JSON object"),
            ("", RowErrorKind::BadReply, "found nothing"),
            (r#"{"error": {"code": 503, "message": "loading"}}"#, RowErrorKind::Server, "loading"),
            (r#"{"error": "no such model"}"#, RowErrorKind::Refused, "no such model"),
        ] {
            let (is, why) = read(body, 2).expect_err(body);
            assert!(is == kind && why.contains(found), "{body}: {is:?} {why}");
        }
    }
}
