//! From a unit's chunks to vectors and a graph, and every query mode of ours over them: the part of the recorded bytes that
//! needs no model.

use ragstage_cache::Digest;
use ragstage_stages::artifact::Unit;
use ragstage_stages::build::full_text::Bm25Options;
use ragstage_stages::build::graph::{BuildGraph, ExtractGraph, GraphExtractor, GraphOptions};
use ragstage_stages::build::vector::{BuildVectorIndex, Embed, EmbedInput, Metric, VectorIndexKind, VectorOptions};
use ragstage_stages::model::{EmbedderSpec, HashingEmbedder};
use ragstage_stages::query::search::{
    FullTextSearch, GraphMatch, GraphRanking, GraphSearch, HybridPart, HybridSearch, KbArtifact, KnowledgeBase, Merge,
    MultihopSearch, OnFailure, Planner, RerankBy, RerankSearch, RewriteSearch, Rewriter, SearchMode, VectorSearch,
};
use ragstage_stages::query::{ModeSpec, Retrieve};

use crate::harbour::{Done, Prepared};
use crate::memory::MemoryContext;
use crate::stages::Records;

/// Takes all that is built from `chunks` beside their full-text index, and what each mode finds in it.
pub fn take(
    memory: &MemoryContext,
    records: &mut Records,
    benchmark: &Prepared,
    unit: &Unit,
    place: &str,
    (chunks, full_text): (Digest, Digest),
) {
    let embedder = EmbedderSpec::Hashing(HashingEmbedder { dimensions: 32 });
    let chunk_vectors = vectors(memory, records, place, EmbedInput::Chunks(chunks), &embedder);
    let [entities, relations, mentions] = graph(memory, records, place, chunks);
    let of_graph = EmbedInput::Graph { entities, relations };
    let graph_vectors = vectors(memory, records, &format!("{place} graph"), of_graph, &embedder);
    let artifacts = [
        (KbArtifact::Chunks, chunks),
        (KbArtifact::FullTextIndex, full_text),
        (KbArtifact::VectorIndex, chunk_vectors),
        (KbArtifact::Entities, entities),
        (KbArtifact::Relations, relations),
        (KbArtifact::Mentions, mentions),
        (KbArtifact::GraphVectorIndex, graph_vectors),
    ];
    let kb = KnowledgeBase {
        artifacts: artifacts.into_iter().collect(),
        bm25: Bm25Options::default(),
        embedder: Some(embedder),
    };
    for (what, mode) in modes() {
        let mode = ModeSpec::Built { mode: mode.into(), kb: kb.clone(), trace: true };
        let queries = benchmark.digest("queries");
        let retrieve = Done::run(memory, Retrieve { mode, queries, unit: unit.clone(), top_k: 3, salt: 0 });
        assert_eq!(retrieve.ran.0.failed, 0, "{place} {what}");
        records.take(&format!("{place} {what}"), &retrieve);
    }
}

/// The vectors of `input` and both indexes of them; gives the exact one.
fn vectors(
    memory: &MemoryContext,
    records: &mut Records,
    place: &str,
    input: EmbedInput,
    embedder: &EmbedderSpec,
) -> Digest {
    let embed = Done::run(memory, Embed { input, embedder: embedder.clone(), salt: 0 });
    records.take(place, &embed);
    let embeddings = embed.ran.digest("embeddings");
    let mut index = |what: &str, options| {
        let index = Done::run(memory, BuildVectorIndex { embeddings, options, salt: 0 });
        records.take(&format!("{place} {what}"), &index);
        index.ran.digest("vector_index")
    };
    index("hnsw", VectorOptions { metric: Metric::L2, index: VectorIndexKind::Hnsw, min_rows: 2 });
    index("exact", VectorOptions::default())
}

/// The graph of the chunks by the lexical extractor: entities, relations and mentions.
fn graph(memory: &MemoryContext, records: &mut Records, place: &str, chunks: Digest) -> [Digest; 3] {
    let options = GraphOptions { extractor: GraphExtractor::Lexical, max_entities: 12 };
    let extract = Done::run(memory, ExtractGraph { chunks, options, salt: 0 });
    records.take(place, &extract);
    let build = Done::run(memory, BuildGraph { extracted: extract.ran.digest("extracted"), salt: 0 });
    records.take(place, &build);
    ["entities", "relations", "mentions"].map(|name| build.ran.digest(name))
}

/// Every mode, and what the records call it.
fn modes() -> Vec<(&'static str, SearchMode)> {
    let (vector, full_text) = (SearchMode::Vector(VectorSearch), SearchMode::FullText(FullTextSearch));
    let part = |mode: &SearchMode, weight| HybridPart { mode: mode.clone(), weight };
    let parts = vec![part(&vector, 1.0), part(&full_text, 0.5)];
    let hybrid = SearchMode::Hybrid(HybridSearch { parts, rrf_k: 60.0, candidates: Some(4) });
    let walk = GraphSearch { ranking: GraphRanking::PageRank { damping: 0.5 }, ..GraphSearch::default() };
    let near = GraphSearch { matching: GraphMatch::Vector, ..GraphSearch::default() };
    let rerank = SearchMode::Rerank(RerankSearch {
        base: Box::new(hybrid.clone()),
        candidates: Some(5),
        by: RerankBy::Lexical,
        on_failure: OnFailure::default(),
    });
    let rewrite = RewriteSearch {
        base: Box::new(full_text),
        variants: 2,
        include_original: true,
        by: Rewriter::Lexical,
        rrf_k: 60.0,
        on_failure: OnFailure::default(),
    };
    let multihop = |base: &SearchMode, merge| {
        let (base, planner) = (Box::new(base.clone()), Planner::Lexical);
        SearchMode::Multihop(MultihopSearch { base, rounds: 2, planner, merge, on_failure: OnFailure::default() })
    };
    vec![
        ("vector_search", vector.clone()),
        ("graph_search", SearchMode::Graph(GraphSearch::default())),
        ("graph_search by PageRank", SearchMode::Graph(walk)),
        ("graph_search by vectors", SearchMode::Graph(near)),
        ("rewrite_search", SearchMode::Rewrite(rewrite)),
        ("multihop_search", multihop(&rerank, Merge::MaxScore)),
        ("multihop_search by rank", multihop(&vector, Merge::Rrf)),
        ("hybrid_search", hybrid),
        ("rerank_search", rerank),
    ]
}
