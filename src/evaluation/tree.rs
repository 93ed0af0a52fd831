//! A YAML text as a tree of nodes that know where they are.
//!
//! Scalars resolve by the core schema of YAML 1.2 (section 10.3.2): `yes` is a text, `0o17` a number. Aliases and merge
//! keys (`<<`) are expanded here, so nobody later has to know of them.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::check::join;

/// How deep lists and mappings may nest; deeper than any real file, shallow enough for every recursive walk.
const MAX_DEPTH: usize = 64;

/// How many nodes aliases may add, so that a small file cannot become a huge tree.
const MAX_ALIASED: usize = 100_000;

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

impl Position {
    /// The first character of a text.
    pub(super) const START: Position = Position { line: 1, column: 1 };

    fn of(marker: &Marker) -> Self {
        Position { line: marker.line().max(1) as u64, column: marker.col() as u64 + 1 }
    }
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// Where it begins.
    pub start: Position,
    /// What it is.
    pub value: Value,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number, with its text as written.
    Int(i128, String),
    /// Another number, with its text as written.
    Float(f64, String),
    /// A text.
    Text(Text),
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order of the file; keys are unique.
    Map(Vec<Entry>),
    /// A value that has already been reported; nothing more is said about it.
    Faulty,
}

/// A text and how it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    /// The text.
    pub text: String,
    /// Whether it is in quotes or a block.
    pub quoted: bool,
}

/// A key of a mapping with its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The key.
    pub key: String,
    /// Where the key begins.
    pub start: Position,
    /// The value.
    pub value: Node,
}

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

/// What ends the reading.
struct Stop {
    at: Position,
    message: String,
    hint: Option<String>,
}

fn syntax_fault(error: &ScanError, text: &str) -> Stop {
    let info = error.info();
    let mut at = Position::of(error.marker());
    let hint = if info.contains("tab") {
        // The parser points at what it was reading; the tab may be lines below.
        at = first_tab(text, at.line).unwrap_or(at);
        Some("indent with spaces")
    } else if info.contains("mapping values are not allowed") {
        Some("put a text that contains `: ` in quotes, and check that keys of one mapping begin in one column")
    } else if info.contains("unknown anchor") {
        Some("an alias `*name` needs an anchor `&name` before it; put a text that begins with `*` in quotes")
    } else if info.contains("unexpected character") {
        Some("put a text that begins with a special character in quotes")
    } else if info.contains("recursion limit") {
        Some("an evaluation file needs no such depth")
    } else if info.contains("end of stream") || info.contains("unexpected eof") {
        Some("a quote or bracket that begins here is not closed")
    } else {
        None
    };
    Stop { at, message: format!("not valid YAML: {info}"), hint: hint.map(str::to_string) }
}

/// The first tab in the indentation of a line from `line` on.
fn first_tab(text: &str, line: u64) -> Option<Position> {
    (1..).zip(text.lines()).skip_while(|(number, _)| *number < line).find_map(|(line, text)| {
        let column = (1..).zip(text.chars().take_while(|c| *c == ' ' || *c == '\t')).find(|(_, c)| *c == '\t')?.0;
        Some(Position { line, column })
    })
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
                    OpenKind::Map { entries: Vec::new(), key: None, merges: Vec::new() }
                };
                self.push(Open { start, anchor, kind })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else { return Ok(()) };
                let value = match open.kind {
                    OpenKind::List(items) => Value::List(items),
                    OpenKind::Map { entries, merges, .. } => Value::Map(self.merged(entries, merges)),
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
            Some(OpenKind::Map { entries, key, merges }) => match key.take() {
                None => {}
                Some((_, _, true)) => merges.push(node),
                Some((key, start, false)) => match entries.iter().find(|entry| entry.key == key) {
                    Some(first) => duplicate = Some((key, start, first.start)),
                    None => entries.push(Entry { key, start, value: node }),
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
    fn merged(&mut self, mut entries: Vec<Entry>, merges: Vec<Node>) -> Vec<Entry> {
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
                    if !entries.iter().any(|entry| entry.key == other.key) {
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
        if let Some(tag) = tag {
            if !(tag.is_yaml_core_schema() && tag.suffix == expected) {
                self.unknown_tag(tag, start);
            }
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

/// A plain scalar by the core schema.
fn resolve(text: String) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY, text),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY, text),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN, text),
        _ => {}
    }
    if let Some(value) = whole_number(&text) {
        return Value::Int(value, text);
    }
    if is_float(&text) {
        if let Ok(value) = text.parse() {
            return Value::Float(value, text);
        }
    }
    Value::Text(Text { text, quoted: false })
}

fn whole_number(text: &str) -> Option<i128> {
    let digits = |digits: &str, radix: u32| {
        let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        if all { i128::from_str_radix(digits, radix).ok() } else { None }
    };
    if let Some(rest) = text.strip_prefix("0x") {
        return digits(rest, 16);
    }
    if let Some(rest) = text.strip_prefix("0o") {
        return digits(rest, 8);
    }
    match text.strip_prefix('-') {
        Some(rest) => digits(rest, 10).map(|value| -value),
        None => digits(text.strip_prefix('+').unwrap_or(text), 10),
    }
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_ok && exponent_ok
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
    fn scalars_resolve_by_the_core_schema() {
        let text = |text: &str| Value::Text(Text { text: text.to_string(), quoted: false });
        for (source, expected) in [
            ("yes", text("yes")),
            ("on", text("on")),
            ("2026-11", text("2026-11")),
            ("1_000", text("1_000")),
            ("0x", text("0x")),
            ("1e", text("1e")),
            (".", text(".")),
            ("inf", text("inf")),
            ("True", Value::Bool(true)),
            ("~", Value::Null),
            ("-12", Value::Int(-12, "-12".to_string())),
            ("+7", Value::Int(7, "+7".to_string())),
            ("0x1F", Value::Int(31, "0x1F".to_string())),
            ("0o17", Value::Int(15, "0o17".to_string())),
            ("18446744073709551615", Value::Int(18_446_744_073_709_551_615, "18446744073709551615".to_string())),
            ("1.10", Value::Float(1.1, "1.10".to_string())),
            ("1.", Value::Float(1.0, "1.".to_string())),
            (".5", Value::Float(0.5, ".5".to_string())),
            ("1e3", Value::Float(1000.0, "1e3".to_string())),
            ("-.inf", Value::Float(f64::NEG_INFINITY, "-.inf".to_string())),
            ("!!str 12", Value::Text(Text { text: "12".to_string(), quoted: true })),
            ("!!float 12", Value::Float(12.0, "12".to_string())),
        ] {
            assert_eq!(tree(&format!("a: {source}\n")).value, tree_of("a", expected), "{source}");
        }
    }

    fn tree_of(key: &str, value: Value) -> Value {
        Value::Map(vec![Entry { key: key.to_string(), start: at(1, 1), value: Node { start: at(1, 4), value } }])
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
            ("a: b\n\n  \tc: d\n", at(3, 3), "found a tab", Some("indent with spaces")),
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
