//! The language in which each element of the evaluation file says what it accepts.
//!
//! A shape is data: [`super::check`] holds a file against it, [`super::schema`] prints it.

use super::node::{Node, Value};

/// What a value must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A text, not blank, that obeys a rule.
    Text(&'static TextRule),
    /// Any text, blank or empty ones too.
    AnyText,
    /// One of a few words.
    Choice(&'static [Choice]),
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Int {
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
    },
    /// A finite number within bounds.
    Float(Range),
    /// A list of at least `least` values.
    List {
        /// What each is.
        of: &'static Shape,
        /// How many at least.
        least: usize,
    },
    /// A mapping with known keys.
    Record(&'static Record),
    /// A mapping whose other keys depend on the word at one key.
    Tagged(&'static Tagged),
    /// A mapping of names to texts in which `${NAME}` stands for an environment variable.
    Secrets,
    /// A mapping of names, any but blank ones, to values of one shape.
    Map(&'static Shape),
    /// Any mapping of JSON values.
    Free,
    /// The first of several that takes a value of that type.
    Either(&'static [Shape]),
}

/// A rule for texts.
#[derive(Debug)]
pub(super) struct TextRule {
    /// What is expected, e.g. `a text`.
    pub expected: &'static str,
    /// The same as an ECMAScript pattern, where one can say it.
    pub pattern: Option<&'static str>,
    /// Why a text is refused (a fragment that follows `expected`... and a hint); `None` when it is accepted.
    pub refuse: fn(&str) -> Option<Refusal>,
}

/// Why a text breaks its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// What was expected and found.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Any text that is not blank.
pub(super) const TEXT: Shape = Shape::Text(&TextRule { expected: "a text", pattern: Some(r"\S"), refuse: |_| None });

/// A word of a [`Shape::Choice`].
#[derive(Debug)]
pub(super) struct Choice {
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    /// The lower bound.
    pub min: f64,
    /// Whether the lower bound itself is out.
    pub above_min: bool,
    /// The upper bound.
    pub max: f64,
    /// Whether the upper bound itself is out.
    pub below_max: bool,
}

impl Range {
    /// From `min` to `max`, both included.
    pub(super) const fn closed(min: f64, max: f64) -> Self {
        Range { min, above_min: false, max, below_max: false }
    }

    /// Whether `value` is within.
    pub(super) fn holds(&self, value: f64) -> bool {
        let low = if self.above_min { value > self.min } else { value >= self.min };
        let high = if self.below_max { value < self.max } else { value <= self.max };
        value.is_finite() && low && high
    }

    fn expected(&self) -> String {
        let low = (self.min > f64::MIN).then(|| match self.above_min {
            true => format!("above {}", self.min),
            false => format!("at least {}", self.min),
        });
        let high = (self.max < f64::MAX).then(|| match self.below_max {
            true => format!("below {}", self.max),
            false => format!("at most {}", self.max),
        });
        match (low, high) {
            (Some(_), Some(_)) if !self.above_min && !self.below_max => {
                format!("a number from {} to {}", self.min, self.max)
            }
            (Some(low), Some(high)) => format!("a number {low} and {high}"),
            (Some(bound), None) | (None, Some(bound)) => format!("a number {bound}"),
            (None, None) => "a number".to_string(),
        }
    }
}

/// A mapping with known keys.
#[derive(Debug)]
pub(super) struct Record {
    /// Its name in the JSON Schema.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
    /// Rules about which keys go together.
    pub together: &'static [Together],
}

/// A key of a record.
#[derive(Debug)]
pub(super) struct Field {
    /// The key.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// What its value must be.
    pub shape: Shape,
    /// Whether it must be there.
    pub need: Need,
}

/// Whether a key must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// It must.
    Required,
    /// It may be absent, with a meaning of its own that its documentation tells.
    Optional,
    /// Absent, it is this JSON value.
    Default(&'static str),
}

/// Which keys go together.
#[derive(Debug)]
pub(super) enum Together {
    /// Exactly one of these.
    ExactlyOne(&'static [&'static str]),
    /// At least one of these.
    AtLeastOne(&'static [&'static str]),
    /// With the first key, none of the others.
    Excludes(&'static str, &'static [&'static str]),
}

/// A mapping whose other keys depend on the word at `key`.
#[derive(Debug)]
pub(super) struct Tagged {
    /// The key that tells.
    pub key: &'static str,
    /// What the key means.
    pub doc: &'static str,
    /// The record for each word.
    pub variants: &'static [(&'static str, &'static Record)],
    /// Keys that every variant has.
    pub shared: &'static [Field],
}

impl Shape {
    /// Whether a value of `node`'s type could be of this shape; which of several shapes is meant is decided by it.
    pub(super) fn takes(&self, node: &Node) -> bool {
        match (self, &node.value) {
            (_, Value::Faulty) => true,
            (Shape::Text(_) | Shape::AnyText | Shape::Choice(_), Value::Text(_)) => true,
            (Shape::Bool, Value::Bool(_)) => true,
            (Shape::Int { .. }, Value::Int(..)) => true,
            (Shape::Float(_), Value::Int(..) | Value::Float(..)) => true,
            (Shape::List { .. }, Value::List(_)) => true,
            (Shape::Record(_) | Shape::Tagged(_) | Shape::Secrets | Shape::Map(_) | Shape::Free, Value::Map(_)) => true,
            (Shape::Either(shapes), _) => shapes.iter().any(|shape| shape.takes(node)),
            _ => false,
        }
    }

    /// Which of several shapes is meant by `node`: the first that takes it. One whose mappings are told by a key is meant only
    /// where that key is there, unless no other takes mappings.
    pub(super) fn meant<'a>(shapes: &'a [Shape], node: &Node) -> Option<&'a Shape> {
        let taking = || shapes.iter().filter(|shape| shape.takes(node));
        let told = |shape: &&Shape| match (shape, &node.value) {
            (Shape::Tagged(tagged), Value::Map(entries)) => entries.iter().any(|entry| entry.key == tagged.key),
            _ => true,
        };
        taking().find(told).or_else(|| taking().next())
    }

    /// What is expected, for a message.
    pub(super) fn expected(&self) -> String {
        match self {
            Shape::Text(rule) => rule.expected.to_string(),
            Shape::AnyText => "a text".to_string(),
            Shape::Choice([only]) => format!("`{}`", only.word),
            Shape::Choice(choices) => {
                let words: Vec<String> = choices.iter().map(|choice| format!("`{}`", choice.word)).collect();
                format!("one of {}", words.join(", "))
            }
            Shape::Bool => "`true` or `false`".to_string(),
            Shape::Int { min, max: u64::MAX } => format!("a whole number, at least {min}"),
            Shape::Int { min, max } => format!("a whole number from {min} to {max}"),
            Shape::Float(range) => range.expected(),
            Shape::List { .. } => "a list".to_string(),
            Shape::Record(_) | Shape::Secrets | Shape::Map(_) | Shape::Free => "a mapping".to_string(),
            Shape::Tagged(tagged) => format!("a mapping with `{}`", tagged.key),
            Shape::Either(shapes) => {
                let parts: Vec<String> = shapes.iter().map(Shape::expected).collect();
                parts.join(" or ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_include_what_they_say() {
        let confidence = Range { min: 0.0, above_min: true, max: 1.0, below_max: true };
        assert!(!confidence.holds(0.0) && confidence.holds(0.5) && !confidence.holds(1.0));
        assert!(Range::closed(0.0, 1.0).holds(0.0) && Range::closed(0.0, 1.0).holds(1.0));
        assert!(!Range::closed(0.0, f64::MAX).holds(f64::INFINITY) && !Range::closed(0.0, 1.0).holds(f64::NAN));
    }

    #[test]
    fn expectations_read_well() {
        for (shape, expected) in [
            (Shape::Float(Range::closed(0.0, 1.0)), "a number from 0 to 1"),
            (Shape::Float(Range::closed(0.0, f64::MAX)), "a number at least 0"),
            (
                Shape::Float(Range { min: 0.0, above_min: true, max: 1.0, below_max: true }),
                "a number above 0 and below 1",
            ),
            (Shape::Float(Range::closed(f64::MIN, f64::MAX)), "a number"),
            (Shape::Int { min: 1, max: u64::MAX }, "a whole number, at least 1"),
            (Shape::Int { min: 1, max: 9 }, "a whole number from 1 to 9"),
            (Shape::Either(&[Shape::Bool, Shape::Free]), "`true` or `false` or a mapping"),
        ] {
            assert_eq!(shape.expected(), expected);
        }
    }
}
