//! `benchmark: {adapter: locomo}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, LocomoSpec, Scope};

use super::super::shape::{Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::{VARIANT, path, scope, variant};

/// What the adapter accepts.
pub(super) static LOCOMO: Record = Record {
    name: "locomo",
    doc: "LoCoMo's conversations, as its authors ship them.",
    fields: &[
        Field {
            name: "path",
            doc: "The file `locomo10.json`, or the folder that holds it, relative to the evaluation file.",
            shape: TEXT,
            need: Need::Required,
        },
        scope("\"document\""),
        Field {
            name: "adversarial",
            doc: "Whether adversarial questions are asked too; a refusal is right then.",
            shape: Shape::Bool,
            need: Need::Default("false"),
        },
        VARIANT,
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    AdapterSpec::Locomo(LocomoSpec {
        path: path(view, base, "path").unwrap_or_default(),
        scope: view.get("scope").choice().unwrap_or(Scope::Document),
        adversarial: view.get("adversarial").bool().unwrap_or_default(),
        variant: variant(view),
    })
}

#[cfg(test)]
mod tests {
    use ragstage_stages::prepare::Variant;

    use super::super::super::view::tests::spelled_out;
    use super::super::tests::read;
    use super::*;

    #[test]
    fn conversations_have_their_own_knowledge_bases_unless_told_otherwise() {
        let default = LocomoSpec {
            path: "conf/l.json".into(),
            scope: Scope::Document,
            adversarial: false,
            variant: Variant::Own,
        };
        let of = |text: &str| read(text).map(|spec| spec.adapter);
        assert_eq!(of("{adapter: locomo, path: l.json}"), Ok(AdapterSpec::Locomo(default.clone())));
        let spelled = format!("{{adapter: locomo, path: l.json, {}", &spelled_out(LOCOMO.fields)[1..]);
        assert_eq!(of(&spelled), Ok(AdapterSpec::Locomo(default.clone())));
        let other = LocomoSpec { scope: Scope::Corpus, adversarial: true, ..default };
        assert_eq!(
            of("{adapter: locomo, path: l.json, scope: corpus, adversarial: true}"),
            Ok(AdapterSpec::Locomo(other))
        );
        let told = of("{adapter: locomo, path: l.json, scope: conversation}").expect_err("no such scope");
        assert!(told[0].starts_with("1:40 scope: expected one of `corpus`, `document`"), "{told:?}");
    }
}
