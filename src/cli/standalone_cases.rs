//! `score --cases --responses`.
use super::failure::Failure; use super::flags::RunFlags; use super::standalone::StandaloneFlags;
pub fn score_cases(_: &StandaloneFlags, _: &RunFlags) -> Result<u8, Failure> { Ok(0) }
