//! Embedders in process: feature hashing, token vectors where `$WORDLLAMA_DIR` names them, and a sentence transformer where
//! `$MINILM_DIR` names one and this build has the feature `bert`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ragstage_cache::Digest;
use ragstage_stages::model::{
    BertEmbedder, EmbedderSpec, HAS_BERT, HashingEmbedder, ModelFile, Pooling, SENTENCE_TRANSFORMER_FILES,
    STATIC_MODEL_FILES, StaticEmbedder, model_digest, open_local_embedder,
};

use crate::figure::{Figure, median};

/// Words of a chunk: some 180 tokens of a WordPiece vocabulary.
const WORDS: usize = 130;

/// Measures whole chunks per second on all cores, after the model was read.
pub fn figures() -> Vec<Figure> {
    let mut figures =
        vec![figure("feature hashing", &EmbedderSpec::Hashing(HashingEmbedder { dimensions: 1024 }), 2000)];
    if let Some(folder) = model("WORDLLAMA_DIR") {
        let digest = digest(&folder, &STATIC_MODEL_FILES);
        let spec = StaticEmbedder { model: "wordllama".to_string(), folder, digest };
        figures.push(figure("token vectors (WordLlama, 256)", &EmbedderSpec::Static(spec), 2000));
    }
    if !HAS_BERT {
        eprintln!("embedders: build with --features bert for figures of a sentence transformer");
    } else if let Some(folder) = model("MINILM_DIR") {
        let spec = BertEmbedder {
            model: "all-minilm-l6-v2".to_string(),
            digest: digest(&folder, &SENTENCE_TRANSFORMER_FILES),
            folder,
            pooling: Pooling::Mean,
            max_tokens: 256,
            query_prefix: String::new(),
            passage_prefix: String::new(),
        };
        figures.push(figure("sentence transformer (all-MiniLM-L6-v2)", &EmbedderSpec::Bert(spec), 64));
    }
    figures
}

fn model(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("embedders: set {variable} to the folder of a model for its figures");
    }
    folder
}

fn digest(folder: &Path, files: &[ModelFile]) -> Digest {
    let read = |file: &ModelFile| Some((file.name, Digest::of(&std::fs::read(folder.join(file.name)).ok()?)));
    model_digest(&files.iter().filter_map(read).collect::<Vec<_>>())
}

fn figure(name: &str, spec: &EmbedderSpec, count: usize) -> Figure {
    let embedder = open_local_embedder(spec).expect("the model's files").expect("an embedder in process");
    let words: Vec<&str> = include_str!("../../README.md").split_whitespace().collect();
    let start = |chunk: usize| (chunk * 37) % words.len().saturating_sub(WORDS).max(1);
    let chunks: Vec<String> = (0..count)
        .map(|chunk| words.iter().skip(start(chunk)).take(WORDS).copied().collect::<Vec<_>>().join(" "))
        .collect();
    let texts: Vec<&str> = chunks.iter().map(String::as_str).collect();
    let rates = (0..3).map(|_| {
        let start = Instant::now();
        drop(embedder.embed(&texts).expect("vectors"));
        count as f64 / start.elapsed().as_secs_f64()
    });
    Figure::new(format!("{name}: chunks of {WORDS} words, all cores"), median(rates.collect()), "chunks/s")
}
