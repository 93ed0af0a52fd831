//! What the server says that an operation took.

use serde_json::Value;

use crate::model::{ModelUsage, Usage, UsageSource};

/// What the server asked models, by the names under which their tokens are reported.
const GROUPS: [(&str, &str); 3] =
    [("llm", "openviking llm"), ("embedding", "openviking embedding"), ("rerank", "openviking rerank")];

/// The tokens of one operation, an entry for each kind of model that the server asked. Zeros are left out by the server, so
/// an operation that says nothing of tokens took none.
///
/// `None` where there is no telemetry: then nobody knows what it took.
pub(super) fn usage(telemetry: Option<&Value>) -> Option<Vec<ModelUsage>> {
    let summary = telemetry?.get("summary").filter(|summary| summary.is_object())?;
    let count = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or(0);
    let of_group = |(group, model): (&str, &str)| {
        let tokens = summary.get("tokens")?.get(group)?;
        let (input, output) = (count(tokens.get("input")), count(tokens.get("output")));
        // Embedders and rerankers write nothing: they have a total alone.
        let read = if input + output == 0 { count(tokens.get("total")) } else { input };
        let usage = Usage { prompt_tokens: read, completion_tokens: output, source: UsageSource::Server };
        (read + output > 0).then(|| ModelUsage { model: model.to_string(), calls: 1, usage, nano_usd: 0 })
    };
    Some(GROUPS.into_iter().filter_map(of_group).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_by_kind_of_model() {
        let telemetry = json!({"id": "tm_1", "summary": {"operation": "add_resource_job", "tokens": {
            "total": 130, "llm": {"input": 70, "output": 10, "total": 80}, "embedding": {"total": 50},
        }}});
        let found = usage(Some(&telemetry)).expect("telemetry");
        let counts: Vec<_> =
            found.iter().map(|u| (u.model.as_str(), u.usage.prompt_tokens, u.usage.completion_tokens)).collect();
        assert_eq!(counts, [("openviking llm", 70, 10), ("openviking embedding", 50, 0)]);
        assert!(found.iter().all(|u| u.usage.source == UsageSource::Server));
    }

    #[test]
    fn no_telemetry_is_unknown_and_no_tokens_are_none() {
        assert_eq!(usage(None), None);
        assert_eq!(usage(Some(&Value::Null)), None);
        assert_eq!(usage(Some(&json!({"summary": null}))), None);
        assert_eq!(usage(Some(&json!({"summary": {"operation": "search.find"}}))), Some(Vec::new()));
        let odd = json!({"summary": {"tokens": {"llm": null, "embedding": {"total": "many"}}}});
        assert_eq!(usage(Some(&odd)), Some(Vec::new()));
    }
}
