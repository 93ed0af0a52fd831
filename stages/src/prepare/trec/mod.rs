//! The `trec` adapter: a test collection of documents, topics and judgements, in the formats that such collections have.

mod about;
mod adapter;
mod collection;
mod collection_format;
mod entities;
mod json_lines;
mod judgements;
mod sgml;
mod smart;
mod source_text;
mod topics;
mod tsv;

pub(super) use about::CRANFIELD;
pub use adapter::{QueryIds, Relevance, TopicField, TrecSpec};
