//! How scores are summed up: what an evaluation file says under `statistics`.

use ragstage_cache::{KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

/// Options of the aggregation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StatisticsOptions {
    /// Below this share of scored cases no headline number is given (DESIGN section 5).
    pub coverage_floor: f64,
    /// Level of the bootstrap intervals.
    pub confidence: f64,
    /// Bootstrap resamples; 0 for no intervals.
    pub resamples: u32,
    /// Seed of the resampling.
    pub seed: u64,
}

impl Default for StatisticsOptions {
    fn default() -> Self {
        StatisticsOptions { coverage_floor: 0.95, confidence: 0.95, resamples: 1000, seed: 0 }
    }
}

impl Walk for StatisticsOptions {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("statistics", "statistics_options");
        v.float("coverage_floor", self.coverage_floor);
        v.float("confidence", self.confidence);
        v.uint("resamples", u64::from(self.resamples));
        v.uint("seed", self.seed);
        v.end();
    }
}
