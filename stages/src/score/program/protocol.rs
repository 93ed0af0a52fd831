//! What is said to an evaluator that is a program, and what it must reply: a line of JSON each way (UTF-8).
//!
//! A program is started once for each call in flight and serves one line after the other until its standard input ends. Its
//! standard error is its own, and the end of it is shown where it fails.
//!
//! # Request
//!
//! ```json
//! {"protocol": 1, "id": 1,
//!  "case": {"question": "When was the lighthouse built?", "answers": ["1871"],
//!           "evidence": [{"reference_id": "harbour", "locator": {}, "text": "built in 1871", "metadata": {}}],
//!           "value": null, "metadata": {}},
//!  "response": {"answer": "In 1871.", "citations": [],
//!               "results": [{"id": "p17", "text": "The lighthouse was built in 1871.", "score": 12.5, "kind": "chunk",
//!                            "source": {"document_id": "harbour"}, "metadata": {}}]}}
//! ```
//!
//! `question`, `answer` with `citations`, and `results` are there only where the evaluator reads them. `answer` is `null` where
//! there is none. A program that takes several cases at once gets `"items": [{"case": ..., "response": ...}, ...]` instead of
//! `case` and `response`, at least one.
//!
//! There is no case id: what is said of a response must not depend on where the case is from, and two cases that are alike
//! share the reply.
//!
//! # Reply
//!
//! ```json
//! {"id": 1, "scores": 0.75, "detail": {"claims": 4}}
//! {"id": 2, "scores": {"faithfulness": 0.5, "polite": true, "tone": "dry", "relevance": null}}
//! {"id": 3, "skipped": "the case has no gold answer"}
//! {"id": 4, "error": "the model is gone"}
//! {"id": 5, "items": [{"scores": 1}, {"error": "too long"}]}
//! ```
//!
//! | field | |
//! |---|---|
//! | `id` | required: that of the request |
//! | `scores` | a finite number, a truth value or a text; an object of these where the evaluator declares `scores`, with those names; `null` skips |
//! | `skipped` | why the case is not scored; it enters no mean |
//! | `error` | why the case failed; it is asked again by the next run |
//! | `detail` | an object, kept with the score |
//! | `items` | one reply, without `id`, for each of the request's, in their order |
//!
//! Other fields are refused, and so is a key that is there twice.
//!
//! One line for each request: a second one right behind a reply fails the case of that reply, and the program is started again.
//! Where it comes so late that the reply was taken already, the program is started again for the next request, which is
//! asked there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::{Citation, Evidence, Hit, Json, Score, ScoreValue};
use crate::error::{RowError, RowErrorKind};
use crate::model::json_reply::{bad_reply, describe, shortened};
use crate::score::{Reads, Scorable};

/// Version of the protocol, in every request and in the key of every reply.
pub(super) const PROGRAM_VERSION: u64 = 1;
/// How much of a program's own error is kept, in Unicode code points: a traceback is worth reading.
const ERROR_CHARS: usize = 4000;

#[derive(Serialize)]
struct Request<'a> {
    protocol: u64,
    id: u64,
    #[serde(flatten)]
    item: Asked<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Asked<'a> {
    One(Item<'a>),
    Several { items: Vec<Item<'a>> },
}

#[derive(Serialize)]
struct Item<'a> {
    case: CaseItem<'a>,
    response: ResponseItem<'a>,
}

#[derive(Serialize)]
struct CaseItem<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    answers: &'a [String],
    evidence: &'a [Evidence],
    value: &'a Value,
    metadata: &'a Json,
}

#[derive(Serialize)]
struct ResponseItem<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    citations: Option<&'a [Citation]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<&'a [Hit]>,
}

impl<'a> Item<'a> {
    fn of(scorable: &Scorable<'a>, reads: Reads) -> Self {
        let Scorable { case, response, .. } = scorable;
        Item {
            case: CaseItem {
                question: reads.question.then_some(case.query),
                answers: &case.gold.answers,
                evidence: &case.gold.evidence,
                value: &case.gold.value,
                metadata: &case.gold.metadata,
            },
            response: ResponseItem {
                answer: reads.answer.then_some(response.answer),
                citations: reads.answer.then_some(response.citations),
                results: reads.results.then_some(response.results),
            },
        }
    }
}

/// The request `id` for one response, as a line without its end.
pub(super) fn request(id: u64, scorable: &Scorable<'_>, reads: Reads) -> Result<Vec<u8>, RowError> {
    line(id, Asked::One(Item::of(scorable, reads)))
}

/// The request `id` for several responses at once, as a line without its end.
pub(super) fn batch_request(id: u64, scorables: &[Scorable<'_>], reads: Reads) -> Result<Vec<u8>, RowError> {
    line(id, Asked::Several { items: scorables.iter().map(|scorable| Item::of(scorable, reads)).collect() })
}

fn line(id: u64, item: Asked<'_>) -> Result<Vec<u8>, RowError> {
    let request = Request { protocol: PROGRAM_VERSION, id, item };
    serde_json::to_vec(&request).map_err(|error| bad_reply(format!("the request is no JSON: {error}")))
}

/// What a program said of one response. This is the value that the row cache keeps, as JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Said {
    /// Why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skipped: Option<String>,
    /// The scores by name; one without a name has the empty one.
    #[serde(default)]
    scores: BTreeMap<String, Option<ScoreValue>>,
    /// What led to them.
    #[serde(default)]
    detail: Json,
}

impl Said {
    /// Reads a reply without its id. `scores` are the names that are declared.
    ///
    /// # Errors
    /// `bad_reply` with the field, what was expected there and what was found; `evaluator` for a reply that is an `error`.
    pub(super) fn of(reply: Value, scores: &[String]) -> Result<Self, RowError> {
        Said::read("", reply, scores)
    }

    /// Reads the reply to `count` responses: one or an error for each.
    ///
    /// # Errors
    /// `bad_reply` where there is not one for each.
    pub(super) fn of_batch(
        mut reply: Value,
        count: usize,
        scores: &[String],
    ) -> Result<Vec<Result<Self, RowError>>, RowError> {
        if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
            // Of all of them, so that each is asked for alone.
            return Err(bad_reply(says(error)));
        }
        let items = match reply.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong("items", "a list", &describe(&other))),
            None => return Err(wrong("items", "a list", "nothing")),
        };
        let mut fields = reply.as_object().into_iter().flat_map(Json::keys);
        if let Some(other) = fields.find(|field| !["items", "error"].contains(&field.as_str())) {
            return Err(wrong("", "only items and error", &format!("{other:?}")));
        }
        if items.len() != count {
            return Err(wrong("items", &format!("{count} replies"), &items.len().to_string()));
        }
        let read = |(i, item)| Said::read(&format!("items[{i}]."), item, scores);
        Ok(items.into_iter().enumerate().map(read).collect())
    }

    fn read(place: &str, reply: Value, declared: &[String]) -> Result<Self, RowError> {
        let Value::Object(mut fields) = reply else {
            return Err(wrong(place.trim_end_matches('.'), "an object", &describe(&reply)));
        };
        let at = |field: &str| format!("{place}{field}");
        let mut take = |field: &str| fields.remove(field);
        if let Some(error) = take("error").filter(|error| !error.is_null()) {
            return Err(RowError::new(RowErrorKind::Evaluator, says(&error)));
        }
        let skipped = match take("skipped") {
            None | Some(Value::Null) => None,
            Some(Value::String(reason)) => Some(reason),
            Some(other) => return Err(wrong(&at("skipped"), "a text", &describe(&other))),
        };
        let detail = match take("detail") {
            None | Some(Value::Null) => Json::new(),
            Some(Value::Object(detail)) => detail,
            Some(other) => return Err(wrong(&at("detail"), "an object", &describe(&other))),
        };
        let given = take("scores");
        if let Some(field) = fields.keys().next() {
            return Err(wrong(
                place.trim_end_matches('.'),
                "only scores, skipped, error and detail",
                &format!("{field:?}"),
            ));
        }
        let scores = match given {
            _ if skipped.is_some() => BTreeMap::new(),
            None => return Err(wrong(&at("scores"), "a score", "nothing")),
            Some(given) => read_scores(&at("scores"), given, declared)?,
        };
        Ok(Said { skipped, scores, detail })
    }

    /// The score of the column `name`, or of the only one.
    pub(super) fn score(&self, name: Option<&str>) -> Result<Score, RowError> {
        if let Some(reason) = &self.skipped {
            return Ok(Score::skipped(reason.clone()));
        }
        match self.scores.get(name.unwrap_or_default()) {
            Some(Some(value)) => {
                let passed = match value {
                    ScoreValue::Bool(value) => Some(*value),
                    ScoreValue::Number(_) | ScoreValue::Label(_) => None,
                };
                Ok(Score::scored(value.clone(), passed, self.detail.clone()))
            }
            Some(None) => Ok(Score::skipped("the program gave no score")),
            None => Err(bad_reply("the reply that was kept has no such score".to_string())),
        }
    }
}

/// The scores in `given`, which stands at `place`.
fn read_scores(
    place: &str,
    given: Value,
    declared: &[String],
) -> Result<BTreeMap<String, Option<ScoreValue>>, RowError> {
    if declared.is_empty() {
        if given.is_object() {
            let expected = "a number, a truth value or a text (several scores need their names under `scores` in the \
                            evaluation file, or in SCORES of a Python file)";
            return Err(wrong(place, expected, &describe(&given)));
        }
        return Ok(BTreeMap::from([(String::new(), score_value(place, given)?)]));
    }
    let Value::Object(mut given) = given else {
        return Err(wrong(place, &format!("an object with {}", declared.join(", ")), &describe(&given)));
    };
    let mut scores = BTreeMap::new();
    for name in declared {
        let at = format!("{place}.{name}");
        let value = given.remove(name).ok_or_else(|| wrong(&at, "a score", "nothing"))?;
        scores.insert(name.clone(), score_value(&at, value)?);
    }
    match given.keys().next() {
        None => Ok(scores),
        Some(other) => {
            Err(wrong(place, &format!("only {}, which are declared", declared.join(", ")), &format!("{other:?}")))
        }
    }
}

fn score_value(place: &str, value: Value) -> Result<Option<ScoreValue>, RowError> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(ScoreValue::Bool(value))),
        Value::String(label) => Ok(Some(ScoreValue::Label(label))),
        Value::Number(number) => match number.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(ScoreValue::Number(number))),
            None => Err(wrong(place, "a finite number", &number.to_string())),
        },
        other => Err(wrong(place, "a number, a truth value or a text", &describe(&other))),
    }
}

fn says(error: &Value) -> String {
    let words = error.as_str().map_or_else(|| error.to_string(), str::to_string);
    format!("the program says: {}", shortened(words.trim(), ERROR_CHARS))
}

fn wrong(place: &str, expected: &str, found: &str) -> RowError {
    let place = if place.is_empty() { "the reply" } else { place };
    bad_reply(format!("{place}: expected {expected}, found {found}"))
}

#[cfg(test)]
mod tests {
    use ragstage_cache::Digest;
    use serde_json::json;

    use super::*;
    use crate::artifact::Gold;
    use crate::score::{CaseView, ResponseView};

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn refused(reply: Value, declared: &[&str]) -> String {
        let error = Said::of(reply, &names(declared)).expect_err("refused");
        assert_eq!(error.kind, RowErrorKind::BadReply);
        error.message
    }

    #[test]
    fn a_score_is_a_number_a_truth_value_or_a_label() {
        let score =
            |value: Value| Said::of(json!({"scores": value}), &[]).and_then(|said| said.score(None)).expect("a score");
        assert_eq!(score(json!(0.5)).value, Some(ScoreValue::Number(0.5)));
        let passed = score(json!(true));
        assert_eq!((passed.value, passed.passed), (Some(ScoreValue::Bool(true)), Some(true)));
        assert_eq!(score(json!("dry")).value, Some(ScoreValue::Label("dry".to_string())));
        assert_eq!(score(Value::Null).reason.as_deref(), Some("the program gave no score"));
        let skipped = Said::of(json!({"skipped": "no gold"}), &[]).and_then(|said| said.score(None)).expect("a score");
        assert_eq!(skipped.reason.as_deref(), Some("no gold"));
    }

    #[test]
    fn several_scores_are_told_apart_by_name() {
        let reply = json!({"scores": {"a": 1, "b": null}, "detail": {"why": "so"}});
        let said = Said::of(reply, &names(&["a", "b"])).expect("a reply");
        let a = said.score(Some("a")).expect("a score");
        assert_eq!(
            (a.value, a.detail.get("why").unwrap_or_default().as_str()),
            (Some(ScoreValue::Number(1.0)), Some("so"))
        );
        assert!(said.score(Some("b")).is_ok_and(|score| score.value.is_none()));
        let kept = serde_json::to_vec(&said).expect("json");
        assert_eq!(serde_json::from_slice::<Said>(&kept).expect("json"), said);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        assert_eq!(refused(json!({}), &[]), "scores: expected a score, found nothing");
        assert_eq!(refused(json!([1]), &[]), "the reply: expected an object, found the list [1]");
        assert!(refused(json!({"scores": {"a": 1}}), &[]).contains("need their names under `scores`"));
        assert_eq!(
            refused(json!({"scores": [1]}), &[]),
            "scores: expected a number, a truth value or a text, found the list [1]"
        );
        assert_eq!(refused(json!({"scores": 1}), &["a"]), "scores: expected an object with a, found the number 1");
        assert_eq!(refused(json!({"scores": {"b": 1}}), &["a"]), "scores.a: expected a score, found nothing");
        assert_eq!(
            refused(json!({"scores": {"a": 1, "b": 1}}), &["a"]),
            "scores: expected only a, which are declared, found \"b\""
        );
        assert_eq!(
            refused(json!({"scores": 1, "score": 2}), &[]),
            "the reply: expected only scores, skipped, error and detail, found \"score\""
        );
        let error = Said::of(json!({"error": "Boom\n  at line 3"}), &[]).expect_err("an error");
        assert_eq!(
            (error.kind, error.message.as_str()),
            (RowErrorKind::Evaluator, "the program says: Boom\n  at line 3")
        );
    }

    #[test]
    fn a_batch_has_a_reply_for_each() {
        let said = Said::of_batch(json!({"items": [{"scores": 1}, {"error": "no"}, {"scores": []}]}), 3, &[])
            .expect("replies");
        assert!(said[0].is_ok());
        assert!(said[1].as_ref().is_err_and(|error| error.kind == RowErrorKind::Evaluator));
        assert!(said[2].as_ref().is_err_and(|error| error.message.starts_with("items[2].scores: expected a number")));
        let short = Said::of_batch(json!({"items": []}), 2, &[]).expect_err("refused");
        assert_eq!(short.message, "items: expected 2 replies, found 0");
        let more = Said::of_batch(json!({"items": [{"scores": 1}], "scores": 1}), 1, &[]).expect_err("refused");
        assert_eq!(more.message, "the reply: expected only items and error, found \"scores\"");
        // Of all of them: each is asked for alone.
        assert!(Said::of_batch(json!({"error": "no"}), 2, &[]).is_err_and(|error| error.kind.of_the_request()));
    }

    #[test]
    fn requests_are_those_of_the_schema() {
        let schema: Value =
            serde_json::from_str(include_str!("../../../../docs/evaluator.schema.json")).expect("the schema is JSON");
        let gold = Gold { answers: vec!["1871".to_string()], evidence: vec![Evidence::default()], ..Gold::default() };
        let hit = json!({"id": "p", "text": "t"});
        let results: Vec<Hit> = vec![serde_json::from_value(hit).expect("a hit")];
        let citations = [Citation { id: "c".to_string(), result_id: None, source: Json::new(), text: None }];
        let scorable = Scorable {
            case: CaseView { case_id: "a", query: "When?", gold: &gold },
            response: ResponseView::new(&results, None, &citations),
            key: Digest::of(b"a"),
            salt: 0,
        };
        let all = Reads { answer: true, results: true, question: true, ..Reads::default() };
        let line = |bytes: Result<Vec<u8>, RowError>| -> Value {
            serde_json::from_slice(&bytes.expect("a request")).expect("JSON")
        };
        let fields = |value: &Value| -> Vec<String> {
            value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
        };
        let whole = line(request(1, &scorable, all));
        let batch = line(batch_request(2, &[scorable], all));
        assert_eq!(batch["items"][0], json!({"case": whole["case"], "response": whole["response"]}));
        for (name, part) in [
            ("request", &whole),
            ("batch_request", &batch),
            ("case", &whole["case"]),
            ("response", &whole["response"]),
            ("evidence", &whole["case"]["evidence"][0]),
            ("result", &whole["response"]["results"][0]),
            ("citation", &whole["response"]["citations"][0]),
        ] {
            let known = fields(&schema["$defs"][name]["properties"]);
            assert_eq!(fields(part), known, "{name}");
        }
        assert_eq!(whole["response"]["answer"], Value::Null);
        // What is not read is not shown.
        let nothing = line(request(1, &scorable, Reads::default()));
        assert_eq!(fields(&nothing["case"]), ["answers", "evidence", "metadata", "value"]);
        assert_eq!(nothing["response"], json!({}));
    }
}
