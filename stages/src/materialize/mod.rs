//! Materialize: documents become parsed pages.

mod action;
mod content_type;
mod encoding;
mod html;
mod html_page;
mod markdown;
mod options;
mod parser;
mod text;

pub use action::Materialize;
pub use options::{ParseOptions, UnknownEncoding};
