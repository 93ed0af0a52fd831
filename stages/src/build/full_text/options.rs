//! How text is indexed and ranked: what an evaluation file says under `recipe.full_text`.

use ragstage_cache::key::walk_texts;
use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

/// Which words are not indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopWords {
    /// None are left out.
    None,
    /// Our own list for the analyzer's language (English: Lucene's 33 words; other languages: none).
    Default,
    /// The words given.
    List(Vec<String>),
}

/// How text becomes terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalyzerOptions {
    /// Snowball language of the stemmer and the stop words, or `none`.
    pub language: String,
    /// Whether terms are lower-cased.
    pub lower_case: bool,
    /// Whether terms are stemmed.
    pub stem: bool,
    /// Which words are left out (as they are before stemming).
    pub stop_words: StopWords,
}

impl Default for AnalyzerOptions {
    fn default() -> Self {
        AnalyzerOptions {
            language: "english".to_string(),
            lower_case: true,
            stem: true,
            stop_words: StopWords::Default,
        }
    }
}

impl Walk for AnalyzerOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("analyzer", "analyzer_options");
        v.text("language", &self.language);
        v.bool("lower_case", self.lower_case);
        v.bool("stem", self.stem);
        match &self.stop_words {
            StopWords::None => v.text("stop_words", "none"),
            StopWords::Default => v.text("stop_words", "default"),
            StopWords::List(words) => walk_texts(v, "stop_words", words),
        }
        v.end();
    }
}

/// The parameters of BM25. They are read at query time, so they are in the key of `retrieve` and not of the index.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bm25Options {
    /// Saturation of term frequency; Anserini's 0.9 by default.
    pub k1: f64,
    /// Length normalisation, 0 to 1; Anserini's 0.4 by default.
    pub b: f64,
}

impl Default for Bm25Options {
    fn default() -> Self {
        Bm25Options { k1: 0.9, b: 0.4 }
    }
}

impl Walk for Bm25Options {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("bm25", "bm25_options");
        v.float("k1", self.k1);
        v.float("b", self.b);
        v.end();
    }
}

/// How often the terms of a document's title count in each of its chunks when nothing else is said.
pub const TITLE_WEIGHT: u32 = 1;

/// Everything under `recipe.full_text`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FullTextOptions {
    /// How text becomes terms.
    pub analyzer: AnalyzerOptions,
    /// How often the terms of the title count, 0 to 10.
    #[serde(default = "title_weight", skip_serializing_if = "is_title_weight")]
    pub title_weight: u32,
    /// How matches are ranked.
    pub bm25: Bm25Options,
}

impl Default for FullTextOptions {
    fn default() -> Self {
        FullTextOptions {
            analyzer: AnalyzerOptions::default(),
            title_weight: TITLE_WEIGHT,
            bm25: Bm25Options::default(),
        }
    }
}

fn title_weight() -> u32 {
    TITLE_WEIGHT
}

/// Whether the weight is the default one, which reports do not show.
fn is_title_weight(weight: &u32) -> bool {
    *weight == TITLE_WEIGHT
}
