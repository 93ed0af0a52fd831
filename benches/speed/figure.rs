//! One measured number beside its target.

use std::fmt;

/// The first lines of the table.
pub const HEADER: &str = "| figure | measured | target | measured / target |\n|---|---:|---:|---:|";

/// What a target bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// None: the number is only reported.
    None,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it should be.
    pub target: Target,
}

impl Figure {
    /// A number that is only reported.
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Figure { name: name.into(), value, unit, target: Target::None }
    }

    /// The same with a target.
    pub fn target(self, target: Target) -> Self {
        Figure { target, ..self }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: f64| if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.2}") };
        let (bound, target) = match self.target {
            Target::AtMost(target) => ("<= ", target),
            Target::AtLeast(target) => (">= ", target),
            Target::None => return write!(f, "| {} | {} {} | | |", self.name, number(self.value), self.unit),
        };
        let ratio = self.value / target;
        let (value, unit) = (number(self.value), self.unit);
        write!(f, "| {} | {value} {unit} | {bound}{} {unit} | {ratio:.2} |", self.name, number(target))
    }
}

/// The middle one of some measurements.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
