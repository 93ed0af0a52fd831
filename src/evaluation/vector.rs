//! `recipe.vector`: how vectors are compared.

use ragstage_stages::build::vector::VectorOptions;

use super::shape::{Choice, Field, Need, Record, Shape};
use super::view::View;

/// What `vector` accepts.
pub(super) static VECTOR: Record = Record {
    name: "vector",
    doc: "How vectors are compared.",
    fields: &[
        Field {
            name: "metric",
            doc: "What near means.",
            shape: Shape::Choice(&[
                Choice { word: "cosine", doc: "the cosine of the angle" },
                Choice { word: "dot", doc: "the dot product" },
                Choice { word: "l2", doc: "the Euclidean distance, negated" },
            ]),
            need: Need::Default("\"cosine\""),
        },
        Field {
            name: "index",
            doc: "How the nearest are found.",
            shape: Shape::Choice(&[
                Choice { word: "exact", doc: "every vector is compared" },
                Choice {
                    word: "hnsw",
                    doc: "a graph of neighbours is followed where there are at least `min_rows` vectors; not exact",
                },
            ]),
            need: Need::Default("\"exact\""),
        },
        Field {
            name: "min_rows",
            doc: "Vectors below which an `hnsw` index compares every vector all the same.",
            shape: Shape::Int { min: 1, max: u32::MAX as u64 },
            need: Need::Default("50000"),
        },
    ],
    together: &[],
};

/// The options that a checked `vector` stands for.
pub(super) fn convert(view: &View<'_>) -> VectorOptions {
    let default = VectorOptions::default();
    VectorOptions {
        metric: view.get("metric").choice().unwrap_or(default.metric),
        index: view.get("index").choice().unwrap_or(default.index),
        min_rows: view.get("min_rows").int().unwrap_or(default.min_rows),
    }
}
