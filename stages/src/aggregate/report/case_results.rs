//! How many case results a report lists.

use std::fmt;

use ragstage_cache::{KeyVisitor, Walk};

/// What `report.json` lists of the case results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseResults {
    /// All of them.
    All,
    /// All of them up to this number (cases times queries), beyond it those that failed and the worst of each measure.
    UpTo(u64),
}

impl Default for CaseResults {
    fn default() -> Self {
        CaseResults::UpTo(10_000)
    }
}

impl Walk for CaseResults {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        match self {
            CaseResults::All => v.text("case_results", "all"),
            CaseResults::UpTo(most) => v.uint("case_results", *most),
        }
    }
}

impl fmt::Display for CaseResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaseResults::All => f.write_str("all"),
            CaseResults::UpTo(most) => most.fmt(f),
        }
    }
}
