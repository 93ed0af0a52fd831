//! Counting terms: from texts to postings, in parallel, with one outcome whatever the number of threads.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use super::analyzer::{Analyzer, tokens};

/// The least documents that one thread counts at a time.
const BLOCK_DOCUMENTS: usize = 512;
/// Blocks for each thread, so that none waits long for another. More would look up and stem the same words more often.
const BLOCKS_PER_THREAD: usize = 8;

/// Postings of all terms: term `i` (in byte order) is in `documents[starts[i]..starts[i + 1]]`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Postings {
    /// The terms, sorted by their bytes.
    pub terms: Vec<String>,
    /// One more than there are terms.
    pub starts: Vec<u64>,
    /// Document numbers, ascending within a term.
    pub documents: Vec<u32>,
    /// How often the term is in the document, at least 1.
    pub frequencies: Vec<u32>,
    /// Terms per document, with repetitions.
    pub lengths: Vec<u32>,
}

impl Postings {
    /// The postings of documents `0..documents`, whose texts `text` gives.
    pub(super) fn count<'t>(
        analyzer: &Analyzer,
        documents: u32,
        text: &(dyn Fn(usize) -> Cow<'t, str> + Sync),
    ) -> Postings {
        let all: Vec<u32> = (0..documents).collect();
        // Where one block ends and the next begins has no influence on the outcome.
        let size = (all.len() / (rayon::current_num_threads() * BLOCKS_PER_THREAD)).max(BLOCK_DOCUMENTS);
        let blocks: Vec<Block> = all.par_chunks(size).map(|numbers| Block::count(analyzer, numbers, text)).collect();
        merge(blocks)
    }
}

/// The postings of some neighbouring documents, terms in the order in which they were met.
#[derive(Default)]
struct Block {
    terms: Vec<String>,
    postings: Vec<Vec<(u32, u32)>>,
    lengths: Vec<u32>,
}

impl Block {
    fn count<'t>(analyzer: &Analyzer, numbers: &[u32], text: &(dyn Fn(usize) -> Cow<'t, str> + Sync)) -> Block {
        let mut block = Block::default();
        // Each distinct token is cased, looked up and stemmed once: most of the time goes there otherwise.
        let mut numbers_of_tokens: HashMap<String, Option<u32>> = HashMap::new();
        let mut numbers_of_terms: HashMap<String, u32> = HashMap::new();
        let mut met: Vec<u32> = Vec::new();
        for &number in numbers {
            met.clear();
            tokens(&text(number as usize), |token| {
                let known = match numbers_of_tokens.get(token) {
                    Some(known) => *known,
                    None => {
                        let term = analyzer.term(token).map(|term| block.number_of(term, &mut numbers_of_terms));
                        numbers_of_tokens.insert(token.to_string(), term);
                        term
                    }
                };
                met.extend(known);
            });
            block.lengths.push(u32::try_from(met.len()).unwrap_or(u32::MAX));
            met.sort_unstable();
            for run in met.chunk_by(|a, b| a == b) {
                if let Some(postings) = run.first().and_then(|term| block.postings.get_mut(*term as usize)) {
                    postings.push((number, u32::try_from(run.len()).unwrap_or(u32::MAX)));
                }
            }
        }
        block
    }

    fn number_of(&mut self, term: String, numbers: &mut HashMap<String, u32>) -> u32 {
        if let Some(number) = numbers.get(&term) {
            return *number;
        }
        let number = self.terms.len() as u32;
        numbers.insert(term.clone(), number);
        self.terms.push(term);
        self.postings.push(Vec::new());
        number
    }
}

/// Joins blocks, given in document order, term by term.
fn merge(blocks: Vec<Block>) -> Postings {
    let mut places: Vec<(&str, usize, usize)> = blocks
        .iter()
        .enumerate()
        .flat_map(|(b, block)| block.terms.iter().enumerate().map(move |(t, term)| (term.as_str(), b, t)))
        .collect();
    places.par_sort_unstable();
    let total: usize = blocks.iter().flat_map(|block| &block.postings).map(Vec::len).sum();
    let mut merged = Postings {
        starts: vec![0],
        documents: Vec::with_capacity(total),
        frequencies: Vec::with_capacity(total),
        lengths: blocks.iter().flat_map(|block| block.lengths.iter().copied()).collect(),
        ..Postings::default()
    };
    for group in places.chunk_by(|a, b| a.0 == b.0) {
        for &(_, b, t) in group {
            for &(document, frequency) in &blocks[b].postings[t] {
                merged.documents.push(document);
                merged.frequencies.push(frequency);
            }
        }
        merged.terms.extend(group.first().map(|place| place.0.to_string()));
        merged.starts.push(merged.documents.len() as u64);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::super::options::AnalyzerOptions;
    use super::*;

    fn count(texts: &[String], threads: usize) -> Postings {
        let analyzer = Analyzer::new(&AnalyzerOptions::default()).expect("analyzer");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| Postings::count(&analyzer, texts.len() as u32, &|i| Cow::Borrowed(&texts[i])))
    }

    #[test]
    fn postings_by_hand() {
        let texts = ["Red foxes run. A red fox!".to_string(), String::new(), "the run".to_string()];
        assert_eq!(
            count(&texts, 1),
            Postings {
                terms: vec!["fox".to_string(), "red".to_string(), "run".to_string()],
                starts: vec![0, 1, 2, 4],
                documents: vec![0, 0, 0, 2],
                frequencies: vec![2, 2, 1, 1],
                lengths: vec![5, 0, 1],
            }
        );
    }

    #[test]
    fn threads_change_nothing() {
        let texts: Vec<String> =
            (0..3000).map(|i| format!("ship{} harbour tide{} tide{}", i % 7, i % 331, (i * 31) % 97)).collect();
        let one = count(&texts, 1);
        assert_eq!(one, count(&texts, 4));
        assert_eq!(one.lengths.iter().map(|length| u64::from(*length)).sum::<u64>(), 12_000);
    }
}
