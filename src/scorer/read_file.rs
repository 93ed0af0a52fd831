//! Files as bytes, unpacked where they are gzip.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ragstage_stages::error::InputError;

use super::faults::unreadable;

/// The first bytes of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The content of `path`. Gzip is recognised by its first bytes, whatever the file is called.
///
/// # Errors
/// When the file cannot be read or unpacked.
pub fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    let mut first = Vec::with_capacity(GZIP.len());
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut first)?;
    let packed = first == GZIP;
    let whole = io::Cursor::new(first).chain(file);
    Ok(if packed {
        Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, whole)))
    } else {
        Box::new(whole)
    })
}

/// All of `path`.
///
/// # Errors
/// When the file cannot be read or unpacked.
pub fn read(path: &Path) -> Result<Vec<u8>, Vec<InputError>> {
    let whole = || {
        let packed = std::fs::metadata(path)?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(packed).unwrap_or(0));
        open(path)?.read_to_end(&mut bytes)?;
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "expected UTF-8, found UTF-16"));
        }
        Ok(bytes)
    };
    whole().map_err(|error| unreadable(path, &error))
}
