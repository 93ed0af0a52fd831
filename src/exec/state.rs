//! The states of an action during a run.
//!
//! ```text
//!            all inputs done          key known, not cached            worker free
//!   Want ───────────────────▶ Ready ───────────────────────▶ Queued ─────────────▶ Running
//!    ▲                          │                                                    │
//!    │ an output was lost       │ cached                                             │ outcome
//!    └──────────────── Done ◀───┴────────────────────────────────────────────────────┤
//!                       (fresh)                                             (ran)    │
//!                                            Failed ◀────────────────────────────────┤
//!                                            Skipped (an input failed)               │
//!                                            Want ◀── (an input blob was lost) ──────┘
//! ```
//!
//! Only the dispatcher's thread changes a state.

/// Where an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Wanted; some input is not done.
    Want,
    /// All inputs are done; the key can be made and looked up.
    Ready,
    /// Handed to the workers' channel.
    Queued,
    /// Its outputs are known: cached, or computed in this run.
    Done,
    /// It could not give its outputs.
    Failed,
    /// An input failed, so it was not tried.
    Skipped,
}

impl State {
    /// Whether the action will change state no more by itself.
    pub fn is_final(self) -> bool {
        matches!(self, State::Done | State::Failed | State::Skipped)
    }
}
