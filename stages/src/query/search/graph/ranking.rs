//! From entities and relations to the chunks that speak of them.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Fact, FactHit, GraphFacts};
use crate::build::graph::page_rank;

/// What a step along an edge leaves of a score (spec/heta 7.2).
const HOP: f64 = 0.95;

/// What is left of that beyond a relation of an entity, to be shared out among those that are followed. With more of it, chunks
/// that speak of a neighbour alone push out those that speak of what was asked for.
const BEYOND: f64 = 0.25;

/// Rounds of PageRank: with a damping of 0.85 what is missing after them is below 0.002.
const ROUNDS: u32 = 40;

/// A chunk with its score and the facts that brought it, the best first.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct RankedChunk {
    pub(in super::super) chunk: usize,
    pub(in super::super) score: f64,
    pub(in super::super) facts: Vec<FactHit>,
}

/// Chunks by the hits that lead to them, best first, of equals the one that comes first.
///
/// A hit leads to itself with its score; an entity to its `expand_limit` weightiest relations with 0.95 of it and to their other
/// ends with a share, by the relation's weight, of a quarter of that; a relation to both its ends with 0.95 of it. A chunk gets from
/// each hit the best score of what the hit leads to and the chunk speaks of, and the sum over the hits is its score.
pub(in super::super) fn by_hits(facts: &GraphFacts, hits: &[FactHit], expand_limit: usize) -> Vec<RankedChunk> {
    let mut chunks: BTreeMap<usize, (f64, BTreeMap<Fact, f64>)> = BTreeMap::new();
    for hit in hits {
        let mut of_hit: BTreeMap<usize, f64> = BTreeMap::new();
        for reached in led_to(facts, hit, expand_limit) {
            for &chunk in facts.chunks_of(reached.fact) {
                let best = of_hit.entry(chunk).or_insert(0.0);
                *best = best.max(reached.score);
                let (_, named) = chunks.entry(chunk).or_default();
                let known = named.entry(reached.fact).or_insert(0.0);
                *known = known.max(reached.score);
            }
        }
        for (chunk, best) in of_hit {
            chunks.entry(chunk).or_default().0 += best;
        }
    }
    let ranked = |(chunk, (score, named)): (usize, (f64, BTreeMap<Fact, f64>))| {
        let named: Vec<FactHit> = named.into_iter().map(|(fact, score)| FactHit { fact, score }).collect();
        RankedChunk { chunk, score, facts: FactHit::best(named, usize::MAX) }
    };
    ordered(chunks.into_iter().map(ranked).collect())
}

/// What a hit leads to.
fn led_to(facts: &GraphFacts, hit: &FactHit, expand_limit: usize) -> Vec<FactHit> {
    let hop = HOP * hit.score;
    let mut reached = vec![*hit];
    match hit.fact {
        Fact::Entity(entity) => {
            let all = facts.relations_of.get(entity).map(Vec::as_slice).unwrap_or_default();
            let followed = all.get(..expand_limit.min(all.len())).unwrap_or_default();
            let total: f64 = followed.iter().map(|relation| facts.weight(*relation)).sum();
            for &relation in followed {
                reached.push(FactHit { fact: Fact::Relation(relation), score: hop });
                let Some((source, target)) = facts.ends.get(relation) else { continue };
                let other = if *source == entity { *target } else { *source };
                if total > 0.0 {
                    reached.push(FactHit {
                        fact: Fact::Entity(other),
                        score: hop * BEYOND * facts.weight(relation) / total,
                    });
                }
            }
        }
        Fact::Relation(relation) => {
            let ends = facts.ends.get(relation).map(|(source, target)| [*source, *target]);
            reached.extend(ends.into_iter().flatten().map(|end| FactHit { fact: Fact::Entity(end), score: hop }));
        }
    }
    reached
}

/// Chunks by the PageRank of the entities that they speak of, with the hits as where the walk starts (as in HippoRAG: Gutiérrez
/// et al. 2024), best first, of equals the one that comes first. A relation starts it at both its ends.
pub(in super::super) fn by_page_rank(facts: &GraphFacts, hits: &[FactHit], damping: f64) -> Vec<RankedChunk> {
    let mut start = vec![0.0; facts.entities.rows.len()];
    let mut add = |entity: usize, score: f64| {
        if let Some(place) = start.get_mut(entity) {
            *place += score;
        }
    };
    for hit in hits {
        match hit.fact {
            Fact::Entity(entity) => add(entity, hit.score),
            Fact::Relation(relation) => {
                if let Some((source, target)) = facts.ends.get(relation) {
                    add(*source, hit.score / 2.0);
                    add(*target, hit.score / 2.0);
                }
            }
        }
    }
    let rank = page_rank(&facts.graph, &start, damping, ROUNDS);
    let mut ranked = Vec::new();
    for (chunk, entities) in facts.entities_in.iter().enumerate() {
        let hit = |entity: &usize| {
            let score = rank.get(*entity).copied().filter(|score| *score > 0.0)?;
            Some(FactHit { fact: Fact::Entity(*entity), score })
        };
        let named: Vec<FactHit> = entities.iter().filter_map(hit).collect();
        if !named.is_empty() {
            let score = named.iter().map(|hit| hit.score).sum();
            ranked.push(RankedChunk { chunk, score, facts: FactHit::best(named, usize::MAX) });
        }
    }
    ordered(ranked)
}

fn ordered(mut chunks: Vec<RankedChunk>) -> Vec<RankedChunk> {
    chunks.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    chunks
}

impl RankedChunk {
    /// Keeps the chunks that are among the best `limit` of at least one fact that brought them.
    pub(in super::super) fn among_best(chunks: Vec<RankedChunk>, limit: usize) -> Vec<RankedChunk> {
        let mut seen: BTreeMap<Fact, usize> = BTreeMap::new();
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        for ranked in &chunks {
            for hit in &ranked.facts {
                let count = seen.entry(hit.fact).or_insert(0);
                *count += 1;
                if *count <= limit {
                    kept.insert(ranked.chunk);
                }
            }
        }
        chunks.into_iter().filter(|ranked| kept.contains(&ranked.chunk)).collect()
    }
}
