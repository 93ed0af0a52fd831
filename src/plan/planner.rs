//! Evaluations to plans.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use ragstage_cache::action::OutputRecord;
use ragstage_cache::key::key_of;
use ragstage_cache::{Digest, Manifest};
use ragstage_stages::artifact::{Documents, Queries, Units};
use ragstage_stages::contract::{Action, Artifact, Pool, Produced};
use ragstage_stages::error::{DecodeError, StageError, StageErrorKind};
use ragstage_stages::prepare::SourceList;
use ragstage_stages::query::system::IngestMode;
use ragstage_stages::step::{Stage, Step};

use super::calls::CallsToCome;
use super::context::PlanContext;
use super::entry::{Entry, Standing};
use super::expected::{Expected, Outputs};
use super::overlay::Overlay;
use super::plan::Plan;
use super::rows::{RowFact, RowsToCome};
use crate::evaluation::{Evaluation, EvaluatorConfig};
use crate::exec::{ActionSource, Previous, RunError, Shared};
use crate::graph::{Graph, GraphBuilder, Node, NodeId, Spec};
use crate::stale::StaleReason;

/// Makes plans.
pub struct Planner<'a> {
    /// What a run would share.
    pub shared: Arc<Shared>,
    /// Makes actions out of nodes.
    pub source: &'a ActionSource,
    /// What earlier runs did.
    pub previous: &'a Previous,
    /// Blobs that the plan made and did not store.
    pub overlay: Arc<Overlay>,
    /// The rows, by slot and key, that planned actions are to call for.
    pub called: Mutex<HashSet<(Digest, Digest)>>,
}

impl Planner<'_> {
    /// Plans `evaluations` up to `until`, with the salts that their forced steps have.
    ///
    /// # Errors
    /// When inputs are missing or malformed, or the store fails.
    pub fn plan(
        &self,
        evaluations: &[Evaluation],
        extra: &[EvaluatorConfig],
        until: Stage,
        salts: &[BTreeMap<String, u64>],
    ) -> Result<Plan, RunError> {
        let mut plan =
            Plan { graph: Graph::default(), entries: Vec::new(), evaluations: Vec::new(), unprepared: Vec::new() };
        let salt = |index: usize| {
            move |step: Step| salts.get(index).and_then(|salts| salts.get(step.name())).copied().unwrap_or(0)
        };
        let mut prepares = Vec::new();
        for (index, evaluation) in evaluations.iter().enumerate() {
            let mut builder = self.builder(&mut plan.graph, until);
            prepares.push(builder.benchmark(evaluation, &salt(index)));
        }
        self.survey(&mut plan)?;
        for (index, (evaluation, &prepare)) in evaluations.iter().zip(&prepares).enumerate() {
            let units = plan.entries[prepare.0].outputs.iter().find(|output| output.name == "units");
            let Some(units) = units.map(|output| output.digest) else {
                plan.unprepared.push(evaluation.name.clone());
                continue;
            };
            let units = Units::decode((self.source.blob)(&units)?)
                .map_err(|error| RunError::Internal(format!("units: {error}")))?;
            let mut builder = self.builder(&mut plan.graph, until);
            if until == Stage::Prepare {
                continue;
            }
            plan.evaluations.push(builder.evaluation(evaluation, prepare, &units, extra, &salt(index))?);
        }
        self.survey(&mut plan)?;
        self.look_at_external(&mut plan)?;
        Ok(plan)
    }

    fn builder<'g>(&'g self, graph: &'g mut Graph, until: Stage) -> GraphBuilder<'g> {
        GraphBuilder { graph, until, sources: &self.shared.sources, members: Default::default() }
    }

    /// Looks at every node that has no entry yet.
    fn survey(&self, plan: &mut Plan) -> Result<(), RunError> {
        for position in plan.entries.len()..plan.graph.len() {
            let node = plan.graph.node(NodeId(position));
            let mut entry = self.look(node, &plan.entries)?;
            if entry.standing != Standing::Fresh {
                complete_calls(&plan.graph, node, &mut entry);
            }
            plan.entries.push(entry);
        }
        Ok(())
    }

    fn look(&self, node: &Node, before: &[Entry]) -> Result<Entry, RunError> {
        let mut entry = Entry {
            step: node.step,
            label: node.label.clone(),
            standing: Standing::Cascade,
            key: None,
            reasons: Vec::new(),
            rows: None,
            calls: Vec::new(),
            outputs: Vec::new(),
            withdrawn: None,
            looked_at: false,
        };
        // Prepare is read in memory, so what depends on it can be planned exactly.
        let unknown: Vec<&Entry> =
            node.inputs.iter().map(|input| &before[input.0]).filter(|input| input.outputs.is_empty()).collect();
        if let Some(first) = unknown.first() {
            entry.reasons = vec![StaleReason::Upstream { label: first.label.clone() }];
            entry.rows = most_rows(node);
            return Ok(entry);
        }
        let action = self.source.action(node, &Outputs(before))?;
        let key = key_of(&*action);
        entry.key = Some(key);
        let actions = self.shared.store.actions();
        let record = actions.get(&key)?;
        let cas = self.shared.store.cas();
        if let Some(record) = &record {
            match record.outputs.iter().find(|output| !cas.has(&output.digest, output.bytes)) {
                None => {
                    entry.standing = Standing::Fresh;
                    entry.outputs = record.outputs.clone();
                    entry.withdrawn = record.withdrawn.clone();
                    return Ok(entry);
                }
                Some(lost) => entry.reasons = vec![StaleReason::LostBlob { digest: lost.digest }],
            }
        }
        entry.standing = Standing::Stale;
        if entry.reasons.is_empty() {
            entry.reasons = self.reasons(node, key, &*action)?;
        }
        self.count(node, &*action, &mut entry)?;
        Ok(entry)
    }

    /// Runs a stale action as far as nothing is computed for it: that shows its rows and its calls.
    fn count(&self, node: &Node, action: &dyn Action, entry: &mut Entry) -> Result<(), RunError> {
        let previous = self.previous.action(&node.label);
        let context = PlanContext::new(self, node.step, &node.spec.pools(), previous, None);
        match action.run(&context) {
            Ok(produced) if node.step.stage() == Stage::Prepare => entry.outputs = self.keep(produced),
            Ok(_) => {}
            Err(StageError { kind: StageErrorKind::Input(errors), .. }) => return Err(RunError::Input(errors)),
            // Stopped at its rows, or an input is lost: then the rows stay unknown.
            Err(_) => {}
        }
        entry.rows = context.rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        entry.calls = context.calls.into_inner().unwrap_or_else(PoisonError::into_inner);
        if entry.rows.is_none() && !node.spec.pools().is_empty() {
            entry.rows = most_rows(node);
        }
        Ok(())
    }

    /// What is to be asked of a knowledge base within a system: one that is known to be gone is made again first, any other
    /// is looked at. One that is not asked anything may be gone.
    fn look_at_external(&self, plan: &mut Plan) -> Result<(), RunError> {
        let asked: BTreeSet<usize> = plan
            .graph
            .nodes()
            .filter(|(id, node)| {
                let entry = &plan.entries[id.0];
                let asks = entry.rows.is_none_or(|rows| rows.missing > 0);
                matches!(node.spec, Spec::System { .. }) && entry.standing != Standing::Fresh && asks
            })
            .filter_map(|(_, node)| node.inputs.get(1).map(|ingest| ingest.0))
            .filter(|&ingest| plan.entries[ingest].standing == Standing::Fresh)
            .collect();
        for ingest in asked {
            let Some(why) = plan.entries[ingest].withdrawn.clone() else {
                plan.entries[ingest].looked_at = true;
                continue;
            };
            let node = plan.graph.node(NodeId(ingest));
            let action = self.source.action(node, &Outputs(&plan.entries))?;
            let entry = &mut plan.entries[ingest];
            entry.standing = Standing::Stale;
            entry.reasons = vec![StaleReason::ProbeFailed { why }];
            self.count(node, &*action, entry)?;
        }
        Ok(())
    }

    /// The preimage of a node's key. Inputs that are not made yet are [`super::UNKNOWN`] in it.
    ///
    /// # Errors
    /// When a source file cannot be read any more.
    pub fn manifest(&self, plan: &Plan, id: NodeId) -> Result<Manifest, RunError> {
        let none =
            SourceList::default().encode().map_err(|error| RunError::Internal(format!("source list: {error}")))?;
        let expected = Expected::new(&plan.entries, self.overlay.put(none));
        let action = self.source.action(plan.graph.node(id), &expected)?;
        Ok(Manifest::of(&*action))
    }

    /// The rows of a node that `item` names, and whether they are in the row cache.
    ///
    /// # Errors
    /// When a source file or an artifact cannot be read any more.
    pub fn rows(&self, plan: &Plan, id: NodeId, item: &str) -> Result<Vec<RowFact>, RunError> {
        if plan.entry(id).key.is_none() {
            let names = self.items(plan, id)?;
            return Ok(names
                .into_iter()
                .filter(|name| name == item)
                .map(|item| RowFact { item, place: None })
                .collect());
        }
        let action = self.source.action(plan.graph.node(id), &Outputs(&plan.entries))?;
        let entry = plan.entry(id);
        let previous = self.previous.action(&entry.label);
        let context = PlanContext::new(self, entry.step, &BTreeSet::new(), previous, Some(item));
        // It is stopped at its rows, which is all that is wanted of it.
        let _ = action.run(&context);
        Ok(context.watched.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The items of a node whose inputs are not made yet, as the benchmark has them.
    fn items(&self, plan: &Plan, id: NodeId) -> Result<Vec<String>, RunError> {
        let node = plan.graph.node(id);
        let unreadable = |error: DecodeError| RunError::Internal(format!("benchmark: {error}"));
        let read = |prepare: NodeId, name: &str| match plan.entry(prepare).outputs.iter().find(|o| o.name == name) {
            Some(output) => (self.source.blob)(&output.digest).map(Some),
            None => Ok(None),
        };
        let input = |node: &Node| node.inputs.first().copied();
        match (&node.spec, input(node)) {
            (
                Spec::Search { unit, .. }
                | Spec::System { unit, .. }
                | Spec::Answer { unit, .. }
                | Spec::Score { unit, .. },
                Some(prepare),
            ) => {
                let Some(bytes) = read(prepare, "queries")? else { return Ok(Vec::new()) };
                let queries = Queries::decode(bytes).map_err(unreadable)?.rows;
                let cases = unit.case_positions(queries.len()).into_iter().filter_map(|row| queries.get(row));
                Ok(cases.map(|query| query.case_id.clone()).collect())
            }
            (Spec::Chunk { .. }, Some(parsed)) => {
                let parsed = plan.graph.node(parsed);
                let (Spec::Materialize { unit, .. }, Some(prepare)) = (&parsed.spec, input(parsed)) else {
                    return Ok(Vec::new());
                };
                let Some(bytes) = read(prepare, "documents")? else { return Ok(Vec::new()) };
                let documents = Documents::decode(bytes).map_err(unreadable)?.rows;
                let rows = unit.document_positions(documents.len()).into_iter().filter_map(|row| documents.get(row));
                Ok(rows.map(|document| document.document_id.clone()).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    fn reasons(&self, node: &Node, key: Digest, action: &dyn Action) -> Result<Vec<StaleReason>, RunError> {
        Ok(match self.previous.action(&node.label) {
            None => vec![StaleReason::FirstBuild],
            Some(old) if !old.complete => vec![StaleReason::Incomplete],
            Some(old) if old.key == key => vec![StaleReason::Evicted],
            Some(old) => match self.shared.store.actions().manifest(&old.key)? {
                Some(manifest) => StaleReason::between(&manifest, &Manifest::of(action)),
                None => vec![StaleReason::Evicted],
            },
        })
    }

    fn keep(&self, produced: Produced) -> Vec<OutputRecord> {
        produced
            .outputs
            .into_iter()
            .map(|output| OutputRecord {
                name: output.name.to_string(),
                bytes: output.bytes.len() as u64,
                rows: output.rows,
                observation: output.observation,
                digest: self.overlay.put(output.bytes),
            })
            .collect()
    }
}

/// The most rows that an action of unknown key can have.
fn most_rows(node: &Node) -> Option<RowsToCome> {
    let (total, calls) = match &node.spec {
        Spec::Materialize { unit, .. } => (unit.documents, false),
        Spec::Answer { unit, options } if options.calls() > 0 => {
            (unit.cases.saturating_mul(u64::from(options.calls())), true)
        }
        Spec::Search { unit, .. } | Spec::Answer { unit, .. } | Spec::Score { unit, .. } => (unit.cases, false),
        Spec::System { unit, .. } => (unit.cases, true),
        // Beside the hand-overs, a look at what was made of them.
        Spec::Ingest { unit, system, .. } if system.openviking.is_some() => {
            let per_file = matches!(&system.openviking, Some(spec) if spec.options.ingest_mode == IngestMode::PerFile);
            (if per_file { unit.documents.saturating_add(1) } else { 2 }, true)
        }
        Spec::Ingest { .. } => (1, true),
        _ => return None,
    };
    Some(RowsToCome { total, missing: total, calls })
}

/// Adds the calls of the pools that the action did not come to when it was looked at: its inputs are not made yet, or they
/// depend on replies to earlier calls.
fn complete_calls(graph: &Graph, node: &Node, entry: &mut Entry) {
    let missing = entry.rows.map(|rows| rows.missing);
    for pool in node.spec.pools() {
        if entry.calls.iter().any(|calls| calls.pool == pool) {
            continue;
        }
        let calls = match (&node.spec, pool) {
            (Spec::Score { evaluator, .. }, Pool::Programs) => {
                let batch = evaluator.program().and_then(|program| program.batch).unwrap_or(1);
                missing.unwrap_or(0).div_ceil(u64::from(batch.max(1)))
            }
            (Spec::System { .. } | Spec::Answer { .. } | Spec::Score { .. }, _) => missing.unwrap_or(0),
            // One request may embed all queries.
            (Spec::Search { .. }, Pool::Embeddings) => missing.unwrap_or(0).min(1),
            (Spec::Search { .. }, _) => missing.unwrap_or(0),
            (Spec::Embed { .. }, _) => documents(graph, node).min(1),
            _ => documents(graph, node),
        };
        let at_least = !matches!(node.spec, Spec::System { .. }) && pool != Pool::Programs;
        entry.calls.push(CallsToCome { pool, calls, at_least, spend: None });
    }
}

/// The documents of the node's unit, each of which gives at least one chunk unless it is blank.
fn documents(graph: &Graph, node: &Node) -> u64 {
    let mut node = node;
    loop {
        if let Spec::Materialize { unit, .. } = &node.spec {
            return unit.documents;
        }
        match node.inputs.first() {
            Some(&input) => node = graph.node(input),
            None => return 0,
        }
    }
}
