//! What is embedded of a knowledge base.

use std::borrow::Cow;

use super::embed::EmbedInput;
use crate::artifact::{Chunk, Chunks, Entities, Relations};
use crate::build::graph::{entity_text, relation_text};
use crate::contract::{Context, decoded};
use crate::error::StageError;
use crate::step::Step;

/// A text to be embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LabelledText {
    /// What people call it.
    pub label: String,
    /// The text.
    pub text: String,
}

/// The texts that `input` stands for, in the order in which vectors number them.
///
/// # Errors
/// When an artifact is lost or is something else.
pub(super) fn texts(context: &dyn Context, input: &EmbedInput) -> Result<Vec<LabelledText>, StageError> {
    match input {
        EmbedInput::Chunks(chunks) => {
            let chunks = decoded::<Chunks>(context, Step::Embed, chunks)?;
            Ok(texts_of_chunks(&chunks))
        }
        EmbedInput::Graph { entities, relations } => {
            let entities = decoded::<Entities>(context, Step::Embed, entities)?;
            let relations = decoded::<Relations>(context, Step::Embed, relations)?;
            Ok(texts_of_graph(&entities, &relations))
        }
    }
}

fn texts_of_chunks(chunks: &Chunks) -> Vec<LabelledText> {
    let text = |chunk: &Chunk| LabelledText { label: chunk.chunk_id.clone(), text: passage(chunk).into_owned() };
    chunks.rows.iter().map(text).collect()
}

fn texts_of_graph(entities: &Entities, relations: &Relations) -> Vec<LabelledText> {
    let of_entities =
        entities.rows.iter().map(|row| LabelledText { label: row.entity_id.clone(), text: entity_text(row) });
    let of_relations =
        relations.rows.iter().map(|row| LabelledText { label: row.relation_id.clone(), text: relation_text(row) });
    of_entities.chain(of_relations).collect()
}

/// What is embedded of a chunk: the document's title, a line break and the text; the text alone where there is no title or the
/// text opens with it. So a chunk's vector knows what its document is about.
pub(super) fn passage(chunk: &Chunk) -> Cow<'_, str> {
    match chunk.title.as_deref().map(str::trim) {
        Some(title) if !title.is_empty() && !chunk.text.trim_start().starts_with(title) => {
            Cow::Owned(format!("{title}\n{}", chunk.text))
        }
        _ => Cow::Borrowed(&chunk.text),
    }
}
