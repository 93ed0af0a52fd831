//! Gold texts of which most words are there (spec/openviking 6.3).

use std::collections::HashSet;

use super::parameters::{MINIMUM, THRESHOLD};
use crate::score::identity::Identity;
use crate::score::openviking_text::normalize;
use crate::score::plain_text::words;

/// The different words of a text in the normal form of spec/openviking 6.1. A text without white space, as in Chinese, is
/// one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenSet(HashSet<String>);

impl TokenSet {
    pub(crate) fn of(text: &str) -> Self {
        TokenSet(words(&normalize(text)).into_iter().map(str::to_string).collect())
    }
}

/// How much of a gold text's words is enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TokenCover {
    threshold: f64,
    minimum: usize,
}

impl TokenCover {
    /// As the options `threshold` and `minimum` have it.
    pub(super) fn of(identity: &Identity) -> Self {
        let minimum = usize::try_from(identity.whole(MINIMUM.name)).unwrap_or(usize::MAX);
        TokenCover { threshold: identity.real(THRESHOLD.name), minimum }
    }

    /// Whether `text` has a large enough share of the words of `gold`. Order and distance do not matter.
    pub(super) fn covers(&self, text: &TokenSet, gold: &TokenSet) -> bool {
        let expected = gold.0.len();
        if expected == 0 || expected < self.minimum {
            return false;
        }
        let there = gold.0.intersection(&text.0).count();
        there as f64 / expected as f64 >= self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_different_words_decides_from_the_minimum_on() {
        let cover = TokenCover { threshold: 0.8, minimum: 4 };
        let covers = |text: &str, gold: &str| cover.covers(&TokenSet::of(text), &TokenSet::of(gold));
        assert!(covers("e4, E3 e2 e1!", "e1 e2 e3 e4 e5"));
        assert!(!covers("e1 e2 e3", "e1 e2 e3 e4"));
        assert!(!covers("tin pot lid", "tin pot lid tin pot lid"));
        assert!(!covers("", ""));
        let none = TokenCover { threshold: 0.0, minimum: 1 };
        assert!(!none.covers(&TokenSet::of("a"), &TokenSet::of("the")), "a gold text without words");
    }
}
