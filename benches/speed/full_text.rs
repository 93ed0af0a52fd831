//! BM25 on SciFact (5,183 documents, 300 queries), where that is: below `$RAGSTAGE_DATA`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use ragstage::exec::{ACTIONS_FILE, RecordedAction};
use ragstage_cache::Store;
use ragstage_stages::artifact::{Chunks, Queries};
use ragstage_stages::build::full_text::{
    Analyzer, AnalyzerOptions, Bm25, Bm25Options, Index, TITLE_WEIGHT, indexed_text,
};
use ragstage_stages::contract::Artifact;

use crate::figure::{Figure, median};
use crate::space::Space;

/// Measures the index by itself, as peers are measured, and the actions around it; nothing where the data is not there.
pub fn figures() -> Vec<Figure> {
    let data = std::env::var_os("RAGSTAGE_DATA").map(PathBuf::from);
    let Some(path) = data.map(|data| data.join("beir/scifact")).filter(|path| path.is_dir()) else {
        eprintln!("full_text: set RAGSTAGE_DATA to a folder with beir/scifact for figures on SciFact");
        return Vec::new();
    };
    let evaluation = format!(
        "name: scifact\nbenchmark: {{adapter: beir, path: {}, dataset: scifact, split: test}}\n\
         recipe: {{name: whole, chunk: {{splitter: token, size: 100000, overlap: 0}}}}\n\
         queries:\n  - {{mode: full_text_search, name: bm25, top_k: 10}}\n\
         answer: none\nevaluators: [nDCG@10]\n",
        serde_json::Value::from(path.display().to_string()),
    );
    let space = Space::of_evaluation(&evaluation);
    let (_, build) = space.actions("run --quiet --until build", "full_text_index");
    let (_, retrieve) = space.actions("run --quiet", "retrieve");
    let mut figures = alone(&space);
    figures.push(Figure::new("SciFact: the action `full_text_index`, one cold run", build.iter().sum(), "ms"));
    let name = "SciFact: the action `retrieve`, 300 queries, 10 hits each, one cold run";
    figures.push(Figure::new(name, retrieve.iter().sum(), "ms"));
    figures
}

/// The index in memory, without stages and store around it.
fn alone(space: &Space) -> Vec<Figure> {
    let store = Store::open(&space.path(".ragstage")).expect("the store of the run");
    let run = store.runs().latest("scifact").expect("run records").expect("the run");
    let actions: std::collections::BTreeMap<String, RecordedAction> =
        store.runs().read_json(run.id(), ACTIONS_FILE).expect("actions").expect("actions");
    let output = |name: &str| {
        let digest = actions.values().find_map(|action| action.outputs.get(name)).expect("an output");
        store.cas().get(digest).expect("a blob")
    };
    let chunks = Chunks::decode(output("chunks")).expect("chunks").rows;
    let queries = Queries::decode(output("queries")).expect("queries").rows;
    let analyzer = Analyzer::new(&AnalyzerOptions::default()).expect("an analyzer");
    let build =
        || Index::build(&analyzer, chunks.len(), &|i| indexed_text(&chunks[i], TITLE_WEIGHT)).expect("an index");
    let time = |work: &dyn Fn()| {
        let times = (0..5).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        });
        median(times.collect())
    };
    let build_ms = time(&|| drop(build()));
    let bm25 = Bm25::new(Arc::new(build()), &Bm25Options::default()).expect("a ranking");
    let ask = |top_k: usize| time(&|| queries.iter().for_each(|query| drop(bm25.search(&query.text, top_k))));
    vec![
        Figure::new("SciFact: index of 5,183 documents in memory, all cores", build_ms, "ms"),
        Figure::new("SciFact: 300 queries, 10 hits each, one thread", ask(10), "ms"),
        Figure::new("SciFact: 300 queries, 1,000 hits each, one thread", ask(1000), "ms"),
    ]
}
