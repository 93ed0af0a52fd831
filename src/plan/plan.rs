//! A plan as a whole.

use ragstage_stages::contract::Spend;
use serde::Serialize;

use super::calls::CallsToCome;
use super::entry::{Entry, Standing};
use crate::graph::{EvaluationNodes, Graph, NodeId};

/// The plan of some evaluations.
pub struct Plan {
    /// The graph.
    pub graph: Graph,
    /// One entry per node of the graph.
    pub entries: Vec<Entry>,
    /// The nodes of each evaluation.
    pub evaluations: Vec<EvaluationNodes>,
    /// The evaluations of which no more is planned than to prepare the benchmark: a program prints it, and has not done so yet.
    pub unprepared: Vec<String>,
}

/// What a plan amounts to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Actions that are there.
    pub fresh: usize,
    /// Actions that have to run.
    pub stale: usize,
    /// Actions that may have to run after them.
    pub cascade: usize,
    /// Calls to come, of systems under test and of models.
    pub calls: u64,
    /// The same by pool.
    pub pools: Vec<CallsToCome>,
    /// Knowledge bases within systems under test that are looked at before they are asked. What is gone is handed over again,
    /// with calls that are not among those above.
    pub looks: usize,
}

impl Totals {
    /// The tokens and the money to come as far as they are known; `None` where nothing is known of any call.
    pub fn spend(&self) -> Option<Spend> {
        let known = self.pools.iter().filter_map(|pool| pool.spend);
        let sum = known.reduce(Spend::plus);
        if self.pools.is_empty() { Some(Spend::default()) } else { sum }
    }
}

impl Plan {
    /// What the plan amounts to.
    pub fn totals(&self) -> Totals {
        let count = |standing| self.entries.iter().filter(|entry| entry.standing == standing).count();
        let pools = CallsToCome::by_pool(self.entries.iter().flat_map(|entry| &entry.calls));
        Totals {
            fresh: count(Standing::Fresh),
            stale: count(Standing::Stale),
            cascade: count(Standing::Cascade),
            calls: pools.iter().map(|pool| pool.calls).sum(),
            pools,
            looks: self.entries.iter().filter(|entry| entry.looked_at).count(),
        }
    }

    /// The entry of a node.
    pub fn entry(&self, id: NodeId) -> &Entry {
        &self.entries[id.0]
    }
}
