//! Where a public dataset is downloaded from.

use super::sources::SOURCES;
use super::unpack::ArchiveFormat;
use crate::models::nearest_name;

/// The places of a dataset's files.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// What commands call the dataset.
    pub name: &'static str,
    /// The folder that it is downloaded to by default, below the folder of all datasets.
    pub folder: &'static str,
    /// Its files, in the order in which they are put in place.
    pub files: &'static [SourceFile],
    /// Paths below the dataset's folder that must be there when all is put in place; those of folders end in `/`.
    pub expected: &'static [&'static str],
    /// What to know before it is downloaded.
    pub note: Option<&'static str>,
}

/// A file that is downloaded.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its URL.
    pub url: &'static str,
    /// What it is called below a mirror, and on the way.
    pub name: &'static str,
    /// What it is, where that is known for ever.
    pub pin: Option<Pin>,
    /// What is done with it.
    pub form: Form,
}

/// A file that never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Its size.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: &'static str,
}

/// What a downloaded file becomes.
#[derive(Debug, PartialEq, Eq)]
pub enum Form {
    /// A file of the dataset, at this path in its folder.
    File(&'static str),
    /// An archive that is unpacked.
    Archive {
        /// How it is packed.
        format: ArchiveFormat,
        /// The folder that it is unpacked into, in the dataset's folder; empty for that itself.
        into: &'static str,
        /// Whether everything in it stands below one folder that is left away.
        strip: bool,
        /// The files in it that are known for ever although the archive's own bytes may change.
        members: &'static [Member],
    },
}

/// A file in an archive that never changes.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path in the dataset's folder.
    pub path: &'static str,
    /// What it is.
    pub pin: Pin,
}

impl Source {
    /// The source of that name.
    pub fn find(name: &str) -> Option<&'static Source> {
        SOURCES.iter().find(|source| source.name == name)
    }

    /// The name that `name` is near to.
    pub fn nearest(name: &str) -> Option<&'static str> {
        nearest_name(name, SOURCES.iter().map(|source| source.name))
    }

    /// The size of its files, where all are pinned.
    pub fn bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| file.pin.map(|pin| pin.bytes)).sum()
    }
}
