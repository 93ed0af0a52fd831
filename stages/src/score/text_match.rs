//! The texts of hits, in the forms in which gold texts are looked for in them.

use std::sync::OnceLock;

use memchr::memmem::Finder;

use super::evidence::TokenSet;
use super::normal::normal_form;
use crate::artifact::Hit;
use crate::python::is_whitespace;

/// The texts of some hits in the forms that evaluators look into, each made when it is first asked for.
#[derive(Debug)]
pub struct Passages<'a> {
    texts: Vec<(&'a Hit, Forms)>,
}

#[derive(Debug, Default)]
struct Forms {
    normal: OnceLock<String>,
    unspaced: OnceLock<String>,
    words: OnceLock<TokenSet>,
}

impl<'a> Passages<'a> {
    /// The texts of `hits`, in their order.
    pub fn new(hits: &'a [Hit]) -> Self {
        Passages { texts: hits.iter().map(|hit| (hit, Forms::default())).collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Passage<'_>> {
        self.texts.iter().map(|(hit, forms)| Passage { hit, forms })
    }
}

/// One hit with its text.
#[derive(Clone, Copy)]
pub(crate) struct Passage<'a> {
    pub(crate) hit: &'a Hit,
    forms: &'a Forms,
}

impl Passage<'_> {
    /// The text in normal form.
    pub(crate) fn normal(&self) -> &str {
        self.forms.normal.get_or_init(|| normal_form(&self.hit.text))
    }

    /// The text without white space.
    pub(crate) fn unspaced(&self) -> &str {
        self.forms.unspaced.get_or_init(|| unspaced(&self.hit.text))
    }

    /// The words of the text.
    pub(crate) fn words(&self) -> &TokenSet {
        self.forms.words.get_or_init(|| TokenSet::of(&self.hit.text))
    }

    /// Whether the passage holds the gold text (in normal form). The other way round is no match: a passage of one letter
    /// would be found in any gold text.
    pub(crate) fn holds(&self, gold: &Finder<'_>) -> bool {
        !gold.needle().is_empty() && gold.find(self.normal().as_bytes()).is_some()
    }

    /// As Heta Evaluation has it: whether one of the two texts holds the other.
    pub(crate) fn overlaps(&self, gold: &str) -> bool {
        let normal = self.normal();
        !gold.is_empty() && !normal.is_empty() && (normal.contains(gold) || gold.contains(normal))
    }
}

/// `text` without white space: two texts that differ in where lines are broken have one such form.
pub(crate) fn unspaced(text: &str) -> String {
    text.chars().filter(|c| !is_whitespace(*c)).collect()
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
            passages.iter().map(|passage| (passage.holds(&Finder::new(gold)), passage.overlaps(gold))).collect()
        };
        assert_eq!(matches("high tide at noon"), [(true, true), (false, true), (false, false)]);
        assert_eq!(matches(""), [(false, false); 3]);
    }
}
