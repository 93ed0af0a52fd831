//! The words of a query that say what is searched for.

use unicode_segmentation::UnicodeSegmentation;

use crate::build::full_text::Analyzer;

/// Words that make a sentence a question, beyond the analyzer's stop words, as they are before stemming.
const QUESTION_WORDS: [&str; 32] = [
    "about", "am", "been", "can", "could", "did", "do", "does", "from", "had", "has", "have", "how", "i", "me", "my",
    "please", "should", "tell", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "would",
    "you", "your", "yours",
];

/// A word that says what is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryWord {
    /// As it is written.
    pub text: String,
    /// As it is compared.
    pub term: String,
}

/// The words of `text` in reading order, with repetitions, without stop words and question words. In scripts without blanks
/// they are the analyzer's bigrams.
pub(super) fn query_words(analyzer: &Analyzer, text: &str) -> Vec<QueryWord> {
    let mut words = Vec::new();
    for piece in text.split_whitespace() {
        let whole = analyzer.terms(piece);
        let spelled: Vec<QueryWord> = piece
            .unicode_words()
            .flat_map(|word| analyzer.terms(word).into_iter().map(|term| QueryWord { text: word.to_string(), term }))
            .collect();
        if spelled.iter().map(|word| &word.term).eq(&whole) {
            words.extend(spelled.into_iter().filter(|word| !is_question_word(&word.text)));
        } else {
            // Words that Unicode cuts in another way than the analyzer: only its terms find anything.
            words.extend(whole.into_iter().map(|term| QueryWord { text: term.clone(), term }));
        }
    }
    words
}

fn is_question_word(word: &str) -> bool {
    QUESTION_WORDS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::full_text::AnalyzerOptions;

    fn words(text: &str) -> Vec<(String, String)> {
        let analyzer = Analyzer::new(&AnalyzerOptions::default()).expect("analyzer");
        query_words(&analyzer, text).into_iter().map(|word| (word.text, word.term)).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(text, term)| (text.to_string(), term.to_string())).collect()
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(QUESTION_WORDS.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn words_keep_their_spelling() {
        let expected = [("Ships", "ship"), ("unload", "unload"), ("well", "well"), ("known", "known")];
        assert_eq!(words("When did the Ships unload (well-known)?"), pairs(&expected));
        assert!(words("What is it?").is_empty());
    }

    #[test]
    fn scripts_without_blanks_give_bigrams() {
        assert_eq!(words("灯塔建 1871"), pairs(&[("灯塔", "灯塔"), ("塔建", "塔建"), ("1871", "1871")]));
    }
}
