//! The files of a sentence transformer, and what they say of how it is used.

use serde::Deserialize;

use super::embedder::Pooling;
use super::model_folder::{CONFIG, ModelFile, TOKENIZER, WEIGHTS};

/// The files that the vectors depend on.
pub const SENTENCE_TRANSFORMER_FILES: [ModelFile; 3] = [
    ModelFile { name: WEIGHTS, required: true },
    ModelFile { name: TOKENIZER, required: true },
    ModelFile { name: CONFIG, required: true },
];

/// Where a sentence transformer says how token states become its vector.
pub const POOLING_FILE: &str = "1_Pooling/config.json";
/// Where it says at how many tokens it cuts.
pub const LENGTH_FILE: &str = "sentence_bert_config.json";

/// What a sentence transformer's files say of pooling and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentenceTransformerDefaults {
    /// How token states become the vector; the mean where nothing is said.
    pub pooling: Pooling,
    /// Tokens at which a text is cut: `max_seq_length`, else as many as there are positions.
    pub max_tokens: u32,
    /// How many positions there are; no text can be longer.
    pub positions: u32,
}

/// A file that says something else than it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFileFault {
    /// Its path in the model's folder.
    pub file: &'static str,
    /// What is wrong with it, as a lower-case fragment.
    pub why: String,
}

#[derive(Deserialize)]
struct Config {
    model_type: Option<String>,
    max_position_embeddings: u32,
}

#[derive(Deserialize)]
struct LengthFile {
    max_seq_length: Option<u32>,
}

impl SentenceTransformerDefaults {
    /// What the bytes of `config.json`, [`POOLING_FILE`] and [`LENGTH_FILE`] say; the latter two may be absent.
    ///
    /// # Errors
    /// When one of them is not what it should be, or the model is not of the BERT family.
    pub fn read(config: &[u8], pooling: Option<&[u8]>, length: Option<&[u8]>) -> Result<Self, ModelFileFault> {
        let fault = |file, why: String| ModelFileFault { file, why };
        let json = |file| move |error: serde_json::Error| fault(file, format!("is not the JSON it should be: {error}"));
        let config: Config = serde_json::from_slice(config).map_err(json(CONFIG))?;
        if let Some(kind) = config.model_type.filter(|kind| kind != "bert") {
            return Err(fault(CONFIG, format!("is of another kind of model: expected `bert`, found `{kind}`")));
        }
        let pooling = match pooling {
            Some(bytes) => pooling_of(bytes).map_err(|why| fault(POOLING_FILE, why))?,
            None => Pooling::Mean,
        };
        let length: Option<LengthFile> = length.map(serde_json::from_slice).transpose().map_err(json(LENGTH_FILE))?;
        let positions = config.max_position_embeddings;
        let max_tokens = length.and_then(|length| length.max_seq_length).unwrap_or(positions).min(positions);
        Ok(SentenceTransformerDefaults { pooling, max_tokens, positions })
    }
}

/// The one `pooling_mode_...` that is true.
fn pooling_of(bytes: &[u8]) -> Result<Pooling, String> {
    let modes: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(bytes).map_err(|error| format!("is not the JSON it should be: {error}"))?;
    let chosen: Vec<&str> = modes
        .iter()
        .filter(|(_, value)| value.as_bool() == Some(true))
        .filter_map(|(key, _)| key.strip_prefix("pooling_mode_"))
        .collect();
    match chosen.as_slice() {
        ["mean_tokens"] => Ok(Pooling::Mean),
        ["cls_token"] => Ok(Pooling::Cls),
        [] => Err("names no pooling: expected `pooling_mode_mean_tokens` or `pooling_mode_cls_token`".to_string()),
        others => Err(format!("pools by {}: expected `mean_tokens` or `cls_token`", others.join(" and "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERT: &[u8] = br#"{"model_type": "bert", "max_position_embeddings": 512}"#;

    #[test]
    fn files_say_how_a_model_is_used() {
        let read = |pooling: Option<&str>, length: Option<&str>| {
            SentenceTransformerDefaults::read(BERT, pooling.map(str::as_bytes), length.map(str::as_bytes))
        };
        let of = |pooling, max_tokens| Ok(SentenceTransformerDefaults { pooling, max_tokens, positions: 512 });
        let mean =
            r#"{"word_embedding_dimension": 384, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}"#;
        let cls = r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#;
        assert_eq!(read(Some(mean), Some(r#"{"max_seq_length": 256}"#)), of(Pooling::Mean, 256));
        assert_eq!(read(Some(cls), None), of(Pooling::Cls, 512));
        assert_eq!(read(None, Some(r#"{"max_seq_length": 8192}"#)), of(Pooling::Mean, 512));
        assert_eq!(read(None, Some(r#"{"max_seq_length": null}"#)), of(Pooling::Mean, 512));
    }

    #[test]
    fn what_we_cannot_do_is_refused() {
        let fault = |config: &[u8], pooling: Option<&str>| {
            let fault =
                SentenceTransformerDefaults::read(config, pooling.map(str::as_bytes), None).expect_err("refused");
            format!("{} {}", fault.file, fault.why)
        };
        assert_eq!(
            fault(br#"{"model_type": "xlm-roberta", "max_position_embeddings": 514}"#, None),
            "config.json is of another kind of model: expected `bert`, found `xlm-roberta`"
        );
        assert_eq!(
            fault(BERT, Some(r#"{"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true}"#)),
            "1_Pooling/config.json pools by max_tokens and mean_tokens: expected `mean_tokens` or `cls_token`"
        );
        assert!(fault(BERT, Some("{}")).starts_with("1_Pooling/config.json names no pooling"));
        assert!(fault(b"{}", None).starts_with("config.json is not the JSON it should be: missing field"));
    }
}
