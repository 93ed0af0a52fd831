//! ROUGE as google-research's `rouge_score` computes it: what its measures share.
//!
//! # Tokens
//!
//! `tokens=ascii` (the default) are those of `rouge_score`: lower case, and then every run of a-z and 0-9 is a token; all
//! other letters are lost. `tokens=unicode` are runs of letters and numbers of any script with their marks, but every
//! Chinese character and every letter of the Japanese syllabaries by itself, for their words are not spaced.
//!
//! `stem=porter` stems tokens of more than three ASCII characters as `rouge_score` does (`porter.rs`).

use unicode_normalization::char::is_combining_mark;

use super::answer_evaluator::AnswerEvaluator;
use super::porter::stem;
use crate::artifact::{Json, Score, ScoreValue};
use crate::python::is_alphanumeric;
use crate::score::definition::{Parameter, ParameterKind};
use crate::score::evaluator::{CaseView, Evaluator, ResponseView};
use crate::score::identity::Identity;
use crate::score::plain_text::words;

pub(super) const CITATION: &str =
    "Lin. ROUGE: A Package for Automatic Evaluation of Summaries. Text Summarization Branches Out, ACL 2004.";

/// The options of every measure, sorted by name.
pub(super) const PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "beta",
        description: "how many times as much recall counts as precision",
        kind: ParameterKind::Real { min: 0.0, max: 100.0, default: 1.0 },
    },
    Parameter {
        name: "stem",
        description: "porter: words of more than three letters are stemmed (rouge_score: use_stemmer)",
        kind: ParameterKind::Choice(&["none", "porter"]),
    },
    Parameter {
        name: "tokens",
        description: "ascii: runs of a-z and 0-9, as rouge_score; unicode: letters and numbers of every script",
        kind: ParameterKind::Choice(&["ascii", "unicode"]),
    },
];

/// How many units (words of a common subsequence, n-grams) two texts share, and how many the answer and the gold answer
/// have.
pub(super) struct Shared {
    pub(super) shared: usize,
    pub(super) answer: usize,
    pub(super) gold: usize,
}

/// The evaluator of what `shared` finds in the tokens of answer and gold answer, for the gold answer with the best F.
pub(super) fn build(
    identity: Identity,
    shared: impl Fn(&[&str], &[&str]) -> Shared + Send + Sync + 'static,
) -> Box<dyn Evaluator> {
    let beta = identity.real("beta");
    let tokens = Tokens { stem: identity.is("stem", "porter"), unicode: identity.is("tokens", "unicode") };
    AnswerEvaluator::boxed(identity, move |case, response| Ok(evaluate(case, response, &tokens, beta, &shared)))
}

fn evaluate(
    case: &CaseView,
    response: &ResponseView,
    tokens: &Tokens,
    beta: f64,
    shared: &dyn Fn(&[&str], &[&str]) -> Shared,
) -> Score {
    let answer = tokens.spaced(response.answer.unwrap_or_default());
    let answer = words(&answer);
    let mut best: Option<(Agreement, &str)> = None;
    for gold in &case.gold.answers {
        let agreement = Agreement::of(&shared(&answer, &words(&tokens.spaced(gold))), beta);
        // Of equally good gold answers the first.
        if best.is_none_or(|(known, _)| agreement.f > known.f) {
            best = Some((agreement, gold));
        }
    }
    let Some((Agreement { precision, recall, f }, gold)) = best else {
        return Score::skipped("the case has no gold answers");
    };
    let mut detail = Json::new();
    detail.insert("best_answer".to_string(), gold.into());
    detail.insert("precision".to_string(), precision.into());
    detail.insert("recall".to_string(), recall.into());
    Score::scored(ScoreValue::Number(f), None, detail)
}

#[derive(Debug, Clone, Copy)]
struct Agreement {
    precision: f64,
    recall: f64,
    f: f64,
}

impl Agreement {
    /// F is (1 + beta²) P R / (R + beta² P); all are 0 where nothing is shared.
    fn of(shared: &Shared, beta: f64) -> Self {
        if shared.shared == 0 {
            return Agreement { precision: 0.0, recall: 0.0, f: 0.0 };
        }
        let precision = shared.shared as f64 / shared.answer as f64;
        let recall = shared.shared as f64 / shared.gold as f64;
        let square = beta * beta;
        Agreement { precision, recall, f: (1.0 + square) * precision * recall / (recall + square * precision) }
    }
}

struct Tokens {
    stem: bool,
    unicode: bool,
}

impl Tokens {
    /// The tokens of a text, one space apart.
    fn spaced(&self, text: &str) -> String {
        let mut spaced = String::with_capacity(text.len());
        let lower = if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() };
        if self.unicode && !lower.is_ascii() {
            self.put_unicode(&lower, &mut spaced);
        } else {
            lower.split(|c: char| !c.is_ascii_alphanumeric()).for_each(|token| self.put(token, &mut spaced));
        }
        spaced
    }

    fn put_unicode(&self, lower: &str, spaced: &mut String) {
        let of_token = |c: char| is_alphanumeric(c) || is_combining_mark(c);
        for run in lower.split(|c| !of_token(c)) {
            let mut start = 0;
            for (i, c) in run.char_indices().filter(|(_, c)| stands_alone(*c)) {
                let end = i + c.len_utf8();
                self.put(run.get(start..i).unwrap_or_default(), spaced);
                self.put(run.get(i..end).unwrap_or_default(), spaced);
                start = end;
            }
            self.put(run.get(start..).unwrap_or_default(), spaced);
        }
    }

    fn put(&self, token: &str, spaced: &mut String) {
        if token.is_empty() {
            return;
        }
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        if self.stem && token.len() > 3 && token.is_ascii() {
            spaced.push_str(&stem(token));
        } else {
            spaced.push_str(token);
        }
    }
}

/// Whether `c` is of a script that is written without spaces and read by the character: Han, Hiragana and Katakana.
fn stands_alone(c: char) -> bool {
    matches!(
        c,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fd}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{323af}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spaced(stem: bool, unicode: bool, text: &str) -> String {
        Tokens { stem, unicode }.spaced(text)
    }

    #[test]
    fn tokens_are_of_ascii_or_of_every_script() {
        assert_eq!(spaced(false, false, "The U.K.'s café, 3.5%"), "the u k s caf 3 5");
        assert_eq!(spaced(false, true, "The U.K.'s café, 3.5%"), "the u k s café 3 5");
        assert_eq!(spaced(false, true, "在2019年, Ｍotor der Flüsse"), "在 2019 年 ｍotor der flüsse");
        assert_eq!(spaced(true, false, "was running uses USED"), "was run use use");
    }
}
