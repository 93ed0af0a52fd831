//! Numbers as TAT-QA's script, and UDA-Benchmark's after it, reads them (`finance_utils.py`): simpler than `number_reader.rs`, and
//! kept for the sake of the numbers that others report.

/// Signs that are nothing within a number.
const PASSED_OVER: &str = "'\"\\$€£¥%(),[]";

/// Whether the first word of `text` is a number once the signs around it are gone: `$(1,234) million` is one.
pub(super) fn is_number(text: &str) -> bool {
    let cleaned = cleaned(text);
    let first = cleaned.split_whitespace().next().unwrap_or_default();
    // Rust and Python read `inf` and `nan` as numbers, which are words here.
    first.contains(|c: char| c.is_ascii_digit())
        && first.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && first.parse::<f64>().is_ok()
}

/// The first number of `text`, to four decimals: a percent sign behind digits divides by 100, digits alone in parentheses are
/// negative, and the word behind the first digits scales.
pub(super) fn to_number(text: &str) -> Option<f64> {
    number(text, scale_of(&word_behind_digits(text).unwrap_or_default()))
}

/// The same, whatever word is behind it.
pub(super) fn unscaled(text: &str) -> Option<f64> {
    number(text, 1.0)
}

fn number(text: &str, scale: f64) -> Option<f64> {
    let mut value = first_number(&cleaned(text))? * scale;
    if digits_in_parentheses(text) {
        value = -value;
    }
    if text.match_indices('%').any(|(at, _)| text.get(..at).is_some_and(|before| before.ends_with(in_percentage))) {
        value *= 0.01;
    }
    Some(rounded(value, 4))
}

/// What a scale word multiplies by; 1 where there is none.
pub(super) fn scale_of(word: &str) -> f64 {
    let word = word.to_lowercase();
    let scales = [("hundred", 1e2), ("thousand", 1e3), ("million", 1e6), ("billion", 1e9), ("percent", 0.01)];
    scales.into_iter().find(|(scale, _)| word.contains(scale)).map_or(1.0, |(_, factor)| factor)
}

/// `value` to so many decimals, by its exact value as Python rounds: 0.975 is a little less and becomes 0.97. Minus zero is zero.
pub(super) fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().map_or(value, |rounded: f64| rounded + 0.0)
}

fn cleaned(text: &str) -> String {
    text.chars().filter(|c| !PASSED_OVER.contains(*c)).collect()
}

/// The first number, with a sign and decimals where it has them.
fn first_number(text: &str) -> Option<f64> {
    let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let start = (0..text.len()).find(|&at| digit(at))?;
    let mut end = start;
    while digit(end) {
        end += 1;
    }
    if text.as_bytes().get(end) == Some(&b'.') && digit(end + 1) {
        end += 1;
        while digit(end) {
            end += 1;
        }
    }
    let before = text.get(..start)?;
    let start = if before.ends_with('.') { start - 1 } else { start };
    let before = text.get(..start)?;
    let start = if before.ends_with(['+', '-']) { start - 1 } else { start };
    text.get(start..end)?.parse().ok()
}

fn in_percentage(c: char) -> bool {
    c.is_ascii_digit() || c == '.' || c.is_whitespace()
}

/// Whether somewhere digits, points and blanks alone are in parentheses. Commas are not among them, so `(1,234)` is positive, as
/// in the script.
fn digits_in_parentheses(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let within = text.get(at + 1..).and_then(|after| after.split_once(')')).map_or("", |(within, _)| within);
        !within.is_empty() && within.chars().all(in_percentage)
    })
}

/// The letters behind the first digits that have some, with at most one blank between.
fn word_behind_digits(text: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let start = rest.find(|c: char| c.is_ascii_digit() || c == '.')?;
        let after = rest.get(start..)?.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let behind = after.strip_prefix(|c: char| c.is_whitespace()).unwrap_or(after);
        let word: String = behind.chars().take_while(char::is_ascii_alphabetic).collect();
        if !word.is_empty() {
            return Some(word);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_script() {
        for (text, number) in [
            ("88", 88.0),
            ("$1,234.5", 1234.5),
            ("-3.10", -3.1),
            (".5", 0.5),
            ("-.5", -0.5),
            ("12.5%", 0.125),
            ("12.5 %", 0.125),
            ("(134)", -134.0),
            ("(1,234)", 1234.0),
            ("$(9,982)", 9982.0),
            ("5 million", 5e6),
            ("1,234 Thousand dollars", 1_234_000.0),
            ("12.5 percent", 0.125),
            ("3 of 5 million", 3.0),
            ("2019 and 2018", 2019.0),
            ("0.33333", 0.3333),
        ] {
            assert!(is_number(text), "{text}");
            assert_eq!(to_number(text), Some(number), "{text}");
        }
        for text in ["", "about 5", "inf", "nan", "Q3", "-", "1.2.3", "%", "five", "2.5billion"] {
            assert!(!is_number(text), "{text}");
        }
        // What does not begin with a number may hold one.
        assert_eq!((to_number("about 5"), to_number("2.5billion")), (Some(5.0), Some(2.5e9)));
        assert_eq!(to_number("none"), None);
        assert_eq!(
            (unscaled("5 million"), unscaled("12.5 percent"), unscaled("12.5%")),
            (Some(5.0), Some(12.5), Some(0.125))
        );
    }
    #[test]
    fn rounding_is_pythons() {
        for (value, decimals, expected) in [
            (0.975, 2, 0.97),
            (0.125, 2, 0.12),
            (0.375, 2, 0.38),
            (2.675, 2, 2.67),
            (-0.00001, 4, 0.0),
            (1e300, 4, 1e300),
        ] {
            assert_eq!(rounded(value, decimals).to_bits(), f64::to_bits(expected), "{value}");
        }
    }
}
