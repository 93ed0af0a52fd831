//! `benchmark: {adapter: financebench}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, FinanceBenchSpec, Scope};

use super::super::shape::{Field, Need, Record, TEXT};
use super::super::view::View;
use super::{VARIANT, path, scope, variant};

/// What the adapter accepts.
pub(super) static FINANCEBENCH: Record = Record {
    name: "financebench",
    doc: "FinanceBench's questions and filings, as its authors ship them.",
    fields: &[
        Field {
            name: "path",
            doc: "The dataset's folder, or its file of questions, relative to the evaluation file; `pdfs` is beside the file or \
                  its folder.",
            shape: TEXT,
            need: Need::Required,
        },
        scope("\"corpus\""),
        VARIANT,
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    AdapterSpec::FinanceBench(FinanceBenchSpec {
        path: path(view, base, "path").unwrap_or_default(),
        scope: view.get("scope").choice().unwrap_or(Scope::Corpus),
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
    fn all_filings_share_a_knowledge_base_unless_told_otherwise() {
        let default = FinanceBenchSpec { path: "conf/f".into(), scope: Scope::Corpus, variant: Variant::Own };
        let of = |text: &str| read(text).map(|spec| spec.adapter);
        assert_eq!(of("{adapter: financebench, path: f}"), Ok(AdapterSpec::FinanceBench(default.clone())));
        let spelled = format!("{{adapter: financebench, path: f, {}", &spelled_out(FINANCEBENCH.fields)[1..]);
        assert_eq!(of(&spelled), Ok(AdapterSpec::FinanceBench(default.clone())));
        let other = FinanceBenchSpec { scope: Scope::Document, ..default };
        assert_eq!(of("{adapter: financebench, path: f, scope: document}"), Ok(AdapterSpec::FinanceBench(other)));
    }
}
