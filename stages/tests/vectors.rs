//! Embedding, vector indexes, and the modes that search them: what they give, what their keys hold, and which work runs again.

mod harbour;
mod memory;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{Chunks, Results, Retrieved};
use ragstage_stages::build::full_text::{AnalyzerOptions, Bm25Options, FullTextIndex};
use ragstage_stages::build::vector::{
    BuildVectorIndex, Embed, EmbedInput, Embeddings, Metric, VectorIndex, VectorIndexKind, VectorOptions,
};
use ragstage_stages::contract::Action;
use ragstage_stages::error::{RowErrorKind, StageErrorKind};
use ragstage_stages::model::{EmbedderSpec, Endpoint, HashingEmbedder, OpenAiEmbedder, Price};
use ragstage_stages::query::search::{
    FullTextSearch, HybridPart, HybridSearch, KbArtifact, KnowledgeBase, SearchMode, VectorSearch,
};
use ragstage_stages::query::{ModeSpec, Retrieve};
use serde_json::json;

use harbour::{chunk, chunks, queries, run};
use memory::MemoryContext;

fn hashing(dimensions: u32) -> EmbedderSpec {
    EmbedderSpec::Hashing(HashingEmbedder { dimensions })
}

fn embed(chunks: Digest) -> Embed {
    Embed { input: EmbedInput::Chunks(chunks), embedder: hashing(64), salt: 0 }
}

/// The knowledge base of some chunks, with both indexes.
fn knowledge_base(memory: &MemoryContext, chunks: &Chunks, options: VectorOptions) -> KnowledgeBase {
    let chunks = memory.put(chunks);
    let embeddings = run(memory, &embed(chunks)).0["embeddings"];
    let vectors = run(memory, &BuildVectorIndex { embeddings, options, salt: 0 }).0["vector_index"];
    let full_text = FullTextIndex { chunks, analyzer: AnalyzerOptions::default(), title_weight: 1, salt: 0 };
    let full_text = run(memory, &full_text).0["full_text_index"];
    memory.computed();
    let artifacts =
        [(KbArtifact::Chunks, chunks), (KbArtifact::VectorIndex, vectors), (KbArtifact::FullTextIndex, full_text)];
    KnowledgeBase {
        artifacts: artifacts.into_iter().collect(),
        bm25: Bm25Options::default(),
        embedder: Some(hashing(64)),
    }
}

fn retrieve(memory: &MemoryContext, mode: SearchMode, kb: &KnowledgeBase, cases: &[(&str, &str)]) -> Retrieve {
    let (queries, unit) = queries(cases);
    let mode = ModeSpec::Built { mode: Arc::new(mode), kb: kb.clone(), trace: true };
    Retrieve { mode, queries: memory.put(&queries), unit, top_k: 2, salt: 0 }
}

/// What a mode finds for some cases.
fn found(memory: &MemoryContext, mode: SearchMode, kb: &KnowledgeBase, cases: &[(&str, &str)]) -> Vec<Retrieved> {
    let (outputs, _) = run(memory, &retrieve(memory, mode, kb, cases));
    memory.read::<Results>(&outputs["results"]).rows
}

fn ids(row: &Retrieved) -> Vec<&str> {
    row.results.iter().map(|hit| hit.id.as_str()).collect()
}

fn hybrid() -> HybridSearch {
    HybridSearch {
        parts: vec![
            HybridPart { mode: SearchMode::Vector(VectorSearch), weight: 1.0 },
            HybridPart { mode: SearchMode::FullText(FullTextSearch), weight: 1.0 },
        ],
        rrf_k: 60.0,
        candidates: None,
    }
}

#[test]
fn each_text_is_embedded_once_with_its_title() {
    let memory = MemoryContext::default();
    let mut rows = chunks().rows;
    // The title is part of what is embedded: the same text under another title is another text.
    rows.push(chunk("c4", "again", None, &rows[1].text));
    rows.push(chunk("c5", "titled", Some("Quay"), &rows[1].text));
    let ran = memory.run(&embed(memory.put(&Chunks { rows: rows.clone() })));
    assert_eq!((ran.0.failed, ran.output("embeddings").rows), (0, 5));
    assert_eq!(memory.computed(), ["c1", "c2", "c3", "c5"]);
    let embeddings: Embeddings = ran.read("embeddings");
    assert_eq!((embeddings.texts(), embeddings.dimensions(), embeddings.present()), (5, 64, vec![0, 1, 2, 3, 4]));
    let vectors: Vec<&[f32]> = embeddings.vectors().chunks(64).collect();
    assert_eq!(vectors[1], vectors[3]);
    assert_ne!(vectors[1], vectors[4]);
    // A new chunk costs its own text, in whatever unit the others were.
    rows.insert(0, chunk("c0", "new", None, "A new buoy."));
    run(&memory, &embed(memory.put(&Chunks { rows })));
    assert_eq!(memory.computed(), ["c0"]);
}

#[test]
fn keys_of_the_build_hold_its_inputs_and_options() {
    let base = embed(Digest::of(b"chunks"));
    let key = key_of(&base);
    assert_ne!(key_of(&embed(Digest::of(b"others"))), key);
    assert_ne!(key_of(&Embed { embedder: hashing(32), ..base.clone() }), key);
    assert_ne!(key_of(&Embed { salt: 1, ..base }), key);

    let base = BuildVectorIndex { embeddings: Digest::of(b"vectors"), options: VectorOptions::default(), salt: 0 };
    let with = |options| key_of(&BuildVectorIndex { options, ..base.clone() });
    let exact = VectorOptions::default();
    let hnsw = VectorOptions { index: VectorIndexKind::Hnsw, ..exact };
    assert_ne!(with(VectorOptions { metric: Metric::Dot, ..exact }), with(exact));
    assert_ne!(with(hnsw), with(exact));
    assert_ne!(with(VectorOptions { min_rows: 7, ..hnsw }), with(hnsw));
    // Where every vector is compared anyway, the number says nothing.
    assert_eq!(with(VectorOptions { min_rows: 7, ..exact }), with(exact));
    assert_ne!(key_of(&BuildVectorIndex { embeddings: Digest::of(b"others"), ..base.clone() }), with(exact));
}

#[test]
fn the_nearest_chunks_are_found_and_said_to_be() {
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
    // Asked with a chunk's own words, that chunk is nearest.
    let cases = [("q1", "Ships unload grain at the quay. The quay is long."), ("q2", "Tides")];
    let rows = found(&memory, SearchMode::Vector(VectorSearch), &kb, &cases);
    assert_eq!((ids(&rows[0])[0], ids(&rows[1])[0]), ("c2", "c3"));
    let hit = &rows[0].results[0];
    assert!((hit.score.expect("a score") - 1.0).abs() < 1e-6);
    assert_eq!((hit.kind.as_str(), &hit.source["document_id"], &*hit.text), ("chunk", &"quay".into(), cases[0].1));
    let event = json!({"mode": "vector_search", "top_k": 2, "result_count": 2, "metric": "cosine", "exact": true});
    assert_eq!(rows[0].metadata["trace"], json!([event]));
}

#[test]
fn what_a_case_gets_does_not_depend_on_the_others() {
    let many: Vec<(String, String)> = (0..50).map(|i| (format!("q{i}"), format!("ships {i} at the quay"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    for mode in [SearchMode::Vector(VectorSearch), SearchMode::Hybrid(hybrid())] {
        let memory = MemoryContext::default();
        let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
        let together = found(&memory, mode.clone(), &kb, &many);
        for case in [0, 7, 49] {
            // Another context, so that no row is kept from before.
            let memory = MemoryContext::default();
            let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
            assert_eq!(found(&memory, mode.clone(), &kb, &many[case..=case])[0], together[case]);
        }
    }
}

#[test]
fn only_new_queries_are_asked_and_embedded() {
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
    let mode = SearchMode::Vector(VectorSearch);
    found(&memory, mode.clone(), &kb, &[("q1", "grain"), ("q2", "tides")]);
    // The case's row, and its text's.
    assert_eq!(memory.computed(), ["q1", "q1", "q2", "q2"]);
    found(&memory, mode.clone(), &kb, &[("q3", "keeper"), ("q1", "grain"), ("q2", "tides")]);
    assert_eq!(memory.computed(), ["q3", "q3"]);
    // Another mode finds the texts embedded.
    found(&memory, SearchMode::Hybrid(hybrid()), &kb, &[("q1", "grain"), ("q2", "tides")]);
    assert_eq!(memory.computed(), ["q1", "q2"]);
}

#[test]
fn an_index_of_neighbours_is_used_from_its_size_on_and_says_so() {
    let memory = MemoryContext::default();
    let options = |min_rows| VectorOptions { index: VectorIndexKind::Hnsw, min_rows, ..VectorOptions::default() };
    for (min_rows, exact) in [(3, false), (4, true)] {
        let kb = knowledge_base(&memory, &chunks(), options(min_rows));
        let index: VectorIndex = memory.read(&kb.artifacts[&KbArtifact::VectorIndex]);
        assert_eq!(index.exact(), exact);
        let rows = found(&memory, SearchMode::Vector(VectorSearch), &kb, &[("q", "Ships unload grain at the quay.")]);
        assert_eq!((ids(&rows[0])[0], &rows[0].metadata["trace"][0]["exact"]), ("c2", &exact.into()));
    }
}

#[test]
fn retrieval_keys_hold_what_the_mode_reads_and_nothing_else() {
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
    let with = |kb: &KnowledgeBase, artifact, digest| {
        let mut kb = kb.clone();
        kb.artifacts.insert(artifact, digest);
        kb
    };
    let key = |mode: &SearchMode, kb: &KnowledgeBase| key_of(&retrieve(&memory, mode.clone(), kb, &[("q", "grain")]));
    let other = Digest::of(b"other");
    let vector = SearchMode::Vector(VectorSearch);
    let base = key(&vector, &kb);
    for artifact in [KbArtifact::Chunks, KbArtifact::VectorIndex] {
        assert_ne!(key(&vector, &with(&kb, artifact, other)), base);
    }
    assert_ne!(key(&vector, &KnowledgeBase { embedder: Some(hashing(32)), ..kb.clone() }), base);
    assert_eq!(key(&vector, &with(&kb, KbArtifact::FullTextIndex, other)), base);
    assert_eq!(key(&vector, &KnowledgeBase { bm25: Bm25Options { k1: 2.0, b: 0.1 }, ..kb.clone() }), base);

    let fused = |hybrid: HybridSearch| SearchMode::Hybrid(hybrid);
    let base = key(&fused(hybrid()), &kb);
    for artifact in [KbArtifact::Chunks, KbArtifact::VectorIndex, KbArtifact::FullTextIndex] {
        assert_ne!(key(&fused(hybrid()), &with(&kb, artifact, other)), base);
    }
    assert_ne!(key(&fused(hybrid()), &KnowledgeBase { bm25: Bm25Options { k1: 2.0, b: 0.1 }, ..kb.clone() }), base);
    assert_eq!(key(&fused(hybrid()), &with(&kb, KbArtifact::Entities, other)), base);
    let mut weighted = hybrid();
    weighted.parts[0].weight = 2.0;
    let mut swapped = hybrid();
    swapped.parts.reverse();
    let options = [
        HybridSearch { rrf_k: 10.0, ..hybrid() },
        HybridSearch { candidates: Some(50), ..hybrid() },
        HybridSearch { parts: hybrid().parts[..1].to_vec(), ..hybrid() },
        weighted,
        swapped,
    ];
    for other in options {
        assert_ne!(key(&fused(other.clone()), &kb), base, "{other:?}");
    }
}

#[test]
fn an_index_of_other_chunks_is_refused() {
    let memory = MemoryContext::default();
    let mut kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
    kb.artifacts.insert(KbArtifact::Chunks, memory.put(&Chunks { rows: chunks().rows[..2].to_vec() }));
    let retrieve = retrieve(&memory, SearchMode::Vector(VectorSearch), &kb, &[("q", "grain")]);
    let error = retrieve.run(&memory).expect_err("refused");
    assert!(
        matches!(&error.kind, StageErrorKind::Artifact { why, .. } if why == "indexes 3 chunks, expected 2"),
        "{error}"
    );
}

#[test]
fn a_query_of_another_length_puts_its_embedder_in_doubt() {
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
    let kb = KnowledgeBase { embedder: Some(hashing(32)), ..kb };
    // In every mode that asks this one.
    for mode in [SearchMode::Vector(VectorSearch), SearchMode::Hybrid(hybrid())] {
        let error = retrieve(&memory, mode, &kb, &[("q", "grain")]).run(&memory).expect_err("an error");
        let StageErrorKind::Doubt(why) = &error.kind else { panic!("{error}") };
        assert!(why.starts_with("the embedder gave vectors of 64 and of 32 numbers"), "{why}");
    }
}

#[test]
fn hybrid_puts_first_what_both_find_and_tells_why() {
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
    let rows = found(&memory, SearchMode::Hybrid(hybrid()), &kb, &[("q", "Where do ships unload grain?")]);
    let hit = &rows[0].results[0];
    assert_eq!((hit.id.as_str(), hit.score), ("c2", Some(1.0 / 61.0 + 1.0 / 61.0)));
    let ranks = hit.metadata["ranks"].as_array().expect("ranks");
    let of = |i: usize| (&ranks[i]["mode"], &ranks[i]["rank"]);
    assert_eq!(of(0), (&"vector_search".into(), &1.into()));
    assert_eq!(of(1), (&"full_text_search".into(), &1.into()));
    assert!(ranks.iter().all(|rank| rank["score"].is_f64()));
    let trace = rows[0].metadata["trace"].as_array().expect("a trace");
    let modes: Vec<_> = trace.iter().map(|event| event["mode"].as_str().unwrap_or_default()).collect();
    assert_eq!(modes, ["vector_search", "full_text_search", "hybrid_search"]);
    // Each part gives max(3 * top_k, 50) candidates.
    assert_eq!((&trace[0]["top_k"], &trace[2]["candidates"]), (&50.into(), &50.into()));
    assert_eq!(trace[2]["top_k"], 2);
    assert_eq!(
        trace[2]["parts"],
        json!([
            {"mode": "vector_search", "weight": 1.0, "result_count": 3},
            {"mode": "full_text_search", "weight": 1.0, "result_count": 2},
        ])
    );
}

#[test]
fn a_part_without_weight_is_not_asked() {
    let mut mode = hybrid();
    mode.parts[0].weight = 0.0;
    let mode = SearchMode::Hybrid(mode);
    let mut reads = Default::default();
    mode.reads(&mut reads);
    assert_eq!(reads.into_iter().collect::<Vec<_>>(), [KbArtifact::Chunks, KbArtifact::FullTextIndex]);
    let memory = MemoryContext::default();
    let kb = knowledge_base(&memory, &chunks(), VectorOptions::default());
    let rows = found(&memory, mode, &kb, &[("q", "grain")]);
    assert_eq!(ids(&rows[0]), ["c2"]);
}

/// A server that embeds what does not speak of poison: the vector is the text's length and 1.
fn embeddings_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/v1", listener.local_addr().expect("address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut text = Vec::new();
            let mut buffer = [0; 4096];
            let body = loop {
                let count = stream.read(&mut buffer).unwrap_or(0);
                text.extend_from_slice(&buffer[..count]);
                let all = String::from_utf8_lossy(&text).into_owned();
                let body = all.split_once("\r\n\r\n").map(|(_, body)| body.to_string()).unwrap_or_default();
                if let Ok(json) = serde_json::from_str::<serde_json::Value>(&body) {
                    break json;
                }
                if count == 0 {
                    break serde_json::Value::Null;
                }
            };
            let inputs: Vec<String> = match &body["input"] {
                serde_json::Value::String(text) => vec![text.clone()],
                list => list.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.into())).collect(),
            };
            let (status, reply) = match inputs.iter().any(|text| text.contains("poison")) {
                true => ("400 Bad Request", json!({"error": {"message": "no"}})),
                false => {
                    let entry = |(index, text): (usize, &String)| json!({"index": index, "embedding": [text.len(), 1]});
                    ("200 OK", json!({"data": inputs.iter().enumerate().map(entry).collect::<Vec<_>>()}))
                }
            };
            let reply = reply.to_string();
            let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
            let _ = stream.write_all(format!("{head}content-length: {}\r\n\r\n{reply}", reply.len()).as_bytes());
        }
    });
    url
}

#[test]
fn a_text_that_cannot_be_embedded_is_left_out_and_tried_again() {
    let memory = MemoryContext::default();
    let endpoint = Endpoint {
        label: "test".to_string(),
        base_url: embeddings_server(),
        headers: Vec::new(),
        variables: Vec::new(),
    };
    let embedder = EmbedderSpec::OpenAi(OpenAiEmbedder {
        model: "length".to_string(),
        endpoint,
        dimensions: None,
        normalize: false,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        batch: 8,
        price: Price::default(),
    });
    let rows = ["short", "poison", "a longer one"].map(|text| chunk(text, "d", None, text)).to_vec();
    let chunks = memory.put(&Chunks { rows });
    let action = Embed { input: EmbedInput::Chunks(chunks), embedder: embedder.clone(), salt: 0 };
    let ran = memory.run(&action);
    assert_eq!((ran.0.failed, ran.0.rejected), (1, 0));
    let embeddings: Embeddings = ran.read("embeddings");
    assert_eq!((embeddings.texts(), embeddings.present()), (3, vec![0, 2]));
    assert_eq!(embeddings.vectors(), [5.0, 1.0, 12.0, 1.0]);
    memory.computed();

    // What there is can be searched; the failed query fails its case alone.
    let options = VectorOptions { metric: Metric::Dot, ..VectorOptions::default() };
    let index = BuildVectorIndex { embeddings: ran.digest("embeddings"), options, salt: 0 };
    let index = run(&memory, &index).0["vector_index"];
    let kb = KnowledgeBase {
        artifacts: [(KbArtifact::Chunks, chunks), (KbArtifact::VectorIndex, index)].into_iter().collect(),
        bm25: Bm25Options::default(),
        embedder: Some(embedder),
    };
    let cases = [("q1", "any"), ("q2", "more poison"), ("q3", "words")];
    let rows = found(&memory, SearchMode::Vector(VectorSearch), &kb, &cases);
    assert_eq!((ids(&rows[0]), ids(&rows[2])), (vec!["a longer one", "short"], vec!["a longer one", "short"]));
    assert_eq!(rows[2].results[0].score, Some(5.0 * 12.0 + 1.0));
    assert_eq!(rows[1].error.as_ref().map(|error| error.kind), Some(RowErrorKind::Refused));
    memory.computed();

    // Only the failed text is asked for again.
    memory.run(&action);
    assert_eq!(memory.computed(), ["poison"]);
}
