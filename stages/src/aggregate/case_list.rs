//! Every case of every unit, in the order in which reports list them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ragstage_cache::Digest;

use super::action::ResponseTable;
use super::planned_query::PlannedQuery;
use crate::artifact::{Queries, Query, Units};
use crate::contract::{Context, decoded};
use crate::error::{StageError, StageErrorKind};
use crate::step::Step;

/// One case of one unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct CaseEntry {
    /// Position of the unit in `units`.
    pub(super) unit: usize,
    /// Position of the case in `queries` and `gold`.
    pub(super) row: usize,
}

/// The cases of all units: units in the benchmark's order, cases in their unit's order.
///
/// A case that two units hold is two entries, because it is asked of two knowledge bases.
pub(super) struct CaseList {
    pub(super) units: Arc<Units>,
    pub(super) queries: Arc<Queries>,
    pub(super) entries: Vec<CaseEntry>,
    ranges: Vec<Range<usize>>,
    numbers: BTreeMap<String, usize>,
}

impl CaseList {
    /// Reads the list.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        units_digest: &Digest,
        queries_digest: &Digest,
    ) -> Result<Self, StageError> {
        let units = decoded::<Units>(context, step, units_digest)?;
        let queries = decoded::<Queries>(context, step, queries_digest)?;
        let mut entries = Vec::new();
        let mut ranges = Vec::with_capacity(units.units.len());
        for (number, unit) in units.units.iter().enumerate() {
            let start = entries.len();
            let rows = unit.case_positions(queries.rows.len());
            if let Some(row) = rows.iter().find(|&&row| row >= queries.rows.len()) {
                let why = format!("unit {} names case {row} of {}", unit.unit_id, queries.rows.len());
                return Err(StageError { step, kind: StageErrorKind::Artifact { digest: *units_digest, why } });
            }
            entries.extend(rows.into_iter().map(|row| CaseEntry { unit: number, row }));
            ranges.push(start..entries.len());
        }
        let numbers = units.units.iter().enumerate().map(|(number, unit)| (unit.unit_id.clone(), number)).collect();
        Ok(CaseList { units, queries, entries, ranges, numbers })
    }

    /// How many cases there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entries of unit `unit`.
    pub(super) fn range(&self, unit: usize) -> Range<usize> {
        self.ranges[unit].clone()
    }

    /// The position of `entry` within its unit.
    pub(super) fn within(&self, entry: usize) -> usize {
        entry - self.ranges[self.entries[entry].unit].start
    }

    /// What is asked in `entry`.
    pub(super) fn query(&self, entry: usize) -> &Query {
        &self.queries.rows[self.entries[entry].row]
    }

    /// The id of the unit of `entry`.
    pub(super) fn unit_id(&self, entry: usize) -> &str {
        &self.units.units[self.entries[entry].unit].unit_id
    }

    /// Refuses a table of unit `unit` whose rows are not the unit's cases in the unit's order.
    pub(super) fn check_rows<'a>(
        &self,
        step: Step,
        digest: &Digest,
        unit: usize,
        case_ids: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<(), StageError> {
        let range = self.range(unit);
        let rows = case_ids.len();
        let same = rows == range.len() && range.zip(case_ids).all(|(entry, id)| self.query(entry).case_id == id);
        if same {
            return Ok(());
        }
        let unit = &self.units.units[unit];
        let why = format!("its {rows} rows are not the {} cases of unit {} in their order", unit.cases, unit.unit_id);
        Err(StageError { step, kind: StageErrorKind::Artifact { digest: *digest, why } })
    }

    /// One slot per unit, filled from `tables` (unit id and table) and empty where a unit has none.
    pub(super) fn by_unit<'a, T>(
        &self,
        step: Step,
        tables: impl Iterator<Item = (&'a str, T)>,
    ) -> Result<Vec<Option<T>>, StageError> {
        let mut slots: Vec<Option<T>> = self.units.units.iter().map(|_| None).collect();
        for (unit_id, table) in tables {
            let fault = |what: &str| StageError::encode(step, format!("unit {unit_id}: {what}"));
            let unit =
                self.numbers.get(unit_id).ok_or_else(|| fault("a table of a unit that the benchmark does not have"))?;
            if slots[*unit].replace(table).is_some() {
                return Err(fault("two tables of one query"));
            }
        }
        Ok(slots)
    }

    /// Each unit's responses to the query `planned`.
    pub(super) fn responses<'a>(
        &self,
        step: Step,
        planned: &PlannedQuery,
        tables: &'a [ResponseTable],
    ) -> Result<Vec<Option<&'a ResponseTable>>, StageError> {
        let own = tables.iter().filter(|table| table.recipe == planned.recipe && table.query == planned.query);
        self.by_unit(step, own.map(|table| (table.unit_id.as_str(), table)))
    }
}
