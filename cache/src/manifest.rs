//! The readable preimage of a key, and the difference between two of them.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::key::{KeyHasher, KeyVisitor, Walk, canonical_float};

/// One visited field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The field's name; empty for the entries of a list.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it holds.
    pub value: FieldValue,
}

/// The value of a visited field, with its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldValue {
    /// Absent.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed whole number.
    Int(i64),
    /// An unsigned whole number.
    Uint(u64),
    /// A floating-point number, as its shortest text (JSON has no NaN).
    Float(String),
    /// A text.
    Text(String),
    /// A digest of an input.
    Digest(Digest),
    /// Entries in order.
    List(Vec<Field>),
    /// A tagged record.
    Record {
        /// The domain tag.
        tag: String,
        /// Its fields in walk order.
        fields: Vec<Field>,
    },
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldValue::Null => f.write_str("null"),
            FieldValue::Bool(value) => write!(f, "{value}"),
            FieldValue::Int(value) => write!(f, "{value}"),
            FieldValue::Uint(value) => write!(f, "{value}"),
            FieldValue::Float(value) => f.write_str(value),
            FieldValue::Text(value) => write!(f, "{value:?}"),
            FieldValue::Digest(value) => write!(f, "{}…", value.short()),
            FieldValue::List(items) => write!(f, "[{} entries]", items.len()),
            FieldValue::Record { tag, fields } => write!(f, "{tag} {{{} fields}}", fields.len()),
        }
    }
}

/// The whole preimage of a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The top-level fields in walk order.
    pub fields: Vec<Field>,
}

impl Manifest {
    /// The manifest of `thing`, written by the same walk that hashes it.
    pub fn of(thing: &dyn Walk) -> Self {
        let mut writer = ManifestWriter::new();
        thing.walk(&mut writer);
        writer.finish()
    }

    /// The key that this manifest is the preimage of.
    pub fn key(&self) -> Digest {
        let mut hasher = KeyHasher::new();
        self.walk(&mut hasher);
        hasher.finish()
    }

    /// The fields that differ, in the order of the newer manifest and then the older one's leftovers.
    pub fn diff(old: &Manifest, new: &Manifest) -> Vec<FieldChange> {
        let mut changes = Vec::new();
        diff_fields("", old.inside(), new.inside(), &mut changes);
        changes
    }

    /// Every leaf as `(path, value)`, for people.
    pub fn leaves(&self) -> Vec<(String, FieldValue)> {
        let mut leaves = Vec::new();
        collect_leaves("", self.inside(), &mut leaves);
        leaves
    }

    /// The fields of the one unnamed record that a key is, so that paths do not all begin with its position.
    fn inside(&self) -> &[Field] {
        match self.fields.as_slice() {
            [Field { name, value: FieldValue::Record { fields, .. } }] if name.is_empty() => fields,
            fields => fields,
        }
    }
}

impl Walk for Manifest {
    fn walk(&self, visitor: &mut dyn KeyVisitor) {
        for field in &self.fields {
            walk_field(field, visitor);
        }
    }
}

fn walk_field(field: &Field, visitor: &mut dyn KeyVisitor) {
    let name = &field.name;
    match &field.value {
        FieldValue::Null => visitor.null(name),
        FieldValue::Bool(value) => visitor.bool(name, *value),
        FieldValue::Int(value) => visitor.int(name, *value),
        FieldValue::Uint(value) => visitor.uint(name, *value),
        FieldValue::Float(value) => visitor.float(name, value.parse().unwrap_or(f64::NAN)),
        FieldValue::Text(value) => visitor.text(name, value),
        FieldValue::Digest(value) => visitor.digest(name, value),
        FieldValue::List(items) => {
            visitor.begin_list(name, items.len());
            items.iter().for_each(|item| walk_field(item, visitor));
            visitor.end();
        }
        FieldValue::Record { tag, fields } => {
            visitor.begin_record(name, tag);
            fields.iter().for_each(|field| walk_field(field, visitor));
            visitor.end();
        }
    }
}

/// A field that two manifests disagree about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Dotted path, e.g. `options.k1` or `inputs.documents`.
    pub path: String,
    /// The older value, or nothing where the field is new.
    pub old: Option<String>,
    /// The newer value, or nothing where the field is gone.
    pub new: Option<String>,
    /// Whether the field is the digest of an input artifact (a cascade) rather than a parameter (a root cause).
    pub input: bool,
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

fn named(fields: &[Field]) -> impl Iterator<Item = (String, &FieldValue)> {
    fields.iter().enumerate().map(|(i, field)| {
        let name = if field.name.is_empty() { i.to_string() } else { field.name.clone() };
        (name, &field.value)
    })
}

/// As [`named`], but the entries of a list go by what they call themselves, so that a difference says `files.cases` and
/// not `files.1`.
fn called(fields: &[Field]) -> Vec<(String, &FieldValue)> {
    let own: Vec<Option<&str>> = fields.iter().map(own_name).collect();
    let mut seen = HashSet::new();
    let unique = own.iter().all(|name| name.is_some_and(|name| seen.insert(name)));
    match unique {
        true => own.into_iter().flatten().map(str::to_string).zip(fields.iter().map(|field| &field.value)).collect(),
        false => named(fields).collect(),
    }
}

/// The text by which an entry of a list is told from the others.
fn own_name(entry: &Field) -> Option<&str> {
    match &entry.value {
        FieldValue::Record { fields, .. } if entry.name.is_empty() => {
            fields.iter().find_map(|field| match &field.value {
                FieldValue::Text(text) if matches!(field.name.as_str(), "role" | "relative" | "name") => {
                    Some(text.as_str())
                }
                _ => None,
            })
        }
        _ => None,
    }
}

fn diff_fields(path: &str, old: &[Field], new: &[Field], changes: &mut Vec<FieldChange>) {
    let (old, new) = (called(old), called(new));
    // By name, for a benchmark's list of files may be long.
    let mut left: HashMap<&str, &FieldValue> = old.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    for (name, new_value) in &new {
        let here = join(path, name);
        match left.remove(name.as_str()) {
            Some(old_value) => diff_value(&here, old_value, new_value, changes),
            None => changes.push(change(here, None, Some(new_value))),
        }
    }
    for (name, old_value) in old.iter().filter(|(name, _)| left.contains_key(name.as_str())) {
        changes.push(change(join(path, name), Some(old_value), None));
    }
}

fn diff_value(path: &str, old: &FieldValue, new: &FieldValue, changes: &mut Vec<FieldChange>) {
    match (old, new) {
        (FieldValue::List(a), FieldValue::List(b)) => diff_fields(path, a, b, changes),
        (FieldValue::Record { tag: s, fields: a }, FieldValue::Record { tag: t, fields: b }) if s == t => {
            diff_fields(path, a, b, changes)
        }
        _ if old == new => {}
        _ => changes.push(change(path.to_string(), Some(old), Some(new))),
    }
}

fn change(path: String, old: Option<&FieldValue>, new: Option<&FieldValue>) -> FieldChange {
    FieldChange {
        path,
        input: [old, new].into_iter().flatten().all(|value| matches!(value, FieldValue::Digest(_))),
        old: old.map(ToString::to_string),
        new: new.map(ToString::to_string),
    }
}

fn collect_leaves(path: &str, fields: &[Field], leaves: &mut Vec<(String, FieldValue)>) {
    for (name, value) in named(fields) {
        let here = join(path, &name);
        match value {
            FieldValue::List(items) if !items.is_empty() => collect_leaves(&here, items, leaves),
            FieldValue::Record { fields, .. } if !fields.is_empty() => collect_leaves(&here, fields, leaves),
            leaf => leaves.push((here, leaf.clone())),
        }
    }
}

/// The visitor that writes the manifest.
pub struct ManifestWriter {
    open: Vec<(String, Option<String>, Vec<Field>)>,
    fields: Vec<Field>,
}

impl ManifestWriter {
    /// A writer that has seen nothing.
    pub fn new() -> Self {
        ManifestWriter { open: Vec::new(), fields: Vec::new() }
    }

    /// The manifest of all that was visited; records left open are closed.
    pub fn finish(mut self) -> Manifest {
        while !self.open.is_empty() {
            self.end();
        }
        Manifest { fields: self.fields }
    }

    fn push(&mut self, name: &str, value: FieldValue) {
        let fields = self.open.last_mut().map_or(&mut self.fields, |(_, _, fields)| fields);
        debug_assert!(
            name.is_empty() || fields.iter().all(|field| field.name != name),
            "field {name} is visited twice"
        );
        fields.push(Field { name: name.to_string(), value });
    }
}

impl Default for ManifestWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyVisitor for ManifestWriter {
    fn begin_record(&mut self, name: &str, tag: &str) {
        self.open.push((name.to_string(), Some(tag.to_string()), Vec::new()));
    }

    fn begin_list(&mut self, name: &str, len: usize) {
        self.open.push((name.to_string(), None, Vec::with_capacity(len)));
    }

    fn end(&mut self) {
        if let Some((name, tag, fields)) = self.open.pop() {
            let value = match tag {
                Some(tag) => FieldValue::Record { tag, fields },
                None => FieldValue::List(fields),
            };
            self.push(&name, value);
        }
    }

    fn null(&mut self, name: &str) {
        self.push(name, FieldValue::Null);
    }

    fn bool(&mut self, name: &str, value: bool) {
        self.push(name, FieldValue::Bool(value));
    }

    fn int(&mut self, name: &str, value: i64) {
        self.push(name, FieldValue::Int(value));
    }

    fn uint(&mut self, name: &str, value: u64) {
        self.push(name, FieldValue::Uint(value));
    }

    fn float(&mut self, name: &str, value: f64) {
        self.push(name, FieldValue::Float(format!("{:?}", canonical_float(value))));
    }

    fn text(&mut self, name: &str, value: &str) {
        self.push(name, FieldValue::Text(value.to_string()));
    }

    fn digest(&mut self, name: &str, value: &Digest) {
        self.push(name, FieldValue::Digest(*value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::key_of;

    struct Example {
        k1: f64,
        languages: Vec<String>,
        input: Digest,
    }

    impl Walk for Example {
        fn walk(&self, v: &mut dyn KeyVisitor) {
            v.begin_record("", "stage.example");
            v.float("k1", self.k1);
            crate::key::walk_texts(v, "languages", &self.languages);
            v.digest("input", &self.input);
            v.null("salt");
            v.int("offset", -3);
            v.end();
        }
    }

    fn example() -> Example {
        Example { k1: 0.9, languages: vec!["en".into()], input: Digest::of(b"a") }
    }

    #[test]
    fn the_manifest_is_the_preimage_of_the_key_even_after_json() {
        let manifest = Manifest::of(&example());
        assert_eq!(manifest.key(), key_of(&example()));
        let text = serde_json::to_string(&manifest).expect("manifest to JSON");
        let back: Manifest = serde_json::from_str(&text).expect("manifest from JSON");
        assert_eq!(back.key(), key_of(&example()));
    }

    #[test]
    fn differences_name_the_field_with_old_and_new() {
        let old = Manifest::of(&example());
        let new = Manifest::of(&Example { k1: 1.2, input: Digest::of(b"b"), ..example() });
        let changes = Manifest::diff(&old, &new);
        assert_eq!(changes.len(), 2);
        assert_eq!(changes[0].path, "k1");
        assert_eq!((changes[0].old.as_deref(), changes[0].new.as_deref()), (Some("0.9"), Some("1.2")));
        assert!(!changes[0].input && changes[1].input);
        assert!(Manifest::diff(&new, &new).is_empty());
    }

    #[test]
    fn entries_of_lists_go_by_their_own_names() {
        struct Files(Vec<(&'static str, &'static [u8])>);
        impl Walk for Files {
            fn walk(&self, v: &mut dyn KeyVisitor) {
                v.begin_list("files", self.0.len());
                for (role, bytes) in &self.0 {
                    v.begin_record("", "file");
                    v.text("role", role);
                    v.digest("digest", &Digest::of(bytes));
                    v.end();
                }
                v.end();
            }
        }
        let paths = |old: Files, new: Files| -> Vec<String> {
            Manifest::diff(&Manifest::of(&old), &Manifest::of(&new)).into_iter().map(|change| change.path).collect()
        };
        let documents = ("documents", b"d".as_slice());
        assert_eq!(
            paths(Files(vec![documents, ("cases", b"c")]), Files(vec![documents, ("cases", b"C")])),
            ["files.cases.digest"]
        );
        // A file more is one difference, wherever it stands.
        assert_eq!(paths(Files(vec![documents]), Files(vec![("units", b"u"), documents])), ["files.units"]);
        // Names that are not unique tell nothing.
        assert_eq!(
            paths(Files(vec![documents, documents]), Files(vec![documents, ("documents", b"D")])),
            ["files.1.digest"]
        );
    }
}
