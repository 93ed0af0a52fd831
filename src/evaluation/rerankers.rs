//! `rerankers`: the cross-encoders that queries name.

use std::sync::Arc;

use ragstage_stages::model::{Endpoint, RerankApi, Reranker};

use super::diagnostic::Faults;
use super::endpoint::{self, API_KEY_FIELD, BASE_URL_FIELD, HEADERS_FIELD, LABEL_FIELD, MODEL_FIELD, PRICE_FIELD};
use super::listed::{self, Listed};
use super::name::NAME;
use super::shape::{Choice, Field, Need, Record, Shape};
use super::view::View;

/// What an entry of `rerankers` accepts.
pub(super) static RERANKER: Record = Record {
    name: "reranker",
    doc: "A cross-encoder behind a `/v1/rerank` endpoint, as vLLM, TEI, Jina and Cohere serve it.",
    fields: &[
        Field { name: "name", doc: "What this file calls it, unique in it.", shape: NAME, need: Need::Required },
        MODEL_FIELD,
        BASE_URL_FIELD,
        LABEL_FIELD,
        API_KEY_FIELD,
        HEADERS_FIELD,
        Field {
            name: "api",
            doc: "How requests are written; in no key.",
            shape: Shape::Choice(&[
                Choice { word: "cohere", doc: "`documents` and `top_n`: Cohere, Jina, vLLM, llama.cpp" },
                Choice { word: "tei", doc: "`texts`: text-embeddings-inference" },
            ]),
            need: Need::Default("\"cohere\""),
        },
        Field {
            name: "batch",
            doc: "Candidates per request, in no key; 1000 by default, and 32 for `tei`.",
            shape: Shape::Int { min: 1, max: 100_000 },
            need: Need::Optional,
        },
        PRICE_FIELD,
    ],
    together: &[],
};

impl Listed for (String, Arc<Reranker>) {
    const KIND: &'static str = "reranker";

    fn name(&self) -> &str {
        &self.0
    }

    fn model(&self) -> &str {
        &self.1.model
    }

    fn endpoint(&self) -> &Endpoint {
        &self.1.endpoint
    }
}

/// The rerankers as far as they are known.
#[derive(Default)]
pub(super) struct Rerankers {
    /// Those without fault, by name.
    pub list: Vec<(String, Arc<Reranker>)>,
    /// Whether a fault hides one.
    pub incomplete: bool,
}

impl Rerankers {
    /// The reranker that the text at `view` names; reports the name if there is none.
    pub(super) fn find(&self, view: &View<'_>, faults: &mut Faults) -> Option<Arc<Reranker>> {
        listed::find(&self.list, self.incomplete, view, faults).map(|(_, reranker)| reranker.clone())
    }
}

/// The rerankers that a checked list stands for.
pub(super) fn convert(view: &View<'_>, environment: &dyn Fn(&str) -> Option<String>, faults: &mut Faults) -> Rerankers {
    let mut rerankers = Rerankers::default();
    for item in view.items().unwrap_or_default() {
        let name = item.get("name");
        let endpoint = endpoint::convert(&item, environment, faults);
        let (Some(text), Some(model)) = (name.text(), item.get("model").text()) else {
            rerankers.incomplete = true;
            continue;
        };
        let api: RerankApi = item.get("api").choice().unwrap_or_default();
        let reranker = Reranker {
            model: model.to_string(),
            endpoint,
            api,
            batch: item.get("batch").int().unwrap_or(api.batch()),
            price: endpoint::price(&item),
        };
        let entry = (text.to_string(), Arc::new(reranker));
        if listed::may_join(&rerankers.list, &entry, &item, faults) {
            rerankers.list.push(entry);
        }
    }
    rerankers
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::checked;
    use super::*;

    const LIST: Shape = Shape::List { of: &Shape::Record(&RERANKER), least: 0 };

    fn read(text: &str) -> Result<Vec<(String, Arc<Reranker>)>, Vec<String>> {
        checked(text, &LIST, |view, faults| convert(view, &|_| None, faults).list)
    }

    #[test]
    fn a_reranker_has_a_name_of_its_own() {
        let rerankers = read("[{name: bge, model: BAAI/bge-reranker-v2-m3, base_url: 'http://host/v1/'}]").unwrap();
        let (name, reranker) = &rerankers[0];
        assert_eq!((name.as_str(), reranker.model.as_str()), ("bge", "BAAI/bge-reranker-v2-m3"));
        assert_eq!(
            (reranker.endpoint.base_url.as_str(), reranker.endpoint.label.as_str()),
            ("http://host/v1", "default")
        );
    }

    #[test]
    fn an_api_has_its_own_batch() {
        let api = |options: &str| {
            let text = format!("[{{name: a, model: m, base_url: 'http://h/v1'{options}}}]");
            let reranker = read(&text).unwrap().remove(0).1;
            (reranker.api, reranker.batch)
        };
        assert_eq!(api(""), (RerankApi::Cohere, 1000));
        assert_eq!(api(", api: tei"), (RerankApi::Tei, 32));
        assert_eq!(api(", api: tei, batch: 8"), (RerankApi::Tei, 8));
    }

    #[test]
    fn names_and_servers_are_told_apart() {
        for (text, expected) in [
            (
                "[{name: a, model: m, base_url: 'http://h/v1'}, {name: a, model: n, base_url: 'http://h/v1'}]",
                "1:55 [1].name: two rerankers are named `a` [give one of them another `name`]",
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
