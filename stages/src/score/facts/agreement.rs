//! How two sets of facts agree.

/// How the predicted facts of a response and the gold facts of its case agree, as sets (`update_sp` of HotpotQA's
/// `hotpot_evaluate_v1.py`, and the support metric of MuSiQue's `evaluate_v1.0.py` after it).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Agreement {
    /// Facts that are predicted and gold.
    pub(super) right: usize,
    /// Facts that are predicted and not gold.
    pub(super) wrong: usize,
    /// Facts that are gold and not predicted.
    pub(super) missing: usize,
}

impl Agreement {
    /// The share of the predicted facts that are gold; 0 where none is predicted.
    pub(super) fn precision(&self) -> f64 {
        share(self.right, self.wrong)
    }

    /// The share of the gold facts that are predicted.
    pub(super) fn recall(&self) -> f64 {
        share(self.right, self.missing)
    }

    /// The harmonic mean of both.
    pub(super) fn f1(&self) -> f64 {
        harmonic_mean(self.precision(), self.recall())
    }

    /// Whether just the gold facts are predicted.
    pub(super) fn is_exact(&self) -> bool {
        self.wrong == 0 && self.missing == 0
    }
}

fn share(right: usize, others: usize) -> f64 {
    if right == 0 { 0.0 } else { right as f64 / (right + others) as f64 }
}

/// The harmonic mean of two shares; 0 where both are. In this order of operations the last bit is that of the scripts.
pub(super) fn harmonic_mean(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Predicted {a, b, c, d}, gold {a, b, e}: P 2/4, R 2/3, F1 4/7.
        let some = Agreement { right: 2, wrong: 2, missing: 1 };
        assert_eq!((some.precision(), some.recall(), some.is_exact()), (0.5, 2.0 / 3.0, false));
        assert!((some.f1() - 4.0 / 7.0).abs() < 1e-12);
        let none = Agreement { right: 0, wrong: 3, missing: 2 };
        assert_eq!((none.precision(), none.recall(), none.f1(), none.is_exact()), (0.0, 0.0, 0.0, false));
        let nothing = Agreement { right: 0, wrong: 0, missing: 2 };
        assert_eq!((nothing.precision(), nothing.recall(), nothing.f1(), nothing.is_exact()), (0.0, 0.0, 0.0, false));
        let all = Agreement { right: 2, wrong: 0, missing: 0 };
        assert_eq!((all.precision(), all.recall(), all.f1(), all.is_exact()), (1.0, 1.0, 1.0, true));
    }
}
