//! From an embedder as the evaluation file describes it to one whose files are known.

use std::path::Path;

use ragstage_cache::Digest;
use ragstage_stages::error::{InputError, Place};
use ragstage_stages::model::{
    BertEmbedder, EmbedderSpec, LENGTH_FILE, ModelFile, POOLING_FILE, SENTENCE_TRANSFORMER_FILES, STATIC_MODEL_FILES,
    SentenceTransformerDefaults, StaticEmbedder, model_digest,
};

use crate::evaluation::{BertConfig, EmbedConfig, ModelPlace};
use crate::exec::Sources;
use crate::models::CatalogModel;

/// The embedder with the digests of its files. Nothing is downloaded for it.
///
/// # Errors
/// When a file is missing, unreadable or not what it should be.
pub(super) fn embedder(config: &EmbedConfig, sources: &Sources) -> Result<EmbedderSpec, Vec<InputError>> {
    Ok(match config {
        EmbedConfig::Hashing(spec) => EmbedderSpec::Hashing(*spec),
        EmbedConfig::OpenAi(spec) => EmbedderSpec::OpenAi(spec.clone()),
        EmbedConfig::Static(place) => EmbedderSpec::Static(StaticEmbedder {
            model: place.model.clone(),
            folder: place.folder.clone(),
            digest: digest(place, &STATIC_MODEL_FILES, sources)?,
        }),
        EmbedConfig::Bert(config) => EmbedderSpec::Bert(bert(config, sources)?),
    })
}

fn bert(config: &BertConfig, sources: &Sources) -> Result<BertEmbedder, Vec<InputError>> {
    let folder = &config.model.folder;
    let digest = digest(&config.model, &SENTENCE_TRANSFORMER_FILES, sources)?;
    let read = |name: &str| bytes(&folder.join(name), sources).map_err(|error| vec![error]);
    let settings = read("config.json")?.unwrap_or_default();
    let (pooling, length) = (read(POOLING_FILE)?, read(LENGTH_FILE)?);
    let said =
        SentenceTransformerDefaults::read(&settings, pooling.as_deref(), length.as_deref()).map_err(|fault| {
            let error = InputError::new(Place::file(folder.join(fault.file)), fault.why);
            vec![
                error.hint(
                    "`provider: bert` runs BERT encoders with mean or cls pooling; ask a server for other models",
                ),
            ]
        })?;
    let max_tokens = config.max_tokens.unwrap_or(said.max_tokens);
    if max_tokens > said.positions {
        let message = format!("has {} positions, but `embed.max_tokens` is {max_tokens}", said.positions);
        let error = InputError::new(Place::file(folder.join("config.json")), message);
        return Err(vec![error.hint(format!("set `embed.max_tokens` to {} at most", said.positions))]);
    }
    Ok(BertEmbedder {
        model: config.model.model.clone(),
        folder: folder.clone(),
        digest,
        pooling: config.pooling.unwrap_or(said.pooling),
        max_tokens,
        query_prefix: config.query_prefix.clone(),
        passage_prefix: config.passage_prefix.clone(),
    })
}

/// The digest over `files` of the model at `place`.
fn digest(place: &ModelPlace, files: &[ModelFile], sources: &Sources) -> Result<Digest, Vec<InputError>> {
    if !place.folder.is_dir() {
        let message = match &place.home {
            Some(home) => format!("there is no model `{}` in {}", place.model, home.root().display()),
            None => format!("there is no folder {}", place.folder.display()),
        };
        return Err(vec![InputError::new(place.at.clone(), message).hint(how_to_get(place))]);
    }
    let mut found: Vec<(&str, Digest)> = Vec::new();
    let mut errors = Vec::new();
    for file in files {
        let path = place.folder.join(file.name);
        match sources.digest(&path) {
            Ok(Some(digest)) => found.push((file.name, digest)),
            Ok(None) if !file.required => {}
            Ok(None) => {
                let message = format!("file of model `{}` does not exist", place.model);
                errors.push(InputError::new(Place::file(&path), message).hint(how_to_get(place)));
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(model_digest(&found)) } else { Err(errors) }
}

fn how_to_get(place: &ModelPlace) -> String {
    let model = &place.model;
    let Some(home) = &place.home else {
        return "correct `embed.model`: with a `/` in it, it is a folder relative to the evaluation file".to_string();
    };
    match (CatalogModel::find(model), home.nearest(model).filter(|near| near != model)) {
        (Some(known), _) => format!(
            "fetch it once with `ragstage models get {model}` ({}, {}); a run downloads nothing",
            known.size(),
            known.licence
        ),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!(
            "fetch it once with `ragstage models get {model} --from DIR|URL`, or name one of `ragstage models list`; a run \
             downloads nothing"
        ),
    }
}

/// The bytes of a file that need not be there. It counts as read.
fn bytes(path: &Path, sources: &Sources) -> Result<Option<Vec<u8>>, InputError> {
    match sources.digest(path)? {
        None => Ok(None),
        Some(_) => std::fs::read(path)
            .map(Some)
            .map_err(|error| InputError::new(Place::file(path), format!("cannot be read: {error}"))),
    }
}
