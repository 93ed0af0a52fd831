//! Feature hashing: vectors of words without a model.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::embedder::HashingEmbedder;
use super::local_embedder::LocalEmbedder;
use crate::build::full_text::{Analyzer, AnalyzerOptions, StopWords};

/// Characters of a part of a word. Of 3, 4 and none, 4 retrieved best on SciFact and on this project's documentation.
const PART: usize = 4;
/// What stands before and after a word when it is cut into parts: no word has it.
const EDGE: char = '\u{0}';

/// Feature hashing (Weinberger et al. 2009) of words and of parts of words.
///
/// Words are those of the full-text analyzer (bigrams of Chinese, Japanese and Korean), in lower case, unstemmed, without the
/// English stop words. The n-th occurrence of a word adds 1/n to its weight. A word's parts are the runs of 4 characters of
/// the word with an edge before and after it; together they weigh as much as the word: each of k parts has the word's weight
/// divided by the square root of k. Each feature adds its weight, with a sign of its own, to one component. Vectors have
/// length 1; a text without words is all zeros.
pub(super) struct FeatureHasher {
    analyzer: Analyzer,
    dimensions: usize,
}

impl FeatureHasher {
    /// The hasher that `spec` describes.
    ///
    /// # Errors
    /// When the vectors would have no components.
    pub(super) fn new(spec: &HashingEmbedder) -> Result<Self, String> {
        if spec.dimensions == 0 {
            return Err("expected vectors of at least one dimension".to_string());
        }
        let options = AnalyzerOptions { stem: false, stop_words: StopWords::Default, ..AnalyzerOptions::default() };
        Ok(FeatureHasher { analyzer: Analyzer::new(&options)?, dimensions: spec.dimensions as usize })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for term in self.analyzer.terms(text) {
            *counts.entry(term).or_insert(0) += 1;
        }
        // Sums go through the words in their order, not in that of the text or of a hash table.
        let mut sum = vec![0f64; self.dimensions];
        for (word, count) in counts {
            let weight: f64 = (1..=count).map(|n| f64::from(n).recip()).sum();
            self.add(&mut sum, hash(0, word.chars()), weight);
            let edged: Vec<char> = std::iter::once(EDGE).chain(word.chars()).chain([EDGE]).collect();
            let parts = edged.len().saturating_sub(PART - 1);
            for part in edged.windows(PART) {
                self.add(&mut sum, hash(1, part.iter().copied()), weight / (parts as f64).sqrt());
            }
        }
        let norm = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { norm.recip() } else { 0.0 };
        sum.into_iter().map(|value| (value * scale) as f32).collect()
    }

    /// The component is in the hash's upper bits, the sign in its lowest.
    fn add(&self, sum: &mut [f64], hash: u64, weight: f64) {
        let component = ((u128::from(hash) * self.dimensions as u128) >> 64) as usize;
        if let Some(value) = sum.get_mut(component) {
            *value += if hash & 1 == 0 { weight } else { -weight };
        }
    }
}

impl LocalEmbedder for FeatureHasher {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        Ok(texts.par_iter().map(|text| self.vector(text)).collect())
    }
}

/// FNV-1a of 64 bits over a byte for the kind of feature and its UTF-8, then MurmurHash3's finalizer, since the upper bits
/// of FNV-1a differ little between short texts.
fn hash(kind: u8, characters: impl Iterator<Item = char>) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    add(kind);
    for character in characters {
        character.encode_utf8(&mut [0; 4]).bytes().for_each(&mut add);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hasher(dimensions: u32) -> FeatureHasher {
        FeatureHasher::new(&HashingEmbedder { dimensions }).expect("a hasher")
    }

    fn cosine(a: &str, b: &str) -> f32 {
        let vectors = hasher(1024).embed(&[a, b]).expect("vectors");
        vectors[0].iter().zip(&vectors[1]).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn hashes_are_those_of_the_specification() {
        // FNV-1a of "\0a" is 0x08326707b4eb37da by the reference implementation; the rest is its finalizer.
        let mut expected: u64 = 0x0832_6707_b4eb_37da;
        for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
            expected = (expected ^ (expected >> 33)).wrapping_mul(factor);
        }
        assert_eq!(hash(0, "a".chars()), expected ^ (expected >> 33));
        assert_ne!(hash(0, "fox".chars()), hash(1, "fox".chars()));
    }

    #[test]
    fn weights_are_those_that_are_documented() {
        // "fox" with its edges has five characters, so two parts: 1, and twice 1 over the square root of 2.
        let mut found: Vec<f32> = hasher(65_536).vector("The fox").into_iter().filter(|value| *value != 0.0).collect();
        found.sort_by(f32::total_cmp);
        let mut sizes: Vec<f32> = found.iter().map(|value| value.abs()).collect();
        sizes.sort_by(f32::total_cmp);
        assert_eq!(sizes, [0.5, 0.5, 0.5f32.sqrt()]);
        // Twice the same word is the same direction; beside another word it counts one and a half times.
        assert_eq!(hasher(256).vector("fox fox"), hasher(256).vector("Fox"));
        let mixed = hasher(65_536).vector("fox fox den");
        let component = |word: &str| ((u128::from(hash(0, word.chars())) * 65_536) >> 64) as usize;
        let ratio = mixed[component("fox")].abs() / mixed[component("den")].abs();
        assert!((ratio - 1.5).abs() < 1e-6, "{ratio}");
    }

    #[test]
    fn words_in_common_make_near() {
        assert!(cosine("The lighthouse keeper", "who keeps the lighthouses?") > 0.25);
        assert!(cosine("红色狐狸", "狐狸在森林里") > 0.2);
        assert!(cosine("The lighthouse keeper", "Herring is sold by the barrel").abs() < 0.15);
    }

    #[test]
    fn a_text_has_its_vector_alone() {
        let texts = ["red fox", "", "the of", "Bücher über Füchse", "红色狐狸"];
        let hasher = hasher(64);
        let together = hasher.embed(&texts).expect("vectors");
        for (text, vector) in texts.iter().zip(&together) {
            assert_eq!(hasher.embed(&[text]).expect("a vector").remove(0), *vector);
            assert_eq!(vector.len(), 64);
        }
        assert!(together[1].iter().chain(&together[2]).all(|value| *value == 0.0));
    }
}
