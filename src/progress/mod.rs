//! What people see while a run goes on: bars on a terminal, plain lines otherwise. Always on stderr.

mod bars;
mod lines;
mod notices;
mod tally;

pub use bars::Bars;
pub use lines::Lines;
pub use notices::Notices;
