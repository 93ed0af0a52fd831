//! The responses of one unit to one query of one recipe, a row group at a time.

use ragstage_cache::table_file::Rows;

use super::action::ResponseTable;
use super::case_list::CaseList;
use crate::artifact::{Answer, Answers, Results, Retrieved};
use crate::contract::{Context, opened};
use crate::error::{DecodeError, RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// Results and answers of some rows of a row group, in the unit's case order.
pub(super) struct UnitResponses {
    results: Vec<Retrieved>,
    answers: Option<Vec<Answer>>,
}

impl UnitResponses {
    /// Reads `rows` of row group `group` of the tables of `table`, which are the cases `case_ids`.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        table: &ResponseTable,
        cases: &CaseList,
        unit: usize,
        (group, rows): (usize, &Rows),
        case_ids: &[&str],
    ) -> Result<Self, StageError> {
        let file = opened::<Results>(context, step, &table.results)?;
        cases.check_table(step, &table.results, unit, &file)?;
        let fault = |digest| {
            move |error: DecodeError| StageError {
                step,
                kind: StageErrorKind::Artifact { digest, why: error.to_string() },
            }
        };
        let results = Results::read(&file, group, rows).map_err(fault(table.results))?;
        if !results.iter().map(|row| row.case_id.as_str()).eq(case_ids.iter().copied()) {
            return Err(cases.other_cases(step, &table.results, unit, file.rows()));
        }
        let answers = match &table.answers {
            Some(digest) => {
                let file = opened::<Answers>(context, step, digest)?;
                cases.check_table(step, digest, unit, &file)?;
                let answers = Answers::read(&file, group, rows).map_err(fault(*digest))?;
                if !answers.iter().map(|row| row.case_id.as_str()).eq(case_ids.iter().copied()) {
                    return Err(cases.other_cases(step, digest, unit, file.rows()));
                }
                Some(answers)
            }
            None => None,
        };
        Ok(UnitResponses { results, answers })
    }

    /// What was retrieved for row `row`; `None` where that failed.
    pub(super) fn retrieved(&self, row: usize) -> Option<&Retrieved> {
        self.results.get(row).filter(|retrieved| retrieved.error.is_none())
    }

    /// The answer of row `row`: of the answer step or, where none was asked, of the system along with its results.
    pub(super) fn answer(&self, row: usize) -> Option<&Answer> {
        let answer = match &self.answers {
            Some(answers) => answers.get(row),
            None => self.retrieved(row).and_then(|retrieved| retrieved.answer.as_ref()),
        };
        answer.filter(|answer| answer.error.is_none())
    }

    /// Why row `row` has no (whole) response. A failed retrieval is told rather than the answer that it took along.
    pub(super) fn failure(&self, row: usize) -> Option<ResponseFailure> {
        let failure = |step, error: &Option<RowError>| {
            let error = error.clone().filter(RowError::is_failure);
            error.map(|error| ResponseFailure { step, error })
        };
        let answers = self.answers.as_ref();
        failure(Step::Retrieve, &self.results.get(row)?.error)
            .or_else(|| failure(Step::Answer, &answers?.get(row)?.error))
    }
}

/// Why a case has no (whole) response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResponseFailure {
    /// The step that failed: with `retrieve` there are no results, with `answer` there is no answer.
    pub(super) step: Step,
    /// Why.
    pub(super) error: RowError,
}

impl ResponseFailure {
    /// The failure of a case whose unit was never asked, because its knowledge base could not be built.
    pub(super) fn absent() -> Self {
        let error = RowError::new(RowErrorKind::Upstream, "the unit was not asked");
        ResponseFailure { step: Step::Retrieve, error }
    }
}
