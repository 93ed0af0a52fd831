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
    let ResponsesPlace::File { path, format, pick } = &config.place else {
        let ResponsesPlace::Run(tables) = &config.place else {
            return Err(InputError::new(Place::file(recipe), "no set"));
        };
        return Ok(ImportSpec {
            source: ImportSource::Run(tables.clone()),
            missing: config.missing.unwrap_or(Missing::Failed),
            ignore_unknown: true,
        });
    };
    let digest = match sources.fact(path) {
        Ok(Some(fact)) => fact.digest,
        Ok(None) => {
            let message = format!("the responses of recipe {recipe:?} do not exist");
            return Err(InputError::new(Place::file(path), message)
                .hint("correct `responses.path`; paths are relative to the evaluation file"));
        }
        Err(error) => return Err(InputError::new(Place::file(path), format!("cannot be read: {error}"))),
    };
    let run = match format {
        Some(format) => *format == ResponseFormat::TrecRun,
        None => looks_like_a_run(path),
    };
    Ok(ImportSpec {
        source: ImportSource::File { path: path.clone(), digest, format: *format, pick: pick.clone() },
        missing: config.missing.unwrap_or(if run { Missing::Empty } else { Missing::Failed }),
        ignore_unknown: config.ignore_unknown.unwrap_or(run),
    })
}

/// A run leaves out the queries for which nothing was found, and may have more than were judged.
fn looks_like_a_run(path: &std::path::Path) -> bool {
    matches!(ResponseFormat::of_file(path), Ok(ResponseFormat::TrecRun))
}
