//! Asking a mode several things at once, each once.

use std::collections::HashMap;

use super::searcher::{Ask, Found, Search};
use crate::contract::Context;
use crate::error::{RowError, RowErrorKind, StageError};

/// As [`Search::search`], where equal questions are asked once, whoever asks them: what is paid for is paid once, and they all
/// get the same.
pub(super) fn search_distinct(
    search: &dyn Search,
    context: &dyn Context,
    asks: &[Ask<'_>],
) -> Result<Vec<Result<Found, RowError>>, StageError> {
    let mut distinct: Vec<Ask<'_>> = Vec::new();
    let mut known: HashMap<(&str, usize), usize> = HashMap::new();
    let positions: Vec<usize> = asks
        .iter()
        .map(|ask| {
            *known.entry((ask.text, ask.top_k)).or_insert_with(|| {
                distinct.push(*ask);
                distinct.len() - 1
            })
        })
        .collect();
    let found = search.search(context, &distinct)?;
    let lost = || Err(RowError::new(RowErrorKind::BadReply, "the question was not answered"));
    Ok(positions.into_iter().map(|position| found.get(position).cloned().unwrap_or_else(lost)).collect())
}
