//! SciFact as it is distributed, in BEIR's layout.

use ragstage_stages::prepare::{AdapterSpec, BeirSpec, BenchmarkSpec, Selection};

use crate::golden::data;
use crate::prepared::prepare;

#[test]
fn scifact_is_read_whole() {
    let Some(path) = data("beir/scifact") else { return };
    let spec = BeirSpec { path, dataset: "scifact".to_string(), split: "test".to_string() };
    let spec = BenchmarkSpec { adapter: AdapterSpec::Beir(spec), selection: Selection::default() };
    let scifact = prepare(&spec, &|_, bytes| bytes).expect("SciFact is well formed");

    assert_eq!(scifact.units.benchmark.task_type, "scientific_fact_retrieval");
    assert_eq!(scifact.documents.rows.len(), 5_183);
    assert_eq!(scifact.queries.rows.len(), 300);
    let judgements = |key: &str| -> usize {
        let counts = scifact.golds.rows.iter().map(|gold| gold.metadata[key].as_object().map_or(0, |map| map.len()));
        counts.sum()
    };
    assert_eq!(judgements("judgements"), 339);
    assert_eq!(scifact.golds.rows.iter().map(|gold| gold.evidence.len()).sum::<usize>(), 339);
    assert!(scifact.documents.rows.iter().all(|document| document.size > Some(0)));
    let unit = &scifact.units.units[0];
    assert_eq!((unit.documents, unit.cases), (5_183, 300));
}
