//! Tables: Parquet files whose bytes are a function of their rows alone.
//!
//! The same rows give the same bytes on every run, thread count and machine: all settings of the writer are fixed here,
//! every column is written from one batch sequence cut at fixed row counts, the `created_by` field holds our own format
//! name instead of the library's version, and no time or host enters the metadata. An upgrade of the Parquet library may
//! change the bytes it writes; such an upgrade is a bump of the code version of every stage that writes tables.
//!
//! A table carries its schema's name and version in the file's key-value metadata and is refused under another one.

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Float64Builder, Int64Array, Int64Builder, ListArray,
    ListBuilder, RecordBatch, RecordBatchOptions, RecordBatchReader, StringArray, StringBuilder,
};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

/// Rows written at a time; part of what fixes the bytes.
pub(crate) const BATCH_ROWS: usize = 1024;
/// Rows per row group; part of what fixes the bytes.
pub(crate) const ROW_GROUP_ROWS: usize = 8192;
/// About how long texts are, mostly ids.
const TEXT_BYTES: usize = 16;
const CREATED_BY: &str = "ragstage table format 1";
const SCHEMA_KEY: &str = "ragstage.schema";

/// A table that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The Parquet library refused.
    #[error("parquet: {0}")]
    Parquet(#[from] ParquetError),
    /// The file could not be read.
    #[error("file: {0}")]
    File(#[from] std::io::Error),
    /// The Arrow library refused.
    #[error("arrow: {0}")]
    Arrow(#[from] ArrowError),
    /// The Parquet library broke down on the file: it asserts what a damaged file does not keep.
    #[error("the file is damaged")]
    Damaged,
    /// The file is a table of another kind or version.
    #[error("expected a table of schema {expected}, found {found}")]
    Schema {
        /// Name and version that were asked for.
        expected: String,
        /// Name and version in the file.
        found: String,
    },
    /// A column is missing or has another type.
    #[error("expected a column {column} of {expected}, found {found}")]
    Column {
        /// The column's name.
        column: String,
        /// The type that was asked for.
        expected: &'static str,
        /// What the file has.
        found: String,
    },
    /// A null where the schema has none.
    #[error("column {column} holds a null in row {row}")]
    Null {
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: usize,
    },
    /// A number that the column cannot hold.
    #[error("column {column} holds {found} in row {row}, which is out of its range")]
    Range {
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: usize,
        /// The number.
        found: i64,
    },
}

/// Collects columns and writes them as one Parquet file.
pub struct TableWriter {
    schema: String,
    fields: Vec<Field>,
    columns: Vec<Column>,
    /// The columns that are written as they are.
    plain: Vec<String>,
}

/// A column of one row group.
pub(crate) enum Column {
    /// What it says.
    Says(ArrayRef),
    /// What it says, which is the same in all groups where it has this number.
    Shared(ArrayRef, u64),
    /// It says what the stream knows under this number.
    Known(u64),
}

impl TableWriter {
    /// An empty table of schema `name`, version `version`.
    pub fn new(name: &str, version: u32) -> Self {
        TableWriter { schema: format!("{name}-v{version}"), fields: Vec::new(), columns: Vec::new(), plain: Vec::new() }
    }

    fn push(&mut self, name: &str, nullable: bool, array: ArrayRef) {
        self.fields.push(Field::new(name, array.data_type().clone(), nullable));
        self.columns.push(Column::Says(array));
    }

    /// A column of optional byte strings of which no two are alike, such as digests: to look for repetitions in them is in vain.
    pub fn opt_digests<'a>(&mut self, name: &str, values: impl IntoIterator<Item = Option<&'a [u8]>>) {
        self.opt_binary(name, values);
        self.plain.push(name.to_string());
    }

    /// The last column says the same in all row groups of a [`TableStream`](crate::table_stream::TableStream) where it is given
    /// this `number`: it is encoded once.
    pub fn shared(&mut self, number: u64) {
        if let Some(last) = self.columns.last_mut()
            && let Column::Says(array) = last
        {
            *last = Column::Shared(array.clone(), number);
        }
    }

    /// The column `name`, which is that of this `number`: for a stream that knows it
    /// ([`TableEncoder::knows`](crate::table_stream::TableEncoder::knows)).
    pub fn known(&mut self, name: &str, number: u64) {
        self.fields.push(Field::new(name, DataType::Null, true));
        self.columns.push(Column::Known(number));
    }

    /// A column of texts.
    pub fn text<'a>(&mut self, name: &str, values: impl IntoIterator<Item = &'a str>) {
        let values = values.into_iter();
        let rows = values.size_hint().0;
        let mut builder = StringBuilder::with_capacity(rows, rows * TEXT_BYTES);
        values.for_each(|value| builder.append_value(value));
        self.push(name, false, Arc::new(builder.finish()));
    }

    /// A column of optional texts.
    pub fn opt_text<'a>(&mut self, name: &str, values: impl IntoIterator<Item = Option<&'a str>>) {
        self.push(name, true, Arc::new(values.into_iter().collect::<StringArray>()));
    }

    /// A column of optional byte strings.
    pub fn opt_binary<'a>(&mut self, name: &str, values: impl IntoIterator<Item = Option<&'a [u8]>>) {
        self.push(name, true, Arc::new(values.into_iter().collect::<BinaryArray>()));
    }

    /// A column of whole numbers.
    pub fn int(&mut self, name: &str, values: impl IntoIterator<Item = i64>) {
        self.push(name, false, Arc::new(Int64Array::from_iter_values(values)));
    }

    /// A column of optional whole numbers.
    pub fn opt_int(&mut self, name: &str, values: impl IntoIterator<Item = Option<i64>>) {
        self.push(name, true, Arc::new(values.into_iter().collect::<Int64Array>()));
    }

    /// A column of optional numbers.
    pub fn opt_float(&mut self, name: &str, values: impl IntoIterator<Item = Option<f64>>) {
        self.push(name, true, Arc::new(values.into_iter().collect::<Float64Array>()));
    }

    /// A column of optional truth values.
    pub fn opt_bool(&mut self, name: &str, values: impl IntoIterator<Item = Option<bool>>) {
        self.push(name, true, Arc::new(values.into_iter().collect::<BooleanArray>()));
    }

    /// A column of lists of texts.
    pub fn text_list<'a, L>(&mut self, name: &str, values: impl IntoIterator<Item = L>)
    where
        L: IntoIterator<Item = &'a str>,
    {
        let mut builder = ListBuilder::new(StringBuilder::new());
        for list in values {
            for value in list {
                builder.values().append_value(value);
            }
            builder.append(true);
        }
        self.push(name, false, Arc::new(builder.finish()));
    }

    /// A column of lists of whole numbers.
    pub fn int_list<L>(&mut self, name: &str, values: impl IntoIterator<Item = L>)
    where
        L: IntoIterator<Item = i64>,
    {
        let mut builder = ListBuilder::new(Int64Builder::new());
        for list in values {
            for value in list {
                builder.values().append_value(value);
            }
            builder.append(true);
        }
        self.push(name, false, Arc::new(builder.finish()));
    }

    /// A column of lists of optional numbers.
    pub fn float_list<L>(&mut self, name: &str, values: impl IntoIterator<Item = L>)
    where
        L: IntoIterator<Item = Option<f64>>,
    {
        let mut builder = ListBuilder::new(Float64Builder::new());
        for list in values {
            for value in list {
                builder.values().append_option(value);
            }
            builder.append(true);
        }
        self.push(name, false, Arc::new(builder.finish()));
    }

    /// The schema, how it is written, and the columns.
    pub(crate) fn into_parts(self) -> Result<(Arc<Schema>, WriterProperties, Vec<Column>), TableError> {
        let mut properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_created_by(CREATED_BY.to_string())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_write_batch_size(BATCH_ROWS)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_key_value_metadata(Some(vec![KeyValue::new(SCHEMA_KEY.to_string(), self.schema)]));
        for name in self.plain {
            let column = ColumnPath::from(name);
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column.clone(), Encoding::PLAIN)
                .set_column_statistics_enabled(column.clone(), EnabledStatistics::None)
                .set_column_compression(column, Compression::UNCOMPRESSED);
        }
        Ok((Arc::new(Schema::new(self.fields)), properties.build(), self.columns))
    }

    /// The bytes of the Parquet file.
    ///
    /// # Errors
    /// When the columns differ in length, or the libraries refuse.
    pub fn finish(self) -> Result<Vec<u8>, TableError> {
        let (schema, properties, columns) = self.into_parts()?;
        let columns = columns.into_iter().map(|column| match column {
            Column::Says(array) | Column::Shared(array, _) => Ok(array),
            Column::Known(_) => Err(TableError::Damaged),
        });
        let batch = RecordBatch::try_new(schema.clone(), columns.collect::<Result<_, _>>()?)?;
        let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = BATCH_ROWS.min(batch.num_rows() - start);
            writer.write(&batch.slice(start, rows))?;
            start += rows;
        }
        Ok(writer.into_inner()?)
    }
}

/// The field with the kinds of texts and numbers that are read here in place of their relatives.
fn as_text(field: &Field) -> Field {
    let kind = match field.data_type() {
        DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(_, _) => DataType::Utf8,
        DataType::Float32 | DataType::Float16 => DataType::Float64,
        other => other.clone(),
    };
    Field::new(field.name(), kind, true)
}

/// A table in memory. Whatever is read of it has one entry per row: Parquet and Arrow refuse columns of different lengths.
pub struct TableReader {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl TableReader {
    /// Reads the Parquet file `bytes` as a table of schema `name`, version `version`.
    ///
    /// # Errors
    /// When the bytes are not Parquet or carry another schema.
    pub fn open(bytes: Vec<u8>, name: &str, version: u32) -> Result<Self, TableError> {
        guarded(|| Self::read(bytes, name, version))
    }

    /// Reads the Parquet file `bytes`, whoever made it: a table whose schema carries no name. Texts may be of any of Arrow's kinds
    /// of texts.
    ///
    /// # Errors
    /// When the bytes are not Parquet.
    pub fn open_any(bytes: Vec<u8>) -> Result<Self, TableError> {
        guarded(|| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(bytes_of(bytes))?;
            let fields = builder.schema().fields().iter();
            let schema = Arc::new(Schema::new(fields.map(|field| as_text(field)).collect::<Vec<_>>()));
            let mut batches = Vec::new();
            for batch in builder.with_batch_size(ROW_GROUP_ROWS).build()? {
                let batch = batch?;
                let columns = batch.columns().iter().zip(schema.fields());
                let columns = columns
                    .map(|(column, field)| arrow::compute::cast(column, field.data_type()))
                    .collect::<Result<Vec<_>, _>>()?;
                batches.push(RecordBatch::try_new(schema.clone(), columns)?);
            }
            let rows = batches.iter().map(RecordBatch::num_rows).sum();
            Ok(TableReader { schema, batches, rows })
        })
    }

    fn read(bytes: Vec<u8>, name: &str, version: u32) -> Result<Self, TableError> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes_of(bytes))?;
        check_schema(builder.metadata(), name, version)?;
        Self::of(builder.with_batch_size(ROW_GROUP_ROWS).build()?)
    }

    /// All that `reader` gives.
    pub(crate) fn of(reader: ParquetRecordBatchReader) -> Result<Self, TableError> {
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>()?;
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        Ok(TableReader { schema, batches, rows })
    }

    /// The columns `fields`, of which those that `said` has are whole, and the others are in the batches `read`, in their order.
    pub(crate) fn of_columns(
        fields: Vec<Arc<Field>>,
        said: Vec<Option<ArrayRef>>,
        read: Vec<RecordBatch>,
        rows: usize,
    ) -> Result<Self, TableError> {
        let schema = Arc::new(Schema::new(fields));
        let batch = match read.as_slice() {
            [] if said.iter().all(Option::is_some) => None,
            [] if rows == 0 => return Ok(TableReader { schema, batches: Vec::new(), rows }),
            [] => return Err(TableError::Damaged),
            [only] => Some(only.clone()),
            [first, ..] => Some(arrow::compute::concat_batches(&first.schema(), &read)?),
        };
        let mut others = batch.iter().flat_map(|batch| batch.columns()).cloned();
        let columns = said.into_iter().map(|said| said.or_else(|| others.next()).ok_or(TableError::Damaged));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
        Ok(TableReader { schema, batches: vec![batch], rows })
    }

    /// Whether there is a column of that name: some are written only where they say something.
    pub fn has(&self, name: &str) -> bool {
        self.schema.column_with_name(name).is_some()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn each<A: Array + 'static>(
        &self,
        name: &str,
        expected: &'static str,
        mut visit: impl FnMut(&A),
    ) -> Result<(), TableError> {
        let missing = |found: String| TableError::Column { column: name.to_string(), expected, found };
        let index = self.schema.index_of(name).map_err(|_| missing("no such column".to_string()))?;
        for batch in &self.batches {
            let column = batch.column(index);
            match column.as_any().downcast_ref::<A>() {
                Some(array) => visit(array),
                None => return Err(missing(column.data_type().to_string())),
            }
        }
        Ok(())
    }

    fn all<T>(name: &str, values: Vec<Option<T>>) -> Result<Vec<T>, TableError> {
        values
            .into_iter()
            .enumerate()
            .map(|(row, value)| value.ok_or_else(|| TableError::Null { column: name.to_string(), row }))
            .collect()
    }

    /// A column as one array, or all of it that there is.
    fn whole<A: Array + Clone + 'static>(&self, name: &str, expected: &'static str) -> Result<A, TableError> {
        let mut arrays: Vec<A> = Vec::with_capacity(self.batches.len());
        self.each::<A>(name, expected, |array| arrays.push(array.clone()))?;
        if let [only] = arrays.as_slice() {
            return Ok(only.clone());
        }
        let parts: Vec<&dyn Array> = arrays.iter().map(|array| array as &dyn Array).collect();
        let empty;
        let whole = match parts.as_slice() {
            [] => {
                let field = self.schema.field_with_name(name)?;
                empty = arrow::array::new_empty_array(field.data_type());
                empty
            }
            parts => arrow::compute::concat(parts)?,
        };
        let found = || TableError::Column { column: name.to_string(), expected, found: whole.data_type().to_string() };
        whole.as_any().downcast_ref::<A>().cloned().ok_or_else(found)
    }

    /// A column of texts, which are not copied.
    pub fn texts(&self, name: &str) -> Result<Texts, TableError> {
        let texts = self.opt_texts(name)?;
        let rows = if texts.0.null_count() > 0 { texts.0.len() } else { 0 };
        match (0..rows).find(|&row| texts.0.is_null(row)) {
            Some(row) => Err(TableError::Null { column: name.to_string(), row }),
            None => Ok(texts),
        }
    }

    /// A column of optional texts, which are not copied.
    pub fn opt_texts(&self, name: &str) -> Result<Texts, TableError> {
        Ok(Texts(self.whole(name, "text")?))
    }

    /// A column of optional byte strings, which are not copied.
    pub fn opt_binaries(&self, name: &str) -> Result<Binaries, TableError> {
        Ok(Binaries(self.whole(name, "bytes")?))
    }

    /// A column of lists of texts, which are not copied.
    pub fn text_lists(&self, name: &str) -> Result<TextLists, TableError> {
        let lists: ListArray = self.whole(name, "lists of text")?;
        let missing = |found: &DataType| TableError::Column {
            column: name.to_string(),
            expected: "lists of text",
            found: found.to_string(),
        };
        let values = lists.values().as_any().downcast_ref::<StringArray>().cloned();
        let values = values.ok_or_else(|| missing(lists.data_type()))?;
        if lists.null_count() > 0 || values.null_count() > 0 {
            let holds_null = |row: &usize| lists.is_null(*row) || lists.value(*row).null_count() > 0;
            if let Some(row) = (0..lists.len()).find(holds_null) {
                return Err(TableError::Null { column: name.to_string(), row });
            }
        }
        Ok(TextLists { lists, values })
    }

    /// A column of texts.
    pub fn text(&self, name: &str) -> Result<Vec<String>, TableError> {
        Self::all(name, self.opt_text(name)?)
    }

    /// A column of optional texts.
    pub fn opt_text(&self, name: &str) -> Result<Vec<Option<String>>, TableError> {
        let mut values = Vec::with_capacity(self.rows);
        self.each::<StringArray>(name, "text", |a| values.extend(a.iter().map(|v| v.map(str::to_string))))?;
        Ok(values)
    }

    /// A column of optional byte strings.
    pub fn opt_binary(&self, name: &str) -> Result<Vec<Option<Vec<u8>>>, TableError> {
        let mut values = Vec::with_capacity(self.rows);
        self.each::<BinaryArray>(name, "bytes", |a| values.extend(a.iter().map(|v| v.map(<[u8]>::to_vec))))?;
        Ok(values)
    }

    /// A column of whole numbers.
    pub fn int(&self, name: &str) -> Result<Vec<i64>, TableError> {
        Self::all(name, self.opt_int(name)?)
    }

    /// A column of whole numbers that a `T` holds.
    pub fn number<T: TryFrom<i64>>(&self, name: &str) -> Result<Vec<T>, TableError> {
        let numbers = self.int(name)?.into_iter().enumerate();
        numbers.map(|(row, number)| in_range(name, row, number)).collect()
    }

    /// A column of optional whole numbers that a `T` holds.
    pub fn opt_number<T: TryFrom<i64>>(&self, name: &str) -> Result<Vec<Option<T>>, TableError> {
        let numbers = self.opt_int(name)?.into_iter().enumerate();
        numbers.map(|(row, number)| number.map(|number| in_range(name, row, number)).transpose()).collect()
    }

    /// A column of optional whole numbers.
    pub fn opt_int(&self, name: &str) -> Result<Vec<Option<i64>>, TableError> {
        let mut values = Vec::with_capacity(self.rows);
        self.each::<Int64Array>(name, "whole numbers", |a| values.extend(a.iter()))?;
        Ok(values)
    }

    /// A column of optional numbers.
    pub fn opt_float(&self, name: &str) -> Result<Vec<Option<f64>>, TableError> {
        let mut values = Vec::with_capacity(self.rows);
        self.each::<Float64Array>(name, "numbers", |a| values.extend(a.iter()))?;
        Ok(values)
    }

    /// A column of optional truth values.
    pub fn opt_bool(&self, name: &str) -> Result<Vec<Option<bool>>, TableError> {
        let mut values = Vec::with_capacity(self.rows);
        self.each::<BooleanArray>(name, "truth values", |a| values.extend(a.iter()))?;
        Ok(values)
    }

    fn lists<A: Array + 'static, T>(
        &self,
        name: &str,
        expected: &'static str,
        read: impl Fn(&A, usize) -> Option<T>,
    ) -> Result<Vec<Vec<T>>, TableError> {
        let mut lists: Vec<Option<Vec<T>>> = Vec::with_capacity(self.rows);
        let mut wrong: Option<DataType> = None;
        self.each::<ListArray>(name, expected, |a| match a.values().as_any().downcast_ref::<A>() {
            Some(values) => lists.extend(a.value_offsets().windows(2).enumerate().map(|(row, pair)| match pair {
                [start, end] if a.is_valid(row) => (*start as usize..*end as usize).map(|i| read(values, i)).collect(),
                _ => None,
            })),
            None => wrong = Some(a.data_type().clone()),
        })?;
        match wrong {
            Some(found) => Err(TableError::Column { column: name.to_string(), expected, found: found.to_string() }),
            None => Self::all(name, lists),
        }
    }

    /// A column of lists of texts.
    pub fn text_list(&self, name: &str) -> Result<Vec<Vec<String>>, TableError> {
        self.lists::<StringArray, _>(name, "lists of text", |a, i| a.is_valid(i).then(|| a.value(i).to_string()))
    }

    /// A column of lists of texts, of which equal ones are one text in memory.
    pub fn shared_text_list(&self, name: &str) -> Result<Vec<Vec<Arc<str>>>, TableError> {
        let known: RefCell<HashSet<Arc<str>>> = RefCell::default();
        self.lists::<StringArray, _>(name, "lists of text", |a, i| {
            if a.is_null(i) {
                return None;
            }
            let mut known = known.borrow_mut();
            if let Some(text) = known.get(a.value(i)) {
                return Some(text.clone());
            }
            let text: Arc<str> = a.value(i).into();
            known.insert(text.clone());
            Some(text)
        })
    }

    /// A column of lists of whole numbers.
    pub fn int_list(&self, name: &str) -> Result<Vec<Vec<i64>>, TableError> {
        self.lists::<Int64Array, _>(name, "lists of whole numbers", |a, i| a.is_valid(i).then(|| a.value(i)))
    }

    /// A column of lists of optional numbers.
    pub fn float_list(&self, name: &str) -> Result<Vec<Vec<Option<f64>>>, TableError> {
        self.lists::<Float64Array, _>(name, "lists of numbers", |a, i| Some(a.is_valid(i).then(|| a.value(i))))
    }
}

/// Texts of a column, by row.
#[derive(Debug, Clone)]
pub struct Texts(StringArray);

impl Texts {
    /// The text of `row`; `None` where there is none.
    pub fn get(&self, row: usize) -> Option<&str> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }

    /// The texts of all rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.0.iter()
    }
}

/// Byte strings of a column, by row.
#[derive(Debug, Clone)]
pub struct Binaries(BinaryArray);

impl Binaries {
    /// The bytes of `row`; `None` where there are none.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }
}

/// Lists of texts of a column, by row.
#[derive(Debug, Clone)]
pub struct TextLists {
    lists: ListArray,
    values: StringArray,
}

impl TextLists {
    /// The texts of `row`; none where there is no such row.
    pub fn get(&self, row: usize) -> impl ExactSizeIterator<Item = &str> {
        let range = match self.lists.value_offsets().get(row..row + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        };
        range.map(|position| self.values.value(position))
    }
}

/// Refuses a file whose schema is not `name`, version `version`.
pub(crate) fn check_schema(metadata: &ParquetMetaData, name: &str, version: u32) -> Result<(), TableError> {
    let expected = format!("{name}-v{version}");
    let pairs = metadata.file_metadata().key_value_metadata();
    let found = pairs
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == SCHEMA_KEY))
        .and_then(|pair| pair.value.clone())
        .unwrap_or_else(|| "a file without one".to_string());
    if found == expected { Ok(()) } else { Err(TableError::Schema { expected, found }) }
}

/// What the Parquet library makes of a file; it asserts what a damaged file does not keep.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(TableError::Damaged))
}

fn in_range<T: TryFrom<i64>>(column: &str, row: usize, found: i64) -> Result<T, TableError> {
    T::try_from(found).map_err(|_| TableError::Range { column: column.to_string(), row, found })
}

fn bytes_of(bytes: Vec<u8>) -> bytes::Bytes {
    bytes::Bytes::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize) -> Vec<u8> {
        let texts: Vec<String> = (0..rows).map(|i| format!("row {i}")).collect();
        let mut writer = TableWriter::new("example", 1);
        writer.text("id", texts.iter().map(String::as_str));
        writer.opt_float("score", (0..rows).map(|i| (i % 3 != 0).then_some(i as f64 / 7.0)));
        writer.text_list("words", texts.iter().map(|t| t.split(' ')));
        writer.float_list("scores", (0..rows).map(|i| (0..i % 4).map(|j| Some(j as f64))));
        writer.int_list("pages", (0..rows).map(|i| (0..i % 2).map(|j| j as i64)));
        writer.finish().expect("write")
    }

    #[test]
    fn what_is_written_is_read() {
        let reader = TableReader::open(table(20_000), "example", 1).expect("open");
        assert_eq!(reader.rows(), 20_000);
        assert_eq!(reader.text("id").expect("id")[19_999], "row 19999");
        assert_eq!(reader.opt_float("score").expect("score")[..2], [None, Some(1.0 / 7.0)]);
        assert_eq!(reader.text_list("words").expect("words")[7], ["row", "7"]);
        let shared = reader.shared_text_list("words").expect("words");
        assert_eq!(shared[7].iter().map(|word| &**word).collect::<Vec<_>>(), ["row", "7"]);
        assert!(Arc::ptr_eq(&shared[7][0], &shared[19_999][0]));
        assert_eq!(reader.float_list("scores").expect("scores")[9003], [Some(0.0), Some(1.0), Some(2.0)]);
        assert_eq!(reader.int_list("pages").expect("pages")[8193], [0]);
    }

    #[test]
    fn same_rows_same_bytes() {
        assert_eq!(table(3000), table(3000));
        let created_by = b"ragstage table format 1";
        assert!(table(3).windows(created_by.len()).any(|window| window == created_by));
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let mut writer = TableWriter::new("example", 1);
        writer.int("page", [3, -1]);
        writer.opt_int("size", [None, Some(1 << 40)]);
        let reader = TableReader::open(writer.finish().expect("write"), "example", 1).expect("open");
        assert_eq!(reader.number::<i64>("page").expect("pages"), [3, -1]);
        let error = reader.number::<u32>("page").expect_err("negative").to_string();
        assert_eq!(error, "column page holds -1 in row 1, which is out of its range");
        assert_eq!(reader.opt_number::<u64>("size").expect("sizes"), [None, Some(1 << 40)]);
        assert!(matches!(reader.opt_number::<u32>("size"), Err(TableError::Range { row: 1, .. })));
    }

    #[test]
    fn nulls_in_lists_are_refused() {
        let mut builder = ListBuilder::new(StringBuilder::new());
        builder.append_value([Some("a"), None]);
        builder.append_null();
        let mut writer = TableWriter::new("example", 1);
        writer.push("words", true, Arc::new(builder.finish()));
        let reader = TableReader::open(writer.finish().expect("write"), "example", 1).expect("open");
        assert!(matches!(reader.text_list("words"), Err(TableError::Null { row: 0, .. })));
        let mut builder = ListBuilder::new(StringBuilder::new());
        builder.append_value([Some("a")]);
        builder.append_value([Some("b"), None]);
        let mut writer = TableWriter::new("example", 1);
        writer.push("words", true, Arc::new(builder.finish()));
        let reader = TableReader::open(writer.finish().expect("write"), "example", 1).expect("open");
        assert!(matches!(reader.text_lists("words"), Err(TableError::Null { row: 1, .. })));
    }

    #[test]
    fn other_tables_are_refused() {
        assert!(matches!(TableReader::open(table(1), "example", 2), Err(TableError::Schema { .. })));
        assert!(TableReader::open(b"no parquet".to_vec(), "example", 1).is_err());
        let reader = TableReader::open(table(1), "example", 1).expect("open");
        assert!(matches!(reader.text("score"), Err(TableError::Column { .. })));
    }
}
