//! Journals: append-only files of rows that are not yet in a segment.
//!
//! ```text
//! header   8 bytes "rsjournl"   u32 version
//! record   u32 length           of all that follows in the record but its checksum: 36 + value + observation
//!          32 bytes             the row's key
//!          u32                  length of the value
//!          value  observation
//!          8 bytes              the first bytes of the blake3 of all before it in the record
//! ```
//!
//! Numbers are little-endian. A record is written by one `write`. Later records override earlier ones of the same key.
//! A writer holds the lock of its journal. The death of the process frees the lock; the next writer adopts the journal,
//! cuts a torn tail and appends. A damaged record that whole ones follow is stepped over; its row is computed again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Digest;
use crate::atomic::sync_dir;
use crate::incident::Incidents;
use crate::lock::{is_at, try_lock};
use crate::nonce::{nonce, unix_ms};
use crate::row::StoredRow;

const MAGIC: [u8; 8] = *b"rsjournl";
const VERSION: u32 = 1;
const HEADER: usize = 12;
const CHECKSUM: usize = 8;
/// The key and the length of the value.
const FIXED: usize = 36;

/// What journals' file names begin with.
pub(crate) const PREFIX: &str = "journal-";

fn header() -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..].copy_from_slice(&VERSION.to_le_bytes());
    header
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&blake3::hash(bytes).as_bytes()[..CHECKSUM]);
    sum
}

/// The bytes of one record; `None` when the row is longer than a record can say (4 GiB).
pub(crate) fn encode(key: &Digest, row: &StoredRow) -> Option<Vec<u8>> {
    let value_len = u32::try_from(row.value.len()).ok()?;
    let len = u32::try_from(FIXED.checked_add(row.value.len())?.checked_add(row.observation.len())?).ok()?;
    let mut record = Vec::with_capacity(4 + len as usize + CHECKSUM);
    record.extend_from_slice(&len.to_le_bytes());
    record.extend_from_slice(&key.0);
    record.extend_from_slice(&value_len.to_le_bytes());
    record.extend_from_slice(&row.value);
    record.extend_from_slice(&row.observation);
    let sum = checksum(&record);
    record.extend_from_slice(&sum);
    Some(record)
}

/// What could be read of a journal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// The whole records in order.
    pub(crate) rows: Vec<(Digest, StoredRow)>,
    /// Where the last whole record ends, in bytes from the start of the file; 0 when the header is torn.
    pub(crate) end: u64,
    /// Damaged records before that.
    pub(crate) damaged: usize,
}

/// Reads the records in `bytes`, which begin at `offset` in the file.
fn scan_records(bytes: &[u8], offset: u64) -> Scan {
    let mut scan = Scan { end: offset, ..Scan::default() };
    let (mut at, mut suspect) = (0, 0);
    while let Some((record, next)) = record_at(bytes, at) {
        match record {
            Some(row) => {
                scan.rows.push(row);
                scan.end = offset + next as u64;
                scan.damaged += std::mem::take(&mut suspect);
            }
            None => suspect += 1,
        }
        at = next;
    }
    scan
}

/// The record at `at`, if one can be there, and where it ends; the inner `None` is one whose checksum does not match.
fn record_at(bytes: &[u8], at: usize) -> Option<(Option<(Digest, StoredRow)>, usize)> {
    let rest = bytes.get(at..)?;
    let len = u32::from_le_bytes(*rest.first_chunk::<4>()?) as usize;
    let (body, after) = rest.split_at_checked(4 + len)?;
    let sum = after.first_chunk::<CHECKSUM>()?;
    let (key, fields) = body.get(4..)?.split_first_chunk::<32>()?;
    let (value_len, payload) = fields.split_first_chunk::<4>()?;
    let next = at + body.len() + CHECKSUM;
    if checksum(body) != *sum {
        return Some((None, next));
    }
    let row = payload
        .split_at_checked(u32::from_le_bytes(*value_len) as usize)
        .map(|(value, observation)| StoredRow { value: value.to_vec(), observation: observation.to_vec() });
    Some((row.map(|row| (Digest(*key), row)), next))
}

/// Why a file named like a journal is none that this program reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoJournal {
    /// A newer version wrote it.
    Newer(u32),
    /// It does not begin as a journal does.
    Foreign,
}

/// Reads the records of a journal from `offset` on, which is 0 or the end of an earlier scan.
pub(crate) fn scan(file: &mut File, offset: u64) -> io::Result<Result<Scan, NoJournal>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut bytes)?;
    if offset > 0 {
        return Ok(Ok(scan_records(&bytes, offset)));
    }
    Ok(match bytes.split_first_chunk::<HEADER>() {
        Some((found, records)) if *found == header() => Ok(scan_records(records, HEADER as u64)),
        Some((found, _)) => match found.split_first_chunk::<8>() {
            Some((magic, version)) if *magic == MAGIC => {
                Err(NoJournal::Newer(version.first_chunk().map_or(0, |version| u32::from_le_bytes(*version))))
            }
            _ => Err(NoJournal::Foreign),
        },
        None if header().starts_with(&bytes) => Ok(Scan::default()),
        None => Err(NoJournal::Foreign),
    })
}

/// The one writer of a journal.
#[derive(Debug)]
pub(crate) struct JournalWriter {
    name: String,
    path: PathBuf,
    file: Arc<File>,
    end: u64,
    rows: usize,
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        // A group commit may hold the file a moment longer; the next writer need not wait for that. Closing frees the
        // lock in any case.
        let _ = self.file.unlock();
    }
}

impl JournalWriter {
    /// A new journal in `dir`, which exists.
    pub(crate) fn create(dir: &Path) -> io::Result<Self> {
        loop {
            // Names sort by age, so that what is read last is what was begun last.
            let name = format!("{PREFIX}{:013}-{:08x}", unix_ms(), nonce());
            let path = dir.join(&name);
            let mut file = match OpenOptions::new().create_new(true).read(true).append(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other?,
            };
            // Another writer that looks for a journal to adopt may have taken this one.
            if !try_lock(&file)? {
                continue;
            }
            let made = file.write_all(&header()).and_then(|()| sync_dir(dir));
            if let Err(error) = made {
                let _ = fs::remove_file(&path);
                return Err(error);
            }
            return Ok(JournalWriter { name, path, file: Arc::new(file), end: HEADER as u64, rows: 0 });
        }
    }

    /// Takes over the journal at `path` if its writer is gone, cutting a torn tail; `None` when it has a writer, is
    /// gone, or is no journal that this program writes.
    pub(crate) fn adopt(path: &Path, incidents: &Incidents) -> io::Result<Option<Self>> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        let mut file = match OpenOptions::new().read(true).append(true).open(path) {
            Ok(file) => file,
            // Rolled into a segment in the meantime, or another user's.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if !try_lock(&file)? || !is_at(&file, path)? {
            return Ok(None);
        }
        let Ok(scan) = scan(&mut file, 0)? else { return Ok(None) };
        let torn = file.metadata()?.len().saturating_sub(scan.end);
        if torn > 0 {
            file.set_len(scan.end)?;
            incidents.record(path, format!("torn journal tail of {torn} bytes"), "cut; every whole row is kept");
        }
        let mut end = scan.end;
        if end == 0 {
            file.write_all(&header())?;
            end = HEADER as u64;
        }
        let rows = scan.rows.len();
        Ok(Some(JournalWriter { name: name.to_string(), path: path.to_path_buf(), file: Arc::new(file), end, rows }))
    }

    /// Appends one encoded record. When that fails, what was written of it is cut.
    ///
    /// # Errors
    /// Also when the cut failed: the journal then ends in a torn record and must be adopted anew.
    pub(crate) fn append(&mut self, record: &[u8]) -> Result<(), AppendError> {
        match (&*self.file).write_all(record) {
            Ok(()) => {
                self.end += record.len() as u64;
                self.rows += 1;
                Ok(())
            }
            Err(error) => Err(AppendError { usable: self.file.set_len(self.end).is_ok(), error }),
        }
    }

    /// All whole records of this journal.
    pub(crate) fn read(&self) -> io::Result<Vec<(Digest, StoredRow)>> {
        let mut file = File::open(&self.path)?;
        Ok(scan(&mut file, 0)?.map(|scan| scan.rows).unwrap_or_default())
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the last record ends, in bytes.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The number of whole records.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
}

/// A record that could not be appended.
#[derive(Debug)]
pub(crate) struct AppendError {
    /// Whether the journal is as it was before.
    pub(crate) usable: bool,
    pub(crate) error: io::Error,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(value: &str) -> StoredRow {
        StoredRow { value: value.as_bytes().to_vec(), observation: b"12 ms".to_vec() }
    }

    fn journal(rows: &[(Digest, StoredRow)]) -> Vec<u8> {
        let mut bytes = header().to_vec();
        for (key, row) in rows {
            bytes.extend(encode(key, row).expect("short"));
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Scan, NoJournal> {
        let mut file = tempfile::tempfile().expect("tempfile");
        file.write_all(bytes).expect("write");
        scan(&mut file, 0).expect("read")
    }

    #[test]
    fn a_tail_torn_anywhere_keeps_every_earlier_row() {
        let rows: Vec<_> = ["one", "two", "three"].map(|text| (Digest::of(text.as_bytes()), row(text))).to_vec();
        let whole = journal(&rows);
        let two = journal(&rows[..2]).len();
        for len in two..whole.len() {
            let dir = tempfile::tempdir().expect("tempdir");
            let path = dir.path().join("journal-1");
            fs::write(&path, &whole[..len]).expect("write");
            let incidents = Incidents::default();
            let mut writer = JournalWriter::adopt(&path, &incidents).expect("adopt").expect("free");
            assert_eq!(writer.rows(), 2);
            assert_eq!(fs::metadata(&path).expect("stat").len(), two as u64);
            assert_eq!(incidents.all().len(), usize::from(len > two), "cut at {len}");
            writer.append(&encode(&rows[2].0, &rows[2].1).expect("short")).expect("append");
            assert_eq!(fs::read(&path).expect("read"), whole);
        }
    }

    #[test]
    fn a_torn_header_is_written_again() {
        for len in 0..HEADER {
            let dir = tempfile::tempdir().expect("tempdir");
            let path = dir.path().join("journal-1");
            fs::write(&path, &header()[..len]).expect("write");
            let mut writer = JournalWriter::adopt(&path, &Incidents::default()).expect("adopt").expect("free");
            let (key, row) = (Digest::of(b"a"), row("a"));
            writer.append(&encode(&key, &row).expect("short")).expect("append");
            assert_eq!(writer.read().expect("read"), [(key, row)]);
        }
    }

    #[test]
    fn a_damaged_record_loses_only_its_own_row() {
        let rows: Vec<_> = ["one", "two", "three"].map(|text| (Digest::of(text.as_bytes()), row(text))).to_vec();
        let mut bytes = journal(&rows);
        let second = journal(&rows[..1]).len();
        bytes[second + 50] ^= 1;
        let scan = read(&bytes).expect("a journal");
        assert_eq!(scan.rows, [rows[0].clone(), rows[2].clone()]);
        assert_eq!((scan.damaged, scan.end), (1, bytes.len() as u64));
    }

    #[test]
    fn zeros_after_a_power_loss_are_a_torn_tail() {
        let rows = [(Digest::of(b"a"), row("a"))];
        let mut bytes = journal(&rows);
        let end = bytes.len() as u64;
        bytes.extend([0; 4096]);
        let scan = read(&bytes).expect("a journal");
        assert_eq!((scan.rows.len(), scan.end), (1, end));
    }

    #[test]
    fn other_files_and_newer_journals_are_told_apart() {
        let mut newer = header();
        newer[8] = 2;
        assert_eq!(read(&newer), Err(NoJournal::Newer(2)));
        assert_eq!(read(b"PAR1 and more bytes"), Err(NoJournal::Foreign));
        assert_eq!(read(b"PAR1"), Err(NoJournal::Foreign));
    }

    #[test]
    fn a_journal_has_one_writer() {
        let dir = tempfile::tempdir().expect("tempdir");
        let writer = JournalWriter::create(dir.path()).expect("create");
        let path = writer.path().to_path_buf();
        assert!(JournalWriter::adopt(&path, &Incidents::default()).expect("adopt").is_none());
        drop(writer);
        assert!(JournalWriter::adopt(&path, &Incidents::default()).expect("adopt").is_some());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in proptest::collection::vec(
            (any::<[u8; 32]>(), any::<Vec<u8>>(), any::<Vec<u8>>()), 0..20)) {
            let rows: Vec<_> = rows
                .into_iter()
                .map(|(key, value, observation)| (Digest(key), StoredRow { value, observation }))
                .collect();
            let bytes = journal(&rows);
            let scan = read(&bytes).expect("a journal");
            prop_assert_eq!(scan.end, bytes.len() as u64);
            prop_assert_eq!(scan.rows, rows);
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in any::<Vec<u8>>()) {
            let mut after_header = header().to_vec();
            after_header.extend(&bytes);
            let _ = read(&bytes);
            prop_assert!(read(&after_header).expect("a journal").end <= after_header.len() as u64);
        }
    }
}
