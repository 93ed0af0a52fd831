//! Options of `full_text_search`.

use ragstage_stages::query::search::{FullTextSearch, SearchMode};

use super::super::diagnostic::Faults;
use super::super::shape::Record;
use super::super::view::View;
use super::modes::Modes;

/// What its options accept.
pub(super) static OPTIONS: Record =
    Record { name: "full_text_search", doc: "BM25; it is tuned in `recipe.full_text`.", fields: &[], together: &[] };

pub(super) fn convert(_: &View<'_>, _: &Modes<'_>, _: &mut Faults) -> Option<SearchMode> {
    Some(SearchMode::FullText(FullTextSearch))
}
