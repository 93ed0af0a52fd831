//! Two evaluations, or two recipes of one, side by side.

mod comparison;
mod differences;

pub use comparison::{Compared, Comparison, Flip, compare};
pub use differences::Difference;
