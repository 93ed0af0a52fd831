//! Tables that are written a row group at a time. The bytes are those of [`TableWriter::finish`] over all rows.
//!
//! A column that says in one row group what it says in another is encoded once: those that say the same in every row, which are
//! most columns of most tables, and those of which it is known to the caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::{FieldRef, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use crate::table::{BATCH_ROWS, Column, ROW_GROUP_ROWS, TableError, TableWriter};

/// A table that is being written. Row groups are encoded by any number of threads at once, and appended in order.
pub struct TableStream {
    encoder: Arc<TableEncoder>,
    writer: SerializedFileWriter<Vec<u8>>,
}

/// What encodes the row groups of a table.
pub struct TableEncoder {
    columns: Vec<ColumnStream>,
    properties: WriterProperties,
}

/// One column of a table: a writer of chunks of its own, for those of a whole row group would all be made for each.
struct ColumnStream {
    field: FieldRef,
    schema: Arc<Schema>,
    chunks: ArrowRowGroupWriterFactory,
    known: Mutex<HashMap<Said, Arc<KnownChunk>>>,
}

/// What a column says in a row group, where that may be said again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Said {
    /// Nothing in any of so many rows.
    Nothing(usize),
    /// The same in each of so many rows.
    Same(usize, String),
    /// What the caller calls by this number.
    Shared(u64),
}

/// An encoded column that may be appended any number of times.
struct KnownChunk {
    bytes: Bytes,
    close: ColumnCloseResult,
}

/// A row group that is encoded and not yet part of a table.
pub struct EncodedGroup(Vec<EncodedColumn>);

enum EncodedColumn {
    New(Vec<ArrowColumnChunk>),
    Known(Arc<KnownChunk>),
}

impl TableStream {
    /// The most rows of a row group.
    pub const GROUP_ROWS: usize = ROW_GROUP_ROWS;

    /// A table with the schema and the columns of `shape`, which need no rows.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn new(shape: TableWriter) -> Result<Self, TableError> {
        let (schema, properties, _) = shape.into_parts()?;
        let columns = schema.fields().iter().map(|field| ColumnStream::new(field, &properties));
        let columns = columns.collect::<Result<_, _>>()?;
        let writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties.clone()))?;
        let (writer, _) = writer.into_serialized_writer()?;
        Ok(TableStream { encoder: Arc::new(TableEncoder { columns, properties }), writer })
    }

    /// What encodes its row groups.
    pub fn encoder(&self) -> Arc<TableEncoder> {
        self.encoder.clone()
    }

    /// Appends the next group.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn append(&mut self, group: EncodedGroup) -> Result<(), TableError> {
        let mut writer = self.writer.next_row_group()?;
        for column in group.0 {
            match column {
                EncodedColumn::New(chunks) => {
                    chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut writer))?;
                }
                EncodedColumn::Known(known) => writer.append_column(&known.bytes, known.close.clone())?,
            }
        }
        writer.close()?;
        Ok(())
    }

    /// The bytes of the Parquet file.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn finish(self) -> Result<Vec<u8>, TableError> {
        Ok(self.writer.into_inner()?)
    }
}

impl TableEncoder {
    /// Whether the column `name` was encoded under `number`, so that it need not be told again.
    pub fn knows(&self, name: &str, number: u64) -> bool {
        let mut columns = self.columns.iter();
        columns
            .find(|column| column.field.name() == name)
            .is_some_and(|column| column.get(&Said::Shared(number)).is_some())
    }

    /// Encodes `rows`, at most [`TableStream::GROUP_ROWS`], as the group at position `group`.
    ///
    /// # Errors
    /// When the columns differ in length or are not those of the table, or the libraries refuse.
    pub fn encode(&self, group: usize, rows: TableWriter) -> Result<EncodedGroup, TableError> {
        let (_, _, columns) = rows.into_parts()?;
        if columns.len() != self.columns.len() {
            return Err(TableError::Damaged);
        }
        let encode = |(stream, column): (&ColumnStream, Column)| stream.encode(&self.properties, group, column);
        let columns = self.columns.iter().zip(columns).map(encode).collect::<Result<Vec<_>, _>>()?;
        match columns.windows(2).all(|pair| pair[0].rows() == pair[1].rows()) {
            true => Ok(EncodedGroup(columns)),
            false => Err(TableError::Damaged),
        }
    }
}

impl ColumnStream {
    fn new(field: &FieldRef, properties: &WriterProperties) -> Result<Self, TableError> {
        let schema = Arc::new(Schema::new(vec![field.clone()]));
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties.clone()))?;
        let (_, chunks) = writer.into_serialized_writer()?;
        Ok(ColumnStream { field: field.clone(), schema, chunks, known: Mutex::default() })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Said, Arc<KnownChunk>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, said: &Said) -> Option<Arc<KnownChunk>> {
        self.known().get(said).cloned()
    }

    fn encode(&self, properties: &WriterProperties, group: usize, column: Column) -> Result<EncodedColumn, TableError> {
        let (array, said) = match column {
            Column::Says(array) => {
                let said = Said::of(&array);
                (array, said)
            }
            Column::Shared(array, number) => (array, Some(Said::Shared(number))),
            Column::Known(number) => {
                return self.get(&Said::Shared(number)).map(EncodedColumn::Known).ok_or(TableError::Damaged);
            }
        };
        let Some(said) = said else { return Ok(EncodedColumn::New(self.chunks(group, &array)?)) };
        if let Some(known) = self.get(&said) {
            return Ok(EncodedColumn::Known(known));
        }
        let known = Arc::new(self.keep(properties, self.chunks(group, &array)?)?);
        self.known().insert(said, known.clone());
        Ok(EncodedColumn::Known(known))
    }

    /// The chunk of each leaf.
    fn chunks(&self, group: usize, array: &ArrayRef) -> Result<Vec<ArrowColumnChunk>, TableError> {
        if array.data_type() != self.field.data_type() || (array.null_count() > 0 && !self.field.is_nullable()) {
            return Err(TableError::Damaged);
        }
        let mut writers = self.chunks.create_column_writers(group)?;
        let mut start = 0;
        while start < array.len() {
            let rows = BATCH_ROWS.min(array.len() - start);
            let leaves = compute_leaves(&self.field, &array.slice(start, rows))?;
            for (writer, leaf) in writers.iter_mut().zip(leaves) {
                writer.write(&leaf)?;
            }
            start += rows;
        }
        Ok(writers.into_iter().map(|writer| writer.close()).collect::<Result<_, _>>()?)
    }

    /// The only one of `chunks` as a copy that may be appended more than once.
    fn keep(&self, properties: &WriterProperties, chunks: Vec<ArrowColumnChunk>) -> Result<KnownChunk, TableError> {
        let [chunk] = <[ArrowColumnChunk; 1]>::try_from(chunks).map_err(|_| TableError::Damaged)?;
        let close = chunk.close().clone();
        let writer = ArrowWriter::try_new(Vec::new(), self.schema.clone(), Some(properties.clone()))?;
        let (mut writer, _) = writer.into_serialized_writer()?;
        let mut group = writer.next_row_group()?;
        chunk.append_to_row_group(&mut group)?;
        let group = group.close()?;
        let place = |offset: i64| usize::try_from(offset).map_err(|_| TableError::Damaged);
        let column = group.columns().first().ok_or(TableError::Damaged)?;
        let data = place(column.data_page_offset())?;
        let start = column.dictionary_page_offset().map_or(Ok(data), place)?;
        let end = start + place(column.compressed_size())?;
        // The offsets of the copy are counted from its first byte.
        let close = close.update_dictionary_location(data - start)?;
        let file = writer.into_inner()?;
        let bytes = file.get(start..end).ok_or(TableError::Damaged)?;
        Ok(KnownChunk { bytes: Bytes::copy_from_slice(bytes), close })
    }
}

impl EncodedColumn {
    fn rows(&self) -> Option<u64> {
        match self {
            EncodedColumn::New(chunks) => chunks.first().map(|chunk| chunk.close().rows_written),
            EncodedColumn::Known(known) => Some(known.close.rows_written),
        }
    }
}

impl Said {
    /// What a column says in every row; `None` where rows differ, and of lists.
    fn of(array: &ArrayRef) -> Option<Said> {
        let rows = array.len();
        if array.data_type().is_nested() || rows == 0 {
            return None;
        }
        if array.null_count() == rows {
            return Some(Said::Nothing(rows));
        }
        let texts = array.as_any().downcast_ref::<StringArray>().filter(|texts| texts.null_count() == 0)?;
        let first = texts.value(0);
        texts.iter().all(|text| text == Some(first)).then(|| Said::Same(rows, first.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rows: std::ops::Range<usize>) -> TableWriter {
        let texts: Vec<String> = rows.clone().map(|i| format!("row {}", i % 700)).collect();
        let mut writer = TableWriter::new("example", 1);
        writer.text("id", texts.iter().map(String::as_str));
        writer.opt_float("score", rows.clone().map(|i| (i % 3 != 0).then_some(i as f64 / 7.0)));
        writer.text_list("words", texts.iter().map(|text| text.split(' ')));
        writer.text("same", texts.iter().map(|_| "all"));
        writer.opt_text("none", texts.iter().map(|_| None));
        writer.opt_bool("nor", texts.iter().map(|_| None));
        writer.opt_text("late", rows.clone().map(|i| (i >= 9_000).then_some("late")));
        writer
    }

    #[test]
    fn the_bytes_are_those_of_all_rows_at_once() {
        for rows in [0, 1, 5_000, 8192, 20_000] {
            let mut stream = TableStream::new(part(0..0)).expect("a table");
            let starts: Vec<usize> = (0..rows).step_by(TableStream::GROUP_ROWS).collect();
            // Encoded in another order than they are appended in.
            let mut groups: Vec<(usize, EncodedGroup)> = Vec::new();
            for (group, start) in starts.into_iter().enumerate().rev() {
                let end = rows.min(start + TableStream::GROUP_ROWS);
                groups.push((group, stream.encoder().encode(group, part(start..end)).expect("encode")));
            }
            groups.sort_by_key(|(group, _)| *group);
            for (_, group) in groups {
                stream.append(group).expect("append");
            }
            assert!(stream.finish().expect("finish") == part(0..rows).finish().expect("finish"), "{rows} rows");
        }
    }

    #[test]
    fn what_is_said_again_is_encoded_once() {
        let column = |table: &mut TableWriter, rows: std::ops::Range<usize>| {
            let texts: Vec<String> = rows.map(|i| format!("row {i}")).collect();
            table.text("id", texts.iter().map(String::as_str));
        };
        let whole = |rows: &[std::ops::Range<usize>]| {
            let mut table = TableWriter::new("example", 1);
            let texts: Vec<String> = rows.iter().cloned().flatten().map(|i| format!("row {i}")).collect();
            table.text("id", texts.iter().map(String::as_str));
            table.finish().expect("bytes")
        };
        let mut shape = TableWriter::new("example", 1);
        column(&mut shape, 0..0);
        let mut stream = TableStream::new(shape).expect("a table");
        for group in 0..3 {
            let mut table = TableWriter::new("example", 1);
            assert_eq!(stream.encoder().knows("id", 7), group > 0);
            match stream.encoder().knows("id", 7) {
                true => table.known("id", 7),
                false => {
                    column(&mut table, 0..8192);
                    table.shared(7);
                }
            }
            let encoded = stream.encoder().encode(group, table).expect("encode");
            stream.append(encoded).expect("append");
        }
        assert!(!stream.encoder().knows("other", 7) && !stream.encoder().knows("id", 8));
        let mut unknown = TableWriter::new("example", 1);
        unknown.known("id", 8);
        assert!(stream.encoder().encode(3, unknown).is_err());
        assert!(stream.finish().expect("bytes") == whole(&[0..8192, 0..8192, 0..8192]));
        let mut alone = TableWriter::new("example", 1);
        alone.known("id", 7);
        assert!(alone.finish().is_err());
    }

    #[test]
    fn other_columns_are_refused() {
        let stream = TableStream::new(part(0..0)).expect("a table");
        let mut other = TableWriter::new("example", 1);
        other.text("id", ["a"]);
        assert!(stream.encoder().encode(0, other).is_err());
        let shape = |ids: &[&str], scores: &[Option<f64>]| {
            let mut table = TableWriter::new("example", 1);
            table.text("id", ids.iter().copied());
            table.opt_float("score", scores.iter().copied());
            table
        };
        let stream = TableStream::new(shape(&[], &[])).expect("a table");
        assert!(stream.encoder().encode(0, shape(&["a", "b"], &[None, None])).is_ok());
        assert!(stream.encoder().encode(0, shape(&["a", "b"], &[None])).is_err());
        let mut swapped = TableWriter::new("example", 1);
        swapped.opt_float("score", [None]);
        swapped.text("id", ["a"]);
        assert!(stream.encoder().encode(0, swapped).is_err());
    }
}
