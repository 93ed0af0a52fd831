//! The action that finds entities and relations in chunks.

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::lexical::{Passage, lexical_facts};
use super::llm::ask_model;
use super::options::{GraphExtractor, GraphOptions};
use crate::artifact::{Chunk, ChunkFacts, Chunks, Extracted, ExtractedChunk};
use crate::contract::{
    Action, Artifact, Context, Free, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome, begin_key, decoded,
};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

const STEP: Step = Step::ExtractGraph;

/// Chunks to what each says of entities and relations, output `extracted`, in chunk order.
///
/// The lexical extractor has one row per text with its title and headings; of a model, the reply to each text is a row.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractGraph {
    /// The unit's chunks.
    pub chunks: Digest,
    /// How.
    pub options: GraphOptions,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for ExtractGraph {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.salt);
        v.digest("chunks", &self.chunks);
        self.options.walk(v);
        v.end();
    }
}

/// The key without its chunks.
struct Slot<'a>(&'a ExtractGraph);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.0.salt);
        self.0.options.walk(v);
        v.end();
    }
}

impl ExtractGraph {
    fn lexical(
        &self,
        context: &dyn Context,
        chunks: &[Chunk],
    ) -> Result<Vec<Result<ChunkFacts, RowError>>, StageError> {
        let passages: Vec<Passage<'_>> = chunks.iter().map(Passage::of).collect();
        let items: Vec<RowItem<'_>> = passages
            .iter()
            .zip(chunks)
            .map(|(passage, chunk)| RowItem { key: row_key(passage), label: &chunk.chunk_id })
            .collect();
        let most = self.options.max_entities as usize;
        let fault = |why: String| RowError::new(RowErrorKind::Document, why);
        let batch = RowBatch { slot: &Slot(self), pool: Pool::Cpu, items: &items, cost: &Free };
        let outcomes = context.rows(batch, &|row, _call| {
            let passage = passages.get(row).ok_or_else(|| fault(format!("no row {row} was asked for")))?;
            let value = serde_json::to_vec(&lexical_facts(passage, most)).map_err(|error| fault(error.to_string()))?;
            Ok(Row { value, observation: Vec::new() })
        })?;
        let facts = |(outcome, item): (RowOutcome, &RowItem<'_>)| match outcome {
            RowOutcome::Failed(error) => Ok(Err(error)),
            RowOutcome::Done(row) => serde_json::from_slice(&row.value).map(Ok).map_err(|error| {
                let why = format!("holds no entities and relations: {error}");
                StageError { step: STEP, kind: StageErrorKind::Artifact { digest: item.key, why } }
            }),
        };
        outcomes.into_iter().zip(&items).map(facts).collect()
    }
}

/// Digest of all that the lexical extractor reads of a chunk.
fn row_key(passage: &Passage<'_>) -> Digest {
    let part = |text: Option<&str>| match text {
        Some(text) => format!("+{text}"),
        None => String::new(),
    };
    let (title, heading) = (part(passage.title), part(passage.heading));
    Digest::of_parts("ragstage.extract_graph.row", [passage.text.as_bytes(), title.as_bytes(), heading.as_bytes()])
}

impl Action for ExtractGraph {
    fn step(&self) -> Step {
        STEP
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let chunks = decoded::<Chunks>(context, STEP, &self.chunks)?;
        let facts = match &self.options.extractor {
            GraphExtractor::Lexical => self.lexical(context, &chunks.rows)?,
            GraphExtractor::Llm(llm) => ask_model(context, llm, self.options.max_entities, &chunks.rows)?,
        };
        let row = |(chunk, facts): (&Chunk, Result<ChunkFacts, RowError>)| {
            let (facts, error) = match facts {
                Ok(facts) => (facts, None),
                Err(error) => (ChunkFacts::default(), Some(error)),
            };
            ExtractedChunk {
                chunk_id: chunk.chunk_id.clone(),
                document_id: chunk.document_id.clone(),
                page_index: chunk.page_index,
                facts,
                error,
            }
        };
        let extracted = Extracted { rows: chunks.rows.iter().zip(facts).map(row).collect() };
        let failed = extracted.rows.iter().filter(|row| row.error.is_some()).count() as u64;
        let bytes = extracted.encode().map_err(|error| StageError::encode(STEP, error))?;
        Ok(Produced {
            outputs: vec![Output::value("extracted", bytes, extracted.rows.len())],
            failed,
            ..Produced::default()
        })
    }
}
