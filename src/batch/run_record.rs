//! What a run leaves for the next one to compare with.

use std::collections::BTreeMap;

use ragstage_cache::Digest;
use ragstage_cache::runs::Roots;
use ragstage_stages::aggregate::GateOutcome;
use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::outcome::EvaluationOutcome;
use crate::exec::{ACTIONS_FILE, Account, Dispatcher, RecordedAction, RunError, State};
use crate::graph::{EvaluationNodes, ResponseNodes};

/// The file in a run record that says which responses it had.
pub const RESPONSES_FILE: &str = "responses.json";

/// The responses of one unit to one query of one recipe, as a run record remembers them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedResponses {
    /// Recipe.
    pub recipe: String,
    /// Query.
    pub query: String,
    /// Unit.
    pub unit_id: String,
    /// The `results` artifact.
    pub results: Digest,
    /// The `answers` artifact, where there is one.
    pub answers: Option<Digest>,
}

/// The outcome file of a run record.
#[derive(Serialize)]
struct OutcomeFile<'a> {
    format: u32,
    executed: usize,
    fresh: usize,
    failed_items: u64,
    rejected_items: u64,
    errors: Vec<String>,
    gates: &'a [GateOutcome],
    files: Vec<String>,
    /// Of all evaluations of the command together: they share their calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    spend: Option<Account>,
}

impl Batch {
    /// Writes what the next run compares with.
    pub(super) fn record(
        &self,
        index: usize,
        nodes: &EvaluationNodes,
        dispatcher: &Dispatcher<'_>,
        outcome: &EvaluationOutcome,
        errors: &[RunError],
    ) {
        let Some(record) = self.records.get(index).and_then(Option::as_ref) else { return };
        // What this run did not reach keeps the keys of the run before, so that reasons survive an interruption.
        let mut actions: BTreeMap<String, RecordedAction> = BTreeMap::new();
        let mut roots = Roots::default();
        for &id in &nodes.members {
            let label = &dispatcher.graph.node(id).label;
            let run = dispatcher.run(id);
            let done = run.filter(|run| run.state() == State::Done).and_then(|run| run.key.map(|key| (run, key)));
            let recorded = match done {
                Some((run, key)) => Some(RecordedAction {
                    key,
                    complete: run.complete,
                    outputs: run.outputs.iter().map(|output| (output.name.clone(), output.digest)).collect(),
                    slots: run.slots.clone(),
                    reasons: run.probe_failed().into_iter().collect(),
                }),
                None => self.previous.action(label).cloned(),
            };
            // Also of what did not come to its end: its rows may have been paid for.
            roots.slots.extend(run.iter().flat_map(|run| run.slots.iter().copied()));
            if let Some(recorded) = recorded {
                roots.actions.push(recorded.key);
                roots.slots.extend(recorded.slots.iter().copied());
                actions.insert(label.clone(), recorded);
            }
        }
        roots.slots.sort();
        roots.slots.dedup();
        let file = OutcomeFile {
            format: 1,
            executed: outcome.executed,
            fresh: outcome.fresh,
            failed_items: outcome.failed_items,
            rejected_items: outcome.rejected_items,
            errors: errors.iter().map(ToString::to_string).collect(),
            gates: &outcome.gates,
            files: outcome.files.iter().map(|(path, _)| path.display().to_string()).collect(),
            spend: self.shared.ledger.account(),
        };
        // As with the record itself: a history that cannot be written costs explanations, not results.
        let _ = record
            .write_json(ACTIONS_FILE, &actions)
            .and_then(|()| record.write_json(RESPONSES_FILE, &self.responses(nodes, dispatcher)))
            .and_then(|()| record.write_roots(&roots))
            .and_then(|()| record.write_json("outcome.json", &file));
    }

    /// The responses that the run had, whether or not all of them are good: what failed is told with them.
    fn responses(&self, nodes: &EvaluationNodes, dispatcher: &Dispatcher<'_>) -> Vec<RecordedResponses> {
        let recorded = |response: &ResponseNodes| {
            let digest = |id, name: &str| dispatcher.output(id, name).map(|output| output.digest);
            Some(RecordedResponses {
                recipe: response.recipe.clone(),
                query: response.query.clone(),
                unit_id: response.unit_id.clone(),
                results: digest(response.retrieve, "results")?,
                answers: response.answer.and_then(|id| digest(id, "answers")),
            })
        };
        nodes.responses.iter().filter_map(recorded).collect()
    }
}
