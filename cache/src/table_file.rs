//! Tables that are read a row group and a few columns at a time, so that memory does not grow with the table.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray, new_null_array};
use arrow::datatypes::{DataType, Field};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::file::reader::ChunkReader;

use crate::table::{TableError, TableReader, check_schema, guarded};

/// Where a table's bytes are.
#[derive(Debug, Clone)]
pub enum TableSource {
    /// In a file that nobody writes to.
    File(PathBuf),
    /// In memory.
    Bytes(Bytes),
}

impl From<Vec<u8>> for TableSource {
    fn from(bytes: Vec<u8>) -> Self {
        TableSource::Bytes(bytes.into())
    }
}

/// Which rows of a row group are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// All of them.
    All,
    /// These, counted from the group's first, in ascending order.
    Some(Vec<usize>),
}

/// An open table. Any number of threads may read of it at once.
pub struct TableFile {
    source: TableSource,
    metadata: ArrowReaderMetadata,
    /// The first row of each row group, and the number of rows at the end.
    starts: Vec<usize>,
}

impl TableFile {
    /// Opens `source` as a table of schema `name`, version `version`. Only the footer is read.
    ///
    /// # Errors
    /// When the source cannot be read, is not Parquet or carries another schema.
    pub fn open(source: TableSource, name: &str, version: u32) -> Result<Self, TableError> {
        let load = || {
            let options = ArrowReaderOptions::default();
            match &source {
                TableSource::File(path) => Ok(ArrowReaderMetadata::load(&File::open(path)?, options)?),
                TableSource::Bytes(bytes) => Ok(ArrowReaderMetadata::load(bytes, options)?),
            }
        };
        let metadata = guarded(load)?;
        check_schema(metadata.metadata(), name, version)?;
        let mut starts = vec![0];
        let mut rows = 0;
        for group in metadata.metadata().row_groups() {
            rows += usize::try_from(group.num_rows()).map_err(|_| TableError::Damaged)?;
            starts.push(rows);
        }
        Ok(TableFile { source, metadata, starts })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The rows of each row group, in order.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.starts.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// Whether there is a column of that name.
    pub fn has(&self, name: &str) -> bool {
        self.metadata.schema().column_with_name(name).is_some()
    }

    /// The columns `columns` of row group `group`; those that the table does not have are left out.
    ///
    /// # Errors
    /// When the source cannot be read or is damaged.
    pub fn read(&self, group: usize, columns: &[&str]) -> Result<TableReader, TableError> {
        self.read_rows(group, columns, &Rows::All)
    }

    /// The same of some rows.
    ///
    /// # Errors
    /// As [`TableFile::read`].
    pub fn read_rows(&self, group: usize, columns: &[&str], rows: &Rows) -> Result<TableReader, TableError> {
        guarded(|| match &self.source {
            // A file of its own, for clones of one share its position.
            TableSource::File(path) => self.read_from(File::open(path)?, group, columns, rows),
            TableSource::Bytes(bytes) => self.read_from(bytes.clone(), group, columns, rows),
        })
    }

    fn read_from(
        &self,
        source: impl ChunkReader + 'static,
        group: usize,
        columns: &[&str],
        wanted: &Rows,
    ) -> Result<TableReader, TableError> {
        let rows = match self.starts.get(group..group + 2) {
            Some(&[start, end]) => end - start,
            _ => return Err(TableError::Damaged),
        };
        if let Rows::Some(wanted) = wanted
            && wanted.last().is_some_and(|last| *last >= rows)
        {
            return Err(TableError::Damaged);
        }
        let wanted_rows = match wanted {
            Rows::All => rows,
            Rows::Some(wanted) => wanted.len(),
        };
        let mut fields = Vec::new();
        // What the group's footer says of a column need not be read.
        let mut said = Vec::new();
        let mut roots = Vec::new();
        for (root, field) in self.metadata.schema().fields().iter().enumerate() {
            if columns.contains(&field.name().as_str()) {
                fields.push(field.clone());
                said.push(self.said_of_all(group, root, field, wanted_rows));
                roots.extend(said.last().is_some_and(Option::is_none).then_some(root));
            }
        }
        let read = if roots.is_empty() && wanted_rows > 0 {
            Vec::new()
        } else {
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), roots);
            let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, self.metadata.clone())
                .with_row_groups(vec![group])
                .with_projection(mask)
                .with_batch_size(rows.max(1));
            if let Rows::Some(wanted) = wanted {
                let wanted = wanted.iter().map(|&row| row..row + 1);
                builder = builder.with_row_selection(RowSelection::from_consecutive_ranges(wanted, rows));
            }
            builder.build()?.collect::<Result<Vec<_>, _>>()?
        };
        TableReader::of_columns(fields, said, read, wanted_rows)
    }

    /// A column of row group `group` of which the footer says that it says the same in every row, in so many `rows`.
    fn said_of_all(&self, group: usize, root: usize, field: &Field, rows: usize) -> Option<ArrayRef> {
        let parquet = self.metadata.parquet_schema();
        let mut leaves = (0..parquet.num_columns()).filter(|&leaf| parquet.get_column_root_idx(leaf) == root);
        let chunk = self.metadata.metadata().row_groups().get(group)?.columns().get(leaves.next()?)?;
        if field.data_type().is_nested() || leaves.next().is_some() {
            return None;
        }
        let statistics = chunk.statistics()?;
        let nulls = statistics.null_count_opt()?;
        if i64::try_from(nulls).is_ok_and(|nulls| nulls == chunk.num_values()) {
            return Some(new_null_array(field.data_type(), rows));
        }
        let exact = nulls == 0 && statistics.min_is_exact() && statistics.max_is_exact();
        let (min, max) = (statistics.min_bytes_opt()?, statistics.max_bytes_opt()?);
        if *field.data_type() != DataType::Utf8 || !exact || min != max {
            return None;
        }
        let text = std::str::from_utf8(min).ok()?;
        Some(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableWriter;

    fn table(rows: usize) -> Vec<u8> {
        let texts: Vec<String> = (0..rows).map(|i| format!("row {i}")).collect();
        let mut writer = TableWriter::new("example", 1);
        writer.text("id", texts.iter().map(String::as_str));
        writer.opt_text("odd", texts.iter().enumerate().map(|(i, text)| (i % 2 == 1).then_some(text.as_str())));
        writer.text_list("words", texts.iter().map(|text| text.split(' ')));
        writer.finish().expect("write")
    }

    #[test]
    fn groups_and_columns_are_read_alone() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("table");
        std::fs::write(&path, table(10_000)).expect("write");
        for source in [TableSource::File(path), TableSource::from(table(10_000))] {
            let file = TableFile::open(source, "example", 1).expect("open");
            assert_eq!((file.rows(), file.groups().collect::<Vec<_>>()), (10_000, vec![0..8192, 8192..10_000]));
            let second = file.read(1, &["words", "id", "none"]).expect("read");
            assert_eq!((second.rows(), second.has("odd"), second.has("id")), (1808, false, true));
            let (ids, words) = (second.texts("id").expect("ids"), second.text_lists("words").expect("words"));
            assert_eq!((ids.get(0), ids.get(1807), ids.get(1808)), (Some("row 8192"), Some("row 9999"), None));
            assert_eq!(words.get(1).collect::<Vec<_>>(), ["row", "8193"]);
            let odd = file.read(0, &["odd"]).expect("read").opt_texts("odd").expect("texts");
            assert_eq!((odd.get(0), odd.get(1)), (None, Some("row 1")));
            assert!(matches!(file.read(0, &["odd"]).expect("read").texts("odd"), Err(TableError::Null { row: 0, .. })));
            assert!(file.read(2, &["id"]).is_err());
            let some = file.read_rows(1, &["id", "words"], &Rows::Some(vec![2, 3, 900])).expect("read");
            let ids: Vec<String> = some.text("id").expect("ids");
            assert_eq!(ids, ["row 8194", "row 8195", "row 9092"]);
            assert_eq!(some.text_lists("words").expect("words").get(2).collect::<Vec<_>>(), ["row", "9092"]);
            assert_eq!(file.read_rows(0, &["id"], &Rows::Some(Vec::new())).expect("read").rows(), 0);
            assert!(file.read_rows(1, &["id"], &Rows::Some(vec![1808])).is_err());
        }
    }

    #[test]
    fn columns_that_say_the_same_in_every_row() {
        let long = "x".repeat(100);
        let mut writer = TableWriter::new("example", 1);
        let texts = |text: &'static str| (0..10_000).map(move |_| text);
        writer.text("same", texts("one"));
        writer.text("blank", texts(""));
        writer.text("long", (0..10_000).map(|_| long.as_str()));
        writer.opt_text("none", (0..10_000).map(|_| None));
        writer.opt_float("no_number", (0..10_000).map(|_| None));
        writer.opt_bool("no_truth", (0..10_000).map(|_| None));
        writer.opt_text("first", (0..10_000).map(|i| (i < 8192).then_some("one")));
        writer.opt_text("some", (0..10_000).map(|i| (i % 2 == 0).then_some("one")));
        writer.text_list("empty", (0..10_000).map(|_| std::iter::empty::<&str>()));
        let file = TableFile::open(TableSource::from(writer.finish().expect("write")), "example", 1).expect("open");
        for (group, rows) in file.groups().enumerate() {
            for (wanted, length) in [(Rows::All, rows.len()), (Rows::Some(vec![1, 4]), 2), (Rows::Some(vec![]), 0)] {
                let read = |columns: &[&str]| file.read_rows(group, columns, &wanted).expect("read");
                let all = read(&["same", "blank", "long", "none", "no_number", "no_truth", "first", "some", "empty"]);
                assert_eq!(all.rows(), length);
                assert_eq!(all.text("same").expect("texts"), vec!["one"; length]);
                assert_eq!(all.text("blank").expect("texts"), vec![""; length]);
                assert_eq!(all.text("long").expect("texts"), vec![long.as_str(); length]);
                assert_eq!(all.opt_text("none").expect("texts"), vec![None; length]);
                assert_eq!(all.opt_float("no_number").expect("numbers"), vec![None; length]);
                assert_eq!(all.opt_bool("no_truth").expect("truths"), vec![None; length]);
                let first = (group == 0).then(|| "one".to_string());
                assert_eq!(all.opt_text("first").expect("texts"), vec![first; length]);
                let some = all.opt_texts("some").expect("texts");
                assert_eq!((some.get(0), some.iter().len()), ((length > 2).then_some("one"), length));
                assert_eq!(all.text_lists("empty").expect("lists").get(0).count(), 0);
                let alone = read(&["none", "same"]);
                assert_eq!((alone.rows(), alone.texts("same").expect("texts").iter().len()), (length, length));
                assert!(alone.texts("none").is_err() == (length > 0));
            }
        }
    }

    #[test]
    fn other_files_are_refused() {
        let open = |bytes: Vec<u8>, version| TableFile::open(TableSource::from(bytes), "example", version).err();
        assert!(matches!(open(table(1), 2), Some(TableError::Schema { .. })));
        assert!(open(b"no parquet".to_vec(), 1).is_some());
        assert!(TableFile::open(TableSource::File("/nowhere".into()), "example", 1).is_err());
    }
}
