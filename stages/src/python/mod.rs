//! What Python, which the reference system is written in, takes for whitespace, letters, words, numbers and lists (spec/heta 11).

mod alphanumeric;
mod int;
mod list;
mod whitespace;

pub use alphanumeric::is_alphanumeric;
pub use int::{decimal, digit, int};
pub use list::{NoList, text_list};
pub use whitespace::{is_whitespace, strip};
