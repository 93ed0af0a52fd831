//! Percentile bootstrap intervals of a mean.

use ragstage_cache::Digest;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

use super::distribution::quantile;
use super::options::StatisticsOptions;

/// From this many clusters on, whole clusters are drawn; with fewer, too few different resamples exist and an interval would
/// be too narrow.
pub(super) const LEAST_CLUSTERS: usize = 20;

/// The sum and the number of the values of each cluster that has any, in the order of the clusters, which are below `bound`.
pub(super) fn cluster_sums(bound: usize, values: impl Iterator<Item = (usize, f64)>) -> Vec<(f64, u64)> {
    let mut sums = vec![(0.0, 0); bound];
    for (cluster, value) in values {
        if let Some((sum, count)) = sums.get_mut(cluster) {
            *sum += value;
            *count += 1;
        }
    }
    sums.retain(|(_, count)| *count > 0);
    sums
}

/// A bootstrap of one series (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13).
///
/// The generator is ChaCha8, seeded from the seed and the names of the series, with one stream per resample. So an
/// interval depends on neither the number of threads nor on which other series there are.
pub(super) struct Bootstrap {
    seed: [u8; 32],
    confidence: f64,
    resamples: u32,
}

impl Bootstrap {
    /// The bootstrap of the series called `name`: its recipe, query and evaluator.
    pub(super) fn new(options: &StatisticsOptions, name: [&str; 3]) -> Self {
        Self::of_parts(options, &name)
    }

    /// The bootstrap of the slice called `slice`, of the kind `kind`, of a series.
    pub(super) fn of_slice(options: &StatisticsOptions, name: [&str; 3], kind: &str, slice: &str) -> Self {
        let [recipe, query, evaluator] = name;
        Self::of_parts(options, &[recipe, query, evaluator, kind, slice])
    }

    fn of_parts(options: &StatisticsOptions, name: &[&str]) -> Self {
        let seed = options.seed.to_le_bytes();
        let parts = std::iter::once(seed.as_slice()).chain(name.iter().map(|part| part.as_bytes()));
        Bootstrap {
            seed: Digest::of_parts("ragstage.bootstrap", parts).0,
            confidence: options.confidence,
            resamples: options.resamples,
        }
    }

    /// The interval of the mean of `values`, drawn one by one; `None` below two values or without resamples.
    pub(super) fn of_values(&self, values: &[f64]) -> Option<(f64, f64)> {
        self.interval(values.len(), |drawn| {
            let sum: f64 = drawn.iter().map(|&i| values[i as usize]).sum();
            sum / drawn.len() as f64
        })
    }

    /// The interval of the mean over all values of `clusters` (each a sum and a count above 0), drawn cluster by cluster;
    /// `None` below two clusters or without resamples.
    pub(super) fn of_clusters(&self, clusters: &[(f64, u64)]) -> Option<(f64, f64)> {
        self.interval(clusters.len(), |drawn| {
            let (mut sum, mut count) = (0.0, 0);
            for &i in drawn {
                let (part, size) = clusters[i as usize];
                sum += part;
                count += size;
            }
            sum / count as f64
        })
    }

    /// The interval of a statistic of `n` things; `statistic` gets the `n` positions drawn with replacement.
    fn interval(&self, n: usize, statistic: impl Fn(&[u32]) -> f64 + Sync) -> Option<(f64, f64)> {
        let bound = u32::try_from(n).ok().filter(|&n| n >= 2 && self.resamples > 0)?;
        let mut values: Vec<f64> = (0..u64::from(self.resamples))
            .into_par_iter()
            .map_init(
                || (vec![0u8; n * 4], vec![0u32; n]),
                |(bytes, drawn), resample| {
                    self.draw(resample, bound, bytes, drawn);
                    statistic(drawn)
                },
            )
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - self.confidence) / 2.0;
        Some((quantile(&values, tail)?, quantile(&values, 1.0 - tail)?))
    }

    /// Fills `drawn` with positions below `bound`. A draw is the high word of (32 random bits x bound): one position is
    /// likelier than another by at most bound / 2^32, which no interval can show.
    fn draw(&self, resample: u64, bound: u32, bytes: &mut [u8], drawn: &mut [u32]) {
        let mut generator = ChaCha8Rng::from_seed(self.seed);
        generator.set_stream(resample);
        generator.fill_bytes(bytes);
        for (position, word) in drawn.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *position = ((u64::from(u32::from_le_bytes(*word)) * u64::from(bound)) >> 32) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bootstrap(seed: u64, evaluator: &str) -> Bootstrap {
        let options = StatisticsOptions { resamples: 2000, seed, ..StatisticsOptions::default() };
        Bootstrap::new(&options, ["base", "full_text", evaluator])
    }

    /// 400 values, half 0 and half 1: the mean's standard error is 0.5 / 20 = 0.025.
    fn coin() -> Vec<f64> {
        (0..400).map(|i| f64::from(i % 2)).collect()
    }

    #[test]
    fn the_interval_is_that_of_the_normal_approximation() {
        let (low, high) = bootstrap(0, "nDCG@10").of_values(&coin()).expect("interval");
        assert!((low - (0.5 - 1.96 * 0.025)).abs() < 0.005, "{low}");
        assert!((high - (0.5 + 1.96 * 0.025)).abs() < 0.005, "{high}");
    }

    #[test]
    fn seed_and_names_decide_and_threads_do_not() {
        let once = bootstrap(0, "nDCG@10").of_values(&coin());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
        assert_eq!(once, pool.install(|| bootstrap(0, "nDCG@10").of_values(&coin())));
        assert_ne!(once, bootstrap(1, "nDCG@10").of_values(&coin()));
        assert_ne!(once, bootstrap(0, "AP").of_values(&coin()));
    }

    #[test]
    fn constant_or_too_few_values() {
        assert_eq!(bootstrap(0, "AP").of_values(&[0.25; 8]), Some((0.25, 0.25)));
        assert_eq!(bootstrap(0, "AP").of_values(&[0.25]), None);
        assert_eq!(bootstrap(0, "AP").of_values(&[]), None);
        let none = StatisticsOptions { resamples: 0, ..StatisticsOptions::default() };
        assert_eq!(Bootstrap::new(&none, ["a", "b", "c"]).of_values(&[0.0, 1.0]), None);
    }

    #[test]
    fn sums_of_clusters() {
        let values = [(3, 0.5), (1, 1.0), (3, 0.25), (0, 2.0)];
        assert_eq!(cluster_sums(5, values.into_iter()), [(2.0, 1), (1.0, 1), (0.75, 2)]);
        assert_eq!(cluster_sums(0, std::iter::empty()), []);
    }

    #[test]
    fn values_that_go_together_widen_the_interval() {
        // 40 clusters of 10 equal values: the standard error is that of 40 values, 0.5 / sqrt(40) = 0.079.
        let clusters: Vec<(f64, u64)> = (0..40).map(|i| (f64::from(i % 2) * 10.0, 10)).collect();
        let (low, high) = bootstrap(0, "AP").of_clusters(&clusters).expect("interval");
        assert!((high - low - 2.0 * 1.96 * 0.0791).abs() < 0.03, "{low} {high}");
    }

    #[test]
    fn the_stream_is_pinned() {
        // Another generator, seeding or bound makes every interval differ: bump the code version of aggregate.
        let mut drawn = [0u32; 6];
        bootstrap(0, "AP").draw(3, 1000, &mut [0u8; 24], &mut drawn);
        assert_eq!(drawn, [810, 393, 49, 378, 449, 947]);
    }
}
