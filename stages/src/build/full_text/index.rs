//! The index file: an inverted index with exact document lengths, immutable and byte-identical on every build.
//!
//! # Format
//!
//! Whole numbers are little-endian, arrays follow each other without padding.
//!
//! | part | type | content |
//! |---|---|---|
//! | magic | 8 bytes | `RSFTIDX1` |
//! | version | u32 | 1 |
//! | analyzer version | u32 | [`ANALYZER_VERSION`](super::ANALYZER_VERSION) of the build |
//! | documents, terms, postings | u64 each | counts |
//! | analyzer bytes, term bytes | u64 each | lengths of the two texts that follow |
//! | analyzer | UTF-8 | [`AnalyzerOptions`] as compact JSON; queries are analyzed the same way |
//! | term ends | u64 x terms | where each term ends in the terms |
//! | terms | UTF-8 | the terms in byte order, without separators |
//! | starts | u64 x (terms + 1) | where each term's postings start (CSR) |
//! | documents | u32 x postings | document numbers, ascending within a term |
//! | frequencies | u32 x postings | occurrences in that document, at least 1 |
//! | lengths | u32 x documents | terms per document |
//! | checksum | 32 bytes | blake3 of everything before it |

use std::borrow::Cow;

use ragstage_cache::Digest;

use super::analyzer::{ANALYZER_VERSION, Analyzer, check};
use super::options::AnalyzerOptions;
use super::postings::Postings;
use crate::contract::Artifact;
use crate::error::DecodeError;

const MAGIC: &[u8; 8] = b"RSFTIDX1";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 8 + 4 + 4 + 5 * 8;
const CHECKSUM_BYTES: usize = 32;

/// An inverted index of a unit's chunks; a document here is a chunk, numbered from 0 in chunk order.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    analyzer: AnalyzerOptions,
    terms: String,
    term_ends: Vec<u64>,
    starts: Vec<u64>,
    documents: Vec<u32>,
    frequencies: Vec<u32>,
    lengths: Vec<u32>,
}

impl Index {
    /// The index of documents `0..documents`, whose texts `text` gives.
    ///
    /// # Errors
    /// When there are more documents than a `u32` can number.
    pub fn build<'t>(
        analyzer: &Analyzer,
        documents: usize,
        text: &(dyn Fn(usize) -> Cow<'t, str> + Sync),
    ) -> Result<Index, DecodeError> {
        let count = u32::try_from(documents)
            .map_err(|_| DecodeError::Format(format!("expected at most {} chunks, found {documents}", u32::MAX)))?;
        let postings = Postings::count(analyzer, count, text);
        let mut terms = String::new();
        let mut term_ends = Vec::with_capacity(postings.terms.len());
        for term in &postings.terms {
            terms.push_str(term);
            term_ends.push(terms.len() as u64);
        }
        Ok(Index {
            analyzer: analyzer.options().clone(),
            terms,
            term_ends,
            starts: postings.starts,
            documents: postings.documents,
            frequencies: postings.frequencies,
            lengths: postings.lengths,
        })
    }

    /// How the texts were analyzed.
    pub fn analyzer(&self) -> &AnalyzerOptions {
        &self.analyzer
    }

    /// Terms of each document, with repetitions.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// How many distinct terms there are.
    pub fn terms(&self) -> usize {
        self.term_ends.len()
    }

    /// How many (term, document) pairs there are.
    pub fn postings(&self) -> usize {
        self.documents.len()
    }

    /// The number of `term`, from 0 in byte order.
    pub fn number_of(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.terms());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Term `number`; empty where there is none.
    fn term(&self, number: usize) -> &str {
        let start = number.checked_sub(1).and_then(|before| self.term_ends.get(before)).copied().unwrap_or(0);
        let end = self.term_ends.get(number).copied().unwrap_or(start);
        self.terms.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Where the postings of term `number` are in [`Index::posting_documents`]; empty where there is no such term.
    pub fn range(&self, number: usize) -> std::ops::Range<usize> {
        match (self.starts.get(number), self.starts.get(number + 1)) {
            (Some(start), Some(end)) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// The documents of all postings, term after term, ascending within a term.
    pub fn posting_documents(&self) -> &[u32] {
        &self.documents
    }

    /// The frequencies that belong to [`Index::posting_documents`].
    pub fn posting_frequencies(&self) -> &[u32] {
        &self.frequencies
    }

    /// Checks all that readers rely on, for bytes with a good checksum may still have been made by somebody else.
    fn checked(self) -> Result<Self, DecodeError> {
        check(&self.analyzer).map_err(DecodeError::Format)?;
        let broken = |what: &str| Err(DecodeError::Format(format!("full-text index: {what}")));
        let mut start = 0;
        let mut previous = "";
        for &end in &self.term_ends {
            let Some(term) = self.terms.get(start..usize::try_from(end).unwrap_or(usize::MAX)) else {
                return broken("a term ends outside of the terms");
            };
            if term <= previous {
                return broken("the terms are not in byte order");
            }
            previous = term;
            start = end as usize;
        }
        if start != self.terms.len() {
            return broken("the last term does not end where the terms end");
        }
        if self.starts.first() != Some(&0) || self.starts.last() != Some(&(self.documents.len() as u64)) {
            return broken("the postings do not start at 0 and end with the last");
        }
        let mut seen = vec![0u64; self.lengths.len()];
        for pair in self.starts.windows(2) {
            let [start, end] = [pair[0], pair[1]];
            let (Some(documents), Some(frequencies)) =
                (self.documents.get(start as usize..end as usize), self.frequencies.get(start as usize..end as usize))
            else {
                return broken("the postings of a term end before they start");
            };
            if documents.is_empty() || documents.windows(2).any(|pair| pair[0] >= pair[1]) {
                return broken("the documents of a term are not ascending");
            }
            for (document, frequency) in documents.iter().zip(frequencies) {
                match seen.get_mut(*document as usize) {
                    Some(total) if *frequency > 0 => *total += u64::from(*frequency),
                    _ => return broken("a posting names no document or counts nothing"),
                }
            }
        }
        if seen.iter().zip(&self.lengths).any(|(total, length)| *total != u64::from(*length)) {
            return broken("a document's length is not the sum of its terms");
        }
        Ok(self)
    }
}

impl Artifact for Index {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let analyzer = serde_json::to_vec(&self.analyzer)?;
        let mut bytes = Vec::with_capacity(
            HEADER_BYTES + analyzer.len() + self.terms.len() + 16 * self.terms() + 8 * self.postings() + 64,
        );
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(ANALYZER_VERSION as u32).to_le_bytes());
        for count in [self.lengths.len(), self.terms(), self.postings(), analyzer.len(), self.terms.len()] {
            bytes.extend_from_slice(&(count as u64).to_le_bytes());
        }
        bytes.extend_from_slice(&analyzer);
        self.term_ends.iter().for_each(|end| bytes.extend_from_slice(&end.to_le_bytes()));
        bytes.extend_from_slice(self.terms.as_bytes());
        self.starts.iter().for_each(|start| bytes.extend_from_slice(&start.to_le_bytes()));
        for numbers in [&self.documents, &self.frequencies, &self.lengths] {
            numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        }
        let checksum = Digest::of(&bytes);
        bytes.extend_from_slice(&checksum.0);
        Ok(bytes)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let Some((content, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(DecodeError::Format(format!("full-text index: {} bytes are too few", bytes.len())));
        };
        let mut reader = Reader { rest: content };
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(DecodeError::Format("not a full-text index: it does not start with RSFTIDX1".to_string()));
        }
        let version = reader.u32()?;
        if version != VERSION {
            return Err(DecodeError::Format(format!("full-text index: expected version {VERSION}, found {version}")));
        }
        if Digest::of(content).0 != *checksum {
            return Err(DecodeError::Format("full-text index: the checksum is not that of the content".to_string()));
        }
        let analyzer_version = reader.u32()?;
        if u64::from(analyzer_version) != ANALYZER_VERSION {
            return Err(DecodeError::Format(format!(
                "full-text index: expected terms of analyzer version {ANALYZER_VERSION}, found {analyzer_version}"
            )));
        }
        let [documents, terms, postings] = [reader.count()?, reader.count()?, reader.count()?];
        let [analyzer_bytes, term_bytes] = [reader.count()?, reader.count()?];
        let analyzer = serde_json::from_slice(reader.take(analyzer_bytes)?)?;
        let term_ends = reader.u64s(terms)?;
        let text = String::from_utf8(reader.take(term_bytes)?.to_vec())
            .map_err(|_| DecodeError::Format("full-text index: the terms are not UTF-8".to_string()))?;
        let starts = reader.u64s(terms.saturating_add(1))?;
        let index = Index {
            analyzer,
            terms: text,
            term_ends,
            starts,
            documents: reader.u32s(postings)?,
            frequencies: reader.u32s(postings)?,
            lengths: reader.u32s(documents)?,
        };
        if !reader.rest.is_empty() {
            return Err(DecodeError::Format(format!("full-text index: {} bytes too many", reader.rest.len())));
        }
        index.checked()
    }
}

/// Reads numbers off the front of bytes; never more than there are, and allocates only what is there.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], DecodeError> {
        let short =
            || DecodeError::Format(format!("full-text index: {bytes} bytes expected, {} left", self.rest.len()));
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(self.u32s(1)?.first().copied().unwrap_or_default())
    }

    fn count(&mut self) -> Result<usize, DecodeError> {
        let count = self.u64s(1)?.first().copied().unwrap_or_default();
        usize::try_from(count).map_err(|_| DecodeError::Format(format!("full-text index: a count of {count}")))
    }

    fn u32s(&mut self, count: usize) -> Result<Vec<u32>, DecodeError> {
        let (numbers, _) = self.take(count.saturating_mul(4))?.as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    fn u64s(&mut self, count: usize) -> Result<Vec<u64>, DecodeError> {
        let (numbers, _) = self.take(count.saturating_mul(8))?.as_chunks::<8>();
        Ok(numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn index(texts: &[String]) -> Index {
        let analyzer = Analyzer::new(&AnalyzerOptions::default()).expect("analyzer");
        Index::build(&analyzer, texts.len(), &|i| Cow::Borrowed(&texts[i])).expect("index")
    }

    fn example() -> Index {
        index(&["a red fox", "the red red apple", "", "狐狸 fox"].map(str::to_string))
    }

    #[test]
    fn terms_and_postings_are_found() {
        let index = example();
        assert_eq!((index.terms(), index.postings()), (4, 6));
        assert_eq!(index.lengths(), [2, 3, 0, 2]);
        let red = index.range(index.number_of("red").expect("red"));
        assert_eq!(index.posting_documents()[red.clone()], [0, 1]);
        assert_eq!(index.posting_frequencies()[red], [1, 2]);
        assert_eq!(index.number_of("blue"), None);
        assert_eq!(index.number_of(""), None);
        assert_eq!(index.range(4), 0..0);
    }

    #[test]
    fn the_bytes_are_pinned() {
        // Changed bytes for the same texts: bump the code version of `full_text_index`, then this value.
        assert_eq!(Digest::of(&example().encode().expect("encode")).short(), "20d15c516e83");
    }

    #[test]
    fn no_texts_are_an_index_too() {
        let empty = index(&[]);
        assert_eq!(Index::decode(empty.encode().expect("encode")).expect("decode"), empty);
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let bytes = example().encode().expect("encode");
        let error = |bytes: Vec<u8>| Index::decode(bytes).expect_err("refused").to_string();
        assert!(error(b"PAR1".to_vec()).contains("4 bytes are too few"));
        assert!(error(vec![b'x'; 100]).contains("RSFTIDX1"));
        let mut newer = bytes.clone();
        newer[8] = 2;
        assert!(error(newer).contains("expected version 1, found 2"));
        let mut flipped = bytes;
        flipped[60] ^= 1;
        assert!(error(flipped).contains("checksum"));
    }

    /// Puts a good checksum under content that was tampered with.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let content = bytes.len().saturating_sub(CHECKSUM_BYTES);
        let checksum = Digest::of(&bytes[..content]);
        bytes.truncate(content);
        bytes.extend_from_slice(&checksum.0);
        bytes
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(texts in prop::collection::vec(".{0,40}", 0..20)) {
            let index = index(&texts);
            let bytes = index.encode().expect("encode");
            prop_assert_eq!(Index::decode(bytes).expect("decode"), index);
        }

        #[test]
        fn damage_is_an_error_and_never_a_panic(
            cut in any::<prop::sample::Index>(),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            seal in any::<bool>(),
        ) {
            let whole = example().encode().expect("encode");
            let mut flipped = whole.clone();
            let place = at.index(flipped.len());
            let changed = flipped[place] != byte;
            flipped[place] = byte;
            let flipped = if seal { sealed(flipped) } else { flipped };
            let again = Index::decode(flipped);
            if changed && !seal {
                prop_assert!(again.is_err());
            }
            if let Ok(index) = again {
                // Whatever passes can be read without a panic.
                for number in 0..index.terms() {
                    prop_assert!(index.posting_documents().get(index.range(number)).is_some());
                }
            }
            let short = whole[..cut.index(whole.len())].to_vec();
            prop_assert!(Index::decode(short.clone()).is_err());
            prop_assert!(short.len() < CHECKSUM_BYTES || Index::decode(sealed(short)).is_err());
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let with_magic: Vec<u8> = MAGIC.iter().chain(&VERSION.to_le_bytes()).copied().chain(bytes.clone()).collect();
            prop_assert!(Index::decode(bytes).is_err());
            prop_assert!(Index::decode(sealed(with_magic)).is_err());
        }
    }
}
