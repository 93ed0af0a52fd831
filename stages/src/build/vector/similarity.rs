//! How near two vectors are, in f64 and in one order of sums: the same number on every machine.

use super::options::Metric;

/// The dot product. The products of two `f32` are exact in `f64`.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + f64::from(*x) * f64::from(*y))
}

/// The length.
pub(super) fn norm(a: &[f32]) -> f64 {
    dot(a, a).sqrt()
}

/// The score of a vector for a query, with the lengths of both; higher is nearer, and never a negative zero.
pub(super) fn score(metric: Metric, query: &[f32], query_norm: f64, row: &[f32], row_norm: f64) -> f64 {
    match metric {
        Metric::Cosine if query_norm == 0.0 || row_norm == 0.0 => 0.0,
        Metric::Cosine => dot(query, row) / (query_norm * row_norm),
        Metric::Dot => dot(query, row),
        Metric::L2 => {
            let squares = query.iter().zip(row).fold(0.0, |sum, (x, y)| {
                let difference = f64::from(*x) - f64::from(*y);
                sum + difference * difference
            });
            0.0 - squares.sqrt()
        }
    }
}

/// Sums that are added up side by side.
const LANES: usize = 16;

/// The dot product in `f32`, for what is looked at before a score: fast, and in one order of sums too.
pub(super) fn rough_dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// The squared distance in `f32`.
pub(super) fn rough_distance(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| (x - y) * (x - y)).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
        score(metric, a, norm(a), b, norm(b))
    }

    #[test]
    fn scores_by_hand() {
        assert_eq!(scored(Metric::Cosine, &[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_eq!(scored(Metric::Cosine, &[3.0, 4.0], &[4.0, -3.0]), 0.0);
        assert_eq!(scored(Metric::Cosine, &[1.0, 0.0], &[3.0, 4.0]), 0.6);
        assert_eq!(scored(Metric::Dot, &[1.0, 2.0], &[3.0, -4.0]), -5.0);
        assert_eq!(scored(Metric::L2, &[1.0, 2.0], &[4.0, 6.0]), -5.0);
    }

    #[test]
    fn zeros_score_a_positive_zero() {
        for metric in [Metric::Cosine, Metric::Dot] {
            assert_eq!(scored(metric, &[0.0, 0.0], &[-1.0, 2.0]).to_bits(), 0.0f64.to_bits());
            assert_eq!(scored(metric, &[-1.0, 2.0], &[0.0, 0.0]).to_bits(), 0.0f64.to_bits());
        }
        assert_eq!(scored(Metric::L2, &[1.0, 2.0], &[1.0, 2.0]).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn rough_sums_have_every_element() {
        let a: Vec<f32> = (0..37).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..37).map(|i| (i % 5) as f32).collect();
        assert_eq!(f64::from(rough_dot(&a, &b)), dot(&a, &b));
        let distance = scored(Metric::L2, &a, &b);
        assert!((f64::from(rough_distance(&a, &b)) - distance * distance).abs() < 1e-2);
    }
}
