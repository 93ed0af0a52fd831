//! `benchmark: {adapter: syllabusqa}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, Scope, SyllabusQaSpec};

use super::super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::{VARIANT, path, scope, text, variant};

/// What the adapter accepts.
pub(super) static SYLLABUSQA: Record = Record {
    name: "syllabusqa",
    doc: "SyllabusQA's questions and syllabi, as its authors ship them.",
    fields: &[
        Field {
            name: "path",
            doc: "The dataset's folder, or one file of questions, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "split",
            doc: "Of a folder, the split that is read.",
            shape: Shape::Choice(&[
                Choice { word: "all", doc: "all of them" },
                Choice { word: "train", doc: "train.csv" },
                Choice { word: "val", doc: "val.csv" },
                Choice { word: "test", doc: "test.csv" },
            ]),
            need: Need::Default("\"all\""),
        },
        Field {
            name: "documents",
            doc: "The only form of the syllabi that is read; the Word file by default, and the text file where there is none.",
            shape: Shape::Choice(&[
                Choice { word: "text", doc: "plain text" },
                Choice { word: "word", doc: "Word files" },
                Choice { word: "pdf", doc: "PDF" },
            ]),
            need: Need::Optional,
        },
        scope("\"corpus\""),
        Field {
            name: "no_answer",
            doc: "Whether questions are asked that the syllabus does not answer; a refusal is right then.",
            shape: Shape::Bool,
            need: Need::Default("false"),
        },
        VARIANT,
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    AdapterSpec::SyllabusQa(SyllabusQaSpec {
        path: path(view, base, "path").unwrap_or_default(),
        split: text(view, "split").unwrap_or_else(|| "all".to_string()),
        documents: view.get("documents").choice(),
        scope: view.get("scope").choice().unwrap_or(Scope::Corpus),
        no_answer: view.get("no_answer").bool().unwrap_or_default(),
        variant: variant(view),
    })
}

#[cfg(test)]
mod tests {
    use ragstage_stages::prepare::{SyllabusForm, Variant};

    use super::super::super::view::tests::spelled_out;
    use super::super::tests::read;
    use super::*;

    #[test]
    fn all_syllabi_share_a_knowledge_base_unless_told_otherwise() {
        let default = SyllabusQaSpec {
            path: "conf/s".into(),
            split: "all".to_string(),
            documents: None,
            scope: Scope::Corpus,
            no_answer: false,
            variant: Variant::Own,
        };
        let of = |text: &str| read(text).map(|spec| spec.adapter);
        assert_eq!(of("{adapter: syllabusqa, path: s}"), Ok(AdapterSpec::SyllabusQa(default.clone())));
        let spelled = format!("{{adapter: syllabusqa, path: s, {}", &spelled_out(SYLLABUSQA.fields)[1..]);
        assert_eq!(of(&spelled), Ok(AdapterSpec::SyllabusQa(default.clone())));
        let other = SyllabusQaSpec {
            split: "val".to_string(),
            documents: Some(SyllabusForm::Text),
            scope: Scope::Document,
            no_answer: true,
            ..default
        };
        let text = "{adapter: syllabusqa, path: s, split: val, documents: text, scope: document, no_answer: true}";
        assert_eq!(of(text), Ok(AdapterSpec::SyllabusQa(other)));
        assert!(of("{adapter: syllabusqa, path: s, documents: docx}").is_err());
    }
}
