//! Embedders in process against the Python packages of their models, on 20 sentences of three languages
//! (`fixtures/embeddings/golden.json`). The folders of the models are `$WORDLLAMA_DIR` and `$MINILM_DIR`.

use std::path::{Path, PathBuf};

use ragstage_cache::Digest;
use ragstage_stages::model::{
    EmbedderSpec, LocalEmbedder, ModelFile, STATIC_MODEL_FILES, StaticEmbedder, model_digest, open_local_embedder,
};
use serde::Deserialize;

use crate::golden::say;

/// What the package made.
#[derive(Deserialize)]
struct Golden {
    dim: usize,
    first_8: Vec<Vec<f32>>,
    cosine: Vec<Vec<f64>>,
}

fn fixture() -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/embeddings/golden.json");
    serde_json::from_slice(&std::fs::read(path).expect("the recorded vectors")).expect("JSON")
}

fn sentences() -> Vec<String> {
    serde_json::from_value(fixture()["sentences"].clone()).expect("sentences")
}

fn golden(model: &str) -> Golden {
    serde_json::from_value(fixture()[model].clone()).expect("a model's vectors")
}

/// The folder that `variable` names; `None`, said loudly, where it is not set.
fn model_folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    match &folder {
        Some(folder) => assert!(folder.is_dir(), "{variable} is {}, where there is no folder", folder.display()),
        None => say(&format!("SKIPPED: {variable} is not set; it names the folder of a model to compare with")),
    }
    folder
}

fn digest(folder: &Path, files: &[ModelFile]) -> Digest {
    let read = |file: &ModelFile| Some((file.name, Digest::of(&std::fs::read(folder.join(file.name)).ok()?)));
    model_digest(&files.iter().filter_map(read).collect::<Vec<_>>())
}

fn open(spec: &EmbedderSpec) -> Box<dyn LocalEmbedder> {
    open_local_embedder(spec).expect("the model's files").expect("an embedder in process")
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Holds `vectors` against what was recorded: components within `tolerance` and half of the last digit, cosines likewise.
fn compare(golden: &Golden, vectors: &[Vec<f32>], tolerance: f64) {
    assert_eq!(vectors.len(), golden.first_8.len());
    for (i, (vector, first)) in vectors.iter().zip(&golden.first_8).enumerate() {
        assert_eq!(vector.len(), golden.dim);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-6);
        for (found, expected) in vector.iter().zip(first) {
            assert!(f64::from((found - expected).abs()) < tolerance + 5e-7, "sentence {i}: {found}, not {expected}");
        }
        for (other, expected) in vectors.iter().zip(&golden.cosine[i]) {
            let found = cosine(vector, other);
            assert!((found - expected).abs() < tolerance + 5e-6, "sentence {i}: cosine {found}, not {expected}");
        }
    }
}

/// A text's vector is the same alone, among others, and in another order, to the last bit.
fn alone_as_together(embedder: &dyn LocalEmbedder, texts: &[String], together: &[Vec<f32>]) {
    for (text, vector) in texts.iter().zip(together).rev() {
        assert_eq!(embedder.embed(&[text]).expect("a vector").remove(0), *vector, "{text}");
    }
    let reversed: Vec<&str> = texts.iter().rev().map(String::as_str).collect();
    let mut vectors = embedder.embed(&reversed).expect("vectors");
    vectors.reverse();
    assert_eq!(vectors, together);
}

fn embed(embedder: &dyn LocalEmbedder, texts: &[String]) -> Vec<Vec<f32>> {
    embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>()).expect("vectors")
}

#[test]
fn static_vectors_are_those_of_wordllama() {
    let Some(folder) = model_folder("WORDLLAMA_DIR") else { return };
    let digest = digest(&folder, &STATIC_MODEL_FILES);
    let embedder = open(&EmbedderSpec::Static(StaticEmbedder { model: "wordllama".to_string(), folder, digest }));
    let vectors = embed(&*embedder, &sentences());
    compare(&golden("wordllama-l2-256"), &vectors, 2e-6);
    alone_as_together(&*embedder, &sentences(), &vectors);
}

#[cfg(feature = "bert")]
mod bert {
    use ragstage_stages::model::{BertEmbedder, Pooling, SENTENCE_TRANSFORMER_FILES};

    use super::*;

    fn minilm(folder: &Path, max_tokens: u32) -> Box<dyn LocalEmbedder> {
        open(&EmbedderSpec::Bert(BertEmbedder {
            model: "all-minilm-l6-v2".to_string(),
            folder: folder.to_path_buf(),
            digest: digest(folder, &SENTENCE_TRANSFORMER_FILES),
            pooling: Pooling::Mean,
            max_tokens,
            query_prefix: String::new(),
            passage_prefix: String::new(),
        }))
    }

    #[test]
    fn sentence_vectors_are_those_of_sentence_transformers() {
        let Some(folder) = model_folder("MINILM_DIR") else { return };
        let embedder = minilm(&folder, 256);
        let vectors = embed(&*embedder, &sentences());
        compare(&golden("all-minilm-l6-v2"), &vectors, 2e-6);
        alone_as_together(&*embedder, &sentences(), &vectors);
    }

    #[test]
    fn long_texts_are_cut_where_they_should_be() {
        let Some(folder) = model_folder("MINILM_DIR") else { return };
        let embedder = minilm(&folder, 32);
        // 30 tokens are left beside the two special ones; the file's own 128 and its padding count for nothing.
        let words = |count: usize| vec!["lighthouse"; count].join(" ");
        let vectors = embed(&*embedder, &[words(30), words(31), words(300), words(29)]);
        assert_eq!(vectors[0], vectors[1]);
        assert_eq!(vectors[0], vectors[2]);
        assert_ne!(vectors[0], vectors[3]);
    }
}
