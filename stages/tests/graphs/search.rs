//! `graph_search` over graphs made by hand, with scores worked out by hand.

use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{
    Chunks, Entities, Entity, FactKind, Json, Mention, Mentions, Relation, Relations, Results, Retrieved,
};
use ragstage_stages::build::full_text::Bm25Options;
use ragstage_stages::contract::Action;
use ragstage_stages::error::StageErrorKind;
use ragstage_stages::query::search::{GraphMatch, GraphRanking, GraphSearch, KbArtifact, KnowledgeBase, SearchMode};
use ragstage_stages::query::{ModeSpec, Retrieve};
use serde_json::json;

use crate::harbour::{chunk, queries, run};
use crate::memory::MemoryContext;

/// idf of a word of two of four chunks, and of one of four: ln(1 + 2.5 / 2.5), ln(1 + 3.5 / 1.5).
const TWO: f64 = std::f64::consts::LN_2;
fn one() -> f64 {
    (10.0f64 / 3.0).ln()
}

/// A graph: entities, relations (source, target, weight), and which chunks speak of what.
struct Scene {
    chunks: Chunks,
    entities: Entities,
    relations: Relations,
    mentions: Mentions,
}

/// Alpha (c1, c2), Beta (c1), Gamma (c2, c3); Alpha and Beta are related three times in c1, Alpha and Gamma once in c2. Nothing is
/// in c4.
fn scene() -> Scene {
    let entity = |name: &str| Entity {
        entity_id: format!("e-{name}"),
        name: name.to_string(),
        kind: "name".to_string(),
        ..Entity::default()
    };
    let relation = |source: &str, target: &str, weight: u64| Relation {
        relation_id: format!("r-{source}-{target}"),
        source_id: format!("e-{source}"),
        target_id: format!("e-{target}"),
        source: source.to_string(),
        target: target.to_string(),
        kind: "co-occurs".to_string(),
        weight,
        ..Relation::default()
    };
    let mention = |(kind, id, chunk_id): (FactKind, &str, &str)| Mention {
        kind,
        id: id.to_string(),
        chunk_id: chunk_id.to_string(),
        document_id: "d".to_string(),
        page_index: 0,
    };
    let (entity_kind, relation_kind) = (FactKind::Entity, FactKind::Relation);
    let mentions = [
        (entity_kind, "e-Alpha", "c1"),
        (entity_kind, "e-Alpha", "c2"),
        (entity_kind, "e-Beta", "c1"),
        (entity_kind, "e-Gamma", "c2"),
        (entity_kind, "e-Gamma", "c3"),
        (relation_kind, "r-Alpha-Beta", "c1"),
        (relation_kind, "r-Alpha-Gamma", "c2"),
    ];
    let chunk_of = |id: &str| chunk(id, &format!("document-{id}"), None, &format!("The text of {id}."));
    Scene {
        chunks: Chunks { rows: ["c1", "c2", "c3", "c4"].map(chunk_of).to_vec() },
        entities: Entities { rows: ["Alpha", "Beta", "Gamma"].map(entity).to_vec() },
        relations: Relations { rows: vec![relation("Alpha", "Beta", 3), relation("Alpha", "Gamma", 1)] },
        mentions: Mentions { rows: mentions.map(mention).to_vec() },
    }
}

fn action(memory: &MemoryContext, scene: &Scene, mode: GraphSearch, cases: &[(&str, &str)], top_k: u32) -> Retrieve {
    let artifacts = [
        (KbArtifact::Chunks, memory.put(&scene.chunks)),
        (KbArtifact::Entities, memory.put(&scene.entities)),
        (KbArtifact::Relations, memory.put(&scene.relations)),
        (KbArtifact::Mentions, memory.put(&scene.mentions)),
    ];
    let kb = KnowledgeBase { artifacts: artifacts.into_iter().collect(), bm25: Bm25Options::default(), embedder: None };
    let (queries, unit) = queries(cases);
    let mode = ModeSpec::Built { mode: Arc::new(SearchMode::Graph(mode)), kb, trace: true };
    Retrieve { mode, queries: memory.put(&queries), unit, top_k, salt: 0 }
}

fn ask(scene: &Scene, mode: GraphSearch, query: &str, top_k: u32) -> Retrieved {
    let memory = MemoryContext::default();
    let (outputs, failed) = run(&memory, &action(&memory, scene, mode, &[("q", query)], top_k));
    assert_eq!(failed, 0);
    memory.read::<Results>(&outputs["results"]).rows.remove(0)
}

/// Ids and scores, which must be as expected within rounding.
fn expect(found: &Retrieved, expected: &[(&str, f64)]) {
    let ids: Vec<&str> = found.results.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(ids, expected.iter().map(|(id, _)| *id).collect::<Vec<_>>(), "{found:?}");
    for (hit, (id, score)) in found.results.iter().zip(expected) {
        let difference = (hit.score.expect("a score") - score).abs();
        assert!(difference < 1e-12, "{id}: {:?}, expected {score}", hit.score);
    }
}

#[test]
fn an_entity_brings_its_chunks_and_a_little_of_its_neighbours() {
    let found = ask(&scene(), GraphSearch::default(), "What is the alpha?", 10);
    // Gamma is reached with a quarter of 0.95 of the score, of which its relation has a share of 1 in 4.
    expect(&found, &[("c1", TWO), ("c2", TWO), ("c3", 0.95 * 0.25 * 0.25 * TWO)]);
    let hit = &found.results[0];
    assert_eq!((hit.kind.as_str(), &*hit.text), ("chunk", "The text of c1."));
    assert_eq!(
        (&hit.source["document_id"], &hit.source["source_key"]),
        (&json!("document-c1"), &json!("raw/benchmarks/harbour/document-c1.txt"))
    );
    assert_eq!(hit.metadata["entities"], json!(["Alpha", "Beta"]));
    assert_eq!(hit.metadata["relations"], json!(["Alpha -> Beta"]));
    let trace = json!([{
        "mode": "graph_search", "match": "lexical", "ranking": "hits", "top_k": 10, "entity_hits": 1, "relation_hits": 0,
        "candidate_count": 3, "result_count": 3,
    }]);
    assert_eq!(found.metadata["trace"], trace);
}

#[test]
fn a_relation_is_meant_when_both_its_ends_are() {
    let found = ask(&scene(), GraphSearch::default(), "alpha and beta", 10);
    let relation = 0.5 * (TWO + one());
    expect(
        &found,
        &[
            ("c1", TWO + one() + relation),
            ("c2", TWO + 0.95 * 0.25 * one() + 0.95 * relation),
            ("c3", 0.95 * 0.25 * 0.25 * TWO),
        ],
    );
}

#[test]
fn limits_cut_what_is_found_followed_and_given() {
    let with = |change: &dyn Fn(&mut GraphSearch)| {
        let mut mode = GraphSearch::default();
        change(&mut mode);
        mode
    };
    let no_relations = with(&|mode| {
        mode.relation_limit = Some(0);
        mode.expand_limit = 0;
    });
    expect(&ask(&scene(), no_relations, "alpha and beta", 10), &[("c1", TWO + one()), ("c2", TWO)]);
    // Beta is the rarer one.
    let one_entity = with(&|mode| {
        mode.entity_limit = Some(1);
        mode.relation_limit = Some(0);
    });
    expect(&ask(&scene(), one_entity, "alpha and beta", 10), &[("c1", one()), ("c2", 0.95 * 0.25 * one())]);
    // The weightiest relation of Alpha is that with Beta.
    let one_relation = with(&|mode| mode.expand_limit = 1);
    expect(&ask(&scene(), one_relation, "alpha", 10), &[("c1", TWO), ("c2", TWO)]);
    let one_chunk = with(&|mode| {
        mode.evidence_limit = Some(1);
        mode.expand_limit = 0;
    });
    expect(&ask(&scene(), one_chunk, "alpha", 10), &[("c1", TWO)]);
    expect(&ask(&scene(), GraphSearch::default(), "alpha", 1), &[("c1", TWO)]);
}

#[test]
fn page_rank_walks_on() {
    let mode = GraphSearch { ranking: GraphRanking::PageRank { damping: 0.5 }, ..GraphSearch::default() };
    let found = ask(&scene(), mode, "alpha", 10);
    // a = d (b + c) + (1 - d), b = d a 3/4, c = d a 1/4 with d = 1/2: a = 2/3, b = 1/4, c = 1/12.
    let (a, b, c) = (2.0 / 3.0, 0.25, 1.0 / 12.0);
    expect(&found, &[("c1", a + b), ("c2", a + c), ("c3", c)]);
    assert_eq!(found.results[1].metadata["entities"], json!(["Alpha", "Gamma"]));
    assert_eq!(found.metadata["trace"][0]["ranking"], "pagerank");
}

#[test]
fn parts_of_names_aliases_and_descriptions_count() {
    let mut scene = scene();
    scene.entities.rows[1].name = "Beta Quay".to_string();
    scene.entities.rows[2].attributes = json!({"aliases": ["Third"]}).as_object().cloned().unwrap_or_else(Json::new);
    scene.entities.rows[0].description = "A lighthouse.".to_string();
    let mode = GraphSearch { expand_limit: 0, relation_limit: Some(0), ..GraphSearch::default() };
    // Half the name's idf, of which it is half.
    expect(&ask(&scene, mode.clone(), "beta", 10), &[("c1", one() / 2.0)]);
    expect(&ask(&scene, mode.clone(), "The third?", 10), &[("c2", TWO), ("c3", TWO)]);
    expect(&ask(&scene, mode.clone(), "lighthouses", 10), &[("c1", TWO / 2.0), ("c2", TWO / 2.0)]);
    // A name of stop words is found as it stands.
    scene.entities.rows[1].name = "The It".to_string();
    expect(&ask(&scene, mode.clone(), "who is \"the it\"?", 10), &[("c1", one())]);
    expect(&ask(&scene, mode.clone(), "it is there", 10), &[("c1", one())]);
    expect(&ask(&scene, mode, "nothing of that", 10), &[]);
}

#[test]
fn what_is_said_of_a_relation_counts() {
    let mut scene = scene();
    scene.relations.rows[1].kind = "lights".to_string();
    let mode = GraphSearch { expand_limit: 0, entity_limit: Some(0), ..GraphSearch::default() };
    // The relation with Gamma: half of `alpha`, whose share in both ends is one half, and half of `lights` (in c2 alone).
    let score = 0.5 * TWO * 0.5 + 0.5 * one();
    expect(
        &ask(&scene, mode.clone(), "what does alpha light?", 10),
        &[("c2", score), ("c1", 0.95 * score), ("c3", 0.95 * score)],
    );
    // One of its parts alone says nothing.
    expect(&ask(&scene, mode.clone(), "what is lighted?", 10), &[]);
    expect(&ask(&scene, mode, "alpha", 10), &[]);
}

#[test]
fn chinese_names_are_found_in_chinese_questions() {
    let mut scene = scene();
    scene.entities.rows[1].name = "向量索引".to_string();
    let found = ask(&scene, GraphSearch { expand_limit: 0, ..GraphSearch::default() }, "向量索引的大小是多少？", 10);
    assert_eq!(found.results[0].id, "c1");
    assert_eq!(found.results[0].metadata["entities"], json!(["向量索引"]));
}

#[test]
fn what_a_case_gets_depends_on_that_case_alone() {
    let memory = MemoryContext::default();
    let scene = scene();
    let cases = [("a", "alpha"), ("b", "alpha and beta"), ("g", "gamma")];
    let all = action(&memory, &scene, GraphSearch::default(), &cases, 2);
    let all: Results = memory.read(&run(&memory, &all).0["results"]);
    for (case, row) in cases.iter().zip(&all.rows) {
        let memory = MemoryContext::default();
        let alone = action(&memory, &scene, GraphSearch::default(), &[*case], 2);
        let alone: Results = memory.read(&run(&memory, &alone).0["results"]);
        assert_eq!(alone.rows[0].results, row.results);
    }
}

#[test]
fn keys_hold_the_graph_and_every_option_that_counts() {
    let memory = MemoryContext::default();
    let base = action(&memory, &scene(), GraphSearch::default(), &[("q", "alpha")], 3);
    let key_with = |mode: GraphSearch| key_of(&action(&memory, &scene(), mode, &[("q", "alpha")], 3));
    let page_rank =
        |damping: f64| GraphSearch { ranking: GraphRanking::PageRank { damping }, ..GraphSearch::default() };
    let mut other = scene();
    other.relations.rows[0].weight = 4;
    let keys = [
        key_of(&base),
        key_of(&action(&memory, &other, GraphSearch::default(), &[("q", "alpha")], 3)),
        key_with(GraphSearch { matching: GraphMatch::Vector, ..GraphSearch::default() }),
        key_with(GraphSearch { expand_limit: 19, ..GraphSearch::default() }),
        key_with(GraphSearch { entity_limit: Some(20), ..GraphSearch::default() }),
        key_with(GraphSearch { relation_limit: Some(20), ..GraphSearch::default() }),
        key_with(GraphSearch { evidence_limit: Some(3), ..GraphSearch::default() }),
        key_with(page_rank(0.5)),
        key_with(page_rank(0.6)),
    ];
    assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), keys.len());
    // PageRank follows every relation.
    assert_eq!(key_with(GraphSearch { expand_limit: 3, ..page_rank(0.5) }), key_with(page_rank(0.5)));
    // How full-text matches are ranked is nothing to this mode.
    let ModeSpec::Built { mode, mut kb, trace } = base.mode.clone() else { panic!("built") };
    kb.bm25 = Bm25Options { k1: 2.0, b: 0.1 };
    kb.artifacts.insert(KbArtifact::FullTextIndex, Digest::of(b"index"));
    assert_eq!(key_of(&Retrieve { mode: ModeSpec::Built { mode, kb, trace }, ..base.clone() }), key_of(&base));
}

#[test]
fn a_graph_of_other_chunks_is_refused() {
    let memory = MemoryContext::default();
    let mut scene = scene();
    scene.chunks.rows.remove(0);
    let error =
        action(&memory, &scene, GraphSearch::default(), &[("q", "alpha")], 3).run(&memory).expect_err("refused");
    assert!(
        matches!(&error.kind, StageErrorKind::Artifact { why, .. } if why == "names the chunk c1, which there is not"),
        "{error}"
    );
}
