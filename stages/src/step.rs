//! The stages of the pipeline and the steps they are made of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A phase of the pipeline, as users name it (`--until`, `--force`, `explain`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A dataset's own files to documents, queries, gold and units.
    Prepare,
    /// Documents to parsed pages.
    Materialize,
    /// Parsed pages to a knowledge base.
    Build,
    /// Queries to results and answers.
    Query,
    /// Responses to scores.
    Score,
    /// Scores to a report.
    Aggregate,
}

impl Stage {
    /// All stages in pipeline order.
    pub const ALL: [Stage; 6] =
        [Stage::Prepare, Stage::Materialize, Stage::Build, Stage::Query, Stage::Score, Stage::Aggregate];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Prepare => "prepare",
            Stage::Materialize => "materialize",
            Stage::Build => "build",
            Stage::Query => "query",
            Stage::Score => "score",
            Stage::Aggregate => "aggregate",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A step of a stage: what one action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Which further files a benchmark's own files name.
    Sources,
    /// The benchmark's documents, queries, gold and units.
    Prepare,
    /// A unit's documents as parsed pages.
    Materialize,
    /// A unit's pages as chunks.
    Chunk,
    /// A unit's full-text index.
    FullTextIndex,
    /// A unit's chunks, or the entities and relations of its graph, as vectors.
    Embed,
    /// A unit's vectors, ready to be searched.
    VectorIndex,
    /// What each of a unit's chunks says of entities and relations.
    ExtractGraph,
    /// A unit's entities and relations, merged.
    BuildGraph,
    /// A unit's documents in a system under test.
    Ingest,
    /// A unit's results in one query mode.
    Retrieve,
    /// A unit's answers in one query mode.
    Answer,
    /// A unit's responses from a set that was made elsewhere.
    Import,
    /// One evaluator over one unit in one query mode.
    Score,
    /// Means, coverage and slices of an evaluation.
    Aggregate,
    /// The report of an evaluation in every format.
    Report,
}

impl Step {
    /// All steps in pipeline order.
    pub const ALL: [Step; 16] = [
        Step::Sources,
        Step::Prepare,
        Step::Materialize,
        Step::Chunk,
        Step::FullTextIndex,
        Step::Embed,
        Step::VectorIndex,
        Step::ExtractGraph,
        Step::BuildGraph,
        Step::Ingest,
        Step::Retrieve,
        Step::Answer,
        Step::Import,
        Step::Score,
        Step::Aggregate,
        Step::Report,
    ];

    /// The stage this is a step of.
    pub fn stage(self) -> Stage {
        match self {
            Step::Sources | Step::Prepare => Stage::Prepare,
            Step::Materialize => Stage::Materialize,
            Step::Chunk
            | Step::FullTextIndex
            | Step::Embed
            | Step::VectorIndex
            | Step::ExtractGraph
            | Step::BuildGraph
            | Step::Ingest => Stage::Build,
            Step::Retrieve | Step::Answer | Step::Import => Stage::Query,
            Step::Score => Stage::Score,
            Step::Aggregate | Step::Report => Stage::Aggregate,
        }
    }

    /// The name in events, plans and explanations.
    pub fn name(self) -> &'static str {
        match self {
            Step::Sources => "sources",
            Step::Prepare => "prepare",
            Step::Materialize => "materialize",
            Step::Chunk => "chunk",
            Step::FullTextIndex => "full_text_index",
            Step::Embed => "embed",
            Step::VectorIndex => "vector_index",
            Step::ExtractGraph => "extract_graph",
            Step::BuildGraph => "build_graph",
            Step::Ingest => "ingest",
            Step::Retrieve => "retrieve",
            Step::Answer => "answer",
            Step::Import => "import",
            Step::Score => "score",
            Step::Aggregate => "aggregate",
            Step::Report => "report",
        }
    }

    /// The code version in this step's key: bumped by hand whenever the step's output bytes change for the same inputs
    /// (`tests/compat` fails when golden bytes change without a bump). Evaluators, adapters, parsers, tokenizers and the
    /// analyzer have versions of their own.
    pub fn code_version(self) -> u64 {
        match self {
            Step::Sources => 1,
            Step::Prepare => 2,
            Step::Materialize => 1,
            Step::Chunk => 1,
            Step::FullTextIndex => 1,
            Step::Embed => 1,
            Step::VectorIndex => 1,
            Step::ExtractGraph => 1,
            Step::BuildGraph => 1,
            Step::Ingest => 1,
            Step::Retrieve => 1,
            Step::Answer => 1,
            Step::Import => 1,
            Step::Score => 1,
            Step::Aggregate => 2,
            Step::Report => 4,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no stage or step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no stage or step is called {0:?}")]
pub struct UnknownStep(pub String);

impl FromStr for Stage {
    type Err = UnknownStep;

    fn from_str(text: &str) -> Result<Self, UnknownStep> {
        Stage::ALL.into_iter().find(|stage| stage.name() == text).ok_or_else(|| UnknownStep(text.to_string()))
    }
}

impl FromStr for Step {
    type Err = UnknownStep;

    fn from_str(text: &str) -> Result<Self, UnknownStep> {
        Step::ALL.into_iter().find(|step| step.name() == text).ok_or_else(|| UnknownStep(text.to_string()))
    }
}
