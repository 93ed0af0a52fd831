//! Evaluators of single cases: a row group at a time, on all cores, so that memory does not grow with the benchmark.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_cache::table::TableError;
use ragstage_cache::table_stream::{EncodedGroup, TableStream};
use rayon::prelude::*;

use super::action::{ScoreResponses, Slot};
use super::case::{Case, NO_ANSWERS, finite, unscored};
use super::previous_scores::{KnownScore, PreviousScores, Wanted};
use super::unit_tables::{GroupTables, UnitTables};
use crate::artifact::{KnownSources, RowParts, Score, ScoreKey, ScoreKeys, ScoreRows, Scores};
use crate::contract::{Context, Output, OwnRow, Produced};
use crate::error::{DecodeError, RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// Cases that one core scores before it looks for more: few enough to share a row group, enough to be worth the asking.
const CHUNK: usize = 256;

/// The scores of a row group, encoded.
struct ScoredGroup {
    scores: EncodedGroup,
    keys: EncodedGroup,
    failed: u64,
}

/// The tables of scores and keys. Groups come in any order and are appended in theirs, as soon as it is their turn.
struct Written {
    scores: TableStream,
    keys: TableStream,
    failed: u64,
    next: usize,
    waiting: BTreeMap<usize, ScoredGroup>,
}

impl Written {
    fn put(&mut self, group: usize, scored: ScoredGroup) -> Result<(), TableError> {
        self.waiting.insert(group, scored);
        while let Some(scored) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.failed += scored.failed;
            self.scores.append(scored.scores)?;
            self.keys.append(scored.keys)?;
        }
        Ok(())
    }
}

/// Scores with their keys, `None` for those that are computed anew each time; a row for each case.
type KeyedScores = (ScoreRows, Vec<Option<Digest>>);

/// What is known of the cases of a row group before any is scored.
struct Before<'a> {
    tables: &'a GroupTables,
    /// Why a case has no response.
    errors: Vec<Option<RowError>>,
    /// Of those that have one.
    keys: Vec<Option<Digest>>,
    /// Those that were scored before; empty where none was.
    known: Vec<Option<KnownScore>>,
}

impl Before<'_> {
    fn known(&self, row: usize) -> Option<&KnownScore> {
        self.known.get(row)?.as_ref()
    }
}

/// The scores of some cases of a row group, which of them were computed, and why others could not be.
#[derive(Default)]
struct Scored {
    rows: ScoreRows,
    computed: Vec<usize>,
    failed: Vec<(usize, RowError)>,
}

fn encode(error: impl std::fmt::Display) -> StageError {
    StageError::encode(Step::Score, error)
}

impl ScoreResponses {
    /// Scores each case by itself, unless the last run did.
    pub(super) fn score_by_group(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let tables = UnitTables::open(context, self)?;
        let previous = PreviousScores::open(context);
        let slot = key_of(&Slot { evaluator: &*self.evaluator, salt: self.salt });
        let table_fault = |error: TableError| encode(error);
        let scores = TableStream::new(Scores::columns(std::iter::empty(), &ScoreRows::default()).map_err(encode)?)
            .map_err(table_fault)?;
        let keys = TableStream::new(ScoreKeys::columns(&[])).map_err(table_fault)?;
        let (score_encoder, key_encoder) = (scores.encoder(), keys.encoder());
        let written = Mutex::new(Written { scores, keys, failed: 0, next: 0, waiting: BTreeMap::new() });
        context.spread(tables.groups(), &|group| {
            let read = tables.read(group)?;
            let Some((rows, row_keys)) = self.score_group(context, &slot, previous.as_ref(), group, &read)? else {
                return Ok(());
            };
            let case_ids = (0..rows.len()).map(|row| read.case_id(row));
            let columns = Scores::columns(case_ids, &rows).map_err(encode)?;
            let scored = ScoredGroup {
                scores: score_encoder.encode(group, columns).map_err(table_fault)?,
                keys: key_encoder.encode(group, ScoreKeys::columns(&row_keys)).map_err(table_fault)?,
                failed: rows.failed() as u64,
            };
            written.lock().unwrap_or_else(PoisonError::into_inner).put(group, scored).map_err(table_fault)
        })?;
        let Written { scores, keys, failed, next, .. } = written.into_inner().unwrap_or_else(PoisonError::into_inner);
        if next < tables.groups() {
            // Nobody wanted the rows.
            return Err(StageError { step: Step::Score, kind: StageErrorKind::Cancelled });
        }
        let outputs = vec![
            Output::value("scores", scores.finish().map_err(table_fault)?, tables.rows()),
            Output::observation("score_keys", keys.finish().map_err(table_fault)?, tables.rows()),
        ];
        Ok(Produced { outputs, failed, ..Produced::default() })
    }

    /// The scores of a row group with their keys; `None` where nobody wants them.
    fn score_group(
        &self,
        context: &dyn Context,
        slot: &Digest,
        previous: Option<&PreviousScores>,
        group: usize,
        tables: &GroupTables,
    ) -> Result<Option<KeyedScores>, StageError> {
        let rows = tables.rows;
        if self.evaluator.reads().needs_answer() && self.answers.is_none() {
            let mut skipped = ScoreRows::with_capacity(rows);
            (0..rows).try_for_each(|_| skipped.push(Score::skipped(NO_ANSWERS))).map_err(encode)?;
            return Ok(Some((skipped, vec![None; rows])));
        }
        let errors = (0..rows).map(|row| tables.error(row)).collect::<Result<Vec<_>, _>>().map_err(encode)?;
        let mut parts = RowParts::default();
        let keys: Vec<Option<Digest>> = errors
            .iter()
            .enumerate()
            .map(|(row, error)| {
                error.is_none().then(|| {
                    parts.clear();
                    parts.bytes(&slot.0);
                    tables.parts(row, &mut parts);
                    parts.digest()
                })
            })
            .collect();
        let known = match previous {
            Some(previous) => {
                let wanted = |(row, key): (usize, &Option<Digest>)| Wanted {
                    case_id: tables.case_id(row),
                    key: key.as_ref().and_then(|key| ScoreKey::try_from(&key.0[..size_of::<ScoreKey>()]).ok()),
                };
                let wanted: Vec<Wanted<'_>> = keys.iter().enumerate().map(wanted).collect();
                previous.rows(group * TableStream::GROUP_ROWS, &wanted)
            }
            None => Vec::new(),
        };
        let before = Before { tables, errors, keys, known };
        let own = |(row, key): (usize, &Option<Digest>)| {
            key.map(|key| OwnRow { key, label: tables.case_id(row), reused: before.known(row).is_some() })
        };
        let own: Vec<OwnRow<'_>> = before.keys.iter().enumerate().filter_map(own).collect();
        if !context.own_rows(slot, &own) {
            return Ok(None);
        }
        let missing = own.iter().filter(|row| !row.reused).count();
        let Scored { rows, computed, failed } = self.score_rows(&before, missing).map_err(encode)?;
        if !computed.is_empty() || !failed.is_empty() {
            let computed: Vec<&str> = computed.iter().map(|row| tables.case_id(*row)).collect();
            let failed: Vec<(&str, &RowError)> =
                failed.iter().map(|(row, error)| (tables.case_id(*row), error)).collect();
            context.own_rows_done(&computed, &failed);
        }
        let mut keys = before.keys;
        for (row, _) in &failed {
            keys[*row] = None;
        }
        Ok(Some((rows, keys)))
    }

    /// The scores of all rows, of which so many are `missing` and computed.
    fn score_rows(&self, before: &Before<'_>, missing: usize) -> Result<Scored, DecodeError> {
        let rows = before.tables.rows;
        // The few rows of a small unit are not worth waking others.
        if missing <= CHUNK {
            return self.score_some(before, 0..rows);
        }
        let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
        let chunks = starts.par_iter().map(|&start| self.score_some(before, start..rows.min(start + CHUNK)));
        let mut all = Scored { rows: ScoreRows::with_capacity(rows), ..Scored::default() };
        for chunk in chunks.collect::<Result<Vec<_>, _>>()? {
            all.rows.append(chunk.rows);
            all.computed.extend(chunk.computed);
            all.failed.extend(chunk.failed);
        }
        Ok(all)
    }

    fn score_some(&self, before: &Before<'_>, rows: Range<usize>) -> Result<Scored, DecodeError> {
        let mut scored = Scored { rows: ScoreRows::with_capacity(rows.len()), ..Scored::default() };
        let mut sources = KnownSources::new();
        for row in rows {
            if let Some(error) = before.errors.get(row).and_then(Option::as_ref) {
                scored.rows.push(unscored(error))?;
            } else if let Some(known) = before.known(row).and_then(KnownScore::row) {
                scored.rows.push_row(known)?;
            } else if let Some(key) = before.keys.get(row).copied().flatten() {
                match self.one(before.tables, row, key, &mut sources)? {
                    Ok(score) => {
                        scored.computed.push(row);
                        scored.rows.push(score)?;
                    }
                    Err(error) => {
                        scored.failed.push((row, error.clone()));
                        scored.rows.push(Score::failed(error))?;
                    }
                }
            }
        }
        Ok(scored)
    }

    fn one(
        &self,
        tables: &GroupTables,
        row: usize,
        key: Digest,
        known: &mut KnownSources,
    ) -> Result<Result<Score, RowError>, DecodeError> {
        let hits = match tables.results() {
            Some(results) => results.hits(row, known)?,
            None => Vec::new(),
        };
        let answer = tables.answers().map(|answers| answers.answer(row)).transpose()?;
        let query = tables.question(row);
        tables.with_gold(row, |gold| {
            let case = Case { gold, query, hits: &hits, answer: answer.as_ref(), upstream: None, key };
            let score = std::panic::catch_unwind(AssertUnwindSafe(|| case.evaluate(&*self.evaluator)));
            score.unwrap_or_else(|_| Err(broke_down(&gold.case_id))).and_then(finite)
        })
    }
}

/// What a panic on a case is to its score: a failure of that case, not of the run.
fn broke_down(case_id: &str) -> RowError {
    RowError::new(RowErrorKind::Evaluator, format!("{case_id}: the code that reads it broke down on it"))
}
