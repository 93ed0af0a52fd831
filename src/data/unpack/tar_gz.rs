//! Tar archives, packed with gzip.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::sink::Sink;
use crate::download::FetchError;

/// Unpacks `archive` into `sink`.
pub(super) fn unpack(archive: &Path, sink: &mut Sink<'_>) -> Result<(), FetchError> {
    let file = File::open(archive).map_err(|error| FetchError::io("read", archive, error))?;
    let mut entries = Archive::new(MultiGzDecoder::new(BufReader::new(file)));
    for entry in entries.entries().map_err(|error| sink.damaged("", &error))? {
        let mut entry = entry.map_err(|error| sink.damaged("", &error))?;
        let name = entry.path_bytes().into_owned();
        match entry.header().entry_type() {
            // What describes the entries that follow, as the commit in the archives of git hosts.
            EntryType::XGlobalHeader | EntryType::XHeader => {}
            EntryType::Directory => sink.folder(&name)?,
            EntryType::Regular | EntryType::Continuous => sink.file(&name, &mut entry)?,
            EntryType::Symlink | EntryType::Link => return Err(sink.refuse(&name, "a link")),
            EntryType::Char | EntryType::Block | EntryType::Fifo => return Err(sink.refuse(&name, "a device")),
            _ => return Err(sink.refuse(&name, "of an unknown kind")),
        }
    }
    Ok(())
}
