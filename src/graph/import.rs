//! A response set with the digest of its file.

use ragstage_stages::error::{InputError, Place};
use ragstage_stages::query::{ImportSource, ImportSpec, Missing};
use ragstage_stages::responses::ResponseFormat;

use crate::evaluation::{ResponsesConfig, ResponsesPlace};
use crate::exec::Sources;

/// The set of the recipe called `recipe`.
///
/// # Errors
/// When its file is missing or cannot be read.
pub(super) fn import(recipe: &str, config: &ResponsesConfig, sources: &Sources) -> Result<ImportSpec, InputError> {
    let (path, format, pick) = match &config.place {
        ResponsesPlace::File { path, format, pick } => (path, format, pick),
        ResponsesPlace::Run(tables) => {
            return Ok(ImportSpec {
                source: ImportSource::Run(tables.clone()),
                missing: config.missing.unwrap_or(Missing::Failed),
                ignore_unknown: true,
            });
        }
    };
    let Some(digest) = sources.digest(path)? else {
        let message = format!("the responses of recipe {recipe:?} do not exist");
        return Err(InputError::new(Place::file(path), message)
            .hint("correct `responses.path`; paths are relative to the evaluation file"));
    };
    let run = match format {
        Some(format) => *format == ResponseFormat::TrecRun,
        // A run leaves out the queries for which nothing was found, and may have more than were judged.
        None => matches!(ResponseFormat::of_file(path), Ok(ResponseFormat::TrecRun)),
    };
    Ok(ImportSpec {
        source: ImportSource::File { path: path.clone(), digest, format: *format, pick: pick.clone() },
        missing: config.missing.unwrap_or(if run { Missing::Empty } else { Missing::Failed }),
        ignore_unknown: config.ignore_unknown.unwrap_or(run),
    })
}
