//! A number as a text has it.

/// A number with what was written beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    /// The number with its sign, without scale and percent sign.
    pub(super) value: f64,
    /// What the scale word multiplies it with (`million` is 1e6); 1 where there is none.
    pub(super) scale: f64,
    /// Whether it has a percent sign or word.
    pub(super) percent: bool,
    /// Whether it reads as a year: 1900 to 2099 with nothing beside it.
    pub(super) year: bool,
}

impl Number {
    /// A number that no text says.
    pub(super) fn plain(value: f64) -> Self {
        let year = value.fract() == 0.0 && (1900.0..2100.0).contains(&value);
        Number { value, scale: 1.0, percent: false, year }
    }

    /// The value with its scale; a percent sign divides by 100.
    pub(super) fn stated(&self) -> f64 {
        let scaled = self.value * self.scale;
        if self.percent { scaled / 100.0 } else { scaled }
    }
}
