//! Zip archives.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::ZipArchive;

use super::sink::Sink;
use crate::download::FetchError;

/// The kinds of files in the mode bits of Unix (`S_IFMT` and its values).
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// Unpacks `archive` into `sink`.
pub(super) fn unpack(archive: &Path, sink: &mut Sink<'_>) -> Result<(), FetchError> {
    let file = File::open(archive).map_err(|error| FetchError::io("read", archive, error))?;
    let mut entries = ZipArchive::new(BufReader::new(file)).map_err(|error| sink.damaged("", &error))?;
    for position in 0..entries.len() {
        let mut entry = entries.by_index(position).map_err(|error| sink.damaged("", &error))?;
        let name = entry.name().map_err(|error| sink.damaged("", &error))?.as_bytes().to_vec();
        match entry.unix_mode().unwrap_or_default() & KIND {
            LINK => return Err(sink.refuse(&name, "a link")),
            0 | REGULAR | FOLDER => {}
            _ => return Err(sink.refuse(&name, "a device")),
        }
        if entry.is_dir() {
            sink.folder(&name)?;
        } else {
            sink.file(&name, &mut entry)?;
        }
    }
    Ok(())
}
