//! Questions and gold of the cases that a report lists.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::table_file::Rows;

use super::shown_cases::ShownCases;
use crate::aggregate::case_list::CaseList;
use crate::artifact::{Gold, Golds, Queries, Query};
use crate::contract::{Context, decoded, opened};
use crate::error::{DecodeError, StageError};
use crate::step::Step;

/// The texts by the case's position in the benchmark.
pub(super) enum CaseTexts {
    /// Of all cases.
    All(Arc<Queries>, Arc<Golds>),
    /// Of some.
    Some(BTreeMap<usize, (Query, Gold)>),
}

impl CaseTexts {
    /// Reads those of `shown`, from the artifacts `queries` and `gold`.
    pub(super) fn read(
        context: &dyn Context,
        step: Step,
        (queries, gold): (&Digest, &Digest),
        cases: &CaseList,
        shown: &ShownCases,
    ) -> Result<Self, StageError> {
        let Some(entries) = shown.entries() else {
            return Ok(CaseTexts::All(decoded(context, step, queries)?, decoded(context, step, gold)?));
        };
        let rows: BTreeSet<usize> = entries.into_iter().map(|entry| cases.entries[entry].row).collect();
        let (query_table, gold_table) =
            (opened::<Queries>(context, step, queries)?, opened::<Golds>(context, step, gold)?);
        let fault = |digest: &Digest| {
            let digest = *digest;
            move |error: DecodeError| StageError::artifact(step, &digest, error)
        };
        let mut texts = BTreeMap::new();
        for (group, range) in gold_table.groups().enumerate() {
            let wanted: Vec<usize> = rows.range(range.clone()).copied().collect();
            if wanted.is_empty() {
                continue;
            }
            let within = Rows::Some(wanted.iter().map(|row| row - range.start).collect());
            let queries = Queries::read(&query_table, group, &within).map_err(fault(queries))?;
            let golds = Golds::read(&gold_table, group, &within).map_err(fault(gold))?;
            texts.extend(wanted.into_iter().zip(queries.into_iter().zip(golds)));
        }
        Ok(CaseTexts::Some(texts))
    }

    /// What is asked in the case at `row`, and what is expected.
    pub(super) fn get(&self, row: usize) -> Option<(&Query, Option<&Gold>)> {
        match self {
            CaseTexts::All(queries, golds) => Some((queries.rows.get(row)?, golds.rows.get(row))),
            CaseTexts::Some(texts) => texts.get(&row).map(|(query, gold)| (query, Some(gold))),
        }
    }

    /// The whole gold, where it was read.
    pub(super) fn golds(&self) -> Option<&Golds> {
        match self {
            CaseTexts::All(_, golds) => Some(golds),
            CaseTexts::Some(_) => None,
        }
    }
}
