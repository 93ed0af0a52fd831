//! Prompts: templates that are filled with what a case is about.

use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, UndefinedBehavior};
use ragstage_cache::Digest;
use serde_json::Value;

/// A template in minijinja's language (that of Jinja2). A name that it is not given is an error and not an empty text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    text: Arc<str>,
    digest: Digest,
}

impl Prompt {
    /// The prompt whose template is `text`.
    pub fn new(text: &str) -> Self {
        Prompt { text: text.into(), digest: Digest::of(text.as_bytes()) }
    }

    /// Digest of the template: what of a prompt is in keys.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The template filled with the names in `view`, a JSON object; blank lines at its ends are cut.
    ///
    /// # Errors
    /// A lower-case fragment with the line, when the template is malformed or uses a name that it is not given.
    pub fn fill(&self, view: &Value) -> Result<String, String> {
        self.filled(view).map(|text| text.trim().to_string()).map_err(|error| {
            let line = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
            let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_string);
            format!("{line}{what}")
        })
    }

    fn filled(&self, view: &Value) -> Result<String, Error> {
        let mut environment = Environment::new();
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.render_str(&self.text, Serde(view))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_filled_in_and_nothing_is_escaped() {
        let prompt =
            Prompt::new("\nQ: {{ query }}\n{% for p in passages %}\n[{{ p.number }}] {{ p.text }}\n{% endfor %}\n");
        let view =
            json!({"query": "a < b?", "passages": [{"number": 1, "text": "{{ x }}"}, {"number": 2, "text": "y"}]});
        assert_eq!(prompt.fill(&view).unwrap(), "Q: a < b?\n[1] {{ x }}\n[2] y");
        assert_ne!(prompt.digest(), Prompt::new("Q: {{ query }}").digest());
    }

    #[test]
    fn faults_tell_the_line() {
        let fault = |text: &str| Prompt::new(text).fill(&json!({"query": "q"})).unwrap_err();
        assert!(fault("a\n{{ question }}").starts_with("line 2: undefined"), "{}", fault("a\n{{ question }}"));
        assert!(fault("{% for %}").starts_with("line 1: "), "{}", fault("{% for %}"));
    }
}
