//! Reads the fields of a checked node. What is absent, empty or faulty reads as `None`.

use ragstage_stages::artifact::Json;
use serde::de::DeserializeOwned;

use super::check::join;
use super::node::{Entry, Node, Position, Value};

/// A node with its path; or the place where one is absent.
#[derive(Clone)]
pub(super) struct View<'a> {
    node: Option<&'a Node>,
    /// The path of the element.
    pub path: String,
    start: Position,
}

impl<'a> View<'a> {
    /// The whole file.
    pub(super) fn root(node: &'a Node) -> Self {
        View { node: Some(node), path: String::new(), start: node.start }
    }

    /// The element at `path` that `node` is.
    pub(super) fn of(node: &'a Node, path: &str) -> Self {
        View { node: (node.value != Value::Faulty).then_some(node), path: path.to_string(), start: node.start }
    }

    /// A copy of the node.
    pub(super) fn copied(&self) -> Option<Node> {
        self.node.cloned()
    }

    /// Where the element is, or the one around it when it is absent.
    pub(super) fn start(&self) -> Position {
        self.start
    }

    /// Whether there is a value without fault.
    pub(super) fn is_given(&self) -> bool {
        self.node.is_some()
    }

    /// The value at `key`.
    pub(super) fn get(&self, key: &str) -> View<'a> {
        let entry = self.entries().iter().find(|entry| entry.key == key);
        let node = entry.map(|entry| &entry.value).filter(|node| !matches!(node.value, Value::Null | Value::Faulty));
        let start = node.map(|node| node.start).or(entry.map(|entry| entry.start)).unwrap_or(self.start);
        View { node, path: join(&self.path, key), start }
    }

    /// Whether there is a value at `key` that has been reported as faulty.
    pub(super) fn is_faulty(&self, key: &str) -> bool {
        self.entries().iter().any(|entry| entry.key == key && entry.value.value == Value::Faulty)
    }

    /// Whether this is the mapping form of an element that has several forms.
    pub(super) fn is_map(&self) -> bool {
        matches!(self.node, Some(Node { value: Value::Map(_), .. }))
    }

    /// The entries of a mapping.
    pub(super) fn entries(&self) -> &'a [Entry] {
        match self.node {
            Some(Node { value: Value::Map(entries), .. }) => entries,
            _ => &[],
        }
    }

    /// The items of a list; `None` when it is absent.
    pub(super) fn items(&self) -> Option<Vec<View<'a>>> {
        let Some(Node { value: Value::List(items), .. }) = self.node else { return None };
        let view = |(i, node): (usize, &'a Node)| View {
            node: (node.value != Value::Faulty).then_some(node),
            path: format!("{}[{i}]", self.path),
            start: node.start,
        };
        Some(items.iter().enumerate().map(view).collect())
    }

    /// The text.
    pub(super) fn text(&self) -> Option<&'a str> {
        match self.node {
            Some(Node { value: Value::Text(text), .. }) => Some(&text.text),
            _ => None,
        }
    }

    /// The texts of a list.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        let items = self.items()?;
        Some(items.iter().filter_map(|item| item.text()).map(str::to_string).collect())
    }

    /// The truth value.
    pub(super) fn bool(&self) -> Option<bool> {
        match self.node {
            Some(Node { value: Value::Bool(value), .. }) => Some(*value),
            _ => None,
        }
    }

    /// The whole number.
    pub(super) fn int<T: TryFrom<i128>>(&self) -> Option<T> {
        match self.node {
            Some(Node { value: Value::Int(value, _), .. }) => T::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The number.
    pub(super) fn float(&self) -> Option<f64> {
        match self.node {
            Some(Node { value: Value::Int(value, _), .. }) => Some(*value as f64),
            Some(Node { value: Value::Float(value, _), .. }) => Some(*value),
            _ => None,
        }
    }

    /// The variant of an enum that a [`super::shape::Shape::Choice`] names as serde does.
    pub(super) fn choice<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(serde_json::Value::from(self.text()?)).ok()
    }

    /// The JSON object.
    pub(super) fn json(&self) -> Option<Json> {
        match self.node.map(|node| to_json(&node.value)) {
            Some(serde_json::Value::Object(map)) => Some(map),
            _ => None,
        }
    }
}

fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null | Value::Faulty => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value, _) => match (u64::try_from(*value), i64::try_from(*value)) {
            (Ok(value), _) => value.into(),
            (_, Ok(value)) => value.into(),
            _ => (*value as f64).into(),
        },
        Value::Float(value, _) => (*value).into(),
        Value::Text(text) => text.text.as_str().into(),
        Value::List(items) => items.iter().map(|item| to_json(&item.value)).collect(),
        Value::Map(entries) => {
            entries.iter().map(|entry| (entry.key.clone(), to_json(&entry.value.value))).collect::<Json>().into()
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::check::check;
    use super::super::diagnostic::Faults;
    use super::super::shape::Shape;
    use super::super::tree::read_tree;
    use super::*;

    /// What `convert` makes of `text`, or the faults as `line:column path: message [hint]`.
    pub(in super::super) fn checked<T>(
        text: &str,
        shape: &Shape,
        convert: impl FnOnce(&View<'_>, &mut Faults) -> T,
    ) -> Result<T, Vec<String>> {
        let (node, tree_faults) = read_tree(text);
        assert_eq!(tree_faults, [], "{text}");
        let mut node = node.unwrap();
        let mut faults = Faults::new("f".as_ref());
        check(&mut node, shape, "", &mut faults);
        let value = convert(&View::root(&node), &mut faults);
        let told = |fault: super::super::Diagnostic| {
            let hint = fault.hint.map(|hint| format!(" [{hint}]")).unwrap_or_default();
            let number = |number: Option<u64>| number.map_or("-".to_string(), |number| number.to_string());
            let file = match fault.place.file.display().to_string() {
                own if own == "f" => String::new(),
                other => format!("{other} "),
            };
            let (line, column) = (number(fault.place.line), number(fault.place.column));
            format!("{line}:{column} {file}{}: {}{hint}", fault.path, fault.message)
        };
        let told: Vec<String> = faults.into_sorted().into_iter().map(told).collect();
        if told.is_empty() { Ok(value) } else { Err(told) }
    }

    /// The mapping that spells out every default of `fields`.
    pub(in super::super) fn spelled_out(fields: &[super::super::shape::Field]) -> String {
        let default = |field: &super::super::shape::Field| match field.need {
            super::super::shape::Need::Default(json) => Some(format!("{:?}: {json}", field.name)),
            _ => None,
        };
        format!("{{{}}}", fields.iter().filter_map(default).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn open_values_become_json() {
        let (node, _) = read_tree("a: [1, -1, 1.5, x, null, {b: true}, 18446744073709551615]\n");
        let node = node.unwrap();
        let expected = serde_json::json!({"a": [1, -1, 1.5, "x", null, {"b": true}, u64::MAX]});
        assert_eq!(serde_json::Value::Object(View::root(&node).json().unwrap()), expected);
    }

    #[test]
    fn absent_and_empty_values_read_as_none() {
        let (node, _) = read_tree("a:\nb: 3\n");
        let node = node.unwrap();
        let view = View::root(&node);
        assert!(!view.get("a").is_given() && !view.get("z").is_given());
        assert_eq!(view.get("b").int::<u32>(), Some(3));
        assert_eq!(view.get("b").text(), None);
        assert_eq!(view.get("b").start(), Position { line: 2, column: 4 });
    }
}
