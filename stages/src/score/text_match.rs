//! Gold passages against the texts of hits.

use std::sync::OnceLock;

use super::normal::normal_form;
use crate::artifact::Hit;

/// The texts of some hits in normal form, each made when it is first asked for.
pub(crate) struct Passages<'a> {
    texts: Vec<(&'a Hit, OnceLock<String>)>,
}

impl<'a> Passages<'a> {
    pub(crate) fn new(hits: &'a [Hit]) -> Self {
        Passages { texts: hits.iter().map(|hit| (hit, OnceLock::new())).collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Passage<'_>> {
        self.texts.iter().map(|(hit, normal)| Passage { hit, normal })
    }
}

/// One hit with its text.
#[derive(Clone, Copy)]
pub(crate) struct Passage<'a> {
    pub(crate) hit: &'a Hit,
    normal: &'a OnceLock<String>,
}

impl Passage<'_> {
    /// The text in normal form.
    pub(crate) fn normal(&self) -> &str {
        self.normal.get_or_init(|| normal_form(&self.hit.text))
    }

    /// Whether the passage holds the gold text (in normal form). The other way round is no match: a passage of one letter
    /// would be found in any gold text.
    pub(crate) fn holds(&self, gold: &str) -> bool {
        !gold.is_empty() && self.normal().contains(gold)
    }

    /// As Heta Evaluation has it: whether one of the two texts holds the other.
    pub(crate) fn overlaps(&self, gold: &str) -> bool {
        let normal = self.normal();
        !gold.is_empty() && !normal.is_empty() && (normal.contains(gold) || gold.contains(normal))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_variant_matches_both_ways() {
        let hit = |text: &str| -> Hit { serde_json::from_value(json!({"id": "c", "text": text})).expect("a hit") };
        let hits = [hit("Report:  High TIDE at\nnoon."), hit("a"), hit(" ")];
        let passages = Passages::new(&hits);
        let matches = |gold: &str| -> Vec<(bool, bool)> {
            passages.iter().map(|passage| (passage.holds(gold), passage.overlaps(gold))).collect()
        };
        assert_eq!(matches("high tide at noon"), [(true, true), (false, true), (false, false)]);
        assert_eq!(matches(""), [(false, false); 3]);
    }
}
