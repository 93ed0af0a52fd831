//! The action that cuts a unit's pages into chunks.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::options::ChunkOptions;
use super::passage::passages;
use crate::artifact::{Chunk, Chunks, ParsedDocument, ParsedDocuments};
use crate::contract::{
    Action, Artifact, Context, Free, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome, begin_key, decoded,
};
use crate::error::{DecodeError, RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

const STEP: Step = Step::Chunk;

/// Cuts the pages of one unit; its output is `chunks`.
///
/// A row is a document, so a changed document is cut alone. A document that could not be parsed has no chunks.
#[derive(Debug, Clone)]
pub struct ChunkDocuments {
    /// The artifact `parsed` of the unit.
    pub parsed: Digest,
    /// How pages are cut.
    pub options: ChunkOptions,
    /// 0 except after `--force`.
    pub salt: u64,
}

impl Walk for ChunkDocuments {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.salt);
        v.digest("parsed", &self.parsed);
        self.walk_parameters(v);
        v.end();
    }
}

/// The key of [`ChunkDocuments`] without its documents.
struct Slot<'a>(&'a ChunkDocuments);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.0.salt);
        self.0.walk_parameters(v);
        v.end();
    }
}

impl ChunkDocuments {
    fn walk_parameters(&self, v: &mut dyn KeyVisitor) {
        self.options.walk(v);
        v.uint("tokenizer_version", self.options.tokenizer.code_version());
    }
}

impl Action for ChunkDocuments {
    fn step(&self) -> Step {
        STEP
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let parsed = decoded::<ParsedDocuments>(context, STEP, &self.parsed)?;
        let documents: Vec<&ParsedDocument> = parsed.rows.iter().filter(|document| document.error.is_none()).collect();
        let items = documents
            .iter()
            .map(|document| Ok(RowItem { key: row_key(document)?, label: &document.document_id }))
            .collect::<Result<Vec<_>, DecodeError>>()
            .map_err(|error| StageError::encode(STEP, error))?;

        let batch = RowBatch { slot: &Slot(self), pool: Pool::Cpu, items: &items, cost: &Free };
        let outcomes = context.rows(batch, &|row, _call| match documents.get(row) {
            Some(document) => cut(document, &self.options),
            None => Err(RowError::new(RowErrorKind::Document, format!("no row {row} was asked for"))),
        })?;

        let mut chunks = Chunks::default();
        let mut failed = 0;
        for (outcome, item) in outcomes.iter().zip(&items) {
            match outcome {
                RowOutcome::Done(row) => chunks.rows.extend(read_row(row, &item.key)?),
                RowOutcome::Failed(_) => failed += 1,
            }
        }
        let bytes = chunks.encode().map_err(|error| StageError::encode(STEP, error))?;
        Ok(Produced { outputs: vec![Output::value("chunks", bytes, chunks.rows.len())], failed, ..Produced::default() })
    }
}

/// Digest of all that a document's chunks hold or depend on.
fn row_key(document: &ParsedDocument) -> Result<Digest, DecodeError> {
    let ParsedDocument { document_id, name, source_key, parser: _, title, pages, error: _ } = document;
    let content = serde_json::to_vec(&(document_id, name, source_key, title, pages))?;
    Ok(Digest::of_parts("ragstage.chunk.row", [content.as_slice()]))
}

/// The row of one document: its chunks as JSON.
fn cut(document: &ParsedDocument, options: &ChunkOptions) -> Result<Row, RowError> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for page in &document.pages {
        let passages = passages(page, options)
            .map_err(|error| RowError::new(RowErrorKind::Document, format!("page {}: {error}", page.index)))?;
        for passage in passages {
            chunks.push(Chunk {
                chunk_id: chunk_id(&document.document_id, page.index, passage.start, passage.end, passage.text),
                document_id: document.document_id.clone(),
                name: document.name.clone(),
                source_key: document.source_key.clone(),
                title: document.title.clone(),
                page_index: page.index,
                chunk_index: chunks.len() as u32,
                start: passage.start,
                end: passage.end,
                tokens: passage.tokens,
                heading: passage.heading,
                text: passage.text.to_string(),
            });
        }
    }
    let value =
        serde_json::to_vec(&chunks).map_err(|error| RowError::new(RowErrorKind::Document, error.to_string()))?;
    Ok(Row { value, observation: Vec::new() })
}

/// `chunk_` and 16 hexadecimal digits: the same for the same passage at the same place, whatever the options were.
fn chunk_id(document_id: &str, page: u32, start: u64, end: u64, text: &str) -> String {
    let (page, start, end) = (page.to_le_bytes(), start.to_le_bytes(), end.to_le_bytes());
    let parts = [document_id.as_bytes(), page.as_slice(), start.as_slice(), end.as_slice(), text.as_bytes()];
    format!("chunk_{:.16}", Digest::of_parts("ragstage.chunk", parts).hex())
}

fn read_row(row: &Row, key: &Digest) -> Result<Vec<Chunk>, StageError> {
    serde_json::from_slice(&row.value).map_err(|error| StageError {
        step: STEP,
        kind: StageErrorKind::Artifact { digest: *key, why: format!("is no list of chunks: {error}") },
    })
}
