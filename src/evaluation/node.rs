//! The nodes that a file is made of.

use saphyr_parser::Marker;

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

    pub(super) fn of(marker: &Marker) -> Self {
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
