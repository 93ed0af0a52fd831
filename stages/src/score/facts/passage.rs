//! What a response rests on: retrieved or cited passages, cut into facts.

use std::borrow::Cow;

use crate::artifact::Hit;
use crate::score::answers::cited_hit;
use crate::score::evaluator::ResponseView;
use crate::score::identity::Identity;
use crate::score::normal::normal_form;
use crate::score::ranked_unit::RankedUnit;
use crate::score::ranking::top;

/// A passage that a response rests on.
pub(super) struct FactPassage<'a> {
    /// Where it is from.
    pub(super) hit: Cow<'a, Hit>,
    /// The quoted text, where it is quoted; else the hit's.
    quote: Option<&'a str>,
}

/// The passages of a response.
pub(super) struct Prediction<'a> {
    /// The passages, in the response's order.
    pub(super) passages: Vec<FactPassage<'a>>,
    /// What they are: `citations` or `results`.
    pub(super) from: &'static str,
}

impl<'a> Prediction<'a> {
    /// What `response` rests on, as the option `from` and the cut-off of `identity` say.
    pub(super) fn of(identity: &Identity, response: &ResponseView<'a>) -> Self {
        if identity.is("from", "citations") || (identity.is("from", "either") && !response.citations.is_empty()) {
            let cited = response.citations.iter().map(|citation| FactPassage {
                hit: Cow::Owned(cited_hit(citation, response.results)),
                quote: citation.text.as_deref().filter(|text| !text.trim().is_empty()),
            });
            return Prediction { passages: cited.collect(), from: "citations" };
        }
        let hits = top(response.results, identity.cutoff).iter();
        let passages = hits.map(|hit| FactPassage { hit: Cow::Borrowed(hit), quote: None }).collect();
        Prediction { passages, from: "results" }
    }

    /// Whether there are passages and none of them has a text.
    pub(super) fn is_without_texts(&self) -> bool {
        !self.passages.is_empty() && self.passages.iter().all(|passage| passage.text().trim().is_empty())
    }
}

impl FactPassage<'_> {
    fn text(&self) -> &str {
        self.quote.unwrap_or(&self.hit.text)
    }

    /// What its document is told apart by from those of other passages.
    pub(super) fn document(&self) -> Cow<'_, str> {
        RankedUnit::Document.of_hit(&self.hit)
    }

    /// The sentences, in normal form: the lines of the text that are not blank. A first line of a document that a blank line
    /// follows is its title, and no sentence.
    pub(super) fn sentences(&self) -> Vec<String> {
        let begins = self.quote.is_none() && self.hit.source.get("start").is_none_or(|start| start.as_u64() == Some(0));
        let mut lines = self.text().lines().skip_while(|line| line.trim().is_empty()).peekable();
        if begins {
            let mut ahead = lines.clone().skip(1);
            if ahead.next().is_some_and(|line| line.trim().is_empty()) {
                lines.next();
            }
        }
        lines.map(normal_form).filter(|line| !line.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sentences(text: &str, source: serde_json::Value) -> Vec<String> {
        let hit: Hit = serde_json::from_value(json!({"id": "c", "text": text, "source": source})).expect("a hit");
        FactPassage { hit: Cow::Owned(hit), quote: None }.sentences()
    }

    #[test]
    fn lines_are_sentences_and_the_title_is_none() {
        let text = "\nNeil Peart\n\nNeil Peart  was a drummer.\n He wrote LYRICS.\n";
        assert_eq!(sentences(text, json!({})), ["neil peart was a drummer.", "he wrote lyrics."]);
        assert_eq!(sentences(text, json!({"start": 0})).len(), 2);
        // In the middle of a document there is no title.
        assert_eq!(sentences(text, json!({"start": 7})).len(), 3);
        assert_eq!(sentences("one\ntwo", json!({})), ["one", "two"]);
        assert_eq!(sentences("one", json!({})), ["one"]);
        assert!(sentences(" \n", json!({})).is_empty());
    }

    #[test]
    fn a_quote_has_no_title() {
        let hit: Hit = serde_json::from_value(json!({"id": "c", "text": "x"})).expect("a hit");
        let passage = FactPassage { hit: Cow::Owned(hit), quote: Some("Neil Peart\n\nHe drums.") };
        assert_eq!(passage.sentences(), ["neil peart", "he drums."]);
    }
}
