//! Which entities and relations a query means, by its words.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Fact, FactHit, GraphFacts};
use crate::artifact::Relation;
use crate::build::full_text::{Analyzer, AnalyzerOptions};
use crate::build::graph::{canonical_name, is_vague_type};

/// How much a word counts that stands in a description and not in a name.
const DESCRIBED: f64 = 0.5;
/// How much the words of both ends of a relation count, which are hits themselves.
const RELATED: f64 = 0.5;
/// Most words of a name that is looked up as it is.
const MOST_WORDS: usize = 6;

/// The words of a graph.
///
/// - idf of a word: `ln(1 + (N - df + 0.5) / (df + 0.5))`, where N is the number of chunks, and df of those that speak of an entity
///   with this word or of a relation that is described with it.
/// - An entity gets, for the best of its names (aliases are names too), the idf of the words that the query has, times their share
///   in the idf of the name; and half the idf of other words of the query that its description, subtype or type has. A name that
///   stands in the query word by word has all its words there, even where those are stop words.
/// - A relation is a hit where the query has two different words of two of these: one end, the other end, what is said of them. It
///   gets half the idf of the words of its ends that the query has, times their share, and half the idf of other words of the
///   query that are said of it.
pub(in super::super) struct LexicalMatch {
    analyzer: Analyzer,
    /// Words in byte order, each with its number.
    terms: BTreeMap<String, usize>,
    idf: Vec<f64>,
    /// By entity: the words of each of its names.
    names: Vec<Vec<Vec<usize>>>,
    /// By entity, then by relation: the words that are said of it.
    said_of_entity: Vec<Vec<usize>>,
    said_of_relation: Vec<Vec<usize>>,
    /// By word: the entities that have it in a name or description; the relations that have it in what is said.
    entities_with: Vec<Vec<usize>>,
    relations_with: Vec<Vec<usize>>,
    /// Canonical names, with the entity and which of its names it is.
    by_name: BTreeMap<String, Vec<(usize, usize)>>,
    /// By entity: what it counts where its name is of stop words only.
    entity_idf: Vec<f64>,
}

/// The words of one fact, before they are numbered.
struct Words {
    names: Vec<Vec<String>>,
    said: Vec<String>,
}

impl LexicalMatch {
    /// The words of a graph.
    ///
    /// # Errors
    /// Only through a fault of ours: there is no such analyzer.
    pub(in super::super) fn new(facts: &GraphFacts) -> Result<Self, String> {
        let analyzer = Analyzer::new(&AnalyzerOptions::default())?;
        let mut by_name: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        let mut of_entities: Vec<Words> = Vec::with_capacity(facts.entities.rows.len());
        for (number, entity) in facts.entities.rows.iter().enumerate() {
            let aliases = entity.attributes.get("aliases").and_then(|list| list.as_array()).into_iter().flatten();
            let names: Vec<&str> =
                std::iter::once(entity.name.as_str()).chain(aliases.filter_map(|alias| alias.as_str())).collect();
            for (which, name) in names.iter().enumerate() {
                by_name.entry(canonical_name(name)).or_default().push((number, which));
            }
            let kind = Some(entity.kind.as_str()).filter(|kind| !is_vague_type(kind));
            let said: Vec<&str> =
                kind.into_iter().chain(entity.subtype.as_deref()).chain([entity.description.as_str()]).collect();
            let said = analyzer.terms(&said.join("\n"));
            of_entities.push(Words { names: names.iter().map(|name| analyzer.terms(name)).collect(), said });
        }
        let said = |relation: &Relation| {
            let kind = Some(relation.kind.as_str()).filter(|kind| !is_vague_type(kind)).unwrap_or_default();
            analyzer.terms(&[kind, &relation.name, &relation.description].join("\n"))
        };
        let of_relations: Vec<Vec<String>> = facts.relations.rows.iter().map(said).collect();

        let all: BTreeSet<&String> = of_entities
            .iter()
            .flat_map(|words| words.names.iter().flatten().chain(&words.said))
            .chain(of_relations.iter().flatten())
            .collect();
        let terms: BTreeMap<String, usize> =
            all.into_iter().enumerate().map(|(number, term)| (term.clone(), number)).collect();
        let numbered = |words: &[String]| {
            let set: BTreeSet<usize> = words.iter().filter_map(|word| terms.get(word).copied()).collect();
            set.into_iter().collect::<Vec<usize>>()
        };
        let names: Vec<Vec<Vec<usize>>> =
            of_entities.iter().map(|words| words.names.iter().map(|name| numbered(name)).collect()).collect();
        let said_of_entity: Vec<Vec<usize>> = of_entities.iter().map(|words| numbered(&words.said)).collect();
        let said_of_relation: Vec<Vec<usize>> = of_relations.iter().map(|words| numbered(words)).collect();

        let mut entities_with = vec![Vec::new(); terms.len()];
        let mut relations_with = vec![Vec::new(); terms.len()];
        let mut chunks_with: Vec<(usize, usize)> = Vec::new();
        for (entity, (names, said)) in names.iter().zip(&said_of_entity).enumerate() {
            let set: BTreeSet<usize> = names.iter().flatten().chain(said).copied().collect();
            note(&mut entities_with, &mut chunks_with, &set, entity, facts.chunks_of(Fact::Entity(entity)));
        }
        for (relation, said) in said_of_relation.iter().enumerate() {
            let set: BTreeSet<usize> = said.iter().copied().collect();
            note(&mut relations_with, &mut chunks_with, &set, relation, facts.chunks_of(Fact::Relation(relation)));
        }
        chunks_with.sort_unstable();
        chunks_with.dedup();
        let mut frequencies = vec![0usize; terms.len()];
        for (term, _) in chunks_with {
            if let Some(count) = frequencies.get_mut(term) {
                *count += 1;
            }
        }
        let idf = |frequency: usize| {
            let frequency = frequency as f64;
            (1.0 + (facts.chunks as f64 - frequency + 0.5) / (frequency + 0.5)).ln()
        };
        let entity_idf = (0..names.len()).map(|entity| idf(facts.chunks_of(Fact::Entity(entity)).len())).collect();
        let idf = frequencies.into_iter().map(idf).collect();
        Ok(LexicalMatch {
            analyzer,
            terms,
            idf,
            names,
            said_of_entity,
            said_of_relation,
            entities_with,
            relations_with,
            by_name,
            entity_idf,
        })
    }

    /// The entities that `query` means, in the order of their table.
    pub(in super::super) fn entities(&self, query: &str) -> Vec<FactHit> {
        let asked = self.asked(query);
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        let candidates: BTreeSet<usize> =
            asked.iter().filter_map(|term| self.entities_with.get(*term)).flatten().copied().collect();
        for entity in candidates {
            scores.insert(entity, self.entity_score(entity, &asked));
        }
        for (entity, which) in phrases(query).iter().filter_map(|phrase| self.by_name.get(phrase)).flatten() {
            let of_stop_words = self.names.get(*entity).and_then(|names| names.get(*which)).is_some_and(Vec::is_empty);
            if of_stop_words {
                let score = self.entity_idf.get(*entity).copied().unwrap_or_default();
                scores.entry(*entity).and_modify(|known| *known = known.max(score)).or_insert(score);
            }
        }
        let hit = |(entity, score)| FactHit { fact: Fact::Entity(entity), score };
        scores.into_iter().filter(|(_, score)| *score > 0.0).map(hit).collect()
    }

    /// The relations that `query` means, in the order of their table.
    pub(in super::super) fn relations(&self, facts: &GraphFacts, query: &str) -> Vec<FactHit> {
        let asked = self.asked(query);
        let mut candidates: BTreeSet<usize> =
            asked.iter().filter_map(|term| self.relations_with.get(*term)).flatten().copied().collect();
        for entity in asked.iter().filter_map(|term| self.entities_with.get(*term)).flatten() {
            candidates.extend(facts.relations_of.get(*entity).into_iter().flatten());
        }
        let hit = |relation| {
            let score = self.relation_score(facts, relation, &asked)?;
            (score > 0.0).then_some(FactHit { fact: Fact::Relation(relation), score })
        };
        candidates.into_iter().filter_map(hit).collect()
    }

    /// The words of the query that the graph has.
    fn asked(&self, query: &str) -> BTreeSet<usize> {
        self.analyzer.terms(query).iter().filter_map(|term| self.terms.get(term).copied()).collect()
    }

    fn sum<'a>(&self, terms: impl IntoIterator<Item = &'a usize>) -> f64 {
        terms.into_iter().map(|term| self.idf.get(*term).copied().unwrap_or_default()).sum()
    }

    /// The idf of the words of a name that are asked for, times their share in that of all its words.
    fn covered(&self, name: &[usize], asked: &BTreeSet<usize>) -> f64 {
        let (matched, all) = (self.sum(name.iter().filter(|term| asked.contains(term))), self.sum(name));
        if all > 0.0 { matched * matched / all } else { 0.0 }
    }

    fn entity_score(&self, entity: usize, asked: &BTreeSet<usize>) -> f64 {
        let names = self.names.get(entity).map(Vec::as_slice).unwrap_or_default();
        let named = names.iter().map(|name| self.covered(name, asked)).fold(0.0, f64::max);
        let said = self.said_of_entity.get(entity).into_iter().flatten();
        let further = said.filter(|term| asked.contains(term) && !names.iter().any(|name| name.contains(term)));
        named + DESCRIBED * self.sum(further)
    }

    fn relation_score(&self, facts: &GraphFacts, relation: usize, asked: &BTreeSet<usize>) -> Option<f64> {
        let (source, target) = facts.ends.get(relation)?;
        let words_of = |entity: &usize| {
            let names = self.names.get(*entity).map(Vec::as_slice).unwrap_or_default();
            // The name that the query has most of.
            let best = names
                .iter()
                .reduce(|best, name| if self.covered(name, asked) > self.covered(best, asked) { name } else { best });
            best.map(Vec::as_slice).unwrap_or_default()
        };
        let (source, target) = (words_of(source), words_of(target));
        let said = self.said_of_relation.get(relation).map(Vec::as_slice).unwrap_or_default();
        let ends: BTreeSet<usize> = source.iter().chain(target).copied().collect();
        let further: Vec<usize> =
            said.iter().filter(|term| asked.contains(term) && !ends.contains(term)).copied().collect();
        let has = |words: &[usize]| words.iter().any(|term| asked.contains(term));
        let parts = [has(source), has(target), !further.is_empty()].iter().filter(|part| **part).count();
        let words = ends.iter().filter(|term| asked.contains(term)).count() + further.len();
        if parts < 2 || words < 2 {
            return None;
        }
        let ends: Vec<usize> = ends.into_iter().collect();
        Some(RELATED * self.covered(&ends, asked) + DESCRIBED * self.sum(&further))
    }
}

/// Notes which facts and which chunks have each word.
fn note(
    facts_with: &mut [Vec<usize>],
    chunks_with: &mut Vec<(usize, usize)>,
    terms: &BTreeSet<usize>,
    fact: usize,
    chunks: &[usize],
) {
    for term in terms {
        if let Some(list) = facts_with.get_mut(*term) {
            list.push(fact);
        }
        chunks_with.extend(chunks.iter().map(|chunk| (*term, *chunk)));
    }
}

/// The runs of up to six words of a query, each in the form in which names are compared.
fn phrases(query: &str) -> BTreeSet<String> {
    let within = |c: char| c.is_alphanumeric() || matches!(c, '-' | '\'' | '’' | '&' | '_' | '.');
    let words: Vec<&str> = query.split(|c| !within(c)).filter(|word| !word.is_empty()).collect();
    let mut phrases = BTreeSet::new();
    for length in 1..=MOST_WORDS.min(words.len()) {
        phrases.extend(words.windows(length).map(|run| canonical_name(&run.join(" "))));
    }
    phrases.remove("");
    phrases
}
