//! BM25 on SciFact (5,183 documents, 300 queries), where that is: below `$RAGSTAGE_DATA`.

use std::path::PathBuf;

use crate::figure::Figure;
use crate::space::Space;

/// Measures build and query; nothing where the data is not there.
pub fn figures() -> Vec<Figure> {
    let data = std::env::var_os("RAGSTAGE_DATA").map(PathBuf::from);
    let Some(path) = data.map(|data| data.join("beir/scifact")).filter(|path| path.is_dir()) else {
        eprintln!("full_text: set RAGSTAGE_DATA to a folder with beir/scifact for figures on SciFact");
        return Vec::new();
    };
    let evaluation = format!(
        "name: scifact\nbenchmark: {{adapter: beir, path: {}, dataset: scifact, split: test}}\n\
         recipe: {{name: whole, chunk: {{splitter: token, size: 100000, overlap: 0}}}}\n\
         queries:\n  - {{mode: full_text_search, name: bm25, top_k: 1000}}\n\
         answer: none\nevaluators: [nDCG@10]\n",
        serde_json::Value::from(path.display().to_string()),
    );
    let space = Space::of_evaluation(&evaluation);
    space.ragstage("run --quiet --until materialize");
    let (_, chunk) = space.actions("run --quiet --until build --jobs 2", "full_text_index");
    let (_, retrieve) = space.actions("run --quiet --until query --jobs 2", "retrieve");
    let sum = |times: Vec<f64>| times.iter().sum::<f64>();
    vec![
        Figure::new("SciFact: full-text index of 5,183 chunks", sum(chunk), "ms"),
        Figure::new("SciFact: 300 queries, 1,000 hits each, rows kept", sum(retrieve), "ms"),
    ]
}
