//! `graph`.

use std::path::Path;

use super::failure::Failure;
use super::flags::GraphFlags;
use super::open::{look, tell_incidents};
use super::out::out;
use crate::batch::Settings;
use crate::exit;
use crate::graph::render;

/// Draws the actions and what they depend on.
///
/// # Errors
/// When a file is invalid or the store cannot be read.
pub fn graph(flags: &GraphFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let look = look(&flags.files, Settings::default(), store)?;
    let batch = &look.batch;
    let plan = batch.plan()?;
    out(&render(&plan.graph, flags.format, &|id| plan.entry(id).standing.name()))?;
    tell_incidents(batch);
    Ok(exit::OK)
}
