//! Financial answers as UDA-Benchmark's authors score them (spec/heta 12): the text after the last `The answer is:` against
//! each gold answer as a whole.

use super::uda_tail::tail;
use crate::score::squad_text::normalize;

/// Whether `answer` is `gold`: as numbers, where both are numbers and nothing else, they are less than 1 % of their mean
/// apart; otherwise in SQuAD's normal form they are the same.
pub(super) fn agrees(answer: &str, gold: &str) -> bool {
    let answer = tail(answer);
    match (number(answer), number(gold)) {
        (Some(a), Some(b)) => ((a - b).abs() / ((a + b) / 2.0 + 1e-9).abs()) < 0.01,
        _ => normalize(answer) == normalize(gold),
    }
}

/// The number that a text is, without currency signs, commas and scale words: a percent sign divides by 100, parentheses
/// negate, and four decimals are kept.
fn number(text: &str) -> Option<f64> {
    let mut bare: String = text.trim().trim_end_matches('.').to_lowercase();
    for word in ["thousand", "million", "billion"] {
        bare = bare.replace(word, "");
    }
    let percent = bare.contains('%') || bare.contains("percent");
    bare = bare.replace("percent", "");
    let negated = bare.contains('(') && bare.contains(')');
    bare.retain(|c| !c.is_whitespace() && !matches!(c, '$' | '€' | '£' | '¥' | ',' | '%' | '(' | ')'));
    // Rust reads `inf` and `nan` as numbers.
    let value: f64 =
        if bare.ends_with(|c: char| c.is_ascii_digit() || c == '.') { bare.parse().ok()? } else { return None };
    let value = if percent { value / 100.0 } else { value };
    let value = if negated { -value } else { value };
    Some((value * 1e4).round() / 1e4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        for (answer, gold) in [
            ("So... The answer is: $1,234.", "1234"),
            ("12.5%", "0.125"),
            ("(3.1) million", "-3.1"),
            ("100.9", "100"),
            ("The answer is: Yes.", "yes"),
            ("0", "0"),
        ] {
            assert!(agrees(answer, gold), "{answer} and {gold}");
        }
        for (answer, gold) in [("101.1", "100"), ("12.5", "0.125"), ("It is 1234", "1234"), ("-5", "5"), ("inf", "1")] {
            assert!(!agrees(answer, gold), "{answer} and {gold}");
        }
    }
}
