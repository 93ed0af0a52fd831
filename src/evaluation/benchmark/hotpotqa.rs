//! `benchmark: {adapter: hotpotqa}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, HotpotqaSpec};

use super::super::shape::{Field, Need, Record, TEXT};
use super::super::view::View;
use super::question_scope::{SCOPE, question_scope};
use super::{DEV, dev, path};

/// What the adapter accepts.
pub(super) static HOTPOTQA: Record = Record {
    name: "hotpotqa",
    doc: "HotpotQA in its distractor setting.",
    fields: &[
        Field {
            name: "path",
            doc: "The file `hotpot_dev_distractor_v1.json`, or the folder that holds it, relative to the evaluation file.",
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
    AdapterSpec::Hotpotqa(HotpotqaSpec {
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
    fn hotpotqa_with_defaults() {
        let spec = |scope| HotpotqaSpec { path: "conf/h.json".into(), split: "dev".to_string(), scope };
        let read = |text: &str| read(text).map(|spec| spec.adapter);
        let expected = AdapterSpec::Hotpotqa(spec(QuestionScope::Question));
        assert_eq!(read("{adapter: hotpotqa, path: h.json}"), Ok(expected.clone()));
        assert_eq!(read("{adapter: hotpotqa, path: h.json, split: dev, scope: question}"), Ok(expected));
        let expected = AdapterSpec::Hotpotqa(spec(QuestionScope::Corpus));
        assert_eq!(read("{adapter: hotpotqa, path: h.json, scope: corpus}"), Ok(expected));
        assert!(read("{adapter: hotpotqa, path: h.json, split: a/b}").is_err());
        let faults = read("{adapter: hotpotqa, path: h.json, scope: case}").unwrap_err();
        assert_eq!(faults, ["1:42 scope: expected one of `question`, `corpus`, found the text `case`"]);
    }
}
