//! BM25 on 100,000 made-up documents, and on SciFact (5,183 documents, 300 queries) where that is: below `$RAGSTAGE_DATA`.
//!
//! The made-up documents and queries are left in cargo's temporary folder for `benches/peers.py`, so that peers index the
//! same texts.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ragstage::exec::{ACTIONS_FILE, RecordedAction};
use ragstage_cache::Store;
use ragstage_stages::artifact::{Chunks, Queries};
use ragstage_stages::build::full_text::{
    Analyzer, AnalyzerOptions, Bm25, Bm25Options, Index, TITLE_WEIGHT, indexed_text,
};
use ragstage_stages::contract::Artifact;

use crate::benchmark;
use crate::figure::{Figure, median};
use crate::space::Space;

const DOCUMENTS: usize = 100_000;
const QUERIES: usize = 300;

/// Measures the index by itself, as peers are measured, and on SciFact the actions around it, where the data is there.
pub fn figures() -> Vec<Figure> {
    let mut figures = made_up();
    figures.extend(scifact());
    figures
}

/// A field of each line.
fn texts(lines: &str, field: &str) -> Vec<String> {
    let text = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        value[field].as_str().unwrap_or_default().to_string()
    };
    lines.lines().map(text).collect()
}

fn made_up() -> Vec<Figure> {
    let corpus = benchmark::corpus(DOCUMENTS, QUERIES);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("documents-100k.jsonl"), &corpus.documents).expect("the documents");
    std::fs::write(folder.join("queries-100k.jsonl"), &corpus.cases).expect("the queries");
    let documents = texts(&corpus.documents, "text");
    let queries = texts(&corpus.cases, "query");
    in_memory("100,000 documents", documents.len(), &|i| Cow::Borrowed(&documents[i]), &queries, 3)
}

fn scifact() -> Vec<Figure> {
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
    let texts: Vec<Cow<'_, str>> = chunks.iter().map(|chunk| indexed_text(chunk, TITLE_WEIGHT)).collect();
    let queries: Vec<String> = queries.into_iter().map(|query| query.text).collect();
    in_memory("SciFact", texts.len(), &|i| Cow::Borrowed(&texts[i]), &queries, 5)
}

/// Building and asking without stages and store around it; medians of `times`.
fn in_memory<'t>(
    corpus: &str,
    documents: usize,
    text: &(dyn Fn(usize) -> Cow<'t, str> + Sync),
    queries: &[String],
    times: usize,
) -> Vec<Figure> {
    let analyzer = Analyzer::new(&AnalyzerOptions::default()).expect("an analyzer");
    let build = || Index::build(&analyzer, documents, text).expect("an index");
    let time = |work: &dyn Fn()| {
        let times = (0..times).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        });
        median(times.collect())
    };
    let build_ms = time(&|| drop(build()));
    let bm25 = Bm25::new(Arc::new(build()), &Bm25Options::default()).expect("a ranking");
    let ask = |top_k: usize| time(&|| queries.iter().for_each(|query| drop(bm25.search(query, top_k))));
    vec![
        Figure::new(format!("{corpus}: index of {documents} texts in memory, all cores"), build_ms, "ms"),
        Figure::new(format!("{corpus}: {} queries, 10 hits each, one thread", queries.len()), ask(10), "ms"),
        Figure::new(format!("{corpus}: {} queries, 1,000 hits each, one thread", queries.len()), ask(1000), "ms"),
    ]
}
