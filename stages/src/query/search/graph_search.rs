//! `graph_search`: entities and relations near the query, and the chunks that speak of them.
//!
//! `heta_graph_search` is the same mode. It differs from Heta's (spec/heta 7.2) in this:
//! - Results are chunks, not entities and relations: they can be fused with those of other modes, and they have evidence.
//! - It runs without an embedder (`match: lexical`), which is the default.
//! - `entity_limit` and `relation_limit` do not share out `top_k` between them: several facts may lead to one chunk.
//! - An entity's relations are followed to their other ends, with a share of a quarter of the score; the weightiest relations are
//!   followed, not the first by id.
//! - Facts are joined by ids, not by names, which two entities may share.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde_json::json;

use super::chunk_hit::chunk_hit;
use super::graph::{
    Fact, FactHit, GraphFacts, LexicalMatch, RankedChunk, VectorAsk, VectorMatch, by_hits, by_page_rank,
};
use super::knowledge_base::{KbArtifact, KnowledgeBase};
use super::searcher::{Ask, Found, Search, SearchAlone};
use crate::artifact::{Chunks, Entities, Hit, Mentions, Relations};
use crate::build::full_text::ANALYZER_VERSION;
use crate::build::vector::VectorIndex;
use crate::contract::{Context, decoded, derived};
use crate::error::{RowError, StageError, StageErrorKind};
use crate::model::{EmbedderSpec, TextRole, embed_texts};
use crate::step::Step;

/// Version of how chunks are found in a graph, in the key of this mode and of those that ask it.
const GRAPH_SEARCH_VERSION: u64 = 1;

/// How many entities and relations are looked for at least, where nothing is said of it.
const LEAST_LIMIT: usize = 20;

/// Most entities, and most relations, that a hit names in its metadata.
const MOST_NAMED: usize = 5;

/// How a query finds entities and relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphMatch {
    /// By its words.
    #[default]
    Lexical,
    /// By its vector.
    Vector,
}

/// How chunks are ranked by what was found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum GraphRanking {
    /// By the hits that lead to them.
    #[default]
    Hits,
    /// By a walk over the whole graph that starts at the hits.
    PageRank {
        /// The probability with which the walk goes on, 0 to 1.
        damping: f64,
    },
}

/// Entities and relations near the query, their neighbourhood, and the chunks that speak of it (spec/heta 7.2).
#[derive(Debug, Clone, PartialEq)]
pub struct GraphSearch {
    /// How a query finds entities and relations.
    pub matching: GraphMatch,
    /// How chunks are ranked.
    pub ranking: GraphRanking,
    /// Most entities that a query finds; `max(top_k, 20)` when `None`.
    pub entity_limit: Option<u32>,
    /// Most relations that a query finds; `max(top_k, 20)` when `None`.
    pub relation_limit: Option<u32>,
    /// Most relations of an entity that are followed, where chunks are ranked by hits.
    pub expand_limit: u32,
    /// Most chunks that a fact may bring in by itself, its best ones; as many as there are when `None`.
    pub evidence_limit: Option<u32>,
}

impl Default for GraphSearch {
    fn default() -> Self {
        GraphSearch {
            matching: GraphMatch::Lexical,
            ranking: GraphRanking::Hits,
            entity_limit: None,
            relation_limit: None,
            expand_limit: 20,
            evidence_limit: None,
        }
    }
}

/// What the mode reads whatever its options are, with the names in the key.
const READS: [(&str, KbArtifact); 4] = [
    ("entities", KbArtifact::Entities),
    ("relations", KbArtifact::Relations),
    ("mentions", KbArtifact::Mentions),
    ("chunks", KbArtifact::Chunks),
];

impl GraphSearch {
    pub(super) fn reads(&self, artifacts: &mut BTreeSet<KbArtifact>) {
        artifacts.extend(READS.map(|(_, artifact)| artifact));
        if self.matching == GraphMatch::Vector {
            artifacts.insert(KbArtifact::GraphVectorIndex);
        }
    }

    pub(super) fn walk(&self, name: &str, kb: &KnowledgeBase, v: &mut dyn KeyVisitor) {
        v.begin_record(name, "graph");
        v.uint("graph_search_version", GRAPH_SEARCH_VERSION);
        for (field, artifact) in READS {
            if let Some(digest) = kb.artifacts.get(&artifact) {
                v.digest(field, digest);
            }
        }
        match self.matching {
            GraphMatch::Lexical => {
                v.text("match", "lexical");
                v.uint("analyzer_version", ANALYZER_VERSION);
            }
            GraphMatch::Vector => {
                v.text("match", "vector");
                if let Some(digest) = kb.artifacts.get(&KbArtifact::GraphVectorIndex) {
                    v.digest("index", digest);
                }
                if let Some(embedder) = &kb.embedder {
                    embedder.walk(v);
                }
            }
        }
        match self.ranking {
            GraphRanking::Hits => {
                v.text("ranking", "hits");
                v.uint("expand_limit", u64::from(self.expand_limit));
            }
            GraphRanking::PageRank { damping } => {
                v.text("ranking", "pagerank");
                v.float("damping", damping);
            }
        }
        for (field, limit) in [
            ("entity_limit", self.entity_limit),
            ("relation_limit", self.relation_limit),
            ("evidence_limit", self.evidence_limit),
        ] {
            match limit {
                Some(limit) => v.uint(field, u64::from(limit)),
                None => v.null(field),
            }
        }
        v.end();
    }

    pub(super) fn open<'a>(
        &'a self,
        context: &dyn Context,
        kb: &'a KnowledgeBase,
    ) -> Result<Box<dyn Search + 'a>, StageError> {
        let graph = self.load(context, kb)?;
        match self.matching {
            GraphMatch::Lexical => {
                let words = derived(context, Step::Retrieve, &graph.identity, &|| {
                    LexicalMatch::new(&graph.facts).map_err(|why| StageError::encode(Step::Retrieve, why))
                })?;
                Ok(Box::new(OpenLexical { graph, words }))
            }
            GraphMatch::Vector => {
                let digest = kb.digest(KbArtifact::GraphVectorIndex)?;
                let wrong =
                    |why: String| StageError { step: Step::Retrieve, kind: StageErrorKind::Artifact { digest, why } };
                let index = derived(context, Step::Retrieve, &digest, &|| {
                    let file = context.blob_file(&digest)?;
                    VectorIndex::open(&file).map_err(|error| wrong(error.to_string()))
                })?;
                let vectors = VectorMatch::new(index, &graph.facts).map_err(wrong)?;
                Ok(Box::new(OpenVector { graph, vectors, embedder: kb.embedder()? }))
            }
        }
    }

    fn load<'a>(&'a self, context: &dyn Context, kb: &KnowledgeBase) -> Result<OpenGraph<'a>, StageError> {
        let chunks = decoded::<Chunks>(context, Step::Retrieve, &kb.digest(KbArtifact::Chunks)?)?;
        let digests = READS.map(|(_, artifact)| kb.digest(artifact)).into_iter().collect::<Result<Vec<_>, _>>()?;
        let identity = Digest::of_parts("ragstage.graph_search", digests.iter().map(|digest| digest.0.as_slice()));
        let facts = derived(context, Step::Retrieve, &identity, &|| {
            let entities = decoded::<Entities>(context, Step::Retrieve, &kb.digest(KbArtifact::Entities)?)?;
            let relations = decoded::<Relations>(context, Step::Retrieve, &kb.digest(KbArtifact::Relations)?)?;
            let digest = kb.digest(KbArtifact::Mentions)?;
            let mentions = decoded::<Mentions>(context, Step::Retrieve, &digest)?;
            GraphFacts::new(entities, relations, &mentions, &chunks)
                .map_err(|why| StageError { step: Step::Retrieve, kind: StageErrorKind::Artifact { digest, why } })
        })?;
        Ok(OpenGraph { options: self, facts, chunks, identity })
    }
}

/// A graph that is ready to be searched.
struct OpenGraph<'a> {
    options: &'a GraphSearch,
    facts: Arc<GraphFacts>,
    chunks: Arc<Chunks>,
    /// Digest of all that it was made of.
    identity: Digest,
}

impl OpenGraph<'_> {
    /// How many entities and relations are looked for.
    fn limits(&self, top_k: usize) -> (usize, usize) {
        let limit = |given: Option<u32>| given.map_or(top_k.max(LEAST_LIMIT), |limit| limit as usize);
        (limit(self.options.entity_limit), limit(self.options.relation_limit))
    }

    /// The chunks that the entities and then the relations lead to.
    fn found(&self, ask: &Ask<'_>, entities: Vec<FactHit>, relations: Vec<FactHit>) -> Found {
        let (matching, ranking) = (
            match self.options.matching {
                GraphMatch::Lexical => "lexical",
                GraphMatch::Vector => "vector",
            },
            match self.options.ranking {
                GraphRanking::Hits => "hits",
                GraphRanking::PageRank { .. } => "pagerank",
            },
        );
        let (entity_hits, relation_hits) = (entities.len(), relations.len());
        let mut hits = entities;
        hits.extend(relations);
        let mut ranked = match self.options.ranking {
            GraphRanking::Hits => by_hits(&self.facts, &hits, self.options.expand_limit as usize),
            GraphRanking::PageRank { damping } => by_page_rank(&self.facts, &hits, damping),
        };
        if let Some(limit) = self.options.evidence_limit {
            ranked = RankedChunk::among_best(ranked, limit as usize);
        }
        let candidates = ranked.len();
        ranked.truncate(ask.top_k);
        let hits: Vec<Hit> = ranked.iter().filter_map(|ranked| self.hit(ranked)).collect();
        let trace = vec![json!({
            "mode": "graph_search",
            "match": matching,
            "ranking": ranking,
            "top_k": ask.top_k,
            "entity_hits": entity_hits,
            "relation_hits": relation_hits,
            "candidate_count": candidates,
            "result_count": hits.len(),
        })];
        Found { hits, trace, ..Found::default() }
    }

    /// A chunk as a result that names the facts which brought it.
    fn hit(&self, ranked: &RankedChunk) -> Option<Hit> {
        let mut hit = chunk_hit(self.chunks.rows.get(ranked.chunk)?, ranked.score);
        for (field, of_relations) in [("entities", false), ("relations", true)] {
            let of_kind = |hit: &&FactHit| matches!(hit.fact, Fact::Relation(_)) == of_relations;
            let named = ranked.facts.iter().filter(of_kind).take(MOST_NAMED);
            let names: Vec<String> = named.map(|hit| self.facts.name(hit.fact)).collect();
            if !names.is_empty() {
                hit.metadata.insert(field.to_string(), names.into());
            }
        }
        Some(hit)
    }
}

/// Searched by words.
struct OpenLexical<'a> {
    graph: OpenGraph<'a>,
    words: Arc<LexicalMatch>,
}

impl SearchAlone for OpenLexical<'_> {
    fn search_one(&self, ask: &Ask<'_>) -> Result<Found, RowError> {
        let start = Instant::now();
        let (entity_limit, relation_limit) = self.graph.limits(ask.top_k);
        let entities = FactHit::best(self.words.entities(ask.text), entity_limit);
        let relations = FactHit::best(self.words.relations(&self.graph.facts, ask.text), relation_limit);
        let found = self.graph.found(ask, entities, relations);
        Ok(Found { latency_ms: start.elapsed().as_secs_f64() * 1e3, ..found })
    }
}

impl Search for OpenLexical<'_> {
    fn search(&self, _: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        use rayon::prelude::*;
        Ok(asks.par_iter().map(|ask| self.search_one(ask)).collect())
    }

    fn alone(&self) -> Option<&dyn SearchAlone> {
        Some(self)
    }
}

/// Searched by vectors.
struct OpenVector<'a> {
    graph: OpenGraph<'a>,
    vectors: VectorMatch,
    embedder: &'a EmbedderSpec,
}

impl Search for OpenVector<'_> {
    fn search(&self, context: &dyn Context, asks: &[Ask<'_>]) -> Result<Vec<Result<Found, RowError>>, StageError> {
        use rayon::prelude::*;
        let texts: Vec<(&str, &str)> = asks.iter().map(|ask| (ask.label, ask.text)).collect();
        let length = self.vectors.index().length();
        let embedded = embed_texts(context, Step::Retrieve, self.embedder, TextRole::Query, &texts, length)?;
        let start = Instant::now();
        let wanted: Vec<VectorAsk> = asks
            .iter()
            .zip(&embedded)
            .filter_map(|(ask, embedded)| {
                let (entities, relations) = self.graph.limits(ask.top_k);
                Some(VectorAsk { vector: embedded.as_ref().ok()?.vector.clone(), entities, relations })
            })
            .collect();
        let mut hits = self.vectors.hits(&wanted).into_iter();
        let share_ms = start.elapsed().as_secs_f64() * 1e3 / wanted.len().max(1) as f64;
        let with_hits: Vec<_> = asks
            .iter()
            .zip(embedded)
            .map(|(ask, embedded)| (ask, embedded.map(|embedded| (embedded, hits.next().unwrap_or_default()))))
            .collect();
        let found = with_hits.into_par_iter().map(|(ask, outcome)| {
            let (embedded, (entities, relations)) = outcome?;
            let start = Instant::now();
            let found = self.graph.found(ask, entities, relations);
            let latency_ms = embedded.latency_ms + share_ms + start.elapsed().as_secs_f64() * 1e3;
            Ok(Found { latency_ms, usage: embedded.usage.into_iter().collect(), ..found })
        });
        Ok(found.collect())
    }
}
