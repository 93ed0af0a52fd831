//! Holds a tree against a shape and collects everything that differs.
//!
//! A value with a fault is replaced by [`Value::Faulty`] once it is reported, so that nothing later speaks of it again.

use super::diagnostic::Faults;
use super::node::{Entry, Node, Position, Text, Value};
use super::secrets;
use super::shape::{Choice, Field, Need, Record, Shape, TextRule, Together};
use ragstage_stages::nearest::nearest;

/// Checks `node`, the element `path`, against `shape`.
pub(super) fn check(node: &mut Node, shape: &Shape, path: &str, faults: &mut Faults) {
    if node.value == Value::Faulty {
        return;
    }
    let sound = match shape {
        Shape::Secrets if shape.takes(node) => {
            secrets::check(node, path, faults);
            true
        }
        _ if reports_placeholder(node, path, faults) => false,
        Shape::Either(shapes) => {
            return match Shape::meant(shapes, node) {
                Some(Shape::Choice(choices)) => {
                    let expected = shape.expected();
                    fault_if(node, check_choice(&node.value, choices, &expected), path, faults);
                }
                Some(shape) => check(node, shape, path, faults),
                None => {
                    fault_if(node, Some(wrong_type(shape, &node.value)), path, faults);
                }
            };
        }
        _ if !shape.takes(node) => {
            fault_if(node, Some(wrong_type(shape, &node.value)), path, faults);
            return;
        }
        Shape::Text(rule) => {
            fault_if(node, check_text(&node.value, rule), path, faults);
            return;
        }
        Shape::Choice(choices) => {
            fault_if(node, check_choice(&node.value, choices, &shape.expected()), path, faults);
            return;
        }
        Shape::Int { min, max } => {
            let Value::Int(value, raw) = &node.value else { return };
            let within = (i128::from(*min)..=i128::from(*max)).contains(value);
            if !within {
                faults.add(node.start, path, format!("expected {}, found {}", shape.expected(), shortened(raw)));
            }
            within
        }
        Shape::Float(range) => {
            let (value, raw) = match &node.value {
                Value::Int(value, raw) => (*value as f64, raw),
                Value::Float(value, raw) => (*value, raw),
                _ => return,
            };
            let within = range.holds(value);
            if !within {
                faults.add(node.start, path, format!("expected {}, found {}", shape.expected(), shortened(raw)));
            }
            within
        }
        Shape::List { of, least } => {
            let Value::List(items) = &mut node.value else { return };
            for (i, item) in items.iter_mut().enumerate() {
                let path = format!("{path}[{i}]");
                if item.value == Value::Null {
                    faults.add(item.start, &path, format!("expected {}, found nothing", of.expected()));
                    item.value = Value::Faulty;
                }
                check(item, of, &path, faults);
            }
            let enough = items.len() >= *least;
            if !enough {
                let message = format!("expected a list of at least {least}, found {}", items.len());
                faults.add(node.start, path, message);
            }
            enough
        }
        Shape::Record(record) => {
            check_record(node, record.fields.iter(), record, path, faults);
            true
        }
        Shape::Tagged(tagged) => {
            let Value::Map(entries) = &mut node.value else { return };
            let words = || tagged.variants.iter().map(|(word, _)| *word);
            let expected = || words().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            let at = entries.iter().position(|entry| entry.key == tagged.key && entry.value.value != Value::Null);
            let Some(entry) = at.and_then(|at| entries.get_mut(at)) else {
                let misspelt = entries.iter().find(|entry| nearest(&entry.key, [tagged.key]).is_some());
                let message = format!("missing `{}`, expected one of {}", tagged.key, expected());
                let hint = misspelt
                    .map(|entry| format!("`{}` is no key here; {}", shortened(&entry.key), did_you_mean(tagged.key)));
                faults.add_hint(node.start, path, message, hint);
                node.value = Value::Faulty;
                return;
            };
            let path_of_key = join(path, tagged.key);
            if reports_placeholder(&entry.value, &path_of_key, faults) {
                node.value = Value::Faulty;
                return;
            }
            let found = match &entry.value.value {
                Value::Text(text) => tagged.variants.iter().find(|(word, _)| *word == text.text),
                _ => None,
            };
            let Some((_, record)) = found else {
                let hint = match &entry.value.value {
                    Value::Text(text) => nearest(&text.text, words()).map(did_you_mean),
                    _ => None,
                };
                let message = format!("expected one of {}, found {}", expected(), describe(&entry.value.value));
                faults.add_hint(entry.value.start, &path_of_key, message, hint);
                node.value = Value::Faulty;
                return;
            };
            let tag = Field { name: tagged.key, doc: tagged.doc, shape: super::shape::TEXT, need: Need::Required };
            let fields = std::iter::once(&tag).chain(record.fields).chain(tagged.shared);
            check_record(node, fields, record, path, faults);
            true
        }
        Shape::Map(of) => {
            let Value::Map(entries) = &mut node.value else { return };
            for entry in entries {
                let path = join(path, &entry.key);
                if entry.key.trim().is_empty() {
                    faults.add(entry.start, &path, "expected a name, found an empty key");
                }
                if entry.value.value == Value::Null {
                    faults.add(entry.value.start, &path, format!("expected {}, found nothing", of.expected()));
                    entry.value.value = Value::Faulty;
                }
                check(&mut entry.value, of, &path, faults);
            }
            true
        }
        Shape::Free => {
            check_free(node, path, faults);
            return;
        }
        Shape::Bool | Shape::AnyText | Shape::Secrets => true,
    };
    if !sound {
        node.value = Value::Faulty;
    }
}

/// The path of `key` below `path`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

/// The usual advice about a word that is near to a known one.
pub(super) fn did_you_mean(word: &str) -> String {
    format!("did you mean `{word}`?")
}

type Complaint = (String, Option<String>);

fn fault_if(node: &mut Node, complaint: Option<Complaint>, path: &str, faults: &mut Faults) {
    if let Some((message, hint)) = complaint {
        faults.add_hint(node.start, path, message, hint);
        node.value = Value::Faulty;
    }
}

fn reports_placeholder(node: &Node, path: &str, faults: &mut Faults) -> bool {
    let found = matches!(&node.value, Value::Text(text) if text.text.contains(secrets::OPENING));
    if found {
        faults.add_hint(node.start, path, secrets::MISPLACED, secrets::WHERE.to_string());
    }
    found
}

fn check_text(value: &Value, rule: &TextRule) -> Option<Complaint> {
    let Value::Text(Text { text, .. }) = value else { return None };
    if text.trim().is_empty() {
        return Some((format!("expected {}, found an empty text", rule.expected), None));
    }
    (rule.refuse)(text).map(|refusal| (refusal.message, refusal.hint))
}

fn check_choice(value: &Value, choices: &[Choice], expected: &str) -> Option<Complaint> {
    let Value::Text(Text { text, .. }) = value else { return None };
    if choices.iter().any(|choice| choice.word == text) {
        return None;
    }
    let hint = nearest(text, choices.iter().map(|choice| choice.word)).map(did_you_mean);
    Some((format!("expected {expected}, found {}", describe(value)), hint))
}

fn check_record<'f>(
    node: &mut Node,
    fields: impl Iterator<Item = &'f Field> + Clone,
    record: &Record,
    path: &str,
    faults: &mut Faults,
) {
    let start = node.start;
    let Value::Map(entries) = &mut node.value else { return };
    let mut misspelt: Vec<&str> = Vec::new();
    for entry in entries.iter_mut() {
        match fields.clone().find(|field| field.name == entry.key) {
            Some(_) if entry.value.value == Value::Null => {}
            Some(field) => check(&mut entry.value, &field.shape, &join(path, &entry.key), faults),
            None => {
                let names = || fields.clone().map(|field| field.name);
                let near = nearest(&entry.key, names());
                let hint = match near {
                    Some(near) => did_you_mean(near),
                    None if names().next().is_none() => "remove it: there are no keys here".to_string(),
                    None => format!("keys here are {}", names().collect::<Vec<_>>().join(", ")),
                };
                misspelt.extend(near);
                faults.add_hint(entry.start, path, format!("unknown key `{}`", shortened(&entry.key)), hint);
            }
        }
    }
    let given = |name: &str| entries.iter().find(|entry| entry.key == name && entry.value.value != Value::Null);
    for field in fields.filter(|field| field.need == Need::Required) {
        // A misspelt key has been reported as such; the key it stands for is not missing as well.
        if given(field.name).is_none() && !misspelt.contains(&field.name) {
            let expected = format!("missing `{}`, expected {}", field.name, field.shape.expected());
            let at = entries.iter().find(|entry| entry.key == field.name).map_or(start, |entry| entry.start);
            faults.add_hint(at, path, expected, field.doc.to_string());
        }
    }
    for rule in record.together {
        check_together(rule, entries, start, &misspelt, path, faults);
    }
}

fn check_together(
    rule: &Together,
    entries: &[Entry],
    start: Position,
    misspelt: &[&str],
    path: &str,
    faults: &mut Faults,
) {
    let given = |name: &str| entries.iter().find(|entry| entry.key == name && entry.value.value != Value::Null);
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    match rule {
        Together::ExactlyOne(names) | Together::AtLeastOne(names) => {
            let mut found = names.iter().filter_map(|name| given(name));
            let first = found.next();
            if first.is_none() && !names.iter().any(|name| misspelt.contains(name)) {
                let empty = entries.iter().find(|entry| names.contains(&entry.key.as_str()));
                let hint = empty.map(|entry| format!("`{0}` is empty; write `{0}: {{}}` for the defaults", entry.key));
                let at = empty.map_or(start, |entry| entry.start);
                faults.add_hint(at, path, format!("missing {}", quoted(names)), hint);
            }
            if let (Together::ExactlyOne(_), Some(first), Some(second)) = (rule, first, found.next()) {
                let message = format!("`{}` and `{}` exclude each other", first.key, second.key);
                faults.add_hint(second.start, path, message, "keep one of the two".to_string());
            }
        }
        Together::Excludes(key, others) => {
            if given(key).is_none() {
                return;
            }
            for other in others.iter().filter_map(|other| given(other)) {
                let message = format!("`{}` has no meaning beside `{key}`", other.key);
                faults.add_hint(other.start, path, message, format!("remove `{}` or `{key}`", other.key));
            }
        }
    }
}

/// Checks that a value of open shape can be JSON.
fn check_free(node: &mut Node, path: &str, faults: &mut Faults) {
    if reports_placeholder(node, path, faults) {
        node.value = Value::Faulty;
        return;
    }
    match &mut node.value {
        Value::Float(value, raw) if !value.is_finite() => {
            faults.add(node.start, path, format!("expected a finite number, found {raw}"));
            node.value = Value::Faulty;
        }
        Value::List(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                check_free(item, &format!("{path}[{i}]"), faults);
            }
        }
        Value::Map(entries) => {
            for entry in entries.iter_mut() {
                if entry.key.contains(secrets::OPENING) {
                    faults.add_hint(entry.start, path, secrets::MISPLACED, secrets::WHERE.to_string());
                }
                check_free(&mut entry.value, &join(path, &entry.key), faults);
            }
        }
        _ => {}
    }
}

fn wrong_type(shape: &Shape, value: &Value) -> Complaint {
    let found = match (shape, value) {
        // A misplaced header may be a secret.
        (Shape::Secrets, Value::Text(_)) => "a text".to_string(),
        _ => describe(value),
    };
    let message = format!("expected {}, found {found}", shape.expected());
    let text_wanted = matches!(shape, Shape::Text(_) | Shape::AnyText | Shape::Choice(_));
    let number_wanted = matches!(shape, Shape::Int { .. } | Shape::Float(_));
    let hint = match value {
        Value::Int(_, raw) | Value::Float(_, raw) if text_wanted => Some(format!("put it in quotes: \"{raw}\"")),
        Value::Bool(value) if text_wanted => Some(format!("put it in quotes: \"{value}\"")),
        Value::Text(text) if number_wanted && text.quoted && text.text.parse::<f64>().is_ok() => {
            Some("remove the quotes".to_string())
        }
        Value::Text(text) if matches!(shape, Shape::Bool) => match text.text.to_lowercase().as_str() {
            "yes" | "on" | "true" | "y" => Some("write `true`".to_string()),
            "no" | "off" | "false" | "n" => Some("write `false`".to_string()),
            _ => None,
        },
        Value::Text(_) | Value::Int(..) | Value::Float(..) | Value::Map(_) if matches!(shape, Shape::List { .. }) => {
            Some("write a list, even of one: `[...]`".to_string())
        }
        _ => None,
    };
    (message, hint)
}

/// A value as messages name it.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_string(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Int(_, raw) | Value::Float(_, raw) => format!("the number {}", shortened(raw)),
        Value::Text(text) => format!("the text `{}`", shortened(&text.text)),
        Value::List(_) => "a list".to_string(),
        Value::Map(_) => "a mapping".to_string(),
        Value::Faulty => "a faulty value".to_string(),
    }
}

/// At most 60 characters of `text`, on one line.
fn shortened(text: &str) -> String {
    let mut out: String = text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        out += "...";
    }
    out
}
