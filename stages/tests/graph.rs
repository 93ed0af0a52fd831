//! Graphs as actions: what is extracted and merged, what keys hold, and which rows run again.

mod graphs;
mod harbour;
mod memory;
#[path = "../../tests/e2e/model_server.rs"]
mod model_server;
mod scripted_model;
#[path = "../../tests/e2e/wire.rs"]
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{
    ChunkFacts, Chunks, Entities, Extracted, ExtractedChunk, FactKind, FoundAlias, FoundEntity, FoundRelation,
    Mentions, Relations,
};
use ragstage_stages::build::graph::{
    BuildGraph, ExtractGraph, GraphExtractor, GraphOptions, LlmExtractor, Merged, merge,
};
use ragstage_stages::contract::Artifact;
use ragstage_stages::error::RowErrorKind;
use ragstage_stages::model::{ChatModel, Endpoint, Price};

use harbour::{chunk, chunks, run};
use memory::MemoryContext;
use scripted_model::ChatServer;

fn lexical(chunks: Digest) -> ExtractGraph {
    ExtractGraph { chunks, options: GraphOptions { extractor: GraphExtractor::Lexical, max_entities: 24 }, salt: 0 }
}

/// A model at `url`.
fn model(url: &str) -> Arc<ChatModel> {
    Arc::new(ChatModel {
        name: "scripted".to_string(),
        model: "m".to_string(),
        endpoint: Endpoint {
            label: "default".to_string(),
            base_url: url.to_string(),
            headers: Vec::new(),
            variables: Vec::new(),
        },
        structured: true,
        price: Price::default(),
    })
}

/// A chunk that names entities (name, type) and relations (source, type, target).
fn says(id: &str, entities: &[(&str, &str)], relations: &[(&str, &str, &str)]) -> ExtractedChunk {
    let entity = |(name, kind): &(&str, &str)| FoundEntity {
        name: name.to_string(),
        kind: kind.to_string(),
        ..FoundEntity::default()
    };
    let relation = |(source, kind, target): &(&str, &str, &str)| FoundRelation {
        source: source.to_string(),
        target: target.to_string(),
        kind: kind.to_string(),
        weight: 1,
        ..FoundRelation::default()
    };
    ExtractedChunk {
        chunk_id: id.to_string(),
        document_id: format!("document of {id}"),
        facts: ChunkFacts {
            entities: entities.iter().map(entity).collect(),
            relations: relations.iter().map(relation).collect(),
            ..ChunkFacts::default()
        },
        ..ExtractedChunk::default()
    }
}

fn explains(mut chunk: ExtractedChunk, long: &str, short: &str) -> ExtractedChunk {
    chunk.facts.aliases.push(FoundAlias { long: long.to_string(), short: short.to_string() });
    chunk
}

fn merged(rows: Vec<ExtractedChunk>) -> Merged {
    merge(&Extracted { rows })
}

/// Name, type and number of chunks of each entity.
fn entities(merged: &Merged) -> Vec<(&str, &str, u64)> {
    merged.entities.rows.iter().map(|row| (row.name.as_str(), row.kind.as_str(), row.mentions)).collect()
}

#[test]
fn equal_names_are_one_entity_with_all_its_chunks() {
    let merged = merged(vec![
        says(
            "c2",
            &[("the Eiffel  Tower", "building"), ("Paris", "place")],
            &[("the eiffel tower", "located in", "PARIS")],
        ),
        says("c1", &[("Eiffel Tower", "Building"), ("paris", "")], &[("Eiffel Tower", "Located in", "paris")]),
        says("c3", &[("EIFFEL TOWER", "other")], &[]),
    ]);
    // Of names that are as frequent, the first in byte order.
    assert_eq!(entities(&merged), [("EIFFEL TOWER", "Building", 3), ("Paris", "place", 2)]);
    let [relation] = merged.relations.rows.as_slice() else { panic!("{:?}", merged.relations) };
    assert_eq!((relation.source.as_str(), relation.target.as_str()), ("EIFFEL TOWER", "Paris"));
    assert_eq!((relation.source_id.as_str(), relation.weight), (merged.entities.rows[0].entity_id.as_str(), 2));
    let mentions: Vec<(FactKind, &str)> =
        merged.mentions.rows.iter().map(|mention| (mention.kind, mention.chunk_id.as_str())).collect();
    let (entity, of) = (FactKind::Entity, FactKind::Relation);
    assert_eq!(
        mentions,
        [(entity, "c1"), (entity, "c2"), (entity, "c3"), (entity, "c1"), (entity, "c2"), (of, "c1"), (of, "c2")]
    );
    assert_eq!(merged.mentions.rows[0].document_id, "document of c1");
}

#[test]
fn clear_types_part_a_name_and_vague_ones_join_the_usual() {
    let merged = merged(vec![
        says("c1", &[("Paris", "place")], &[]),
        says("c2", &[("Paris", "person")], &[]),
        says("c3", &[("Paris", "place"), ("Helen", "person")], &[("Paris", "near", "Helen")]),
        says("c4", &[("Paris", "term")], &[]),
    ]);
    assert_eq!(entities(&merged), [("Helen", "person", 1), ("Paris", "person", 1), ("Paris", "place", 3)]);
    // The relation is of the entity that its chunk means.
    assert_eq!(merged.relations.rows[0].source_id, merged.entities.rows[2].entity_id);
}

#[test]
fn plurals_and_abbreviations_join() {
    let merged = merged(vec![
        says("c1", &[("row caches", "term"), ("row cache", "term"), ("gas", "term")], &[]),
        explains(
            says("c2", &[("World Health Organization", "name"), ("WHO", "acronym")], &[]),
            "World Health Organization",
            "WHO",
        ),
        says("c3", &[("WHO", "acronym"), ("row caches", "term")], &[("WHO", "uses", "row caches")]),
    ]);
    assert_eq!(
        entities(&merged),
        [("gas", "term", 1), ("row cache", "term", 2), ("World Health Organization", "name", 2)]
    );
    assert_eq!(merged.entities.rows[1].attributes["aliases"], serde_json::json!(["row caches"]));
    assert_eq!(merged.entities.rows[2].attributes["aliases"], serde_json::json!(["WHO"]));
    assert_eq!(merged.relations.rows[0].source, "World Health Organization");
}

#[test]
fn an_abbreviation_of_two_things_joins_neither() {
    let two = merged(vec![
        explains(says("c1", &[("row cache", "term"), ("RC", "acronym")], &[]), "row cache", "RC"),
        explains(says("c2", &[("red cross", "term"), ("RC", "acronym")], &[]), "red cross", "RC"),
    ]);
    assert_eq!(two.entities.rows.len(), 3);
}

#[test]
fn what_merging_makes_of_one_entity_is_no_relation_of_two() {
    let merged = merged(vec![says(
        "c1",
        &[("ship", "term"), ("ships", "term"), ("quay", "term")],
        &[("ship", "co-occurs", "ships"), ("ships", "co-occurs", "quay"), ("quay", "co-occurs", "ship")],
    )]);
    let relations: Vec<_> =
        merged.relations.rows.iter().map(|r| (r.source.as_str(), r.target.as_str(), r.weight)).collect();
    // What stands together has no direction.
    assert_eq!(relations, [("quay", "ship", 2)]);
}

#[test]
fn descriptions_are_joined_up_to_a_bound() {
    let describe = |id: &str, text: &str| {
        let mut chunk = says(id, &[("Ark", "ship")], &[]);
        chunk.facts.entities[0].description = text.to_string();
        chunk
    };
    let long = "x".repeat(590);
    let found = merged(vec![describe("c1", "A ship."), describe("c2", "A very old ship."), describe("c3", "A ship.")]);
    assert_eq!(found.entities.rows[0].description, "A very old ship. A ship.");
    let found = merged(vec![describe("c1", "A ship."), describe("c2", "A very old ship."), describe("c3", &long)]);
    assert_eq!(found.entities.rows[0].description, format!("{long} A ship."));
    let found = merged(vec![describe("c1", &"y".repeat(900))]);
    assert_eq!(found.entities.rows[0].description.len(), 600);
}

fn ids(merged: &Merged) -> (BTreeSet<String>, BTreeSet<String>) {
    (
        merged.entities.rows.iter().map(|row| row.entity_id.clone()).collect(),
        merged.relations.rows.iter().map(|row| row.relation_id.clone()).collect(),
    )
}

/// The chunks, each with the names and types of the merged graph.
fn rewritten(rows: &[ExtractedChunk], merged: &Merged) -> Vec<ExtractedChunk> {
    rows.iter()
        .map(|row| {
            let mentioned = |id: &str| merged.mentions.rows.iter().any(|m| m.id == id && m.chunk_id == row.chunk_id);
            let entities: Vec<(&str, &str)> = merged
                .entities
                .rows
                .iter()
                .filter(|entity| mentioned(&entity.entity_id))
                .map(|entity| (entity.name.as_str(), entity.kind.as_str()))
                .collect();
            let relations: Vec<(&str, &str, &str)> = merged
                .relations
                .rows
                .iter()
                .filter(|relation| mentioned(&relation.relation_id))
                .map(|relation| (relation.source.as_str(), relation.kind.as_str(), relation.target.as_str()))
                .collect();
            says(&row.chunk_id, &entities, &relations)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_chunks_does_not_matter_and_merging_twice_is_merging_once(
        said in vec((vec((0..12usize, 0..3usize), 0..6), vec((0..12usize, 0..12usize), 0..6), 0..24usize), 0..10),
        turn in 0..10usize,
    ) {
        const NAMES: [&str; 12] = [
            "ship", "ships", "Ship", "the quay", "quay", "Red Cross", "red crosses", "RC", "row cache", "tide", "Tides", "漢字",
        ];
        const TYPES: [&str; 3] = ["term", "thing made", ""];
        let mut rows: Vec<ExtractedChunk> = said.iter().enumerate().map(|(i, (entities, relations, alias))| {
            // One type per name: a name of two types is two entities, which relations by name do not tell apart.
            let named: Vec<(&str, &str)> = entities.iter().map(|(n, _)| (NAMES[*n], TYPES[*n % 3])).collect();
            let related: Vec<(&str, &str, &str)> =
                relations.iter().map(|(a, b)| (NAMES[*a], ["owns", "co-occurs"][a % 2], NAMES[*b])).collect();
            let row = says(&format!("c{i}"), &named, &related);
            if *alias < 12 { explains(row, NAMES[*alias], "RC") } else { row }
        }).collect();
        let once = merged(rows.clone());
        let again = rewritten(&rows, &once);
        let turned = turn.min(rows.len());
        rows.rotate_left(turned);
        prop_assert_eq!(&merged(rows), &once);
        let (entities, relations) = ids(&once);
        let (entities_again, relations_again) = ids(&merged(again));
        prop_assert_eq!(entities_again, entities);
        prop_assert_eq!(relations_again, relations);
        let known: BTreeSet<&str> = once.entities.rows.iter().map(|row| row.entity_id.as_str()).collect();
        for relation in &once.relations.rows {
            prop_assert!(relation.source_id != relation.target_id);
            prop_assert!(known.contains(relation.source_id.as_str()) && known.contains(relation.target_id.as_str()));
        }
    }
}

#[test]
fn merging_ends_where_the_reference_loops() {
    // Above 400 entities that are left, the rounds of the reference never come down to one batch (spec/heta, bug 9).
    let names: Vec<String> = (0..5000).map(|i| format!("entity number {i}x")).collect();
    let rows = names
        .chunks(10)
        .enumerate()
        .map(|(i, names)| {
            let entities: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "term")).collect();
            says(&format!("c{i}"), &entities, &[(&names[0], "owns", &names[1])])
        })
        .collect();
    let merged = merged(rows);
    assert_eq!((merged.entities.rows.len(), merged.relations.rows.len()), (5000, 500));
}

#[test]
fn chunks_become_a_graph_and_only_new_texts_are_read() {
    let memory = MemoryContext::default();
    let mut texts = chunks();
    let (outputs, failed) = run(&memory, &lexical(memory.put(&texts)));
    assert_eq!((failed, memory.computed()), (0, vec!["c1".to_string(), "c2".to_string(), "c3".to_string()]));
    let extracted: Extracted = memory.read(&outputs["extracted"]);
    let ids: Vec<&str> = extracted.rows.iter().map(|row| row.chunk_id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2", "c3"]);
    assert_eq!(extracted.rows[0].document_id, "light");

    let build = BuildGraph { extracted: outputs["extracted"], salt: 0 };
    let (graph, _) = run(&memory, &build);
    let entities: Entities = memory.read(&graph["entities"]);
    let relations: Relations = memory.read(&graph["relations"]);
    let mentions: Mentions = memory.read(&graph["mentions"]);
    let ships = entities.rows.iter().find(|row| row.name == "ships").expect("ships");
    let of_ships: Vec<&str> =
        mentions.rows.iter().filter(|row| row.id == ships.entity_id).map(|row| row.chunk_id.as_str()).collect();
    assert_eq!((of_ships, ships.mentions), (vec!["c2", "c3"], 2));
    assert!(entities.rows.iter().any(|row| row.name == "Lighthouse" && row.kind == "heading"));
    assert!(relations.rows.iter().any(|row| (row.source.as_str(), row.target.as_str()) == ("grain", "ships")));

    // One text more; one that is there twice is read once.
    texts.rows.push(chunk("c4", "mill", None, "The mill grinds grain."));
    texts.rows.push(chunk("c5", "copy", None, &chunks().rows[1].text));
    let (outputs, _) = run(&memory, &lexical(memory.put(&texts)));
    assert_eq!(memory.computed(), ["c4"]);
    // The law: a cold run gives the same bytes.
    let cold = MemoryContext::default();
    let (cold_outputs, _) = run(&cold, &lexical(cold.put(&texts)));
    assert_eq!(outputs["extracted"], cold_outputs["extracted"]);
}

#[test]
fn keys_hold_chunks_and_options_and_nothing_else() {
    let base = lexical(Digest::of(b"chunks"));
    let with = |extractor: GraphExtractor| ExtractGraph {
        options: GraphOptions { extractor, max_entities: 24 },
        ..base.clone()
    };
    let llm = |change: &dyn Fn(&mut LlmExtractor)| {
        let mut llm = LlmExtractor { model: model("http://h/v1"), max_tokens: 100, entity_types: Vec::new() };
        change(&mut llm);
        key_of(&with(GraphExtractor::Llm(llm)))
    };
    let mut more = base.clone();
    more.options.max_entities = 25;
    let keys = [
        key_of(&base),
        key_of(&lexical(Digest::of(b"others"))),
        key_of(&ExtractGraph { salt: 1, ..base.clone() }),
        key_of(&more),
        llm(&|_| {}),
        llm(&|llm| llm.max_tokens = 101),
        llm(&|llm| llm.entity_types = vec!["port".to_string()]),
    ];
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    // Where the model is served is no part of it.
    assert_eq!(llm(&|llm| llm.model = model("http://other/v1")), llm(&|_| {}));
    let build = BuildGraph { extracted: Digest::of(b"extracted"), salt: 0 };
    assert_ne!(key_of(&build), key_of(&BuildGraph { extracted: Digest::of(b"others"), salt: 0 }));
    assert_ne!(key_of(&build), key_of(&BuildGraph { salt: 1, ..build.clone() }));
}

const GOOD: &str = r#"{"entities": [{"name": "Ships", "type": "vehicle", "description": "They unload grain."},
  {"name": "quay", "type": "place", "description": ""}],
  "relations": [{"source": "ships ", "target": "Quay", "type": "unload at", "description": "Grain."},
                {"source": "ships", "target": "keeper", "type": "know", "description": ""}]}"#;

fn asked(server: &ChatServer, chunks: Digest, max_tokens: u32) -> ExtractGraph {
    let llm = LlmExtractor { model: Arc::new(server.model("m")), max_tokens, entity_types: Vec::new() };
    ExtractGraph { chunks, options: GraphOptions { extractor: GraphExtractor::Llm(llm), max_entities: 5 }, salt: 0 }
}

#[test]
fn a_model_is_asked_once_per_text_in_one_call() {
    let server = ChatServer::new(|_| GOOD.to_string());
    let memory = MemoryContext::default();
    let action = asked(&server, memory.put(&chunks()), 200);
    let (outputs, failed) = run(&memory, &action);
    let mut requests = server.asked();
    assert_eq!((failed, requests.len()), (0, 3));
    let extracted: Extracted = memory.read(&outputs["extracted"]);
    let facts = &extracted.rows[1].facts;
    assert_eq!((facts.entities.len(), facts.relations.len(), facts.left_out), (2, 1, 1));
    assert_eq!(facts.entities[0].description, "They unload grain.");

    let (graph, _) = run(&memory, &BuildGraph { extracted: outputs["extracted"], salt: 0 });
    let relations: Relations = memory.read(&graph["relations"]);
    let [relation] = relations.rows.as_slice() else { panic!("{relations:?}") };
    assert_eq!((relation.source.as_str(), relation.target.as_str(), relation.weight), ("Ships", "quay", 3));

    // Nothing is asked twice: not by a forced run, not for another unit with a text more.
    memory.computed();
    let mut more = chunks();
    more.rows.push(chunk("c4", "mill", None, "The mill grinds grain."));
    run(&memory, &ExtractGraph { chunks: memory.put(&more), salt: 1, ..action.clone() });
    requests.extend(server.asked());
    assert_eq!((requests.len(), memory.computed()), (4, vec!["c4".to_string()]));

    let request = &requests[0];
    assert_eq!((&request["max_tokens"], &request["temperature"]), (&200.into(), &0.0.into()));
    assert_eq!(request["response_format"]["type"], "json_schema");
    assert!(request["messages"][0]["content"].as_str().is_some_and(|text| text.contains("At most 5 entities")));
    let texts: BTreeSet<String> =
        requests.iter().map(|request| request["messages"][1]["content"].to_string()).collect();
    assert_eq!(texts.len(), 4);
}

#[test]
fn a_reply_that_cannot_be_used_fails_its_chunk_alone() {
    for bad in
        ["no JSON", "[]", r#"{"entities": []}"#, r#"{"entities": [{"name": " ", "type": "x"}], "relations": []}"#]
    {
        let reply = bad.to_string();
        let server = ChatServer::new(move |request| match request.to_string().contains("unload grain") {
            true => reply.clone(),
            false => GOOD.to_string(),
        });
        let memory = MemoryContext::default();
        let action = asked(&server, memory.put(&chunks()), 200);
        let (outputs, failed) = run(&memory, &action);
        assert_eq!(failed, 1, "{bad}");
        let extracted: Extracted = memory.read(&outputs["extracted"]);
        let errors: Vec<Option<RowErrorKind>> =
            extracted.rows.iter().map(|row| row.error.as_ref().map(|error| error.kind)).collect();
        assert_eq!(errors, [None, Some(RowErrorKind::BadReply), None], "{bad}");
        assert_eq!(extracted.rows[1].facts, ChunkFacts::default());
        // What the other chunks say is there, and only the one that failed is asked again.
        let (graph, _) = run(&memory, &BuildGraph { extracted: outputs["extracted"], salt: 0 });
        assert_eq!(memory.read::<Entities>(&graph["entities"]).rows.len(), 2);
        memory.computed();
        run(&memory, &action);
        assert_eq!(memory.computed(), ["c2"], "{bad}");
    }
}

#[test]
fn a_unit_without_chunks_has_an_empty_graph() {
    let memory = MemoryContext::default();
    let (outputs, failed) = run(&memory, &lexical(memory.put(&Chunks::default())));
    let (graph, _) = run(&memory, &BuildGraph { extracted: outputs["extracted"], salt: 0 });
    assert_eq!(failed, 0);
    assert!(memory.read::<Entities>(&graph["entities"]).rows.is_empty());
    assert!(Mentions::default().encode().is_ok());
}
