//! Embedders that run in this process.

use super::embedder::{BertEmbedder, EmbedderSpec};
use super::feature_hasher::FeatureHasher;
#[cfg(feature = "bert")]
use super::sentence_transformer::SentenceTransformer;
use super::static_model::StaticModel;

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

/// Whether this build runs sentence transformers in process (cargo feature `bert`).
pub const HAS_BERT: bool = cfg!(feature = "bert");

/// The embedder that `spec` describes, read from its files; `None` for one that is asked over HTTP.
///
/// # Errors
/// When its files are missing or are not what the layout promises, in words.
pub fn open(spec: &EmbedderSpec) -> Result<Option<Box<dyn LocalEmbedder>>, String> {
    Ok(match spec {
        EmbedderSpec::OpenAi(_) => None,
        EmbedderSpec::Static(spec) => Some(Box::new(StaticModel::open(spec)?)),
        EmbedderSpec::Bert(spec) => Some(bert(spec)?),
        EmbedderSpec::Hashing(spec) => Some(Box::new(FeatureHasher::new(spec)?)),
    })
}

#[cfg(feature = "bert")]
fn bert(spec: &BertEmbedder) -> Result<Box<dyn LocalEmbedder>, String> {
    Ok(Box::new(SentenceTransformer::open(spec)?))
}

#[cfg(not(feature = "bert"))]
fn bert(_: &BertEmbedder) -> Result<Box<dyn LocalEmbedder>, String> {
    Err("this ragstage was built without the feature `bert`".to_string())
}
