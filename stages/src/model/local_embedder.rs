//! Embedders that run in this process.

use super::embedder::EmbedderSpec;

/// Turns texts into vectors without asking anybody.
///
/// A text's vector depends on that text alone: not on the texts beside it, their order or the number of threads.
pub trait LocalEmbedder: Send + Sync {
    /// The length of every vector.
    fn dimensions(&self) -> usize;

    /// The vector of each of `texts`, in order. Prefixes are in the texts already.
    ///
    /// # Errors
    /// When the texts cannot be embedded at all, in words.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;
}

/// The embedder that `spec` describes, read from its files; `None` for one that is asked over HTTP.
///
/// # Errors
/// When its files are missing or are not what the layout promises, in words.
pub fn open(spec: &EmbedderSpec) -> Result<Option<Box<dyn LocalEmbedder>>, String> {
    match spec {
        EmbedderSpec::OpenAi(_) => Ok(None),
        EmbedderSpec::Static(_) | EmbedderSpec::Bert(_) | EmbedderSpec::Hashing(_) => Err("not merged yet".to_string()),
    }
}
