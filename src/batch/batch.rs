//! Some evaluations over one store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ragstage_cache::runs::RunDir;
use ragstage_cache::{Digest, Store};

use super::limits::{budget_usd, jobs, strictest};
use super::outcome::{BatchOutcome, ClosedPool};
use super::recorder::EventRecorder;
use super::settings::Settings;
use crate::evaluation::{Evaluation, Limits};
use crate::exec::{
    ActionSource, Claims, DecodedArtifacts, Dispatcher, Event, EventSink, Interrupt, Ledger, Permits, Pools, Previous,
    Rules, RunError, Shared, Sources, State,
};
use crate::graph::NodeId;
use crate::plan::{Overlay, Planner};

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
    pub(super) source: ActionSource,
    pub(super) overlay: Arc<Overlay>,
    pub(super) salts: Vec<BTreeMap<String, u64>>,
    pub(super) records: Vec<Option<Arc<RunDir>>>,
}

impl Batch {
    /// A batch over the store at `root`.
    ///
    /// # Errors
    /// When the store cannot be opened, or `--force` cannot be noted in it.
    pub fn open(
        evaluations: Vec<Evaluation>,
        settings: Settings,
        root: &Path,
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
        // Stages that compute in parallel by themselves use the global pool. It is made once: a process that opens batches of
        // several sizes keeps the first.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global();
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .map_err(|error| RunError::Internal(format!("cannot start {jobs} threads: {error}")))?;
        let sources = Arc::new(Sources::new(store.clone()));
        let limits: Vec<&Limits> = evaluations.iter().map(|evaluation| &evaluation.limits).collect();
        let ledger = Arc::new(Ledger::new(budget_usd(&limits)));
        let shared = Arc::new(Shared {
            store: store.clone(),
            sources: sources.clone(),
            pools: Pools::new(&|pool| strictest(&limits, pool), &interrupt, &ledger),
            ledger,
            events,
            interrupt,
            decoded: DecodedArtifacts::default(),
            computing: Permits::new(jobs),
            threads,
            claims: Claims::default(),
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
            called: Default::default(),
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
        // Neither the memo nor the tidying of journals is needed for the result: rows are safe when their action is done.
        if self.shared.store.writable() {
            for tidied in [self.shared.store.memo().save(), self.shared.store.rows().close()] {
                if let Err(error) = tidied {
                    events.event(&Event::StoreIncident { message: format!("{error}; nothing is lost by it") });
                }
            }
        }
        for incident in self.shared.store.take_incidents() {
            events.event(&Event::StoreIncident { message: incident.to_string() });
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
        let spend = self.shared.ledger.account();
        events.event(&Event::RunFinished { executed, fresh, failed, rows_computed, rows_failed, spend });
        let closed = self.shared.pools.all().filter_map(|(pool, calls)| {
            let unusable = calls.unusable();
            let why = calls.closed().or_else(|| unusable.clone())?;
            Some(ClosedPool { pool, why, unusable: unusable.is_some() })
        });
        Ok(BatchOutcome {
            evaluations: outcomes,
            errors,
            executed,
            fresh,
            rows_computed,
            closed_pools: closed.collect(),
            spend,
        })
    }
}
