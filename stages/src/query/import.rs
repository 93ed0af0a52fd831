//! The action that takes a unit's responses from a set that was made elsewhere: nobody is asked anything.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::case_rows::queries_of;
use crate::artifact::{Answer, Answers, Observation, Observations, Queries, Query, Results, Retrieved, Unit, Units};
use crate::contract::{Action, Artifact, Context, Output, Produced, begin_key, decoded, derived};
use crate::error::{InputError, Place, RowError, RowErrorKind, StageError, StageErrorKind};
use crate::responses::{Pick, Response, ResponseFormat, ResponseSet};
use crate::step::Step;

/// Bumped by hand whenever a response is read from the same file as something else; in the key.
const IMPORT_VERSION: u64 = 3;
/// How many unknown cases a message names.
const NAMED: usize = 5;

/// The query that responses made elsewhere answer: who made them knows how they were asked for.
pub const IMPORTED: &str = "imported";

/// What becomes of a case that the set has no response for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It failed, and costs coverage.
    Failed,
    /// It has an empty response, which is worth 0, as `trec_eval -c` has it.
    Empty,
    /// It is skipped, and in no mean.
    Skip,
}

/// Where the responses are.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportSource {
    /// In a file.
    File {
        /// For messages; in no key.
        path: PathBuf,
        /// Digest of its bytes.
        digest: Digest,
        /// What it is read as; by its content where `None`.
        format: Option<ResponseFormat>,
        /// Which of its responses.
        pick: Pick,
    },
    /// In artifacts of an earlier run: `results`, and `answers` where there were any.
    Run(Vec<(Digest, Option<Digest>)>),
}

/// A response set with how it is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportSpec {
    /// Where the responses are.
    pub source: ImportSource,
    /// What becomes of cases without a response.
    pub missing: Missing,
    /// Whether responses to cases that the benchmark does not have are left out; if not, they are errors.
    pub ignore_unknown: bool,
}

impl Walk for ImportSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("set", "response_set");
        v.uint("import_version", IMPORT_VERSION);
        match &self.source {
            ImportSource::File { path: _, digest, format, pick } => {
                v.digest("file", digest);
                if let Some(format) = format {
                    v.text("format", format.name());
                }
                for (name, picked) in [("recipe", &pick.recipe), ("query", &pick.query)] {
                    if let Some(picked) = picked {
                        v.text(name, picked);
                    }
                }
            }
            ImportSource::Run(tables) => {
                v.begin_list("tables", tables.len());
                for (results, answers) in tables {
                    v.begin_record("", "table");
                    v.digest("results", results);
                    if let Some(answers) = answers {
                        v.digest("answers", answers);
                    }
                    v.end();
                }
                v.end();
            }
        }
        v.text(
            "missing",
            match self.missing {
                Missing::Failed => "failed",
                Missing::Empty => "empty",
                Missing::Skip => "skip",
            },
        );
        v.bool("ignore_unknown", self.ignore_unknown);
        v.end();
    }
}

/// A response set to [`Results`] (output `results`), [`Answers`] (`answers`) and, where the set has latencies, [`Observations`]
/// (`observations`), in the unit's case order.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportResponses {
    /// The set.
    pub set: ImportSpec,
    /// The benchmark's queries. Only where to read: the key holds the digest of the unit's own.
    pub queries: Digest,
    /// The benchmark's units. Only where to read.
    pub units: Digest,
    /// Whose cases have the responses.
    pub unit: Unit,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Walk for ImportResponses {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Import, self.salt);
        self.set.walk(v);
        v.digest("queries", &self.unit.queries_digest);
        v.end();
    }
}

/// One case's part of the outputs.
type Imported = (Retrieved, Answer, Option<f64>);

/// A file's responses by the position of their case in the benchmark's queries.
struct ByCase {
    responses: HashMap<usize, Response>,
    /// Whether any response has an answer: a TREC run has none, and must not be taken for one that answers nothing.
    has_answers: bool,
}

impl Action for ImportResponses {
    fn step(&self) -> Step {
        Step::Import
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let step = Step::Import;
        let queries = decoded::<Queries>(context, step, &self.queries)?;
        let unit = queries_of(&self.unit, &queries, &self.queries, step)?;
        let positions = self.unit.case_positions(queries.rows.len());
        let imported: Vec<Imported> = match &self.set.source {
            ImportSource::File { path, digest, format, pick } => {
                let set = self.read(context, &queries, path, digest, *format, pick)?;
                let all = positions
                    .iter()
                    .zip(&unit)
                    .map(|(row, query)| set.responses.get(row).map_or_else(|| self.absent(query), of_file));
                match set.has_answers {
                    true => all.collect(),
                    false => all.map(without_answer).collect(),
                }
            }
            ImportSource::Run(tables) => {
                let known = Kept::read(context, tables)?;
                unit.iter().map(|query| known.of(&query.case_id).unwrap_or_else(|| self.absent(query))).collect()
            }
        };
        let (mut results, mut answers) = (Results::default(), Answers::default());
        let mut observations = Observations::default();
        for (query, (retrieved, answer, latency_ms)) in unit.iter().zip(imported) {
            let case_id = &query.case_id;
            observations.rows.push(Observation { case_id: case_id.clone(), latency_ms, ..Observation::default() });
            results.rows.push(Retrieved { case_id: case_id.clone(), ..retrieved });
            answers.rows.push(Answer { case_id: case_id.clone(), ..answer });
        }
        let bytes = |encoded: Result<Vec<u8>, _>| encoded.map_err(|error| StageError::encode(step, error));
        let mut outputs = vec![
            Output::value("results", bytes(results.encode())?, results.rows.len()),
            Output::value("answers", bytes(answers.encode())?, answers.rows.len()),
        ];
        if observations.rows.iter().any(|row| row.latency_ms.is_some()) {
            outputs.push(Output::observation("observations", bytes(observations.encode())?, observations.rows.len()));
        }
        // What is not in the set never will be: the action is complete, and the run says that items failed.
        let rejected = results.rows.iter().filter(|row| failed(&row.error)).count() as u64;
        Ok(Produced { outputs, rejected, ..Produced::default() })
    }
}

fn failed(error: &Option<RowError>) -> bool {
    error.as_ref().is_some_and(RowError::is_failure)
}

impl ImportResponses {
    /// What stands for a response to `query` that is not there. Nobody could have asked a case that cannot be asked.
    fn absent(&self, query: &Query) -> Imported {
        if let Some(why) = self.unit.skipped.get(&query.case_id) {
            return failed_with(RowError::new(RowErrorKind::Absent, why.clone()));
        }
        let kind = match self.set.missing {
            Missing::Empty => return (Retrieved::default(), Answer::default(), None),
            Missing::Failed => RowErrorKind::Upstream,
            Missing::Skip => RowErrorKind::Absent,
        };
        let error = RowError::new(kind, "the response set has no response for this case");
        failed_with(error)
    }

    /// The file's responses, read once per process for all units.
    fn read(
        &self,
        context: &dyn Context,
        queries: &Queries,
        path: &std::path::Path,
        digest: &Digest,
        format: Option<ResponseFormat>,
        pick: &Pick,
    ) -> Result<Arc<ByCase>, StageError> {
        let step = Step::Import;
        // What is made depends on all of these.
        let identity = Digest::of_parts(
            "ragstage.import.set",
            [
                &digest.0[..],
                &self.queries.0[..],
                format.map(ResponseFormat::name).unwrap_or_default().as_bytes(),
                pick.recipe.as_deref().unwrap_or_default().as_bytes(),
                pick.query.as_deref().unwrap_or_default().as_bytes(),
                &[u8::from(self.set.ignore_unknown)],
            ],
        );
        derived::<ByCase>(context, step, &identity, &|| {
            let gone = || StageError {
                step,
                kind: StageErrorKind::Input(vec![
                    InputError::new(Place::file(path), "the response set is not there any more, or has changed")
                        .hint("run the command again"),
                ]),
            };
            let bytes = context.source(digest)?.ok_or_else(gone)?;
            let set =
                ResponseSet::read(path, &bytes, format, pick).map_err(|errors| StageError::input(step, errors))?;
            let units = decoded::<Units>(context, step, &self.units)?;
            let cases = set.cases(&units, &queries.rows);
            let mut by_case = HashMap::new();
            let (mut unknown, mut twice) = (Vec::new(), Vec::new());
            for (case, response) in cases.into_iter().zip(set.responses) {
                match case {
                    Some(case) => match by_case.entry(case) {
                        Entry::Vacant(place) => _ = place.insert(response),
                        Entry::Occupied(_) => twice.push(response.question.unwrap_or(response.case_id)),
                    },
                    None => unknown.push(response.question.unwrap_or(response.case_id)),
                }
            }
            let fault = |whose: &[String], are: &str, hint: &str| {
                let named: Vec<String> = whose.iter().take(NAMED).map(|whose| format!("{whose:?}")).collect();
                let more = if whose.len() > NAMED { ", ..." } else { "" };
                let message =
                    format!("{} of the responses are for cases that {are}: {}{more}", whose.len(), named.join(", "));
                StageError::input(step, vec![InputError::new(Place::file(path), message).hint(hint)])
            };
            if !twice.is_empty() {
                return Err(fault(&twice, "have one already", "keep one response per case"));
            }
            if !unknown.is_empty() && !self.set.ignore_unknown {
                let hint = "correct the ids, take those responses out of the file, or say `unknown: ignore` in an evaluation file";
                return Err(fault(&unknown, "the benchmark does not have", hint));
            }
            let has_answers = by_case.values().any(|response: &Response| response.answer.is_some());
            Ok(ByCase { responses: by_case, has_answers })
        })
    }
}

fn failed_with(error: RowError) -> Imported {
    let retrieved = Retrieved { error: Some(error.clone()), ..Retrieved::default() };
    (retrieved, Answer { error: Some(error), ..Answer::default() }, None)
}

/// Of a set without answers: evaluators that read them skip the case.
fn without_answer((retrieved, answer, latency_ms): Imported) -> Imported {
    let why = || RowError::new(RowErrorKind::Absent, "the response set has no answers");
    let error = answer.error.or_else(|| Some(why()));
    (retrieved, Answer { error, ..Answer::default() }, latency_ms)
}

fn of_file(response: &Response) -> Imported {
    if let Some(error) = &response.error {
        return failed_with(RowError::new(RowErrorKind::Upstream, format!("the response set says: {error}")));
    }
    let retrieved = Retrieved { results: response.results.clone(), ..Retrieved::default() };
    let answer = Answer {
        text: response.answer.clone(),
        citations: response.citations.clone(),
        samples: if response.samples.len() > 1 { response.samples.clone() } else { Vec::new() },
        metadata: response.metadata.clone(),
        ..Answer::default()
    };
    (retrieved, answer, response.latency_ms)
}

/// The responses of an earlier run, by case.
struct Kept {
    tables: Vec<(Arc<Results>, Option<Arc<Answers>>)>,
    rows: HashMap<String, (usize, usize)>,
}

impl Kept {
    fn read(context: &dyn Context, digests: &[(Digest, Option<Digest>)]) -> Result<Self, StageError> {
        let (mut tables, mut rows) = (Vec::new(), HashMap::new());
        for (table, (results, answers)) in digests.iter().enumerate() {
            let results = decoded::<Results>(context, Step::Import, results)?;
            let answers = match answers {
                Some(answers) => Some(decoded::<Answers>(context, Step::Import, answers)?),
                None => None,
            };
            for (row, retrieved) in results.rows.iter().enumerate() {
                rows.insert(retrieved.case_id.clone(), (table, row));
            }
            tables.push((results, answers));
        }
        Ok(Kept { tables, rows })
    }

    fn of(&self, case_id: &str) -> Option<Imported> {
        let (table, row) = self.rows.get(case_id)?;
        let (results, answers) = self.tables.get(*table)?;
        let retrieved = results.rows.get(*row)?.clone();
        let answer = match answers {
            Some(answers) => answers.rows.get(*row).filter(|answer| answer.case_id == case_id)?.clone(),
            None => Answer::default(),
        };
        Some((retrieved, answer, None))
    }
}
