//! `small-n`: too few cases to tell a difference of the size that a gate is about.

use super::lint::Lint;
use crate::aggregate::{GateOutcome, GateSpec};

/// Gates whose paired interval reaches from beyond the margin to no loss at all: they can neither show what they are about nor exclude
/// it.
pub(super) fn lints(gates: &[GateSpec], outcomes: &[GateOutcome]) -> Vec<Lint> {
    let lint = |outcome: &GateOutcome| {
        let gate = gates.iter().find(|gate| gate.text() == outcome.gate)?;
        let margin = gate.no_worse_than.as_ref()?.margin;
        let paired = outcome.paired.as_ref()?;
        let (low, high) = paired.interval?;
        (low < -margin && high >= 0.0).then(|| Lint {
            name: "small-n",
            message: format!(
                "{}: the interval [{low:+.4}, {high:+.4}] of {} cases excludes neither a loss of more than {margin} nor that there is none",
                outcome.gate, paired.cases
            ),
            cases: Vec::new(),
            count: paired.cases,
        })
    };
    outcomes.iter().filter_map(lint).collect()
}
