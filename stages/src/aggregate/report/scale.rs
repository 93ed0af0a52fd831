//! From where to where an evaluator's values go.

use crate::aggregate::Distribution;

/// The ends of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    /// 0 to 1 for values that are all in there, else from 0 to the value farthest from it.
    pub(super) fn of(distribution: &Distribution) -> Self {
        if distribution.min >= 0.0 && distribution.max <= 1.0 {
            Scale { from: 0.0, to: 1.0 }
        } else {
            Scale { from: distribution.min.min(0.0), to: distribution.max.max(0.0) }
        }
    }

    /// Where `value` is between the ends, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(min: f64, max: f64) -> Scale {
        Scale::of(&Distribution { min, max, median: min, std: None })
    }

    #[test]
    fn shares_begin_at_zero_or_below() {
        assert_eq!(scale(0.2, 0.4).share(0.25), 0.25);
        assert_eq!(scale(2.0, 4.0).share(1.0), 0.25);
        assert_eq!(scale(-1.0, 3.0).share(0.0), 0.25);
        assert_eq!(scale(-4.0, -2.0).share(-2.0), 0.5);
        assert_eq!(scale(5.0, 5.0).share(5.0), 1.0);
    }
}
