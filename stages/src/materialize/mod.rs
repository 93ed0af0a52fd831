//! Materialize: documents become parsed pages.

mod action;
mod content_type;
mod encoding;
mod heading_title;
mod html;
mod html_page;
mod markdown;
mod open_tag;
mod options;
mod parser;
mod text;

pub use action::Materialize;
pub use options::{ParseOptions, UnknownEncoding};
