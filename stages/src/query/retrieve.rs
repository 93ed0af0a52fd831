//! The action that asks a unit's queries in one query mode.

use std::sync::Arc;
use std::time::Instant;

use ragstage_cache::key::walk_json;
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde_json::Value;

use super::case_rows::{
    CaseKey, Observed, check_before, observation_of, queries_of, row_of, rows_of, rows_together_of, spend_of, value_of,
};
use super::options::SystemSpec;
use super::search::{Ask, Found, KnowledgeBase, SearchMode};
use super::system::protocol::{PROTOCOL_VERSION, Request};
use super::system::{Client, Probe};
use crate::artifact::{Json, Observation, Observations, Queries, Query, Results, Retrieved, Unit};
use crate::build::ingest::Handle;
use crate::contract::{
    Action, Artifact, Context, Cost, Free, Output, Pool, Produced, Row, RowOutcome, begin_key, decoded,
};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::step::Step;

/// Where results keep what their mode did, step by step.
pub const TRACE: &str = "trace";

/// What is asked, with the digests of what this mode reads.
#[derive(Debug, Clone, PartialEq)]
pub enum ModeSpec {
    /// A knowledge base that is built here.
    Built {
        /// The mode.
        mode: Arc<SearchMode>,
        /// What it reads.
        kb: KnowledgeBase,
        /// Whether what the mode does is kept, step by step, in the results' metadata.
        trace: bool,
    },
    /// A system under test.
    System {
        /// The system.
        system: Arc<SystemSpec>,
        /// The mode's name, sent along.
        mode: String,
        /// The mode's options, sent along.
        options: Json,
        /// The unit's documents, which the system is supposed to have read: [`SystemSpec::documents_digest`].
        documents_digest: Digest,
        /// Where they are in the system, where they were handed to it. It is a place, so it is not in the key.
        external: Option<ExternalKb>,
    },
}

/// A knowledge base within a system under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalKb {
    /// The artifact [`Handle`] of the action that made it.
    pub handle: Digest,
    /// Whether it was made in an earlier run, so that it is looked at before it is asked.
    pub probed: bool,
    /// Why it is known to be gone, where it is: then nobody has to look.
    pub withdrawn: Option<String>,
}

impl Walk for ModeSpec {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        match self {
            ModeSpec::Built { mode, kb, trace } => {
                mode.walk("mode", kb, v);
                if *trace {
                    v.bool("trace", true);
                }
            }
            ModeSpec::System { system, mode, options, documents_digest, external: _ } => {
                v.begin_record("mode", "system");
                v.uint("protocol_version", PROTOCOL_VERSION);
                system.walk(v);
                system.walk_search(v);
                v.text("mode", mode);
                walk_json(v, "options", &Value::Object(options.clone()));
                v.digest("documents", documents_digest);
                v.end();
            }
        }
    }
}

/// A unit's queries to [`Results`] (output `results`) and [`Observations`] (output `observations`), in case order.
///
/// A row depends on the text of its query alone, beyond the mode and `top_k`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieve {
    /// What is asked.
    pub mode: ModeSpec,
    /// The benchmark's queries. Only where to read: the key holds the digest of the unit's own.
    pub queries: Digest,
    /// Whose cases are asked.
    pub unit: Unit,
    /// Most results per case.
    pub top_k: u32,
    /// 0, or what `--force` puts into the key.
    pub salt: u64,
}

impl Retrieve {
    fn open(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, Step::Retrieve, self.salt);
        self.mode.walk(v);
        v.uint("top_k", u64::from(self.top_k));
    }

    /// The rows of a mode of ours.
    fn search(
        &self,
        context: &dyn Context,
        mode: &SearchMode,
        kb: &KnowledgeBase,
        trace: bool,
        queries: &[&Query],
        keys: &[CaseKey<'_>],
    ) -> Result<Vec<RowOutcome>, StageError> {
        let search = mode.open(context, kb)?;
        let ask = |case: usize| {
            let query = queries.get(case)?;
            Some(Ask { text: &query.text, top_k: self.top_k as usize, label: &query.case_id })
        };
        let lost = || RowError::new(RowErrorKind::BadReply, "the case is not there");
        if let Some(alone) = search.alone() {
            return rows_of(context, &Slot(self), (Pool::Cpu, &Free), keys, &|case, call| {
                let found = alone.search_one(&ask(case).ok_or_else(lost)?)?;
                row(found, trace, call.attempt)
            });
        }
        rows_together_of(context, &Slot(self), keys, &|cases| {
            let asks: Vec<Ask<'_>> = cases.iter().filter_map(|&case| ask(case)).collect();
            let found = search.search(context, &asks)?;
            Ok(found.into_iter().map(|found| found.and_then(|found| row(found, trace, 1))).collect())
        })
    }

    /// The rows of a system under test, and why it could not be used at all, where nothing could be asked.
    fn ask(
        &self,
        context: &dyn Context,
        system: &SystemSpec,
        (mode, options): (&str, &Json),
        external: Option<&ExternalKb>,
        queries: &[&Query],
        keys: &[CaseKey<'_>],
    ) -> Result<(Vec<RowOutcome>, Option<String>), StageError> {
        let provider = |why: String| StageError { step: Step::Retrieve, kind: StageErrorKind::Provider(why) };
        let client = Client::new(system).map_err(provider)?;
        let handle = external.map(|kb| decoded::<Handle>(context, Step::Retrieve, &kb.handle)).transpose()?;
        if let Some(why) = handle.as_deref().and_then(|handle| handle.failed.as_deref()) {
            // Whoever could not hand them over has said so to the run.
            let error = RowError { attempts: 0, ..RowError::new(RowErrorKind::Upstream, why) };
            return Ok((unasked(context, &Slot(self), keys, &error)?, None));
        }
        if let (Some(ExternalKb { handle: digest, probed: true, withdrawn }), Some(handle)) =
            (external, handle.as_deref())
        {
            let probe = Probe::new(&client, system, (mode, options), (digest, handle), withdrawn.as_deref());
            let looked =
                check_before(context, &Slot(self), Pool::Queries, keys, &|call| probe.look(context, call.timeout));
            let finding = probe.finding().map(|why| StageErrorKind::StaleHandle { handle: *digest, why });
            if let Err(error) = looked? {
                let message =
                    format!("the system's knowledge base could not be looked at before it is asked: {}", error.message);
                let error = RowError { message, ..error };
                return Ok((unasked(context, &Slot(self), keys, &error)?, Some(error.to_string())));
            }
            if let Some(kind) = finding {
                return Err(StageError { step: Step::Retrieve, kind });
            }
        }
        // Only the API of a known system says what its models take.
        let cost: &dyn Cost = if system.openviking.is_some() { &Observed } else { &Free };
        let text = |case: usize| queries.get(case).map(|query| query.text.as_str()).unwrap_or_default();
        let outcomes = rows_of(context, &Slot(self), (Pool::Queries, cost), keys, &|case, call| {
            let handle = handle.as_deref();
            let place = handle.map(|handle| handle.handle.as_str());
            let request = Request { query: text(case), mode, top_k: self.top_k, options, handle: place, id: None };
            let start = Instant::now();
            let reply = client.ask(&request, call.timeout)?;
            let latency_ms = Some(start.elapsed().as_secs_f64() * 1000.0);
            call.meter.add(spend_of(&reply.usage));
            let mut results = reply.results;
            if let Some(handle) = handle {
                handle.name_documents(&mut results);
            }
            let found = Retrieved { results, answer: reply.answer, metadata: reply.metadata, ..Retrieved::default() };
            let observation =
                Observation { latency_ms, attempts: call.attempt, usage: reply.usage, ..Observation::default() };
            row_of(&found, &observation)
        });
        // Before anything else that went wrong: rows that were kept may be wrong.
        client.close().map_err(|why| StageError { step: Step::Retrieve, kind: StageErrorKind::Doubt(why) })?;
        Ok((outcomes?, None))
    }
}

/// The rows that are there; the others fail, for nobody can be asked for them.
fn unasked(
    context: &dyn Context,
    slot: &Slot<'_>,
    keys: &[CaseKey<'_>],
    error: &RowError,
) -> Result<Vec<RowOutcome>, StageError> {
    // No call is made, so none may count for the breaker of the pool, which other systems share.
    rows_of(context, slot, (Pool::Cpu, &Free), keys, &|_, _| Err(error.clone()))
}

/// What a mode found as a row.
fn row(found: Found, trace: bool, attempts: u32) -> Result<Row, RowError> {
    let mut metadata = found.metadata;
    if trace {
        metadata.insert(TRACE.to_string(), found.trace.into());
    }
    let value = Retrieved { results: found.hits, metadata, ..Retrieved::default() };
    let observation =
        Observation { case_id: String::new(), latency_ms: Some(found.latency_ms), attempts, usage: found.usage };
    row_of(&value, &observation)
}

impl Walk for Retrieve {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.open(v);
        v.digest("queries", &self.unit.queries_digest);
        v.end();
    }
}

/// The key without its queries: the rows of all cases that were ever asked this way.
struct Slot<'a>(&'a Retrieve);

impl Walk for Slot<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.0.open(v);
        v.end();
    }
}

impl Action for Retrieve {
    fn step(&self) -> Step {
        Step::Retrieve
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let all = decoded::<Queries>(context, Step::Retrieve, &self.queries)?;
        let cases = queries_of(&self.unit, &all, &self.queries, Step::Retrieve)?;
        let why_not = |query: &Query| self.unit.skipped.get(&query.case_id);
        let queries: Vec<&Query> = cases.iter().filter(|query| why_not(query).is_none()).copied().collect();
        let keys: Vec<CaseKey<'_>> = queries
            .iter()
            .map(|query| CaseKey {
                key: Digest::of_parts("ragstage.retrieve.row", [query.text.as_bytes()]),
                case_id: &query.case_id,
            })
            .collect();
        let (outcomes, unusable) = match &self.mode {
            // Then there may be no knowledge base to open, and no system need be reached.
            _ if queries.is_empty() => (Vec::new(), None),
            ModeSpec::Built { mode, kb, trace } => (self.search(context, mode, kb, *trace, &queries, &keys)?, None),
            ModeSpec::System { system, mode, options, documents_digest: _, external } => {
                self.ask(context, system, (mode, options), external.as_ref(), &queries, &keys)?
            }
        };
        let mut results = Results::default();
        let mut observations = Observations::default();
        let mut outcomes = outcomes.iter().zip(&keys);
        for query in cases {
            let case_id = query.case_id.clone();
            let (row, observation) = if let Some(why) = why_not(query) {
                let error = Some(RowError { attempts: 0, ..RowError::new(RowErrorKind::Absent, why) });
                (Retrieved { case_id, error, ..Retrieved::default() }, Observation::default())
            } else {
                let Some((outcome, CaseKey { key, .. })) = outcomes.next() else { break };
                let row = match outcome {
                    RowOutcome::Done(row) => Retrieved { case_id, ..value_of(row, key, Step::Retrieve)? },
                    RowOutcome::Failed(error) => {
                        Retrieved { case_id, error: Some(error.clone()), ..Retrieved::default() }
                    }
                };
                (row, observation_of(outcome, &query.case_id))
            };
            results.rows.push(row);
            observations.rows.push(Observation { case_id: query.case_id.clone(), ..observation });
        }
        let failed =
            results.rows.iter().filter(|row| row.error.as_ref().is_some_and(RowError::is_failure)).count() as u64;
        let bytes = |encoded: Result<Vec<u8>, _>| encoded.map_err(|error| StageError::encode(Step::Retrieve, error));
        let outputs = vec![
            Output::value("results", bytes(results.encode())?, results.rows.len()),
            Output::observation("observations", bytes(observations.encode())?, observations.rows.len()),
        ];
        Ok(Produced { outputs, failed, unusable, ..Produced::default() })
    }
}
