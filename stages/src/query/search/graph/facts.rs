//! A graph in memory: entities and relations by number, and the chunks that speak of them.

use std::collections::HashMap;
use std::sync::Arc;

use petgraph::graph::{NodeIndex, UnGraph};

use crate::artifact::{Chunks, Entities, FactKind, Mentions, Relations};

/// An entity or a relation, by its row in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Fact {
    /// An entity.
    Entity(usize),
    /// A relation.
    Relation(usize),
}

/// A fact with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct FactHit {
    pub(in super::super) fact: Fact,
    /// Above 0.
    pub(in super::super) score: f64,
}

impl FactHit {
    /// The `limit` best hits, best first; of equals the fact that comes first in its table.
    pub(in super::super) fn best(mut hits: Vec<FactHit>, limit: usize) -> Vec<FactHit> {
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.fact.cmp(&b.fact)));
        hits.truncate(limit);
        hits
    }
}

/// A graph whose entities, relations and chunks are numbered by their rows.
pub(in super::super) struct GraphFacts {
    pub(in super::super) entities: Arc<Entities>,
    pub(in super::super) relations: Arc<Relations>,
    /// How many chunks the unit has.
    pub(in super::super) chunks: usize,
    /// The entities as nodes, the relations as edges with their weights; both numbered as in their tables.
    pub(in super::super) graph: UnGraph<(), f64>,
    /// Both ends of each relation.
    pub(in super::super) ends: Vec<(usize, usize)>,
    /// The relations of each entity, the weightiest first, of equals the one that comes first in the table.
    pub(in super::super) relations_of: Vec<Vec<usize>>,
    /// The chunks that speak of each entity, ascending.
    entity_chunks: Vec<Vec<usize>>,
    /// The chunks that speak of each relation, ascending.
    relation_chunks: Vec<Vec<usize>>,
    /// The entities that each chunk speaks of, ascending.
    pub(in super::super) entities_in: Vec<Vec<usize>>,
}

impl GraphFacts {
    /// The graph of four tables of one unit.
    ///
    /// # Errors
    /// When one names what another does not have.
    pub(in super::super) fn new(
        entities: Arc<Entities>,
        relations: Arc<Relations>,
        mentions: &Mentions,
        chunks: &Chunks,
    ) -> Result<Self, String> {
        let entity_of = numbers(entities.rows.iter().map(|row| row.entity_id.as_str()));
        let relation_of = numbers(relations.rows.iter().map(|row| row.relation_id.as_str()));
        let chunk_of = numbers(chunks.rows.iter().map(|row| row.chunk_id.as_str()));
        let find = |of: &HashMap<&str, usize>, what: &str, id: &str| {
            of.get(id).copied().ok_or_else(|| format!("names the {what} {id}, which there is not"))
        };
        let mut graph = UnGraph::with_capacity(entities.rows.len(), relations.rows.len());
        let nodes: Vec<NodeIndex> = entities.rows.iter().map(|_| graph.add_node(())).collect();
        let mut ends = Vec::with_capacity(relations.rows.len());
        let mut relations_of = vec![Vec::new(); entities.rows.len()];
        for (number, relation) in relations.rows.iter().enumerate() {
            let source = find(&entity_of, "entity", &relation.source_id)?;
            let target = find(&entity_of, "entity", &relation.target_id)?;
            if let (Some(a), Some(b)) = (nodes.get(source), nodes.get(target)) {
                graph.add_edge(*a, *b, relation.weight as f64);
            }
            ends.push((source, target));
            for end in [source, target] {
                push(&mut relations_of, end, number);
            }
        }
        let weight = |number: &usize| relations.rows.get(*number).map_or(0, |relation| relation.weight);
        for list in &mut relations_of {
            list.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.cmp(b)));
        }
        let mut entity_chunks = vec![Vec::new(); entities.rows.len()];
        let mut relation_chunks = vec![Vec::new(); relations.rows.len()];
        let mut entities_in = vec![Vec::new(); chunks.rows.len()];
        for mention in &mentions.rows {
            let chunk = find(&chunk_of, "chunk", &mention.chunk_id)?;
            match mention.kind {
                FactKind::Entity => {
                    let entity = find(&entity_of, "entity", &mention.id)?;
                    push(&mut entity_chunks, entity, chunk);
                    push(&mut entities_in, chunk, entity);
                }
                FactKind::Relation => {
                    push(&mut relation_chunks, find(&relation_of, "relation", &mention.id)?, chunk);
                }
            }
        }
        for list in entity_chunks.iter_mut().chain(&mut relation_chunks).chain(&mut entities_in) {
            list.sort_unstable();
            list.dedup();
        }
        let chunks = chunks.rows.len();
        Ok(GraphFacts {
            entities,
            relations,
            chunks,
            graph,
            ends,
            relations_of,
            entity_chunks,
            relation_chunks,
            entities_in,
        })
    }

    /// The chunks that speak of a fact, ascending.
    pub(in super::super) fn chunks_of(&self, fact: Fact) -> &[usize] {
        let lists = match fact {
            Fact::Entity(number) => self.entity_chunks.get(number),
            Fact::Relation(number) => self.relation_chunks.get(number),
        };
        lists.map(Vec::as_slice).unwrap_or_default()
    }

    /// The weight of a relation.
    pub(in super::super) fn weight(&self, relation: usize) -> f64 {
        self.relations.rows.get(relation).map_or(0.0, |relation| relation.weight as f64)
    }

    /// A fact as results name it: an entity's name, or `source -> target`.
    pub(in super::super) fn name(&self, fact: Fact) -> String {
        match fact {
            Fact::Entity(number) => self.entities.rows.get(number).map(|entity| entity.name.clone()),
            Fact::Relation(number) => {
                self.relations.rows.get(number).map(|relation| format!("{} -> {}", relation.source, relation.target))
            }
        }
        .unwrap_or_default()
    }
}

fn numbers<'a>(ids: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    ids.enumerate().map(|(number, id)| (id, number)).collect()
}

fn push(lists: &mut [Vec<usize>], at: usize, what: usize) {
    if let Some(list) = lists.get_mut(at) {
        list.push(what);
    }
}
