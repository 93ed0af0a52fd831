//! Options of `vector_search`.

use ragstage_stages::query::search::{SearchMode, VectorSearch};

use super::super::diagnostic::Faults;
use super::super::shape::Record;
use super::super::view::View;
use super::modes::Modes;

/// What its options accept.
pub(super) static OPTIONS: Record = Record {
    name: "vector_search",
    doc: "Nearest vectors; embedder and metric are in `recipe.embed` and `recipe.vector`.",
    fields: &[],
    together: &[],
};

pub(super) fn convert(_: &View<'_>, _: &Modes<'_>, _: &mut Faults) -> Option<SearchMode> {
    Some(SearchMode::Vector(VectorSearch))
}
