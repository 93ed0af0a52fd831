//! Segments: immutable Parquet files of rows, named by their content.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::layout::Layout;
use crate::row::StoredRow;
use crate::table::{TableError, TableReader, TableWriter};
use crate::{Digest, StoreError};

/// What segments' file names begin with.
pub(crate) const PREFIX: &str = "segment-";
const SUFFIX: &str = ".parquet";
const SCHEMA: &str = "rows";
const VERSION: u32 = 1;
/// A column's bytes are addressed by signed 32-bit offsets; this stays well below.
const MAX_BYTES: usize = 256 << 20;

/// A row with its key.
pub(crate) type KeyedRow = (Digest, Arc<StoredRow>);

/// The Parquet bytes of some rows: the columns `key`, `value` and `observation`.
fn encode(rows: &[KeyedRow]) -> Result<Vec<u8>, TableError> {
    let mut table = TableWriter::new(SCHEMA, VERSION);
    table.opt_binary("key", rows.iter().map(|(key, _)| Some(key.0.as_slice())));
    table.opt_binary("value", rows.iter().map(|(_, row)| Some(row.value.as_slice())));
    table.opt_binary("observation", rows.iter().map(|(_, row)| Some(row.observation.as_slice())));
    table.finish()
}

fn decode(bytes: Vec<u8>) -> Result<Vec<KeyedRow>, String> {
    let table = TableReader::open(bytes, SCHEMA, VERSION).map_err(|error| error.to_string())?;
    let column = |name| table.opt_binary(name).map_err(|error| error.to_string());
    let (keys, values, observations) = (column("key")?, column("value")?, column("observation")?);
    let mut rows = Vec::with_capacity(keys.len());
    for (index, ((key, value), observation)) in keys.into_iter().zip(values).zip(observations).enumerate() {
        let key = key.and_then(|key| <[u8; 32]>::try_from(key).ok());
        let (Some(key), Some(value), Some(observation)) = (key, value, observation) else {
            return Err(format!("row {index} is not whole"));
        };
        rows.push((Digest(key), Arc::new(StoredRow { value, observation })));
    }
    Ok(rows)
}

/// Writes `rows` to segments in `dir`, durably, and returns their file names. Equal rows give equal files.
pub(crate) fn write(layout: &Layout, dir: &Path, rows: &[KeyedRow]) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(fitting(rest));
        let bytes = encode(part).map_err(|error| StoreError::malformed("encode segment", dir, error))?;
        let name = format!("{PREFIX}{}{SUFFIX}", Digest::of(&bytes));
        layout.write("write segment", &dir.join(&name), &bytes)?;
        names.push(name);
        rest = after;
    }
    Ok(names)
}

/// How many rows from the first on go into one segment; at least one.
fn fitting(rows: &[KeyedRow]) -> usize {
    let mut bytes = 0;
    let fit = rows.iter().take_while(|(_, row)| {
        bytes += row.value.len() + row.observation.len();
        bytes <= MAX_BYTES
    });
    fit.count().max(1)
}

/// What a segment's file turned out to be.
pub(crate) enum Loaded {
    /// Its rows in the order of their keys.
    Rows(Vec<KeyedRow>),
    /// Removed by a merge in the meantime.
    Gone,
    /// Damaged or of another version; an incident says which, and the rows are computed again.
    Unreadable,
}

/// Reads the segment at `path`, verified against its name.
pub(crate) fn load(layout: &Layout, path: &Path) -> Result<Loaded, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Loaded::Gone),
        Err(error) => return Err(StoreError::io("read segment", path, error)),
    };
    let Some(digest) = promised(path) else {
        layout.quarantine(path, "segment whose name is no digest");
        return Ok(Loaded::Unreadable);
    };
    if Digest::of(&bytes) != digest {
        layout.quarantine(path, format!("segment whose content is not {}", digest.short()));
        return Ok(Loaded::Unreadable);
    }
    match decode(bytes) {
        Ok(rows) => Ok(Loaded::Rows(rows)),
        Err(why) => {
            // Its bytes are as they were written, so another version wrote it and may want it.
            layout.incidents.record(path, format!("segment that cannot be read: {why}"), "its rows are computed again");
            Ok(Loaded::Unreadable)
        }
    }
}

/// The digest in a segment's name.
fn promised(path: &Path) -> Option<Digest> {
    path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// The size of the segment in bytes; 0 when it is gone.
pub(crate) fn size(dir: &Path, name: &str) -> u64 {
    let path: PathBuf = dir.join(name);
    fs::metadata(path).map_or(0, |found| found.len())
}
