//! Sentence transformers of the BERT family (Reimers and Gurevych 2019), through candle.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokenizers::{Tokenizer, TruncationParams};

use super::embedder::{BertEmbedder, Pooling};
use super::local_embedder::LocalEmbedder;
use super::model_folder::{CONFIG, ModelFolder, WEIGHTS};
use super::sentence_transformer_files::SENTENCE_TRANSFORMER_FILES;

/// A BERT encoder with its pooling; vectors have length 1.
///
/// Every text goes through the encoder alone, as long as it is: without padding nothing depends on the texts beside it, not
/// even the order in which a matrix product is summed up.
///
/// Threads share out the texts and not the matrix products of one text, which are too small for it: candle would divide each
/// of them among all cores and wait for the last, for twice the time. A pool of one thread has nobody to divide with.
pub(super) struct SentenceTransformer {
    model: BertModel,
    tokenizer: Tokenizer,
    pooling: Pooling,
    dimensions: usize,
    threads: Vec<ThreadPool>,
}

impl SentenceTransformer {
    /// Reads the model's files.
    ///
    /// # Errors
    /// When they are missing, or are not what the layout promises, in words.
    pub(super) fn open(spec: &BertEmbedder) -> Result<Self, String> {
        let folder = ModelFolder::read(&spec.folder, &SENTENCE_TRANSFORMER_FILES, &spec.digest)?;
        let config: Config = serde_json::from_slice(folder.file(CONFIG).unwrap_or_default())
            .map_err(|error| folder.fault(CONFIG, format!("is no configuration of a BERT model: {error}")))?;
        let weights = folder.file(WEIGHTS).unwrap_or_default();
        let fault = |error| folder.fault(WEIGHTS, format!("does not hold the BERT model of its config.json: {error}"));
        let tensors = VarBuilder::from_slice_safetensors(weights, DType::F32, &Device::Cpu).map_err(fault)?;
        let model = BertModel::load(tensors, &config).map_err(fault)?;
        let mut tokenizer = folder.tokenizer()?;
        let truncation = TruncationParams { max_length: spec.max_tokens as usize, ..TruncationParams::default() };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|error| format!("texts cannot be cut at {} tokens: {error}", spec.max_tokens))?;
        // As many as the pool has that this is called in, which is what `--jobs` says.
        let threads = (0..rayon::current_num_threads().max(1)).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
        let threads: Result<Vec<ThreadPool>, _> = threads.collect();
        let threads = threads.map_err(|error| format!("threads for the model cannot be started: {error}"))?;
        Ok(SentenceTransformer { model, tokenizer, pooling: spec.pooling, dimensions: config.hidden_size, threads })
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, String> {
        let encoding = self
            .tokenizer
            .encode_fast(text, true)
            .map_err(|error| format!("a text cannot be cut into tokens: {error}"))?;
        let states = self.states(encoding.get_ids()).map_err(|error| format!("the encoder failed: {error}"))?;
        let pooled = match self.pooling {
            Pooling::Cls => states.first().map(|state| state.iter().map(|value| f64::from(*value)).collect()),
            Pooling::Mean => Some(sum(&states, self.dimensions)),
        };
        // The mean and the sum have the same direction.
        let pooled: Vec<f64> = pooled.unwrap_or_else(|| vec![0.0; self.dimensions]);
        let norm = pooled.iter().map(|value| value * value).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { norm.recip() } else { 0.0 };
        Ok(pooled.into_iter().map(|value| (value * scale) as f32).collect())
    }

    /// The last layer's state of each token.
    fn states(&self, ids: &[u32]) -> candle_core::Result<Vec<Vec<f32>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = Tensor::new(ids, &Device::Cpu)?.unsqueeze(0)?;
        let types = ids.zeros_like()?;
        self.model.forward(&ids, &types, None)?.squeeze(0)?.to_vec2::<f32>()
    }
}

fn sum(states: &[Vec<f32>], dimensions: usize) -> Vec<f64> {
    let mut sum = vec![0f64; dimensions];
    for state in states {
        for (sum, value) in sum.iter_mut().zip(state) {
            *sum += f64::from(*value);
        }
    }
    sum
}

impl LocalEmbedder for SentenceTransformer {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let next = AtomicUsize::new(0);
        let (sender, vectors) = mpsc::channel();
        thread::scope(|scope| {
            for pool in self.threads.iter().take(texts.len()) {
                let (next, sender) = (&next, sender.clone());
                let work = move || {
                    while let Some((index, text)) = take(texts, next) {
                        // The receiver outlives the threads.
                        let _ = sender.send((index, self.vector(text)));
                    }
                };
                scope.spawn(move || pool.install(work));
            }
        });
        drop(sender);
        let mut vectors: Vec<(usize, Result<Vec<f32>, String>)> = vectors.iter().collect();
        vectors.sort_by_key(|(index, _)| *index);
        vectors.into_iter().map(|(_, vector)| vector).collect()
    }
}

/// The next text that no thread has taken.
fn take<'a>(texts: &[&'a str], next: &AtomicUsize) -> Option<(usize, &'a str)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    texts.get(index).map(|text| (index, *text))
}
