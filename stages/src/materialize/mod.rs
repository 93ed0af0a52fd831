//! Materialize: documents become parsed pages.

mod action;
mod caught;
mod content_type;
mod csv;
mod docx;
mod encoding;
mod heading_title;
mod html;
#[cfg(test)]
#[path = "../../tests/made_documents/mod.rs"]
mod made_documents;
mod markdown;
mod open_tag;
mod options;
mod page_writer;
mod parser;
mod pdf;
mod text;

pub use action::Materialize;
pub use docx::{DocxError, openviking_markdown};
pub use options::{ParseOptions, UnknownEncoding};
