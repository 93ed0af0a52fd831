//! What each phase of an evaluation computes.
//!
//! One module per phase, in pipeline order: [`prepare`], [`materialize`], [`build`], [`query`], [`score`], [`aggregate`].
//! [`contract`] says what a phase is to the executor, [`artifact`] what the phases hand to each other, and [`step`] which
//! steps there are. Nothing here schedules, prints or reads a flag.

#![warn(missing_docs)]

pub mod aggregate;
pub mod artifact;
pub mod build;
pub mod contract;
pub mod error;
pub mod materialize;
pub mod model;
pub mod nearest;
pub mod prepare;
pub mod process;
pub mod python;
pub mod query;
pub mod responses;
pub mod score;
pub mod step;
mod unique_json;
