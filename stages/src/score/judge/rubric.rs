//! Rubrics: what a judge of the user's own is told, and what it may reply.

use ragstage_cache::{KeyVisitor, Walk};
use serde_json::{Value, json};

use crate::model::Prompt;

/// What a rubric's judge may reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RubricScale {
    /// A whole number within bounds; the score.
    Number {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// The least number with which a case passes; the greatest one where a lower number is better.
        passes: Option<i64>,
    },
    /// One of these words, at least two; a label, which is in no mean.
    Labels {
        /// The words.
        labels: Vec<String>,
        /// Those with which a case passes; none where nothing is said of that.
        passes: Vec<String>,
    },
}

/// A rubric: an instruction and the form of the reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rubric {
    /// The instruction, a template of the names of [`Rubric::example`]. Where it uses none of them, question and answer are
    /// put after it.
    pub instruction: Prompt,
    /// What is replied.
    pub scale: RubricScale,
    /// Whether a higher number is a better one.
    pub higher_is_better: bool,
}

impl Rubric {
    /// What a rubric may use, by example: `question`, `answer`, `gold` (the accepted answers, ` | ` between them), `golds`
    /// (the same as a list), `contexts` (the passages, each after its number) and `passages` (a list of number and text).
    pub fn example() -> Value {
        json!({"question": "q", "answer": "a", "gold": "a | b", "golds": ["a", "b"], "contexts": "[1] t",
            "passages": [{"number": 1, "text": "t"}]})
    }

    /// Whether the instruction uses one of `names`.
    pub(super) fn uses(&self, names: &[&str]) -> bool {
        let used = self.instruction.names();
        names.iter().any(|name| used.contains(*name))
    }

    /// Whether the instruction uses nothing, so that question and answer are put after it.
    pub(super) fn is_bare(&self) -> bool {
        !self.uses(&["question", "answer", "gold", "golds", "contexts", "passages"])
    }
}

impl Walk for Rubric {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("rubric", "rubric");
        v.digest("instruction", self.instruction.digest());
        match &self.scale {
            RubricScale::Number { min, max, passes } => {
                v.int("min", *min);
                v.int("max", *max);
                match passes {
                    Some(passes) => v.int("passes", *passes),
                    None => v.null("passes"),
                }
                // Which side of the bound passes hangs on it, and nothing else does.
                if passes.is_some() && !self.higher_is_better {
                    v.bool("higher_is_better", false);
                }
            }
            RubricScale::Labels { labels, passes } => {
                for (name, words) in [("labels", labels), ("passes", passes)] {
                    v.begin_list(name, words.len());
                    words.iter().for_each(|word| v.text("", word));
                    v.end();
                }
            }
        }
        v.end();
    }
}

#[cfg(test)]
mod tests {
    use ragstage_cache::key::key_of;

    use super::*;

    #[test]
    fn which_side_of_the_bound_passes_is_in_the_key() {
        let key = |passes, higher_is_better| {
            let scale = RubricScale::Number { min: 0, max: 10, passes };
            key_of(&Rubric { instruction: Prompt::new("Count the errors."), scale, higher_is_better })
        };
        assert_ne!(key(Some(3), true), key(Some(3), false));
        // Without a bound it says how reports read the numbers, and no score hangs on it.
        assert_eq!(key(None, true), key(None, false));
    }
}
