//! Which passages a judge reads.

use ragstage_cache::KeyVisitor;

use crate::artifact::Hit;
use crate::build::chunk::Tokenizer;

/// How much of the results a judge reads: those that an answer may rest on should be among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextLimits {
    /// Most results.
    pub results: u32,
    /// Most tokens (of cl100k_base) of all passages together; the last one that fits in part is cut.
    pub tokens: u64,
}

impl Default for ContextLimits {
    fn default() -> Self {
        ContextLimits { results: 10, tokens: 4000 }
    }
}

impl ContextLimits {
    pub(super) fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("contexts", "contexts");
        v.uint("results", u64::from(self.results));
        v.uint("tokens", self.tokens);
        v.uint("tokenizer_version", Tokenizer::Cl100kBase.code_version());
        v.end();
    }

    /// The texts of the best of `hits`: whole ones while they fit, then the start of the next one. Results without words are
    /// left out, and so is what comes after the last one that fits.
    pub(super) fn texts<'a>(&self, hits: &'a [Hit]) -> Vec<&'a str> {
        let mut texts = Vec::new();
        let mut left = self.tokens;
        for hit in hits.iter().take(self.results as usize).filter(|hit| !hit.text.trim().is_empty()) {
            let (text, tokens) = Tokenizer::Cl100kBase.prefix(&hit.text, left);
            if text.trim().is_empty() {
                break;
            }
            texts.push(text.trim());
            left = left.saturating_sub(tokens);
            if text.len() < hit.text.len() || left == 0 {
                break;
            }
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Json;

    #[test]
    fn whole_passages_then_the_start_of_the_next() {
        let hit = |text: &str| Hit {
            id: text.to_string(),
            text: text.into(),
            score: None,
            kind: "chunk".to_string(),
            source: Default::default(),
            metadata: Json::new(),
        };
        let hits = [hit("one two"), hit(" "), hit("three four five"), hit("six")];
        let texts = |results, tokens| ContextLimits { results, tokens }.texts(&hits);
        assert_eq!(texts(10, 100), ["one two", "three four five", "six"]);
        assert_eq!(texts(10, 4), ["one two", "three four"]);
        assert_eq!(texts(2, 100), ["one two"]);
        assert_eq!(texts(10, 0), [""; 0]);
    }
}
