//! `benchmark`: which dataset, read by which adapter, and which part of it.

mod beir;
mod command;
mod financebench;
mod hotpotqa;
mod jsonl;
mod locomo;
mod multihop_rag;
mod musique;
mod qasper;
mod question_scope;
mod syllabusqa;
mod trec;
mod uda;

use std::path::{Path, PathBuf};

use ragstage_stages::prepare::{BenchmarkSpec, Selection, Variant};

use super::diagnostic::Faults;
use super::shape::{Choice, Field, Need, Refusal, Shape, TEXT, Tagged, TextRule};
use super::view::View;

/// What `benchmark` accepts.
pub(super) static BENCHMARK: Tagged = Tagged {
    key: "adapter",
    doc: "The format of the dataset's own files.",
    variants: &[
        ("jsonl", &jsonl::JSONL),
        ("beir", &beir::BEIR),
        ("command", &command::COMMAND),
        ("hotpotqa", &hotpotqa::HOTPOTQA),
        ("musique", &musique::MUSIQUE),
        ("trec", &trec::TREC),
        ("locomo", &locomo::LOCOMO),
        ("syllabusqa", &syllabusqa::SYLLABUSQA),
        ("qasper", &qasper::QASPER),
        ("financebench", &financebench::FINANCEBENCH),
        ("multihop_rag", &multihop_rag::MULTIHOP_RAG),
        ("uda", &uda::UDA),
    ],
    shared: &[
        Field {
            name: "first",
            doc: "How many cases to keep, from the first on in the benchmark's order; all by default.",
            shape: Shape::Int { min: 1, max: u64::MAX },
            need: Need::Optional,
        },
        Field {
            name: "sample",
            doc: "How many cases to draw; all by default.",
            shape: Shape::Int { min: 1, max: u64::MAX },
            need: Need::Optional,
        },
        Field {
            name: "sample_documents",
            doc: "How many documents to draw of those that cases are about; cases of others are not asked. All by default.",
            shape: Shape::Int { min: 1, max: u64::MAX },
            need: Need::Optional,
        },
        Field {
            name: "stratify",
            doc: "Whether `sample` draws of each category in proportion.",
            shape: Shape::Bool,
            need: Need::Default("false"),
        },
        Field {
            name: "seed",
            doc: "Seed of the draw.",
            shape: Shape::Int { min: 0, max: u64::MAX },
            need: Need::Default("0"),
        },
        Field {
            name: "categories",
            doc: "Categories to keep; all by default.",
            shape: Shape::List { of: &TEXT, least: 1 },
            need: Need::Optional,
        },
        Field {
            name: "category_label",
            doc: "The label that is a case's category; the first of `category`, `question_type`, `type` by default.",
            shape: TEXT,
            need: Need::Optional,
        },
    ],
};

static VARIANTS: [Choice; 2] = [
    Choice { word: "own", doc: "Ours." },
    Choice { word: "openviking", doc: "Those of OpenViking's benchmark, to compare with its reports." },
];

/// The key `variant`.
const VARIANT: Field = Field {
    name: "variant",
    doc: "Whose questions, gold answers and evidence they are.",
    shape: Shape::Choice(&VARIANTS),
    need: Need::Default("\"own\""),
};

/// The variant of a checked `benchmark`.
fn variant(view: &View<'_>) -> Variant {
    view.get(VARIANT.name).choice().unwrap_or_default()
}

/// An id that a file's name is made of.
const ID: Shape = Shape::Text(&TextRule {
    expected: "an id",
    pattern: Some(r"^[^/\\]*[^\s/\\][^/\\]*$"),
    refuse: |text| {
        text.contains(['/', '\\']).then(|| Refusal {
            message: format!("expected an id, not a path, found `{text}`"),
            hint: Some("write the folder under `path`".to_string()),
        })
    },
});

/// The key `split`.
const fn split(shape: Shape) -> Field {
    Field { name: "split", doc: "The split of the dataset.", shape, need: Need::Default("\"test\"") }
}

static SCOPES: [Choice; 2] = [
    Choice { word: "corpus", doc: "one over all documents" },
    Choice { word: "document", doc: "one per document, which is asked its own cases" },
];

/// The key `scope` of datasets whose documents may have knowledge bases of their own.
const fn scope(default: &'static str) -> Field {
    Field {
        name: "scope",
        doc: "What a knowledge base is built for.",
        shape: Shape::Choice(&SCOPES),
        need: Need::Default(default),
    }
}

/// The split of a checked `benchmark`.
fn split_of(view: &View<'_>) -> String {
    text(view, "split").unwrap_or_else(|| "test".to_string())
}

/// The key `split` of datasets whose test split is not published with its gold.
const DEV: Field = Field { name: "split", doc: "The split of the dataset.", shape: ID, need: Need::Default("\"dev\"") };

/// The split of a checked `benchmark` of such a dataset.
fn dev(view: &View<'_>) -> String {
    text(view, "split").unwrap_or_else(|| "dev".to_string())
}

/// The text at `key`.
fn text(view: &View<'_>, key: &str) -> Option<String> {
    view.get(key).text().map(str::to_string)
}

/// The path at `key`; `base` is the folder of the evaluation file.
fn path(view: &View<'_>, base: &Path, key: &str) -> Option<PathBuf> {
    view.get(key).text().map(|path| base.join(path))
}

/// The last part of a path, in lower case.
fn folder_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_lowercase())
}

/// The benchmark that a checked `benchmark` stands for. `base` is the folder of the evaluation file.
/// `environment` gives the variables for `${NAME}` in a program's environment.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> BenchmarkSpec {
    let adapter = match view.get("adapter").text() {
        Some("beir") => beir::convert(view, base, faults),
        Some("command") => command::convert(view, base, environment, faults),
        Some("hotpotqa") => hotpotqa::convert(view, base),
        Some("musique") => musique::convert(view, base),
        Some("trec") => trec::convert(view, base),
        Some("locomo") => locomo::convert(view, base),
        Some("syllabusqa") => syllabusqa::convert(view, base),
        Some("qasper") => qasper::convert(view, base),
        Some("financebench") => financebench::convert(view, base),
        Some("multihop_rag") => multihop_rag::convert(view, base),
        Some("uda") => uda::convert(view, base),
        // Of a word that is no adapter the check has told.
        _ => jsonl::convert(view, base),
    };
    let stratify = view.get("stratify");
    if stratify.bool() == Some(true) && !view.get("sample").is_given() {
        let message = "there is no `sample` that could be drawn by category";
        faults.add_hint(
            stratify.start(),
            &stratify.path,
            message,
            "say with `sample` how many cases to draw".to_string(),
        );
    }
    let selection = Selection {
        first: view.get("first").int(),
        sample: view.get("sample").int(),
        sample_documents: view.get("sample_documents").int(),
        stratify: view.get("stratify").bool().unwrap_or_default(),
        seed: view.get("seed").int().unwrap_or_default(),
        categories: view.get("categories").texts(),
        category_label: text(view, "category_label"),
    };
    BenchmarkSpec { adapter, selection }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::checked;
    use super::*;

    /// Reads a benchmark as an evaluation file in the folder `conf` would.
    pub(super) fn read(text: &str) -> Result<BenchmarkSpec, Vec<String>> {
        let environment = |name: &str| (name == "TOKEN").then(|| "sk-12345678".to_string());
        checked(text, &Shape::Tagged(&BENCHMARK), |view, faults| convert(view, Path::new("conf"), &environment, faults))
    }

    #[test]
    fn a_sample_is_drawn_by_category_or_by_document() {
        let of = |keys: &str| read(&format!("{{adapter: beir, path: x, {keys}}}")).map(|spec| spec.selection);
        let selection = of("sample: 5, stratify: true, seed: 3").expect("a benchmark");
        assert_eq!((selection.sample, selection.stratify, selection.seed), (Some(5), true, 3));
        assert_eq!(of("sample_documents: 2").expect("a benchmark").sample_documents, Some(2));
        assert_eq!(of("stratify: false").expect("a benchmark"), Selection::default());
        assert_eq!(
            of("stratify: true").expect_err("refused"),
            [
                "1:36 stratify: there is no `sample` that could be drawn by category [say with `sample` how many cases to \
                 draw]"
            ]
        );
        assert!(of("sample_documents: 0").is_err());
    }

    #[test]
    fn keys_belong_to_their_adapter() {
        let adapters: Vec<String> = BENCHMARK.variants.iter().map(|(adapter, _)| format!("`{adapter}`")).collect();
        let adapters = adapters.join(", ");
        let faults = read("{adapter: beir, path: x, documents: y}").unwrap_err();
        assert_eq!(
            faults,
            [
                "1:26 : unknown key `documents` [keys here are adapter, path, dataset, split, dataset_url, first, sample, \
                 sample_documents, stratify, seed, categories, category_label]"
            ]
        );
        assert_eq!(
            read("{adapter: json, documents: y}").unwrap_err(),
            [format!("1:11 adapter: expected one of {adapters}, found the text `json` [did you mean `jsonl`?]")]
        );
        assert_eq!(read("{path: x}").unwrap_err(), [format!("1:1 : missing `adapter`, expected one of {adapters}")]);
    }
}
