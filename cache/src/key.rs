//! Keys: one walk over the fields of a thing, and the visitor that hashes it.
//!
//! Whatever has a key implements [`Walk`] once. [`KeyHasher`] folds the walk into a [`Digest`];
//! [`crate::manifest::ManifestWriter`] turns the very same walk into a readable document. Because both see one walk, the
//! explanation of a key cannot drift from the key.
//!
//! # Encoding
//!
//! The hash input is the domain `ragstage-key-v1`, then one entry per visit: a type byte, the field's name and the payload,
//! where names, tags and texts are preceded by their length as a little-endian `u64`. Records and lists are closed by an
//! end byte. So a field cannot be mistaken for its neighbour, a text for a digest, nor 1 for "1".
//!
//! # Before adding a field
//!
//! Never a path, an mtime, a host name, a thread count, a time-out, a URL or a secret (the table of what each stage's key
//! holds is in ARCHITECTURE.md). A field that is only there in some cases changes no key where it is absent.

use crate::Digest;

/// Something that accepts the fields of a key in a fixed order.
///
/// Names are unique within a record; a list's entries have empty names.
pub trait KeyVisitor {
    /// Opens a record of type `tag` (the domain tag of what is being described).
    fn begin_record(&mut self, name: &str, tag: &str);
    /// Opens a list of `len` entries.
    fn begin_list(&mut self, name: &str, len: usize);
    /// Closes the innermost record or list.
    fn end(&mut self);
    /// An absent value.
    fn null(&mut self, name: &str);
    /// A truth value.
    fn bool(&mut self, name: &str, value: bool);
    /// A signed whole number.
    fn int(&mut self, name: &str, value: i64);
    /// An unsigned whole number.
    fn uint(&mut self, name: &str, value: u64);
    /// A floating-point number; -0.0 counts as 0.0, and every NaN as one NaN.
    fn float(&mut self, name: &str, value: f64);
    /// A text.
    fn text(&mut self, name: &str, value: &str);
    /// A digest of an input.
    fn digest(&mut self, name: &str, value: &Digest);
}

/// A thing with a key.
pub trait Walk {
    /// Visits every field that the key holds, always in the same order.
    fn walk(&self, visitor: &mut dyn KeyVisitor);
}

/// The key of `thing`.
pub fn key_of(thing: &dyn Walk) -> Digest {
    let mut hasher = KeyHasher::new();
    thing.walk(&mut hasher);
    hasher.finish()
}

/// Visits a JSON value as a key field; object keys are visited in sorted order.
pub fn walk_json(visitor: &mut dyn KeyVisitor, name: &str, value: &serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Null => visitor.null(name),
        Value::Bool(value) => visitor.bool(name, *value),
        Value::Number(number) => {
            if let Some(value) = number.as_u64() {
                visitor.uint(name, value);
            } else if let Some(value) = number.as_i64() {
                visitor.int(name, value);
            } else {
                visitor.float(name, number.as_f64().unwrap_or(f64::NAN));
            }
        }
        Value::String(value) => visitor.text(name, value),
        Value::Array(items) => {
            visitor.begin_list(name, items.len());
            for item in items {
                walk_json(visitor, "", item);
            }
            visitor.end();
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            visitor.begin_record(name, "object");
            for (key, item) in entries {
                walk_json(visitor, key, item);
            }
            visitor.end();
        }
    }
}

/// Visits a list of texts.
pub fn walk_texts(visitor: &mut dyn KeyVisitor, name: &str, values: &[String]) {
    visitor.begin_list(name, values.len());
    for value in values {
        visitor.text("", value);
    }
    visitor.end();
}

/// The visitor that hashes.
pub struct KeyHasher {
    hasher: blake3::Hasher,
    /// Visited, not hashed yet: blake3 is several times faster on long inputs than on many short ones.
    pending: Vec<u8>,
}

/// So many pending bytes are hashed.
const PENDING_BYTES: usize = 16 << 10;

const END: u8 = 0;
const RECORD: u8 = 1;
const LIST: u8 = 2;
const NULL: u8 = 3;
const BOOL: u8 = 4;
const INT: u8 = 5;
const UINT: u8 = 6;
const FLOAT: u8 = 7;
const TEXT: u8 = 8;
const DIGEST: u8 = 9;

impl KeyHasher {
    /// A hasher that has seen nothing but its domain.
    pub fn new() -> Self {
        KeyHasher { hasher: blake3::Hasher::new(), pending: b"ragstage-key-v1".to_vec() }
    }

    /// The digest of all that was visited.
    pub fn finish(&self) -> Digest {
        Digest(*self.hasher.clone().update(&self.pending).finalize().as_bytes())
    }

    fn update(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= PENDING_BYTES {
            self.hasher.update(&self.pending);
            self.pending.clear();
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.update(&(bytes.len() as u64).to_le_bytes());
        self.update(bytes);
    }

    fn entry(&mut self, kind: u8, name: &str) {
        self.update(&[kind]);
        self.bytes(name.as_bytes());
    }
}

impl Default for KeyHasher {
    fn default() -> Self {
        Self::new()
    }
}

/// The bits that stand for a float in a key.
pub(crate) fn canonical_float(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

impl KeyVisitor for KeyHasher {
    fn begin_record(&mut self, name: &str, tag: &str) {
        self.entry(RECORD, name);
        self.bytes(tag.as_bytes());
    }

    fn begin_list(&mut self, name: &str, len: usize) {
        self.entry(LIST, name);
        self.update(&(len as u64).to_le_bytes());
    }

    fn end(&mut self) {
        self.update(&[END]);
    }

    fn null(&mut self, name: &str) {
        self.entry(NULL, name);
    }

    fn bool(&mut self, name: &str, value: bool) {
        self.entry(BOOL, name);
        self.update(&[u8::from(value)]);
    }

    fn int(&mut self, name: &str, value: i64) {
        self.entry(INT, name);
        self.update(&value.to_le_bytes());
    }

    fn uint(&mut self, name: &str, value: u64) {
        self.entry(UINT, name);
        self.update(&value.to_le_bytes());
    }

    fn float(&mut self, name: &str, value: f64) {
        self.entry(FLOAT, name);
        self.update(&canonical_float(value).to_bits().to_le_bytes());
    }

    fn text(&mut self, name: &str, value: &str) {
        self.entry(TEXT, name);
        self.bytes(value.as_bytes());
    }

    fn digest(&mut self, name: &str, value: &Digest) {
        self.entry(DIGEST, name);
        self.update(&value.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(visit: impl Fn(&mut dyn KeyVisitor)) -> Digest {
        let mut hasher = KeyHasher::new();
        visit(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn types_and_boundaries_are_kept_apart() {
        let keys = [
            hash(|v| v.text("a", "1")),
            hash(|v| v.uint("a", 1)),
            hash(|v| v.int("a", 1)),
            hash(|v| v.float("a", 1.0)),
            hash(|v| v.bool("a", true)),
            hash(|v| v.null("a")),
            hash(|v| v.text("a1", "")),
            hash(|v| {
                v.begin_list("a", 1);
                v.text("", "1");
                v.end();
            }),
            hash(|v| {
                v.begin_record("a", "t");
                v.end();
            }),
        ];
        for (i, a) in keys.iter().enumerate() {
            for b in &keys[i + 1..] {
                assert_ne!(a, b);
            }
        }
    }

    #[test]
    fn zero_has_one_sign() {
        assert_eq!(hash(|v| v.float("x", 0.0)), hash(|v| v.float("x", -0.0)));
    }

    #[test]
    fn the_encoding_is_pinned() {
        // A change of the encoding makes every artifact stale: bump the domain, then this value.
        let key = hash(|v| {
            v.begin_record("", "stage.example");
            v.text("parser", "text");
            v.uint("top_k", 10);
            v.digest("input", &Digest::of(b"x"));
            v.end();
        });
        assert_eq!(key.short(), "c36b09882fe2");
    }
}
