//! The action that indexes a unit's chunks.

use std::borrow::Cow;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::analyzer::{ANALYZER_VERSION, Analyzer};
use super::index::Index;
use super::options::{AnalyzerOptions, TITLE_WEIGHT};
use crate::artifact::{Chunk, Chunks};
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key, decoded};
use crate::error::StageError;
use crate::step::Step;

/// Chunks to an [`Index`], output `full_text_index`.
#[derive(Debug, Clone, PartialEq)]
pub struct FullTextIndex {
    /// The unit's chunks.
    pub chunks: Digest,
    /// How text becomes terms.
    pub analyzer: AnalyzerOptions,
    /// How often the terms of a document's title count in each of its chunks.
    pub title_weight: u32,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for FullTextIndex {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::FullTextIndex, self.salt);
        v.digest("chunks", &self.chunks);
        v.uint("analyzer_version", ANALYZER_VERSION);
        self.analyzer.walk(v);
        // Not where it is the default: keys are then those of the versions that knew no weight.
        if self.title_weight != TITLE_WEIGHT {
            v.uint("title_weight", u64::from(self.title_weight));
        }
        v.end();
    }
}

impl Action for FullTextIndex {
    fn step(&self) -> Step {
        Step::FullTextIndex
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let fault = |why: String| StageError::encode(Step::FullTextIndex, why);
        let analyzer = Analyzer::new(&self.analyzer).map_err(fault)?;
        let chunks = decoded::<Chunks>(context, Step::FullTextIndex, &self.chunks)?;
        let rows = &chunks.rows;
        let text = |i: usize| rows.get(i).map(|chunk| indexed_text(chunk, self.title_weight)).unwrap_or_default();
        let bytes = Index::build(&analyzer, rows.len(), &text)
            .and_then(|index| index.encode())
            .map_err(|error| fault(error.to_string()))?;
        Ok(Produced { outputs: vec![Output::value("full_text_index", bytes, rows.len())], ..Produced::default() })
    }
}

/// What is indexed of a chunk: the document's title `title_weight` times, each on a line of its own, and the text. A title
/// that the text opens with is there once already. So every chunk of a document can be found by the title, whose terms count
/// `title_weight` times each in frequencies and lengths, as in the simple extension of BM25 to weighted fields (Robertson,
/// Zaragoza and Taylor, 2004). With 0 the text alone is indexed.
pub fn indexed_text(chunk: &Chunk, title_weight: u32) -> Cow<'_, str> {
    let title = chunk.title.as_deref().map(str::trim).unwrap_or_default();
    let opens = chunk.text.trim_start().starts_with(title);
    let lines = title_weight.saturating_sub(u32::from(opens));
    if title.is_empty() || lines == 0 {
        return Cow::Borrowed(&chunk.text);
    }
    let mut text = String::with_capacity((title.len() + 1) * lines as usize + chunk.text.len());
    for _ in 0..lines {
        text.push_str(title);
        text.push('\n');
    }
    text.push_str(&chunk.text);
    Cow::Owned(text)
}
