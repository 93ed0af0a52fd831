//! `benchmark: {adapter: uda}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, UdaDocuments, UdaSpec, UdaSubset};

use super::super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::path;

static SUBSETS: [Choice; 6] = [
    Choice { word: "fin", doc: "FinQA: sums over annual reports." },
    Choice { word: "tat", doc: "TAT-QA: spans, counts and sums over annual reports." },
    Choice { word: "paper_text", doc: "Qasper: what the text of a paper says." },
    Choice { word: "paper_tab", doc: "Qasper: what the tables of a paper say." },
    Choice { word: "feta", doc: "FeTaQA: what tables of Wikipedia pages say, in a sentence." },
    Choice { word: "nq", doc: "Natural Questions on Wikipedia pages." },
];

static DOCUMENTS: [Choice; 2] = [
    Choice { word: "all", doc: "All questions are cases; those whose document is not there are skipped." },
    Choice { word: "present", doc: "Only questions whose document is there are cases." },
];

/// What the adapter accepts.
pub(super) static UDA: Record = Record {
    name: "uda",
    doc: "A subset of UDA-Benchmark: questions on single documents.",
    fields: &[
        Field {
            name: "path",
            doc: "UDA-Benchmark's repository, or a folder with the files of its `dataset` folder, relative to the evaluation file. \
                  Documents are found by their names anywhere below.",
            shape: TEXT,
            need: Need::Required,
        },
        Field { name: "subset", doc: "The subset.", shape: Shape::Choice(&SUBSETS), need: Need::Required },
        Field {
            name: "documents",
            doc: "Which questions are asked, by what is there of their documents.",
            shape: Shape::Choice(&DOCUMENTS),
            need: Need::Default("\"all\""),
        },
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    AdapterSpec::Uda(UdaSpec {
        path: path(view, base, "path").unwrap_or_default(),
        // Of a word that is no subset the check has told.
        subset: view.get("subset").text().and_then(UdaSubset::of_word).unwrap_or(UdaSubset::Fin),
        documents: match view.get("documents").text() {
            Some("present") => UdaDocuments::Present,
            _ => UdaDocuments::All,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::view::tests::spelled_out;
    use super::super::tests::read;
    use super::*;

    #[test]
    fn every_subset_has_a_word() {
        for (subset, choice) in UdaSubset::ALL.into_iter().zip(&SUBSETS) {
            assert_eq!(subset.word(), choice.word);
            let spec = read(&format!("{{adapter: uda, path: UDA, subset: {}}}", choice.word)).expect("a benchmark");
            let expected = UdaSpec { path: "conf/UDA".into(), subset, documents: UdaDocuments::All };
            assert_eq!(spec.adapter, AdapterSpec::Uda(expected));
        }
        assert!(read("{adapter: uda, path: x}").is_err());
        assert!(read("{adapter: uda, path: x, subset: paper}").unwrap_err()[0].contains("expected one of `fin`"));
    }

    #[test]
    fn missing_documents_are_skipped_unless_asked_otherwise() {
        let documents = |text: &str| match read(text).expect("a benchmark").adapter {
            AdapterSpec::Uda(spec) => spec.documents,
            other => panic!("{other:?}"),
        };
        assert_eq!(documents("{adapter: uda, path: x, subset: nq, documents: present}"), UdaDocuments::Present);
        let defaults = spelled_out(UDA.fields);
        assert_eq!(documents(&format!("{{adapter: uda, path: x, subset: nq, {}", &defaults[1..])), UdaDocuments::All);
    }
}
