//! Ranking passages for a query without a model.

use std::collections::HashSet;

use super::query_words::query_words;
use crate::build::full_text::{Analyzer, AnalyzerOptions};
use crate::error::StageError;
use crate::step::Step;

/// Ranks passages by the share of the query's terms that they have, each term weighted by its idf among the passages:
/// a baseline that sees neither word order nor meaning, for where there is no model.
pub(super) struct LexicalReranker {
    analyzer: Analyzer,
}

impl LexicalReranker {
    /// A reranker with the English analyzer, whose bigrams serve scripts without blanks.
    pub(super) fn new() -> Result<Self, StageError> {
        let analyzer = Analyzer::new(&AnalyzerOptions::default());
        Ok(LexicalReranker { analyzer: analyzer.map_err(|why| StageError::encode(Step::Retrieve, why))? })
    }

    /// A score from 0 to 1 for each of `texts`, higher is better.
    pub(super) fn scores(&self, query: &str, texts: &[&str]) -> Vec<f64> {
        let mut terms: Vec<String> = Vec::new();
        for word in query_words(&self.analyzer, query) {
            if !terms.contains(&word.term) {
                terms.push(word.term);
            }
        }
        let passages: Vec<HashSet<String>> =
            texts.iter().map(|text| self.analyzer.terms(text).into_iter().collect()).collect();
        let count = texts.len() as f64;
        // The idf of BM25 (Robertson and Zaragoza 2009, with Lucene's 1 + in the logarithm, so that it is above 0).
        let idf = |term: &String| {
            let df = passages.iter().filter(|passage| passage.contains(term)).count() as f64;
            (1.0 + (count - df + 0.5) / (df + 0.5)).ln()
        };
        let weighted: Vec<(&String, f64)> = terms.iter().map(|term| (term, idf(term))).collect();
        let all: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let share = |passage: &HashSet<String>| {
            let had: f64 = weighted.iter().filter(|(term, _)| passage.contains(*term)).map(|(_, weight)| weight).sum();
            if all > 0.0 { had / all } else { 0.0 }
        };
        passages.iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(query: &str, texts: &[&str]) -> Vec<f64> {
        LexicalReranker::new().expect("reranker").scores(query, texts)
    }

    #[test]
    fn by_hand() {
        let found = scores("Which ships unload grain? Grain!", &["a ship unloaded grain", "shipping news", "ships"]);
        // N = 3. All three have `ship`, for `shipping` has the same stem; one has `unload` and `grain`.
        let (ship, rare) = ((1.0 + 0.5 / 3.5f64).ln(), (1.0 + 2.5 / 1.5f64).ln());
        let all = ship + rare + rare;
        for (found, expected) in found.iter().zip([1.0, ship / all, ship / all]) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_rare_term_weighs_more_than_a_frequent_one() {
        let found = scores("lighthouse keeper", &["lighthouse", "keeper", "keeper", "sand"]);
        assert!(found[0] > found[1] && found[1] == found[2] && found[3] == 0.0, "{found:?}");
    }

    #[test]
    fn nothing_in_common_is_0() {
        assert_eq!(scores("what is it", &["it is"]), [0.0]);
        assert!(scores("ship", &[]).is_empty());
    }
}
