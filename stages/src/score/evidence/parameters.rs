//! The options that the evaluators of evidence share.

use crate::score::definition::{Parameter, ParameterKind};

/// `match`: which labels of a piece count.
pub(super) const MATCH: Parameter = Parameter {
    name: "match",
    description: "which labels of a piece must hold of one result: all (where it is from, and its text), the first that both \
                  sides carry, or the locator, the reference id or the text alone",
    kind: ParameterKind::Choice(&["all", "first", "locator", "reference", "text"]),
};

/// `minimum`: below this many words no share of them is enough.
pub(super) const MINIMUM: Parameter = Parameter {
    name: "minimum",
    description: "the least number of different words that a gold text must have to be covered",
    kind: ParameterKind::Whole { min: 1, default: 4 },
};

/// `text`: when a result's text holds a gold text.
pub(super) const TEXT: Parameter = Parameter {
    name: "text",
    description: "when a result's text holds a gold text: normal (case and white space aside), exact (to the letter), cover \
                  (also where most of its words are there), unspaced (to the letter, but for all white space)",
    kind: ParameterKind::Choice(&["normal", "exact", "cover", "unspaced"]),
};

/// `threshold`: the share of words that is enough.
pub(super) const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    description: "the least share of a gold text's different words that covers it",
    kind: ParameterKind::Real { min: 0.0, max: 1.0, default: 0.8 },
};
