//! Every case of every unit, in the order in which reports list them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::table::Texts;
use ragstage_cache::table_file::TableFile;
use ragstage_cache::table_stream::TableStream;
use rayon::prelude::*;

use super::action::{ResponseTable, ScoreTable};
use super::planned_query::PlannedQuery;
use crate::artifact::{Queries, Units};
use crate::contract::{Context, decoded, derived_on_all_cores, opened};
use crate::error::StageError;
use crate::step::Step;

/// Row groups that are read or written before what they say is put together: no more than are worth the memory.
pub(super) const GROUPS_AT_ONCE: usize = 16;

/// One case of one unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct CaseEntry {
    /// Position of the unit in `units`.
    pub(super) unit: usize,
    /// Position of the case in `queries` and `gold`.
    pub(super) row: usize,
}

/// What a case is called; not what is asked in it, of which most is never read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CaseName<'a> {
    /// Its id.
    pub(super) case_id: &'a str,
    /// Its category.
    pub(super) category: Option<&'a str>,
}

/// The cases of a unit in their order: what a table of theirs is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CasesOfUnit {
    of: (Digest, Digest),
    unit: usize,
}

/// The cases of one category.
pub(super) struct Category<'a> {
    /// Its name; `None` for the cases without one.
    pub(super) name: Option<&'a str>,
    /// Its entries, in their order.
    pub(super) entries: Vec<usize>,
}

/// The names of all cases of a benchmark, by row group.
struct CaseNames {
    groups: Vec<(Texts, Texts)>,
    rows: usize,
}

impl CaseNames {
    fn read(context: &dyn Context, step: Step, digest: &Digest) -> Result<Arc<Self>, StageError> {
        derived_on_all_cores(context, digest, CaseNames::size, || {
            let fault = |why: String| StageError::artifact(step, digest, why);
            let table = opened::<Queries>(context, step, digest)?;
            if table.groups().any(|rows| rows.start % TableStream::GROUP_ROWS != 0) {
                return Err(fault("its row groups are of another size".to_string()));
            }
            let groups = (0..table.groups().len()).into_par_iter().map(|group| Queries::names(&table, group));
            let groups = groups.collect::<Result<_, _>>().map_err(|error| fault(error.to_string()))?;
            Ok(CaseNames { groups, rows: table.rows() })
        })
    }

    /// About how many bytes they take in memory.
    fn size(&self) -> usize {
        const NAME: usize = 32;
        self.rows * NAME
    }

    fn get(&self, row: usize) -> CaseName<'_> {
        let group = self.groups.get(row / TableStream::GROUP_ROWS);
        let row = row % TableStream::GROUP_ROWS;
        CaseName {
            case_id: group.and_then(|(ids, _)| ids.get(row)).unwrap_or_default(),
            category: group.and_then(|(_, categories)| categories.get(row)),
        }
    }
}

/// The cases of all units: units in the benchmark's order, cases in their unit's order.
///
/// A case that two units hold is two entries, because it is asked of two knowledge bases.
pub(super) struct CaseList {
    pub(super) units: Arc<Units>,
    names: Arc<CaseNames>,
    pub(super) entries: Vec<CaseEntry>,
    ranges: Vec<Range<usize>>,
    numbers: BTreeMap<String, usize>,
    /// The `units` and the `queries` artifact.
    of: (Digest, Digest),
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
        let names = CaseNames::read(context, step, queries_digest)?;
        let mut entries = Vec::new();
        let mut ranges = Vec::with_capacity(units.units.len());
        for (number, unit) in units.units.iter().enumerate() {
            let start = entries.len();
            let rows = unit.case_positions(names.rows);
            if let Some(row) = rows.iter().find(|&&row| row >= names.rows) {
                let why = format!("unit {} names case {row} of {}", unit.unit_id, names.rows);
                return Err(StageError::artifact(step, units_digest, why));
            }
            entries.extend(rows.into_iter().map(|row| CaseEntry { unit: number, row }));
            ranges.push(start..entries.len());
        }
        let numbers = units.units.iter().enumerate().map(|(number, unit)| (unit.unit_id.clone(), number)).collect();
        Ok(CaseList { units, names, entries, ranges, numbers, of: (*units_digest, *queries_digest) })
    }

    /// The categories by name, cases without one first; nothing where no case has one.
    pub(super) fn categories(&self) -> Vec<Category<'_>> {
        let mut categories: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for entry in 0..self.len() {
            categories.entry(self.query(entry).category).or_default().push(entry);
        }
        if categories.len() == 1 && categories.contains_key(&None) {
            categories.clear();
        }
        categories.into_iter().map(|(name, entries)| Category { name, entries }).collect()
    }

    /// How many cases there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What tells the cases of unit `unit` in their order from those of any other.
    pub(super) fn identity(&self, unit: usize) -> CasesOfUnit {
        CasesOfUnit { of: self.of, unit }
    }

    /// The entries of unit `unit`.
    pub(super) fn range(&self, unit: usize) -> Range<usize> {
        self.ranges[unit].clone()
    }

    /// The position of `entry` within its unit.
    pub(super) fn within(&self, entry: usize) -> usize {
        entry - self.ranges[self.entries[entry].unit].start
    }

    /// The unit of `entry`.
    pub(super) fn unit(&self, entry: usize) -> usize {
        self.entries[entry].unit
    }

    /// What the case of `entry` shares with others that share its gold documents; `None` where the benchmark has no such groups.
    pub(super) fn cluster(&self, entry: usize) -> Option<usize> {
        self.units.clusters.get(self.entries[entry].row).map(|first| *first as usize)
    }

    /// What the case of `entry` is called.
    pub(super) fn query(&self, entry: usize) -> CaseName<'_> {
        self.name(self.entries[entry].row)
    }

    /// What the case at position `row` of the benchmark is called.
    pub(super) fn name(&self, row: usize) -> CaseName<'_> {
        self.names.get(row)
    }

    /// The id of the unit of `entry`.
    pub(super) fn unit_id(&self, entry: usize) -> &str {
        &self.units.units[self.entries[entry].unit].unit_id
    }

    /// How many documents the unit of `entry` has.
    pub(super) fn unit_documents(&self, entry: usize) -> u64 {
        self.units.units[self.entries[entry].unit].documents
    }

    /// The row groups of a table of unit `unit`, which has a row per case, as ranges of its rows.
    pub(super) fn groups(&self, unit: usize) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let rows = self.range(unit).len();
        let starts = (0..rows).step_by(TableStream::GROUP_ROWS);
        starts.map(move |start| start..rows.min(start + TableStream::GROUP_ROWS)).enumerate()
    }

    /// Reads a table of unit `unit`, some row groups at a time on all cores, and hands them on in their order.
    pub(super) fn read_groups<T: Send>(
        &self,
        unit: usize,
        read: impl Fn(usize, Range<usize>) -> Result<T, StageError> + Sync,
        mut put: impl FnMut(T),
    ) -> Result<(), StageError> {
        let groups: Vec<_> = self.groups(unit).collect();
        for groups in groups.chunks(GROUPS_AT_ONCE) {
            let parts = groups.par_iter().map(|(group, rows)| read(*group, rows.clone()));
            parts.collect::<Result<Vec<T>, StageError>>()?.into_iter().for_each(&mut put);
        }
        Ok(())
    }

    /// Refuses a table of unit `unit` that has not a row per case, in row groups of [`CaseList::groups`].
    pub(super) fn check_table(
        &self,
        step: Step,
        digest: &Digest,
        unit: usize,
        table: &TableFile,
    ) -> Result<(), StageError> {
        match table.groups().eq(self.groups(unit).map(|(_, rows)| rows)) {
            true => Ok(()),
            false => Err(self.other_cases(step, digest, unit, table.rows())),
        }
    }

    /// Refuses a part of a table of unit `unit` whose rows from `start` on are not the unit's cases in the unit's order.
    pub(super) fn check_rows<'a>(
        &self,
        step: Step,
        digest: &Digest,
        unit: usize,
        start: usize,
        case_ids: impl Iterator<Item = &'a str>,
    ) -> Result<(), StageError> {
        let range = self.range(unit);
        let mut rows = range.len();
        let same = case_ids.enumerate().all(|(row, id)| {
            let entry = range.start + start + row;
            rows = rows.max(start + row + 1);
            entry < range.end && self.query(entry).case_id == id
        });
        if same { Ok(()) } else { Err(self.other_cases(step, digest, unit, rows)) }
    }

    /// A table of unit `unit` has the rows of other cases.
    pub(super) fn other_cases(&self, step: Step, digest: &Digest, unit: usize, rows: usize) -> StageError {
        let unit = &self.units.units[unit];
        let why = format!("its {rows} rows are not the {} cases of unit {} in their order", unit.cases, unit.unit_id);
        StageError::artifact(step, digest, why)
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

    /// Each unit's scores by `evaluator` of the responses to the query `planned`.
    pub(super) fn scores<'a>(
        &self,
        step: Step,
        planned: &PlannedQuery,
        evaluator: &str,
        tables: &'a [ScoreTable],
    ) -> Result<Vec<Option<&'a ScoreTable>>, StageError> {
        let own = tables.iter().filter(|table| {
            table.evaluator == evaluator && table.query == planned.query && table.recipe == planned.recipe
        });
        self.by_unit(step, own.map(|table| (table.unit_id.as_str(), table)))
    }
}
