//! `models`: the chat models that recipes, queries and answers name.

use std::sync::Arc;

use ragstage_stages::model::{ChatModel, Endpoint, Price};

use super::diagnostic::Faults;
use super::endpoint::{self, API_KEY_FIELD, BASE_URL_FIELD, HEADERS_FIELD, LABEL_FIELD, MODEL_FIELD, PRICE_FIELD};
use super::listed::{self, Listed};
use super::name::NAME;
use super::shape::{Field, Need, Record, Shape};
use super::view::View;

/// What an entry of `models` accepts.
pub(super) static MODEL: Record = Record {
    name: "model",
    doc: "A chat model behind an OpenAI-compatible endpoint.",
    fields: &[
        Field { name: "name", doc: "What this file calls it, unique in it.", shape: NAME, need: Need::Required },
        MODEL_FIELD,
        BASE_URL_FIELD,
        LABEL_FIELD,
        API_KEY_FIELD,
        HEADERS_FIELD,
        Field {
            name: "structured",
            doc: "Whether the server takes `response_format: json_schema`; if not, replies are asked for in words and \
                  checked all the same.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
        PRICE_FIELD,
    ],
    together: &[],
};

/// A model behind an endpoint, as its replies are kept: by kind, name and endpoint, and not by URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedModel {
    /// `chat model`, `reranker` or `embedder`.
    pub kind: &'static str,
    /// The model's own name.
    pub model: String,
    /// What the endpoint is called.
    pub endpoint: String,
    /// Where it is.
    pub base_url: String,
    /// Whether the file says what it costs.
    pub priced: bool,
}

impl ServedModel {
    /// The model `model` at `endpoint`.
    pub(super) fn of(kind: &'static str, model: &str, endpoint: &Endpoint, price: Price) -> Self {
        ServedModel {
            kind,
            model: model.to_string(),
            endpoint: endpoint.label.clone(),
            base_url: endpoint.base_url.clone(),
            priced: price != Price::default(),
        }
    }
}

impl Listed for Arc<ChatModel> {
    const KIND: &'static str = "model";

    fn name(&self) -> &str {
        &self.name
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

/// The models as far as they are known.
pub(super) struct Models {
    /// Those without fault.
    pub list: Vec<Arc<ChatModel>>,
    /// Whether a fault hides one.
    pub incomplete: bool,
}

impl Models {
    /// The model that the text at `view` names; reports the name if there is none.
    pub(super) fn find(&self, view: &View<'_>, faults: &mut Faults) -> Option<Arc<ChatModel>> {
        listed::find(&self.list, self.incomplete, view, faults).cloned()
    }

    /// The model that judges where no evaluator names one: the one called `judge`, else the only one there is.
    pub(super) fn judging(&self) -> Option<&Arc<ChatModel>> {
        match self.list.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|model| model.name == "judge"),
        }
    }
}

/// The models that a checked list stands for.
pub(super) fn convert(view: &View<'_>, environment: &dyn Fn(&str) -> Option<String>, faults: &mut Faults) -> Models {
    let mut models = Models { list: Vec::new(), incomplete: false };
    for item in view.items().unwrap_or_default() {
        let name = item.get("name");
        let endpoint = endpoint::convert(&item, environment, faults);
        let (Some(text), Some(model)) = (name.text(), item.get("model").text()) else {
            models.incomplete = true;
            continue;
        };
        let model = Arc::new(ChatModel {
            name: text.to_string(),
            model: model.to_string(),
            endpoint,
            structured: item.get("structured").bool().unwrap_or(true),
            price: endpoint::price(&item),
        });
        if listed::may_join(&models.list, &model, &item, faults) {
            models.list.push(model);
        }
    }
    models
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::checked;
    use super::*;

    const LIST: Shape = Shape::List { of: &Shape::Record(&MODEL), least: 0 };

    fn read(text: &str) -> Result<Vec<Arc<ChatModel>>, Vec<String>> {
        let environment = |name: &str| (name == "KEY").then(|| "s3cret-value".to_string());
        checked(text, &LIST, |view, faults| convert(view, &environment, faults).list)
    }

    #[test]
    fn a_model_has_an_endpoint_a_key_and_a_price() {
        let models = read(
            "[{name: small, model: m, base_url: 'http://host/v1/', api_key_env: KEY, price: {input_per_million: 0.5}}]",
        )
        .unwrap();
        let model = &models[0];
        assert_eq!((model.model.as_str(), model.endpoint.base_url.as_str()), ("m", "http://host/v1"));
        assert_eq!(model.endpoint.headers, [("Authorization".to_string(), "Bearer s3cret-value".to_string())]);
        assert_eq!((model.endpoint.label.as_str(), model.structured), ("default", true));
        assert_eq!(model.price.input_per_million, 0.5);
        assert!(!format!("{model:?}").contains("s3cret"));
    }

    #[test]
    fn names_servers_and_keys_are_checked() {
        for (text, expected) in [
            (
                "[{name: a, model: m, base_url: 'http://h/v1?key=abc'}]",
                "1:32 [0].base_url: expected a URL without `?` and `#`: paths are put after it [end it with the path, as in \
                 https://host/v1; what a server wants beside it, send as `headers`]",
            ),
            (
                "[{name: a, model: m, base_url: 'http://h/v1', api_key_env: NOPE}]",
                "1:60 [0].api_key_env: the environment variable `NOPE` is not set [set NOPE in the environment that \
                 ragstage is started in]",
            ),
            (
                "[{name: a, model: m, base_url: 'http://h/v1'}, {name: a, model: n, base_url: 'http://h/v1'}]",
                "1:55 [1].name: two models are named `a` [give one of them another `name`]",
            ),
            (
                "[{name: a, model: m, base_url: 'http://h/v1'}, {name: b, model: m, base_url: 'http://i/v1'}]",
                "1:78 [1].base_url: the same model and endpoint as those of `a`, at another URL [give different servers \
                 different `endpoint`s: replies are kept by these, not by URL]",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), [expected], "{text}");
        }
    }
}
