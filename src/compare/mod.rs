//! Two evaluations, or two recipes of one, side by side.

mod comparison;
mod differences;
mod side;

pub use comparison::{Compared, Comparison, Flip, compare};
pub use differences::Difference;
pub use side::{Scored, Side, SideError, sides_of_report};
