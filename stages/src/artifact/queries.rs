//! `queries`: what is asked. Holds nothing of the gold, so that a corrected answer makes no query stale.

use ragstage_cache::table::{TableReader, TableWriter, Texts};
use ragstage_cache::table_file::{Rows, TableFile, TableSource};

use crate::contract::{Artifact, TableArtifact};
use crate::error::DecodeError;

/// One query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Unique within the benchmark.
    pub case_id: String,
    /// The question, trimmed.
    pub text: String,
    /// The slice that reports break scores down by.
    pub category: Option<String>,
}

/// The table of queries, in case order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Queries {
    /// The rows.
    pub rows: Vec<Query>,
}

const NAME: &str = "queries";
const VERSION: u32 = 1;

impl TableArtifact for Queries {
    fn open(source: TableSource) -> Result<TableFile, DecodeError> {
        Ok(TableFile::open(source, NAME, VERSION)?)
    }
}

impl Artifact for Queries {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", self.rows.iter().map(|row| row.case_id.as_str()));
        table.text("text", self.rows.iter().map(|row| row.text.as_str()));
        table.opt_text("category", self.rows.iter().map(|row| row.category.as_deref()));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(Queries { rows: rows_of(&TableReader::open(bytes, NAME, VERSION)?)? })
    }
}

fn rows_of(table: &TableReader) -> Result<Vec<Query>, DecodeError> {
    let ids = table.text("case_id")?.into_iter();
    let texts = table.text("text")?.into_iter();
    let categories = table.opt_text("category")?.into_iter();
    let rows =
        ids.zip(texts).zip(categories).map(|((case_id, text), category)| Query { case_id, text, category }).collect();
    Ok(rows)
}

impl Queries {
    /// The questions of row group `group` of `table`, with their cases' ids.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn questions(table: &TableFile, group: usize) -> Result<(Texts, Texts), DecodeError> {
        let table = table.read(group, &["case_id", "text"])?;
        Ok((table.texts("case_id")?, table.texts("text")?))
    }

    /// `rows` of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize, rows: &Rows) -> Result<Vec<Query>, DecodeError> {
        rows_of(&table.read_rows(group, &["case_id", "text", "category"], rows)?)
    }

    /// The case ids and the categories of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn names(table: &TableFile, group: usize) -> Result<(Texts, Texts), DecodeError> {
        let table = table.read(group, &["case_id", "category"])?;
        Ok((table.texts("case_id")?, table.opt_texts("category")?))
    }
}
