//! When two numbers agree.

use super::number::Number;

/// What a percent sign means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Percent {
    /// 5% is 0.05.
    Ratio,
    /// 5% is 5.
    Same,
    /// Both: where either is as expected.
    Either,
}

/// What a scale word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// 5 million is 5,000,000.
    Apply,
    /// The same, but where one of the two numbers has a scale word and the other has none, it may be 5 too.
    Optional,
    /// 5 million is 5.
    Ignore,
}

/// How near two numbers must be.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberAgreement {
    pub(super) percent: Percent,
    pub(super) scale: Scale,
    /// Share of the gold number that another may be off.
    pub(super) tolerance: f64,
    /// How much another may be off whatever the gold number is.
    pub(super) absolute: f64,
}

/// What arithmetic may lose: 1.01 is within 0.01 of 1.
const SLACK: f64 = 1e-9;

impl NumberAgreement {
    /// Whether `answer` is near enough to `gold`. A year must be the same.
    pub(super) fn holds(&self, answer: &Number, gold: &Number) -> bool {
        let scales: &[bool] = match self.scale {
            Scale::Apply => &[true],
            Scale::Ignore => &[false],
            Scale::Optional if (answer.scale == 1.0) == (gold.scale == 1.0) => &[true],
            Scale::Optional => &[true, false],
        };
        let ratios: &[bool] = match self.percent {
            Percent::Ratio => &[true],
            Percent::Same => &[false],
            Percent::Either => &[true, false],
        };
        scales.iter().any(|&scale| {
            ratios.iter().any(|&ratio| {
                let read = |number: &Number| {
                    let scale = if scale { number.scale } else { 1.0 };
                    Number { scale, percent: number.percent && ratio, ..*number }.stated()
                };
                self.is_near(read(answer), read(gold), gold.year)
            })
        })
    }

    fn is_near(&self, answer: f64, gold: f64, exact: bool) -> bool {
        let difference = (answer - gold).abs();
        let near = |limit: f64| difference <= limit + SLACK * gold.abs();
        if exact { difference == 0.0 } else { near(self.tolerance * gold.abs()) || near(self.absolute) }
    }
}
