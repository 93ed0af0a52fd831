//! The record `manifest`: what the benchmark says of itself.

use std::path::Path;

use crate::artifact::BenchmarkInfo;
use crate::error::InputError;
use crate::prepare::fields::Fields;
use crate::prepare::keys::MANIFEST;
use crate::prepare::rows::Row;
use crate::score::{EvaluatorSpec, evaluator};

/// The evaluators of a benchmark that names none, as those of the `jsonl` adapter.
const DEFAULT_EVALUATORS: [&str; 2] = ["evidence_recall@5", "answer_contains"];

/// What the benchmark says of itself, and its evaluators. `rows` are the manifests that were printed, of which there is one at
/// most; `name` is the name of a benchmark that does not say it.
pub(super) fn manifest(
    name: &str,
    path: &Path,
    rows: &[Row],
    errors: &mut Vec<InputError>,
) -> (BenchmarkInfo, Vec<String>) {
    let mut info = BenchmarkInfo {
        name: name.to_string(),
        version: "1".to_string(),
        split: "test".to_string(),
        task_type: "rag_qa".to_string(),
        ..BenchmarkInfo::default()
    };
    let mut evaluators = DEFAULT_EVALUATORS.map(String::from).to_vec();
    let Some((row, others)) = rows.split_first() else { return (info, evaluators) };
    for other in others {
        let message = format!("a second manifest; the first is on line {}", row.line);
        errors.push(Fields::of(path, other).error(message).hint("print one"));
    }
    let fields = Fields::of(path, row).checked(&MANIFEST, errors);
    for (key, place) in [
        ("name", &mut info.name),
        ("version", &mut info.version),
        ("split", &mut info.split),
        ("task_type", &mut info.task_type),
        ("build_scope", &mut info.build_scope),
    ] {
        if let Some(text) = fields.optional_text(key, errors) {
            *place = text;
        }
    }
    if !["", "corpus", "group", "case"].contains(&info.build_scope.as_str()) {
        let message = format!("`build_scope` is {:?}; expected corpus, group or case", info.build_scope);
        errors.push(fields.error(message));
    }
    for (key, text) in [("name", &info.name), ("split", &info.split)] {
        // Documents are stored under them.
        if text.contains(['/', '\\']) {
            errors.push(fields.error(format!("`{key}` is {text:?}; expected a name without slashes")));
        }
    }
    info.homepage = fields.optional_text("homepage", errors);
    info.license = fields.optional_text("license", errors);
    info.citation = fields.optional_text("citation", errors);
    info.metadata = fields.object("metadata", errors);
    if fields.value("default_evaluators").is_some() {
        evaluators = fields.texts("default_evaluators", errors);
        for text in &evaluators {
            let spec = EvaluatorSpec::parse(text).map_err(|error| error.to_string());
            if let Err(why) = spec.and_then(|spec| evaluator(&spec).map(drop).map_err(|error| error.message)) {
                errors.push(fields.error(format!("`default_evaluators` has {text:?}: {why}")));
            }
        }
    }
    (info, evaluators)
}
