//! The action that indexes a unit's chunks.

use std::borrow::Cow;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::analyzer::{ANALYZER_VERSION, Analyzer};
use super::index::Index;
use super::options::AnalyzerOptions;
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
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for FullTextIndex {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::FullTextIndex, self.salt);
        v.digest("chunks", &self.chunks);
        v.uint("analyzer_version", ANALYZER_VERSION);
        self.analyzer.walk(v);
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
        let bytes = Index::build(&analyzer, rows.len(), &|i| rows.get(i).map(indexed_text).unwrap_or_default())
            .and_then(|index| index.encode())
            .map_err(|error| fault(error.to_string()))?;
        Ok(Produced { outputs: vec![Output::value("full_text_index", bytes, rows.len())], failed: 0, rejected: 0 })
    }
}

/// What is indexed of a chunk: the document's title, a line break and the text; the text alone where there is no title or
/// the text opens with it. So every chunk of a document can be found by the title, and no chunk counts it twice.
pub fn indexed_text(chunk: &Chunk) -> Cow<'_, str> {
    match chunk.title.as_deref().map(str::trim) {
        Some(title) if !title.is_empty() && !chunk.text.trim_start().starts_with(title) => {
            Cow::Owned(format!("{title}\n{}", chunk.text))
        }
        _ => Cow::Borrowed(&chunk.text),
    }
}
