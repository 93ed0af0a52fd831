//! What is wrong with the records of a file, told for the first of them.

use crate::error::{InputError, Place};

/// How many records of a file are told of.
const TOLD: usize = 20;

/// The faults of a file's records, in their order. When very many records are wrong they are all wrong in the same way, and a
/// file may have all of them on one line: so the first ones are told and the others counted.
pub(super) struct RecordFaults {
    /// What the records are called, in the plural.
    what: &'static str,
    told: Vec<InputError>,
    records: usize,
    /// The place of the last record that was not told of.
    untold: Option<Place>,
}

impl RecordFaults {
    /// None yet.
    pub(super) fn new(what: &'static str) -> Self {
        RecordFaults { what, told: Vec::new(), records: 0, untold: None }
    }

    /// Adds what is wrong with one record, if anything.
    pub(super) fn add(&mut self, mut found: Vec<InputError>) {
        let Some(first) = found.first() else { return };
        self.records += 1;
        if self.records <= TOLD {
            self.told.append(&mut found);
        } else if self.untold.is_none() {
            self.untold = Some(Place { column: None, ..first.place.clone() });
        }
    }

    /// Adds them to `errors`.
    pub(super) fn append_to(mut self, errors: &mut Vec<InputError>) {
        errors.append(&mut self.told);
        if let Some(place) = self.untold {
            let more = self.records - TOLD;
            errors.push(InputError::new(place, format!("... and {more} more {}", self.what)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_records_are_told_and_the_others_counted() {
        let mut faults = RecordFaults::new("articles");
        let error = |message: &str| InputError::new(Place::at("f", 1, 7), message);
        for record in 0..1000 {
            faults.add(if record % 2 == 0 { vec![error("a"), error("b")] } else { Vec::new() });
        }
        let mut errors = vec![error("before")];
        faults.append_to(&mut errors);
        assert_eq!(errors.len(), 1 + 2 * TOLD + 1);
        assert_eq!(errors[41].to_string(), "f:1: ... and 480 more articles");
    }

    #[test]
    fn few_are_all_told() {
        let mut faults = RecordFaults::new("articles");
        (0..TOLD).for_each(|_| faults.add(vec![InputError::new(Place::file("f"), "x")]));
        let mut errors = Vec::new();
        faults.append_to(&mut errors);
        assert_eq!(errors.len(), TOLD);
    }
}
