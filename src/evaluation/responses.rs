//! `responses`: a recipe whose responses were made elsewhere.

use std::path::{Path, PathBuf};

pub use ragstage_stages::query::IMPORTED;
use ragstage_stages::query::Missing;
use ragstage_stages::responses::{Pick, ResponseFormat};

use super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::view::View;

/// What `responses` accepts.
pub(super) static RESPONSES: Record = Record {
    name: "responses",
    doc: "Responses that were made elsewhere, in a file; nobody is asked.",
    fields: &[
        Field { name: "path", doc: "The file, relative to this file.", shape: TEXT, need: Need::Required },
        Field {
            name: "format",
            doc: "What the file is; by its content by default.",
            shape: Shape::Choice(&[
                Choice { word: "jsonl", doc: "a response per line, as JSON" },
                Choice { word: "parquet", doc: "a table with a response per row" },
                Choice { word: "trec", doc: "a TREC run" },
                Choice { word: "heta_report", doc: "a report.json of Heta Evaluation, or of ours" },
                Choice { word: "openviking_answers", doc: "OpenViking's generated_answers.json" },
            ]),
            need: Need::Optional,
        },
        Field {
            name: "recipe",
            doc: "Of a report with several recipes, which one.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "query",
            doc: "Of a report with several queries or modes, which one.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "missing",
            doc: "What becomes of cases without a response; `empty` for a TREC run by default, else `failed`.",
            shape: Shape::Choice(&[
                Choice { word: "failed", doc: "they failed, and cost coverage" },
                Choice { word: "empty", doc: "they have an empty response, worth 0, as trec_eval -c has it" },
                Choice { word: "skip", doc: "they are skipped, and in no mean" },
            ]),
            need: Need::Optional,
        },
        Field {
            name: "unknown",
            doc: "What becomes of responses to cases that the benchmark does not have; `ignore` for a TREC run by default, else `error`.",
            shape: Shape::Choice(&[
                Choice { word: "error", doc: "the run ends with an error" },
                Choice { word: "ignore", doc: "they are left out" },
            ]),
            need: Need::Optional,
        },
    ],
    together: &[],
};

/// Where responses are that were made elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponsesConfig {
    /// Where they are.
    pub place: ResponsesPlace,
    /// What becomes of cases without a response; by the format where `None`.
    pub missing: Option<Missing>,
    /// Whether responses to unknown cases are left out; by the format where `None`.
    pub ignore_unknown: Option<bool>,
}

/// A file, or an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponsesPlace {
    /// A file.
    File {
        /// The file.
        path: PathBuf,
        /// What it is; by its content where `None`.
        format: Option<ResponseFormat>,
        /// Which of its responses.
        pick: Pick,
    },
    /// What a run of this store was given.
    Run(Vec<RecordedTables>),
}

/// Digests of a run's `results`, and of its `answers` where it has them.
pub type RecordedTables = (ragstage_cache::Digest, Option<ragstage_cache::Digest>);

/// The set that a checked `responses` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> ResponsesConfig {
    let text = |key: &str| view.get(key).text().map(str::to_string);
    ResponsesConfig {
        place: ResponsesPlace::File {
            path: base.join(view.get("path").text().unwrap_or_default()),
            format: view.get("format").text().and_then(ResponseFormat::named),
            pick: Pick { recipe: text("recipe"), query: text("query") },
        },
        missing: view.get("missing").text().and_then(missing),
        ignore_unknown: view.get("unknown").text().map(|word| word == "ignore"),
    }
}

/// What the word of `missing` stands for.
fn missing(word: &str) -> Option<Missing> {
    match word {
        "failed" => Some(Missing::Failed),
        "empty" => Some(Missing::Empty),
        "skip" => Some(Missing::Skip),
        _ => None,
    }
}
