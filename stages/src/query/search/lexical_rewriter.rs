//! Other wordings of a query without a model.

use super::query_words::{QueryWord, query_words};
use crate::build::full_text::{Analyzer, AnalyzerOptions};
use crate::error::StageError;
use crate::step::Step;

/// Words at which a query falls into parts.
const CONJUNCTIONS: [&str; 8] = ["and", "but", "or", "than", "versus", "vs", "vs.", "while"];

/// From this many words on, half of them is a query.
const WORDS_TO_HALVE: usize = 4;

/// Finds other wordings in the query itself, in this order: its words without stop words and question words; its parts
/// between conjunctions, commas, semicolons and question marks, where at least two parts have two such words each; the
/// longer half of the words, for long words are rare ones (Zipf 1935). What would find the same terms as an earlier wording
/// is left out.
pub(super) struct LexicalRewriter {
    analyzer: Analyzer,
}

impl LexicalRewriter {
    /// A rewriter with the English analyzer, whose bigrams serve scripts without blanks.
    pub(super) fn new() -> Result<Self, StageError> {
        let analyzer = Analyzer::new(&AnalyzerOptions::default());
        Ok(LexicalRewriter { analyzer: analyzer.map_err(|why| StageError::encode(Step::Retrieve, why))? })
    }

    /// At most `most` wordings other than `query`; none where there is nothing to leave out.
    pub(super) fn wordings(&self, query: &str, most: usize) -> Vec<String> {
        let words = query_words(&self.analyzer, query);
        let mut wordings = vec![joined(&words)];
        let parts: Vec<Vec<QueryWord>> = parts(query)
            .iter()
            .map(|part| query_words(&self.analyzer, part))
            .filter(|words| words.len() >= 2)
            .collect();
        if parts.len() >= 2 {
            wordings.extend(parts.iter().map(|words| joined(words)));
        }
        if words.len() >= WORDS_TO_HALVE {
            wordings.push(joined(&longer_half(&words)));
        }
        let mut known = vec![self.analyzer.terms(query)];
        wordings.retain(|wording| {
            let terms = self.analyzer.terms(wording);
            let new = !terms.is_empty() && !known.contains(&terms);
            known.push(terms);
            new
        });
        wordings.truncate(most);
        wordings
    }
}

fn joined(words: &[QueryWord]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The longer half of `words`, in their order; of equally long ones, those that come first.
fn longer_half(words: &[QueryWord]) -> Vec<QueryWord> {
    let mut positions: Vec<usize> = (0..words.len()).collect();
    let length = |&position: &usize| words.get(position).map_or(0, |word| word.text.chars().count());
    positions.sort_by_key(|position| std::cmp::Reverse(length(position)));
    positions.truncate(words.len().div_ceil(2));
    positions.sort_unstable();
    positions.into_iter().filter_map(|position| words.get(position).cloned()).collect()
}

/// The parts of a query between conjunctions and marks. An ASCII mark within a word, as in `1,000`, ends no part.
fn parts(query: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut words = query.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if CONJUNCTIONS.contains(&word.to_lowercase().as_str()) {
            parts.push(String::new());
            continue;
        }
        let end = word.ends_with([',', ';', '?']);
        for (piece, text) in word.split(['，', '；', '？', '、']).enumerate() {
            if piece > 0 {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut() {
                part.push(' ');
                part.push_str(text);
            }
        }
        if end && words.peek().is_some() {
            parts.push(String::new());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wordings(query: &str, most: usize) -> Vec<String> {
        LexicalRewriter::new().expect("rewriter").wordings(query, most)
    }

    #[test]
    fn words_then_parts_then_the_longer_half() {
        let query = "When was the lighthouse built, and who unloads grain at the quay?";
        let expected = [
            "lighthouse built unloads grain quay",
            "lighthouse built",
            "unloads grain quay",
            "lighthouse built unloads",
        ];
        assert_eq!(wordings(query, 9), expected);
        assert_eq!(wordings(query, 2), expected[..2]);
    }

    #[test]
    fn what_finds_the_same_is_left_out() {
        // Without stop words and question words: the analyzer would find the same terms.
        assert!(wordings("the harbour", 3).is_empty());
        assert_eq!(wordings("What is the harbour?", 3), ["harbour"]);
        assert!(wordings("what is it?", 3).is_empty());
    }

    #[test]
    fn marks_within_words_end_no_part() {
        assert_eq!(parts("1,000 ships; grain"), [" 1,000 ships;", " grain"]);
        assert_eq!(parts("灯塔何时建成，谁看守？"), [" 灯塔何时建成", " 谁看守", " "]);
    }
}
