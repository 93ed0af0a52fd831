//! What a dataset's files are to sampling.

use std::path::PathBuf;

use super::algorithm::Algorithm;
use super::drawn::Drawn;
use super::openviking::Script;
use super::pool::Pool;

/// The files of a dataset, read, and able to be written again in part.
pub(super) trait Layout {
    /// The documents and questions.
    fn pool(&self) -> &Pool;

    /// The files of a part. What is kept of a file is kept byte for byte.
    fn files(&self, drawn: &Drawn, algorithm: Algorithm) -> Vec<OutFile>;
}

/// A file of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutFile {
    /// Its path below the part's folder.
    pub(super) path: PathBuf,
    /// What is in it.
    pub(super) content: Content,
}

/// What is in a file of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What is in another file.
    Copy(PathBuf),
}

/// How a dataset is called by OpenViking, and drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Original {
    /// Its name in OpenViking's metadata.
    pub(super) title: &'static str,
    /// How its script draws.
    pub(super) script: Script,
    /// Whether its metadata count all questions, and those that are asked beside them.
    pub(super) counts_all: bool,
}
