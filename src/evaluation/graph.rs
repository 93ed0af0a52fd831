//! `recipe.graph`: who finds entities and relations.

use ragstage_stages::build::graph::{GraphExtractor, GraphOptions};

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
        Field { name: "llm", doc: "Name of an entry of `models`.", shape: TEXT, need: Need::Optional },
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
        Some("llm") if !llm.is_given() => {
            let hint = "name an entry of `models` with `llm`".to_string();
            faults.add_hint(view.start(), &view.path, "missing `llm`, the model that extracts", hint);
            return None;
        }
        Some("llm") => GraphExtractor::Llm(models.find(&llm, faults)?),
        _ => GraphExtractor::Lexical,
    };
    Some(GraphOptions { extractor })
}
