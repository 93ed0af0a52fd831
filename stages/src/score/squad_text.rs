//! The normal form in which SQuAD's own script, and HotpotQA's after it, compares answers.

use super::plain_text::{PlainWords, plain_text};

const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// In lower case, without ASCII punctuation, without the whole words `a`, `an` and `the`; words one space apart.
pub(crate) fn normalize(text: &str) -> String {
    plain_text(text, &ARTICLES)
}

/// The words of that.
pub(crate) fn words(text: &str) -> PlainWords {
    PlainWords::of(text, &ARTICLES)
}
