//! `benchmark: {adapter: qasper}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, QasperSpec, Scope, Variant};

use super::super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::{VARIANT, path, scope, text, variant};

/// What the adapter accepts.
pub(super) static QASPER: Record = Record {
    name: "qasper",
    doc: "Qasper's papers, as its authors ship them.",
    fields: &[
        Field {
            name: "path",
            doc: "A file of papers, or the folder that holds them, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "split",
            doc: "Of a folder, the split that is read.",
            shape: Shape::Choice(&[
                Choice { word: "all", doc: "all files of the folder; of a paper in several the last one" },
                Choice { word: "train", doc: "qasper-train-v0.3.json" },
                Choice { word: "dev", doc: "qasper-dev-v0.3.json" },
                Choice { word: "test", doc: "qasper-test-v0.3.json" },
            ]),
            need: Need::Default("\"all\""),
        },
        scope("\"corpus\""),
        Field {
            name: "unanswerable",
            doc: "Whether questions are asked that no annotator could answer; a refusal is right then. Not by default in the variant \
                  of OpenViking.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
        VARIANT,
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    let variant = variant(view);
    AdapterSpec::Qasper(QasperSpec {
        path: path(view, base, "path").unwrap_or_default(),
        split: text(view, "split").unwrap_or_else(|| "all".to_string()),
        scope: view.get("scope").choice().unwrap_or(Scope::Corpus),
        // OpenViking's benchmark does not ask them.
        unanswerable: view.get("unanswerable").bool().unwrap_or(variant == Variant::Own),
        variant,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::view::tests::spelled_out;
    use super::super::tests::read;
    use super::*;

    #[test]
    fn all_papers_share_a_knowledge_base_unless_told_otherwise() {
        let default = QasperSpec {
            path: "conf/q".into(),
            split: "all".to_string(),
            scope: Scope::Corpus,
            unanswerable: true,
            variant: Variant::Own,
        };
        let of = |text: &str| read(text).map(|spec| spec.adapter);
        assert_eq!(of("{adapter: qasper, path: q}"), Ok(AdapterSpec::Qasper(default.clone())));
        let spelled = format!("{{adapter: qasper, path: q, {}", &spelled_out(QASPER.fields)[1..]);
        assert_eq!(of(&spelled), Ok(AdapterSpec::Qasper(default.clone())));
        let other = QasperSpec { split: "dev".to_string(), scope: Scope::Document, unanswerable: false, ..default };
        let text = "{adapter: qasper, path: q, split: dev, scope: document, unanswerable: false}";
        assert_eq!(of(text), Ok(AdapterSpec::Qasper(other)));
        let theirs = QasperSpec {
            split: "all".to_string(),
            scope: Scope::Corpus,
            unanswerable: false,
            variant: Variant::OpenViking,
            path: "conf/q".into(),
        };
        assert_eq!(of("{adapter: qasper, path: q, variant: openviking}"), Ok(AdapterSpec::Qasper(theirs)));
        assert!(of("{adapter: qasper, path: q, split: val}").is_err());
    }
}
