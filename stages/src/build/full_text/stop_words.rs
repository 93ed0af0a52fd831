//! Our own stop word lists: fixed here, so that no upgrade of a dependency changes an index unseen.

/// The 33 words that Lucene's `EnglishAnalyzer` leaves out (`EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`).
const ENGLISH: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

/// The default stop words of a language; empty for all but `english` and `porter`.
pub fn stop_words_of(language: &str) -> &'static [&'static str] {
    match language {
        "english" | "porter" => &ENGLISH,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_whole() {
        assert!(ENGLISH.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(stop_words_of("english").len(), 33);
        assert_eq!(stop_words_of("porter"), stop_words_of("english"));
        assert!(stop_words_of("german").is_empty());
    }
}
