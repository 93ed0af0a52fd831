//! The dispatcher: owns the graph and all state, hands ready actions to workers, and waits for their outcomes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use ragstage_cache::action::OutputRecord;
use ragstage_cache::key::key_of;
use ragstage_cache::{Digest, Manifest, StoreError};
use ragstage_stages::contract::Action;
use ragstage_stages::error::StageErrorKind;
use ragstage_stages::step::Step;

use super::actions::{ActionSource, NodeOutputs};
use super::event::Event;
use super::outcome::{NotAllowed, RunError};
use super::previous::Previous;
use super::shared::Shared;
use super::state::State;
use super::worker::{Assignment, Failure, Outcome, Ran, serve, spend_of, whole};
use crate::graph::{Graph, Node, NodeId, Spec};
use crate::stale::StaleReason;

/// How often one lost artifact is made again for the sake of one reader before that is given up.
const MOST_REPAIRS: u32 = 3;

/// Threads for each action that computes. The others flush outputs to the device meanwhile: with many small run units that
/// takes longer than computing them.
const STORING: usize = 4;

/// What a run may do.
pub struct Rules {
    /// Actions that compute at once.
    pub jobs: usize,
    /// Whether actions that do not depend on a failed one still run.
    pub keep_going: bool,
    /// Whether actions of a step may run at all.
    pub may_run: fn(Step) -> bool,
}

/// Where a node stands in this run.
#[derive(Debug, Clone, Default)]
pub struct NodeRun {
    state: Option<State>,
    /// Its action key, once its inputs are done.
    pub key: Option<Digest>,
    /// Its artifacts, once it is done.
    pub outputs: Vec<OutputRecord>,
    /// Whether every row was computed.
    pub complete: bool,
    /// Rows that failed here, not upstream: each failure counts once, whatever depends on it.
    pub failed: u64,
    /// Rows that can never be computed from these inputs.
    pub rejected: u64,
    /// Whether it ran in this run (rather than being there already).
    pub executed: bool,
    /// The row slots it uses.
    pub slots: Vec<Digest>,
    /// Whether what it saves or spends is counted, however often it is looked at again.
    saved: bool,
    waiting: usize,
    repairs: HashMap<Digest, u32>,
    lost: Option<Digest>,
    /// Why what it put into a system under test is known to be gone, where it is.
    withdrawn: Option<String>,
    /// What a look at what it put into a system under test has found missing.
    probe_failed: Option<String>,
    /// Why it has to run, where it has to.
    reasons: Vec<StaleReason>,
}

impl NodeRun {
    /// Why it ran again although its key is that of an earlier run, where a probe found that.
    pub fn probe_failed(&self) -> Option<StaleReason> {
        self.probe_failed.clone().map(|why| StaleReason::ProbeFailed { why })
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state.unwrap_or(State::Want)
    }
}

/// Runs graphs.
pub struct Dispatcher<'a> {
    /// What the threads share.
    pub shared: Arc<Shared>,
    /// Makes actions out of nodes.
    pub source: &'a ActionSource,
    /// What earlier runs did.
    pub previous: &'a Previous,
    /// What may be done.
    pub rules: Rules,
    /// The graph; may grow between two calls of [`Dispatcher::execute`].
    pub graph: Graph,
    runs: Vec<NodeRun>,
    dependents: Vec<Vec<NodeId>>,
    ready: VecDeque<NodeId>,
    changed: Vec<NodeId>,
    not_allowed: Vec<NotAllowed>,
    errors: Vec<(NodeId, RunError)>,
    /// Whether the store could not keep something: then nothing more is begun, least of all what is paid for.
    store_failed: bool,
}

struct Lanes {
    cpu: Sender<Assignment>,
    calls: Sender<Assignment>,
    outcomes: Receiver<Outcome>,
}

impl NodeOutputs for Vec<NodeRun> {
    fn outputs(&self, id: NodeId) -> &[OutputRecord] {
        self.get(id.0).map_or(&[], |run| &run.outputs)
    }

    fn ran(&self, id: NodeId) -> bool {
        self.get(id.0).is_some_and(|run| run.executed)
    }

    fn withdrawn(&self, id: NodeId) -> Option<&str> {
        self.get(id.0)?.withdrawn.as_deref()
    }
}

impl<'a> Dispatcher<'a> {
    /// A dispatcher of an empty graph.
    pub fn new(shared: Arc<Shared>, source: &'a ActionSource, previous: &'a Previous, rules: Rules) -> Self {
        Dispatcher {
            shared,
            source,
            previous,
            rules,
            graph: Graph::default(),
            runs: Vec::new(),
            dependents: Vec::new(),
            ready: VecDeque::new(),
            changed: Vec::new(),
            not_allowed: Vec::new(),
            errors: Vec::new(),
            store_failed: false,
        }
    }

    /// Where a node stands.
    pub fn run(&self, id: NodeId) -> Option<&NodeRun> {
        self.runs.get(id.0)
    }

    /// The digest of a node's output.
    pub fn output(&self, id: NodeId, name: &str) -> Option<&OutputRecord> {
        self.runs.outputs(id).iter().find(|output| output.name == name)
    }

    /// The errors of the nodes that failed, and the nodes.
    pub fn take_errors(&mut self) -> Vec<(NodeId, RunError)> {
        let mut errors = std::mem::take(&mut self.errors);
        if !self.not_allowed.is_empty() {
            errors.push((NodeId(0), RunError::NotAllowed(std::mem::take(&mut self.not_allowed))));
        }
        errors
    }

    /// Brings every node of the graph up to date. Nodes that fail are found in [`Dispatcher::take_errors`].
    ///
    /// # Errors
    /// When the run was interrupted.
    pub fn execute(&mut self) -> Result<(), RunError> {
        self.runs.resize_with(self.graph.len(), NodeRun::default);
        self.shared.events.event(&Event::ActionsPlanned { actions: self.graph.len() });
        loop {
            self.link();
            self.drain()?;
            // An artifact that was lost and came out otherwise (a paid answer asked again) makes its readers stale.
            let changed = std::mem::take(&mut self.changed);
            if changed.is_empty() {
                return Ok(());
            }
            for id in changed {
                self.reopen_readers(id);
            }
        }
    }

    /// Runs a node again although its outputs were there: one of them is lost.
    pub fn repair(&mut self, id: NodeId, lost: Digest) -> Result<(), RunError> {
        self.reopen(id, lost)?;
        self.execute()
    }

    /// Counts, for every node that is not final, the inputs that are not done; finds those that can start.
    fn link(&mut self) {
        self.dependents = vec![Vec::new(); self.graph.len()];
        self.ready.clear();
        for (id, node) in self.graph.nodes() {
            for input in &node.inputs {
                self.dependents[input.0].push(id);
            }
            let waiting = node.inputs.iter().filter(|input| self.runs[input.0].state() != State::Done).count();
            let run = &mut self.runs[id.0];
            run.waiting = waiting;
            if !run.state().is_final() {
                run.state = Some(if waiting == 0 { State::Ready } else { State::Want });
                if waiting == 0 {
                    self.ready.push_back(id);
                }
            }
        }
    }

    fn drain(&mut self) -> Result<(), RunError> {
        let (cpu, cpu_assignments) = unbounded::<Assignment>();
        let (calls, call_assignments) = unbounded::<Assignment>();
        let (send, outcomes) = unbounded::<Outcome>();
        let mut workers = Vec::new();
        let shared = self.shared.clone();
        let mut spawn = |assignments: &Receiver<Assignment>, count: usize| {
            for _ in 0..count.max(1) {
                let (shared, assignments, send) = (shared.clone(), assignments.clone(), send.clone());
                workers.push(std::thread::spawn(move || serve(shared, assignments, send)));
            }
        };
        let mut spawned_cpu = false;
        let mut callers = 0;
        let mut calling = 0;
        let lanes = Lanes { cpu, calls, outcomes };
        let mut in_flight = 0usize;
        let mut told = false;
        loop {
            let mut stopped = self.stopped();
            while !stopped
                && !self.shared.interrupt.asked()
                && let Some(id) = self.ready.pop_front()
            {
                if let Some(assignment) = self.consider(id) {
                    // Threads are made when there is something for them: a warm run needs none.
                    if assignment.calls {
                        calling += 1;
                        if callers < calling && callers < self.shared.pools.concurrency() {
                            callers += 1;
                            spawn(&call_assignments, 1);
                        }
                        let _ = lanes.calls.send(assignment);
                    } else {
                        if !std::mem::replace(&mut spawned_cpu, true) {
                            spawn(&cpu_assignments, self.rules.jobs * STORING);
                        }
                        let _ = lanes.cpu.send(assignment);
                    }
                    self.runs[id.0].state = Some(State::Queued);
                    in_flight += 1;
                }
                stopped = self.stopped();
            }
            if stopped || self.shared.interrupt.asked() {
                // What no worker has begun is taken back.
                for assignment in cpu_assignments.try_iter().chain(call_assignments.try_iter()) {
                    self.runs[assignment.id.0].state = Some(State::Want);
                    in_flight -= 1;
                    calling -= usize::from(assignment.calls);
                }
            }
            if self.shared.interrupt.asked() && !std::mem::replace(&mut told, true) {
                self.shared.events.event(&Event::Interrupted);
            }
            if in_flight == 0 {
                break;
            }
            match lanes.outcomes.recv_timeout(Duration::from_millis(100)) {
                Ok(outcome) => {
                    in_flight -= 1;
                    calling -= usize::from(outcome.calls);
                    self.settle(outcome);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        drop(lanes);
        for worker in workers {
            if worker.join().is_err() {
                return Err(RunError::Internal("a worker broke down".to_string()));
            }
        }
        self.tell_incidents();
        if self.shared.interrupt.asked() && self.runs.iter().any(|run| !run.state().is_final()) {
            return Err(RunError::Interrupted);
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.store_failed || (!self.rules.keep_going && !self.errors.is_empty())
    }

    /// Looks a ready node up. Gives an assignment where it has to run.
    fn consider(&mut self, id: NodeId) -> Option<Assignment> {
        let node = self.graph.node(id).clone();
        let action = match self.source.action(&node, &self.runs) {
            Ok(action) => action,
            Err(RunError::Store(error)) if error.lost_blob().is_some() => {
                self.repair_input(id, error);
                return None;
            }
            Err(error) => {
                self.fail(id, error);
                return None;
            }
        };
        let key = key_of(&*action);
        let keep = node.inputs.iter().all(|input| self.runs[input.0].complete);
        let run = &mut self.runs[id.0];
        run.key = Some(key);
        if keep && run.lost.is_none() {
            match whole(&self.shared, &key) {
                Ok(Some(record)) => {
                    self.shared.events.event(&Event::ActionFresh { step: node.step, label: node.label, key });
                    if !std::mem::replace(&mut run.saved, true) {
                        self.shared.ledger.save(spend_of(&record));
                    }
                    run.slots = record.slots;
                    run.withdrawn = record.withdrawn;
                    self.finish(id, record.outputs, true, 0, record.rejected);
                    return None;
                }
                Ok(None) => {}
                Err(error) => {
                    self.fail(id, RunError::Store(error));
                    return None;
                }
            }
        }
        let reasons = self.reasons(&node, id, key, &*action);
        self.runs[id.0].reasons = reasons.clone();
        // What was there and is lost may be made again anywhere, as long as that asks nobody anything.
        let ask = (self.rules.may_run)(node.step);
        if !ask && !reasons.iter().all(|reason| matches!(reason, StaleReason::LostBlob { .. })) {
            self.refuse(id);
            return None;
        }
        self.shared.events.event(&Event::ActionStale { step: node.step, label: node.label.clone(), key, reasons });
        if let Err(error) = self.shared.store.require_writable("write to") {
            self.fail(id, RunError::Store(error));
            return None;
        }
        let calls = !node.spec.pools().is_empty();
        // A system under test does all the work; with models there is computing before and after.
        let computes = !matches!(node.spec, Spec::System { .. } | Spec::Ingest { .. });
        let watched = match &node.spec {
            Spec::System { watched, .. } | Spec::Ingest { watched, .. } => watched.clone(),
            Spec::Score { evaluator, .. } => {
                Arc::new(evaluator.program().map(|program| program.paths.clone()).unwrap_or_default())
            }
            _ => Arc::default(),
        };
        let previous = match &node.spec {
            Spec::Score { .. } => self.previous.action(&node.label).map(|old| old.outputs.clone()).unwrap_or_default(),
            _ => BTreeMap::new(),
        };
        let (step, label) = (node.step, node.label);
        Some(Assignment { id, step, label, key, action, keep, ask, calls, computes, watched, previous })
    }

    /// A node would have to run where it may not.
    fn refuse(&mut self, id: NodeId) {
        let label = self.graph.node(id).label.clone();
        let reasons = self.runs[id.0].reasons.clone();
        self.not_allowed.push(NotAllowed { label, reasons });
        self.runs[id.0].state = Some(State::Failed);
        self.skip_readers(id);
    }

    fn reasons(&self, node: &Node, id: NodeId, key: Digest, action: &dyn Action) -> Vec<StaleReason> {
        if let Some(digest) = self.runs[id.0].lost {
            return vec![StaleReason::LostBlob { digest }];
        }
        if let Some(reason) = self.runs[id.0].probe_failed() {
            return vec![reason];
        }
        let actions = self.shared.store.actions();
        if let Ok(Some(record)) = actions.get(&key) {
            let cas = self.shared.store.cas();
            let lost = record.outputs.iter().find(|output| !cas.has(&output.digest, output.bytes));
            if let Some(lost) = lost {
                return vec![StaleReason::LostBlob { digest: lost.digest }];
            }
        }
        match self.previous.action(&node.label) {
            None => vec![StaleReason::FirstBuild],
            Some(old) if !old.complete => vec![StaleReason::Incomplete],
            Some(old) if old.key == key => vec![StaleReason::Evicted],
            Some(old) => match actions.manifest(&old.key) {
                Ok(Some(manifest)) => StaleReason::between(&manifest, &Manifest::of(action)),
                _ => vec![StaleReason::Evicted],
            },
        }
    }

    /// Takes an outcome in.
    fn settle(&mut self, outcome: Outcome) {
        let Outcome { id, result, slots, calls: _ } = outcome;
        self.runs[id.0].slots = slots;
        match result {
            Ok(ran) => self.ran(id, ran),
            Err(Failure::Panic(message)) => {
                let label = self.graph.node(id).label.clone();
                self.fail(id, RunError::Internal(format!("{label}: {message}")));
            }
            Err(Failure::Interrupted) => self.runs[id.0].state = Some(State::Want),
            Err(Failure::Store(error)) => self.fail(id, RunError::Store(error)),
            Err(Failure::Stage(error)) => match error.kind {
                StageErrorKind::Store(error) if error.lost_blob().is_some() => self.repair_input(id, error),
                StageErrorKind::Store(error) => self.fail(id, RunError::Store(error)),
                StageErrorKind::Input(errors) => self.fail(id, RunError::Input(errors)),
                StageErrorKind::Unasked(_) => self.refuse(id),
                StageErrorKind::Cancelled => self.runs[id.0].state = Some(State::Want),
                StageErrorKind::StaleHandle { handle, why } => self.ingest_again(id, handle, why),
                StageErrorKind::Provider(why) => self.fail(id, RunError::Provider(why)),
                StageErrorKind::Doubt(why) => {
                    for slot in self.runs[id.0].slots.clone() {
                        if let Err(error) = self.shared.store.rows().set_aside(&slot, "replies of a system in doubt") {
                            return self.fail(id, RunError::Store(error));
                        }
                    }
                    self.fail(id, RunError::Provider(why));
                }
                kind => {
                    let error = ragstage_stages::error::StageError { step: error.step, kind };
                    self.fail(id, RunError::Internal(error.to_string()));
                }
            },
        }
        self.tell_incidents();
    }

    fn ran(&mut self, id: NodeId, ran: Ran) {
        let node = self.graph.node(id);
        let (step, label) = (node.step, node.label.clone());
        let key = self.runs[id.0].key.unwrap_or(Digest::of(b""));
        if ran.shared {
            self.shared.events.event(&Event::ActionShared { step, label, key });
        } else {
            let same_outputs = self.previous.action(&label).is_some_and(|old| {
                ran.outputs
                    .iter()
                    .filter(|output| !output.observation)
                    .all(|output| old.outputs.get(&output.name) == Some(&output.digest))
            });
            self.shared.events.event(&Event::ActionFinished {
                step,
                label,
                key,
                elapsed_ms: ran.elapsed_ms,
                complete: ran.complete,
                failed: ran.failed,
                same_outputs,
            });
        }
        let was_lost = self.runs[id.0].lost.take().is_some();
        if was_lost && self.runs[id.0].outputs != ran.outputs {
            self.changed.push(id);
        }
        self.runs[id.0].executed |= !ran.shared;
        self.runs[id.0].withdrawn = None;
        self.runs[id.0].saved = true;
        if let Some(why) = ran.unusable {
            self.errors.push((id, RunError::Provider(why)));
        }
        self.finish(id, ran.outputs, ran.complete, ran.failed_here, ran.rejected);
    }

    fn finish(&mut self, id: NodeId, outputs: Vec<OutputRecord>, complete: bool, failed: u64, rejected: u64) {
        let run = &mut self.runs[id.0];
        run.state = Some(State::Done);
        run.outputs = outputs;
        run.complete = complete;
        run.failed = failed;
        run.rejected = rejected;
        for reader in self.dependents[id.0].clone() {
            let run = &mut self.runs[reader.0];
            run.waiting = run.waiting.saturating_sub(1);
            if run.waiting == 0 && run.state() == State::Want {
                run.state = Some(State::Ready);
                self.ready.push_back(reader);
            }
        }
    }

    fn fail(&mut self, id: NodeId, error: RunError) {
        let node = self.graph.node(id);
        self.shared.events.event(&Event::ActionFailed {
            step: node.step,
            label: node.label.clone(),
            error: error.to_string(),
        });
        self.runs[id.0].state = Some(State::Failed);
        self.store_failed |= matches!(error, RunError::Store(_));
        self.errors.push((id, error));
        self.skip_readers(id);
    }

    fn skip_readers(&mut self, id: NodeId) {
        let after = self.graph.node(id).label.clone();
        let mut open = self.dependents[id.0].clone();
        while let Some(reader) = open.pop() {
            if self.runs[reader.0].state().is_final() {
                continue;
            }
            self.runs[reader.0].state = Some(State::Skipped);
            let node = self.graph.node(reader);
            self.shared.events.event(&Event::ActionSkipped {
                step: node.step,
                label: node.label.clone(),
                after: after.clone(),
            });
            open.extend(self.dependents[reader.0].iter().copied());
        }
    }

    /// A node could not read an input: whoever made that input makes it again, then the node is looked at once more.
    fn repair_input(&mut self, id: NodeId, error: StoreError) {
        let Some(lost) = error.lost_blob() else { return };
        // Of several that make the same bytes, the one that this node waits for.
        let output = |input: &NodeId| self.runs[input.0].outputs.iter().find(|output| output.digest == lost);
        let made = self.graph.node(id).inputs.iter().find_map(|input| Some((*input, output(input)?.bytes)));
        let repairs = self.runs[id.0].repairs.entry(lost).or_insert(0);
        *repairs += 1;
        match made {
            Some((maker, bytes)) if *repairs <= MOST_REPAIRS => {
                self.runs[id.0].state = Some(State::Want);
                // Another reader may have had it made again already.
                let there = self.shared.store.cas().has(&lost, bytes);
                if self.runs[maker.0].state() == State::Done && !there {
                    if let Err(error) = self.reopen(maker, lost) {
                        self.fail(id, error);
                        return;
                    }
                    self.make_again(maker);
                }
                self.wait_again(id);
            }
            _ => self.fail(id, RunError::Store(error)),
        }
    }

    /// A node that was reopened can start: its readers wait for it once more.
    fn make_again(&mut self, maker: NodeId) {
        self.runs[maker.0].state = Some(State::Ready);
        self.ready.push_back(maker);
        for reader in self.dependents[maker.0].clone() {
            if !self.runs[reader.0].state().is_final() {
                self.runs[reader.0].waiting += 1;
            }
        }
    }

    /// A node that could not come to its end is looked at once more when its inputs are done.
    fn wait_again(&mut self, id: NodeId) {
        if self.runs[id.0].waiting == 0 {
            self.runs[id.0].state = Some(State::Ready);
            self.ready.push_back(id);
        }
    }

    /// What a node was to ask is not in the system under test any more: whoever put it there does so again, then the node
    /// is looked at once more.
    fn ingest_again(&mut self, id: NodeId, handle: Digest, why: String) {
        let has_it = |input: &&NodeId| self.runs[input.0].outputs.iter().any(|output| output.digest == handle);
        let maker = self.graph.node(id).inputs.iter().find(has_it).copied();
        let repairs = self.runs[id.0].repairs.entry(handle).or_insert(0);
        *repairs += 1;
        let (Some(maker), true) = (maker, *repairs <= MOST_REPAIRS) else {
            return self.fail(id, RunError::Provider(format!("the system loses what it is given: {why}")));
        };
        self.runs[id.0].state = Some(State::Want);
        // Another reader may have had it put there again already.
        let run = &mut self.runs[maker.0];
        if run.state() == State::Done && !run.executed {
            run.state = Some(State::Want);
            if let Err(error) = self.forget_gone(maker, why) {
                return self.fail(id, RunError::Store(error));
            }
            self.make_again(maker);
        }
        self.wait_again(id);
    }

    /// Takes back that `maker` is done, since what it made outside of the store is gone. Where only our own record said so,
    /// another process may have made it again since: then its record is found.
    fn forget_gone(&mut self, maker: NodeId, why: String) -> Result<(), StoreError> {
        let run = &mut self.runs[maker.0];
        if let (Some(_), Some(key)) = (&run.withdrawn, &run.key)
            && self.shared.store.actions().get(key)?.is_some_and(|record| record.withdrawn.is_none())
        {
            return Ok(());
        }
        run.probe_failed = Some(why);
        forget(&self.shared, run.key, &run.slots)
    }

    fn reopen(&mut self, id: NodeId, lost: Digest) -> Result<(), RunError> {
        let run = &mut self.runs[id.0];
        run.lost = Some(lost);
        run.state = Some(State::Want);
        if let Some(key) = run.key {
            self.shared.store.actions().remove(&key)?;
        }
        Ok(())
    }

    fn reopen_readers(&mut self, id: NodeId) {
        let mut open = self.dependents[id.0].clone();
        while let Some(reader) = open.pop() {
            if self.runs[reader.0].state() == State::Done {
                self.runs[reader.0].state = Some(State::Want);
                open.extend(self.dependents[reader.0].iter().copied());
            }
        }
    }

    fn tell_incidents(&self) {
        for incident in self.shared.store.take_incidents() {
            self.shared.events.event(&Event::StoreIncident { message: incident.to_string() });
        }
    }
}

/// Takes back what an action left in the store: its record, and the rows that its record was made of.
fn forget(shared: &Shared, key: Option<Digest>, slots: &[Digest]) -> Result<(), StoreError> {
    for slot in slots {
        shared.store.rows().discard(slot)?;
    }
    key.map_or(Ok(()), |key| shared.store.actions().remove(&key))
}
