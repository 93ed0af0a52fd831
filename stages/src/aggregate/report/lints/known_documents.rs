//! The documents of a benchmark, by all that they are called.

use std::collections::HashMap;

use crate::artifact::{Document, Documents, Hit};
use crate::score::hit_ids;

/// Documents by id and by source key.
pub(super) struct KnownDocuments<'a> {
    documents: &'a Documents,
    rows: HashMap<&'a str, u32>,
}

impl<'a> KnownDocuments<'a> {
    /// The names of `documents`.
    pub(super) fn of(documents: &'a Documents) -> Self {
        let mut rows = HashMap::with_capacity(2 * documents.rows.len());
        for (row, document) in (0u32..).zip(&documents.rows) {
            rows.insert(document.source_key.as_str(), row);
        }
        // An id that is the source key of another document means the document whose id it is.
        for (row, document) in (0u32..).zip(&documents.rows) {
            rows.insert(document.document_id.as_str(), row);
        }
        KnownDocuments { documents, rows }
    }

    /// The position of the document called `name`.
    pub(super) fn row(&self, name: &str) -> Option<u32> {
        self.rows.get(name).copied()
    }

    /// The document at `row`.
    pub(super) fn document(&self, row: u32) -> Option<&'a Document> {
        self.documents.rows.get(row as usize)
    }

    /// Whether `hit` names one of them.
    pub(super) fn is_named_by(&self, hit: &Hit) -> bool {
        hit_ids(hit).iter().any(|id| self.row(id).is_some())
    }
}
