//! Where a model is served: the keys that `models`, `embed` and `reranker` have in common.

use ragstage_stages::model::{Endpoint, Price};

use super::diagnostic::Faults;
use super::secrets::{self, Substituted};
use super::shape::{Field, Need, Range, Record, Shape, TEXT};
use super::system::{URL, check_headers};
use super::view::View;

pub(super) const MODEL_FIELD: Field =
    Field { name: "model", doc: "The model's own name, sent along.", shape: TEXT, need: Need::Required };

pub(super) const BASE_URL_FIELD: Field = Field {
    name: "base_url",
    doc: "The server's URL up to and with `/v1`; in no key.",
    shape: URL,
    need: Need::Required,
};

pub(super) const LABEL_FIELD: Field = Field {
    name: "endpoint",
    doc: "What you call this server. Cached replies go by model and endpoint, so servers that give one model's name to \
          different models need different ones.",
    shape: TEXT,
    need: Need::Default("\"default\""),
};

pub(super) const API_KEY_FIELD: Field = Field {
    name: "api_key_env",
    doc: "Name of the environment variable with the API key, sent as `Authorization: Bearer`; none is sent by default.",
    shape: TEXT,
    need: Need::Optional,
};

pub(super) const HEADERS_FIELD: Field = Field {
    name: "headers",
    doc: "Sent with every request; `${NAME}` in a value is the environment variable NAME.",
    shape: Shape::Secrets,
    need: Need::Optional,
};

pub(super) const PRICE_FIELD: Field = Field {
    name: "price",
    doc: "What the model costs; in no key.",
    shape: Shape::Record(&PRICE),
    need: Need::Optional,
};

const PER_MILLION: Shape = Shape::Float(Range::closed(0.0, 1e6));

static PRICE: Record = Record {
    name: "price",
    doc: "US dollars per million tokens.",
    fields: &[
        Field {
            name: "input_per_million",
            doc: "Of tokens that are read.",
            shape: PER_MILLION,
            need: Need::Default("0"),
        },
        Field {
            name: "output_per_million",
            doc: "Of tokens that are written.",
            shape: PER_MILLION,
            need: Need::Default("0"),
        },
    ],
    together: &[],
};

/// The endpoint that a checked record stands for.
pub(super) fn convert(view: &View<'_>, environment: &dyn Fn(&str) -> Option<String>, faults: &mut Faults) -> Endpoint {
    let headers = view.get("headers");
    let Substituted { mut pairs, mut variables } = secrets::substitute(&headers, environment, faults);
    check_headers(&headers, &pairs, faults);
    let base_url = view.get("base_url");
    if base_url.text().is_some_and(|url| url.contains(['?', '#'])) {
        let hint =
            "end it with the path, as in https://host/v1; what a server wants beside it, send as `headers`".to_string();
        faults.add_hint(
            base_url.start(),
            &base_url.path,
            "expected a URL without `?` and `#`: paths are put after it",
            hint,
        );
    }
    let key = view.get("api_key_env");
    if let Some(name) = key.text() {
        match environment(name).filter(|value| !value.trim().is_empty()) {
            Some(value) => {
                pairs.push(("Authorization".to_string(), format!("Bearer {}", value.trim())));
                variables.push((name.to_string(), value));
            }
            None => faults.add_hint(
                key.start(),
                &key.path,
                format!("the environment variable `{name}` is not set"),
                format!("set {name} in the environment that ragstage is started in"),
            ),
        }
    }
    Endpoint {
        label: view.get("endpoint").text().unwrap_or("default").to_string(),
        base_url: base_url.text().unwrap_or_default().trim_end_matches('/').to_string(),
        headers: pairs,
        variables,
    }
}

/// The price that a checked record states; free where it states none.
pub(super) fn price(view: &View<'_>) -> Price {
    let price = view.get("price");
    Price {
        input_per_million: price.get("input_per_million").float().unwrap_or(0.0),
        output_per_million: price.get("output_per_million").float().unwrap_or(0.0),
    }
}
