//! Chunks and queries about a harbour, and actions over them.

use std::collections::HashMap;

use ragstage_cache::Digest;
use ragstage_stages::artifact::{Chunk, Chunks, Documents, Gold, Golds, Queries, Query, Unit, UnitRows};
use ragstage_stages::contract::Action;

use crate::memory::MemoryContext;

/// Runs an action; its outputs by name, with how many rows failed.
pub fn run(memory: &MemoryContext, action: &dyn Action) -> (HashMap<&'static str, Digest>, u64) {
    let ran = memory.run(action);
    let digests = ran.0.outputs.iter().map(|output| (output.name, ran.digest(output.name)));
    (digests.collect(), ran.0.failed)
}

/// A chunk `id` of document `document`.
pub fn chunk(id: &str, document: &str, title: Option<&str>, text: &str) -> Chunk {
    Chunk {
        chunk_id: id.to_string(),
        document_id: document.to_string(),
        name: format!("{document}.txt"),
        source_key: format!("raw/benchmarks/harbour/{document}.txt"),
        title: title.map(str::to_string),
        page_index: 0,
        chunk_index: 0,
        start: 0,
        end: text.chars().count() as u64,
        tokens: 1,
        heading: None,
        text: text.to_string(),
    }
}

/// A small harbour.
pub fn chunks() -> Chunks {
    Chunks {
        rows: vec![
            chunk("c1", "light", Some("Lighthouse"), "It was built in 1871. The keeper lives there."),
            chunk("c2", "quay", None, "Ships unload grain at the quay. The quay is long."),
            chunk("c3", "tide", Some("Tides"), "Tides rise twice a day. Ships wait for them."),
        ],
    }
}

/// Queries (id, text) and the unit of all of them.
pub fn queries(cases: &[(&str, &str)]) -> (Queries, Unit) {
    let query =
        |(case_id, text): &(&str, &str)| Query { case_id: case_id.to_string(), text: text.to_string(), category: None };
    let queries = Queries { rows: cases.iter().map(query).collect() };
    // The unit reads gold only for its gold digest.
    let golds = Golds { rows: cases.iter().map(|_| Gold::default()).collect() };
    let rows = UnitRows { unit_id: "all".to_string(), ..UnitRows::default() };
    let unit = Unit::over(rows, &Documents::default(), &queries, &golds, &Default::default()).expect("unit");
    (queries, unit)
}
