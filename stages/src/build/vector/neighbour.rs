//! A text that was found by its vector.

use std::cmp::Ordering;

/// A text that was found by its vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The text's number.
    pub text: u32,
    /// How near it is; higher is nearer.
    pub score: f64,
}

impl Neighbour {
    /// Best first; of equals, the text that comes first.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.text.cmp(&other.text))
    }
}
