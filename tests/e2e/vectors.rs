//! Vector modes: what runs again after a change of the embedder, of how vectors are compared, and of how modes are fused.

use super::small::{self, CASE_COUNT};
use super::space::{Ran, Space};

/// The small evaluation with full text, vectors and both fused, evaluated once.
fn evaluated() -> Space {
    let space = Space::new();
    small::write(&space);
    space.edit(
        "evaluation.yaml",
        "    chunk: {size: 12}\n",
        "    chunk: {size: 12}\n    embed: {provider: hashing, dimensions: 64}\n    vector: {metric: cosine}\n",
    );
    space.edit(
        "evaluation.yaml",
        "top_k: 3}\n",
        "top_k: 3}\n  - {mode: vector_search, name: vector, top_k: 3}\n  \
         - {mode: hybrid_search, name: hybrid, top_k: 3, trace: true}\n",
    );
    let ran = space.run("--jobs 1").expect(0);
    assert_eq!((ran.executed()["embed"], ran.executed()["vector_index"], ran.executed()["retrieve"]), (1, 1, 3));
    // Each chunk's text once, and each query's once for both modes.
    assert_eq!((ran.row_counts()["retrieve"], embedded(&ran)), (3 * CASE_COUNT, CASE_COUNT));
    space.run("").expect(0).expect_nothing();
    space
}

/// How many queries were embedded.
fn embedded(ran: &Ran) -> usize {
    ran.of("row_done").iter().filter(|event| event["step"] == "retrieve" && event["nested"] == true).count()
}

/// Labels of the retrievals that ran.
fn retrieved(labels: &[String]) -> Vec<&str> {
    labels.iter().filter(|label| label.starts_with("retrieve ")).filter_map(|label| label.rsplit(' ').next()).collect()
}

#[test]
fn another_embedder() {
    let space = evaluated();
    space.edit("evaluation.yaml", "dimensions: 64", "dimensions: 128");
    let ran = space.run("").expect(0);
    let executed = ran.executed();
    assert_eq!((executed["embed"], executed["vector_index"], executed["retrieve"]), (1, 1, 2));
    assert!(["chunk", "full_text_index", "materialize"].iter().all(|step| !executed.contains_key(*step)));
    let mut modes = ran.executed_labels();
    modes.sort();
    assert_eq!(retrieved(&modes), ["hybrid", "vector"]);
}

#[test]
fn another_metric_embeds_nothing() {
    let space = evaluated();
    space.edit("evaluation.yaml", "metric: cosine", "metric: l2");
    let ran = space.run("").expect(0);
    assert!(!ran.executed().contains_key("embed"));
    assert_eq!((ran.executed()["vector_index"], ran.executed()["retrieve"]), (1, 2));
    // The queries' vectors are there.
    assert_eq!((ran.row_counts()["retrieve"], embedded(&ran)), (2 * CASE_COUNT, 0));
}

#[test]
fn how_modes_are_fused() {
    let space = evaluated();
    space.edit("evaluation.yaml", "trace: true", "trace: true, options: {rrf_k: 10}");
    let ran = space.run("").expect(0);
    assert_eq!(retrieved(&ran.executed_labels()), ["hybrid"]);
    assert!(["embed", "vector_index", "chunk"].iter().all(|step| !ran.executed().contains_key(*step)));
}

#[test]
fn a_damaged_index_is_made_again() {
    let space = evaluated();
    let is_index = |bytes: &[u8]| bytes.starts_with(b"RSVECIDX");
    let files = space.files(".ragstage/cas-v1");
    let (name, bytes) = files.iter().find(|(_, bytes)| is_index(bytes)).expect("an index");
    let mut damaged = bytes.clone();
    damaged[70] ^= 1;
    std::fs::write(space.path(".ragstage/cas-v1").join(name), damaged).expect("write");
    space.edit("evaluation.yaml", "name: vector, top_k: 3", "name: vector, top_k: 2");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed()["vector_index"], 1);
    assert!(!ran.executed().contains_key("embed"));
    assert_eq!(std::fs::read(space.path(".ragstage/cas-v1").join(name)).expect("read"), *bytes);
}

#[test]
fn an_index_of_neighbours_is_told_in_the_report() {
    let space = evaluated();
    space.edit("evaluation.yaml", "{metric: cosine}", "{metric: cosine, index: hnsw, min_rows: 5}");
    space.run("").expect(0);
    let report = space.json("reports/small/report.json");
    let vector = &report["ragstage"]["recipes"][0]["manifest"]["vector"];
    assert_eq!((&vector["vector.index"], &vector["vector.min_rows"]), (&"\"hnsw\"".into(), &"5".into()));
    let trace = report["case_results"].as_array().expect("results").iter().find_map(|case| {
        case["response"]["trace"].as_array()?.iter().find(|event| event["mode"] == "vector_search").cloned()
    });
    assert_eq!(trace.expect("an event")["exact"], false);
}
