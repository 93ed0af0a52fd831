//! The normal form in which OpenViking's benchmark compares texts (spec/openviking 6.1).

use std::borrow::Cow;

use super::plain_text::{PlainWords, plain_text};

const ARTICLES: [&str; 4] = ["a", "an", "the", "and"];

/// Without commas, in lower case, without the other ASCII punctuation (deleted, so that `low-hanging` is one word and 2.5
/// is 25), and without the whole words `a`, `an`, `the` and `and`; words one space apart.
pub fn normalize(text: &str) -> String {
    plain_text(&without_commas(text), &ARTICLES)
}

/// The words of that.
pub(crate) fn words(text: &str) -> PlainWords {
    PlainWords::of(&without_commas(text), &ARTICLES)
}

/// Commas go before letter case: whether a sigma is a final one hangs on what is beside it. In ASCII it makes no difference.
fn without_commas(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(',') { text.into() } else { text.replace(',', "").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_go_before_letter_case() {
        assert_eq!(normalize("Σ,Α ΑΣ,"), "σα ας");
        assert_eq!(normalize("Salt & the pepper, and 1,204.5"), "salt pepper 12045");
    }
}
