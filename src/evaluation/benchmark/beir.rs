//! `benchmark: {adapter: beir}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, BeirSpec};

use super::super::diagnostic::Faults;
use super::super::shape::{Field, Need, Record, TEXT};
use super::super::view::View;
use super::{ID, folder_name, path, split, split_of, text};

/// What the adapter accepts.
pub(super) static BEIR: Record = Record {
    name: "beir",
    doc: "A folder in the format of BEIR.",
    fields: &[
        Field {
            name: "path",
            doc: "The folder with `corpus.jsonl`, `queries.jsonl` and `qrels/`, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "dataset",
            doc: "Id of the dataset; the folder's name in lower case by default.",
            shape: ID,
            need: Need::Optional,
        },
        split(ID),
        Field {
            name: "dataset_url",
            doc: "Where the dataset is from; the place of BEIR's own datasets by default. Nothing is fetched from it.",
            shape: TEXT,
            need: Need::Optional,
        },
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path, faults: &mut Faults) -> AdapterSpec {
    let path = path(view, base, "path").unwrap_or_default();
    let dataset = text(view, "dataset").or_else(|| folder_name(&path));
    if dataset.is_none() && view.get("path").is_given() && !view.is_faulty("dataset") {
        let at = view.get("path");
        let message = "this path does not end in a folder's name that could be the dataset's";
        faults.add_hint(at.start(), &at.path, message, "name the dataset with `dataset`".to_string());
    }
    AdapterSpec::Beir(BeirSpec {
        path,
        dataset: dataset.unwrap_or_default(),
        split: split_of(view),
        dataset_url: text(view, "dataset_url"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    #[test]
    fn beir_takes_its_dataset_from_the_folder() {
        let spec = read("{adapter: beir, path: ../SciFact/, sample: 50, categories: [howto], category_label: type}")
            .expect("a benchmark");
        let beir = BeirSpec {
            path: "conf/../SciFact/".into(),
            dataset: "scifact".to_string(),
            split: "test".to_string(),
            dataset_url: None,
        };
        assert_eq!(spec.adapter, AdapterSpec::Beir(beir));
        assert_eq!(spec.selection.sample, Some(50));
        assert_eq!(spec.selection.categories, Some(vec!["howto".to_string()]));
        assert!(read("{adapter: beir, path: ..}").unwrap_err()[0].starts_with("1:23 path: this path does not end"));
        assert!(read("{adapter: beir, path: .., dataset: x}").is_ok());
    }

    #[test]
    fn the_ids_of_a_beir_folder_are_no_paths() {
        let faults = read("{adapter: beir, path: x, dataset: a/b, split: 'a\\b'}").unwrap_err();
        assert_eq!(
            faults,
            [
                "1:35 dataset: expected an id, not a path, found `a/b` [write the folder under `path`]",
                "1:47 split: expected an id, not a path, found `a\\b` [write the folder under `path`]",
            ]
        );
        assert!(read("{adapter: beir, path: x, split: ' '}").is_err());
        assert!(read("{adapter: jsonl, documents: d, cases: c, split: a/b}").is_ok());
    }

    #[test]
    fn the_owner_says_where_it_is_from() {
        let spec = read("{adapter: beir, path: x, dataset_url: 'https://example.org/x.zip'}").expect("a benchmark");
        let url = Some("https://example.org/x.zip");
        assert!(matches!(spec.adapter, AdapterSpec::Beir(spec) if spec.dataset_url.as_deref() == url));
    }
}
