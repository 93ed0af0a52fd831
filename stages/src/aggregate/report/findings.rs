//! What an evaluation comes to, in all that a report tells of it.

use super::human_agreement::HumanAgreement;
use super::lints::Lint;
use crate::aggregate::{GateOutcome, Latency, Summary, UsageTable};

/// The parts of a report that are not about one case.
#[derive(Clone, Copy)]
pub(super) struct Findings<'a> {
    /// The means.
    pub(super) summary: &'a Summary,
    /// How long responses took.
    pub(super) latency: &'a Latency,
    /// What models took.
    pub(super) usage: &'a UsageTable,
    /// How the gates came out.
    pub(super) gates: &'a [GateOutcome],
    /// What is to be read with care.
    pub(super) lints: &'a [Lint],
    /// How far judges agree with people.
    pub(super) agreements: &'a [HumanAgreement<'a>],
}
