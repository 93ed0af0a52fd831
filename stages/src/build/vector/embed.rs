//! The action that embeds a unit's texts.

use std::collections::HashMap;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::embeddings::Embeddings;
use super::texts::texts;
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key};
use crate::error::{StageError, StageErrorKind};
use crate::model::{EmbedderSpec, TextRole, embed_texts};
use crate::step::Step;

/// Which texts are embedded.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbedInput {
    /// The unit's chunks.
    Chunks(Digest),
    /// The unit's entities, then its relations.
    Graph {
        /// The entities.
        entities: Digest,
        /// The relations.
        relations: Digest,
    },
}

/// Texts to [`Embeddings`], output `embeddings`; one row per distinct text and embedder, shared by everything that embeds.
///
/// A text that could not be embedded makes the action incomplete: it is missing in the output, and only it is tried again.
#[derive(Debug, Clone, PartialEq)]
pub struct Embed {
    /// Which texts.
    pub input: EmbedInput,
    /// The embedder.
    pub embedder: EmbedderSpec,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for Embed {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Embed, self.salt);
        match &self.input {
            EmbedInput::Chunks(chunks) => v.digest("chunks", chunks),
            EmbedInput::Graph { entities, relations } => {
                v.digest("entities", entities);
                v.digest("relations", relations);
            }
        }
        self.embedder.walk(v);
        v.end();
    }
}

impl Action for Embed {
    fn step(&self) -> Step {
        Step::Embed
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let texts = texts(context, &self.input)?;
        // Equal texts have equal vectors: each is asked for once.
        let mut asked: Vec<(&str, &str)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut positions = Vec::with_capacity(texts.len());
        for text in &texts {
            positions.push(*known.entry(&text.text).or_insert_with(|| {
                asked.push((&text.label, &text.text));
                asked.len() - 1
            }));
        }
        let embedded = embed_texts(context, Step::Embed, &self.embedder, TextRole::Passage, &asked, None)?;
        let vector = |position: usize| Some(&*embedded.get(position)?.as_ref().ok()?.vector);
        let embeddings = Embeddings::new(positions.into_iter().map(vector)).map_err(|error| StageError {
            step: Step::Embed,
            // Vectors that do not go together are of no use, whichever of them are right; those that were kept too.
            kind: StageErrorKind::Doubt(format!("the embedder gave vectors that do not go together: {error}")),
        })?;
        let bytes = embeddings.encode().map_err(|error| StageError::encode(Step::Embed, error))?;
        let failed = embedded.iter().filter(|embedded| embedded.is_err()).count() as u64;
        let outputs = vec![Output::value("embeddings", bytes, texts.len())];
        Ok(Produced { outputs, failed, ..Produced::default() })
    }
}
