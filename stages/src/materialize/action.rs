//! The action that parses a unit's documents.

use std::collections::HashMap;

use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::content_type::{charset, extension, parser_for};
use super::encoding::EncodingHints;
use super::options::ParseOptions;
use super::parser::{Parsed, ParserTable};
use crate::artifact::{Document, Documents, Page, ParsedDocument, ParsedDocuments, Unit};
use crate::contract::{
    Action, Artifact, Context, Free, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome, begin_key, decoded,
};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

const STEP: Step = Step::Materialize;

/// Parses the documents of one unit; its output is `parsed`.
///
/// A row depends on a document's bytes, media type and file extension alone, so a document that occurs twice, in one unit
/// or in two, is parsed once. A document that cannot be parsed is a row with an error; the others are not held up by it.
#[derive(Debug, Clone)]
pub struct Materialize {
    /// The artifact `documents`: where to read from. It is in no key, since it changes with every unit's documents.
    pub documents: Digest,
    /// The unit.
    pub unit: Unit,
    /// How documents are parsed.
    pub options: ParseOptions,
    /// 0 except after `--force`.
    pub salt: u64,
}

impl Walk for Materialize {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.salt);
        v.digest("documents", &self.unit.documents_digest);
        self.options.walk(v);
        ParserTable.walk(v);
        v.end();
    }
}

/// The key of [`Materialize`] without its documents.
struct Slot<'a>(&'a Materialize);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.0.salt);
        self.0.options.walk(v);
        ParserTable.walk(v);
        v.end();
    }
}

/// The value of a row. The encoding is kept for people who look into the row; two documents that differ in it alone have
/// the same text and give the same artifact.
#[derive(Debug, Serialize, Deserialize)]
struct ParsedRow {
    parser: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    title: Option<String>,
    pages: Vec<Page>,
}

impl Action for Materialize {
    fn step(&self) -> Step {
        STEP
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let documents = decoded::<Documents>(context, STEP, &self.documents)?;
        let documents = self.documents_of_unit(&documents)?;

        // Documents with the same key share a row, which goes by the name of the first.
        let mut items: Vec<RowItem<'_>> = Vec::new();
        let mut firsts: Vec<&Document> = Vec::new();
        let mut rows: Vec<usize> = Vec::with_capacity(documents.len());
        let mut row_of: HashMap<Digest, usize> = HashMap::new();
        for document in &documents {
            let key = row_key(document);
            let row = *row_of.entry(key).or_insert(items.len());
            if row == items.len() {
                items.push(RowItem { key, label: &document.document_id });
                firsts.push(document);
            }
            rows.push(row);
        }

        let batch = RowBatch { slot: &Slot(self), pool: Pool::Cpu, items: &items, cost: &Free };
        let outcomes = context.rows(batch, &|row, _call| match firsts.get(row) {
            Some(document) => self.parse(document, context),
            None => Err(RowError::new(RowErrorKind::Document, format!("no row {row} was asked for"))),
        })?;

        let mut parsed = ParsedDocuments { rows: Vec::with_capacity(documents.len()) };
        // What no parser reads today it will not read tomorrow: that is part of the value. A file that is gone may come
        // back: that is a reason to try again.
        let (mut failed, mut rejected) = (0, 0);
        for (document, row) in documents.iter().zip(rows) {
            let document = match (outcomes.get(row), items.get(row)) {
                (Some(RowOutcome::Done(done)), Some(item)) => with_pages(document, done, &item.key)?,
                (Some(RowOutcome::Failed(error)), _) => {
                    match error.kind {
                        RowErrorKind::Document => rejected += 1,
                        _ => failed += 1,
                    }
                    with_error(document, error.message.clone())
                }
                _ => {
                    failed += 1;
                    with_error(document, "was not parsed".to_string())
                }
            };
            parsed.rows.push(document);
        }
        let bytes = parsed.encode().map_err(|error| StageError::encode(STEP, error))?;
        Ok(Produced {
            outputs: vec![Output::value("parsed", bytes, parsed.rows.len())],
            failed,
            rejected,
            ..Produced::default()
        })
    }
}

impl Materialize {
    /// The unit's documents in its order.
    fn documents_of_unit<'a>(&self, documents: &'a Documents) -> Result<Vec<&'a Document>, StageError> {
        let all = documents.rows.len();
        let find = |position: usize| {
            documents.rows.get(position).ok_or_else(|| StageError {
                step: STEP,
                kind: StageErrorKind::Artifact {
                    digest: self.documents,
                    why: format!("unit {} names document {position} of {all}", self.unit.unit_id),
                },
            })
        };
        self.unit.document_positions(all).into_iter().map(find).collect()
    }

    fn parse(&self, document: &Document, context: &dyn Context) -> Result<Row, RowError> {
        let refused = |error: &dyn std::fmt::Display| RowError::new(RowErrorKind::Document, error.to_string());
        let forced = self.options.forced_encoding().map_err(|error| refused(&error))?;
        let read;
        let bytes = match &document.data {
            Some(data) => data,
            None => {
                read = read_source(document, context)?;
                &read
            }
        };
        let parser = parser_for(&document.media_type, &extension(&document.name), bytes).map_err(|e| refused(&e))?;
        let hints = EncodingHints { forced, charset: charset(&document.media_type), html: false };
        let Parsed { title, pages, encoding } = parser.parse(bytes, hints).map_err(|error| refused(&error))?;
        let encoding = encoding.map(str::to_string);
        let row = ParsedRow { parser: parser.name().to_string(), encoding, title, pages };
        let value = serde_json::to_vec(&row).map_err(|error| refused(&error))?;
        Ok(Row { value, observation: Vec::new() })
    }
}

/// Digest of all that a parsed document depends on beyond the slot. What has no bytes cannot be parsed, and so is never
/// cached; its id keeps it apart from the others.
fn row_key(document: &Document) -> Digest {
    let bytes = match (&document.digest, &document.data) {
        (Some(digest), _) => Some(*digest),
        (None, Some(data)) => Some(Digest::of(data)),
        (None, None) => None,
    };
    match bytes {
        Some(bytes) => Digest::of_parts(
            "ragstage.materialize.row",
            [bytes.0.as_slice(), document.media_type.as_bytes(), extension(&document.name).as_bytes()],
        ),
        None => Digest::of_parts("ragstage.materialize.no_bytes", [document.document_id.as_bytes()]),
    }
}

/// The bytes of a document that is a file of the benchmark.
fn read_source(document: &Document, context: &dyn Context) -> Result<Vec<u8>, RowError> {
    let name = &document.name;
    let Some(digest) = &document.digest else {
        let message = match &document.source_uri {
            Some(uri) => format!("{name} is at {uri}; remote documents are not fetched"),
            None => format!("the file {name} is missing"),
        };
        return Err(RowError::new(RowErrorKind::Document, message));
    };
    match context.source(digest) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => {
            let message = format!("no file of the benchmark holds the bytes of {name} (digest {})", digest.short());
            Err(RowError::new(RowErrorKind::Source, message))
        }
        Err(StageError { kind: StageErrorKind::Cancelled, .. }) => {
            Err(RowError::new(RowErrorKind::Interrupted, format!("interrupted before {name} was read")))
        }
        Err(error) => Err(RowError::new(RowErrorKind::Source, format!("{name} cannot be read: {error}"))),
    }
}

fn with_pages(document: &Document, row: &Row, key: &Digest) -> Result<ParsedDocument, StageError> {
    let row: ParsedRow = serde_json::from_slice(&row.value).map_err(|error| StageError {
        step: STEP,
        kind: StageErrorKind::Artifact { digest: *key, why: format!("is no parsed document: {error}") },
    })?;
    Ok(ParsedDocument {
        document_id: document.document_id.clone(),
        name: document.name.clone(),
        source_key: document.source_key.clone(),
        parser: row.parser,
        title: row.title,
        pages: row.pages,
        error: None,
    })
}

fn with_error(document: &Document, error: String) -> ParsedDocument {
    ParsedDocument {
        document_id: document.document_id.clone(),
        name: document.name.clone(),
        source_key: document.source_key.clone(),
        error: Some(error),
        ..ParsedDocument::default()
    }
}
