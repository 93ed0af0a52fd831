//! Archives become folders, and nothing of them leaves its folder.

mod sink;
mod tar_gz;
mod zipped;

use std::path::Path;

use crate::download::FetchError;
use sink::Sink;

/// How an archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// A tar archive, packed with gzip.
    TarGz,
    /// A zip archive.
    Zip,
}

/// What an archive may become at most. An archive of some kilobytes can be made that fills any disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Files and folders.
    pub entries: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of all files per byte of the archive, once they are more than `free_bytes`.
    pub ratio: u64,
    /// Bytes that are unpacked whatever the ratio.
    pub free_bytes: u64,
}

impl Limits {
    /// Several times what the largest dataset takes.
    pub const DATASETS: Limits = Limits { entries: 1_000_000, bytes: 64 << 30, ratio: 100, free_bytes: 16 << 20 };
}

/// Unpacks `archive` into the folder `into`, which is made where it is not there. With `strip` the first folder of every path is
/// left away. Only files and folders are made, with the permissions of new files.
///
/// # Errors
/// When the archive is damaged, holds a link or a device, a path that leaves the folder or stands there twice, or more than
/// `limits` allow. What was unpacked until then stays: the folder is one that nobody reads yet.
pub fn unpack(
    archive: &Path,
    format: ArchiveFormat,
    into: &Path,
    strip: bool,
    limits: &Limits,
) -> Result<(), FetchError> {
    let mut sink = Sink::new(archive, into, strip, limits)?;
    match format {
        ArchiveFormat::TarGz => tar_gz::unpack(archive, &mut sink),
        ArchiveFormat::Zip => zipped::unpack(archive, &mut sink),
    }
}

#[cfg(test)]
mod tests;
