//! `recipe.embed`: what turns texts into vectors.

use std::path::Path;

use ragstage_stages::model::{HAS_BERT, HashingEmbedder, OpenAiEmbedder, Pooling};

use super::diagnostic::Faults;
use super::endpoint::{self, API_KEY_FIELD, BASE_URL_FIELD, HEADERS_FIELD, LABEL_FIELD, MODEL_FIELD, PRICE_FIELD};
use super::model_place::{self, MODEL_PLACE_FIELD, ModelPlace};
use super::shape::{Choice, Field, Need, Record, Refusal, Shape, Tagged, TextRule};
use super::view::View;

/// A text that may be blank or empty.
const PREFIX: Shape = Shape::Text(&TextRule { expected: "a text", pattern: None, refuse: |_| None::<Refusal> });

const QUERY_PREFIX_FIELD: Field =
    Field { name: "query_prefix", doc: "Put before every query.", shape: PREFIX, need: Need::Default("\"\"") };

const PASSAGE_PREFIX_FIELD: Field =
    Field { name: "passage_prefix", doc: "Put before every passage.", shape: PREFIX, need: Need::Default("\"\"") };

/// What `embed` accepts.
pub(super) static EMBED: Tagged = Tagged {
    key: "provider",
    doc: "What turns texts into vectors.",
    variants: &[("hashing", &HASHING), ("static", &STATIC), ("openai", &OPENAI), ("bert", &BERT)],
    shared: &[],
};

static HASHING: Record = Record {
    name: "embed_hashing",
    doc: "Feature hashing of words and of parts of words: a lexical baseline that needs no model.",
    fields: &[Field {
        name: "dimensions",
        doc: "Length of the vectors.",
        shape: Shape::Int { min: 8, max: 65_536 },
        need: Need::Default("1024"),
    }],
    together: &[],
};

static STATIC: Record = Record {
    name: "embed_static",
    doc: "Token vectors in process (model2vec, WordLlama): the mean of a text's token vectors.",
    fields: &[MODEL_PLACE_FIELD],
    together: &[],
};

static BERT: Record = Record {
    name: "embed_bert",
    doc: "A sentence transformer of the BERT family in process (all-MiniLM-L6-v2, BGE, E5); only in a ragstage that was built \
          with the cargo feature `bert`.",
    fields: &[
        MODEL_PLACE_FIELD,
        Field {
            name: "pooling",
            doc: "How token states become a vector; what the model's `1_Pooling/config.json` says by default, else `mean`.",
            shape: Shape::Choice(&[
                Choice { word: "mean", doc: "the mean of all tokens" },
                Choice { word: "cls", doc: "the first token" },
            ]),
            need: Need::Optional,
        },
        Field {
            name: "max_tokens",
            doc: "Tokens at which a text is cut; what the model's `sentence_bert_config.json` says by default, else as many as \
                  the model has positions.",
            shape: Shape::Int { min: 8, max: 65_536 },
            need: Need::Optional,
        },
        QUERY_PREFIX_FIELD,
        PASSAGE_PREFIX_FIELD,
    ],
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
        QUERY_PREFIX_FIELD,
        PASSAGE_PREFIX_FIELD,
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
    /// Token vectors of this model.
    Static(ModelPlace),
    /// An endpoint.
    OpenAi(OpenAiEmbedder),
    /// A sentence transformer.
    Bert(BertConfig),
}

/// A sentence transformer as the evaluation file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BertConfig {
    /// The model.
    pub model: ModelPlace,
    /// How token states become a vector, where that is not as the model's files say.
    pub pooling: Option<Pooling>,
    /// Tokens at which a text is cut, where that is not as the model's files say.
    pub max_tokens: Option<u32>,
    /// Put before every query.
    pub query_prefix: String,
    /// Put before every passage.
    pub passage_prefix: String,
}

/// The embedder that a checked `embed` stands for; `base` is the folder of the evaluation file.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> Option<EmbedConfig> {
    let text = |key: &str| view.get(key).text().unwrap_or_default().to_string();
    match view.get("provider").text()? {
        "hashing" => {
            Some(EmbedConfig::Hashing(HashingEmbedder { dimensions: view.get("dimensions").int().unwrap_or(1024) }))
        }
        "static" => model_place::convert(&view.get("model"), base, environment, faults).map(EmbedConfig::Static),
        "bert" => {
            if !HAS_BERT {
                let provider = view.get("provider");
                let message = "this ragstage was built without sentence transformers in process";
                let hint = "build it with them: cargo build --release --features bert; or ask a server that has the model: \
                            `provider: openai`";
                faults.add_hint(provider.start(), &provider.path, message, hint.to_string());
            }
            Some(EmbedConfig::Bert(BertConfig {
                model: model_place::convert(&view.get("model"), base, environment, faults)?,
                pooling: view.get("pooling").choice(),
                max_tokens: view.get("max_tokens").int(),
                query_prefix: text("query_prefix"),
                passage_prefix: text("passage_prefix"),
            }))
        }
        "openai" => Some(EmbedConfig::OpenAi(OpenAiEmbedder {
            model: text("model"),
            endpoint: endpoint::convert(view, environment, faults),
            dimensions: view.get("dimensions").int(),
            normalize: view.get("normalize").bool().unwrap_or(true),
            query_prefix: text("query_prefix"),
            passage_prefix: text("passage_prefix"),
            batch: view.get("batch").int().unwrap_or(32),
            price: endpoint::price(view),
        })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ragstage_stages::error::Place;

    use super::super::view::tests::checked;
    use super::*;
    use crate::models::ModelHome;

    fn environment(name: &str) -> Option<String> {
        (name == "HOME").then(|| "/home/me".to_string())
    }

    fn read(text: &str) -> Result<Option<EmbedConfig>, Vec<String>> {
        checked(text, &Shape::Tagged(&EMBED), |view, faults| convert(view, Path::new("base"), &environment, faults))
    }

    fn named(model: &str, column: u64) -> ModelPlace {
        let home = ModelHome::of(&environment).expect("a home");
        let at = Place::at("f", 1, column);
        ModelPlace { model: model.to_string(), folder: home.folder(model), home: Some(home), at }
    }

    #[test]
    fn embedders_in_process() {
        assert_eq!(
            read("{provider: hashing}").unwrap(),
            Some(EmbedConfig::Hashing(HashingEmbedder { dimensions: 1024 }))
        );
        assert_eq!(
            read("{provider: static, model: potion-8m}").unwrap(),
            Some(EmbedConfig::Static(named("potion-8m", 27)))
        );
        let faults = read("{provider: static, dimensions: 3}").unwrap_err();
        assert!(faults.iter().any(|fault| fault.contains("`model`")), "{faults:?}");
        assert!(faults.iter().any(|fault| fault.contains("`dimensions`")), "{faults:?}");
    }

    #[test]
    fn sentence_transformers_need_a_build_that_has_them() {
        let text = "{provider: bert, model: e5, pooling: cls, max_tokens: 128, query_prefix: 'query: '}";
        let found = read(text);
        if HAS_BERT {
            let config = BertConfig {
                model: named("e5", 25),
                pooling: Some(Pooling::Cls),
                max_tokens: Some(128),
                query_prefix: "query: ".to_string(),
                passage_prefix: String::new(),
            };
            assert_eq!(found.unwrap(), Some(EmbedConfig::Bert(config)));
        } else {
            let faults = found.unwrap_err();
            assert!(faults.len() == 1 && faults[0].starts_with("1:12 provider: "), "{faults:?}");
            assert!(faults[0].contains("--features bert"), "{faults:?}");
        }
    }
}
