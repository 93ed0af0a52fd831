//! `score_keys`: what each row of a `scores` artifact depends on, so that the next run takes the rows whose key is the same.
//! An observation: nothing but the next run of the same action reads it.

use ragstage_cache::Digest;
use ragstage_cache::table::TableWriter;
use ragstage_cache::table_file::{TableFile, TableSource};

use crate::contract::TableArtifact;
use crate::error::DecodeError;

/// The key of a score: the first 16 bytes of the digest of its evaluator and of all that it read.
pub type ScoreKey = [u8; 16];

/// The table of keys, in the order of the scores; a score that must be computed anew every time has none.
pub struct ScoreKeys;

const NAME: &str = "score_keys";
const VERSION: u32 = 1;

impl TableArtifact for ScoreKeys {
    fn open(source: TableSource) -> Result<TableFile, DecodeError> {
        Ok(TableFile::open(source, NAME, VERSION)?)
    }
}

impl ScoreKeys {
    /// A row group.
    pub fn columns(keys: &[Option<Digest>]) -> TableWriter {
        let mut table = TableWriter::new(NAME, VERSION);
        table.opt_digests("key", keys.iter().map(|key| key.as_ref().map(|key| &key.0[..size_of::<ScoreKey>()])));
        table
    }

    /// The keys of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize) -> Result<Vec<Option<ScoreKey>>, DecodeError> {
        let table = table.read(group, &["key"])?;
        let keys = table.opt_binaries("key")?;
        Ok((0..table.rows()).map(|row| keys.get(row).and_then(|key| key.try_into().ok())).collect())
    }
}
