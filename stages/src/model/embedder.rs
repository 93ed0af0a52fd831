//! Which embedder, and how.

use std::path::PathBuf;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::embed::{EMBED_VERSION, TextRole};
use super::endpoint::Endpoint;
use super::price::Price;
use crate::build::full_text::ANALYZER_VERSION;

/// What turns texts into vectors. Its walk is its identity: all that a vector depends on beside its text.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbedderSpec {
    /// Token vectors in process.
    Static(StaticEmbedder),
    /// An OpenAI-compatible endpoint.
    OpenAi(OpenAiEmbedder),
    /// A sentence transformer in process.
    Bert(BertEmbedder),
    /// Feature hashing; no model.
    Hashing(HashingEmbedder),
}

/// Token vectors in process: the mean of a text's token vectors, normalised (model2vec's and WordLlama's layouts).
#[derive(Debug, Clone, PartialEq)]
pub struct StaticEmbedder {
    /// What the evaluation file calls the model. In no key.
    pub model: String,
    /// The folder with `model.safetensors` and `tokenizer.json`, and perhaps `config.json`. In no key.
    pub folder: PathBuf,
    /// [`super::model_digest`] of its files: the identity.
    pub digest: Digest,
}

/// An OpenAI-compatible `/v1/embeddings`.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAiEmbedder {
    /// The model's own name, sent along; in the key.
    pub model: String,
    /// Where it is served; its label is in the key.
    pub endpoint: Endpoint,
    /// Sent as `dimensions` where given, and then what every vector must have; in the key.
    pub dimensions: Option<u32>,
    /// Whether vectors are brought to length 1; in the key.
    pub normalize: bool,
    /// Put before every query; in the key.
    pub query_prefix: String,
    /// Put before every passage; in the key.
    pub passage_prefix: String,
    /// Texts per request. In no key.
    pub batch: u32,
    /// What it costs. In no key.
    pub price: Price,
}

/// A sentence transformer in process.
#[derive(Debug, Clone, PartialEq)]
pub struct BertEmbedder {
    /// What the evaluation file calls the model. In no key.
    pub model: String,
    /// The folder with `model.safetensors`, `tokenizer.json` and `config.json`. In no key.
    pub folder: PathBuf,
    /// [`super::model_digest`] of these files: the identity.
    pub digest: Digest,
    /// How a text's token states become its vector; in the key.
    pub pooling: Pooling,
    /// Tokens at which a text is cut, special tokens included; in the key.
    pub max_tokens: u32,
    /// Put before every query (`query: ` for E5); in the key.
    pub query_prefix: String,
    /// Put before every passage; in the key.
    pub passage_prefix: String,
}

/// How a text's token states become its vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The mean over all tokens (all-MiniLM-L6-v2, E5).
    Mean,
    /// The first token's (BGE).
    Cls,
}

/// Feature hashing of words and of parts of words (Weinberger et al. 2009): a lexical baseline that needs no model, so that
/// vector modes run anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashingEmbedder {
    /// Length of the vectors; in the key.
    pub dimensions: u32,
}

impl EmbedderSpec {
    /// What is put before a text of that role.
    pub fn prefix(&self, role: TextRole) -> &str {
        let (query, passage) = match self {
            EmbedderSpec::OpenAi(spec) => (spec.query_prefix.as_str(), spec.passage_prefix.as_str()),
            EmbedderSpec::Bert(spec) => (spec.query_prefix.as_str(), spec.passage_prefix.as_str()),
            EmbedderSpec::Static(_) | EmbedderSpec::Hashing(_) => ("", ""),
        };
        match role {
            TextRole::Query => query,
            TextRole::Passage => passage,
        }
    }
}

/// Versions of what each embedder makes of the same text, in its identity.
const STATIC_VERSION: u64 = 1;
const OPENAI_VERSION: u64 = 1;
const BERT_VERSION: u64 = 1;
const HASHING_VERSION: u64 = 1;

impl Walk for EmbedderSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        match self {
            EmbedderSpec::Static(spec) => {
                v.begin_record("embedder", "static");
                v.uint("version", STATIC_VERSION);
                v.digest("weights", &spec.digest);
            }
            EmbedderSpec::OpenAi(spec) => {
                v.begin_record("embedder", "openai");
                v.uint("version", OPENAI_VERSION);
                v.text("model", &spec.model);
                v.text("endpoint", &spec.endpoint.label);
                v.uint("dimensions", u64::from(spec.dimensions.unwrap_or(0)));
                v.bool("normalize", spec.normalize);
                v.text("query_prefix", &spec.query_prefix);
                v.text("passage_prefix", &spec.passage_prefix);
            }
            EmbedderSpec::Bert(spec) => {
                v.begin_record("embedder", "bert");
                v.uint("version", BERT_VERSION);
                v.digest("weights", &spec.digest);
                v.text(
                    "pooling",
                    match spec.pooling {
                        Pooling::Mean => "mean",
                        Pooling::Cls => "cls",
                    },
                );
                v.uint("max_tokens", u64::from(spec.max_tokens));
                v.text("query_prefix", &spec.query_prefix);
                v.text("passage_prefix", &spec.passage_prefix);
            }
            EmbedderSpec::Hashing(spec) => {
                v.begin_record("embedder", "hashing");
                v.uint("version", HASHING_VERSION);
                v.uint("analyzer_version", ANALYZER_VERSION);
                v.uint("dimensions", u64::from(spec.dimensions));
            }
        }
        v.uint("embed_version", EMBED_VERSION);
        v.end();
    }
}
