//! A set of numbers in case order, and what is said of it.

use serde::{Deserialize, Serialize};

/// How numbers are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// The middle value, or the mean of the middle two.
    pub median: f64,
    /// Sample standard deviation (divided by n - 1); `None` below two values.
    pub std: Option<f64>,
}

impl Distribution {
    /// The distribution of finite `values`; `None` where there are none.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let min = values.iter().copied().min_by(f64::total_cmp)?;
        let max = values.iter().copied().max_by(f64::total_cmp)?;
        Some(Distribution { min, max, median: median(values)?, std: sample_std(values) })
    }
}

/// The quantile 0.5 of [`quantile`], without sorting all.
fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    let below = values.len().checked_sub(1)? / 2;
    let even = values.len().is_multiple_of(2);
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).filter(|_| even).unwrap_or(low);
    Some(low + 0.5 * (high - low))
}

/// The sample standard deviation (divided by n - 1); `None` below two values.
pub(super) fn sample_std(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The arithmetic mean, summed in the order given; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The quantile `share` (0 to 1) of ascending numbers by linear interpolation between order statistics (Hyndman and Fan,
/// "Sample quantiles in statistical packages", 1996, definition 7: the default of R and NumPy).
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = share.clamp(0.0, 1.0) * last as f64;
    let below = (position.floor() as usize).min(last);
    let above = (below + 1).min(last);
    Some(sorted[below] + (position - below as f64) * (sorted[above] - sorted[below]))
}

/// The percentile `percent` (0 to 100) of ascending numbers by nearest rank: the smallest value such that at least that
/// share of all values is no larger. It is always a value that was really seen.
pub(super) fn nearest_rank(sorted: &[f64], percent: f64) -> Option<f64> {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let odd = Distribution::of(&[3.0, 1.0, 2.0]).expect("three");
        assert_eq!((odd.min, odd.max, odd.median, odd.std), (1.0, 3.0, 2.0, Some(1.0)));
        let even = Distribution::of(&[4.0, 1.0, 2.0, 3.0]).expect("four");
        assert_eq!(even.median, 2.5);
        assert!((even.std.expect("std") - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Distribution::of(&[0.5]).expect("one").std, None);
        assert_eq!(Distribution::of(&[]), None);
    }

    #[test]
    fn the_median_is_the_middle_quantile() {
        let mut values = vec![3.25, -1.0, 7.5, 0.1, 0.1, 0.3, 9.0];
        while !values.is_empty() {
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            assert_eq!(median(&values), quantile(&sorted, 0.5), "{values:?}");
            values.pop();
        }
    }

    #[test]
    fn quantiles_interpolate_and_percentiles_do_not() {
        let values = [10.0, 20.0, 30.0, 40.0];
        assert_eq!(quantile(&values, 0.25), Some(17.5));
        assert_eq!(quantile(&values, 1.0), Some(40.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(nearest_rank(&values, 50.0), Some(20.0));
        assert_eq!(nearest_rank(&values, 51.0), Some(30.0));
        assert_eq!(nearest_rank(&values, 95.0), Some(40.0));
        assert_eq!(nearest_rank(&values, 0.0), Some(10.0));
        assert_eq!(nearest_rank(&[], 50.0), None);
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(nearest_rank(&hundred, 99.0), Some(99.0));
    }
}
