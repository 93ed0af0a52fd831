//! Reference ids: what they may mean.

use std::borrow::Cow;

use crate::artifact::{Evidence, Hit};
use crate::score::locator::chunk_ids;
use crate::score::source::{KEY, KEYS, document_ids, texts};

/// All that a reference id may mean: the hit's own id, one of its `chunk_ids`, its document's id, one of its source keys.
pub(crate) fn ids(hit: &Hit) -> Vec<Cow<'_, str>> {
    let mut ids = chunk_ids(hit);
    ids.extend(document_ids(hit));
    ids.extend(texts(hit, &KEY, &KEYS));
    ids
}

/// Whether the reference id of `piece` is one of the hit's ids; `None` where one of the two has none.
pub(crate) fn refers(piece: &Evidence, hit: &Hit) -> Option<bool> {
    let reference = piece.reference()?;
    if hit.id == reference {
        return Some(true);
    }
    let ids = ids(hit);
    (!ids.is_empty()).then(|| ids.iter().any(|id| id == reference))
}
