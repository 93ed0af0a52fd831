//! Prompts: templates that are filled with what a case is about.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, UndefinedBehavior};
use ragstage_cache::Digest;
use serde_json::Value;

use super::template_error::TemplateError;

/// What a template may take to be filled: instructions, and one for each 64 bytes that it makes. A loop too many ends then,
/// and not when memory does.
pub(crate) const PROMPT_FUEL: u64 = 4_000_000;

/// What is wrong with a prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PromptFault {
    /// The template's line, from 1, where it is known.
    pub line: Option<u64>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// What to do, where that is not a question of the names that the template is given.
    pub hint: Option<String>,
}

/// The names of which a template that is given them must use one.
const ASKED: [&str; 2] = ["query", "current_query"];

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

    /// The template.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that the template uses of what it is given; none where it is malformed.
    pub fn names(&self) -> BTreeSet<String> {
        let Ok(environment) = environment() else { return BTreeSet::new() };
        let template = environment.template_from_str(&self.text);
        template.map(|template| template.undeclared_variables(false).into_iter().collect()).unwrap_or_default()
    }

    /// The template filled with the names in `view`, a JSON object; blank lines at its ends are cut.
    ///
    /// # Errors
    /// When the template is malformed, uses what it is not given, or comes out empty.
    pub fn fill(&self, view: &Value) -> Result<String, PromptFault> {
        let filled = environment().and_then(|environment| environment.render_str(&self.text, Serde(view)));
        let text = filled.map_err(|error| fault(&error, &self.text))?.trim().to_string();
        if text.is_empty() {
            return Err(PromptFault { line: None, message: "the template comes out empty".to_string(), hint: None });
        }
        Ok(text)
    }

    /// Whether the template can be filled with what `example` is an example of: as [`Prompt::fill`], and it must name nothing
    /// else, not even where that would not be looked at; and it must name the query where it is given one.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, example: &Value) -> Result<(), PromptFault> {
        let environment = environment().map_err(|error| fault(&error, &self.text))?;
        let template = environment.template_from_str(&self.text).map_err(|error| fault(&error, &self.text))?;
        let known =
            |name: &String| example.get(name).is_some() || environment.globals().any(|(known, _)| known == name);
        let named = template.undeclared_variables(false);
        let unknown = named.iter().filter(|name| !known(name)).min();
        if let Some(name) = unknown {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            let line = self.text.lines().position(|line| line.split(|c| !word(c)).any(|found| found == name.as_str()));
            let message = format!("the template uses `{name}`, which it is not given");
            return Err(PromptFault { line: line.map(|line| line as u64 + 1), message, hint: None });
        }
        self.fill(example)?;
        if example.get("query").is_some() && !ASKED.iter().any(|name| named.contains(*name)) {
            let message = "the template does not use `query`, so the model would not know what is asked".to_string();
            let hint = Some("put `{{ query }}` where the query belongs".to_string());
            return Err(PromptFault { line: None, message, hint });
        }
        Ok(())
    }
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(PROMPT_FUEL));
    Ok(environment)
}

fn fault(error: &Error, text: &str) -> PromptFault {
    let TemplateError { line, message, hint } = TemplateError::of(error, text);
    PromptFault { line, message: format!("the template cannot be filled: {message}"), hint }
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
        let fault = |text: &str| Prompt::new(text).check(&json!({"query": "q", "more": []})).unwrap_err();
        let message = "the template uses `question`, which it is not given".to_string();
        let unknown = PromptFault { line: Some(2), message, hint: None };
        assert_eq!(fault("a\n{{ question }}"), unknown);
        // Also where this example does not lead to it.
        assert_eq!(fault("{{ query }}\n{% for x in more %}{{ x }} {{ question }}{% endfor %}"), unknown);
        assert_eq!(fault("{{ query.id }}").line, Some(1));
        assert_eq!(fault("{% for %}").line, Some(1));
        assert_eq!(fault(" \n").to_string(), "the template comes out empty");
        let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}";
        assert_eq!(fault(endless).to_string(), "the template cannot be filled: it makes too much text or does not end");
        let doubled = "{% set n = namespace(a='abcdefgh') %}{% for i in range(60) %}{% set n.a = n.a ~ n.a %}{% endfor %}{{ n.a }}";
        assert_eq!(fault(doubled).to_string(), "the template cannot be filled: it makes too much text or does not end");
        let id = fault("{{ query.id }}").message;
        assert_eq!(id, "the template cannot be filled: `query.id` is not defined");
        let filter = fault("{{ query | uper }}");
        assert_eq!(filter.message, "the template cannot be filled: there is no filter `uper`");
        assert_eq!(filter.hint.as_deref(), Some("did you mean the filter `upper`?"));
        let same = fault("{% for x in more %}{{ x }}{% endfor %} Reply briefly.");
        assert_eq!(same.message, "the template does not use `query`, so the model would not know what is asked");
    }
}
