//! `report`: what the report files hold.

use ragstage_stages::aggregate::CaseResults;

use super::shape::{Choice, Field, Need, Record, Shape};
use super::view::View;

/// What `report` accepts.
pub(super) static REPORT: Record = Record {
    name: "report",
    doc: "What the report files hold.",
    fields: &[Field {
        name: "case_results",
        doc: "`all`, or up to how many case results (cases times queries) report.json lists them all; beyond that it lists \
              those that failed and the worst of each evaluator. All scores are in scores.parquet in any case.",
        shape: Shape::Either(&[
            Shape::Choice(&[Choice { word: "all", doc: "list them all" }]),
            Shape::Int { min: 0, max: u64::MAX },
        ]),
        need: Need::Default("10000"),
    }],
    together: &[],
};

/// The option that a checked `report` stands for.
pub(super) fn convert(view: &View<'_>) -> CaseResults {
    let listed = view.get("case_results");
    match listed.text() {
        Some(_) => CaseResults::All,
        None => listed.int().map(CaseResults::UpTo).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<CaseResults, Vec<String>> {
        checked(text, &Shape::Record(&REPORT), |view, _| convert(view))
    }

    #[test]
    fn a_number_or_all() {
        assert_eq!(read("{}").unwrap(), CaseResults::UpTo(10_000));
        assert_eq!(read(&spelled_out(REPORT.fields)).unwrap(), CaseResults::UpTo(10_000));
        assert_eq!(read("{case_results: all}").unwrap(), CaseResults::All);
        assert_eq!(read("{case_results: 0}").unwrap(), CaseResults::UpTo(0));
        assert!(read("{case_results: some}").is_err());
        assert!(read("{case_results: -1}").is_err());
    }
}
