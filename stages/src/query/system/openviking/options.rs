//! What an evaluation file says of an OpenViking server.

use std::time::Duration;

use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

/// Version of the provider in the keys of what it hands over and finds: bumped when the same documents are handed over, or
/// the same reply is read, in another way.
const OPENVIKING_VERSION: u64 = 1;

/// How documents are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IngestMode {
    /// All documents of a unit as one folder, in one call.
    #[default]
    Directory,
    /// One call per document.
    PerFile,
    /// Not at all: they are there already.
    None,
}

impl IngestMode {
    /// The name in the evaluation file.
    pub fn name(self) -> &'static str {
        match self {
            IngestMode::Directory => "directory",
            IngestMode::PerFile => "per_file",
            IngestMode::None => "none",
        }
    }
}

/// What the server makes of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessingMode {
    /// Summaries by its chat model, and vectors.
    SemanticAndVectors,
    /// Vectors alone.
    VectorsOnly,
}

impl ProcessingMode {
    /// The name in the evaluation file and in the API.
    pub fn name(self) -> &'static str {
        match self {
            ProcessingMode::SemanticAndVectors => "semantic_and_vectors",
            ProcessingMode::VectorsOnly => "vectors_only",
        }
    }
}

/// What the server's knowledge depends on beside the documents; in the keys of what is handed over and of what is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenVikingOptions {
    /// How documents are handed over.
    pub ingest_mode: IngestMode,
    /// What the server makes of them; its own default where absent.
    pub processing_mode: Option<ProcessingMode>,
    /// Whether Word files are handed over as the Markdown that OpenViking's benchmark makes of them (spec/openviking 2.2).
    pub word_as_markdown: bool,
}

impl Walk for OpenVikingOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("openviking", "openviking");
        v.uint("openviking_version", OPENVIKING_VERSION);
        v.text("ingest_mode", self.ingest_mode.name());
        if let Some(mode) = self.processing_mode {
            v.text("processing_mode", mode.name());
        }
        if self.word_as_markdown {
            v.text("word", "markdown");
        }
        v.end();
    }
}

/// How the server is asked, and what of its results is read; in the keys of what is found, and not of what is handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenVikingSearch {
    /// Put before every question, with a blank between them; empty for none.
    pub retrieval_instruction: String,
    /// Whether the text of a result that is a folder's summary is its abstract and its overview, rather than the abstract
    /// alone.
    pub overview: bool,
}

impl Default for OpenVikingSearch {
    fn default() -> Self {
        OpenVikingSearch { retrieval_instruction: String::new(), overview: true }
    }
}

impl Walk for OpenVikingSearch {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("search", "openviking_search");
        if !self.retrieval_instruction.is_empty() {
            v.text("retrieval_instruction", &self.retrieval_instruction);
        }
        v.bool("overview", self.overview);
        v.end();
    }
}

/// What makes a system an OpenViking server, beside its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenVikingSpec {
    /// What the server's knowledge depends on beside the documents.
    pub options: OpenVikingOptions,
    /// How it is asked.
    pub search: OpenVikingSearch,
}

/// Where the server is and how long it is waited for; in no key.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenVikingPlace {
    /// Its URL, without the paths of the API.
    pub url: String,
    /// Sent with every request; values may be secrets.
    pub headers: Vec<(String, String)>,
    /// The environment variables that the headers are made of: secrets that no reply may hold.
    pub variables: Vec<(String, String)>,
    /// Below what documents are put; what is asked where they are there already.
    pub target: String,
    /// How documents are handed over: see [`OpenVikingOptions`].
    pub ingest_mode: IngestMode,
    /// Whether a call that hands documents over stays open until they are taken in, rather than its task being asked for.
    pub wait: bool,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long a request may take to be replied to.
    pub read_timeout: Duration,
}

impl std::fmt::Debug for OpenVikingPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        f.debug_struct("OpenVikingPlace")
            .field("url", &self.url)
            .field("headers", &names(&self.headers))
            .field("variables", &names(&self.variables))
            .field("target", &self.target)
            .field("ingest_mode", &self.ingest_mode)
            .field("wait", &self.wait)
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .finish()
    }
}
