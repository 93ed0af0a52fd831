//! A batch: some evaluations over one store, from evaluation files to published reports.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ragstage_cache::runs::{Roots, RunDir};
use ragstage_cache::{Digest, Store, StoreError};
use ragstage_stages::aggregate::{GateOutcome, GateSpec, Summary, check};
use ragstage_stages::artifact::Units;
use ragstage_stages::contract::Artifact;
use ragstage_stages::score::EvaluatorSpec;
use ragstage_stages::step::{Stage, Step};
use serde::Serialize;

use crate::evaluation::Evaluation;
use crate::exec::{
    ACTIONS_FILE, ActionSource, CallPool, Closed, DecodedArtifacts, Dispatcher, Event, EventSink, Interrupt, Permits,
    PoolLimits, Previous, RecordedAction, Rules, RunError, Shared, Sources, State,
};
use crate::graph::{EvaluationNodes, GraphBuilder, NodeId};
use crate::plan::{Overlay, Planner};
use crate::publish::{FILES, PublishError, Source, publish};

/// What a batch is asked to do.
pub struct Settings {
    /// Actions that compute at once; the machine's cores by default.
    pub jobs: Option<usize>,
    /// Whether actions that do not depend on a failed one still run; what the evaluation files say by default.
    pub keep_going: bool,
    /// The last stage that is wanted.
    pub until: Stage,
    /// Steps to run again whatever is cached.
    pub force: Vec<Step>,
    /// Evaluators beyond those of the evaluation files.
    pub evaluators: Vec<EvaluatorSpec>,
    /// Where reports go, for a batch of one; what the evaluation file says by default.
    pub output: Option<PathBuf>,
    /// Whether actions of a step may run at all.
    pub may_run: fn(Step) -> bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            jobs: None,
            keep_going: false,
            until: Stage::Aggregate,
            force: Vec::new(),
            evaluators: Vec::new(),
            output: None,
            may_run: |_| true,
        }
    }
}

/// Some evaluations over one store.
pub struct Batch {
    /// The evaluations.
    pub evaluations: Vec<Evaluation>,
    /// What is asked.
    pub settings: Settings,
    /// What the threads of a run share.
    pub shared: Arc<Shared>,
    /// What earlier runs did.
    pub previous: Previous,
    source: ActionSource,
    overlay: Arc<Overlay>,
    salts: Vec<BTreeMap<String, u64>>,
    records: Vec<Option<Arc<RunDir>>>,
}

/// What became of one evaluation.
#[derive(Debug)]
pub struct EvaluationOutcome {
    /// Its name.
    pub name: String,
    /// Its run record, where one could be kept.
    pub run_id: Option<String>,
    /// Means with their coverage; none where the run ended before.
    pub summary: Option<Summary>,
    /// Its gates.
    pub gates: Vec<GateOutcome>,
    /// The files brought up to date, and whether their content changed.
    pub files: Vec<(PathBuf, bool)>,
    /// Items of its actions that failed, cached failures included.
    pub failed_items: u64,
    /// Its actions that ran.
    pub executed: usize,
    /// Its actions that were there already.
    pub fresh: usize,
}

/// What became of a batch.
#[derive(Debug)]
pub struct BatchOutcome {
    /// Each evaluation.
    pub evaluations: Vec<EvaluationOutcome>,
    /// What failed as a whole.
    pub errors: Vec<RunError>,
    /// Actions that ran.
    pub executed: usize,
    /// Actions that were there already.
    pub fresh: usize,
    /// Rows computed.
    pub rows_computed: usize,
    /// Why no more queries were asked, if so.
    pub pool: Option<Closed>,
    /// Whether not one query could be asked, or the provider refused.
    pub pool_unusable: bool,
}

/// The outcome file of a run record.
#[derive(Serialize)]
struct OutcomeFile<'a> {
    format: u32,
    executed: usize,
    fresh: usize,
    failed_items: u64,
    errors: Vec<String>,
    gates: &'a [GateOutcome],
    files: Vec<String>,
}

impl Batch {
    /// A batch over the store at `root`.
    ///
    /// # Errors
    /// When the store cannot be opened, or `--force` cannot be noted in it.
    pub fn open(
        evaluations: Vec<Evaluation>,
        settings: Settings,
        root: &std::path::Path,
        events: Arc<dyn EventSink>,
        interrupt: Interrupt,
    ) -> Result<Self, RunError> {
        let store = Arc::new(Store::open(root)?);
        let names: Vec<String> = evaluations.iter().map(|evaluation| evaluation.name.clone()).collect();
        let previous = Previous::new(store.clone(), &names);
        let mut salts = Vec::new();
        for name in &names {
            salts.push(if settings.force.is_empty() {
                store.salts().get(name)?
            } else {
                let steps: Vec<&str> = settings.force.iter().map(|step| step.name()).collect();
                store.salts().bump(name, &steps)?
            });
        }
        let jobs = jobs(&settings, &evaluations);
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .map_err(|error| RunError::Internal(format!("cannot start {jobs} threads: {error}")))?;
        let sources = Arc::new(Sources::new(store.clone()));
        let shared = Arc::new(Shared {
            store: store.clone(),
            sources: sources.clone(),
            queries: CallPool::new(strictest(&evaluations), interrupt.clone()),
            events,
            interrupt,
            decoded: DecodedArtifacts::default(),
            computing: Permits::new(jobs),
            threads,
            rows_computed: Default::default(),
            rows_failed: Default::default(),
        });
        let overlay = Arc::new(Overlay::default());
        let planned = overlay.clone();
        let source = ActionSource {
            sources,
            blob: Box::new(move |digest: &Digest| match planned.get(digest) {
                Some(bytes) => Ok(bytes),
                None => store.cas().get(digest),
            }),
            started_at: crate::clock::now(),
        };
        Ok(Batch { evaluations, settings, shared, previous, source, overlay, salts, records: Vec::new() })
    }

    /// Makes plans of this batch.
    pub fn planner(&self) -> Planner<'_> {
        Planner {
            shared: self.shared.clone(),
            source: &self.source,
            previous: &self.previous,
            overlay: self.overlay.clone(),
        }
    }

    /// The plan of this batch.
    ///
    /// # Errors
    /// As [`Planner::plan`].
    pub fn plan(&self) -> Result<crate::plan::Plan, RunError> {
        self.planner().plan(&self.evaluations, &self.settings.evaluators, self.settings.until, &self.salts)
    }

    /// Starts the run records; `recorder` is given each, to write events into.
    pub fn start_records(&mut self, recorder: &EventRecorder) {
        for evaluation in &self.evaluations {
            // A history that cannot be written costs explanations, not results.
            let record = match self.shared.store.writable() {
                true => self.shared.store.runs().create(&evaluation.name).ok().map(Arc::new),
                false => None,
            };
            if let Some(record) = &record {
                recorder.add(record.clone());
            }
            self.records.push(record);
        }
    }

    /// Brings the evaluations up to date and publishes their reports.
    ///
    /// # Errors
    /// Only for faults that concern the batch as a whole; what concerns one evaluation is in the outcome.
    pub fn run(&mut self) -> Result<BatchOutcome, RunError> {
        let events = self.shared.events.clone();
        events.event(&Event::RunStarted { evaluations: self.evaluations.iter().map(|e| e.name.clone()).collect() });
        let rules = Rules {
            jobs: jobs(&self.settings, &self.evaluations),
            keep_going: self.settings.keep_going || self.evaluations.iter().all(|e| e.limits.keep_going),
            may_run: self.settings.may_run,
        };
        let mut dispatcher = Dispatcher::new(self.shared.clone(), &self.source, &self.previous, rules);
        let mut errors = Vec::new();
        let nodes = self.execute(&mut dispatcher, &mut errors);
        let mut outcomes = Vec::new();
        for (index, nodes) in nodes.iter().enumerate() {
            outcomes.push(self.conclude(index, nodes, &mut dispatcher, &mut errors));
        }
        for (position, outcome) in outcomes.iter().enumerate() {
            self.record(position, &nodes[position], &dispatcher, outcome, &errors);
        }
        // Neither the memo nor the tidying of journals is needed for the result.
        if self.shared.store.writable() {
            let tidied: Result<(), StoreError> =
                self.shared.store.memo().save().and_then(|()| self.shared.store.rows().close());
            if let Err(error) = tidied {
                errors.push(RunError::Store(error));
            }
        }
        let all = (0..dispatcher.graph.len()).filter_map(|i| dispatcher.run(NodeId(i)));
        let (mut executed, mut fresh, mut failed) = (0, 0, 0);
        for run in all {
            match run.state() {
                State::Done if run.executed => executed += 1,
                State::Done => fresh += 1,
                _ => failed += 1,
            }
        }
        let rows_computed = self.shared.rows_computed.load(std::sync::atomic::Ordering::Relaxed);
        let rows_failed = self.shared.rows_failed.load(std::sync::atomic::Ordering::Relaxed);
        events.event(&Event::RunFinished { executed, fresh, failed, rows_computed, rows_failed });
        Ok(BatchOutcome {
            evaluations: outcomes,
            errors,
            executed,
            fresh,
            rows_computed,
            pool: self.shared.queries.closed(),
            pool_unusable: self.shared.queries.unusable().is_some(),
        })
    }

    fn execute(&self, dispatcher: &mut Dispatcher<'_>, errors: &mut Vec<RunError>) -> Vec<EvaluationNodes> {
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

    fn builder<'g>(&'g self, graph: &'g mut crate::graph::Graph) -> GraphBuilder<'g> {
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
    fn read_output(
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

    /// Publishes an evaluation's files and checks its gates.
    fn conclude(
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
            executed: 0,
            fresh: 0,
        };
        if let Some(aggregate) = nodes.aggregate {
            match self.read_output(dispatcher, aggregate, "summary") {
                Ok(Some(bytes)) => match Summary::decode(bytes) {
                    Ok(summary) => {
                        let gates: Vec<GateSpec> = evaluation.gates.iter().map(GateSpec::from).collect();
                        outcome.gates = check(&summary, &gates);
                        outcome.summary = Some(summary);
                    }
                    Err(error) => errors.push(RunError::Internal(format!("summary: {error}"))),
                },
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        self.publish(evaluation, nodes, dispatcher, errors, &mut outcome);
        for id in &nodes.members {
            let Some(run) = dispatcher.run(*id) else { continue };
            outcome.failed_items += run.failed + run.rejected;
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
            let path = folder.join(name);
            let mut repaired = false;
            while let Some(artifact) = dispatcher.output(node, output).cloned() {
                match publish(&self.shared.store, &artifact, &path) {
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
                        errors.push(RunError::Store(StoreError::io("write report", &path, error)));
                    }
                }
                break;
            }
        }
    }

    /// Writes what the next run compares with.
    fn record(
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
            let done = dispatcher.run(id).filter(|run| run.state() == State::Done);
            let recorded = match done.and_then(|run| run.key.map(|key| (run, key))) {
                Some((run, key)) => Some(RecordedAction {
                    key,
                    complete: run.complete,
                    outputs: run.outputs.iter().map(|output| (output.name.clone(), output.digest)).collect(),
                }),
                None => self.previous.action(label).cloned(),
            };
            if let Some(run) = done {
                roots.slots.extend(run.slots.iter().copied());
            }
            if let Some(recorded) = recorded {
                roots.actions.push(recorded.key);
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
            errors: errors.iter().map(ToString::to_string).collect(),
            gates: &outcome.gates,
            files: outcome.files.iter().map(|(path, _)| path.display().to_string()).collect(),
        };
        // As with the record itself: a history that cannot be written costs explanations, not results.
        let _ = record
            .write_json(ACTIONS_FILE, &actions)
            .and_then(|()| record.write_roots(&roots))
            .and_then(|()| record.write_json("outcome.json", &file));
    }
}

fn jobs(settings: &Settings, evaluations: &[Evaluation]) -> usize {
    let asked = settings.jobs.or_else(|| evaluations.iter().filter_map(|evaluation| evaluation.limits.jobs).min());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or(cores).max(1)
}

/// One pool serves all evaluations of a batch, so each of its limits is the strictest that any of them sets.
fn strictest(evaluations: &[Evaluation]) -> PoolLimits {
    let all = || evaluations.iter().map(|evaluation| &evaluation.limits.queries);
    let default = PoolLimits::default();
    PoolLimits {
        concurrency: all().map(|limits| limits.concurrency).min().unwrap_or(default.concurrency),
        requests_per_minute: all().filter_map(|limits| limits.requests_per_minute).min(),
        timeout: all().map(|limits| Duration::from_secs_f64(limits.timeout_s)).min().unwrap_or(default.timeout),
        retries: all().map(|limits| limits.retries).min().unwrap_or(default.retries),
        breaker: all().map(|limits| limits.breaker).filter(|&n| n > 0).min().unwrap_or(0),
    }
}

/// Writes every event into the run records of its batch.
///
/// The many events that tell of nothing that cost anything (rows computed here, actions found fresh) wait for the next one
/// that does, or for each other: a write for each would be most of what the engine adds to a row. A run that is killed may
/// lack the last of them in its record; their rows are in the row cache all the same.
#[derive(Default)]
pub struct EventRecorder {
    records: Mutex<Vec<Recording>>,
}

struct Recording {
    record: Arc<RunDir>,
    /// Lines that are not written yet, without the last line feed.
    waiting: String,
}

/// So many bytes of events are written at once.
const WAITING_BYTES: usize = 32 << 10;

impl Recording {
    fn take(&mut self, line: &str, may_wait: bool) {
        if !self.waiting.is_empty() {
            self.waiting.push('\n');
        }
        self.waiting.push_str(line);
        if !may_wait || self.waiting.len() >= WAITING_BYTES {
            self.write();
        }
    }

    fn write(&mut self) {
        // A history that cannot be written costs explanations, not results.
        let _ = self.record.append_line("events.jsonl", &self.waiting);
        self.waiting.clear();
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.waiting.is_empty() {
            self.write();
        }
    }
}

impl EventRecorder {
    /// Writes the events from now on into `record` too.
    pub fn add(&self, record: Arc<RunDir>) {
        let recording = Recording { record, waiting: String::new() };
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(recording);
    }
}

impl EventSink for EventRecorder {
    fn event(&self, event: &Event) {
        let Ok(line) = serde_json::to_string(event) else { return };
        let may_wait =
            matches!(event, Event::RowDone { paid: false, .. } | Event::RowsPlanned { .. } | Event::ActionFresh { .. });
        for recording in self.records.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            recording.take(&line, may_wait);
        }
    }
}
