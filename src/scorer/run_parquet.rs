//! Runs and judgements as Parquet tables.
//!
//! A run has the columns `query_id` (text, dictionary-encoded), `doc_id` (text) and `score` (32-bit float). Rows of one query
//! follow each other, best first, and no query is torn by the end of a row group; of tables that were made elsewhere neither
//! is asked. Judgements have the columns `query_id`, `doc_id` and `grade` (whole number).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float32Array, Float64Array, RecordBatch, StringArray, StringDictionaryBuilder,
    StringViewArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use ragstage_stages::error::{InputError, Place};

use super::faults::{Fault, Faults};
use super::judged_queries::{GRADE_HINT, Judgement, whole_grade};
use super::query_scorer::QueryScorer;
use super::rows::{Rows, Segment, rank_key, score_of};
use super::whole_run::WholeRun;

const QUERY: &str = "query_id";
const DOCUMENT: &str = "doc_id";
const SCORE: &str = "score";
const GRADE: &str = "grade";

/// A row group ends with the query that brings it to this many rows.
const ROW_GROUP: usize = 1 << 17;

/// Whether `path` is a Parquet table, by its first bytes.
///
/// # Errors
/// When it cannot be read.
pub fn is_parquet(path: &Path) -> io::Result<bool> {
    // What is read of a pipe is gone, and whoever writes into a named one ends when it is opened and closed again.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let file = File::open(path)?;
    let mut first = Vec::with_capacity(4);
    file.take(4).read_to_end(&mut first)?;
    Ok(first == b"PAR1")
}

/// A table whose row groups can be read by several threads.
pub struct Table {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    columns: [&'static str; 3],
}

/// Rows of one row group of a run.
pub struct RunGroup {
    /// The rows.
    pub rows: Rows,
    /// The queries' ids.
    pub queries: Vec<u8>,
    /// The documents' ids.
    pub documents: StringViewArray,
    /// What is wrong with some rows.
    pub faults: Vec<Fault>,
}

impl Table {
    /// A run.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged or lacks a column.
    pub fn run(path: &Path) -> Result<Self, Vec<InputError>> {
        Table::open(path, [QUERY, DOCUMENT, SCORE])
    }

    fn open(path: &Path, columns: [&'static str; 3]) -> Result<Self, Vec<InputError>> {
        let damaged = |error: &dyn std::fmt::Display| {
            let error = InputError::new(Place::file(path), format!("cannot be read as Parquet: {error}"));
            vec![error.hint("is the file whole?")]
        };
        let file = File::open(path).map_err(|error| damaged(&error))?;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| damaged(&error))?;
        let schema = metadata.schema();
        let missing: Vec<&str> = columns.into_iter().filter(|name| schema.field_with_name(name).is_err()).collect();
        if !missing.is_empty() {
            let there: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let message = format!("expected the columns {}, found {}", columns.join(", "), there.join(", "));
            let error = InputError::new(Place::file(path), message);
            return Err(vec![
                error.hint("rename the columns; `ragstage score --run FILE --to-parquet FILE` writes a run so"),
            ]);
        }
        // Ids are not copied out of their pages then. Where the table has another type, it is cast.
        let field = |field: &Arc<Field>| match (field.name().as_str(), field.data_type()) {
            (DOCUMENT, DataType::Utf8) => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
            _ => field.clone(),
        };
        let schema = Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()));
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new().with_schema(schema)).unwrap_or(metadata);
        Ok(Table { path: path.to_path_buf(), metadata, columns })
    }

    /// How many row groups there are.
    pub fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// The bytes of a row group in the file.
    pub fn bytes(&self, group: usize) -> u64 {
        self.metadata.metadata().row_groups().get(group).map_or(0, |group| group.compressed_size().max(0) as u64)
    }

    /// The three columns of a row group.
    fn group(&self, group: usize) -> Result<Vec<[ArrayRef; 3]>, Vec<InputError>> {
        let damaged = |error: &dyn std::fmt::Display| {
            vec![InputError::new(Place::file(&self.path), format!("row group {group} cannot be read: {error}"))]
        };
        // A file of its own: copies of a handle share the place where they read.
        let file = File::open(&self.path).map_err(|error| damaged(&error))?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let columns = ProjectionMask::columns(builder.parquet_schema(), self.columns);
        let rows = self.metadata.metadata().row_groups().get(group).map_or(0, |group| group.num_rows());
        let reader = builder
            .with_row_groups(vec![group])
            .with_projection(columns)
            .with_batch_size(usize::try_from(rows).unwrap_or(0).clamp(1, 1 << 22))
            .build()
            .map_err(|error| damaged(&error))?;
        let mut batches = Vec::new();
        for batch in reader {
            let batch = batch.map_err(|error| damaged(&error))?;
            let [a, b, c] = self.columns.map(|name| batch.column_by_name(name).cloned());
            let (Some(a), Some(b), Some(c)) = (a, b, c) else { return Err(damaged(&"a column is not there")) };
            batches.push([a, b, c]);
        }
        Ok(batches)
    }

    /// The rows of a row group of a run.
    ///
    /// # Errors
    /// When it is damaged, or a column has a type that does not fit.
    pub fn run_group(&self, group: usize) -> Result<Vec<RunGroup>, Vec<InputError>> {
        let mut first = 0;
        let batches = self.group(group)?;
        batches
            .into_iter()
            .map(|[queries, documents, scores]| {
                let rows = queries.len();
                let group = RunGroup::of(&queries, &documents, &scores, first).map_err(|error| self.wrong_type(&error));
                first += rows;
                group
            })
            .collect()
    }

    fn wrong_type(&self, error: &dyn std::fmt::Display) -> Vec<InputError> {
        let message = format!("expected ids as texts and {} as numbers: {error}", self.columns[2]);
        vec![InputError::new(Place::file(&self.path), message)]
    }
}

impl RunGroup {
    fn of(queries: &ArrayRef, documents: &ArrayRef, scores: &ArrayRef, first: usize) -> arrow::error::Result<Self> {
        let documents = cast(documents, &DataType::Utf8View)?.as_string_view().clone();
        let scores: Float64Array = cast(scores, &DataType::Float64)?.as_primitive::<Float64Type>().clone();
        let mut group = RunGroup { rows: Rows::default(), queries: Vec::new(), documents, faults: Vec::new() };
        let nulls = queries.null_count() + group.documents.null_count() + scores.null_count();
        for (row, score) in scores.values().iter().enumerate() {
            let null = nulls > 0 && (queries.is_null(row) || group.documents.is_null(row) || scores.is_null(row));
            if null || score.is_nan() {
                let found = if null { "null" } else { "NaN" };
                let message = format!("expected two ids and a number as score, found {found}");
                let line = (first + row + 1) as u64;
                group.faults.push(Fault { line, column: None, message, earlier: None, hint: "leave such rows out" });
            }
        }
        group.rows.keys.extend(scores.values().iter().map(|score| rank_key(*score)));
        let line = |row: usize| u32::try_from(first + row + 1).unwrap_or(u32::MAX);
        group.rows.lines.extend((0..scores.len()).map(line));
        match queries.as_any_dictionary_opt().and_then(|_| queries.as_dictionary_opt::<Int32Type>()) {
            Some(dictionary) => {
                let names = cast(dictionary.values(), &DataType::Utf8)?;
                let names: &StringArray = names.as_string();
                let keys = dictionary.keys().values();
                let name = |row: usize| {
                    let place = keys.get(row).and_then(|key| usize::try_from(*key).ok())?;
                    (place < names.len()).then(|| names.value(place))
                };
                group.cut(keys.chunk_by(|a, b| a == b).map(<[i32]>::len), name);
            }
            None => {
                let names = cast(queries, &DataType::Utf8)?;
                let names: &StringArray = names.as_string();
                let all: Vec<&str> = (0..names.len()).map(|row| names.value(row)).collect();
                group.cut(all.chunk_by(|a, b| a == b).map(<[&str]>::len), |row| all.get(row).copied());
            }
        }
        Ok(group)
    }

    fn cut<'n>(&mut self, lengths: impl Iterator<Item = usize>, name: impl Fn(usize) -> Option<&'n str>) {
        let mut row = 0;
        for length in lengths {
            let start = self.queries.len();
            self.queries.extend_from_slice(name(row).unwrap_or_default().as_bytes());
            self.rows.segments.push(Segment { query: start..self.queries.len(), rows: row..row + length });
            row += length;
        }
    }

    /// The document id of a row.
    pub fn document(&self, row: usize) -> &[u8] {
        if row < self.documents.len() { self.documents.value(row).as_bytes() } else { &[] }
    }
}

/// The judgements of a table.
///
/// # Errors
/// When it is damaged, lacks a column, or a column has a type that does not fit.
pub fn judgements(path: &Path) -> Result<Vec<Judgement>, Vec<InputError>> {
    let table = Table::open(path, [QUERY, DOCUMENT, GRADE])?;
    let mut judgements = Vec::new();
    let mut faults = Faults::of_table(path);
    let mut line = 0;
    for group in 0..table.groups() {
        for [queries, documents, grades] in table.group(group)? {
            let wrong = |error: arrow::error::ArrowError| table.wrong_type(&error);
            let (queries, documents) =
                (cast(&queries, &DataType::Utf8).map_err(wrong)?, cast(&documents, &DataType::Utf8).map_err(wrong)?);
            let grades = cast(&grades, &DataType::Float64).map_err(wrong)?;
            let (queries, documents): (&StringArray, &StringArray) = (queries.as_string(), documents.as_string());
            let grades = grades.as_primitive::<Float64Type>();
            for ((query, document), grade) in queries.iter().zip(documents.iter()).zip(grades.iter()) {
                line += 1;
                let mut wrong = |found: &str, hint| {
                    let message = format!("expected two ids and a whole number as grade, found {found}");
                    faults.add(Fault { line, column: None, message, earlier: None, hint }, 0);
                };
                let (Some(query), Some(document), Some(grade)) = (query, document, grade) else {
                    wrong("null", "leave such rows out");
                    continue;
                };
                // A cast to whole numbers would cut off what is behind the point.
                let Some(grade) = whole_grade(grade) else {
                    wrong(&grade.to_string(), GRADE_HINT);
                    continue;
                };
                judgements.push(Judgement::new(line, query.into(), document.into(), grade));
            }
        }
    }
    if faults.is_empty() { Ok(judgements) } else { Err(faults.into_errors()) }
}

/// Writes `run` into `file`, the rows of each query in trec_eval's order.
///
/// # Errors
/// When the file cannot be written, or an id is no UTF-8.
pub fn write(file: &mut File, run: &WholeRun) -> io::Result<()> {
    let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema = Arc::new(Schema::new(vec![
        Field::new(QUERY, text, false),
        Field::new(DOCUMENT, DataType::Utf8, false),
        Field::new(SCORE, DataType::Float32, false),
    ]));
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(None)
        .set_created_by("ragstage".to_string());
    // Ids and scores hardly repeat within a row group.
    for column in [DOCUMENT, SCORE] {
        let column = ColumnPath::from(column);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::PLAIN);
    }
    let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(properties.build()))?;
    let mut scorer = QueryScorer::default();
    let mut queries = StringDictionaryBuilder::<Int32Type>::new();
    let (mut documents, mut scores): (Vec<&str>, Vec<f32>) = (Vec::new(), Vec::new());
    let no_text = |id: &[u8]| {
        let message = format!("the id {} is no UTF-8", String::from_utf8_lossy(id));
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let last = run.queries.len().saturating_sub(1);
    for (i, query) in run.queries.iter().enumerate() {
        let name = std::str::from_utf8(&query.id).map_err(|_| no_text(&query.id))?;
        for row in scorer.order(query.keys(), |row| query.document(row)) {
            let (Some(key), document) = (query.keys().get(row), query.document(row)) else { continue };
            queries.append(name).map_err(io::Error::other)?;
            documents.push(std::str::from_utf8(document).map_err(|_| no_text(document))?);
            scores.push(score_of(*key));
        }
        if documents.len() >= ROW_GROUP || i == last {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(queries.finish()),
                Arc::new(StringArray::from_iter_values(documents.drain(..))),
                Arc::new(Float32Array::from(std::mem::take(&mut scores))),
            ];
            writer.write(&RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)?)?;
            writer.flush()?;
        }
    }
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(grades: ArrayRef) -> Result<Vec<i64>, Vec<String>> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text = |name: &str| Arc::new(Field::new(name, DataType::Utf8, true));
        let grade = Arc::new(Field::new(GRADE, grades.data_type().clone(), true));
        let schema = Arc::new(Schema::new(vec![text(QUERY), text(DOCUMENT), grade]));
        let queries: ArrayRef = Arc::new(StringArray::from(vec!["q"; grades.len()]));
        let documents: ArrayRef = Arc::new(StringArray::from_iter_values((0..grades.len()).map(|n| format!("d{n}"))));
        let rows = RecordBatch::try_new(schema.clone(), vec![queries, documents, grades]).expect("rows");
        let mut writer = ArrowWriter::try_new(file.reopen().expect("a file"), schema, None).expect("a writer");
        writer.write(&rows).expect("rows");
        writer.close().expect("a table");
        let found = judgements(file.path());
        let grades = |found: Vec<Judgement>| found.into_iter().map(|judgement| judgement.grade).collect();
        let message = |error: InputError| error.message;
        found.map(grades).map_err(|errors| errors.into_iter().map(message).collect())
    }

    #[test]
    fn grades_are_whole_and_faults_have_their_rows() {
        assert_eq!(told(Arc::new(Float64Array::from(vec![1.0, 0.0, -2.0]))), Ok(vec![1, 0, -2]));
        let expected = "expected two ids and a whole number as grade, found";
        assert_eq!(
            told(Arc::new(Float64Array::from(vec![Some(1.0), None, Some(0.5), None]))),
            Err(vec![
                format!("row 2: {expected} null"),
                format!("row 3: {expected} 0.5"),
                format!("row 4: {expected} null")
            ])
        );
    }
}
