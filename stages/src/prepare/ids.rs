//! Ids that must be unique in a file.

use std::collections::HashMap;

use crate::error::{InputError, Place};

/// The ids of one kind that were seen so far.
pub(super) struct Ids {
    /// The field, for messages.
    field: &'static str,
    /// Each id with its position and the line that it is on.
    seen: HashMap<String, (u32, u64)>,
}

impl Ids {
    /// No ids of `field` yet.
    pub(super) fn new(field: &'static str) -> Self {
        Ids { field, seen: HashMap::new() }
    }

    /// The field that holds them.
    pub(super) fn field(&self) -> &'static str {
        self.field
    }

    /// Takes `id`, whose row will be at `position`; an error at `place` when it is taken already.
    pub(super) fn take(&mut self, id: &str, position: usize, place: Place, errors: &mut Vec<InputError>) {
        if let Some((_, line)) = self.seen.get(id) {
            let error = InputError::new(place, format!("{} {id:?} is taken by line {line}", self.field));
            errors.push(error.hint("give every row an id of its own"));
            return;
        }
        // A table of more than 2^32 rows fits in no memory; the position is then never looked up.
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        self.seen.insert(id.to_string(), (position, place.line.unwrap_or_default()));
    }

    /// The position of the row with `id`.
    pub(super) fn position(&self, id: &str) -> Option<u32> {
        self.seen.get(id).map(|(position, _)| *position)
    }

    /// An id of the same kind that differs in case or outer blanks only.
    pub(super) fn alike(&self, id: &str) -> Option<&str> {
        let plain = id.trim().to_lowercase();
        self.seen.keys().map(String::as_str).filter(|other| other.trim().to_lowercase() == plain).min()
    }
}
