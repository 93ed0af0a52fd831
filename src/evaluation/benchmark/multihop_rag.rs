//! `benchmark: {adapter: multihop_rag}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, MultihopRagSpec};

use super::super::shape::{Field, Need, Record, TEXT};
use super::super::view::View;
use super::path;

/// What the adapter accepts.
pub(super) static MULTIHOP_RAG: Record = Record {
    name: "multihop_rag",
    doc: "MultiHop-RAG: questions on news whose answers need several articles.",
    fields: &[Field {
        name: "path",
        doc: "The folder with `corpus.json` and `MultiHopRAG.json`, relative to the evaluation file.",
        shape: TEXT,
        need: Need::Required,
    }],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    AdapterSpec::MultihopRag(MultihopRagSpec { path: path(view, base, "path").unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    #[test]
    fn it_has_a_folder_and_nothing_else() {
        let spec = read("{adapter: multihop_rag, path: ../MultiHop, sample: 20, categories: [null_query]}")
            .expect("a benchmark");
        assert_eq!(spec.adapter, AdapterSpec::MultihopRag(MultihopRagSpec { path: "conf/../MultiHop".into() }));
        assert_eq!(spec.selection.sample, Some(20));
        assert!(read("{adapter: multihop_rag}").is_err());
        assert!(read("{adapter: multihop_rag, path: x, split: test}").is_err());
    }
}
