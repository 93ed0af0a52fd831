//! The gold facts of a case, and which of them a response predicts.

use std::collections::BTreeSet;

use super::agreement::Agreement;
use super::passage::{FactPassage, Prediction};
use crate::artifact::{Evidence, Gold, Hit};
use crate::score::evidence::refers;
use crate::score::identity::Identity;
use crate::score::locator::decide;
use crate::score::normal::normal_form;

/// What a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactUnit {
    /// A sentence of a document.
    Sentence,
    /// A document.
    Document,
}

impl FactUnit {
    /// The one that the option `unit` names.
    pub(super) fn of(identity: &Identity) -> Self {
        if identity.is("unit", "document") { FactUnit::Document } else { FactUnit::Sentence }
    }
}

/// A gold fact: pieces of evidence, several where they are of one document and documents count.
struct Fact<'a> {
    /// The first place in the case's evidence.
    place: usize,
    pieces: Vec<&'a Evidence>,
    /// The sentence in normal form.
    sentence: String,
    /// The document's title in normal form; empty where the evidence does not have it.
    title: String,
}

/// The gold facts of a case.
pub(super) struct Facts<'a> {
    unit: FactUnit,
    facts: Vec<Fact<'a>>,
}

/// Which facts a response predicts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Predicted {
    /// Places in the case's evidence of the gold facts among them.
    pub(super) found: BTreeSet<usize>,
    /// Places of the other gold facts.
    pub(super) missing: BTreeSet<usize>,
    /// The others: document and sentence, which is empty where documents count.
    pub(super) wrong: BTreeSet<(String, String)>,
}

impl Predicted {
    /// How they agree with the gold.
    pub(super) fn agreement(&self) -> Agreement {
        Agreement { right: self.found.len(), wrong: self.wrong.len(), missing: self.missing.len() }
    }
}

impl<'a> Facts<'a> {
    /// The facts in `gold`. Of evidence without a text no sentence is known, and of evidence that says nothing of where it is
    /// no document.
    pub(super) fn of(gold: &'a Gold, unit: FactUnit) -> Self {
        let mut facts: Vec<Fact<'a>> = Vec::new();
        for (place, piece) in gold.evidence.iter().enumerate() {
            let sentence = piece.text.as_deref().map(normal_form).unwrap_or_default();
            match unit {
                FactUnit::Sentence if sentence.is_empty() => {}
                FactUnit::Sentence => {
                    let title = piece.metadata.get("title").and_then(|title| title.as_str());
                    let title = title.map(normal_form).unwrap_or_default();
                    facts.push(Fact { place, pieces: vec![piece], sentence, title });
                }
                FactUnit::Document => {
                    if piece.reference_id.as_deref().is_none_or(|id| id.trim().is_empty()) && piece.locator.is_empty() {
                        continue;
                    }
                    let same = |fact: &&mut Fact<'a>| {
                        fact.pieces.first().is_some_and(|known| {
                            (&known.reference_id, &known.locator) == (&piece.reference_id, &piece.locator)
                        })
                    };
                    match facts.iter_mut().find(same) {
                        Some(fact) => fact.pieces.push(piece),
                        None => facts.push(Fact {
                            place,
                            pieces: vec![piece],
                            sentence: String::new(),
                            title: String::new(),
                        }),
                    }
                }
            }
        }
        Facts { unit, facts }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Which of them, and which others, `prediction` holds.
    pub(super) fn predicted(&self, prediction: &Prediction<'_>) -> Predicted {
        let mut predicted = Predicted::default();
        for passage in &prediction.passages {
            match self.unit {
                FactUnit::Document => self.document(passage, &mut predicted),
                FactUnit::Sentence => {
                    let here: Vec<&Fact<'_>> =
                        self.facts.iter().filter(|fact| is_from(fact, &passage.hit) != Some(false)).collect();
                    for sentence in passage.sentences() {
                        sentences(&here, passage, sentence, &mut predicted);
                    }
                }
            }
        }
        let all = self.facts.iter().map(|fact| fact.place);
        predicted.missing = all.filter(|place| !predicted.found.contains(place)).collect();
        predicted
    }

    fn document(&self, passage: &FactPassage<'_>, predicted: &mut Predicted) {
        let places: Vec<usize> =
            self.facts.iter().filter(|fact| is_from(fact, &passage.hit) == Some(true)).map(|fact| fact.place).collect();
        if places.is_empty() {
            predicted.wrong.insert((passage.document().into_owned(), String::new()));
        }
        predicted.found.extend(places);
    }
}

/// Whether `hit` is of the fact's document; `None` where that cannot be compared.
fn is_from(fact: &Fact<'_>, hit: &Hit) -> Option<bool> {
    let of = |piece: &&Evidence| decide(&piece.locator, hit).or_else(|| refers(piece, hit));
    fact.pieces.iter().map(of).max().flatten()
}

/// The facts that a line stands for, of which `here` may be: those that it is; else those that it holds, and one that is wrong
/// where it holds anything beside them; else the first of which it is a part, for chunks and quotes may begin within a
/// sentence; else one that is wrong.
fn sentences(here: &[&Fact<'_>], passage: &FactPassage<'_>, line: String, predicted: &mut Predicted) {
    let is: Vec<usize> = here.iter().filter(|fact| fact.sentence == line).map(|fact| fact.place).collect();
    if !is.is_empty() {
        predicted.found.extend(is);
        return;
    }
    // Longer ones first: a sentence may be a part of another.
    let mut held: Vec<&&Fact<'_>> = here.iter().filter(|fact| line.contains(&fact.sentence)).collect();
    held.sort_by_key(|fact| std::cmp::Reverse(fact.sentence.len()));
    let mut rest = line.clone();
    let mut holds = false;
    for fact in &held {
        if rest.contains(&fact.sentence) {
            rest = rest.replacen(&fact.sentence, "\n", 1);
            predicted.found.insert(fact.place);
            holds = true;
        }
    }
    if holds {
        let title = |part: &str| held.iter().any(|fact| fact.title == part);
        let parts = rest.split('\n').map(str::trim);
        if parts.into_iter().any(|part| part.contains(char::is_alphanumeric) && !title(part)) {
            predicted.wrong.insert((passage.document().into_owned(), line));
        }
        return;
    }
    match here.iter().find(|fact| fact.sentence.contains(&line)) {
        Some(fact) => {
            predicted.found.insert(fact.place);
        }
        None => {
            predicted.wrong.insert((passage.document().into_owned(), line));
        }
    }
}
