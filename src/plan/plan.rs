//! A plan as a whole.

use serde::Serialize;

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
    /// Calls of systems under test to come.
    pub calls: u64,
}

impl Plan {
    /// What the plan amounts to.
    pub fn totals(&self) -> Totals {
        let count = |standing| self.entries.iter().filter(|entry| entry.standing == standing).count();
        Totals {
            fresh: count(Standing::Fresh),
            stale: count(Standing::Stale),
            cascade: count(Standing::Cascade),
            calls: self.entries.iter().filter_map(|e| e.rows).filter(|r| r.calls).map(|r| r.missing).sum(),
        }
    }

    /// The entry of a node.
    pub fn entry(&self, id: NodeId) -> &Entry {
        &self.entries[id.0]
    }
}
