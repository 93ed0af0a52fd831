//! `benchmark_metrics_report.json`: a section for each step, put into what is there as OpenViking's benchmark does it.

use std::path::Path;

use ragstage_stages::build::ingest::Handle;
use ragstage_stages::model::Usage;
use serde_json::{Map, Value, json};

use super::super::error::OpenVikingError;
use super::generated_answers::QueryAverages;
use super::json_file::{read_json, write_json};

/// The section of handing documents over: what the server's models took and how long it was, as far as anybody knows.
pub fn insertion_section(handle: &Handle) -> (String, Value) {
    let known = handle.usage_unknown == 0 && handle.failed.is_none();
    let sum = |model: &str, tokens: fn(Usage) -> u64| {
        let own = handle.usage.iter().filter(|usage| usage.model.ends_with(model));
        known.then(|| own.map(|usage| tokens(usage.usage)).sum::<u64>())
    };
    let section = json!({
        "Total Insertion Time (s)": handle.seconds,
        "Total Input Tokens": sum("llm", |usage| usage.prompt_tokens),
        "Total Output Tokens": sum("llm", |usage| usage.completion_tokens),
        "Total Embedding Tokens": sum("embedding", |usage| usage.prompt_tokens),
    });
    ("Insertion Efficiency (Total Dataset)".to_string(), section)
}

/// The section of questions.
pub fn query_section(averages: &QueryAverages) -> (String, Value) {
    let section = json!({
        "Average Retrieval Time (s)": averages.seconds,
        "Average Input Tokens": averages.input_tokens,
        "Average Output Tokens": averages.output_tokens,
    });
    ("Query Efficiency (Average Per Query)".to_string(), section)
}

/// The section of deletion.
pub fn deletion_section(seconds: f64) -> (String, Value) {
    let section = json!({"Total Deletion Time (s)": seconds, "Total Input Tokens": 0, "Total Output Tokens": 0});
    ("Deletion Efficiency (Total Dataset)".to_string(), section)
}

/// Replaces `sections` in the report at `path`, and keeps the others. What is no JSON object is replaced, and told.
///
/// # Errors
/// When the file cannot be written.
pub fn merge_report(path: &Path, sections: Vec<(String, Value)>) -> Result<(), OpenVikingError> {
    let mut report = match read_json(path) {
        Ok(Some(Value::Object(report))) => report,
        Ok(None) => Map::new(),
        Ok(Some(_)) => {
            tell!("note: {} is no JSON object; it is written anew", path.display());
            Map::new()
        }
        Err(why) => {
            tell!("note: {why}; it is written anew");
            Map::new()
        }
    };
    report.extend(sections);
    write_json(path, &Value::Object(report), 4)
}

#[cfg(test)]
mod tests {
    use ragstage_stages::model::{ModelUsage, UsageSource};

    use super::*;

    #[test]
    fn sections_are_replaced_whole_and_others_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out/report.json");
        merge_report(&path, vec![deletion_section(1.5), ("Dataset".to_string(), json!("Locomo"))]).expect("written");
        let averages = QueryAverages { seconds: Some(0.25), input_tokens: None, output_tokens: Some(3.0) };
        merge_report(&path, vec![query_section(&averages), ("Dataset".to_string(), json!("Qasper"))]).expect("written");
        let report = read_json(&path).expect("JSON").expect("a file");
        assert_eq!(
            report,
            json!({
                "Dataset": "Qasper",
                "Deletion Efficiency (Total Dataset)":
                    {"Total Deletion Time (s)": 1.5, "Total Input Tokens": 0, "Total Output Tokens": 0},
                "Query Efficiency (Average Per Query)":
                    {"Average Retrieval Time (s)": 0.25, "Average Input Tokens": null, "Average Output Tokens": 3.0},
            })
        );
        let text = std::fs::read_to_string(&path).expect("the file");
        assert!(text.starts_with("{\n    \"Dataset\""), "{text}");
        std::fs::write(&path, "{").expect("a file");
        merge_report(&path, vec![deletion_section(2.0)]).expect("written");
        assert_eq!(read_json(&path).expect("JSON").expect("a file").as_object().map(Map::len), Some(1));
    }

    #[test]
    fn what_the_server_did_not_say_is_null() {
        let usage = |model: &str, read: u64, written: u64| ModelUsage {
            model: model.to_string(),
            calls: 1,
            usage: Usage { prompt_tokens: read, completion_tokens: written, source: UsageSource::Server },
            nano_usd: 0,
        };
        let handle = Handle {
            usage: vec![usage("openviking llm", 7, 3), usage("openviking embedding", 11, 0)],
            seconds: Some(2.5),
            ..Handle::default()
        };
        let expected = json!({
            "Total Insertion Time (s)": 2.5, "Total Input Tokens": 7, "Total Output Tokens": 3, "Total Embedding Tokens": 11,
        });
        assert_eq!(insertion_section(&handle).1, expected);
        let unknown = insertion_section(&Handle { usage_unknown: 1, ..Handle::default() }).1;
        assert!(unknown.as_object().expect("an object").values().all(Value::is_null), "{unknown}");
    }
}
