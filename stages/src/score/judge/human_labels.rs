//! What people say of the cases that a judge judges.

use ragstage_cache::{KeyVisitor, Walk};

/// A label that a person gave a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanLabel {
    /// The case.
    pub case_id: String,
    /// The label: a number or a word, as the judge's scores are.
    pub label: String,
    /// Its line in the file.
    pub line: u64,
}

/// The labels of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanLabels {
    /// The file's name, for messages; in no key.
    pub file: String,
    /// The labels in the file's order, each case once.
    pub rows: Vec<HumanLabel>,
}

impl Walk for HumanLabels {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_list("labels", self.rows.len());
        for row in &self.rows {
            v.text("", &row.case_id);
            v.text("", &row.label);
            v.uint("", row.line);
        }
        v.end();
    }
}
