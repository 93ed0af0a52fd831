//! `benchmark: {adapter: musique}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, MusiqueSpec};

use super::super::shape::{Field, Need, Record, TEXT};
use super::super::view::View;
use super::question_scope::{SCOPE, question_scope};
use super::{DEV, dev, path};

/// What the adapter accepts.
pub(super) static MUSIQUE: Record = Record {
    name: "musique",
    doc: "MuSiQue-Answerable.",
    fields: &[
        Field {
            name: "path",
            doc: "The file `musique_ans_v1.0_dev.jsonl`, or the folder that holds it, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        DEV,
        SCOPE,
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    AdapterSpec::Musique(MusiqueSpec {
        path: path(view, base, "path").unwrap_or_default(),
        split: dev(view),
        scope: question_scope(view),
    })
}

#[cfg(test)]
mod tests {
    use ragstage_stages::prepare::QuestionScope;

    use super::super::tests::read;
    use super::*;

    #[test]
    fn musique_with_defaults() {
        let spec = |scope| MusiqueSpec { path: "conf/m.jsonl".into(), split: "dev".to_string(), scope };
        let read = |text: &str| read(text).map(|spec| spec.adapter);
        let expected = AdapterSpec::Musique(spec(QuestionScope::Question));
        assert_eq!(read("{adapter: musique, path: m.jsonl}"), Ok(expected.clone()));
        assert_eq!(read("{adapter: musique, path: m.jsonl, split: dev, scope: question}"), Ok(expected));
        let expected = AdapterSpec::Musique(spec(QuestionScope::Corpus));
        assert_eq!(read("{adapter: musique, path: m.jsonl, scope: corpus}"), Ok(expected));
        assert!(read("{adapter: musique, path: m.jsonl, split: a/b}").is_err());
        let faults = read("{adapter: musique, path: m.jsonl, scope: case}").unwrap_err();
        assert_eq!(faults, ["1:42 scope: expected one of `question`, `corpus`, found the text `case`"]);
    }
}
