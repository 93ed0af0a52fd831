//! What the exit codes of the command mean. They are part of the interface: scripts branch on them.

/// All done, no gate failed.
pub const OK: u8 = 0;
/// A fault of ours.
pub const INTERNAL: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// The evaluation file is invalid, or an input is missing or malformed.
pub const INPUT: u8 = 3;
/// `plan --check`: something would run.
pub const STALE: u8 = 4;
/// Some items failed; the rest is done and reported.
pub const ITEMS_FAILED: u8 = 10;
/// Coverage is under its floor.
pub const COVERAGE: u8 = 11;
/// A gate on a value failed.
pub const GATE: u8 = 12;
/// A gate on a paired comparison failed, and none on a value.
pub const REGRESSION: u8 = 13;
/// A provider could not be used at all (auth, quota, unreachable).
pub const PROVIDER: u8 = 20;
/// The store is damaged, not writable, or newer than this program.
pub const STORE: u8 = 30;
/// Interrupted; the same command continues.
pub const INTERRUPTED: u8 = 130;
