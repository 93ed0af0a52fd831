//! `statistics`: how scores are summed up.

use ragstage_stages::aggregate::StatisticsOptions;

use super::shape::{Field, Need, Range, Record, Shape};
use super::view::View;

/// What `statistics` accepts.
pub(super) static STATISTICS: Record = Record {
    name: "statistics",
    doc: "How scores are summed up.",
    fields: &[
        Field {
            name: "coverage_floor",
            doc: "Below this share of scored cases no headline number is given.",
            shape: Shape::Float(Range::closed(0.0, 1.0)),
            need: Need::Default("0.95"),
        },
        Field {
            name: "confidence",
            doc: "Level of the bootstrap intervals.",
            shape: Shape::Float(Range { min: 0.0, above_min: true, max: 1.0, below_max: true }),
            need: Need::Default("0.95"),
        },
        Field {
            name: "resamples",
            doc: "Bootstrap resamples; 0 for no intervals.",
            shape: Shape::Int { min: 0, max: 1_000_000 },
            need: Need::Default("1000"),
        },
        Field {
            name: "seed",
            doc: "Seed of the resampling.",
            shape: Shape::Int { min: 0, max: u64::MAX },
            need: Need::Default("0"),
        },
    ],
    together: &[],
};

/// The options that a checked `statistics` stands for.
pub(super) fn convert(view: &View<'_>) -> StatisticsOptions {
    let default = StatisticsOptions::default();
    StatisticsOptions {
        coverage_floor: view.get("coverage_floor").float().unwrap_or(default.coverage_floor),
        confidence: view.get("confidence").float().unwrap_or(default.confidence),
        resamples: view.get("resamples").int().unwrap_or(default.resamples),
        seed: view.get("seed").int().unwrap_or(default.seed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<StatisticsOptions, Vec<String>> {
        checked(text, &Shape::Record(&STATISTICS), |view, _| convert(view))
    }

    #[test]
    fn defaults_are_those_of_the_aggregation() {
        assert_eq!(read("{}").unwrap(), StatisticsOptions::default());
        assert_eq!(read(&spelled_out(STATISTICS.fields)).unwrap(), StatisticsOptions::default());
    }

    #[test]
    fn shares_and_levels_have_bounds() {
        assert_eq!(read("{coverage_floor: 1, seed: 18446744073709551615}").unwrap().seed, u64::MAX);
        assert_eq!(
            read("{coverage_floor: 1.01, confidence: 1, resamples: -1}").unwrap_err(),
            [
                "1:18 coverage_floor: expected a number from 0 to 1, found 1.01",
                "1:36 confidence: expected a number above 0 and below 1, found 1",
                "1:50 resamples: expected a whole number from 0 to 1000000, found -1",
            ]
        );
    }
}
