//! The `lexical` extractor: names and terms by their form and their place, and which stand together; no model.

mod candidates;
mod name;
mod passage;
mod quotation;
mod script;
mod segment;
mod shape;
mod stop_words;
mod term;
mod word;

pub(super) use passage::{CO_OCCURS, LEXICAL_VERSION, Passage, lexical_facts};
pub(super) use segment::cjk_name_before;
