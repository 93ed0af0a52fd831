//! `dangling-gold`: gold that names no document, or one that its case's unit does not have. It is never found, and without a
//! word each evaluator that reads it gives 0.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::known_documents::KnownDocuments;
use super::lint::{Cases, Lint, counted};
use crate::aggregate::case_list::CaseList;
use crate::artifact::{Gold, Golds, Hit};
use crate::score::{hit_ids, id_text, raw_key_document};

const NAME: &str = "dangling-gold";

/// Names in the gold that do not lead to a document.
pub(super) struct DanglingGold {
    /// Names of nothing in the benchmark, with the entries whose gold they are in. A reference may also be the id of a passage,
    /// or a system's own id of a document, so a name that a result bears leaves this map.
    nothing: BTreeMap<String, Vec<usize>>,
    /// Entries whose gold names documents of other units, with such a name.
    elsewhere: BTreeMap<usize, String>,
    /// Whether any gold names anything.
    names_documents: bool,
}

impl DanglingGold {
    /// Looks at the gold of all cases.
    pub(super) fn of(cases: &CaseList, golds: &Golds, documents: &KnownDocuments<'_>) -> Self {
        let mut found = DanglingGold { nothing: BTreeMap::new(), elsewhere: BTreeMap::new(), names_documents: false };
        for (number, unit) in cases.units.units.iter().enumerate() {
            let own: Option<HashSet<u32>> = unit.document_rows.as_ref().map(|rows| rows.iter().copied().collect());
            for entry in cases.range(number) {
                let Some(gold) = golds.rows.get(cases.entries[entry].row) else { continue };
                // What is missing there has been told, case by case.
                if unit.skipped.contains_key(&gold.case_id) {
                    continue;
                }
                for name in names(gold) {
                    found.names_documents = true;
                    match name.row(documents) {
                        None => {
                            let entries = found.nothing.entry(name.into_text()).or_default();
                            if entries.last() != Some(&entry) {
                                entries.push(entry);
                            }
                        }
                        Some(row) if own.as_ref().is_some_and(|own| !own.contains(&row)) => {
                            found.elsewhere.entry(entry).or_insert_with(|| name.into_text());
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        found
    }

    /// Whether any gold names a document, or what should be one.
    pub(super) fn names_documents(&self) -> bool {
        self.names_documents
    }

    /// Looks at results.
    pub(super) fn see(&mut self, hits: &[Hit]) {
        if self.nothing.is_empty() {
            return;
        }
        for id in hits.iter().flat_map(hit_ids) {
            self.nothing.remove(id.as_ref());
        }
    }

    /// What is left.
    pub(super) fn lints(self, cases: &CaseList) -> Vec<Lint> {
        let mut lints = Vec::new();
        let mut add = |entries: BTreeSet<usize>, what: &str, example: &str| {
            let mut named = Cases::default();
            for entry in entries {
                named.add(cases.query(entry).case_id);
            }
            let of = counted(named.count(), "case");
            lints.push(named.lint(NAME, format!("the gold of {of} names {what}, such as {example:?}")));
        };
        // The example is of the first case, as the ids are.
        if let Some((example, _)) = self.nothing.iter().min_by_key(|(_, entries)| entries.first()) {
            let entries = self.nothing.values().flatten().copied().collect();
            add(entries, "what is no document of the benchmark and in no result", example);
        }
        if let Some(example) = self.elsewhere.values().next() {
            add(self.elsewhere.keys().copied().collect(), "a document that is not in the case's own unit", example);
        }
        lints
    }
}

/// What gold calls a document.
enum Name {
    /// Its id or its source key.
    Whole(String),
    /// The beginning of its source key.
    Prefix(String),
}

impl Name {
    fn row(&self, documents: &KnownDocuments<'_>) -> Option<u32> {
        match self {
            Name::Whole(name) => documents.row(name),
            Name::Prefix(prefix) => {
                let row = documents.row(raw_key_document(prefix)?)?;
                documents.document(row)?.source_key.starts_with(prefix.as_str()).then_some(row)
            }
        }
    }

    fn into_text(self) -> String {
        match self {
            Name::Whole(text) | Name::Prefix(text) => text,
        }
    }
}

/// All that the evidence and the judgements of `gold` call documents.
fn names(gold: &Gold) -> Vec<Name> {
    let mut names = Vec::new();
    for evidence in &gold.evidence {
        names.extend(evidence.reference().map(|reference| Name::Whole(reference.to_string())));
        let located = |key: &str| evidence.locator.get(key).and_then(id_text).map(|text| text.into_owned());
        names.extend(["document_id", "source_key", "object_key"].into_iter().filter_map(located).map(Name::Whole));
        // A prefix may stop short of a document.
        let prefix = located("source_key_prefix").filter(|prefix| raw_key_document(prefix).is_some());
        names.extend(prefix.map(Name::Prefix));
    }
    if let Some(Value::Object(judgements)) = gold.metadata.get("judgements") {
        // That a document is not relevant is true of one that does not exist.
        let relevant = judgements.iter().filter(|(_, grade)| grade.as_f64().is_none_or(|grade| grade > 0.0));
        names.extend(relevant.map(|(document, _)| Name::Whole(document.clone())));
    }
    names
}
