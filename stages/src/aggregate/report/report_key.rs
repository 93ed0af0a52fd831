//! Where an object store keeps a report (spec/heta 2, report key).

use crate::python::{is_whitespace, strip};

/// A part of a path may have at most so many bytes on every file system that matters.
const LONGEST_PART: usize = 255;

/// The key of the report `report_id` over the knowledge bases that `base` names. Both are in lower case with `_` for white
/// space, and nothing else is changed: a slash in the id makes folders. That is another rule than Heta's own for the rest
/// of what it keeps of a knowledge base (spec/heta 9, number 19).
pub(super) fn report_key(base: &str, report_id: &str) -> String {
    // What an object store makes of empty parts and of `.`.
    let id = lowered(report_id);
    let parts: Vec<&str> = id.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("_heta/knowledge_bases/{}/evaluations/{}/report.json", lowered(base), parts.join("/"))
}

/// Why a report cannot be called `report_id`; `None` where it can. With what is accepted no key leaves its folder.
pub fn refuse_report_id(report_id: &str) -> Option<String> {
    let id = strip(report_id);
    let found = |what: &str| Some(format!("expected an id of a report, found {what}"));
    if id.is_empty() {
        return found("a blank one");
    }
    if id.contains('\\') {
        return found("a backslash in it");
    }
    if let Some(c) = id.chars().find(|c| c.is_control() && !is_whitespace(*c)) {
        return found(&format!("the character {c:?} in it"));
    }
    if id.starts_with('/') {
        return found("an absolute path");
    }
    let lowered = lowered(id);
    let mut parts = lowered.split('/').filter(|part| !matches!(*part, "" | "."));
    if parts.clone().any(|part| part == "..") {
        return found("`..` in it");
    }
    if parts.clone().next().is_none() {
        return found("one without a name");
    }
    parts.find(|part| part.len() > LONGEST_PART).and_then(|part| found(&format!("a part of {} bytes", part.len())))
}

fn lowered(text: &str) -> String {
    let mut lowered = String::with_capacity(text.len());
    let mut in_space = false;
    for c in strip(text).to_lowercase().chars() {
        let space = is_whitespace(c);
        match (space, in_space) {
            (false, _) => lowered.push(c),
            (true, false) => lowered.push('_'),
            (true, true) => {}
        }
        in_space = space;
    }
    lowered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_recorded_report() {
        assert_eq!(
            report_key("Demo KB-v1", "Example Report"),
            "_heta/knowledge_bases/demo_kb-v1/evaluations/example_report/report.json"
        );
        assert_eq!(
            report_key("a_  b", " Nightly/2026 \t 12//./1 "),
            "_heta/knowledge_bases/a__b/evaluations/nightly/2026_12/1/report.json"
        );
    }

    #[test]
    fn ids_stay_below_their_folder() {
        for good in ["Example Report", "nightly/2026-12-01", "..a", "a/./b", "海港"] {
            assert_eq!(refuse_report_id(good), None, "{good}");
        }
        for bad in ["", " ", "/etc", "..", "a/../b", "a/ .. /b/..", "a\\b", "a\u{0}b", ".", "./.", &"x".repeat(256)] {
            assert!(refuse_report_id(bad).is_some(), "{bad:?}");
        }
    }
}
