//! The normal form in which OpenViking's benchmark compares texts (spec/openviking 6.1).

use super::plain_text::plain_text;

/// Without commas, in lower case, without the other ASCII punctuation (deleted, so that `low-hanging` is one word and 2.5
/// is 25), and without the whole words `a`, `an`, `the` and `and`; words one space apart.
pub fn normalize(text: &str) -> String {
    const ARTICLES: [&str; 4] = ["a", "an", "the", "and"];
    if text.is_ascii() || !text.contains(',') {
        return plain_text(text, &ARTICLES);
    }
    // Commas go before letter case: whether a sigma is a final one hangs on what is beside it.
    plain_text(&text.replace(',', ""), &ARTICLES)
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
