//! `small-n`: too few cases to tell a difference of the size that a gate is about.

use super::lint::Lint;
use crate::aggregate::{GateOutcome, GateSpec};

/// Gates whose paired interval is wider than what they are to tell: it reaches from beyond the margin on one side to beyond it on
/// the other, so that neither a loss nor a gain of that size can be excluded.
pub(super) fn lints(gates: &[GateSpec], outcomes: &[GateOutcome]) -> Vec<Lint> {
    let lint = |outcome: &GateOutcome| {
        let gate = gates.iter().find(|gate| gate.text() == outcome.gate)?;
        let margin = gate.no_worse_than.as_ref()?.margin;
        let paired = outcome.paired.as_ref()?;
        let (low, high) = paired.interval?;
        (margin > 0.0 && low < -margin && high > margin).then(|| Lint {
            name: "small-n",
            message: format!(
                "{}: the interval [{low:+.4}, {high:+.4}] of {} cases excludes neither a loss nor a gain of {margin}",
                outcome.gate, paired.cases
            ),
            cases: Vec::new(),
            count: paired.cases,
        })
    };
    outcomes.iter().filter_map(lint).collect()
}
