//! How questions are asked and answered: what an evaluation file says under `queries`, `answer` and `recipe.system`.

use std::fmt;

use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::chat_answer::ChatAnswerOptions;
use super::system::{IngestMode, Mapping, OpenVikingPlace, OpenVikingSpec, Operation};
use crate::artifact::Unit;

/// How answers are made.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerOptions {
    /// The best sentences of the retrieved passages; no model.
    Extractive(ExtractiveOptions),
    /// A chat model's, from the retrieved passages.
    Chat(Box<ChatAnswerOptions>),
    /// The answer that the system under test gave along with its results.
    System,
}

impl AnswerOptions {
    /// How many calls of a model each case may take.
    pub fn calls(&self) -> u32 {
        match self {
            AnswerOptions::Chat(options) => options.samples.max(1),
            AnswerOptions::Extractive(_) | AnswerOptions::System => 0,
        }
    }
}

impl Default for AnswerOptions {
    fn default() -> Self {
        AnswerOptions::Extractive(ExtractiveOptions::default())
    }
}

/// Options of the extractive answerer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExtractiveOptions {
    /// How many sentences an answer has at most.
    pub sentences: u32,
    /// How many results are read.
    pub results: u32,
}

impl Default for ExtractiveOptions {
    fn default() -> Self {
        ExtractiveOptions { sentences: 2, results: 5 }
    }
}

impl Walk for AnswerOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        match self {
            AnswerOptions::Extractive(options) => {
                v.begin_record("answer", "extractive");
                v.uint("sentences", u64::from(options.sentences));
                v.uint("results", u64::from(options.results));
                v.end();
            }
            AnswerOptions::Chat(options) => options.walk(v),
            AnswerOptions::System => {
                v.begin_record("answer", "system");
                v.end();
            }
        }
    }
}

/// Where a system behind HTTP is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpUrls {
    /// What takes queries.
    pub query: String,
    /// What takes documents in, where the system does.
    pub ingest: Option<String>,
    /// What counts them.
    pub count: Option<String>,
    /// What removes them.
    pub delete: Option<String>,
}

impl HttpUrls {
    /// The URL of an operation, where the system has it.
    pub fn of(&self, operation: Operation) -> Option<&str> {
        match operation {
            Operation::Ingest => self.ingest.as_deref(),
            Operation::Count => self.count.as_deref(),
            Operation::Delete => self.delete.as_deref(),
        }
    }
}

/// How a system under test is reached. Nothing of it is in a key, and its values are in no `Debug` text.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// `POST` of one JSON object per request.
    Http {
        /// Where to.
        urls: HttpUrls,
        /// Sent with every request; values may be secrets.
        headers: Vec<(String, String)>,
        /// The environment variables that the headers are made of: secrets that no reply may hold.
        variables: Vec<(String, String)>,
    },
    /// Long-lived processes that read and write one JSON object per line.
    Command {
        /// Program and arguments.
        command: Vec<String>,
        /// Where it runs.
        directory: std::path::PathBuf,
        /// Added to its environment; values may be secrets.
        environment: Vec<(String, String)>,
        /// The environment variables that these values are made of: secrets that no reply may hold.
        variables: Vec<(String, String)>,
        /// What else than queries it understands.
        operations: Vec<Operation>,
    },
    /// The API of an OpenViking server.
    OpenViking(Box<OpenVikingPlace>),
}

impl Transport {
    /// Whether the system can be asked to do this.
    pub fn can(&self, operation: Operation) -> bool {
        match self {
            Transport::Http { urls, .. } => urls.of(operation).is_some(),
            Transport::Command { operations, .. } => operations.contains(&operation),
            Transport::OpenViking(place) => place.ingest_mode != IngestMode::None,
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn names(pairs: &[(String, String)]) -> Vec<&str> {
            pairs.iter().map(|(name, _)| name.as_str()).collect()
        }
        match self {
            Transport::Http { urls, headers, variables } => f
                .debug_struct("Http")
                .field("urls", urls)
                .field("headers", &names(headers))
                .field("variables", &names(variables))
                .finish(),
            Transport::Command { command, directory, environment, variables, operations } => f
                .debug_struct("Command")
                .field("command", command)
                .field("directory", directory)
                .field("environment", &names(environment))
                .field("variables", &names(variables))
                .field("operations", operations)
                .finish(),
            Transport::OpenViking(place) => place.fmt(f),
        }
    }
}

/// A system under test: somebody's own RAG service, asked instead of a knowledge base that we build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemSpec {
    /// Which system it is; in the key, since URLs are not.
    pub name: String,
    /// What its owner calls this state of it; in the key.
    pub version: String,
    /// Files that its answers depend on (its code, its configuration), by name; their digests are in the key, not where
    /// they are.
    pub files: Vec<(String, Digest)>,
    /// How its queries and replies look, where that is not the protocol's own way; in the key.
    pub mapping: Mapping,
    /// How many documents are handed to it at once; all of a unit where absent.
    pub ingest_batch: Option<u32>,
    /// What makes it an OpenViking server, where it is one; in the key.
    pub openviking: Option<OpenVikingSpec>,
    /// How it is reached.
    pub transport: Transport,
}

impl SystemSpec {
    /// Whether the unit's documents are handed to it.
    pub fn ingests(&self) -> bool {
        self.transport.can(Operation::Ingest)
    }

    /// Visits what is in the keys of what it is asked, and not in those of what it is handed.
    pub fn walk_search(&self, v: &mut dyn KeyVisitor) {
        if let Some(spec) = &self.openviking {
            spec.search.walk(v);
        }
    }

    /// The digest of what it knows of a unit's documents: of all that is handed to it, or of the documents that it is
    /// supposed to have read by other ways.
    pub fn documents_digest(&self, unit: &Unit) -> Digest {
        if self.ingests() { unit.documents_digest } else { unit.document_set_digest }
    }
}

impl Walk for SystemSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("system", "system");
        v.text("name", &self.name);
        v.text("version", &self.version);
        v.begin_list("files", self.files.len());
        for (_, digest) in &self.files {
            v.digest("", digest);
        }
        v.end();
        if !self.mapping.is_empty() {
            self.mapping.walk(v);
        }
        // How it is asked is in the keys of what is asked alone: `walk_search`.
        if let Some(spec) = &self.openviking {
            spec.options.walk(v);
        }
        v.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_in_no_debug_text() {
        let secret = || vec![("Authorization".to_string(), "Bearer s3cret".to_string())];
        for transport in [
            Transport::Http { urls: HttpUrls::default(), headers: secret(), variables: secret() },
            Transport::Command {
                command: vec!["rag".to_string()],
                directory: "/".into(),
                environment: secret(),
                variables: secret(),
                operations: Vec::new(),
            },
        ] {
            let shown = format!("{transport:?}");
            assert!(shown.contains("Authorization") && !shown.contains("s3cret"), "{shown}");
        }
    }
}
