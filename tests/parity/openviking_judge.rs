//! Replies as OpenViking's judge reads them: the `parse_judge` lines of `openviking_metrics.jsonl`.

use ragstage_stages::score::judge::{OpenVikingScale, parse_openviking_reply};
use serde_json::{Value, json};

use super::golden::golden;

#[test]
fn replies_are_read_as_openviking_reads_them() {
    let Some(path) = golden("openviking_metrics.jsonl") else { return };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut read = 0;
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("JSON");
        if vector["fn"] != "parse_judge" {
            continue;
        }
        read += 1;
        let input = &vector["input"];
        let scale = OpenVikingScale::of_dataset(input["dataset"].as_str().expect("a dataset"));
        let reply = parse_openviking_reply(scale, input["raw"].as_str());
        let mut found = json!({
            "score": reply.score, "prompt_type": reply.prompt_type, "parsed_by": reply.parsed_by.name(),
            "reasoning_kind": reply.reasoning_kind.name(),
        });
        if let Some(reasoning) = reply.reasoning {
            found["reasoning"] = reasoning;
        }
        assert_eq!(found, vector["expected"], "{}", vector["id"]);
    }
    assert!(read > 0, "{} has no line of `parse_judge`", path.display());
}
