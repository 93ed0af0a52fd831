//! A YAML text as a tree of nodes that know where they are.
//!
//! Aliases and merge keys (`<<`) are expanded here, so nobody later has to know of them.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::check::join;
use super::node::{Entry, Node, Position, Text, Value};
use super::scalar::resolve;
use super::syntax::{Stop, syntax_fault};

/// How deep lists and mappings may nest; deeper than any real file, shallow enough for every recursive walk.
const MAX_DEPTH: usize = 64;

/// How many nodes aliases may add, so that a small file cannot become a huge tree.
const MAX_ALIASED: usize = 100_000;

/// Something that keeps a text from being a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeFault {
    /// Where.
    pub at: Position,
    /// The element, e.g. `recipes[0].chunk`.
    pub path: String,
    /// What was expected and found.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Reads `text`, which must hold one document. The tree is there unless the syntax is broken; faults that leave a tree
/// (duplicate keys, unknown tags) are in the list beside it.
pub(super) fn read_tree(text: &str) -> (Option<Node>, Vec<TreeFault>) {
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let step = match event {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => Err(syntax_fault(&error, text)),
        };
        if let Err(stop) = step {
            builder.fault(stop.at, stop.message, stop.hint);
            return (None, builder.faults);
        }
    }
    let root = builder.root.unwrap_or(Node { start: Position::START, value: Value::Null });
    (Some(root), builder.faults)
}

/// A list or mapping that is not closed yet.
struct Open {
    start: Position,
    anchor: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        /// Where each key first stands.
        keys: BTreeMap<String, Position>,
        key: Option<(String, Position, bool)>,
        merges: Vec<Node>,
    },
    /// A list or mapping where a key should be; its nodes are dropped.
    Key,
}

/// An anchored node with the height of its tree and its number of nodes.
struct Anchored {
    node: Node,
    height: usize,
    size: usize,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Anchored>,
    aliased: usize,
    root: Option<Node>,
    faults: Vec<TreeFault>,
}

impl Builder {
    /// Takes one event; an error ends the reading.
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        let start = Position::of(&span.start);
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err(Stop {
                at: start,
                message: "a second document begins here, expected one document".to_string(),
                hint: Some("keep one evaluation per file and remove the `---`".to_string()),
            }),
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                if self.key_is_next() {
                    let merge = plain && text == "<<" && tag.is_none();
                    self.key(text.into_owned(), start, merge);
                    return Ok(());
                }
                let value = self.scalar(text.into_owned(), plain, tag.as_deref(), start);
                self.close(Node { start, value }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", start);
                let kind = if self.key_is_next() { self.bad_key(start) } else { OpenKind::List(Vec::new()) };
                self.push(Open { start, anchor, kind })
            }
            Event::MappingStart(anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", start);
                let kind = if self.key_is_next() {
                    self.bad_key(start)
                } else {
                    OpenKind::Map { entries: Vec::new(), keys: BTreeMap::new(), key: None, merges: Vec::new() }
                };
                self.push(Open { start, anchor, kind })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else { return Ok(()) };
                let value = match open.kind {
                    OpenKind::List(items) => Value::List(items),
                    OpenKind::Map { entries, keys, merges, .. } => Value::Map(self.merged(entries, keys, merges)),
                    OpenKind::Key => {
                        self.key(String::new(), open.start, false);
                        return Ok(());
                    }
                };
                self.close(Node { start: open.start, value }, open.anchor)
            }
            Event::Alias(id) => self.alias(id, start),
            Event::DocumentStart(_) | Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => {
                Ok(())
            }
        }
    }

    fn push(&mut self, open: Open) -> Result<(), Stop> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(open.start));
        }
        self.open.push(open);
        Ok(())
    }

    fn key_is_next(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: OpenKind::Map { key: None, .. }, .. }))
    }

    fn bad_key(&mut self, start: Position) -> OpenKind {
        self.fault(start, "expected a text as key, found a list or a mapping", None);
        OpenKind::Key
    }

    fn key(&mut self, text: String, start: Position, merge: bool) {
        if let Some(Open { kind: OpenKind::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some((text, start, merge));
        }
    }

    /// Hands a finished node to the list or mapping around it.
    fn close(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor > 0 {
            let (height, size) = measure(&node);
            self.anchors.insert(anchor, Anchored { node: node.clone(), height, size });
        }
        let mut duplicate = None;
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Key) => {}
            Some(OpenKind::Map { entries, keys, key, merges }) => match key.take() {
                None => {}
                Some((_, _, true)) => merges.push(node),
                Some((key, start, false)) => match keys.get(&key) {
                    Some(first) => duplicate = Some((key, start, *first)),
                    None => {
                        keys.insert(key.clone(), start);
                        entries.push(Entry { key, start, value: node });
                    }
                },
            },
        }
        // The empty key stands for a list or mapping that has been reported as a key.
        if let Some((key, start, first)) = duplicate.filter(|(key, _, _)| !key.is_empty()) {
            self.faults.push(TreeFault {
                at: start,
                path: join(&self.path(), &key),
                message: format!("duplicate key `{key}`, first at line {}, column {}", first.line, first.column),
                hint: Some("keep one of the two".to_string()),
            });
        }
        Ok(())
    }

    fn alias(&mut self, id: usize, start: Position) -> Result<(), Stop> {
        if self.key_is_next() {
            self.fault(start, "expected a text as key, found an alias", None);
            self.key(String::new(), start, false);
            return Ok(());
        }
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(Stop {
                at: start,
                message: "an alias inside the value that it stands for".to_string(),
                hint: None,
            });
        };
        self.aliased = self.aliased.saturating_add(anchored.size);
        if self.aliased > MAX_ALIASED {
            return Err(Stop {
                at: start,
                message: format!("aliases expand to more than {MAX_ALIASED} values"),
                hint: None,
            });
        }
        if self.open.len() + anchored.height > MAX_DEPTH {
            return Err(too_deep(start));
        }
        let node = anchored.node.clone();
        self.close(node, 0)
    }

    /// Entries with those of `<<` behind them; what the mapping says itself goes first, then earlier merges.
    fn merged(
        &mut self,
        mut entries: Vec<Entry>,
        mut keys: BTreeMap<String, Position>,
        merges: Vec<Node>,
    ) -> Vec<Entry> {
        for merge in merges {
            let sources = match merge.value {
                Value::List(items) => items,
                value => vec![Node { start: merge.start, value }],
            };
            for source in sources {
                let Value::Map(others) = source.value else {
                    self.fault(source.start, "expected a mapping to merge with `<<`", None);
                    continue;
                };
                for other in others {
                    if !keys.contains_key(&other.key) {
                        keys.insert(other.key.clone(), other.start);
                        entries.push(other);
                    }
                }
            }
        }
        entries
    }

    fn scalar(&mut self, text: String, plain: bool, tag: Option<&Tag>, start: Position) -> Value {
        let Some(tag) = tag else {
            return if plain { resolve(text) } else { Value::Text(Text { text, quoted: true }) };
        };
        if tag.handle.is_empty() && tag.suffix == "!" {
            return Value::Text(Text { text, quoted: true });
        }
        if !tag.is_yaml_core_schema() {
            self.unknown_tag(tag, start);
            return Value::Faulty;
        }
        let shown = text.clone();
        let value = match (tag.suffix.as_str(), resolve(text)) {
            ("str", _) => return Value::Text(Text { text: shown, quoted: true }),
            ("int", value @ Value::Int(..)) => value,
            ("float", value @ Value::Float(..)) => value,
            ("float", Value::Int(value, text)) => Value::Float(value as f64, text),
            ("bool", value @ Value::Bool(_)) => value,
            ("null", value @ Value::Null) => value,
            _ => Value::Faulty,
        };
        if value == Value::Faulty {
            self.fault(start, format!("`{shown}` is no value of the tag `!!{}`", tag.suffix), None);
        }
        value
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, expected: &str, start: Position) {
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && tag.suffix == expected)
        {
            self.unknown_tag(tag, start);
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, start: Position) {
        self.fault(
            start,
            format!("the tag `{}{}` has no meaning here", tag.handle, tag.suffix),
            Some("remove the tag, or put a text that begins with `!` in quotes".to_string()),
        );
    }

    fn fault(&mut self, at: Position, message: impl Into<String>, hint: Option<String>) {
        let path = self.path();
        self.faults.push(TreeFault { at, path, message: message.into(), hint });
    }

    /// The element that is being read.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match &open.kind {
                OpenKind::List(items) => path += &format!("[{}]", items.len()),
                OpenKind::Map { key: Some((key, ..)), .. } => path = join(&path, key),
                OpenKind::Map { key: None, .. } | OpenKind::Key => {}
            }
        }
        path
    }
}

fn too_deep(at: Position) -> Stop {
    Stop { at, message: format!("nested deeper than {MAX_DEPTH} levels"), hint: None }
}

/// Height of the tree (a scalar has 0) and its number of nodes.
fn measure(node: &Node) -> (usize, usize) {
    let children: Vec<&Node> = match &node.value {
        Value::List(items) => items.iter().collect(),
        Value::Map(entries) => entries.iter().map(|entry| &entry.value).collect(),
        _ => return (0, 1),
    };
    children.into_iter().map(measure).fold((1, 1), |(height, size), child| (height.max(child.0 + 1), size + child.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u64, column: u64) -> Position {
        Position { line, column }
    }

    fn tree(text: &str) -> Node {
        let (node, faults) = read_tree(text);
        assert_eq!(faults, [], "{text}");
        node.unwrap()
    }

    fn fault(text: &str) -> TreeFault {
        let (_, mut faults) = read_tree(text);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    fn entries(node: &Node) -> Vec<(&str, &Value)> {
        match &node.value {
            Value::Map(entries) => entries.iter().map(|entry| (entry.key.as_str(), &entry.value.value)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn core_tags_choose_the_type() {
        let node = tree("{a: !!str 12, b: !!float 12, c: ! 12, d: !!seq [1]}");
        let text = || Value::Text(Text { text: "12".to_string(), quoted: true });
        let list = Value::List(vec![Node { start: at(1, 49), value: Value::Int(1, "1".to_string()) }]);
        let float = Value::Float(12.0, "12".to_string());
        assert_eq!(entries(&node), [("a", &text()), ("b", &float), ("c", &text()), ("d", &list)]);
    }

    #[test]
    fn columns_count_characters_from_one() {
        let node = tree("é: {ü: [ö, 1], k: 'ß'}\n");
        let Value::Map(outer) = node.value else { panic!() };
        assert_eq!(outer[0].value.start, at(1, 4));
        let Value::Map(inner) = &outer[0].value.value else { panic!() };
        assert_eq!((inner[0].start, inner[0].value.start), (at(1, 5), at(1, 8)));
        assert_eq!((inner[1].start, inner[1].value.start), (at(1, 16), at(1, 19)));
    }

    #[test]
    fn a_duplicate_key_names_both_places() {
        let fault = fault("a: 1\nb: 2\na: 3\n");
        assert_eq!(fault.at, at(3, 1));
        assert_eq!(fault.message, "duplicate key `a`, first at line 1, column 1");
    }

    #[test]
    fn aliases_and_merge_keys_are_expanded() {
        let node = tree("base: &base {x: 1, y: 2}\none: *base\ntwo: {<<: *base, y: 3}\nthree: {<<: [*base, {z: 4}]}\n");
        let int = |value: i128| Value::Int(value, value.to_string());
        let Value::Map(map) = &node.value else { panic!() };
        assert_eq!(entries(&map[1].value), [("x", &int(1)), ("y", &int(2))]);
        assert_eq!(entries(&map[2].value), [("y", &int(3)), ("x", &int(1))]);
        assert_eq!(entries(&map[3].value), [("x", &int(1)), ("y", &int(2)), ("z", &int(4))]);
        assert_eq!(fault("a: {<<: 1}\n").message, "expected a mapping to merge with `<<`");
    }

    #[test]
    fn syntax_errors_have_a_place_and_advice() {
        for (text, place, message, hint) in [
            ("a:\n\tb: 1\n", at(2, 1), "tabs disallowed", Some("indent with spaces")),
            ("a: b\n\n  \tc: d\n", at(3, 3), "not valid YAML", Some("indent with spaces")),
            ("a: b: c\n", at(1, 5), "mapping values are not allowed", Some("in quotes")),
            ("a: *b\n", at(1, 4), "unknown anchor", Some("needs an anchor")),
            ("a: @b\n", at(1, 4), "unexpected character", Some("in quotes")),
            ("a: 'b\n", at(1, 4), "unexpected end of stream", Some("not closed")),
            ("a: 1\n---\nb: 2\n", at(2, 1), "a second document begins here", Some("one evaluation per file")),
            ("a: &x [*x]\n", at(1, 8), "an alias inside the value", None),
            ("a: !x 1\n", at(1, 4), "the tag `!x` has no meaning here", Some("remove the tag")),
            ("a: !!int x\n", at(1, 4), "`x` is no value of the tag `!!int`", None),
            ("? [1]\n: 2\n", at(1, 3), "expected a text as key", None),
        ] {
            let fault = fault(text);
            assert_eq!(fault.at, place, "{text}");
            assert!(fault.message.contains(message), "{text}: {}", fault.message);
            assert_eq!(fault.hint.is_some(), hint.is_some(), "{text}");
            assert!(fault.hint.unwrap_or_default().contains(hint.unwrap_or_default()), "{text}");
        }
    }

    #[test]
    fn depth_and_expansion_are_bounded() {
        assert_eq!(fault(&"- ".repeat(5000)).message, "nested deeper than 64 levels");
        assert_eq!(fault(&"[".repeat(5000)).message, "not valid YAML: recursion limit exceeded");
        let mut bomb = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n".to_string();
        for i in 1..8 {
            let previous = vec![format!("*a{}", i - 1); 10].join(", ");
            bomb += &format!("a{i}: &a{i} [{previous}]\n");
        }
        assert_eq!(fault(&bomb).message, "aliases expand to more than 100000 values");
        let mut tower = "a0: &a0 [1]\n".to_string();
        for i in 1..80 {
            tower += &format!("a{i}: &a{i} [*a{}]\n", i - 1);
        }
        assert_eq!(fault(&tower).message, "nested deeper than 64 levels");
    }

    #[test]
    fn an_empty_text_is_null() {
        for text in ["", "# nothing\n", "---\n"] {
            assert_eq!(tree(text).value, Value::Null);
        }
    }
}
