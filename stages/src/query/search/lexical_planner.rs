//! Planning further searches without a model.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::query_words::{QueryWord, query_words};
use crate::artifact::Hit;
use crate::build::full_text::{Analyzer, AnalyzerOptions};
use crate::error::StageError;
use crate::step::Step;

/// How many names of a passage lead to the next search.
const NAMES: usize = 4;

/// Plans by the words of the question. Of each round it takes one passage: that which has the most of the words that no passage
/// taken before has (of equals, the first). The next search is for the words that are still missing, together with names
/// in that passage. The evidence suffices when no word is missing; when a round adds none, there is nothing to go on.
pub(super) struct LexicalPlanner {
    analyzer: Analyzer,
}

/// What the planner knows of one question.
pub(super) struct Chain {
    words: Vec<QueryWord>,
    missing: Vec<QueryWord>,
}

/// What the planner makes of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// The words that the passage taken adds; empty when none does.
    pub added: Vec<String>,
    /// Whether no word is missing.
    pub sufficient: bool,
    /// What to search for next.
    pub next_query: Option<String>,
}

impl LexicalPlanner {
    /// A planner with the English analyzer, whose bigrams serve scripts without blanks.
    pub(super) fn new() -> Result<Self, StageError> {
        let analyzer = Analyzer::new(&AnalyzerOptions::default());
        Ok(LexicalPlanner { analyzer: analyzer.map_err(|why| StageError::encode(Step::Retrieve, why))? })
    }

    /// What is known before the first round.
    pub(super) fn chain(&self, question: &str) -> Chain {
        let mut words: Vec<QueryWord> = Vec::new();
        for word in query_words(&self.analyzer, question) {
            if !words.iter().any(|known| known.term == word.term) {
                words.push(word);
            }
        }
        Chain { missing: words.clone(), words }
    }

    /// Takes the best of `hits` into `chain`.
    pub(super) fn advance(&self, chain: &mut Chain, hits: &[Hit]) -> Plan {
        let mut best: Option<(&Hit, Vec<String>)> = None;
        for hit in hits {
            let terms: HashSet<String> = self.analyzer.terms(&hit.text).into_iter().collect();
            let added: Vec<String> =
                chain.missing.iter().filter(|word| terms.contains(&word.term)).map(|word| word.term.clone()).collect();
            if added.len() > best.as_ref().map_or(0, |(_, most)| most.len()) {
                best = Some((hit, added));
            }
        }
        let Some((hit, terms)) = best else {
            return Plan { added: Vec::new(), sufficient: chain.missing.is_empty(), next_query: None };
        };
        let (added, missing): (Vec<QueryWord>, Vec<QueryWord>) =
            chain.missing.drain(..).partition(|word| terms.contains(&word.term));
        chain.missing = missing;
        let sufficient = chain.missing.is_empty();
        let mut next: Vec<String> = chain.missing.iter().map(|word| word.text.clone()).collect();
        next.extend(self.names(&hit.text, chain));
        Plan {
            added: added.into_iter().map(|word| word.text).collect(),
            sufficient,
            next_query: (!sufficient).then(|| next.join(" ")),
        }
    }

    /// Capitalised words of `text` that open no sentence and are none of the question, in order of appearance.
    fn names(&self, text: &str, chain: &Chain) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for sentence in text.unicode_sentences() {
            for word in sentence.unicode_words().skip(1).filter(|word| word.starts_with(char::is_uppercase)) {
                let terms = self.analyzer.terms(word);
                let asked = terms.iter().all(|term| chain.words.iter().any(|known| known.term == *term));
                if !asked && !names.iter().any(|name| name == word) {
                    names.push(word.to_string());
                }
                if names.len() == NAMES {
                    return names;
                }
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::artifact::Json;

    fn hits(texts: &[&str]) -> Vec<Hit> {
        let hit = |text: &&str| Hit {
            id: text.to_string(),
            text: Arc::from(*text),
            score: None,
            kind: "chunk".to_string(),
            source: Arc::default(),
            metadata: Json::new(),
        };
        texts.iter().map(hit).collect()
    }

    #[test]
    fn a_name_leads_from_one_passage_to_the_next() {
        let planner = LexicalPlanner::new().expect("planner");
        let mut chain = planner.chain("Who was the father of the builder of the lighthouse?");
        let first = hits(&["The quay is long.", "The builder of the lighthouse was Ada Brunt. She came from Hull."]);
        let step = planner.advance(&mut chain, &first);
        assert_eq!(step.added, ["builder", "lighthouse"]);
        assert!(!step.sufficient);
        assert_eq!(step.next_query.as_deref(), Some("father Ada Brunt Hull"));
        let step = planner.advance(&mut chain, &hits(&["Ada Brunt's father was John."]));
        assert_eq!(step, Plan { added: vec!["father".to_string()], sufficient: true, next_query: None });
    }

    #[test]
    fn without_anything_new_there_is_nothing_to_go_on() {
        let planner = LexicalPlanner::new().expect("planner");
        let mut chain = planner.chain("When was the lighthouse built?");
        let nothing = Plan { added: Vec::new(), sufficient: false, next_query: None };
        assert_eq!(planner.advance(&mut chain, &hits(&["The quay is long."])), nothing);
        assert_eq!(planner.advance(&mut chain, &[]), nothing);
        // A question without a word that says anything is answered by anything.
        assert!(planner.advance(&mut planner.chain("What is it?"), &[]).sufficient);
    }
}
