//! Answers that say that there is no answer.

use std::borrow::Cow;

use crate::python::is_alphanumeric;
use crate::score::normal::normal_form;

/// Phrases that refuse wherever they stand.
pub(super) const PHRASES: [&str; 31] = [
    "can not be answered",
    "can not be determined",
    "can't answer",
    "can't be answered",
    "can't be determined",
    "cannot answer",
    "cannot be answered",
    "cannot be determined",
    "cannot determine",
    "cannot find",
    "could not find",
    "couldn't find",
    "do not have enough information",
    "do not know",
    "does not contain",
    "does not mention",
    "does not provide",
    "don't have enough information",
    "don't know",
    "insufficient information",
    "no answer",
    "no information",
    "not enough information",
    "not mentioned",
    "not provided",
    "not specified",
    "not stated",
    "unable to answer",
    "unable to determine",
    "unable to find",
    "unanswerable",
];

/// What refuses where it is all that is said: as a part of an answer it may be one.
const ALONE: [&str; 8] = ["n/a", "na", "nil", "none", "not applicable", "not available", "null", "unknown"];

/// How refusals are told from answers.
pub(super) enum Refusals {
    /// A phrase of these (in normal form, sorted) stands in the text as whole words, or the text is nothing but `none` or the
    /// like.
    Phrases(Vec<String>),
    /// As OpenViking's benchmark tells them ([`openviking_refuses`]).
    OpenViking,
}

impl Refusals {
    pub(super) fn of(phrases: &[String]) -> Self {
        let mut phrases: Vec<String> = phrases.iter().map(|phrase| normal_form(&straight(phrase))).collect();
        phrases.sort_unstable();
        Refusals::Phrases(phrases)
    }

    /// Whether `text` refuses. A blank one gives no answer, and so does.
    pub(super) fn refuses(&self, text: &str) -> bool {
        let Refusals::Phrases(phrases) = self else {
            return openviking_refuses(text);
        };
        let normal = normal_form(&straight(text));
        let bare = normal.trim_matches(|c: char| !is_alphanumeric(c));
        bare.is_empty() || ALONE.contains(&bare) || says(&normal, phrases)
    }
}

/// Whether `text`, in lower case, holds one of the phrases by which OpenViking's benchmark tells refusals (spec/openviking
/// 6.2). They are looked for inside words too: `nonetheless` refuses.
pub fn openviking_refuses(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["not mentioned", "no information", "cannot be answered", "none", "unknown", "don't know"]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

/// Whether `answer` refuses and any of `golds` does too: then OpenViking's benchmark takes it for right (spec/openviking 5.4).
pub(in crate::score) fn openviking_agrees(answer: &str, golds: &[String]) -> bool {
    openviking_refuses(answer) && golds.iter().any(|gold| openviking_refuses(gold))
}

fn straight(text: &str) -> Cow<'_, str> {
    if text.contains('’') { Cow::Owned(text.replace('’', "'")) } else { Cow::Borrowed(text) }
}

/// Whether one of `phrases`, which are sorted, is in `text` and neither starts nor ends inside a word.
fn says(text: &str, phrases: &[String]) -> bool {
    let starts_at = |rest: &str, first: u8| {
        let from = phrases.partition_point(|phrase| phrase.as_bytes().first() < Some(&first));
        let candidates = phrases.iter().skip(from).take_while(|phrase| phrase.as_bytes().first() == Some(&first));
        candidates
            .filter_map(|phrase| rest.strip_prefix(phrase.as_str()))
            .any(|after| !after.starts_with(is_alphanumeric))
    };
    let mut inside = false;
    text.char_indices().any(|(start, c)| {
        let rest = if inside { "" } else { text.get(start..).unwrap_or_default() };
        inside = is_alphanumeric(c);
        rest.as_bytes().first().is_some_and(|first| starts_at(rest, *first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_and_answers() {
        assert!(PHRASES.is_sorted());
        let refusals = Refusals::of(&PHRASES.map(str::to_string));
        for text in [
            "Not mentioned.",
            "I don’t know",
            "I do not\nknow that.",
            "Insufficient information",
            "INSUFFICIENT INFORMATION.",
            "The context does not mention her.",
            "None.",
            "N/A",
            "**Unknown**",
            "",
            " - ",
        ] {
            assert!(refusals.refuses(text), "{text:?}");
        }
        for text in ["None of the ships sank", "Nonetheless, it opened", "the unknowns were solved", "No", "noted", "0"]
        {
            assert!(!refusals.refuses(text), "{text:?}");
        }
        let own = Refusals::of(&["Weiß  ich NICHT".to_string()]);
        assert!(own.refuses("Das weiss ich nicht!") && !own.refuses("Not mentioned"));
    }
}
