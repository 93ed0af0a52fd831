//! What a unit's evaluator reads, a row group at a time.

use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::table::Texts;
use ragstage_cache::table_file::TableFile;
use ragstage_cache::table_stream::TableStream;

use super::action::{ScoreResponses, artifact};
use super::evaluator::Reads;
use super::row_digests::GoldDigests;
use crate::artifact::{AnswerRows, Answers, Gold, GoldRows, Golds, Queries, ResultRows, Results, RowParts};
use crate::contract::{Context, Opened, decoded, opened};
use crate::error::{DecodeError, RowError, StageError};
use crate::step::Step;

/// The tables of one unit.
pub(super) struct UnitTables<'a> {
    action: &'a ScoreResponses,
    reads: Reads,
    gold: GoldTable,
    results: Option<Arc<Opened<Results>>>,
    answers: Option<(Digest, Arc<Opened<Answers>>)>,
    rows: usize,
}

/// The benchmark's gold and questions.
enum GoldTable {
    /// The unit has all cases, in their order: its row groups are those of the tables.
    Whole { gold: Arc<Opened<Golds>>, queries: Option<Arc<Opened<Queries>>> },
    /// The unit has some cases. Units share the tables in memory.
    Some { gold: Arc<Golds>, digests: Arc<GoldDigests>, queries: Option<Arc<Queries>>, cases: Vec<usize> },
}

/// A row group of a unit's tables: as many cases in each.
pub(super) struct GroupTables {
    gold: GroupGold,
    results: Option<ResultRows>,
    answers: Option<AnswerRows>,
    pub(super) rows: usize,
}

enum GroupGold {
    Whole { gold: Box<GoldRows>, questions: Option<Texts> },
    Some { gold: Arc<Golds>, digests: Arc<GoldDigests>, queries: Option<Arc<Queries>>, cases: Vec<usize> },
}

impl<'a> UnitTables<'a> {
    /// Opens what `action` reads.
    pub(super) fn open(context: &dyn Context, action: &'a ScoreResponses) -> Result<Self, StageError> {
        let reads = action.evaluator.reads();
        let step = Step::Score;
        let gold = if action.unit.case_rows.is_none() {
            GoldTable::Whole {
                gold: opened(context, step, &action.gold)?,
                queries: if reads.question { Some(opened(context, step, &action.queries)?) } else { None },
            }
        } else {
            let gold = decoded::<Golds>(context, step, &action.gold)?;
            let cases = action.unit.case_positions(gold.rows.len());
            if let Some(case) = cases.iter().find(|&&case| case >= gold.rows.len()) {
                return Err(artifact(&action.gold, format!("has {} rows, none at {case}", gold.rows.len())));
            }
            GoldTable::Some {
                digests: GoldDigests::read(context, &action.gold, &gold)?,
                queries: match reads.question {
                    true => Some(decoded::<Queries>(context, step, &action.queries)?),
                    false => None,
                },
                gold,
                cases,
            }
        };
        let rows = match &gold {
            GoldTable::Whole { gold, .. } => gold.rows(),
            GoldTable::Some { cases, .. } => cases.len(),
        };
        let results = if reads.results { Some(opened(context, step, &action.results)?) } else { None };
        let answers = match &action.answers {
            Some(digest) if reads.answer => Some((*digest, opened(context, step, digest)?)),
            _ => None,
        };
        let tables = UnitTables { action, reads, gold, results, answers, rows };
        tables.check()?;
        Ok(tables)
    }

    /// Refuses tables of another number of cases, or of other row groups.
    fn check(&self) -> Result<(), StageError> {
        let mut tables: Vec<(&Digest, &TableFile)> = Vec::new();
        if let GoldTable::Whole { gold, queries } = &self.gold {
            tables.push((&self.action.gold, gold));
            tables.extend(queries.iter().map(|queries| (&self.action.queries, &***queries)));
        }
        tables.extend(self.results.iter().map(|results| (&self.action.results, &***results)));
        tables.extend(self.answers.iter().map(|(digest, answers)| (digest, &***answers)));
        for (digest, table) in tables {
            if table.rows() != self.rows {
                return Err(artifact(digest, format!("expected {} cases, found {}", self.rows, table.rows())));
            }
            if table.groups().any(|rows| rows.start % TableStream::GROUP_ROWS != 0) {
                return Err(artifact(digest, "its row groups are of another size".to_string()));
            }
        }
        Ok(())
    }

    /// How many row groups there are.
    pub(super) fn groups(&self) -> usize {
        self.rows.div_ceil(TableStream::GROUP_ROWS)
    }

    /// The number of cases.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Reads row group `group`.
    pub(super) fn read(&self, group: usize) -> Result<GroupTables, StageError> {
        let start = group * TableStream::GROUP_ROWS;
        let rows = start..self.rows.min(start + TableStream::GROUP_ROWS);
        let fault = |digest: &Digest| {
            let digest = *digest;
            move |error: DecodeError| artifact(&digest, error.to_string())
        };
        let action = self.action;
        let gold = match &self.gold {
            GoldTable::Whole { gold, queries } => {
                let gold = GoldRows::read(gold, group, !self.reads.without_evidence).map_err(fault(&action.gold))?;
                let questions = match queries {
                    Some(queries) => {
                        let (ids, questions) = Queries::questions(queries, group).map_err(fault(&action.queries))?;
                        let ids = ids.iter().map(Option::unwrap_or_default).enumerate();
                        same_cases(&action.queries, ids.map(|(row, case)| (case, gold.case_id(row))))?;
                        Some(questions)
                    }
                    None => None,
                };
                GroupGold::Whole { gold: Box::new(gold), questions }
            }
            GoldTable::Some { gold, digests, queries, cases } => GroupGold::Some {
                gold: gold.clone(),
                digests: digests.clone(),
                queries: queries.clone(),
                cases: cases.get(rows.clone()).unwrap_or_default().to_vec(),
            },
        };
        let results = match &self.results {
            Some(table) => {
                Some(ResultRows::read(table, group, !self.reads.without_texts).map_err(fault(&action.results))?)
            }
            None => None,
        };
        let answers = match &self.answers {
            Some((digest, table)) => {
                Some(AnswerRows::read(table, group, !self.reads.without_citations).map_err(fault(digest))?)
            }
            None => None,
        };
        let tables = GroupTables { gold, results, answers, rows: rows.len() };
        if let Some(results) = &tables.results {
            let pairs = (0..rows.len()).map(|row| (results.case_id(row), tables.case_id(row)));
            same_cases(&action.results, pairs)?;
        }
        if let (Some(answers), Some((digest, _))) = (&tables.answers, &self.answers) {
            same_cases(digest, (0..rows.len()).map(|row| (answers.case_id(row), tables.case_id(row))))?;
        }
        Ok(tables)
    }
}

/// Refuses a table whose cases are not those of the gold: `pairs` are the case of each of its rows and that of the gold.
pub(super) fn same_cases<'c>(
    digest: &Digest,
    mut pairs: impl Iterator<Item = (&'c str, &'c str)>,
) -> Result<(), StageError> {
    match pairs.find(|(case, gold)| case != gold) {
        Some((case, gold)) => Err(artifact(digest, format!("expected case {gold:?}, found {case:?}"))),
        None => Ok(()),
    }
}

impl GroupTables {
    /// The case of `row`.
    pub(super) fn case_id(&self, row: usize) -> &str {
        match &self.gold {
            GroupGold::Whole { gold, .. } => gold.case_id(row),
            GroupGold::Some { gold, cases, .. } => cases
                .get(row)
                .and_then(|&case| gold.rows.get(case))
                .map(|gold| gold.case_id.as_str())
                .unwrap_or_default(),
        }
    }

    /// Hands `see` the gold of `row`.
    pub(super) fn with_gold<T>(&self, row: usize, see: impl FnOnce(&Gold) -> T) -> Result<T, DecodeError> {
        match &self.gold {
            GroupGold::Whole { gold, .. } => Ok(see(&gold.gold(row)?)),
            GroupGold::Some { gold, cases, .. } => {
                let gold = cases.get(row).and_then(|&case| gold.rows.get(case));
                gold.map(see).ok_or_else(|| DecodeError::Format(format!("no gold in row {row}")))
            }
        }
    }

    /// What is asked in `row`; empty where nobody reads it.
    pub(super) fn question(&self, row: usize) -> &str {
        match &self.gold {
            GroupGold::Whole { questions, .. } => {
                questions.as_ref().and_then(|texts| texts.get(row)).unwrap_or_default()
            }
            GroupGold::Some { queries, cases, .. } => {
                let found = queries.as_ref().and_then(|queries| queries.rows.get(*cases.get(row)?));
                found.map(|query| query.text.as_str()).unwrap_or_default()
            }
        }
    }

    /// The hits of each row.
    pub(super) fn results(&self) -> Option<&ResultRows> {
        self.results.as_ref()
    }

    /// The answer of each row.
    pub(super) fn answers(&self) -> Option<&AnswerRows> {
        self.answers.as_ref()
    }

    /// Why `row` has no response.
    pub(super) fn error(&self, row: usize) -> Result<Option<RowError>, DecodeError> {
        let retrieved = self.results.as_ref().map(|results| results.error(row)).transpose()?.flatten();
        match retrieved {
            Some(error) => Ok(Some(error)),
            None => Ok(self.answers.as_ref().map(|answers| answers.error(row)).transpose()?.flatten()),
        }
    }

    /// Hands on all that is read of `row`.
    pub(super) fn parts(&self, row: usize, parts: &mut RowParts) {
        match &self.gold {
            GroupGold::Whole { gold, questions } => {
                gold.parts(row, parts);
                if let Some(questions) = questions {
                    parts.text(questions.get(row));
                }
            }
            GroupGold::Some { digests, queries, cases, .. } => {
                let digest = cases.get(row).and_then(|&case| digests.0.get(case));
                parts.bytes(digest.map(|digest| &digest.0[..]).unwrap_or_default());
                if queries.is_some() {
                    parts.text(Some(self.question(row)));
                }
            }
        }
        if let Some(results) = &self.results {
            results.parts(row, parts);
        }
        if let Some(answers) = &self.answers {
            answers.parts(row, parts);
        }
    }
}
