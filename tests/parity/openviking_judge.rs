//! How OpenViking reads a judge's reply: the `parse_judge` lines of `openviking_metrics.jsonl`.

use std::fs;

use ragstage_stages::score::judge::{OpenVikingScale, ParsedBy, parse_openviking_reply};
use serde_json::Value;

use crate::golden::{golden, say};

#[test]
fn replies_are_read_as_openviking_reads_them() {
    let Some(path) = golden("openviking_metrics.jsonl") else { return };
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let mut compared = 0;
    for line in lines.filter(|line| line["fn"] == "parse_judge") {
        let (input, expected) = (&line["input"], &line["expected"]);
        let binary = input["dataset"].as_str().unwrap_or_default().to_lowercase().contains("locomo");
        let scale = if binary { OpenVikingScale::Binary } else { OpenVikingScale::Graded };
        // A call that failed has no reply.
        let reply = input["raw"].as_str().unwrap_or_default();
        let read = parse_openviking_reply(scale, reply);
        assert_eq!(read.score, expected["score"].as_i64().expect("a score"), "{line}");
        assert_eq!(read.parsed_by.name(), expected["parsed_by"], "{line}");
        let kind = match (read.parsed_by, read.reasoned, reply.trim().is_empty()) {
            (ParsedBy::Json, true, _) => "from_json",
            (ParsedBy::Json, false, _) => "default",
            (_, _, true) => "fallback_empty",
            _ => "fallback_with_raw",
        };
        assert_eq!(kind, expected["reasoning_kind"], "{line}");
        if kind == "from_json" {
            assert_eq!(read.reasoning, expected["reasoning"], "{line}");
        }
        let route = if binary { "Locomo_0or4" } else { "Generic_0-4" };
        assert_eq!(route, expected["prompt_type"], "{line}");
        compared += 1;
    }
    assert!(compared > 0, "no line in {}", path.display());
    say(&format!("openviking: {compared} replies of judges"));
}
