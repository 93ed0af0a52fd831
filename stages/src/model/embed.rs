//! Texts to vectors, each text once per embedder.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ragstage_cache::key::key_of;
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use super::embed_endpoint::{EmbedEndpoint, EndpointCost};
use super::embedder::EmbedderSpec;
use super::json_reply::bad_reply;
use super::local_embedder::{self, LocalEmbedder};
use super::usage::{ModelUsage, Usage};
use crate::contract::{Context, Free, Pool, Row, RowBatch, RowItem, RowOutcome, derived};
use crate::error::{InputError, Place, RowError, StageError, StageErrorKind};
use crate::step::Step;

/// Version of how a vector is asked for, checked and kept, in an embedder's identity.
pub(super) const EMBED_VERSION: u64 = 1;
/// Texts that an embedder in process is given at once.
const LOCAL_GROUP: usize = 64;

/// What a text is to its embedder: some models take a prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// What is searched for.
    Query,
    /// What is found.
    Passage,
}

/// A text's vector, and what was observed when it was made.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The vector.
    pub vector: Arc<[f32]>,
    /// Tokens and money, where a server was asked: the text's share of the request that it was part of. The request counts
    /// as a call of its first text, so that sums over texts count requests.
    pub usage: Option<ModelUsage>,
    /// Milliseconds: its share of the call that made it.
    pub latency_ms: f64,
}

/// What is kept beside a vector.
#[derive(Serialize, Deserialize)]
pub(super) struct Observed {
    /// `None` for an embedder in process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default)]
    pub calls: u64,
    /// Billionths of a US dollar at the price of the run that asked.
    #[serde(default)]
    pub nano_usd: u64,
    pub latency_ms: f64,
}

impl Observed {
    pub(super) fn of(row: &Row) -> Option<Self> {
        serde_json::from_slice(&row.observation).ok()
    }
}

/// The embedder without its prefixes: they are in the texts, so a text that has none is the same text in either role.
struct Slot(EmbedderSpec);

impl Slot {
    fn of(embedder: &EmbedderSpec) -> Self {
        let mut bare = embedder.clone();
        match &mut bare {
            EmbedderSpec::OpenAi(spec) => {
                spec.query_prefix.clear();
                spec.passage_prefix.clear();
            }
            EmbedderSpec::Bert(spec) => {
                spec.query_prefix.clear();
                spec.passage_prefix.clear();
            }
            EmbedderSpec::Static(_) | EmbedderSpec::Hashing(_) => {}
        }
        Slot(bare)
    }
}

impl Walk for Slot {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "ragstage.embedding");
        self.0.walk(v);
        v.end();
    }
}

/// An embedder in process, as the context keeps it.
struct Opened(Box<dyn LocalEmbedder>);

/// The vector of each of `texts` (with a label for people), in order: from the row cache, else embedded. All vectors have the
/// same length and finite numbers.
///
/// A server gets up to `batch` texts per request. One that it refuses does not cost the others of its request theirs. An
/// empty text is `refused` without asking: some servers make up a vector for it, others refuse the whole request.
///
/// `length` is how long vectors are that this embedder gave before and that these are compared with, where there are any. A
/// new one of another length is no reply to its text and is not kept, so the next run asks again.
///
/// # Errors
/// As [`Context::rows`]; when the model's files or its endpoint cannot be used at all; and when kept vectors have different
/// lengths, or another one than `length` or new ones: then two models have answered under one name, and none of their rows is
/// to be trusted.
pub fn embed_texts(
    context: &dyn Context,
    step: Step,
    embedder: &EmbedderSpec,
    role: TextRole,
    texts: &[(&str, &str)],
    mut length: Option<usize>,
) -> Result<Vec<Result<Embedded, RowError>>, StageError> {
    let prefix = embedder.prefix(role);
    let full: Vec<Cow<'_, str>> = texts
        .iter()
        .map(|(_, text)| if prefix.is_empty() { Cow::Borrowed(*text) } else { Cow::Owned(format!("{prefix}{text}")) })
        .collect();
    let items: Vec<RowItem<'_>> =
        texts.iter().zip(&full).map(|((label, _), text)| RowItem { key: Digest::of(text.as_bytes()), label }).collect();
    let slot = Slot::of(embedder);
    let outcomes = match embedder {
        EmbedderSpec::OpenAi(spec) => {
            let endpoint = EmbedEndpoint::new(spec, &full, length)
                .map_err(|why| StageError { step, kind: StageErrorKind::Provider(why) })?;
            let cost = EndpointCost { price: spec.price, texts: &full };
            let batch = RowBatch { slot: &slot, pool: Pool::Embeddings, items: &items, cost: &cost };
            context.rows_in_groups(batch, spec.batch.max(1) as usize, &|indexes, call| endpoint.ask(indexes, call))?
        }
        _ => in_process(context, step, &slot, &full, &items)?,
    };
    outcomes
        .into_iter()
        .zip(&items)
        .map(|(outcome, item)| match outcome {
            RowOutcome::Failed(error) => Ok(Err(error)),
            RowOutcome::Done(row) => {
                let embedded = embedded(embedder, &row)
                    .map_err(|why| StageError { step, kind: StageErrorKind::Artifact { digest: item.key, why } })?;
                let (is, other) = (embedded.vector.len(), *length.get_or_insert(embedded.vector.len()));
                if is != other {
                    let why = two_lengths(embedder, other, is);
                    return Err(StageError { step, kind: StageErrorKind::Doubt(why) });
                }
                Ok(Ok(embedded))
            }
        })
        .collect()
}

/// Rows of an embedder in this process. It is opened once, when the first row is missing.
fn in_process(
    context: &dyn Context,
    step: Step,
    slot: &Slot,
    texts: &[Cow<'_, str>],
    items: &[RowItem<'_>],
) -> Result<Vec<RowOutcome>, StageError> {
    let unusable: Mutex<Option<StageError>> = Mutex::default();
    let open = || -> Result<Opened, StageError> {
        let opened = local_embedder::open(&slot.0).map_err(|why| unreadable(step, &slot.0, why))?;
        let other = || StageError::encode(step, "the embedder is not one of this process");
        opened.map(Opened).ok_or_else(other)
    };
    let batch = RowBatch { slot, pool: Pool::Cpu, items, cost: &Free };
    let outcomes = context.rows_in_groups(batch, LOCAL_GROUP, &|indexes, _| {
        let embedder = derived(context, step, &key_of(&slot.0), &open).map_err(|error| {
            let why = bad_reply(error.to_string());
            unusable.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            why
        })?;
        let group: Vec<&str> = indexes.iter().filter_map(|&index| texts.get(index)).map(Cow::as_ref).collect();
        let start = Instant::now();
        let vectors = embedder.0.embed(&group).map_err(bad_reply)?;
        let latency_ms = start.elapsed().as_secs_f64() * 1e3 / group.len().max(1) as f64;
        if vectors.len() != group.len() {
            return Err(bad_reply(format!("expected {} vectors, found {}", group.len(), vectors.len())));
        }
        let length = embedder.0.dimensions();
        Ok(vectors
            .into_iter()
            .map(|vector| {
                if vector.len() != length {
                    return Err(bad_reply(format!("expected {length} numbers, found {}", vector.len())));
                }
                if let Some(number) = vector.iter().find(|number| !number.is_finite()) {
                    return Err(bad_reply(format!("expected {length} finite numbers, found {number} among them")));
                }
                row(&vector, &Observed { usage: None, calls: 0, nano_usd: 0, latency_ms })
            })
            .collect())
    })?;
    match unusable.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(outcomes),
    }
}

/// A model whose files are not what they should be.
fn unreadable(step: Step, embedder: &EmbedderSpec, why: String) -> StageError {
    let folder = match embedder {
        EmbedderSpec::Static(spec) => &spec.folder,
        EmbedderSpec::Bert(spec) => &spec.folder,
        EmbedderSpec::OpenAi(_) | EmbedderSpec::Hashing(_) => return StageError::encode(step, why),
    };
    let error = InputError::new(Place::file(folder), format!("the model cannot be used: {why}"));
    StageError::input(step, vec![error.hint("fetch it again with `ragstage models get`, or correct `embed.model`")])
}

/// The row of a vector: its numbers as little-endian 32-bit floats.
pub(super) fn row(vector: &[f32], observed: &Observed) -> Result<Row, RowError> {
    Ok(Row {
        value: vector.iter().flat_map(|number| number.to_le_bytes()).collect(),
        observation: serde_json::to_vec(observed).map_err(|error| bad_reply(error.to_string()))?,
    })
}

fn embedded(embedder: &EmbedderSpec, row: &Row) -> Result<Embedded, String> {
    let (numbers, rest) = row.value.as_chunks::<4>();
    if numbers.is_empty() || !rest.is_empty() {
        return Err(format!("is no vector: it has {} bytes", row.value.len()));
    }
    let observed = Observed::of(row);
    let usage = match (embedder, &observed) {
        (EmbedderSpec::OpenAi(spec), Some(Observed { usage: Some(usage), calls, nano_usd, .. })) => {
            Some(ModelUsage { model: spec.model.clone(), calls: *calls, usage: *usage, nano_usd: *nano_usd })
        }
        _ => None,
    };
    Ok(Embedded {
        vector: numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        usage,
        latency_ms: observed.map_or(0.0, |observed| observed.latency_ms),
    })
}

fn two_lengths(embedder: &EmbedderSpec, one: usize, other: usize) -> String {
    let name = match embedder {
        EmbedderSpec::OpenAi(spec) => format!("embedder {} of endpoint {}", spec.model, spec.endpoint.label),
        _ => "the embedder".to_string(),
    };
    format!(
        "{name} gave vectors of {one} and of {other} numbers, so two models have answered under one name; its vectors are \
         set aside and the next run asks for them again: give each server an `endpoint` of its own, or say which length is \
         right with `dimensions`"
    )
}
