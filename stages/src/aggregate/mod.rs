//! Aggregate: score tables become means with their coverage, slices and a report.
//!
//! [`Aggregate`] reads score and response tables and writes a [`Summary`], one long score table and the latencies;
//! [`BuildReport`] renders them. A failed case is never a 0 and never vanishes: it is counted beside every number. A
//! skipped case has no gold of the kind that the evaluator needs, so nothing is expected of it.

mod action;
mod bootstrap;
mod case_list;
mod distribution;
mod failures;
mod gate;
mod headline;
mod latency;
mod measure;
mod normal_interval;
mod observed;
mod options;
mod paired;
mod paired_gate;
mod planned_query;
mod report;
mod response_errors;
mod score_table;
mod series;
mod side;
mod summary;
mod unit_responses;
mod usage;

pub use action::{Aggregate, ResponseTable, ScoreTable};
pub use distribution::{Distribution, mean};
pub use failures::FailureGroup;
pub use gate::{GateOutcome, GateRule, GateSpec, NoWorseThan, check};
pub use headline::Headline;
pub use latency::{Latency, LatencyStatistics, QueryLatency};
pub use options::StatisticsOptions;
pub use paired::{Paired, holm};
pub use paired_gate::Baseline;
pub use planned_query::PlannedQuery;
pub use report::{
    BuildReport, CaseResults, EvaluatorInfo, LINTS, QueryInfo, REPORT_KEY, RecipeInfo, RunInfo,
    refuse_knowledge_base_name, refuse_report_id,
};
pub use side::{SameData, Scored, Side, SideError, sides_of_report, sides_of_scores};
pub use summary::{
    Counts, Interval, LabelCount, MeasureSummary, NoHeadline, Resampled, ResponseCounts, Slice, Summary,
};
pub use usage::{UsagePart, UsageRow, UsageTable};
