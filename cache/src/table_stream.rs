//! Tables that are written a row group at a time. The bytes are those of [`TableWriter::finish`] over all rows.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::file::writer::SerializedFileWriter;

use crate::table::{BATCH_ROWS, ROW_GROUP_ROWS, TableError, TableWriter};

/// A table that is being written. Row groups are encoded by any number of threads at once, and appended in order.
pub struct TableStream {
    schema: Arc<Schema>,
    writer: SerializedFileWriter<Vec<u8>>,
    groups: ArrowRowGroupWriterFactory,
}

/// A row group that is encoded and not yet part of a table.
pub struct EncodedGroup(Vec<ArrowColumnChunk>);

impl TableStream {
    /// The most rows of a row group; every group but the last has as many.
    pub const GROUP_ROWS: usize = ROW_GROUP_ROWS;

    /// A table with the schema and the columns of `shape`, which need no rows.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn new(shape: TableWriter) -> Result<Self, TableError> {
        let (schema, properties, _) = shape.into_parts()?;
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
        let (writer, groups) = writer.into_serialized_writer()?;
        Ok(TableStream { schema, writer, groups })
    }

    /// Encodes `rows`, at most [`TableStream::GROUP_ROWS`], as the group at position `group`.
    ///
    /// # Errors
    /// When the columns differ in length or are not those of the table, or the libraries refuse.
    pub fn encode(&self, group: usize, rows: TableWriter) -> Result<EncodedGroup, TableError> {
        let (_, _, columns) = rows.into_parts()?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        let mut writers = self.groups.create_column_writers(group)?;
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = BATCH_ROWS.min(batch.num_rows() - start);
            let slice = batch.slice(start, rows);
            let mut next = writers.iter_mut();
            for (field, column) in self.schema.fields().iter().zip(slice.columns()) {
                for leaf in compute_leaves(field, column)? {
                    next.next().ok_or(TableError::Damaged)?.write(&leaf)?;
                }
            }
            start += rows;
        }
        Ok(EncodedGroup(writers.into_iter().map(|writer| writer.close()).collect::<Result<_, _>>()?))
    }

    /// Appends the next group.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn append(&mut self, group: EncodedGroup) -> Result<(), TableError> {
        let mut writer = self.writer.next_row_group()?;
        for chunk in group.0 {
            chunk.append_to_row_group(&mut writer)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rows: std::ops::Range<usize>) -> TableWriter {
        let texts: Vec<String> = rows.clone().map(|i| format!("row {}", i % 700)).collect();
        let mut writer = TableWriter::new("example", 1);
        writer.text("id", texts.iter().map(String::as_str));
        writer.opt_float("score", rows.clone().map(|i| (i % 3 != 0).then_some(i as f64 / 7.0)));
        writer.text_list("words", texts.iter().map(|text| text.split(' ')));
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
                groups.push((group, stream.encode(group, part(start..end)).expect("encode")));
            }
            groups.sort_by_key(|(group, _)| *group);
            for (_, group) in groups {
                stream.append(group).expect("append");
            }
            assert!(stream.finish().expect("finish") == part(0..rows).finish().expect("finish"), "{rows} rows");
        }
    }

    #[test]
    fn other_columns_are_refused() {
        let stream = TableStream::new(part(0..0)).expect("a table");
        let mut other = TableWriter::new("example", 1);
        other.text("id", ["a"]);
        assert!(stream.encode(0, other).is_err());
    }
}
