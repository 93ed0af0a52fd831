//! Small documents in binary formats, made by the tests.

// Each test target uses its own part of it.
#![allow(dead_code, unused_imports)]

mod docx;
mod pdf;

pub use docx::{archive, docx, paragraph};
pub use pdf::{MadePage, line, pdf};
