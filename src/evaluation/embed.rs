//! `recipe.embed`: what turns texts into vectors.

use ragstage_stages::model::{HashingEmbedder, OpenAiEmbedder};

use super::diagnostic::Faults;
use super::endpoint::{self, API_KEY_FIELD, BASE_URL_FIELD, HEADERS_FIELD, LABEL_FIELD, MODEL_FIELD, PRICE_FIELD};
use super::shape::{Field, Need, Record, Refusal, Shape, Tagged, TextRule};
use super::view::View;

/// A text that may be blank or empty.
const PREFIX: Shape = Shape::Text(&TextRule { expected: "a text", pattern: None, refuse: |_| None::<Refusal> });

/// What `embed` accepts.
pub(super) static EMBED: Tagged = Tagged {
    key: "provider",
    doc: "What turns texts into vectors.",
    variants: &[("hashing", &HASHING), ("openai", &OPENAI)],
    shared: &[],
};

static HASHING: Record = Record {
    name: "embed_hashing",
    doc: "Feature hashing of words and character trigrams: a lexical baseline that needs no model.",
    fields: &[Field {
        name: "dimensions",
        doc: "Length of the vectors.",
        shape: Shape::Int { min: 8, max: 65_536 },
        need: Need::Default("512"),
    }],
    together: &[],
};

static OPENAI: Record = Record {
    name: "embed_openai",
    doc: "An OpenAI-compatible `/v1/embeddings`.",
    fields: &[
        MODEL_FIELD,
        BASE_URL_FIELD,
        LABEL_FIELD,
        API_KEY_FIELD,
        HEADERS_FIELD,
        Field {
            name: "dimensions",
            doc: "Length of the vectors, sent along and then demanded; the model's own by default.",
            shape: Shape::Int { min: 1, max: 65_536 },
            need: Need::Optional,
        },
        Field {
            name: "normalize",
            doc: "Whether vectors are brought to length 1.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
        Field { name: "query_prefix", doc: "Put before every query.", shape: PREFIX, need: Need::Default("\"\"") },
        Field { name: "passage_prefix", doc: "Put before every passage.", shape: PREFIX, need: Need::Default("\"\"") },
        Field {
            name: "batch",
            doc: "Texts per request; in no key.",
            shape: Shape::Int { min: 1, max: 2048 },
            need: Need::Default("32"),
        },
        PRICE_FIELD,
    ],
    together: &[],
};

/// An embedder as the evaluation file describes it: its files, where it has any, are not read yet.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbedConfig {
    /// Feature hashing.
    Hashing(HashingEmbedder),
    /// An endpoint.
    OpenAi(OpenAiEmbedder),
}

/// The embedder that a checked `embed` stands for.
pub(super) fn convert(
    view: &View<'_>,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> Option<EmbedConfig> {
    match view.get("provider").text()? {
        "hashing" => {
            Some(EmbedConfig::Hashing(HashingEmbedder { dimensions: view.get("dimensions").int().unwrap_or(512) }))
        }
        "openai" => {
            let text = |key: &str| view.get(key).text().unwrap_or_default().to_string();
            Some(EmbedConfig::OpenAi(OpenAiEmbedder {
                model: text("model"),
                endpoint: endpoint::convert(view, environment, faults),
                dimensions: view.get("dimensions").int(),
                normalize: view.get("normalize").bool().unwrap_or(true),
                query_prefix: text("query_prefix"),
                passage_prefix: text("passage_prefix"),
                batch: view.get("batch").int().unwrap_or(32),
                price: endpoint::price(view),
            }))
        }
        _ => None,
    }
}
