//! The normal form in which SQuAD's own script, and HotpotQA's after it, compares answers.

use super::plain_text::plain_text;

/// In lower case, without ASCII punctuation, without the whole words `a`, `an` and `the`; words one space apart.
pub(crate) fn normalize(text: &str) -> String {
    plain_text(text, &["a", "an", "the"])
}
