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
/// share gold documents (the first case of those). Rows: series in the evaluation's order, cases in report order.
pub(super) fn encode(series: &[Series], cases: &CaseList) -> Result<(Vec<u8>, usize), TableError> {
    let rows = series.len() * cases.len();
    let mut table = TableStream::new(columns(cases, &[]))?;
    let row = |position: usize| {
        let (series, entry) = (series.get(position / cases.len())?, position % cases.len());
        Some(LongRow { series, entry, outcome: series.outcome(cases, entry) })
    };
    let groups: Vec<usize> = (0..rows.div_ceil(TableStream::GROUP_ROWS)).collect();
    for groups in groups.chunks(GROUPS_AT_ONCE) {
        let encoded = groups.par_iter().map(|&group| {
            let start = group * TableStream::GROUP_ROWS;
            let end = rows.min(start + TableStream::GROUP_ROWS);
            let rows: Vec<LongRow<'_>> = (start..end).filter_map(row).collect();
            table.encode(group, columns(cases, &rows))
        });
        for group in encoded.collect::<Result<Vec<_>, _>>()? {
            table.append(group)?;
        }
    }
    Ok((table.finish()?, rows))
}

fn columns(cases: &CaseList, rows: &[LongRow<'_>]) -> TableWriter {
    let mut table = TableWriter::new(NAME, VERSION);
    table.text("recipe", rows.iter().map(|row| row.series.recipe.as_str()));
    table.text("query", rows.iter().map(|row| row.series.query.as_str()));
    table.text("evaluator", rows.iter().map(|row| row.series.evaluator.as_str()));
    table.text("unit_id", rows.iter().map(|row| cases.unit_id(row.entry)));
    table.text("case_id", rows.iter().map(|row| cases.query(row.entry).case_id));
    table.opt_text("category", rows.iter().map(|row| cases.query(row.entry).category));
    table.text("state", rows.iter().map(|row| row.outcome.state.name()));
    table.opt_float("value", rows.iter().map(|row| row.outcome.value.and_then(ScoreValue::number)));
    table.opt_bool("passed", rows.iter().map(|row| row.outcome.passed));
    table.opt_text(
        "label",
        rows.iter().map(|row| match row.outcome.value {
            Some(ScoreValue::Label(label)) => Some(label.as_str()),
            _ => None,
        }),
    );
    table.opt_text("reason", rows.iter().map(|row| row.outcome.reason));
    table.opt_text("error_type", rows.iter().map(|row| row.error(|error| error.kind.name())));
    table.opt_text("error_message", rows.iter().map(|row| row.outcome.error.map(|error| error.message.as_str())));
    table.opt_int("attempts", rows.iter().map(|row| row.error(|error| i64::from(error.attempts))));
    if !cases.units.clusters.is_empty() {
        table.opt_text("cluster", rows.iter().map(|row| Some(cases.name(cases.cluster(row.entry)?).case_id)));
    }
    table
}
