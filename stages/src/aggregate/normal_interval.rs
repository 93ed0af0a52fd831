//! The interval of a mean by the normal approximation: what a bootstrap of very many values comes to.

use super::distribution::{mean, sample_std};

/// From this many values on. The bootstrap's own noise (of 1,000 resamples) is far larger than what the approximation misses there, and
/// drawing a thousand times a hundred thousand values is what most of a summary's time would go into.
pub(super) const MANY: usize = 100_000;

/// mean ± z s / sqrt(n); `None` below two values.
pub(super) fn normal_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let mean = mean(values)?;
    let std = sample_std(values)?;
    let reach = quantile(1.0 - (1.0 - confidence) / 2.0) * std / (values.len() as f64).sqrt();
    Some((mean - reach, mean + reach))
}

/// The quantile of the standard normal distribution by Acklam's rational approximation (relative error below 1.2e-9), for a
/// probability in (0.5, 1).
fn quantile(probability: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 5] =
        [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 4] = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416];
    let horner = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient);
    if probability <= 1.0 - 0.02425 {
        let q = probability - 0.5;
        let r = q * q;
        return horner(&A, r) * q / (horner(&B, r) * r + 1.0);
    }
    let q = (-2.0 * (1.0 - probability).ln()).sqrt();
    -horner(&C, q) / (horner(&D, q) * q + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, expected) in
            [(0.75, 0.674489750196082), (0.975, 1.959963984540054), (0.995, 2.575829303548901)]
        {
            assert!((quantile(probability) - expected).abs() < 1e-8, "{probability}: {}", quantile(probability));
        }
    }

    #[test]
    fn the_interval_of_a_coin() {
        let coin: Vec<f64> = (0..10_000).map(|i| f64::from(i % 2)).collect();
        let (low, high) = normal_interval(&coin, 0.95).expect("an interval");
        assert!((low - (0.5 - 0.0098)).abs() < 1e-5 && (high - (0.5 + 0.0098)).abs() < 1e-5, "{low} {high}");
        assert_eq!(normal_interval(&[1.0], 0.95), None);
    }
}
