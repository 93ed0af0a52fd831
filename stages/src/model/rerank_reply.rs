//! What a rerank endpoint replied.

use serde_json::Value;

use super::json_reply::{bad_reply, excerpt, stated_error};
use crate::error::RowError;

/// The scores of `count` candidates, in their order: from `{"results": [{"index", "relevance_score"}]}` (Cohere, Jina, vLLM) or
/// `[{"index", "score"}]` (TEI).
///
/// # Errors
/// `bad_reply` unless every candidate has exactly one number. An error that is stated in a reply of status 200 has its own
/// class.
pub(super) fn scores(reply: &Value, count: usize) -> Result<Vec<f64>, RowError> {
    if let Some(error) = stated_error(reply) {
        return Err(error);
    }
    let found = |what: &Value| excerpt(&what.to_string());
    let Some(results) = reply.as_array().or_else(|| reply.get("results")?.as_array()) else {
        return Err(bad_reply(format!("expected a list `results` or a list, found {}", found(reply))));
    };
    let mut scores = vec![None; count];
    for (position, result) in results.iter().enumerate() {
        let index = result.get("index").and_then(Value::as_u64);
        let score = result.get("relevance_score").or_else(|| result.get("score")).and_then(Value::as_f64);
        let (Some(index), Some(score)) = (index, score.filter(|score| score.is_finite())) else {
            return Err(bad_reply(format!(
                "expected an `index` and a number as `relevance_score` or `score` at results[{position}], found {}",
                found(result)
            )));
        };
        match usize::try_from(index).ok().and_then(|index| scores.get_mut(index)) {
            None => {
                return Err(bad_reply(format!(
                    "expected indexes below {count}, found results[{position}].index {index}"
                )));
            }
            Some(Some(_)) => {
                return Err(bad_reply(format!("expected one score per candidate, found two with index {index}")));
            }
            Some(place) => *place = Some(score),
        }
    }
    let scored = results.len();
    scores
        .into_iter()
        .collect::<Option<Vec<f64>>>()
        .ok_or_else(|| bad_reply(format!("expected a score for each of {count} candidates, found {scored}")))
}

/// The tokens that a server states.
pub(super) fn stated_tokens(reply: &Value) -> Option<u64> {
    let usage = reply.get("usage")?;
    usage.get("total_tokens").or_else(|| usage.get("prompt_tokens"))?.as_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::RowErrorKind;

    #[test]
    fn scores_go_by_index_in_both_forms() {
        let cohere = json!({"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": -2}]});
        assert_eq!(scores(&cohere, 2), Ok(vec![-2.0, 0.9]));
        assert_eq!(scores(&json!([{"index": 0, "score": 0.5}]), 1), Ok(vec![0.5]));
        assert_eq!(scores(&json!([]), 0), Ok(vec![]));
        assert_eq!(stated_tokens(&json!({"usage": {"total_tokens": 9, "prompt_tokens": 8}})), Some(9));
        assert_eq!(stated_tokens(&json!({"usage": {"total_tokens": "9"}})), None);
        assert_eq!(stated_tokens(&json!([])), None);
    }

    #[test]
    fn every_candidate_has_one_number() {
        let of =
            |results: Value| scores(&json!({ "results": results }), 2).map_err(|error| (error.kind, error.message));
        for (results, found) in [
            (json!([{"index": 0, "score": 1}]), "each of 2 candidates, found 1"),
            (json!([{"index": 0, "score": 1}, {"index": 0, "score": 1}]), "two with index 0"),
            (json!([{"index": 0, "score": 1}, {"index": 2, "score": 1}]), "results[1].index 2"),
            (json!([{"index": -1, "score": 1}, {"index": 1, "score": 1}]), "results[0]"),
            (json!([{"index": 0, "score": null}, {"index": 1, "score": 1}]), "results[0]"),
            (json!([{"index": 0, "score": "1"}, {"index": 1, "score": 1}]), "results[0]"),
            (json!([{"score": 1}, {"score": 1}]), "results[0]"),
            (json!({}), "expected a list"),
            (Value::Null, "expected a list"),
        ] {
            let (kind, why) = of(results.clone()).expect_err("no ranking");
            assert!(kind == RowErrorKind::BadReply && why.contains(found), "{results}: {why}");
        }
        let stated = scores(&json!({"error": {"code": 503, "message": "loading"}}), 2).expect_err("an error");
        assert_eq!(stated.kind, RowErrorKind::Server);
    }
}
