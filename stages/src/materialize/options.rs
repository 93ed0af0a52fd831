//! How documents are parsed: what an evaluation file says under `recipe.parse`.

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

impl Walk for ParseOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("parse", "parse_options");
        if let Some(encoding) = &self.encoding {
            v.text("encoding", encoding);
        }
        v.end();
    }
}
