//! What a retrieval measure ranks and judges.

use std::borrow::Cow;

use serde_json::Value;

use super::identity::Identity;
use super::source::{document_ids, text_of};
use crate::artifact::{Evidence, Hit};

/// What is ranked and judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RankedUnit {
    /// Documents: a document stands where its first hit stands.
    Document,
    /// Pages: a document's id and the hit's `page_index`.
    Page,
    /// Chunks: the hits themselves.
    Chunk,
}

impl RankedUnit {
    /// The one that the option `unit` names.
    pub(crate) fn of(identity: &Identity) -> Self {
        match () {
            () if identity.is("unit", "page") => RankedUnit::Page,
            () if identity.is("unit", "chunk") => RankedUnit::Chunk,
            () => RankedUnit::Document,
        }
    }

    /// Its name in reasons.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            RankedUnit::Document => "document",
            RankedUnit::Page => "page",
            RankedUnit::Chunk => "chunk",
        }
    }

    /// What `hit` is in the ranking. A hit's document is the first of: an explicit benchmark document id,
    /// `source.document_id`, the document in its `source_key` or `object_key`, the hit's own id. A hit without a page is a page
    /// of its own, which no judgement names.
    pub(crate) fn of_hit(self, hit: &Hit) -> Cow<'_, str> {
        match self {
            RankedUnit::Document => document(hit),
            RankedUnit::Page => match hit.source.get("page_index").and_then(text_of) {
                Some(page) => Cow::Owned(page_of(&document(hit), &page)),
                None => Cow::Owned(page_of(&hit.id, "")),
            },
            RankedUnit::Chunk => Cow::Borrowed(&hit.id),
        }
    }

    /// What `evidence`, which is of `document`, judges; `None` where it judges nothing of this kind.
    pub(crate) fn of_evidence(self, evidence: &Evidence, document: Option<String>) -> Option<String> {
        match self {
            RankedUnit::Document => document,
            RankedUnit::Page => {
                let page = evidence.locator.get("page_index").and_then(text_of)?;
                Some(page_of(&document?, &page))
            }
            RankedUnit::Chunk => match evidence.locator.get("chunk_id").and_then(text_of) {
                Some(chunk) => Some(chunk.into_owned()),
                None => evidence.reference().map(str::to_string),
            },
        }
    }
}

/// No id holds this character, so that no two pages have one name.
fn page_of(document: &str, page: &str) -> String {
    format!("{document}\u{0}{page}")
}

/// What is ranked, as people read it.
pub(crate) fn shown(ranked: &str) -> String {
    ranked.replace('\u{0}', " page ")
}

fn document(hit: &Hit) -> Cow<'_, str> {
    // Most hits carry one id and no other, which is worth no search through all the places where ids may be.
    if let (Some(Value::String(id)), true) = (hit.source.get("document_id"), hit.metadata.is_empty())
        && !id.trim().is_empty()
        && !hit.source.keys().any(|key| key == "origin" || key.contains("beir_") || key.contains("benchmark_"))
    {
        return Cow::Borrowed(id);
    }
    document_ids(hit).next().unwrap_or(Cow::Borrowed(&hit.id))
}
