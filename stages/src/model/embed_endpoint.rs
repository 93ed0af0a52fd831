//! Asking an embeddings endpoint for the vectors of several texts at once.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::Instant;

use serde_json::{Value, json};

use super::embed::{Observed, row};
use super::embedder::OpenAiEmbedder;
use super::embedding_reply::EmbeddingReply;
use super::json_client::JsonClient;
use super::json_reply::bad_reply;
use super::price::Price;
use super::usage::{Usage, UsageSource};
use crate::build::chunk::Tokenizer;
use crate::contract::{Call, Cost, Row, Spend};
use crate::error::{RowError, RowErrorKind};

/// How many single texts are tried to find out whether a server that failed on a group is of use at all.
const PROBES: usize = 2;

/// A row or an error for each text of a group.
type Rows = Vec<Result<Row, RowError>>;

/// The same, each with the number of its text.
type Numbered = Vec<(usize, Result<Row, RowError>)>;

/// What texts cost.
pub(super) struct EndpointCost<'a> {
    /// The model's.
    pub price: Price,
    /// The texts, with their prefixes.
    pub texts: &'a [Cow<'a, str>],
}

impl Cost for EndpointCost<'_> {
    fn estimate(&self, item: usize) -> Spend {
        let tokens = self.texts.get(item).map_or(0, |text| tokens(text));
        self.price.spend(&Usage { prompt_tokens: tokens, completion_tokens: 0, source: UsageSource::Counted })
    }

    fn of(&self, row: &Row) -> Spend {
        Observed::of(row).and_then(|observed| observed.usage).map(|usage| self.price.spend(&usage)).unwrap_or_default()
    }
}

fn tokens(text: &str) -> u64 {
    Tokenizer::Cl100kBase.count(text)
}

/// An embeddings endpoint with the texts that may be asked for.
pub(super) struct EmbedEndpoint<'a> {
    spec: &'a OpenAiEmbedder,
    client: JsonClient,
    texts: &'a [Cow<'a, str>],
    /// How long vectors are, where `dimensions` does not say it: those of before do, else the first reply.
    length: OnceLock<usize>,
}

impl<'a> EmbedEndpoint<'a> {
    /// Nothing is asked yet. `length` is how long this embedder's vectors of before are, where there are any.
    ///
    /// # Errors
    /// When the endpoint cannot be used at all.
    pub(super) fn new(
        spec: &'a OpenAiEmbedder,
        texts: &'a [Cow<'a, str>],
        length: Option<usize>,
    ) -> Result<Self, String> {
        let client = spec.endpoint.client(&format!("embedder {}", spec.model), "embeddings")?;
        Ok(EmbedEndpoint { spec, client, texts, length: length.map_or_else(OnceLock::new, OnceLock::from) })
    }

    /// The rows of the texts `indexes`, in order.
    ///
    /// # Errors
    /// Of all of them, where the request failed. What is wrong with single vectors is an error of their rows.
    pub(super) fn ask(&self, indexes: &[usize], call: &Call) -> Result<Rows, RowError> {
        let (empty, rest): (Vec<usize>, Vec<usize>) =
            indexes.iter().partition(|&&index| self.texts.get(index).is_none_or(|text| text.is_empty()));
        let mut known: Numbered = if rest.is_empty() {
            Vec::new()
        } else {
            match self.ask_once(&rest, call) {
                Ok(rows) => rest.iter().copied().zip(rows).collect(),
                Err(error) if rest.len() > 1 && of_one_text(&error, call) => self.ask_apart(rest, error, call)?,
                Err(error) => return Err(error),
            }
        };
        let refused = || RowError::new(RowErrorKind::Refused, "the text is empty: there is nothing to embed");
        known.extend(empty.into_iter().map(|index| (index, Err(refused()))));
        // Both halves are in the order of `indexes`, which is that of the items.
        known.sort_by_key(|(index, _)| *index);
        Ok(known.into_iter().map(|(_, row)| row).collect())
    }

    /// After `error` for all: the texts in smaller groups, if the server takes one of the shortest alone.
    fn ask_apart(&self, mut indexes: Vec<usize>, error: RowError, call: &Call) -> Result<Numbered, RowError> {
        let mut shortest = indexes.clone();
        shortest.sort_by_key(|&index| (self.texts.get(index).map_or(0, |text| text.len()), index));
        let mut known = Numbered::new();
        for probe in shortest.into_iter().take(PROBES) {
            indexes.retain(|&index| index != probe);
            match self.ask_once(&[probe], call) {
                Ok(rows) => {
                    known.extend(rows.into_iter().map(|row| (probe, row)));
                    self.ask_halves(&indexes, call, &mut known);
                    return Ok(known);
                }
                Err(error) => known.push((probe, Err(error))),
            }
        }
        Err(error)
    }

    fn ask_halves(&self, indexes: &[usize], call: &Call, known: &mut Numbered) {
        let (left, right) = indexes.split_at(indexes.len() / 2);
        for half in [left, right].into_iter().filter(|half| !half.is_empty()) {
            match self.ask_once(half, call) {
                Ok(rows) => known.extend(half.iter().copied().zip(rows)),
                Err(error) if half.len() > 1 && matches!(error.kind, RowErrorKind::Server | RowErrorKind::Refused) => {
                    self.ask_halves(half, call, known);
                }
                Err(error) => known.extend(half.iter().map(|&index| (index, Err(error.clone())))),
            }
        }
    }

    /// One request.
    fn ask_once(&self, indexes: &[usize], call: &Call) -> Result<Rows, RowError> {
        let texts: Vec<&str> = indexes.iter().filter_map(|&index| self.texts.get(index)).map(Cow::as_ref).collect();
        let mut body = json!({"model": self.spec.model, "input": texts, "encoding_format": "float"});
        if let (Some(dimensions), Some(map)) = (self.spec.dimensions, body.as_object_mut()) {
            map.insert("dimensions".to_string(), Value::from(dimensions));
        }
        let body = serde_json::to_vec(&body).map_err(|error| bad_reply(error.to_string()))?;
        let start = Instant::now();
        let bytes = self.client.post_for_bytes(&body, call.timeout)?;
        let latency_ms = start.elapsed().as_secs_f64() * 1e3 / texts.len().max(1) as f64;
        let counted: Vec<u64> = texts.iter().map(|text| tokens(text)).collect();
        let all: u64 = counted.iter().sum();
        let reply = EmbeddingReply::of(&bytes, texts.len());
        let usage = match reply.as_ref().map(|reply| reply.prompt_tokens) {
            Ok(Some(tokens)) => Some((tokens, UsageSource::Server)),
            // What came with a status of success is paid for, unless it says that it failed.
            Ok(None) => Some((all, UsageSource::Counted)),
            Err(error) if error.kind == RowErrorKind::BadReply => Some((all, UsageSource::Counted)),
            Err(_) => None,
        };
        let (tokens, source) = usage.unwrap_or((0, UsageSource::Counted));
        let of = |prompt_tokens| Usage { prompt_tokens, completion_tokens: 0, source };
        call.meter.add(self.spec.price.spend(&of(tokens)));
        let reply = reply.map_err(|error| self.client.masked(error))?;
        let vectors = self.of_one_length(reply.vectors);
        let rows = vectors.into_iter().zip(shares(tokens, &counted)).enumerate().map(|(position, (vector, share))| {
            let vector = vector.map_err(|error| self.client.masked(error))?;
            let vector = if self.spec.normalize { normalized(vector) } else { vector };
            let usage = of(share);
            let nano_usd = self.spec.price.spend(&usage).nano_usd;
            row(&vector, &Observed { usage: Some(usage), calls: u64::from(position == 0), nano_usd, latency_ms })
        });
        Ok(rows.collect())
    }

    /// `vectors`, of which those that are not as long as all of this embedder's are errors.
    fn of_one_length(&self, vectors: Vec<Result<Vec<f32>, RowError>>) -> Vec<Result<Vec<f32>, RowError>> {
        let mut lengths: Vec<usize> = vectors.iter().flatten().map(Vec::len).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let expected = match (self.spec.dimensions, self.length.get(), lengths.as_slice()) {
            (Some(dimensions), ..) => dimensions as usize,
            (None, Some(length), _) => *length,
            (None, None, [length]) => *self.length.get_or_init(|| *length),
            // Which of them is right is not known.
            (None, None, _) => 0,
        };
        let wrong = |found: usize| {
            bad_reply(match (self.spec.dimensions, expected) {
                (Some(dimensions), _) => {
                    format!("expected a vector of {dimensions} numbers (`dimensions`), found {found}")
                }
                (None, 0) => format!("expected vectors of one length in one reply, found lengths {lengths:?}"),
                (None, expected) => {
                    format!("expected a vector of {expected} numbers, as this embedder's others have, found {found}")
                }
            })
        };
        vectors
            .into_iter()
            .map(|vector| {
                vector.and_then(|vector| if vector.len() == expected { Ok(vector) } else { Err(wrong(vector.len())) })
            })
            .collect()
    }
}

/// Whether a failed request for several texts may be the fault of one of them though the server says that the fault is its own
/// (llama.cpp: 500 for a text that is too long). The same is asked once more before, for most such failures pass. A request that
/// is refused is divided by the context.
fn of_one_text(error: &RowError, call: &Call) -> bool {
    error.kind == RowErrorKind::Server && call.attempt > 1
}

/// `total` in parts that are as to one another as `weights`, and add up to it.
fn shares(total: u64, weights: &[u64]) -> Vec<u64> {
    // One more each, so that texts without tokens have a share.
    let add = |sum: u64, weight: &u64| sum.saturating_add(*weight).saturating_add(1);
    let all = weights.iter().fold(0, add).max(1);
    let (mut seen, mut given) = (0_u64, 0_u64);
    weights
        .iter()
        .map(|weight| {
            seen = add(seen, weight);
            let until = u64::try_from(u128::from(total) * u128::from(seen) / u128::from(all)).unwrap_or(total);
            let share = until - given;
            given = until;
            share
        })
        .collect()
}

/// `vector` at length 1, summed in order and in double precision; zeros stay zeros.
fn normalized(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        assert_eq!(shares(12, &[1, 3, 5]), [2, 4, 6]);
        assert_eq!(shares(10, &[0, 0, 0]), [3, 3, 4]);
        assert_eq!(shares(0, &[7, 8]), [0, 0]);
        assert_eq!(shares(u64::MAX, &[u64::MAX, u64::MAX]), [u64::MAX, 0]);
        assert_eq!(shares(5, &[]), Vec::<u64>::new());
    }

    #[test]
    fn vectors_come_to_length_1() {
        assert_eq!(normalized(vec![3.0, -4.0]), [0.6, -0.8]);
        assert_eq!(normalized(vec![0.0, 0.0]), [0.0, 0.0]);
        assert_eq!(normalized(vec![f32::MAX, 0.0]), [1.0, 0.0]);
    }
}
