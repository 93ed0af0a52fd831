//! BEIR: queries and judgements over one corpus, which stays whole.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ragstage_stages::error::{InputError, Place};

use super::algorithm::Algorithm;
use super::drawn::Drawn;
use super::json_file::{TextFile, find_file};
use super::layout::{Content, Layout, OutFile};
use super::lines_file::LinesFile;
use super::pool::{Pool, PoolDocument, PoolQuestion};
use super::sample_error::SampleError;

const QUERIES: &str = "queries.jsonl";
/// The splits that are evaluated, the first that is there.
const SPLITS: [&str; 3] = ["qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv"];

/// The queries of one split.
pub(super) struct Beir {
    queries: LinesFile,
    /// For each question its row.
    rows: Vec<usize>,
    split: (&'static str, TextFile),
    corpus: PathBuf,
    pool: Pool,
}

impl Beir {
    /// Reads the files in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self, SampleError> {
        let corpus = find_file(folder, &["corpus.jsonl", "corpus.jsonl.gz"])?;
        let queries = TextFile::read(find_file(folder, &[QUERIES, "queries.jsonl.gz"])?)?;
        let queries = LinesFile::read(queries).map_err(SampleError::Input)?;
        let Some(split) = SPLITS.into_iter().find(|split| folder.join(split).is_file()) else {
            let message = format!("expected `{}` or another split in this folder, found none", SPLITS[0]);
            return Err(InputError::new(Place::file(folder), message).into());
        };
        let file = TextFile::read(folder.join(split))?;
        let judged: HashSet<&str> = file.text.lines().filter_map(query_of).collect();
        let (mut rows, mut questions) = (Vec::new(), Vec::new());
        for (row, (value, _)) in queries.rows.iter().enumerate() {
            let Some(id) = value["_id"].as_str() else {
                return Err(queries.fault(row, "expected a text as `_id`").into());
            };
            if judged.contains(id) {
                rows.push(row);
                let same = questions.len();
                questions.push(PoolQuestion { id: id.to_string(), category: Some(String::new()), same });
            }
        }
        let pool = Pool { documents: vec![PoolDocument { id: "corpus".to_string(), questions }] };
        Ok(Beir { queries, rows, split: (split, file), corpus, pool })
    }
}

/// The query of a judgement.
fn query_of(line: &str) -> Option<&str> {
    line.split('\t').next().map(str::trim).filter(|id| !id.is_empty())
}

impl Layout for Beir {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn files(&self, drawn: &Drawn, _: Algorithm) -> Vec<OutFile> {
        let drawn: Vec<usize> = drawn.documents.iter().flat_map(|drawn| drawn.questions.iter().copied()).collect();
        let questions = self.pool.documents.iter().flat_map(|document| &document.questions);
        let all: HashSet<&str> = questions.clone().map(|question| question.id.as_str()).collect();
        let kept: HashSet<&str> = drawn
            .iter()
            .filter_map(|question| questions.clone().nth(*question))
            .map(|question| question.id.as_str())
            .collect();
        let (split, file) = &self.split;
        // A header is about no query of the dataset.
        let is_kept = |line: &&str| query_of(line).is_some_and(|id| kept.contains(id) || !all.contains(id));
        let (first, rest) = file.text.split_once('\n').unwrap_or((&file.text, ""));
        let header = [first].into_iter().filter(is_kept);
        let judgements = rest.lines().filter(|line| query_of(line).is_some_and(|id| kept.contains(id)));
        let judgements: String = header.chain(judgements).map(|line| format!("{line}\n")).collect();
        let rows = drawn.iter().filter_map(|question| self.rows.get(*question).copied());
        let name = self.corpus.file_name().unwrap_or_default();
        vec![
            OutFile { path: name.into(), content: Content::Copy(self.corpus.clone()) },
            OutFile { path: QUERIES.into(), content: Content::Bytes(self.queries.with(rows)) },
            OutFile { path: (*split).into(), content: Content::Bytes(judgements.into_bytes()) },
        ]
    }
}
