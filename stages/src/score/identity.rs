//! What makes an evaluator this evaluator: its definition, its cut-off and all its options, the defaults too.

use std::collections::BTreeSet;
use std::fmt;

use ragstage_cache::KeyVisitor;
use serde_json::Value;

use super::definition::{CutoffRule, Definition, Parameter, ParameterKind};
use super::evaluator::Description;
use super::registry::UnknownEvaluator;
use super::spec::EvaluatorSpec;
use crate::nearest::nearest;

/// The checked value of an option.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Argument {
    Whole(i64),
    Real(f64),
    Choice(&'static str),
    /// Sorted, each once.
    Texts(Vec<String>),
}

/// A definition with its options filled in.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) definition: &'static Definition,
    pub(crate) cutoff: Option<u32>,
    /// Every parameter of the definition, in its order.
    arguments: Vec<(&'static Parameter, Argument)>,
}

impl Identity {
    /// Checks `spec`'s cut-off and options, one by one, against `definition`.
    ///
    /// # Errors
    /// On an option that there is not, a value that it cannot take, or a cut-off that is missing or out of place.
    pub(crate) fn new(definition: &'static Definition, spec: &EvaluatorSpec) -> Result<Self, UnknownEvaluator> {
        let name = definition.name;
        let cutoff = match (definition.cutoff, spec.cutoff) {
            (_, Some(0)) => return Err(UnknownEvaluator::new(format!("the cut-off of {name} must be at least 1"))),
            (CutoffRule::None, Some(k)) => {
                return Err(UnknownEvaluator::new(format!("{name} takes no cut-off, found @{k}")).or(name));
            }
            (CutoffRule::Required, None) => {
                let hint = EvaluatorSpec { cutoff: Some(10), ..spec.clone() }.to_string();
                return Err(UnknownEvaluator::new(format!("{name} needs a cut-off, as in {hint}")).or(hint));
            }
            (CutoffRule::Default(k), None) => Some(k),
            (_, given) => given,
        };
        for key in spec.options.keys() {
            if !definition.parameters.iter().any(|parameter| parameter.name == key) {
                let names: Vec<&str> = definition.parameters.iter().map(|parameter| parameter.name).collect();
                let message = if names.is_empty() {
                    format!("{name} takes no options, found {key}")
                } else {
                    format!("{name} has no option {key}; it has {}", names.join(", "))
                };
                let near = nearest(key, names);
                return Err(UnknownEvaluator { message, nearest: near.map(str::to_string) });
            }
        }
        let mut arguments = Vec::with_capacity(definition.parameters.len());
        for parameter in definition.parameters {
            let argument = match spec.options.get(parameter.name) {
                None => default(parameter),
                Some(value) => check(name, parameter, value)?,
            };
            arguments.push((parameter, argument));
        }
        Ok(Identity { definition, cutoff, arguments })
    }

    /// The whole number that `parameter` stands at.
    pub(crate) fn whole(&self, parameter: &str) -> i64 {
        match self.argument(parameter) {
            Some(Argument::Whole(value)) => *value,
            _ => 0,
        }
    }

    /// The number that `parameter` stands at.
    pub(crate) fn real(&self, parameter: &str) -> f64 {
        match self.argument(parameter) {
            Some(Argument::Real(value)) => *value,
            _ => 0.0,
        }
    }

    /// The texts that `parameter` stands at.
    pub(crate) fn texts(&self, parameter: &str) -> &[String] {
        match self.argument(parameter) {
            Some(Argument::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// Whether `parameter` stands at `word`.
    pub(crate) fn is(&self, parameter: &str, word: &str) -> bool {
        matches!(self.argument(parameter), Some(Argument::Choice(choice)) if *choice == word)
    }

    /// The options, other than `except`, that do not stand at their defaults.
    pub(crate) fn changed(&self, except: &str) -> Vec<&'static str> {
        self.arguments
            .iter()
            .filter(|(parameter, argument)| parameter.name != except && *argument != default(parameter))
            .map(|(parameter, _)| parameter.name)
            .collect()
    }

    fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(parameter, _)| parameter.name == name).map(|(_, argument)| argument)
    }

    pub(crate) fn describe(&self) -> Description {
        Description {
            pretty: self.definition.pretty.into(),
            description: self.definition.description.into(),
            citation: self.definition.citation.map(Into::into),
            higher_is_better: self.definition.higher_is_better,
            model: None,
        }
    }

    /// The fields of the key, as one record.
    pub(crate) fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("evaluator", self.definition.name);
        v.uint("code_version", self.definition.code_version);
        match self.cutoff {
            Some(cutoff) => v.uint("cutoff", u64::from(cutoff)),
            None => v.null("cutoff"),
        }
        v.begin_record("options", "options");
        for (parameter, argument) in &self.arguments {
            match argument {
                Argument::Whole(value) => v.int(parameter.name, *value),
                Argument::Real(value) => v.float(parameter.name, *value),
                Argument::Choice(word) => v.text(parameter.name, word),
                Argument::Texts(texts) => {
                    v.begin_list(parameter.name, texts.len());
                    texts.iter().for_each(|text| v.text("", text));
                    v.end();
                }
            }
        }
        v.end();
        v.end();
    }
}

/// The canonical text: options at their defaults are left out, so that one evaluator has one name.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = self
            .arguments
            .iter()
            .filter(|(parameter, argument)| *argument != default(parameter))
            .map(|(parameter, argument)| {
                let value = match argument {
                    Argument::Whole(value) => (*value).into(),
                    Argument::Real(value) => (*value).into(),
                    Argument::Choice(word) => (*word).into(),
                    Argument::Texts(texts) => texts.as_slice().into(),
                };
                (parameter.name.to_string(), value)
            })
            .collect();
        EvaluatorSpec { name: self.definition.name.to_string(), cutoff: self.cutoff, options }.fmt(f)
    }
}

fn default(parameter: &Parameter) -> Argument {
    match parameter.kind {
        ParameterKind::Whole { default, .. } => Argument::Whole(default),
        ParameterKind::Real { default, .. } => Argument::Real(default),
        ParameterKind::Choice(words) => Argument::Choice(words.first().copied().unwrap_or_default()),
        ParameterKind::Texts(texts) => Argument::Texts(distinct(texts)),
    }
}

fn distinct(texts: &[&str]) -> Vec<String> {
    let distinct: BTreeSet<&str> = texts.iter().copied().collect();
    distinct.into_iter().map(str::to_string).collect()
}

/// The texts of a text or of a list of them, where none is blank and there is one.
fn texts_of(value: &Value) -> Option<Vec<&str>> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
    (!texts.is_empty() && texts.iter().all(|text| !text.trim().is_empty())).then_some(texts)
}

fn check(name: &str, parameter: &Parameter, value: &Value) -> Result<Argument, UnknownEvaluator> {
    let option = parameter.name;
    match parameter.kind {
        ParameterKind::Whole { min, .. } => match value.as_i64() {
            Some(whole) if whole >= min => Ok(Argument::Whole(whole)),
            _ => Err(UnknownEvaluator::new(format!(
                "option {option} of {name} must be a whole number from {min}, found {value}"
            ))),
        },
        ParameterKind::Real { min, max, .. } => match value.as_f64() {
            Some(number) if (min..=max).contains(&number) => Ok(Argument::Real(number)),
            _ => Err(UnknownEvaluator::new(format!(
                "option {option} of {name} must be a number from {min} to {max}, found {value}"
            ))),
        },
        ParameterKind::Choice(words) => {
            let word = value.as_str();
            match words.iter().find(|candidate| Some(**candidate) == word) {
                Some(word) => Ok(Argument::Choice(word)),
                None => Err(UnknownEvaluator {
                    message: format!("option {option} of {name} must be one of {}, found {value}", words.join(", ")),
                    nearest: word.and_then(|word| nearest(word, words.iter().copied())).map(str::to_string),
                }),
            }
        }
        ParameterKind::Texts(_) => match texts_of(value) {
            Some(texts) => Ok(Argument::Texts(distinct(&texts))),
            None => Err(UnknownEvaluator::new(format!(
                "option {option} of {name} must be a text or a list of texts, none of them blank, found {value}"
            ))),
        },
    }
}
