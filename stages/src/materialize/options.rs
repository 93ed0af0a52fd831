//! How documents are parsed: what an evaluation file says under `recipe.parse`.

use encoding_rs::Encoding;
use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

/// Options of the parsers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParseOptions {
    /// The encoding of text documents (a WHATWG label); detected by default.
    #[serde(default)]
    pub encoding: Option<String>,
}

/// The label names no encoding of the WHATWG Encoding Standard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an encoding label such as utf-8, windows-1252 or gb18030, found {0:?}")]
pub struct UnknownEncoding(pub String);

impl ParseOptions {
    /// The encoding that every document is read in, when one was asked for.
    ///
    /// # Errors
    /// When the label names none, or one that the standard only knows to refuse it.
    pub fn forced_encoding(&self) -> Result<Option<&'static Encoding>, UnknownEncoding> {
        match &self.encoding {
            None => Ok(None),
            Some(label) => match Encoding::for_label_no_replacement(label.as_bytes()) {
                Some(encoding) => Ok(Some(encoding)),
                None => Err(UnknownEncoding(label.clone())),
            },
        }
    }
}

impl Walk for ParseOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("parse", "parse_options");
        if let Some(encoding) = &self.encoding {
            v.text("encoding", encoding);
        }
        v.end();
    }
}
