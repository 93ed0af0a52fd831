//! The question files of UDA-Benchmark: records of cells parted by `|`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use csv::{ReaderBuilder, StringRecord, Terminator};
use serde_json::{Value, json};

use super::super::benchmark::{nothing, source_key};
use super::super::ids::Ids;
use super::super::lines::SourceBytes;
use super::super::record_faults::RecordFaults;
use super::super::sha1::sha1;
use super::super::sources::FindDocument;
use super::document_files::{DocumentFiles, media_type};
use super::evidence::{Within, evidence};
use super::extended::Extended;
use super::gold::Expected;
use super::subset::UdaSubset;
use super::{SPLIT, UdaDocuments, UdaSpec, info};
use crate::artifact::{Document, Documents, Gold, Json, Query, UnitRows};
use crate::error::{InputError, Place};
use crate::prepare::Benchmark;
use crate::python::{is_alphanumeric, strip};

/// The columns that the files of all subsets have.
const COLUMNS: [&str; 3] = ["doc_name", "q_uid", "question"];

/// The unit of the cases whose documents are not there. An id of a document has no hyphen.
const WITHOUT_DOCUMENTS: &str = "without-documents";

/// A question file with what is read beside it.
pub(super) struct QuestionFile<'a> {
    pub(super) spec: &'a UdaSpec,
    pub(super) source: SourceBytes<'a>,
    pub(super) extended: &'a Extended,
}

/// A record with the line that it begins on.
struct Record {
    line: u64,
    cells: StringRecord,
}

/// All records of a file, and where in them its columns are.
struct Records {
    columns: HashMap<&'static str, usize>,
    records: Vec<Record>,
}

impl Records {
    /// The stripped cell of `record` in the column `name`.
    fn cell<'r>(&self, record: &'r Record, name: &str) -> &'r str {
        self.columns.get(name).and_then(|at| record.cells.get(*at)).map(strip).unwrap_or_default()
    }
}

/// A document that questions are on.
struct Asked {
    id: String,
    /// Its position among the documents, where its file is there.
    document: Option<u32>,
    cases: Vec<u32>,
}

/// The names of the documents that the questions are on, as far as they can be read.
pub(super) fn document_names(source: SourceBytes<'_>, subset: UdaSubset) -> Vec<String> {
    let Some(records) = records(source, subset, &mut Vec::new()) else { return Vec::new() };
    let names: HashSet<&str> = records.records.iter().map(|record| records.cell(record, "doc_name")).collect();
    names.into_iter().map(str::to_string).collect()
}

impl QuestionFile<'_> {
    /// The benchmark, but for its default evaluators; `None` where the file cannot be read at all.
    pub(super) fn read(
        &self,
        there: &DocumentFiles<'_>,
        find: &FindDocument<'_>,
        errors: &mut Vec<InputError>,
    ) -> Option<Benchmark> {
        let subset = self.spec.subset;
        let before = errors.len();
        let records = records(self.source, subset, errors)?;
        let mut benchmark = Benchmark { info: info(subset), ..Benchmark::default() };
        let mut asked: Vec<Asked> = Vec::new();
        let mut by_name: HashMap<String, usize> = HashMap::new();
        let mut slugs: HashSet<String> = HashSet::new();
        let mut ids = Ids::new("q_uid");
        let mut faults = RecordFaults::new("records");
        let mut left_out = 0u64;
        for record in &records.records {
            let mut found = Vec::new();
            let place = Place::line(self.source.path, record.line);
            let error = |message: String| InputError::new(place.clone(), message);
            let [doc_name, id, question] = COLUMNS.map(|column| records.cell(record, column));
            for (column, cell) in COLUMNS.iter().zip([doc_name, id, question]) {
                if cell.is_empty() {
                    found.push(
                        error(format!("`{column}` is blank")).hint("every question has a document, an id and a text"),
                    );
                }
            }
            let position = benchmark.queries.rows.len();
            if !id.is_empty() {
                ids.take(id, position, place.clone(), &mut found);
            }
            if !found.is_empty() {
                faults.add(found);
                continue;
            }
            let of_document = match by_name.get(doc_name) {
                Some(&at) => at,
                None => {
                    let document = match there.find(doc_name).map(|path| (path, find(path))) {
                        Some((path, Ok(Some((digest, size))))) => Some((path, digest, size)),
                        Some((path, Err(why))) => {
                            found.push(error(format!("the document {path:?} {why}")));
                            None
                        }
                        Some((_, Ok(None))) | None => None,
                    };
                    let Some(document_id) = document_id(doc_name, &mut slugs) else {
                        let message = format!("`doc_name` is {doc_name:?}; expected a letter or a digit in it");
                        found.push(error(message));
                        faults.add(found);
                        continue;
                    };
                    let mut position = None;
                    if let Some((path, digest, size)) = document {
                        position = u32::try_from(benchmark.documents.rows.len()).ok();
                        let name = path.rsplit('/').next().unwrap_or(path).to_string();
                        benchmark.documents.rows.push(Document {
                            source_key: source_key(&benchmark.info.name, SPLIT, &document_id, &name),
                            media_type: media_type(&name).to_string(),
                            name,
                            digest: Some(digest),
                            size: Some(size),
                            data: None,
                            source_uri: None,
                            metadata: Json::from_iter([
                                ("doc_name".to_string(), json!(doc_name)),
                                ("subset".to_string(), json!(subset.word())),
                                ("source_path".to_string(), json!(path)),
                            ]),
                            document_id: document_id.clone(),
                        });
                    }
                    asked.push(Asked { id: document_id, document: position, cases: Vec::new() });
                    by_name.insert(doc_name.to_string(), asked.len() - 1);
                    asked.len() - 1
                }
            };
            let Some(of_document) = asked.get_mut(of_document) else { continue };
            let gold = self.gold(&records, record, &benchmark.info.name, &of_document.id, &error, &mut found);
            if !found.is_empty() {
                faults.add(found);
                continue;
            }
            if of_document.document.is_none() {
                if self.spec.documents == UdaDocuments::Present {
                    left_out += 1;
                    continue;
                }
                let why = format!("the dataset's folder has no document {doc_name:?}: there is no file {doc_name}.pdf");
                benchmark.skipped.insert(id.to_string(), why);
            }
            // More would not fit into a file that can be read at once.
            of_document.cases.extend(u32::try_from(position));
            benchmark.queries.rows.push(Query { case_id: id.to_string(), text: question.to_string(), category: None });
            benchmark.golds.rows.push(gold);
        }
        faults.append_to(errors);
        if errors.len() > before {
            return None;
        }
        if asked.is_empty() {
            errors.push(nothing(Place::file(self.source.path), "question", "is this the question file of the subset?"));
            return None;
        }
        let missing = asked.iter().filter(|asked| asked.document.is_none()).count();
        if missing == asked.len() {
            errors.push(self.no_document(&asked));
            return None;
        }
        for (key, count) in [("documents_missing", missing as u64), ("cases_left_out", left_out)] {
            if count > 0 {
                benchmark.info.metadata.insert(key.to_string(), json!(count));
            }
        }
        benchmark.units = units(asked, &benchmark.documents);
        Some(benchmark)
    }

    fn gold(
        &self,
        records: &Records,
        record: &Record,
        benchmark: &str,
        document_id: &str,
        error: &dyn Fn(String) -> InputError,
        errors: &mut Vec<InputError>,
    ) -> Gold {
        let subset = self.spec.subset;
        let cell = |column: &str| records.cell(record, column);
        let (doc_name, id) = (cell("doc_name"), cell("q_uid"));
        let entry = self.extended.of(doc_name, id).map(|entry| (self.extended, entry));
        let Expected { answers, value } = Expected::of(subset, &cell, entry, error, errors);
        let evidence = match entry {
            Some((extended, entry)) => {
                let prefix = source_key(benchmark, SPLIT, document_id, "");
                evidence(subset, extended, entry, &Within { doc_name, prefix: &prefix }, errors)
            }
            None => Vec::new(),
        };
        let mut labels =
            Json::from_iter([("subset".to_string(), json!(subset.word())), ("doc_name".to_string(), json!(doc_name))]);
        let mut metadata = labels.clone();
        metadata.insert("q_uid".to_string(), json!(id));
        if subset == UdaSubset::Tat {
            labels.insert("question_type".to_string(), json!(cell("answer_type")));
        }
        Gold {
            case_id: id.to_string(),
            answers,
            evidence,
            value,
            metadata,
            labels,
            case_metadata: Json::from_iter([
                ("doc_name".to_string(), json!(doc_name)),
                ("q_uid".to_string(), json!(id)),
                ("has_extended_info".to_string(), Value::Bool(entry.is_some())),
            ]),
        }
    }

    /// That nothing could be asked.
    fn no_document(&self, asked: &[Asked]) -> InputError {
        let (count, folder) = (asked.len(), self.spec.path.display());
        let message = format!(
            "none of the {count} documents that the questions are on is there; no file below {folder} is called after one"
        );
        InputError::new(Place::file(self.source.path), message).hint(format!(
            "put the documents, e.g. those of {}.zip, anywhere below the folder: each is found by its name",
            self.spec.subset.folder()
        ))
    }
}

/// A unit for each document that is there, and one for all cases whose documents are not: they are never asked, so what would be
/// built for each of them would be built for nothing.
fn units(asked: Vec<Asked>, documents: &Documents) -> Vec<UnitRows> {
    let mut units = Vec::new();
    let mut without = UnitRows { unit_id: WITHOUT_DOCUMENTS.to_string(), ..UnitRows::default() };
    let mut cases = Vec::new();
    let mut missing = 0u64;
    for Asked { id, document, cases: own } in asked {
        if own.is_empty() {
            continue;
        }
        let Some(document) = document else {
            missing += 1;
            cases.extend(own);
            continue;
        };
        let metadata =
            documents.rows.get(document as usize).map(|document| document.metadata.clone()).unwrap_or_default();
        let metadata = metadata.into_iter().filter(|(key, _)| key != "source_path").collect();
        units.push(UnitRows { unit_id: id, document_rows: Some(vec![document]), case_rows: Some(own), metadata });
    }
    if !cases.is_empty() {
        // In the file's order, whichever document they are on.
        cases.sort_unstable();
        without.document_rows = Some(Vec::new());
        without.case_rows = Some(cases);
        without.metadata.insert("documents_missing".to_string(), json!(missing));
        units.push(without);
    }
    units
}

/// The id of the document called `name`: letters, digits and single `_`. A name that differs from an earlier one in punctuation alone
/// gets a hash of its own behind. `None` where there is no letter and no digit.
fn document_id(name: &str, taken: &mut HashSet<String>) -> Option<String> {
    let replaced: String = name.chars().map(|c| if is_alphanumeric(c) { c } else { '_' }).collect();
    let parts: Vec<&str> = replaced.split('_').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return None;
    }
    let slug = parts.join("_");
    if taken.insert(slug.clone()) {
        return Some(slug);
    }
    let hash: String = sha1(name.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let id = format!("{slug}_{hash}");
    taken.insert(id.clone());
    Some(id)
}

/// The records of `source`. Cells are parted by `|`; one that begins with a double quote ends at the next that is not doubled, and
/// may hold `|` and line breaks. A record ends at a line feed: the released `feta_qa.csv` has a bare carriage return within a cell.
fn records(source: SourceBytes<'_>, subset: UdaSubset, errors: &mut Vec<InputError>) -> Option<Records> {
    let bytes = match source.unpacked() {
        Ok(bytes) => bytes,
        Err(error) => {
            errors.push(error);
            return None;
        }
    };
    let text = text(source, &bytes, errors)?;
    let place = |line: u64| Place::line(source.path, line);
    let mut reader = ReaderBuilder::new()
        .delimiter(b'|')
        .terminator(Terminator::Any(b'\n'))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut lines = Lines { text: text.as_bytes(), read: 0, line: 1 };
    let mut header: Option<(StringRecord, HashMap<&'static str, usize>)> = None;
    let mut faults = RecordFaults::new("records");
    let mut records = Vec::new();
    let mut cells = StringRecord::new();
    loop {
        let start = reader.position().byte() as usize;
        match reader.read_record(&mut cells) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                errors.push(InputError::new(Place::file(source.path), format!("cannot be read: {error}")));
                return None;
            }
        }
        let start = lines.first_of_record(start);
        let line = lines.line_of(start);
        let Some((names, _)) = &header else {
            let columns = columns(&cells, subset, place(line), errors)?;
            header = Some((cells.clone(), columns));
            continue;
        };
        let end = reader.position().byte() as usize;
        if let Some(fault) = unclosed(text.get(start..end).unwrap_or_default(), end == text.len(), place(line)) {
            faults.add(vec![fault]);
        } else if cells.len() != names.len() {
            let message = format!("expected {} cells, found {}", names.len(), cells.len());
            let hint = "a cell that holds `|` or a line break is put in double quotes";
            faults.add(vec![InputError::new(place(line), message).hint(hint)]);
        } else {
            records.push(Record { line, cells: cells.clone() });
        }
    }
    faults.append_to(errors);
    match header {
        Some((_, columns)) => Some(Records { columns, records }),
        None => {
            let message = format!("expected a header with {}, found an empty file", COLUMNS.join(", "));
            errors.push(InputError::new(Place::file(source.path), message).hint("fetch the file again"));
            None
        }
    }
}

/// The file's text without a byte order mark.
fn text<'b>(source: SourceBytes<'_>, bytes: &'b Cow<'_, [u8]>, errors: &mut Vec<InputError>) -> Option<&'b str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
            let begin = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
            let column = String::from_utf8_lossy(before.get(begin..).unwrap_or_default()).chars().count() as u64 + 1;
            let found = bytes.get(error.valid_up_to()).map(|byte| format!(", found the byte 0x{byte:02x}"));
            let message = format!("expected UTF-8{}", found.unwrap_or_default());
            errors.push(InputError::new(Place::at(source.path, line, column), message).hint("save the file as UTF-8"));
            None
        }
    }
}

/// Where the columns are.
fn columns(
    names: &StringRecord,
    subset: UdaSubset,
    place: Place,
    errors: &mut Vec<InputError>,
) -> Option<HashMap<&'static str, usize>> {
    let mut columns = HashMap::new();
    let mut missing = Vec::new();
    for column in COLUMNS.iter().chain(subset.columns()) {
        match names.iter().position(|name| strip(name) == *column) {
            Some(at) => {
                columns.insert(*column, at);
            }
            None => missing.push(format!("`{column}`")),
        }
    }
    if missing.is_empty() {
        return Some(columns);
    }
    let plural = if missing.len() == 1 { "column is" } else { "columns are" };
    let there: Vec<&str> = names.iter().map(strip).collect();
    let error = InputError::new(place, format!("the {plural} missing: {}", missing.join(", ")));
    errors.push(match there.as_slice() {
        [one] => error.hint(format!(
            "columns are parted by `|`, and here is but one: {:?}",
            one.chars().take(60).collect::<String>()
        )),
        there => error.hint(format!("there are {}; is it the file of the subset {}?", there.join(", "), subset.word())),
    });
    None
}

/// That the last record has a quote which nothing closes: it has all that follows it for a cell.
fn unclosed(record: &str, is_last: bool, place: Place) -> Option<InputError> {
    let quotes = memchr::memchr_iter(b'"', record.as_bytes()).count();
    let opens = record.starts_with('"') || record.contains("|\"");
    let torn = is_last && opens && quotes % 2 == 1 && record.trim_end().contains('\n');
    torn.then(|| {
        let error = InputError::new(place, "a double quote opens a cell of this record, and none closes it");
        error.hint("a quote within a cell in quotes is doubled; is the file cut off?")
    })
}

/// Lines of a text that is read from its start to its end.
struct Lines<'t> {
    text: &'t [u8],
    read: usize,
    line: u64,
}

impl Lines<'_> {
    /// Where the record begins that the reader found from `start` on: it passes over blank lines.
    fn first_of_record(&self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        start + rest.iter().take_while(|byte| **byte == b'\n').count()
    }

    /// The line (from 1) of the byte at `at`, which is not before the last one that was asked for.
    fn line_of(&mut self, at: usize) -> u64 {
        let passed = self.text.get(self.read..at).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.read = at.max(self.read);
        self.line
    }
}
