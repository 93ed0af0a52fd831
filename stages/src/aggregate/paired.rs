//! Two series over the same cases: is one better, and by how much?
//!
//! Everything is paired, since both sides answer the same cases: their difference has a far smaller variance than that of two
//! means, and an unpaired test on paired data misses it.

use ragstage_cache::Digest;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bootstrap::{Bootstrap, cluster_sums};
use super::distribution::{mean, sample_std};
use super::options::StatisticsOptions;

/// Up to this many differences that are not 0, every assignment of signs is looked at; with more, some at random.
const EXACT: usize = 20;
/// Assignments of signs that are drawn.
const DRAWN: u64 = 10_000;
/// Differences that are looked at in all assignments together: of a million cases fewer assignments do.
const WORK: u64 = 2_000_000_000;

/// The comparison of two series; a difference is the second's value less the first's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// Cases that both have a number for.
    pub cases: u64,
    /// The first's mean over them.
    pub first: f64,
    /// The second's mean over them.
    pub second: f64,
    /// Mean difference.
    pub difference: f64,
    /// Paired bootstrap interval of the mean difference; clusters are drawn where there are enough of them.
    pub interval: Option<(f64, f64)>,
    /// How probable so large a difference is, of either sign, if the two were exchangeable: a randomisation test (Fisher 1935;
    /// for retrieval Smucker, Allan and Carterette, CIKM 2007).
    pub p: Option<f64>,
    /// Whether every assignment of signs was looked at.
    pub exact: bool,
    /// Mean difference over the standard deviation of the differences (Cohen's d for paired samples, d_z); `None` where all
    /// differences are equal.
    pub effect: Option<f64>,
    /// Cases in which the second is greater.
    pub wins: u64,
    /// Cases in which both are equal.
    pub ties: u64,
    /// Cases in which the second is smaller.
    pub losses: u64,
}

impl Paired {
    /// Compares `pairs` (first and second value of a case). `clusters` gives each case's cluster where cases of one are not
    /// independent: then whole clusters are drawn, and have their signs flipped. `name` seeds the drawing, so that a comparison does
    /// not depend on which others there are. `None` without a pair.
    pub fn of(
        pairs: &[(f64, f64)],
        clusters: Option<&[usize]>,
        options: &StatisticsOptions,
        name: [&str; 3],
    ) -> Option<Self> {
        let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
        let difference = mean(&differences)?;
        let sides: (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let bootstrap = Bootstrap::new(options, name);
        let bound = clusters.and_then(|clusters| clusters.iter().max()).map_or(0, |last| last + 1);
        let sums =
            clusters.map(|clusters| cluster_sums(bound, clusters.iter().copied().zip(differences.iter().copied())));
        let interval = match &sums {
            Some(sums) => bootstrap.of_clusters(sums),
            None => bootstrap.of_values(&differences),
        };
        let flipped: Vec<f64> = match &sums {
            Some(sums) => sums.iter().map(|(sum, _)| *sum).collect(),
            None => differences.clone(),
        };
        let (p, exact) = randomisation(&flipped, options, name);
        let std = sample_std(&differences);
        let count = |holds: fn(f64) -> bool| differences.iter().filter(|difference| holds(**difference)).count() as u64;
        Some(Paired {
            cases: pairs.len() as u64,
            first: mean(&sides.0)?,
            second: mean(&sides.1)?,
            difference,
            interval,
            p,
            exact,
            effect: std.filter(|std| *std > 0.0).map(|std| difference / std),
            wins: count(|difference| difference > 0.0),
            ties: count(|difference| difference == 0.0),
            losses: count(|difference| difference < 0.0),
        })
    }
}

/// The share of the assignments of signs whose sum is at least as far from 0 as the sum as it is. Drawn ones count the one that
/// there is, so that p is never 0. `None` below two differences.
fn randomisation(differences: &[f64], options: &StatisticsOptions, name: [&str; 3]) -> (Option<f64>, bool) {
    if differences.len() < 2 {
        return (None, true);
    }
    // What is 0 has no sign.
    let signed: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let observed = signed.iter().sum::<f64>().abs();
    // Sums in another order differ in their last digits.
    let close = 1e-9 * signed.iter().map(|difference| difference.abs()).sum::<f64>();
    let as_far = |sum: f64| sum.abs() >= observed - close;
    if signed.len() <= EXACT {
        let all = 1u64 << signed.len();
        let sum = |signs: u64| -> f64 {
            signed.iter().enumerate().map(|(i, value)| if signs >> i & 1 == 1 { -value } else { *value }).sum()
        };
        let far = (0..all).into_par_iter().filter(|signs| as_far(sum(*signs))).count();
        return (Some(far as f64 / all as f64), true);
    }
    let seed = options.seed.to_le_bytes();
    let parts = std::iter::once(seed.as_slice()).chain(name.into_iter().map(str::as_bytes));
    let seed = Digest::of_parts("ragstage.randomisation", parts).0;
    let draws = (WORK / signed.len() as u64).clamp(1000, DRAWN);
    let far = (0..draws)
        .into_par_iter()
        .map_init(
            || vec![0u8; signed.len().div_ceil(8)],
            |signs, draw| {
                let mut generator = ChaCha8Rng::from_seed(seed);
                generator.set_stream(draw);
                generator.fill_bytes(signs);
                let flip = |i: usize| signs.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
                as_far(signed.iter().enumerate().map(|(i, value)| if flip(i) { -value } else { *value }).sum())
            },
        )
        .filter(|far| *far)
        .count();
    (Some((far + 1) as f64 / (draws + 1) as f64), false)
}

/// The p-values of several tests, adjusted by Holm's step-down method ("A simple sequentially rejective multiple test procedure",
/// Scandinavian Journal of Statistics 6, 1979): the probability of one false discovery among all of them stays under the level.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 0.0f64;
    for (rank, position) in order.into_iter().enumerate() {
        least = least.max(((p.len() - rank) as f64 * p[position]).min(1.0));
        adjusted[position] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: [&str; 3] = ["a", "b", "nDCG@10"];

    fn paired(pairs: &[(f64, f64)]) -> Paired {
        Paired::of(pairs, None, &StatisticsOptions::default(), NAME).expect("pairs")
    }

    #[test]
    fn small_samples_are_exact() {
        // Differences 1, 2, 3, 4: of 16 assignments two are as far from 0 as 10.
        let found = paired(&[(0.0, 1.0), (1.0, 3.0), (1.0, 4.0), (0.0, 4.0)]);
        assert_eq!((found.p, found.exact), (Some(2.0 / 16.0), true));
        assert_eq!((found.first, found.second, found.difference), (0.5, 3.0, 2.5));
        assert_eq!((found.wins, found.ties, found.losses), (4, 0, 0));
        // The sample standard deviation of 1, 2, 3, 4 is sqrt(5 / 3).
        assert!((found.effect.expect("an effect") - 2.5 / (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
        // scipy.stats.permutation_test((x, y), mean of differences, permutation_type="samples"), 1.17.
        let x = [0.61, 0.52, 0.44, 0.70, 0.33, 0.58, 0.49, 0.66];
        let y = [0.66, 0.50, 0.55, 0.71, 0.41, 0.69, 0.47, 0.74];
        let pairs: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
        assert!((paired(&pairs).p.expect("a p") - SCIPY_P).abs() < 1e-12, "{:?}", paired(&pairs).p);
    }

    const SCIPY_P: f64 = 0.0546875;

    #[test]
    fn ties_say_nothing_and_one_case_has_no_test() {
        let found = paired(&[(1.0, 1.0), (0.5, 0.5), (0.25, 0.25)]);
        assert_eq!((found.p, found.effect, found.ties), (Some(1.0), None, 3));
        assert_eq!(found.interval, Some((0.0, 0.0)));
        assert_eq!(paired(&[(0.0, 1.0)]).p, None);
        assert!(Paired::of(&[], None, &StatisticsOptions::default(), NAME).is_none());
    }

    #[test]
    fn large_samples_agree_with_the_normal_approximation() {
        // 400 differences of mean 0.05 and standard deviation 0.5: z = 2, p = 0.0455.
        let pairs: Vec<(f64, f64)> = (0..400).map(|i| (0.0, 0.05 + if i % 2 == 0 { 0.5 } else { -0.5 })).collect();
        let found = paired(&pairs);
        assert!(!found.exact && (found.p.expect("a p") - 0.0455).abs() < 0.01, "{:?}", found.p);
        let (low, high) = found.interval.expect("an interval");
        assert!((low - 0.001).abs() < 0.01 && (high - 0.099).abs() < 0.01, "{low} {high}");
        assert_eq!(paired(&pairs), found);
        let other = Paired::of(&pairs, None, &StatisticsOptions::default(), ["a", "b", "AP"]).expect("pairs");
        assert_ne!(other.p, found.p);
    }

    #[test]
    fn cases_of_a_cluster_go_together() {
        // Two clusters that disagree: nothing is shown, however many cases each has.
        let pairs: Vec<(f64, f64)> = (0..40).map(|i| (0.0, if i < 20 { 1.0 } else { -0.9 })).collect();
        let clusters: Vec<usize> = (0..40).map(|i| usize::from(i >= 20)).collect();
        let found = Paired::of(&pairs, Some(&clusters), &StatisticsOptions::default(), NAME).expect("pairs");
        assert_eq!((found.p, found.exact), (Some(1.0), true));
        let (low, high) = found.interval.expect("an interval");
        assert!(low < -0.8 && high > 0.9, "{low} {high}");
    }

    #[test]
    fn holm_steps_down() {
        // By hand: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04 not under the one before it.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.6, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
