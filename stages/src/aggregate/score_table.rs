//! `score_table`: every score of an evaluation in one long table, for DuckDB, pandas or Polars.

use ragstage_cache::table::{TableError, TableWriter};
use ragstage_cache::table_stream::TableStream;
use rayon::prelude::*;

use super::case_list::{CaseList, GROUPS_AT_ONCE};
use super::series::{Outcome, Series};
use crate::artifact::ScoreValue;
use crate::error::RowError;

const NAME: &str = "score_table";
const VERSION: u32 = 1;

/// One score with its names.
struct LongRow<'a> {
    series: &'a Series,
    entry: usize,
    outcome: Outcome<'a>,
}

impl LongRow<'_> {
    fn error<T>(&self, field: impl Fn(&RowError) -> T) -> Option<T> {
        self.outcome.error.map(field)
    }
}

/// The table's bytes and rows. Columns: recipe, query, evaluator, unit_id, case_id, category, state, value (truth values
/// as 1 and 0), passed, label, reason (of a skip), error_type, error_message, attempts (of a failure), and cluster where cases
/// share gold documents (the first case of those). Rows: series in the evaluation's order, cases in report order. No row group
/// holds two series: what it says of the cases themselves is then the same for all series.
pub(super) fn encode(series: &[Series], cases: &CaseList) -> Result<(Vec<u8>, usize), TableError> {
    let mut table = TableStream::new(columns(cases, &[], |_| CaseColumns::OfOneSeries))?;
    let encoder = table.encoder();
    let starts = || (0..cases.len()).step_by(TableStream::GROUP_ROWS);
    let groups = series.iter().flat_map(|series| starts().map(move |start| (series, start)));
    let groups: Vec<(usize, (&Series, usize))> = groups.enumerate().collect();
    for groups in groups.chunks(GROUPS_AT_ONCE) {
        let encoded = groups.par_iter().map(|&(group, (of, start))| {
            let end = cases.len().min(start + TableStream::GROUP_ROWS);
            let row = |entry| LongRow { series: of, entry, outcome: of.outcome(cases, entry) };
            let rows: Vec<LongRow<'_>> = (start..end).map(row).collect();
            let number = start as u64;
            let of_cases = |name: &str| match series.len() > 1 {
                true if encoder.knows(name, number) => CaseColumns::Known(number),
                true => CaseColumns::New(number),
                false => CaseColumns::OfOneSeries,
            };
            encoder.encode(group, columns(cases, &rows, of_cases))
        });
        for group in encoded.collect::<Result<Vec<_>, _>>()? {
            table.append(group)?;
        }
    }
    Ok((table.finish()?, series.len() * cases.len()))
}

/// What becomes of a column that says something of cases, whatever their scores.
#[derive(Clone, Copy)]
enum CaseColumns {
    /// No other series has it.
    OfOneSeries,
    /// Other series will have it, under this number.
    New(u64),
    /// Another series had it, under this number.
    Known(u64),
}

fn columns(cases: &CaseList, rows: &[LongRow<'_>], of_cases: impl Fn(&str) -> CaseColumns) -> TableWriter {
    let mut table = TableWriter::new(NAME, VERSION);
    let of_case = |table: &mut TableWriter, name: &str, add: &dyn Fn(&mut TableWriter, &str)| match of_cases(name) {
        CaseColumns::OfOneSeries => add(table, name),
        CaseColumns::New(number) => {
            add(table, name);
            table.shared(number);
        }
        CaseColumns::Known(number) => table.known(name, number),
    };
    table.text("recipe", rows.iter().map(|row| row.series.recipe.as_str()));
    table.text("query", rows.iter().map(|row| row.series.query.as_str()));
    table.text("evaluator", rows.iter().map(|row| row.series.evaluator.as_str()));
    of_case(&mut table, "unit_id", &|table, name| table.text(name, rows.iter().map(|row| cases.unit_id(row.entry))));
    of_case(&mut table, "case_id", &|table, name| {
        table.text(name, rows.iter().map(|row| cases.query(row.entry).case_id));
    });
    of_case(&mut table, "category", &|table, name| {
        table.opt_text(name, rows.iter().map(|row| cases.query(row.entry).category));
    });
    table.text("state", rows.iter().map(|row| row.outcome.state.name()));
    table.opt_float("value", rows.iter().map(|row| row.outcome.value.as_ref().and_then(ScoreValue::number)));
    table.opt_bool("passed", rows.iter().map(|row| row.outcome.passed));
    table.opt_text(
        "label",
        rows.iter().map(|row| match &row.outcome.value {
            Some(ScoreValue::Label(label)) => Some(label.as_str()),
            _ => None,
        }),
    );
    table.opt_text("reason", rows.iter().map(|row| row.outcome.reason));
    table.opt_text("error_type", rows.iter().map(|row| row.error(|error| error.kind.name())));
    table.opt_text("error_message", rows.iter().map(|row| row.outcome.error.map(|error| error.message.as_str())));
    table.opt_int("attempts", rows.iter().map(|row| row.error(|error| i64::from(error.attempts))));
    if !cases.units.clusters.is_empty() {
        of_case(&mut table, "cluster", &|table, name| {
            table.opt_text(name, rows.iter().map(|row| Some(cases.name(cases.cluster(row.entry)?).case_id)));
        });
    }
    table
}
