//! What a model is told and asked: templates of a system and a user message.

use std::path::PathBuf;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde::Serialize;

use super::passages::Passage;
use crate::artifact::Json;
use crate::model::template_error::TemplateError;
use crate::model::{Message, PROMPT_FUEL, Role};

const SYSTEM: &str = include_str!("../prompts/answer_system.md");
const USER: &str = include_str!("../prompts/answer_user.md");

/// What every template may use, for messages.
const NAMES: [&str; 6] = ["question", "context", "category", "instructions", "refusal", "citations"];

/// A Jinja template. Where it was read from is in no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The file, for messages; `None` for one of ours.
    pub file: Option<PathBuf>,
    /// Its text.
    pub text: String,
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateFault {
    /// Line, from 1, where it is known.
    pub line: Option<u64>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// The templates of the messages that a model is sent.
///
/// Both know `question`, `context` (a list of passages with `number`, `text`, `title` and `source`, the object of the
/// result), `category` and `instructions` (texts, empty where the case has none), `refusal`, and `citations` (a truth
/// value). Anything else is an error. A message that comes out blank is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerPrompt {
    /// What the model is told.
    pub system: Template,
    /// What it is asked.
    pub user: Template,
}

impl Default for AnswerPrompt {
    fn default() -> Self {
        let ours = |text: &str| Template { file: None, text: text.to_string() };
        AnswerPrompt { system: ours(SYSTEM), user: ours(USER) }
    }
}

/// What templates may use.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Variables<'a> {
    pub(super) question: &'a str,
    pub(super) context: &'a [Passage<'a>],
    pub(super) category: &'a str,
    pub(super) instructions: &'a str,
    pub(super) refusal: &'a str,
    pub(super) citations: bool,
}

impl Template {
    /// Everything that is wrong with the template, by trying it: an empty list says that it can be used.
    pub fn faults(&self) -> Vec<TemplateFault> {
        let mut environment = match environment() {
            Ok(environment) => environment,
            Err(error) => return vec![fault(&error, &self.text)],
        };
        if let Err(error) = environment.add_template("prompt", &self.text) {
            return vec![fault(&error, &self.text)];
        }
        let template = match environment.get_template("prompt") {
            Ok(template) => template,
            Err(error) => return vec![fault(&error, &self.text)],
        };
        let mut unknown: Vec<String> = template
            .undeclared_variables(false)
            .into_iter()
            .filter(|name| !NAMES.contains(&name.as_str()) && environment.globals().all(|(known, _)| known != name))
            .collect();
        unknown.sort();
        if !unknown.is_empty() {
            return unknown.iter().map(|name| self.unknown(name)).collect();
        }
        let source = Json::from_iter([("document_id".to_string(), "document".into())]);
        let passage = |number, title| Passage { number, text: "text", title, source: &source, id: "id" };
        let context = [passage(1, "title"), passage(2, "")];
        let full = Variables {
            question: "question",
            context: &context,
            category: "category",
            instructions: "instructions",
            refusal: "refusal",
            citations: true,
        };
        let bare = Variables { context: &[], category: "", instructions: "", citations: false, ..full.clone() };
        // Fields of `source` differ from result to result, so whether a template finds them shows when it is filled.
        let reads_source = self.text.contains("source");
        [full, bare]
            .into_iter()
            .find_map(|variables| template.render(Serde(variables)).err())
            .filter(|error| !(reads_source && error.kind() == ErrorKind::UndefinedError))
            .map(|error| fault(&error, &self.text))
            .into_iter()
            .collect()
    }

    /// Whether the template names `question`; a malformed one is not suspected of anything more.
    fn asks(&self) -> bool {
        let named = environment()
            .and_then(|environment| Ok(environment.template_from_str(&self.text)?.undeclared_variables(false)));
        named.map_or(true, |named| named.contains("question"))
    }

    fn unknown(&self, name: &str) -> TemplateFault {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let names_it = |line: &&str| line.split(|c| !word(c)).any(|found| found == name);
        let line = self.text.lines().collect::<Vec<_>>().iter().position(names_it);
        TemplateFault {
            line: line.map(|line| line as u64 + 1),
            message: format!("the template uses `{name}`, which it is not given"),
            hint: variables_hint(),
        }
    }
}

impl AnswerPrompt {
    /// The fault of templates of which none names the question, with that of the user message.
    pub fn asks_nothing(&self) -> Option<(&Template, TemplateFault)> {
        let asks = self.system.asks() || self.user.asks();
        let message = "no template uses `question`, so the model would not know what is asked".to_string();
        let hint = "put `{{ question }}` where the question belongs".to_string();
        (!asks).then_some((&self.user, TemplateFault { line: None, message, hint }))
    }

    /// The messages for one case.
    ///
    /// # Errors
    /// The template that cannot be filled, and why.
    pub(super) fn messages(&self, variables: &Variables<'_>) -> Result<Vec<Message>, (&Template, TemplateFault)> {
        let mut messages = Vec::with_capacity(2);
        for (role, template) in [(Role::System, &self.system), (Role::User, &self.user)] {
            let filled = environment().and_then(|mut environment| {
                environment.add_template("prompt", &template.text)?;
                environment.get_template("prompt")?.render(Serde(variables))
            });
            let content = filled.map_err(|error| (template, fault(&error, &template.text)))?.trim().to_string();
            if !content.is_empty() {
                messages.push(Message { role, content });
            }
        }
        if messages.is_empty() {
            let message = "the template comes out empty, and so there is nothing to ask".to_string();
            return Err((&self.user, TemplateFault { line: None, message, hint: variables_hint() }));
        }
        Ok(messages)
    }
}

fn environment<'a>() -> Result<Environment<'a>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(PROMPT_FUEL));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    Ok(environment)
}

fn fault(error: &Error, text: &str) -> TemplateFault {
    let TemplateError { line, message, hint } = TemplateError::of(error, text);
    TemplateFault {
        line,
        message: format!("the template cannot be filled: {message}"),
        hint: hint.unwrap_or_else(variables_hint),
    }
}

fn variables_hint() -> String {
    let [first @ .., last] = NAMES;
    format!(
        "templates are Jinja's and may use {} and {last}; a passage of context has number, text, title and source",
        first.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(Option<u64>, String)> {
        let template = Template { file: None, text: text.to_string() };
        template.faults().into_iter().map(|fault| (fault.line, fault.message)).collect()
    }

    #[test]
    fn our_templates_are_sound_and_say_what_is_wanted() {
        let prompt = AnswerPrompt::default();
        assert_eq!((prompt.system.faults(), prompt.user.faults()), (Vec::new(), Vec::new()));
        let source = Json::new();
        let context = [
            Passage { number: 1, text: "It was built in 1871.", title: "Lighthouse", source: &source, id: "a" },
            Passage { number: 2, text: "Tides rise <twice>.", title: "", source: &source, id: "b" },
        ];
        let variables = Variables {
            question: "When?",
            context: &context,
            category: "fact",
            instructions: "Reply with a year.",
            refusal: "No idea.",
            citations: true,
        };
        let messages = prompt.messages(&variables).expect("messages");
        let contents: Vec<(Role, &str)> = messages.iter().map(|m| (m.role, m.content.as_str())).collect();
        let user = "[1] Lighthouse\nIt was built in 1871.\n\n[2]\nTides rise <twice>.\n\nQuestion: When?";
        assert_eq!(contents[1], (Role::User, user));
        let (role, system) = contents[0];
        assert_eq!(role, Role::System);
        assert!(system.contains("exactly this and nothing else: No idea.") && system.contains("[2, 3]"), "{system}");
        assert!(system.ends_with("Reply with a year."), "{system}");
        let bare = Variables { context: &[], instructions: "", citations: false, ..variables };
        let messages = prompt.messages(&bare).expect("messages");
        assert_eq!(messages[1].content, "(There are no passages.)\n\nQuestion: When?");
        assert!(messages[0].content.ends_with("No idea.") && !messages[0].content.contains("brackets"));
    }

    #[test]
    fn one_of_the_templates_must_name_the_question() {
        let prompt = |system: &str, user: &str| {
            let [system, user] = [system, user].map(|text| Template { file: None, text: text.to_string() });
            AnswerPrompt { system, user }
        };
        for sound in
            [AnswerPrompt::default(), prompt("{{ question }}", "x"), prompt("", "{% if x %}{{ question }}{% endif %}")]
        {
            assert_eq!(sound.asks_nothing(), None);
        }
        let mute = prompt("Be brief.", "{% for p in context %}{{ p.text }}{% endfor %}");
        let (template, fault) = mute.asks_nothing().expect("a fault");
        assert_eq!(template, &mute.user);
        assert_eq!(fault.to_string(), "no template uses `question`, so the model would not know what is asked");
    }

    #[test]
    fn blank_messages_are_not_sent() {
        let template = |text: &str| Template { file: None, text: text.to_string() };
        let prompt = AnswerPrompt { system: template(" \n{# nothing #}"), user: template("{{ question }}\n") };
        let variables =
            Variables { question: "Q", context: &[], category: "", instructions: "", refusal: "", citations: false };
        let messages = prompt.messages(&variables).expect("messages");
        assert_eq!(messages, [Message { role: Role::User, content: "Q".to_string() }]);
    }

    #[test]
    fn faults_are_told_with_their_line() {
        let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}";
        assert_eq!(faults(endless)[0].1, "the template cannot be filled: it makes too much text or does not end");
        assert_eq!(
            faults("Q:\n{{ qestion }} {{ contxt }}"),
            [
                (Some(2), "the template uses `contxt`, which it is not given".to_string()),
                (Some(2), "the template uses `qestion`, which it is not given".to_string()),
            ]
        );
        let [(line, message)] = &faults("a\nb\n{% for p in context %}{{ p.text }}")[..] else { panic!("one fault") };
        assert!(line.is_some() && message.contains("syntax error"), "{line:?} {message}");
        let [(line, message)] = &faults("\n{% for p in context %}\n{{ p.txt }}{% endfor %}")[..] else {
            panic!("one fault")
        };
        assert_eq!((*line, message.as_str()), (Some(3), "the template cannot be filled: `p.txt` is not defined"));
        let template = Template { file: None, text: "{{ question|uper }}".to_string() };
        let [TemplateFault { message, hint, .. }] = &template.faults()[..] else { panic!("one fault") };
        assert_eq!(message, "the template cannot be filled: there is no filter `uper`");
        assert_eq!(hint, "did you mean the filter `upper`?");
        assert_eq!(faults("{% for p in context %}{{ p.source.name }}{% endfor %}{{ question }}"), []);
        assert_eq!(faults("{% for i in range(3) %}{{ i }}{% endfor %}{% set x = question %}{{ x }}"), []);
    }
}
