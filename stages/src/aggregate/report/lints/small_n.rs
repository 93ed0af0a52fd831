//! `small-n`: too few cases to tell a difference of the size that a gate is about.

use super::lint::Lint;
use crate::aggregate::{GateOutcome, GateSpec};

/// Gates whose paired interval reaches from beyond the margin to no loss at all: they can neither show what they are about nor exclude
/// it.
pub(super) fn lints(gates: &[(&GateSpec, GateOutcome)]) -> Vec<Lint> {
    let lint = |(gate, outcome): &(&GateSpec, GateOutcome)| {
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
    gates.iter().filter_map(lint).collect()
}
