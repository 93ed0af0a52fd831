//! The graph of a batch is built and brought up to date.

use ragstage_stages::artifact::Units;
use ragstage_stages::contract::Artifact;
use ragstage_stages::step::{Stage, Step};

use super::batch::Batch;
use crate::evaluation::Evaluation;
use crate::exec::{Dispatcher, RunError};
use crate::graph::{EvaluationNodes, Graph, GraphBuilder, NodeId};

impl Batch {
    /// Both phases: the benchmarks first, then what their run units consist of.
    pub(super) fn execute(&self, dispatcher: &mut Dispatcher<'_>, errors: &mut Vec<RunError>) -> Vec<EvaluationNodes> {
        let salt = |index: usize| {
            let salts = self.salts.get(index);
            move |step: Step| salts.and_then(|salts| salts.get(step.name())).copied().unwrap_or(0)
        };
        let mut all = vec![EvaluationNodes::default(); self.evaluations.len()];
        for (index, evaluation) in self.evaluations.iter().enumerate() {
            let mut builder = self.builder(&mut dispatcher.graph);
            let prepare = builder.benchmark(evaluation, &salt(index));
            all[index].members = builder.members.into_iter().collect();
            all[index].prepare = Some(prepare);
        }
        if let Err(error) = dispatcher.execute() {
            errors.push(error);
        }
        if self.settings.until > Stage::Prepare && errors.is_empty() {
            for (index, evaluation) in self.evaluations.iter().enumerate() {
                let Some(prepare) = all[index].prepare else { continue };
                match self.expand(dispatcher, evaluation, prepare, &salt(index)) {
                    Ok(Some(nodes)) => {
                        let mut members = std::mem::take(&mut all[index].members);
                        members.extend(nodes.members.iter().copied());
                        all[index] = EvaluationNodes { members, ..nodes };
                    }
                    Ok(None) => {}
                    Err(error) => errors.push(error),
                }
            }
            if let Err(error) = dispatcher.execute() {
                errors.push(error);
            }
        }
        errors.extend(dispatcher.take_errors().into_iter().map(|(_, error)| error));
        all
    }

    fn builder<'g>(&'g self, graph: &'g mut Graph) -> GraphBuilder<'g> {
        GraphBuilder { graph, until: self.settings.until, sources: &self.shared.sources, members: Default::default() }
    }

    /// Adds what follows `prepare`, whose units have to be read for that.
    fn expand(
        &self,
        dispatcher: &mut Dispatcher<'_>,
        evaluation: &Evaluation,
        prepare: NodeId,
        salt: &dyn Fn(Step) -> u64,
    ) -> Result<Option<EvaluationNodes>, RunError> {
        let Some(units) = self.read_output(dispatcher, prepare, "units")? else {
            return Ok(None);
        };
        let units = Units::decode(units).map_err(|error| RunError::Internal(format!("units: {error}")))?;
        let mut builder = self.builder(&mut dispatcher.graph);
        Ok(Some(builder.evaluation(evaluation, prepare, &units, &self.settings.evaluators, salt)?))
    }

    /// The bytes of a node's output; computed again when they are lost. `None`: the node is not done.
    pub(super) fn read_output(
        &self,
        dispatcher: &mut Dispatcher<'_>,
        id: NodeId,
        name: &str,
    ) -> Result<Option<Vec<u8>>, RunError> {
        let mut repaired = false;
        loop {
            let Some(output) = dispatcher.output(id, name).cloned() else { return Ok(None) };
            match self.shared.store.cas().get(&output.digest) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(error) if error.lost_blob().is_some() && !std::mem::replace(&mut repaired, true) => {
                    dispatcher.repair(id, output.digest)?;
                }
                Err(error) => return Err(RunError::Store(error)),
            }
        }
    }
}
