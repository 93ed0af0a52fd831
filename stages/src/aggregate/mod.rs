//! Aggregate: score tables become means with their coverage, slices and a report.

mod options;

pub use options::StatisticsOptions;
