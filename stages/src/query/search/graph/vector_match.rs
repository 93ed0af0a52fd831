//! Which entities and relations a query means, by its vector.

use std::sync::Arc;

use super::facts::{Fact, FactHit, GraphFacts};
use crate::build::vector::{Metric, Neighbour, VectorIndex, Wanted};

/// How many more neighbours are asked for where there were too few of one kind among those that were found.
const MORE: usize = 4;

/// The vectors of a graph: of its entities, then of its relations.
pub(in super::super) struct VectorMatch {
    index: Arc<VectorIndex>,
    entities: usize,
}

/// A query's vector, and how many entities and relations it may find.
#[derive(Debug, Clone)]
pub(in super::super) struct VectorAsk {
    pub(in super::super) vector: Arc<[f32]>,
    pub(in super::super) entities: usize,
    pub(in super::super) relations: usize,
}

/// The entities and the relations that a query found, each the best first.
pub(in super::super) type VectorHits = (Vec<FactHit>, Vec<FactHit>);

impl VectorMatch {
    /// The vectors of a graph.
    ///
    /// # Errors
    /// When they are those of another graph.
    pub(in super::super) fn new(index: Arc<VectorIndex>, facts: &GraphFacts) -> Result<Self, String> {
        let (entities, relations) = (facts.entities.rows.len(), facts.relations.rows.len());
        if index.texts() != entities + relations {
            let found = index.texts();
            return Err(format!("indexes {found} texts, expected {entities} entities and {relations} relations"));
        }
        Ok(VectorMatch { index, entities })
    }

    /// The index.
    pub(in super::super) fn index(&self) -> &VectorIndex {
        &self.index
    }

    /// What each of `asks` finds, in their order. Scores are those of the index, but a distance `d` counts as `1 / (1 + d)`; what
    /// is not above 0 is not near.
    pub(in super::super) fn hits(&self, asks: &[VectorAsk]) -> Vec<VectorHits> {
        let texts = self.index.texts();
        let mut found: Vec<VectorHits> = asks.iter().map(|_| Default::default()).collect();
        let mut open: Vec<(usize, &VectorAsk, usize)> = asks
            .iter()
            .enumerate()
            .map(|(number, ask)| (number, ask, (2 * (ask.entities + ask.relations)).min(texts)))
            .filter(|(_, _, top_k)| *top_k > 0)
            .collect();
        while !open.is_empty() {
            let wanted: Vec<Wanted<'_>> =
                open.iter().map(|(_, ask, top_k)| Wanted { vector: &ask.vector, top_k: *top_k }).collect();
            let near = self.index.nearest(&wanted);
            let mut short = Vec::new();
            for ((number, ask, top_k), near) in open.into_iter().zip(near) {
                let (mut entities, mut relations) = self.parted(&near);
                // The nearest of one kind may be far down a list of both.
                if (entities.len() < ask.entities || relations.len() < ask.relations) && top_k < texts {
                    short.push((number, ask, top_k.saturating_mul(MORE).min(texts)));
                }
                entities.truncate(ask.entities);
                relations.truncate(ask.relations);
                let near = |hits: Vec<FactHit>| hits.into_iter().filter(|hit| hit.score > 0.0).collect();
                if let Some(place) = found.get_mut(number) {
                    *place = (near(entities), near(relations));
                }
            }
            open = short;
        }
        found
    }

    fn parted(&self, near: &[Neighbour]) -> VectorHits {
        let mut hits = VectorHits::default();
        for neighbour in near {
            let score = match self.index.metric() {
                Metric::Cosine | Metric::Dot => neighbour.score,
                // The distance, negated.
                Metric::L2 => 1.0 / (1.0 - neighbour.score),
            };
            let text = neighbour.text as usize;
            match text.checked_sub(self.entities) {
                None => hits.0.push(FactHit { fact: Fact::Entity(text), score }),
                Some(relation) => hits.1.push(FactHit { fact: Fact::Relation(relation), score }),
            }
        }
        hits
    }
}
