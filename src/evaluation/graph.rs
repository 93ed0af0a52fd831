//! `recipe.graph`: who finds entities and relations.

use ragstage_stages::build::graph::{
    DEFAULT_MAX_ENTITIES, DEFAULT_MAX_TOKENS, GraphExtractor, GraphOptions, LlmExtractor,
};

use super::diagnostic::Faults;
use super::models::Models;
use super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::view::View;

/// What `graph` accepts.
pub(super) static GRAPH: Record = Record {
    name: "graph",
    doc: "A graph of entities and relations, for `graph_search`.",
    fields: &[
        Field {
            name: "extractor",
            doc: "Who finds entities and relations in a chunk.",
            shape: Shape::Choice(&[
                Choice { word: "lexical", doc: "names and terms by form and place; no model" },
                Choice { word: "llm", doc: "the chat model at `llm`" },
            ]),
            need: Need::Default("\"lexical\""),
        },
        Field {
            name: "max_entities",
            doc: "Most entities of a chunk; relations may be twice as many.",
            shape: Shape::Int { min: 1, max: 1000 },
            need: Need::Default("24"),
        },
        Field { name: "llm", doc: "Name of an entry of `models`.", shape: TEXT, need: Need::Optional },
        Field {
            name: "max_tokens",
            doc: "Most tokens of a reply of `llm`; 1024 by default.",
            shape: Shape::Int { min: 16, max: 1_000_000 },
            need: Need::Optional,
        },
        Field {
            name: "entity_types",
            doc: "The types that `llm` may give entities; any by default.",
            shape: Shape::List { of: &TEXT, least: 1 },
            need: Need::Optional,
        },
    ],
    together: &[],
};

/// The options that a checked `graph` stands for.
pub(super) fn convert(view: &View<'_>, models: &Models, faults: &mut Faults) -> Option<GraphOptions> {
    if !view.is_given() {
        return None;
    }
    let llm = view.get("llm");
    let extractor = match view.get("extractor").text() {
        Some("llm") if view.is_faulty("llm") => return None,
        Some("llm") if !llm.is_given() => {
            let hint = "name an entry of `models` with `llm`".to_string();
            faults.add_hint(view.start(), &view.path, "missing `llm`, the model that extracts", hint);
            return None;
        }
        Some("llm") => GraphExtractor::Llm(LlmExtractor {
            model: models.find(&llm, faults)?,
            max_tokens: view.get("max_tokens").int().unwrap_or(DEFAULT_MAX_TOKENS),
            entity_types: view.get("entity_types").texts().unwrap_or_default(),
        }),
        _ => {
            for key in ["llm", "max_tokens", "entity_types"] {
                let given = view.get(key);
                if given.is_given() {
                    let message = format!("`{key}` has no meaning beside `extractor: lexical`");
                    faults.add_hint(
                        given.start(),
                        &given.path,
                        message,
                        format!("add `extractor: llm`, or remove `{key}`"),
                    );
                }
            }
            GraphExtractor::Lexical
        }
    };
    Some(GraphOptions { extractor, max_entities: view.get("max_entities").int().unwrap_or(DEFAULT_MAX_ENTITIES) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ragstage_stages::model::{ChatModel, Endpoint, Price};

    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn model() -> Arc<ChatModel> {
        Arc::new(ChatModel {
            name: "small".to_string(),
            model: "m".to_string(),
            endpoint: Endpoint {
                label: "default".to_string(),
                base_url: "http://h/v1".to_string(),
                headers: Vec::new(),
                variables: Vec::new(),
            },
            structured: true,
            price: Price::default(),
        })
    }

    fn read(text: &str) -> Result<Option<GraphOptions>, Vec<String>> {
        let models = Models { list: vec![model()], incomplete: false };
        checked(text, &Shape::Record(&GRAPH), |view, faults| convert(view, &models, faults))
    }

    #[test]
    fn no_model_by_default() {
        let expected = GraphOptions { extractor: GraphExtractor::Lexical, max_entities: DEFAULT_MAX_ENTITIES };
        assert_eq!(read("{}").unwrap(), Some(expected.clone()));
        assert_eq!(read(&spelled_out(GRAPH.fields)).unwrap(), Some(expected));
    }

    #[test]
    fn a_model_with_its_options() {
        let text = "{extractor: llm, llm: small, max_tokens: 200, entity_types: [port, ship], max_entities: 5}";
        let llm = LlmExtractor {
            model: model(),
            max_tokens: 200,
            entity_types: vec!["port".to_string(), "ship".to_string()],
        };
        assert_eq!(read(text).unwrap(), Some(GraphOptions { extractor: GraphExtractor::Llm(llm), max_entities: 5 }));
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        for (text, expected) in [
            ("{extractor: llm}", "1:1 : missing `llm`, the model that extracts [name an entry of `models` with `llm`]"),
            ("{extractor: llm, llm: smal}", "1:23 llm: no model is named `smal` [did you mean `small`?]"),
            (
                "{llm: small}",
                "1:7 llm: `llm` has no meaning beside `extractor: lexical` [add `extractor: llm`, or remove `llm`]",
            ),
            ("{max_entities: 0}", "1:16 max_entities: expected a whole number from 1 to 1000, found 0"),
        ] {
            assert_eq!(read(text).unwrap_err(), [expected], "{text}");
        }
    }
}
