//! Options of `hybrid_search`.

use ragstage_stages::query::search::{FullTextSearch, HybridPart, HybridSearch, SearchMode, VectorSearch};

use super::super::diagnostic::Faults;
use super::super::shape::{Field, Need, Range, Record, Shape};
use super::super::view::View;
use super::base_mode::{self, BASE_MODE};
use super::modes::Modes;

/// What its options accept.
pub(super) static OPTIONS: Record = Record {
    name: "hybrid_search",
    doc: "Several modes, fused by reciprocal rank.",
    fields: &[
        Field {
            name: "modes",
            doc: "The modes, each a name or `{mode, options, weight}`; `vector_search` and `full_text_search` by default.",
            shape: Shape::List { of: &BASE_MODE, least: 2 },
            need: Need::Optional,
        },
        Field {
            name: "rrf_k",
            doc: "The constant k in weight / (k + rank).",
            shape: Shape::Float(Range::closed(0.0, 1e6)),
            need: Need::Default("60"),
        },
        Field {
            name: "candidates",
            doc: "How many results each mode gives; 3 * top_k, at least 50, by default.",
            shape: Shape::Int { min: 1, max: 100_000 },
            need: Need::Optional,
        },
    ],
    together: &[],
};

pub(super) fn convert(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    let parts = match view.get("modes").items() {
        None => vec![
            HybridPart { mode: SearchMode::Vector(VectorSearch), weight: 1.0 },
            HybridPart { mode: SearchMode::FullText(FullTextSearch), weight: 1.0 },
        ],
        Some(items) => {
            let mut parts = Vec::with_capacity(items.len());
            for item in items {
                let weight = item.get("weight").float().unwrap_or(1.0);
                parts.push(HybridPart { mode: base_mode::convert(&item, modes, faults)?, weight });
            }
            if parts.iter().all(|part| part.weight == 0.0) {
                let at = view.get("modes");
                let hint = "give one that is to count a `weight` above 0".to_string();
                faults.add_hint(at.start(), &at.path, "every mode has the weight 0, so nothing can be found", hint);
                return None;
            }
            parts
        }
    };
    let rrf_k = view.get("rrf_k").float().unwrap_or(60.0);
    Some(SearchMode::Hybrid(HybridSearch { parts, rrf_k, candidates: view.get("candidates").int() }))
}
