//! Static embeddings: a text's vector is the mean of its tokens' vectors.

use rayon::prelude::*;
use serde::Deserialize;
use tokenizers::Tokenizer;

use super::embedder::StaticEmbedder;
use super::local_embedder::LocalEmbedder;
use super::model_folder::{CONFIG, ModelFile, ModelFolder, TOKENIZER, WEIGHTS};
use super::tensor_file::{Table, TensorFile};

/// The files that the vectors depend on.
pub const STATIC_MODEL_FILES: [ModelFile; 3] = [
    ModelFile { name: WEIGHTS, required: true },
    ModelFile { name: TOKENIZER, required: true },
    ModelFile { name: CONFIG, required: false },
];

/// The matrix of model2vec's layout.
const MODEL2VEC_TENSOR: &str = "embeddings";
/// The matrix of WordLlama's layout, which sentence-transformers' `StaticEmbedding` has too.
const EMBEDDING_BAG_TENSOR: &str = "embedding.weight";

/// Tokens at which model2vec cuts a text where its `config.json` does not say.
const MODEL2VEC_MAX_LENGTH: usize = 512;

/// A model of token vectors, in one of two layouts that are told apart by the name of the matrix:
///
/// - `embeddings` (model2vec 0.10): a text is cut at `max_length` tokens of `config.json` (absent: 512, `null`: never), then
///   unknown tokens are left out. With `mapping`, token `t` has row `mapping[t]`; with `weights`, it counts `weights[t]` times
///   while the sum is still divided by the number of tokens.
/// - `embedding.weight` (WordLlama): every token counts, and nothing is cut.
///
/// Special tokens are never added. Vectors are brought to length 1 unless `normalize` in `config.json` is `false`; a text
/// without tokens is all zeros.
pub(super) struct StaticModel {
    tokenizer: Tokenizer,
    table: Table,
    mapping: Option<Vec<usize>>,
    weights: Option<Vec<f64>>,
    max_length: Option<usize>,
    left_out: Option<u32>,
    normalize: bool,
}

/// What `config.json` may say.
#[derive(Deserialize)]
struct Config {
    normalize: Option<bool>,
    #[serde(default = "default_max_length")]
    max_length: Option<usize>,
}

fn default_max_length() -> Option<usize> {
    Some(MODEL2VEC_MAX_LENGTH)
}

/// What `tokenizer.json` says of unknown tokens.
#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    unk_token: Option<String>,
    unk_id: Option<u32>,
}

impl StaticModel {
    /// Reads the model's files.
    ///
    /// # Errors
    /// When they are missing, or are not what the layouts promise, in words.
    pub(super) fn open(spec: &StaticEmbedder) -> Result<Self, String> {
        let folder = ModelFolder::read(&spec.folder, &STATIC_MODEL_FILES, &spec.digest)?;
        let weights_fault = |why: String| folder.fault(WEIGHTS, why);
        let tensors = TensorFile::new(folder.file(WEIGHTS).unwrap_or_default()).map_err(weights_fault)?;
        let config = match folder.file(CONFIG) {
            Some(bytes) => serde_json::from_slice::<Config>(bytes)
                .map_err(|error| folder.fault(CONFIG, format!("is no configuration of a model: {error}")))?,
            None => Config { normalize: None, max_length: default_max_length() },
        };
        let tokenizer = folder.tokenizer()?;
        let normalize = config.normalize.unwrap_or(true);
        let model = if let Some(table) = tensors.table(MODEL2VEC_TENSOR).map_err(weights_fault)? {
            StaticModel {
                table,
                mapping: tensors.indexes("mapping").map_err(weights_fault)?,
                weights: tensors.vector("weights").map_err(weights_fault)?,
                max_length: config.max_length,
                left_out: unknown_token(folder.file(TOKENIZER).unwrap_or_default(), &tokenizer),
                normalize,
                tokenizer,
            }
        } else if let Some(table) = tensors.table(EMBEDDING_BAG_TENSOR).map_err(weights_fault)? {
            StaticModel { table, mapping: None, weights: None, max_length: None, left_out: None, normalize, tokenizer }
        } else {
            return Err(weights_fault(format!(
                "has no token vectors: expected a tensor `{MODEL2VEC_TENSOR}` or `{EMBEDDING_BAG_TENSOR}`, found {}",
                some_of(&tensors.names())
            )));
        };
        model.check().map_err(weights_fault)?;
        Ok(model)
    }

    /// Whether every token of the tokenizer has a vector.
    fn check(&self) -> Result<(), String> {
        let tokens = self.tokenizer.get_vocab(true).into_values().max().map_or(0, |id| id as usize + 1);
        let too_few = |what: &str, found: usize| {
            Err(format!("does not go with its tokenizer: expected {what} for {tokens} tokens, found {found}"))
        };
        if let Some(weights) = self.weights.as_ref().filter(|weights| weights.len() < tokens) {
            return too_few("weights", weights.len());
        }
        match &self.mapping {
            None if self.table.rows() < tokens => too_few("vectors", self.table.rows()),
            Some(mapping) if mapping.len() < tokens => too_few("a mapping", mapping.len()),
            Some(mapping) if mapping.iter().any(|row| *row >= self.table.rows()) => {
                Err(format!("maps tokens to rows that its matrix of {} rows has not", self.table.rows()))
            }
            _ => Ok(()),
        }
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, String> {
        let encoding = self
            .tokenizer
            .encode_fast(text, false)
            .map_err(|error| format!("a text cannot be cut into tokens: {error}"))?;
        let kept = encoding.get_ids().iter().take(self.max_length.unwrap_or(usize::MAX));
        // In the order of the text, and wider than the vectors, so that the sum is the same everywhere.
        let mut sum = vec![0f64; self.table.columns()];
        let mut count = 0usize;
        for id in kept.filter(|id| self.left_out != Some(**id)) {
            let at = *id as usize;
            let row = self.mapping.as_ref().map_or(Some(at), |mapping| mapping.get(at).copied());
            let weight = self.weights.as_ref().map_or(Some(1.0), |weights| weights.get(at).copied());
            let added = row.zip(weight).is_some_and(|(row, weight)| self.table.add_row(row, weight, &mut sum));
            if !added {
                return Err(format!("token {id} has no vector"));
            }
            count += 1;
        }
        let norm = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
        let divisor = if self.normalize { norm } else { count as f64 };
        let scale = if divisor > 0.0 { divisor.recip() } else { 0.0 };
        Ok(sum.into_iter().map(|value| (value * scale) as f32).collect())
    }
}

impl LocalEmbedder for StaticModel {
    fn dimensions(&self) -> usize {
        self.table.columns()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let vectors: Vec<_> = texts.par_iter().map(|text| self.vector(text)).collect();
        vectors.into_iter().collect()
    }
}

/// The id of the token that stands for what the tokenizer does not know.
fn unknown_token(bytes: &[u8], tokenizer: &Tokenizer) -> Option<u32> {
    let model = serde_json::from_slice::<TokenizerFile>(bytes).ok()?.model;
    model.unk_token.map_or(model.unk_id, |token| tokenizer.token_to_id(&token))
}

/// The first few of `names`, for a message.
fn some_of(names: &[String]) -> String {
    const MOST: usize = 5;
    match names {
        [] => "no tensor".to_string(),
        few if few.len() <= MOST => few.join(", "),
        many => {
            format!("{} and {} more", many.iter().take(MOST).cloned().collect::<Vec<_>>().join(", "), many.len() - MOST)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ragstage_cache::Digest;
    use safetensors::tensor::Dtype;

    use super::super::model_folder::model_digest;
    use super::super::tensor_file::tests::{f32s, file};
    use super::*;

    /// Words are tokens: `[UNK]` 0, `red` 1, `fox` 2, `blue` 3.
    const TOKENIZER_JSON: &str = r#"{"version": "1.0", "truncation": {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[UNK]"},
        "added_tokens": [], "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "red": 1, "fox": 2, "blue": 3}, "unk_token": "[UNK]"}}"#;

    const ROWS: [f32; 8] = [9.0, 9.0, 3.0, 0.0, 0.0, 1.0, 1.0, 1.0];

    fn write(folder: &Path, weights: &[u8], config: Option<&str>) {
        std::fs::write(folder.join(WEIGHTS), weights).expect("write");
        std::fs::write(folder.join(TOKENIZER), TOKENIZER_JSON).expect("write");
        let path = folder.join(CONFIG);
        match config {
            Some(config) => std::fs::write(path, config).expect("write"),
            None => drop(std::fs::remove_file(path)),
        }
    }

    fn open(folder: &Path) -> Result<StaticModel, String> {
        let files = STATIC_MODEL_FILES.map(|file| file.name);
        let read = |name: &&'static str| std::fs::read(folder.join(name)).ok().map(|bytes| (*name, Digest::of(&bytes)));
        let digest = model_digest(&files.iter().filter_map(read).collect::<Vec<_>>());
        StaticModel::open(&StaticEmbedder { model: "small".to_string(), folder: folder.to_path_buf(), digest })
    }

    fn vector(model: &StaticModel, text: &str) -> Vec<f32> {
        model.embed(&[text]).expect("a vector").remove(0)
    }

    #[test]
    fn model2vec_leaves_unknown_tokens_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let weights = file(&[("embeddings", Dtype::F32, &[4, 2], f32s(&ROWS))]);
        write(folder.path(), &weights, Some(r#"{"normalize": true}"#));
        let model = open(folder.path()).expect("a model");
        assert_eq!(model.dimensions(), 2);
        // (3, 0) + (0, 1) + (1, 1) = (4, 2); the unknown word counts nothing, and nothing is cut at two tokens.
        let expected = [4.0 / 20f64.sqrt(), 2.0 / 20f64.sqrt()].map(|value| value as f32);
        assert_eq!(vector(&model, "Red green FOX blue"), expected);
        assert_eq!(vector(&model, "green"), [0.0, 0.0]);
        assert_eq!(vector(&model, ""), [0.0, 0.0]);
        write(folder.path(), &weights, Some(r#"{"normalize": false, "max_length": 2}"#));
        // Cut to "red green", of which one token is left.
        assert_eq!(vector(&open(folder.path()).expect("a model"), "red green fox"), [3.0, 0.0]);
        write(folder.path(), &weights, Some(r#"{"normalize": false, "max_length": null}"#));
        let long = "red ".repeat(600) + &"fox ".repeat(600);
        assert_eq!(vector(&open(folder.path()).expect("a model"), &long), [1.5, 0.5]);
        write(folder.path(), &weights, Some(r#"{"normalize": false}"#));
        assert_eq!(vector(&open(folder.path()).expect("a model"), &"fox ".repeat(600)), [0.0, 1.0]);
    }

    #[test]
    fn tokens_may_share_rows_and_be_weighted() {
        let folder = tempfile::tempdir().expect("a folder");
        let mapping = [0i64, 1, 1, 0].iter().flat_map(|row| row.to_le_bytes()).collect();
        let weights = file(&[
            ("embeddings", Dtype::F32, &[2, 2], f32s(&[1.0, 0.0, 0.0, 2.0])),
            ("mapping", Dtype::I64, &[4], mapping),
            ("weights", Dtype::F32, &[4], f32s(&[1.0, 0.5, 2.0, 3.0])),
        ]);
        write(folder.path(), &weights, Some(r#"{"normalize": false}"#));
        // red: 0.5 (0, 2); fox: 2 (0, 2); blue: 3 (1, 0).
        assert_eq!(vector(&open(folder.path()).expect("a model"), "red fox blue blue"), [6.0 / 4.0, 5.0 / 4.0]);
    }

    #[test]
    fn wordllama_counts_every_token() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &file(&[("embedding.weight", Dtype::F32, &[4, 2], f32s(&ROWS))]), None);
        let model = open(folder.path()).expect("a model");
        // (3, 0) + (9, 9) = (12, 9), of length 15.
        assert_eq!(vector(&model, "red green"), [0.8, 0.6]);
        let together = model.embed(&["fox", "red green", "fox blue"]).expect("vectors");
        assert_eq!(together, [vector(&model, "fox"), vector(&model, "red green"), vector(&model, "fox blue")]);
    }

    #[test]
    fn what_is_no_model_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let fault = |weights: &[u8], config: Option<&str>| {
            write(folder.path(), weights, config);
            open(folder.path()).err().unwrap_or_default()
        };
        let other = fault(&file(&[("embeddings.word", Dtype::F32, &[1], f32s(&[1.0]))]), None);
        assert!(
            other.ends_with(
                "model.safetensors has no token vectors: expected a tensor `embeddings` or `embedding.weight`, found \
                 embeddings.word"
            ),
            "{other}"
        );
        let few = fault(&file(&[("embeddings", Dtype::F32, &[2, 2], f32s(&[1.0; 4]))]), None);
        assert!(few.ends_with("does not go with its tokenizer: expected vectors for 4 tokens, found 2"), "{few}");
        let rows = file(&[("embeddings", Dtype::F32, &[4, 2], f32s(&ROWS))]);
        let config = fault(&rows, Some(r#"{"normalize": "yes"}"#));
        assert!(config.contains("config.json is no configuration of a model: "), "{config}");
        write(folder.path(), &rows, None);
        std::fs::write(folder.path().join(TOKENIZER), "[]").expect("write");
        let tokenizer = open(folder.path()).err().unwrap_or_default();
        assert!(tokenizer.contains("tokenizer.json is no tokenizer: "), "{tokenizer}");
    }
}
