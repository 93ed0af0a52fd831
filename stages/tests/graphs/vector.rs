//! `graph_search` by vectors.

use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{Relations, Results};
use ragstage_stages::build::full_text::Bm25Options;
use ragstage_stages::build::graph::BuildGraph;
use ragstage_stages::build::vector::{BuildVectorIndex, Embed, EmbedInput, Metric, VectorOptions};
use ragstage_stages::contract::Action;
use ragstage_stages::error::StageErrorKind;
use ragstage_stages::model::{EmbedderSpec, HashingEmbedder};
use ragstage_stages::query::search::{GraphMatch, GraphRanking, GraphSearch, KbArtifact, KnowledgeBase, SearchMode};
use ragstage_stages::query::{ModeSpec, Retrieve};

use crate::harbour::{chunks, queries, run};
use crate::lexical;
use crate::memory::MemoryContext;

/// The knowledge base of the harbour, as far as `graph_search` by vectors reads it.
fn knowledge_base(memory: &MemoryContext, metric: Metric) -> KnowledgeBase {
    let embedder = EmbedderSpec::Hashing(HashingEmbedder { dimensions: 256 });
    let chunks = memory.put(&chunks());
    let extracted = run(memory, &lexical(chunks)).0["extracted"];
    let graph = run(memory, &BuildGraph { extracted, salt: 0 }).0;
    let (entities, relations) = (graph["entities"], graph["relations"]);
    let input = EmbedInput::Graph { entities, relations };
    let embeddings = run(memory, &Embed { input, embedder: embedder.clone(), salt: 0 }).0["embeddings"];
    let options = VectorOptions { metric, ..VectorOptions::default() };
    let index = run(memory, &BuildVectorIndex { embeddings, options, salt: 0 }).0["vector_index"];
    let artifacts = [
        (KbArtifact::Chunks, chunks),
        (KbArtifact::Entities, entities),
        (KbArtifact::Relations, relations),
        (KbArtifact::Mentions, graph["mentions"]),
        (KbArtifact::GraphVectorIndex, index),
    ];
    KnowledgeBase { artifacts: artifacts.into_iter().collect(), bm25: Bm25Options::default(), embedder: Some(embedder) }
}

fn by_vector() -> GraphSearch {
    GraphSearch { matching: GraphMatch::Vector, ..GraphSearch::default() }
}

fn retrieve(memory: &MemoryContext, kb: &KnowledgeBase, mode: GraphSearch, cases: &[(&str, &str)]) -> Retrieve {
    let (queries, unit) = queries(cases);
    let mode = ModeSpec::Built { mode: Arc::new(SearchMode::Graph(mode)), kb: kb.clone(), trace: true };
    Retrieve { mode, queries: memory.put(&queries), unit, top_k: 2, salt: 0 }
}

const CASES: [(&str, &str); 3] = [("q1", "lighthouse"), ("q2", "grain"), ("q3", "tides")];

#[test]
fn the_nearest_entities_and_relations_bring_their_chunks() {
    for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
        let memory = MemoryContext::default();
        let kb = knowledge_base(&memory, metric);
        // Distances of unit vectors tell near from far less sharply than cosines: two middling relations outweigh one entity.
        let relations = if metric == Metric::L2 { 0 } else { 2 };
        for ranking in [GraphRanking::Hits, GraphRanking::PageRank { damping: 0.5 }] {
            let mode = GraphSearch { ranking, entity_limit: Some(1), relation_limit: Some(relations), ..by_vector() };
            let results: Results = memory.read(&run(&memory, &retrieve(&memory, &kb, mode, &CASES)).0["results"]);
            let first: Vec<&str> = results.rows.iter().map(|row| row.results[0].id.as_str()).collect();
            assert_eq!(first, ["c1", "c2", "c3"], "{metric:?} {ranking:?}");
            let trace = &results.rows[1].metadata["trace"][0];
            assert_eq!(
                (&trace["match"], &trace["entity_hits"], &trace["relation_hits"]),
                (&"vector".into(), &1.into(), &relations.into())
            );
            assert!(results.rows.iter().flat_map(|row| &row.results).all(|hit| hit.score.is_some_and(|s| s > 0.0)));
        }
    }
}

#[test]
fn what_a_case_gets_depends_on_that_case_alone() {
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, Metric::Cosine);
    // More relations than are among the nearest: the search goes further down.
    let mode = GraphSearch { entity_limit: Some(0), relation_limit: Some(3), ..by_vector() };
    let all: Results = memory.read(&run(&memory, &retrieve(&memory, &kb, mode.clone(), &CASES)).0["results"]);
    for (case, row) in CASES.iter().zip(&all.rows) {
        let memory = MemoryContext::default();
        let kb = knowledge_base(&memory, Metric::Cosine);
        let action = retrieve(&memory, &kb, mode.clone(), &[*case]);
        let alone: Results = memory.read(&run(&memory, &action).0["results"]);
        assert_eq!(alone.rows[0], *row);
        assert_eq!(row.metadata["trace"][0]["relation_hits"], 3);
    }
}

#[test]
fn keys_hold_the_index_and_the_embedder() {
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, Metric::Cosine);
    let key = |kb: &KnowledgeBase, mode: GraphSearch| key_of(&retrieve(&memory, kb, mode, &CASES));
    let mut other_index = kb.clone();
    other_index.artifacts.insert(KbArtifact::GraphVectorIndex, Digest::of(b"another"));
    let mut other_embedder = kb.clone();
    other_embedder.embedder = Some(EmbedderSpec::Hashing(HashingEmbedder { dimensions: 128 }));
    assert_ne!(key(&kb, by_vector()), key(&other_index, by_vector()));
    assert_ne!(key(&kb, by_vector()), key(&other_embedder, by_vector()));
    // They are nothing to a search by words.
    let by_words = GraphSearch::default;
    assert_eq!(key(&kb, by_words()), key(&other_index, by_words()));
    assert_eq!(key(&kb, by_words()), key(&other_embedder, by_words()));
}

#[test]
fn an_index_of_another_graph_is_refused() {
    let memory = MemoryContext::default();
    let mut kb = knowledge_base(&memory, Metric::Cosine);
    let entities = kb.artifacts[&KbArtifact::Entities];
    let input = EmbedInput::Graph { entities, relations: memory.put(&Relations::default()) };
    let embedder = EmbedderSpec::Hashing(HashingEmbedder { dimensions: 256 });
    let embeddings = run(&memory, &Embed { input, embedder, salt: 0 }).0["embeddings"];
    let options = VectorOptions::default();
    let index = run(&memory, &BuildVectorIndex { embeddings, options, salt: 0 }).0["vector_index"];
    kb.artifacts.insert(KbArtifact::GraphVectorIndex, index);
    let error = retrieve(&memory, &kb, by_vector(), &CASES).run(&memory).expect_err("refused");
    assert!(matches!(&error.kind, StageErrorKind::Artifact { why, .. } if why.starts_with("indexes ")), "{error}");
}
