//! One warning.

use serde::Serialize;

/// How many case ids a lint names.
const NAMED: usize = 20;

/// A warning with the cases that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::aggregate::report) struct Lint {
    /// Its name, e.g. `dangling-gold`.
    pub(in crate::aggregate::report) name: &'static str,
    /// What was found, as a lower-case fragment.
    pub(in crate::aggregate::report) message: String,
    /// The ids of the first cases.
    pub(in crate::aggregate::report) cases: Vec<String>,
    /// How many there are: cases, or what the message counts where no case is to be named.
    pub(in crate::aggregate::report) count: u64,
}

/// Cases that have something in common: their number, and the ids of the first.
#[derive(Debug, Default)]
pub(super) struct Cases {
    ids: Vec<String>,
    count: u64,
}

impl Cases {
    /// One more case.
    pub(super) fn add(&mut self, case_id: &str) {
        self.count += 1;
        if self.ids.len() < NAMED {
            self.ids.push(case_id.to_string());
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// What is wrong with them.
    pub(super) fn lint(self, name: &'static str, message: String) -> Lint {
        Lint { name, message, cases: self.ids, count: self.count }
    }
}

/// `count` and the noun, e.g. `2 cases`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
