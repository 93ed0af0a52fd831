//! What Python, which the reference system is written in, takes for whitespace, letters, words and numbers (spec/heta 11).

mod alphanumeric;
mod int;
mod whitespace;

pub use alphanumeric::is_alphanumeric;
pub use int::{decimal, digit, int};
pub use whitespace::{is_whitespace, strip};
