//! A run file, scored in one pass where its queries are not scattered.

use std::path::Path;
use std::sync::Mutex;

use ragstage_stages::error::InputError;
use ragstage_stages::score::measures::Measure;
use rayon::prelude::*;

use super::faults::{Faults, unreadable};
use super::judged_queries::JudgedQueries;
use super::piece::{Piece, PieceScores, twin};
use super::query_scorer::QueryScorer;
use super::read_file;
use super::run_blocks::{pieces, run_blocks};
use super::run_parquet::{self, RunGroup, Table};
use super::run_scores::{RunScores, Scattered};
use super::run_text::RunText;
use super::whole_run::WholeRun;

/// A TREC run file, plain or gzip, or a Parquet table of a run.
pub struct RunFile<'a> {
    path: &'a Path,
    /// Is told how many more bytes are done.
    progress: &'a (dyn Fn(u64) + Sync),
}

/// Why a pass over a file ended early.
enum Stop {
    /// A query came back.
    Scattered,
    /// The file is wrong.
    Wrong(Vec<InputError>),
}

impl From<Scattered> for Stop {
    fn from(_: Scattered) -> Self {
        Stop::Scattered
    }
}

impl From<Vec<InputError>> for Stop {
    fn from(errors: Vec<InputError>) -> Self {
        Stop::Wrong(errors)
    }
}

/// What one thread works with, again and again.
#[derive(Default)]
struct Tools {
    text: RunText,
    scorer: QueryScorer,
}

/// Tools that no thread uses now.
#[derive(Default)]
struct Toolbox(Mutex<Vec<Tools>>);

impl Toolbox {
    fn with<T>(&self, work: impl FnOnce(&mut Tools) -> T) -> T {
        let lock = || self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut tools = lock().pop().unwrap_or_default();
        let done = work(&mut tools);
        lock().push(tools);
        done
    }
}

impl<'a> RunFile<'a> {
    /// The file at `path`; `progress` is told how many more bytes are done.
    pub fn new(path: &'a Path, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        RunFile { path, progress }
    }

    /// The values of `measures`. Scores order the rows, the rank column and the order of lines do not; equal scores are
    /// ordered by document id, descending.
    ///
    /// # Errors
    /// All that is wrong with the file, with line and column.
    pub fn score(&self, queries: &JudgedQueries, measures: &[&dyn Measure]) -> Result<RunScores, Vec<InputError>> {
        let metadata = std::fs::metadata(self.path).map_err(|error| unreadable(self.path, &error))?;
        // A pipe is not read twice.
        if metadata.is_file() {
            let mut scores = RunScores::new(queries);
            let pass = match self.is_parquet()? {
                true => self.score_table(queries, measures, &mut scores),
                false => self.score_text(queries, measures, &mut scores),
            };
            match pass {
                Ok(()) => return Ok(scores),
                Err(Stop::Wrong(errors)) => return Err(errors),
                Err(Stop::Scattered) => {}
            }
        }
        let mut run = self.gather()?;
        let toolbox = Toolbox::default();
        let score = |query: &mut super::whole_run::WholeQuery| {
            toolbox.with(|tools| query.score(&mut tools.scorer, queries, measures))
        };
        let found: Vec<PieceScores> = run.queries.par_iter_mut().map(score).collect();
        let mut scores = RunScores::new(queries);
        let mut faults = self.faults()?;
        for piece in found {
            // Every query is there once.
            let _ = piece.add(0, measures.len(), &mut scores, &mut faults);
        }
        if faults.is_empty() { Ok(scores) } else { Err(faults.into_errors()) }
    }

    /// All rows, by query.
    ///
    /// # Errors
    /// All that is wrong with the file but for documents that stand twice.
    fn gather(&self) -> Result<WholeRun, Vec<InputError>> {
        if self.is_parquet()? { self.gather_table() } else { self.gather_text() }
    }

    /// Writes the run as a Parquet table (`run_parquet.rs`), and gives its number of rows.
    ///
    /// # Errors
    /// All that is wrong with the file.
    pub fn convert(&self, path: &Path) -> Result<u64, Vec<InputError>> {
        let run = self.gather()?;
        let mut faults = self.faults()?;
        let mut scorer = QueryScorer::default();
        let mut rows = 0;
        for query in &run.queries {
            rows += query.keys().len() as u64;
            if let Err(twins) = scorer.check(query.keys().len(), |row| query.document(row)) {
                faults.add(twin(twins, &query.id, query.document(twins.second), |row| query.line(row)), 0);
            }
        }
        if !faults.is_empty() {
            return Err(faults.into_errors());
        }
        crate::publish::write_with(path, |file| run_parquet::write(file, &run)).map_err(|error| {
            let place = ragstage_stages::error::Place::file(path);
            vec![InputError::new(place, format!("cannot be written: {error}"))]
        })?;
        Ok(rows)
    }

    fn is_parquet(&self) -> Result<bool, Vec<InputError>> {
        run_parquet::is_parquet(self.path).map_err(|error| unreadable(self.path, &error))
    }

    fn faults(&self) -> Result<Faults, Vec<InputError>> {
        Ok(if self.is_parquet()? { Faults::of_table(self.path) } else { Faults::of(self.path) })
    }

    /// Reads all blocks; the next one is read while `work` has the one before.
    fn blocks<T: Send>(
        &self,
        work: impl Fn(&[u8]) -> T + Sync,
        mut take: impl FnMut(&[u8], T) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let failed = |error| unreadable(self.path, &error);
        let mut blocks = run_blocks(read_file::open(self.path).map_err(failed)?);
        let mut block = blocks.next(Vec::new()).map_err(failed)?;
        let mut spare = Vec::new();
        while let Some(text) = block {
            let memory = std::mem::take(&mut spare);
            let (next, done) = rayon::join(|| blocks.next(memory), || work(&text));
            take(&text, done)?;
            (self.progress)(text.len() as u64);
            spare = text;
            block = next.map_err(failed)?;
        }
        Ok(())
    }

    fn score_text(
        &self,
        queries: &JudgedQueries,
        measures: &[&dyn Measure],
        scores: &mut RunScores,
    ) -> Result<(), Stop> {
        let toolbox = Toolbox::default();
        let mut faults = Faults::of(self.path);
        let mut lines = 0;
        let score = |text: &[u8]| {
            toolbox.with(|Tools { text: run, scorer }| {
                run.read(text);
                let rows = &run.rows;
                let piece = Piece { rows, queries: text, document: |row| rows.document(text, row) };
                let mut scores = piece.score(scorer, queries, measures);
                scores.lines = run.lines;
                scores.more_faults = run.more_faults;
                scores.faults.append(&mut run.faults);
                scores
            })
        };
        let work = |text: &[u8]| {
            let pieces = pieces(text).into_par_iter();
            pieces.map(|piece| score(text.get(piece).unwrap_or_default())).collect::<Vec<PieceScores>>()
        };
        self.blocks(work, |_, found| {
            for piece in found {
                let before = lines;
                lines += piece.lines;
                piece.add(before, measures.len(), scores, &mut faults)?;
            }
            Ok(())
        })?;
        if faults.is_empty() { Ok(()) } else { Err(Stop::Wrong(faults.into_errors())) }
    }

    fn score_table(
        &self,
        queries: &JudgedQueries,
        measures: &[&dyn Measure],
        scores: &mut RunScores,
    ) -> Result<(), Stop> {
        let table = Table::run(self.path)?;
        let toolbox = Toolbox::default();
        let mut faults = Faults::of_table(self.path);
        let mut rows = 0;
        let score = |mut group: RunGroup| {
            let mut faults = std::mem::take(&mut group.faults);
            let piece = Piece { rows: &group.rows, queries: &group.queries, document: |row| group.document(row) };
            let mut scores = toolbox.with(|tools| piece.score(&mut tools.scorer, queries, measures));
            scores.faults.append(&mut faults);
            scores.lines = group.rows.keys.len() as u64;
            scores
        };
        // Not all at once: what they give would be in memory before a query that comes back ends the pass.
        for first in (0..table.groups()).step_by(AT_ONCE) {
            let groups = first..table.groups().min(first + AT_ONCE);
            let found: Vec<Result<Vec<PieceScores>, Vec<InputError>>> = groups
                .clone()
                .into_par_iter()
                .map(|group| Ok(table.run_group(group)?.into_iter().map(score).collect()))
                .collect();
            for (group, pieces) in groups.zip(found) {
                let before = rows;
                for piece in pieces? {
                    rows += piece.lines;
                    piece.add(before, measures.len(), scores, &mut faults)?;
                }
                (self.progress)(table.bytes(group));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(Stop::Wrong(faults.into_errors())) }
    }

    fn gather_text(&self) -> Result<WholeRun, Vec<InputError>> {
        let mut run = WholeRun::default();
        let mut faults = Faults::of(self.path);
        let mut lines = 0;
        let work = |text: &[u8]| {
            let read = |piece: std::ops::Range<usize>| {
                let mut read = RunText::default();
                read.read(text.get(piece.clone()).unwrap_or_default());
                (piece, read)
            };
            pieces(text).into_par_iter().map(read).collect::<Vec<_>>()
        };
        let outcome = self.blocks(work, |text, found| {
            for (place, read) in found {
                let text = text.get(place).unwrap_or_default();
                let rows = &read.rows;
                run.add(&Piece { rows, queries: text, document: |row| rows.document(text, row) }, lines);
                read.faults.into_iter().for_each(|fault| faults.add(fault, lines));
                faults.count(read.more_faults);
                lines += read.lines;
            }
            Ok(())
        });
        match outcome {
            Err(Stop::Wrong(errors)) => Err(errors),
            _ if !faults.is_empty() => Err(faults.into_errors()),
            _ => Ok(run),
        }
    }

    fn gather_table(&self) -> Result<WholeRun, Vec<InputError>> {
        let table = Table::run(self.path)?;
        let mut run = WholeRun::default();
        let mut faults = Faults::of_table(self.path);
        let mut before = 0;
        for group in 0..table.groups() {
            let mut rows = 0;
            for mut group in table.run_group(group)? {
                std::mem::take(&mut group.faults).into_iter().for_each(|fault| faults.add(fault, before));
                let document = |row| group.document(row);
                run.add(&Piece { rows: &group.rows, queries: &group.queries, document }, before);
                rows += group.rows.keys.len() as u64;
            }
            before += rows;
        }
        if faults.is_empty() { Ok(run) } else { Err(faults.into_errors()) }
    }
}

/// Row groups that are read between two looks at what they gave.
const AT_ONCE: usize = 16;
