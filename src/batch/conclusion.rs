//! After the last action: reports are published and gates checked.

use std::path::Path;

use ragstage_stages::aggregate::{GateOutcome, REPORT_KEY, Summary};
use ragstage_stages::contract::Artifact;
use ragstage_stages::step::Step;

use super::batch::Batch;
use super::outcome::EvaluationOutcome;
use crate::evaluation::Evaluation;
use crate::exec::{Dispatcher, Event, RunError, State};
use crate::graph::{EvaluationNodes, NodeId};
use crate::publish::{FILES, PublishError, Source, publish};

impl Batch {
    /// Publishes an evaluation's files and checks its gates.
    pub(super) fn conclude(
        &self,
        index: usize,
        nodes: &EvaluationNodes,
        dispatcher: &mut Dispatcher<'_>,
        errors: &mut Vec<RunError>,
    ) -> EvaluationOutcome {
        let evaluation = &self.evaluations[index];
        let mut outcome = EvaluationOutcome {
            name: evaluation.name.clone(),
            run_id: self.records.get(index).and_then(|record| record.as_ref()).map(|record| record.id().to_string()),
            summary: None,
            gates: Vec::new(),
            files: Vec::new(),
            failed_items: 0,
            rejected_items: 0,
            rejected_responses: 0,
            executed: 0,
            fresh: 0,
        };
        if let Some(aggregate) = nodes.aggregate {
            match self.read_output(dispatcher, aggregate, "summary") {
                Ok(Some(bytes)) => match Summary::decode(bytes) {
                    Ok(summary) => {
                        outcome.summary = Some(summary);
                    }
                    Err(error) => errors.push(RunError::Internal(format!("summary: {error}"))),
                },
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        if let Some(report) = nodes.report {
            match self.read_output(dispatcher, report, "gates") {
                Ok(Some(bytes)) => match serde_json::from_slice::<Vec<GateOutcome>>(&bytes) {
                    Ok(gates) => outcome.gates = gates,
                    Err(error) => errors.push(RunError::Internal(format!("gates: {error}"))),
                },
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        self.publish(evaluation, nodes, dispatcher, errors, &mut outcome);
        for id in &nodes.members {
            let Some(run) = dispatcher.run(*id) else { continue };
            outcome.failed_items += run.failed;
            outcome.rejected_items += run.rejected;
            if dispatcher.graph.node(*id).step == Step::Import {
                outcome.rejected_responses += run.rejected;
            }
            match run.state() {
                State::Done if run.executed => outcome.executed += 1,
                State::Done => outcome.fresh += 1,
                _ => {}
            }
        }
        outcome
    }

    fn publish(
        &self,
        evaluation: &Evaluation,
        nodes: &EvaluationNodes,
        dispatcher: &mut Dispatcher<'_>,
        errors: &mut Vec<RunError>,
        outcome: &mut EvaluationOutcome,
    ) {
        let folder = self.settings.output.as_ref().unwrap_or(&evaluation.output);
        for (source, output, name) in FILES {
            let node = match source {
                Source::Report => nodes.report,
                Source::Aggregate => nodes.aggregate,
            };
            let Some(node) = node else { continue };
            if !self.publish_one(node, output, &folder.join(name), dispatcher, errors, outcome) {
                // The other files are for the same folder.
                return;
            }
        }
        let Some(report) = nodes.report else { return };
        match self.read_output(dispatcher, report, REPORT_KEY) {
            Ok(Some(key)) => {
                let store = evaluation.object_store(self.settings.output.as_deref());
                let path = store.join(&*String::from_utf8_lossy(&key));
                self.publish_one(report, "report.json", &path, dispatcher, errors, outcome);
            }
            // It is kept nowhere else.
            Ok(None) => {}
            Err(error) => errors.push(error),
        }
    }

    /// Publishes one artifact; false where its file cannot be written.
    fn publish_one(
        &self,
        node: NodeId,
        output: &str,
        path: &Path,
        dispatcher: &mut Dispatcher<'_>,
        errors: &mut Vec<RunError>,
        outcome: &mut EvaluationOutcome,
    ) -> bool {
        let mut repaired = false;
        while let Some(artifact) = dispatcher.output(node, output).cloned() {
            match publish(&self.shared.store, &artifact, path) {
                Ok(published) => {
                    let shown = published.path.display().to_string();
                    let event = Event::Published { path: shown, changed: published.changed };
                    self.shared.events.event(&event);
                    outcome.files.push((published.path, published.changed));
                }
                Err(PublishError::Store(error))
                    if error.lost_blob().is_some() && !std::mem::replace(&mut repaired, true) =>
                {
                    match dispatcher.repair(node, artifact.digest) {
                        Ok(()) => continue,
                        Err(error) => errors.push(error),
                    }
                }
                Err(PublishError::Store(error)) => errors.push(RunError::Store(error)),
                Err(PublishError::Write(path, error)) => {
                    errors.push(RunError::Publish { path, error });
                    return false;
                }
            }
            break;
        }
        true
    }
}
