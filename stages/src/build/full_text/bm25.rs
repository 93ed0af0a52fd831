//! BM25 over an [`Index`] (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009), in the
//! form of Lucene since version 8 and so of Anserini:
//!
//! ```text
//! score(d) = sum over query terms t of  idf(t) * tf / (tf + k1 * (1 - b + b * length(d) / average length))
//! idf(t)   = ln(1 + (N - df + 0.5) / (df + 0.5))
//! ```
//!
//! The factor k1 + 1 of the textbook is left out, as Lucene does: it is the same for all documents and changes no ranking.
//! Unlike Lucene's, lengths are exact (not rounded to one byte). N and the average count every document, empty ones too.
//! A term that the query repeats counts as often as it is there. Sums are in f64 in the order in which the query first
//! names its terms, so scores do not depend on the number of threads.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;

use super::analyzer::Analyzer;
use super::index::Index;
use super::options::Bm25Options;

/// Documents that are compared with the lowest kept score at once.
const BLOCK: usize = 64;

thread_local! {
    /// One score per document, all zero between searches: allocated once per thread, not once per query.
    static SCORES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A document with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The document's number in the index, from 0.
    pub document: u32,
    /// Its score, above 0.
    pub score: f64,
}

impl Ranked {
    /// Best first; of equals, the document that comes first.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.document.cmp(&other.document))
    }
}

/// An index made ready for ranking with one choice of k1 and b.
pub struct Bm25 {
    index: Arc<Index>,
    analyzer: Analyzer,
    /// What each posting adds to its document's score.
    impacts: Vec<f64>,
}

impl Bm25 {
    /// Ranks the documents of `index` with `options`.
    ///
    /// # Errors
    /// When the index names an analyzer that there is not.
    pub fn new(index: Arc<Index>, options: &Bm25Options) -> Result<Self, String> {
        let analyzer = Analyzer::new(index.analyzer())?;
        let lengths = index.lengths();
        let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        let count = lengths.len() as f64;
        let average = total as f64 / count;
        let norms: Vec<f64> = lengths
            .iter()
            .map(|length| options.k1 * (1.0 - options.b + options.b * f64::from(*length) / average))
            .collect();
        let mut impacts = Vec::with_capacity(index.postings());
        for term in 0..index.terms() {
            let range = index.range(term);
            let df = range.len() as f64;
            let idf = (1.0 + (count - df + 0.5) / (df + 0.5)).ln();
            let documents = index.posting_documents().get(range.clone()).unwrap_or_default();
            let frequencies = index.posting_frequencies().get(range).unwrap_or_default();
            impacts.extend(documents.iter().zip(frequencies).map(|(document, frequency)| {
                let tf = f64::from(*frequency);
                idf * tf / (tf + norms.get(*document as usize).copied().unwrap_or_default())
            }));
        }
        Ok(Bm25 { index, analyzer, impacts })
    }

    /// The `top_k` best documents for `query`, best first, of equals the lower number first. Only documents that share a
    /// term with the query are ranked, so there may be fewer.
    pub fn search(&self, query: &str, top_k: usize) -> Vec<Ranked> {
        if top_k == 0 {
            return Vec::new();
        }
        let terms = self.query_terms(query);
        SCORES.with(|scores| match scores.try_borrow_mut() {
            Ok(mut scores) => self.rank(&terms, top_k, &mut scores),
            Err(_) => self.rank(&terms, top_k, &mut Vec::new()),
        })
    }

    /// The numbers of the query's terms that the index has, in order of first appearance, with how often they appear.
    fn query_terms(&self, query: &str) -> Vec<(usize, f64)> {
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for number in self.analyzer.terms(query).iter().filter_map(|term| self.index.number_of(term)) {
            match terms.iter_mut().find(|(known, _)| *known == number) {
                Some((_, count)) => *count += 1.0,
                None => terms.push((number, 1.0)),
            }
        }
        terms
    }

    fn rank(&self, terms: &[(usize, f64)], top_k: usize, scores: &mut Vec<f64>) -> Vec<Ranked> {
        let documents = self.index.lengths().len();
        if scores.len() < documents {
            scores.resize(documents, 0.0);
        }
        for (number, count) in terms {
            let range = self.index.range(*number);
            let postings = self.index.posting_documents().get(range.clone()).unwrap_or_default();
            let impacts = self.impacts.get(range).unwrap_or_default();
            for (document, impact) in postings.iter().zip(impacts) {
                if let Some(score) = scores.get_mut(*document as usize) {
                    *score += count * impact;
                }
            }
        }
        let mut best: Vec<Ranked> = Vec::new();
        let mut lowest = 0.0;
        let used = scores.get_mut(..documents).unwrap_or_default();
        for (block, values) in used.chunks_mut(BLOCK).enumerate() {
            // Later documents lose against equal scores, so only a higher one can enter.
            if values.iter().any(|score| *score > lowest) {
                for (i, score) in values.iter().enumerate() {
                    if *score > lowest {
                        best.push(Ranked { document: (block * BLOCK + i) as u32, score: *score });
                    }
                }
                if best.len() >= top_k.saturating_mul(2) {
                    lowest = cut(&mut best, top_k).unwrap_or(lowest);
                }
            }
            values.fill(0.0);
        }
        cut(&mut best, top_k);
        best
    }
}

/// Keeps the `top_k` best in order; gives the lowest score of a full list.
fn cut(best: &mut Vec<Ranked>, top_k: usize) -> Option<f64> {
    best.sort_unstable_by(Ranked::order);
    best.truncate(top_k);
    best.last().filter(|_| best.len() == top_k).map(|ranked| ranked.score)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::super::options::{AnalyzerOptions, StopWords};
    use super::*;

    fn bm25(texts: &[&str], options: Bm25Options) -> Bm25 {
        let plain = AnalyzerOptions {
            language: "none".to_string(),
            lower_case: true,
            stem: false,
            stop_words: StopWords::None,
        };
        let analyzer = Analyzer::new(&plain).expect("analyzer");
        let index = Index::build(&analyzer, texts.len(), &|i| Cow::Borrowed(texts[i])).expect("index");
        Bm25::new(Arc::new(index), &options).expect("bm25")
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn the_example_of_the_specification() {
        // spec/heta 7.1, whose formula has the factor k1 + 1 = 2.5 and whose analyzer takes a run of ideographs as one
        // term; `redfox` stands for that run, so that document 4 has two terms here too.
        let texts = ["red fox runs", "red red apple", "the quick brown fox jumps over the red fence", "redfox red"];
        let found = bm25(&texts, Bm25Options { k1: 1.5, b: 0.75 }).search("red fox", 10);
        let expected = [(0, 0.9203139550), (2, 0.5312967059), (1, 0.1662300479), (3, 0.1383111016)];
        assert_eq!(found.len(), expected.len());
        for (ranked, (document, score)) in found.iter().zip(expected) {
            assert_eq!(ranked.document, document);
            close(ranked.score * 2.5, score);
        }
    }

    #[test]
    fn by_hand() {
        // N = 2, lengths 2 and 4, average 3; `tide` is in one document: idf = ln(1 + 1.5 / 1.5) = ln 2.
        // tf = 2, norm = 0.9 * (0.6 + 0.4 * 4 / 3) = 1.02: ln 2 * 2 / 3.02.
        let bm25 = bm25(&["ship harbour", "tide ship tide sand"], Bm25Options::default());
        let found = bm25.search("tide", 5);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].document, 1);
        close(found[0].score, std::f64::consts::LN_2 * 2.0 / 3.02);
        // A repeated term counts twice; an unknown one not at all.
        close(bm25.search("tide wave tide", 5)[0].score, std::f64::consts::LN_2 * 4.0 / 3.02);
        assert!(bm25.search("wave", 5).is_empty());
        assert!(bm25.search("", 5).is_empty());
        assert!(bm25.search("tide", 0).is_empty());
    }

    #[test]
    fn equals_are_in_document_order() {
        let texts: Vec<String> =
            (0..500).map(|i| format!("ship {}", if i % 100 == 99 { "ship" } else { "x" })).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let bm25 = bm25(&texts, Bm25Options::default());
        let numbers = |k| bm25.search("ship", k).iter().map(|ranked| ranked.document).collect::<Vec<_>>();
        assert_eq!(numbers(3), [99, 199, 299]);
        assert_eq!(numbers(8), [99, 199, 299, 399, 499, 0, 1, 2]);
        assert_eq!(numbers(1000).len(), 500);
        // A search leaves nothing behind for the next one of the same thread.
        assert_eq!(numbers(3), [99, 199, 299]);
    }

    #[test]
    fn an_empty_index_finds_nothing() {
        assert!(bm25(&[], Bm25Options::default()).search("ship", 3).is_empty());
        assert!(bm25(&["", ""], Bm25Options::default()).search("ship", 3).is_empty());
    }
}
