//! `${NAME}` in headers and environment values: the only places, beside `api_key_env`, where an evaluation file reads the
//! environment.
//!
//! A substituted value goes into the transport and nowhere else; no message quotes a value of these mappings.

use super::check::{describe, join};
use super::diagnostic::Faults;
use super::node::{Node, Value};
use super::view::View;

/// How a placeholder begins.
pub(super) const OPENING: &str = "${";

/// The message about a placeholder elsewhere.
pub(super) const MISPLACED: &str = "`${` is not replaced here";

/// The advice about a placeholder elsewhere.
pub(super) const WHERE: &str = "environment variables are read in the values of `headers` and `environment` only";

/// Checks the form of a mapping of names to texts without looking at a variable.
pub(super) fn check(node: &mut Node, path: &str, faults: &mut Faults) {
    let Value::Map(entries) = &mut node.value else { return };
    for entry in entries {
        let path = join(path, &entry.key);
        let value = &mut entry.value;
        if entry.key.contains(OPENING) {
            faults.add_hint(entry.start, &path, MISPLACED, WHERE.to_string());
        } else if entry.key.trim().is_empty() {
            faults.add(entry.start, &path, "expected a name, found an empty key");
        }
        let fault = match &value.value {
            Value::Text(text) => parts(&text.text).err().map(str::to_string),
            Value::Faulty => None,
            Value::Null => Some("expected a text, found nothing".to_string()),
            Value::List(_) | Value::Map(_) => Some(format!("expected a text, found {}", describe(&value.value))),
            // The value may be a secret, so it is not shown.
            _ => Some("expected a text in quotes".to_string()),
        };
        if let Some(message) = fault {
            faults.add(value.start, &path, message);
            value.value = Value::Faulty;
        }
    }
}

/// A mapping whose placeholders are replaced.
pub(super) struct Substituted {
    /// Its pairs.
    pub(super) pairs: Vec<(String, String)>,
    /// The variables that were put in, each once.
    pub(super) variables: Vec<(String, String)>,
}

/// The pairs of the mapping with every `${NAME}` replaced by the variable.
pub(super) fn substitute(
    view: &View<'_>,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> Substituted {
    let mut pairs = Vec::new();
    let mut variables: Vec<(String, String)> = Vec::new();
    for entry in view.entries() {
        let Value::Text(text) = &entry.value.value else { continue };
        let mut out = String::new();
        for part in parts(&text.text).unwrap_or_default() {
            match part {
                Part::Literal(literal) => out += literal,
                Part::Variable(name) => match environment(name) {
                    Some(value) => {
                        out += &value;
                        if variables.iter().all(|(known, _)| known != name) {
                            variables.push((name.to_string(), value));
                        }
                    }
                    None => faults.add_hint(
                        entry.value.start,
                        &join(&view.path, &entry.key),
                        format!("the environment variable `{name}` is not set"),
                        format!("set {name} in the environment that ragstage is started in"),
                    ),
                },
            }
        }
        pairs.push((entry.key.clone(), out));
    }
    Substituted { pairs, variables }
}

#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Literal(&'a str),
    Variable(&'a str),
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, &'static str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPENING) {
        let (name, after) = after.split_once('}').ok_or("expected `}` after `${`, found the end of the text")?;
        let mut chars = name.chars();
        let starts_well = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !(starts_well && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')) {
            return Err("expected the name of an environment variable between `${` and `}`: letters, digits and `_`");
        }
        parts.push(Part::Literal(before));
        parts.push(Part::Variable(name));
        rest = after;
    }
    parts.push(Part::Literal(rest));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::Part::{Literal, Variable};
    use super::*;

    #[test]
    fn placeholders_are_cut_out() {
        assert_eq!(parts("plain $x {y}"), Ok(vec![Literal("plain $x {y}")]));
        assert_eq!(
            parts("a${B_1}c${_D}"),
            Ok(vec![Literal("a"), Variable("B_1"), Literal("c"), Variable("_D"), Literal("")])
        );
        for broken in ["${", "${}", "${A", "${1A}", "${A B}", "${A:-x}"] {
            assert!(parts(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_substituted_value_is_not_substituted_again() {
        let (node, _) = super::super::tree::read_tree("h: {k: \"x ${A} y ${A}\"}\n");
        let node = node.unwrap();
        let mut faults = Faults::new("f".as_ref());
        let substituted = substitute(&View::root(&node).get("h"), &|_| Some("${B}".to_string()), &mut faults);
        assert_eq!(substituted.pairs, [("k".to_string(), "x ${B} y ${B}".to_string())]);
        assert_eq!(substituted.variables, [("A".to_string(), "${B}".to_string())]);
        assert!(faults.is_empty());
    }
}
