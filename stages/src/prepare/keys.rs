//! The keys that an object of a row may have, and those that are a mistake.

use crate::nearest::{misspelt, nearest};

/// What an object may hold.
#[derive(Debug)]
pub(super) struct Keys {
    /// The keys that are read.
    pub known: &'static [&'static str],
    /// An object below this one, and its keys: one of them up here is a mistake.
    pub below: Option<(&'static str, &'static [&'static str])>,
    /// What becomes of a key that is no slip of the pen.
    pub others: Others,
}

/// What becomes of a key that nobody reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// It is the dataset's own and stays unread (spec/heta 4.1).
    Ignored,
    /// It is an error: the format is ours alone.
    Refused,
}

/// A row of the documents file.
pub(super) static DOCUMENT: Keys = Keys {
    known: &["document_id", "name", "media_type", "text", "data_base64", "path", "source_uri", "metadata"],
    below: None,
    others: Others::Ignored,
};

/// A row of the cases file.
pub(super) static CASE: Keys = Keys {
    known: &["case_id", "query", "expected", "labels", "metadata"],
    below: Some(("expected", &["answers", "evidence", "value"])),
    others: Others::Ignored,
};

/// What is expected of a case.
pub(super) static EXPECTED: Keys =
    Keys { known: &["answers", "evidence", "value", "metadata"], below: None, others: Others::Ignored };

/// A piece of evidence.
pub(super) static EVIDENCE: Keys =
    Keys { known: &["reference_id", "locator", "text", "metadata"], below: None, others: Others::Ignored };

/// A row of the units file.
pub(super) static UNIT: Keys =
    Keys { known: &["unit_id", "document_ids", "case_ids", "metadata"], below: None, others: Others::Refused };

/// The manifest that a program prints.
pub(super) static MANIFEST: Keys = Keys {
    known: &[
        "name",
        "version",
        "split",
        "task_type",
        "build_scope",
        "homepage",
        "license",
        "citation",
        "metadata",
        "default_evaluators",
    ],
    below: None,
    others: Others::Refused,
};

/// What other formats call our keys: no slip of the pen, so worth a word only where ours is missing.
const OTHER_NAMES: [(&str, &[&str]); 4] = [
    ("query", &["question", "input", "user_input"]),
    ("case_id", &["id", "_id", "query_id"]),
    ("document_id", &["id", "_id", "doc_id"]),
    ("unit_id", &["id", "_id"]),
];

impl Keys {
    /// The known key that the unknown key `key` is meant to be.
    pub(super) fn meant(&self, key: &str) -> Option<&'static str> {
        if self.known.contains(&key) { None } else { misspelt(key, self.known.iter().copied()) }
    }

    /// Why `key` is a mistake, as advice; `None` where it is none.
    pub(super) fn advice(&self, key: &str) -> Option<String> {
        if self.known.contains(&key) {
            return None;
        }
        if let Some(meant) = self.meant(key) {
            return Some(format!("did you mean `{meant}`?"));
        }
        if let Some((object, keys)) = self.below {
            if keys.contains(&key) {
                return Some(format!("`{key}` belongs under `{object}`"));
            }
            let singular = |key: &str| key.trim_end_matches('s').to_lowercase();
            if let Some(meant) = keys.iter().find(|meant| singular(meant) == singular(key)) {
                return Some(format!("did you mean `{meant}`? it belongs under `{object}`"));
            }
        }
        (self.others == Others::Refused).then(|| match nearest(key, self.known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let known: Vec<String> = self.known.iter().map(|key| format!("`{key}`")).collect();
                format!("the keys are {}", known.join(", "))
            }
        })
    }
}

/// What other formats call `key`.
pub(super) fn other_names(key: &str) -> &'static [&'static str] {
    OTHER_NAMES.iter().find(|(own, _)| *own == key).map_or(&[], |(_, names)| names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_mistakes_and_the_datasets_own_keys_are_not() {
        for (keys, key, advice) in [
            (&DOCUMENT, "docment_id", Some("did you mean `document_id`?")),
            (&DOCUMENT, "txt", Some("did you mean `text`?")),
            (&DOCUMENT, "ignored_field", None),
            (&DOCUMENT, "title", None),
            (&CASE, "label", Some("did you mean `labels`?")),
            (&CASE, "extra", None),
            (&CASE, "answers", Some("`answers` belongs under `expected`")),
            (&CASE, "answer", Some("did you mean `answers`? it belongs under `expected`")),
            (&CASE, "valid", None),
            (&EXPECTED, "answer", Some("did you mean `answers`?")),
            (&EXPECTED, "evidences", Some("did you mean `evidence`?")),
            (&EXPECTED, "note", None),
            (&EVIDENCE, "reference_ids", Some("did you mean `reference_id`?")),
            (&EVIDENCE, "locators", Some("did you mean `locator`?")),
            (&UNIT, "documents", Some("did you mean `document_ids`?")),
            (&UNIT, "x", Some("the keys are `unit_id`, `document_ids`, `case_ids`, `metadata`")),
        ] {
            assert_eq!(keys.advice(key).as_deref(), advice, "{key}");
        }
        for keys in [&DOCUMENT, &CASE, &EXPECTED, &EVIDENCE, &UNIT, &MANIFEST] {
            assert!(keys.known.iter().all(|key| keys.advice(key).is_none() && keys.meant(key).is_none()));
        }
    }
}
