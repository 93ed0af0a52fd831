//! A program as an evaluator: one column for each of its scores, one reply for all of them.

use std::sync::Arc;

use ragstage_cache::{KeyVisitor, Walk};

use super::protocol::{Said, batch_request, request};
use super::spec::{ProgramRunner, ProgramSpec};
use crate::artifact::Score;
use crate::contract::{Call, Context, Free, Pool, Row, RowBatch, RowItem, RowOutcome};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::model::json_reply::bad_reply;
use crate::process::{Pairing, Processes};
use crate::score::{Description, Evaluator, Reads, Scorable, ScoreTogether};
use crate::step::Step;

/// A program with the processes that run it, which serve all units, recipes and columns and end with the last column.
struct Running {
    spec: ProgramSpec,
    processes: Processes,
}

/// One score of a program.
pub struct Program {
    running: Arc<Running>,
    /// The name among its scores, where it gives several.
    column: Option<String>,
}

/// The evaluators that a program is: one for each of its scores. Nothing is started before the first case is asked for.
pub fn columns(spec: ProgramSpec) -> Vec<Program> {
    let processes = Processes::new(spec.launch.clone(), Pairing::ById);
    // Our shim says when the file is loaded: one that does not load is no fault of a case.
    let processes = if spec.runner == ProgramRunner::Python { processes.that_greet() } else { processes };
    let running = Arc::new(Running { spec, processes });
    let columns = match running.spec.scores.as_slice() {
        [] => vec![None],
        names => names.iter().cloned().map(Some).collect(),
    };
    columns.into_iter().map(|column| Program { running: running.clone(), column }).collect()
}

/// Where the replies of a program are kept: whatever the column, unit and recipe.
struct Slot<'a> {
    spec: &'a ProgramSpec,
    salt: u64,
}

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "ragstage.program");
        if self.salt != 0 {
            v.uint("salt", self.salt);
        }
        self.spec.walk(v);
        v.end();
    }
}

impl Evaluator for Program {
    fn name(&self) -> String {
        match &self.column {
            None => self.running.spec.name.clone(),
            Some(column) => format!("{}.{column}", self.running.spec.name),
        }
    }

    fn describe(&self) -> Description {
        let spec = &self.running.spec;
        Description {
            pretty: self.name().into(),
            description: spec.description.clone().into(),
            citation: None,
            higher_is_better: spec.higher_is_better,
            model: None,
        }
    }

    fn reads(&self) -> Reads {
        self.running.spec.reads
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("evaluator", "program");
        self.running.spec.walk(v);
        match &self.column {
            Some(column) => v.text("column", column),
            None => v.null("column"),
        }
        v.end();
    }

    fn together(&self) -> Option<&dyn ScoreTogether> {
        Some(self)
    }

    fn program(&self) -> Option<&ProgramSpec> {
        Some(&self.running.spec)
    }
}

impl ScoreTogether for Program {
    fn score(
        &self,
        context: &dyn Context,
        responses: &[Scorable<'_>],
    ) -> Result<Vec<Result<Score, RowError>>, StageError> {
        let Running { spec, processes } = &*self.running;
        let items: Vec<RowItem<'_>> =
            responses.iter().map(|response| RowItem { key: response.key, label: response.case.case_id }).collect();
        let slot = Slot { spec, salt: responses.first().map_or(0, |response| response.salt) };
        let batch = || RowBatch { slot: &slot, pool: Pool::Programs, items: &items, cost: &Free };
        // What cannot be started at all is no fault of a case.
        if let Err(error) = context.check_before(&batch(), &|call| processes.ready(call.timeout))? {
            let why = format!("evaluator {:?}: {}", spec.name, error.message);
            return Err(StageError { step: Step::Score, kind: StageErrorKind::Provider(why) });
        }
        let of = |index: &usize| {
            let response = responses.get(*index).copied();
            response.ok_or_else(|| bad_reply(format!("there is no response {index}")))
        };
        let outcomes = match spec.batch {
            None => context.rows(batch(), &|index, call| self.one(&of(&index)?, call).and_then(|said| row(&said)))?,
            Some(size) => context.rows_in_groups(batch(), size as usize, &|indexes, call| {
                let group = indexes.iter().map(of).collect::<Result<Vec<_>, _>>()?;
                let said = self.several(&group, call)?;
                Ok(said.into_iter().map(|said| said.and_then(|said| row(&said))).collect())
            })?,
        };
        outcomes
            .into_iter()
            .zip(&items)
            .map(|(outcome, item)| match outcome {
                RowOutcome::Failed(error) => Ok(Err(error)),
                RowOutcome::Done(row) => match serde_json::from_slice::<Said>(&row.value) {
                    Ok(said) => Ok(said.score(self.column.as_deref())),
                    Err(error) => {
                        let why = format!("is no reply of a program: {error}");
                        let kind = StageErrorKind::Artifact { digest: item.key, why };
                        Err(StageError { step: Step::Score, kind })
                    }
                },
            })
            .collect()
    }
}

impl Program {
    fn one(&self, response: &Scorable<'_>, call: &Call) -> Result<Said, RowError> {
        let Running { spec, processes } = &*self.running;
        let body = |id| request(id, response, spec.reads);
        processes.exchange(&body, call.timeout, |reply| Said::of(reply, &spec.scores))
    }

    fn several(&self, group: &[Scorable<'_>], call: &Call) -> Result<Vec<Result<Said, RowError>>, RowError> {
        let Running { spec, processes } = &*self.running;
        let body = |id| batch_request(id, group, spec.reads);
        let read = |reply| Said::of_batch(reply, group.len(), &spec.scores);
        processes.exchange(&body, call.timeout, read).map_err(|error| match error.kind {
            // A case that it breaks on must not take its neighbours along: they are asked for in smaller groups.
            RowErrorKind::Process | RowErrorKind::Timeout if group.len() > 1 => bad_reply(error.message),
            _ => error,
        })
    }
}

fn row(said: &Said) -> Result<Row, RowError> {
    let value = serde_json::to_vec(said).map_err(|error| bad_reply(format!("cannot be written as JSON: {error}")))?;
    Ok(Row { value, observation: Vec::new() })
}
