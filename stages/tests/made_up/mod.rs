//! A small made-up evaluation, for the tests of aggregation and reports.

// Each test target uses its own part of it.
#![allow(dead_code, unused_imports)]

mod evaluation;

pub use evaluation::{Evaluation, fault};
