//! How pages are cut: what an evaluation file says under `recipe.chunk`.

use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

/// Where a page may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Splitter {
    /// After any token.
    Token,
    /// At sentence ends (Unicode UAX 29); a sentence longer than the size is cut by tokens.
    #[default]
    Sentence,
    /// Never across a heading; within a section as `sentence`.
    Heading,
    /// At the ends of paragraphs, else of lines, else of sentences, else after any token: the largest pieces that fit.
    Recursive,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// A word of Unicode UAX 29 (each ideograph is one).
    #[default]
    Words,
    /// A Unicode code point.
    Unicode,
    /// A token of OpenAI's cl100k_base.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
}

/// Options of the chunker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChunkOptions {
    /// Where a page may be cut.
    pub splitter: Splitter,
    /// What a token is.
    pub tokenizer: Tokenizer,
    /// Most tokens in a chunk; at least 1.
    pub size: u32,
    /// Tokens that a chunk repeats from the one before it (at most; whole sentences for `sentence`); less than `size`.
    pub overlap: u32,
    /// A last chunk of a page (of a section, for `heading`) with fewer tokens is joined to the one before it, which may then
    /// have up to `minimum - 1` tokens more than `size`; at most `size`. 0 leaves every chunk as it is.
    #[serde(skip_serializing_if = "is_zero")]
    pub minimum: u32,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        ChunkOptions {
            splitter: Splitter::default(),
            tokenizer: Tokenizer::default(),
            size: 200,
            overlap: 0,
            minimum: 0,
        }
    }
}

/// Whether nothing is joined, which reports do not show.
fn is_zero(minimum: &u32) -> bool {
    *minimum == 0
}

impl Walk for ChunkOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("chunk", "chunk_options");
        v.text(
            "splitter",
            match self.splitter {
                Splitter::Token => "token",
                Splitter::Sentence => "sentence",
                Splitter::Heading => "heading",
                Splitter::Recursive => "recursive",
            },
        );
        v.text(
            "tokenizer",
            match self.tokenizer {
                Tokenizer::Words => "words",
                Tokenizer::Unicode => "unicode",
                Tokenizer::Cl100kBase => "cl100k_base",
            },
        );
        v.uint("size", u64::from(self.size));
        v.uint("overlap", u64::from(self.overlap));
        // Not where it is 0: keys are then those of the versions that joined nothing.
        if self.minimum != 0 {
            v.uint("minimum", u64::from(self.minimum));
        }
        v.end();
    }
}
