//! What a passage may be said to speak of.

use std::collections::BTreeMap;

use super::super::canonical::canonical_name;

/// A place in a passage: sentence and word, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Which sentence.
    pub(super) sentence: usize,
    /// Which word of it.
    pub(super) word: usize,
}

/// What kind of form made a candidate one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Capitals.
    Name,
    /// All in capitals.
    Acronym,
    /// Stands in quotes or as code.
    Quoted,
    /// A title or heading.
    Heading,
    /// A word of the text that others gather around.
    Term,
}

impl Form {
    /// The type of the entity.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Form::Name => "name",
            Form::Acronym => "acronym",
            Form::Quoted => "quoted",
            Form::Heading => "heading",
            Form::Term => "term",
        }
    }
}

/// Something that a passage may be said to speak of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    /// The name in canonical form.
    pub(super) canonical: String,
    /// The name as it is first written.
    pub(super) name: String,
    /// What made it a candidate; the first form that is not `Term`.
    pub(super) form: Form,
    /// Where it stands, in the order found.
    pub(super) places: Vec<At>,
    /// How central it is, for terms.
    pub(super) rank: f64,
}

/// The candidates of a passage, in the order found; one per canonical name.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) list: Vec<Candidate>,
    index: BTreeMap<String, usize>,
}

impl Candidates {
    /// Adds a mention of `name`; names without a letter are none.
    pub(super) fn add(&mut self, name: &str, form: Form, at: At) {
        let canonical = canonical_name(name);
        if !canonical.chars().any(char::is_alphabetic) || canonical.chars().count() < 2 {
            return;
        }
        let next = self.list.len();
        let i = *self.index.entry(canonical.clone()).or_insert(next);
        match self.list.get_mut(i) {
            Some(known) => {
                if known.form == Form::Term {
                    known.form = form;
                }
                // A quoted name is found twice at one place.
                if !known.places.contains(&at) {
                    known.places.push(at);
                }
            }
            None => {
                let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
                self.list.push(Candidate { canonical, name, form, places: vec![at], rank: 0.0 });
            }
        }
    }

    /// Adds a term with its rank at all its places.
    pub(super) fn add_term(&mut self, name: &str, rank: f64, places: &[At]) {
        places.iter().for_each(|at| self.add(name, Form::Term, *at));
        let known = self.index.get(&canonical_name(name)).and_then(|i| self.list.get_mut(*i));
        if let Some(known) = known {
            known.rank = known.rank.max(rank);
        }
    }

    /// At most `most` candidates: names and the like, the most frequent first, but a third of the places is for terms, the most
    /// central first, as long as there are any. In the order found.
    pub(super) fn best(mut self, most: usize) -> Vec<Candidate> {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        let of = |i: &usize| self.list.get(*i);
        let mut names: Vec<usize> = Vec::new();
        let mut terms: Vec<usize> = Vec::new();
        for i in order.drain(..) {
            let is_term = of(&i).is_some_and(|candidate| candidate.form == Form::Term);
            if is_term { terms.push(i) } else { names.push(i) }
        }
        let count = |i: &usize| of(i).map_or(0, |candidate| candidate.places.len());
        let rank = |i: &usize| of(i).map_or(0.0, |candidate| candidate.rank);
        names.sort_by(|a, b| count(b).cmp(&count(a)).then(a.cmp(b)));
        terms.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.cmp(b)));
        names.truncate(most - terms.len().min(most / 3));
        terms.truncate(most - names.len());
        let mut kept: Vec<usize> = names.into_iter().chain(terms).collect();
        kept.sort_unstable();
        let mut position = 0;
        self.list.retain(|_| {
            position += 1;
            kept.binary_search(&(position - 1)).is_ok()
        });
        self.list
    }
}
