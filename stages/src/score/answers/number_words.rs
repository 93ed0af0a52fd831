//! Whole numbers in English words, from 0 to 999: `five`, `twenty-one`, `two hundred and five`.

const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The number whose words `text` begins with, and how many bytes they take. `None` where there is none, and of an ordinal
/// (`twenty-first`).
pub(super) fn words_of_number(text: &[u8]) -> Option<(u32, usize)> {
    let (value, length) = below_hundred(text)?;
    let Some(end) = (value < 100).then(|| after(text, length, "hundred")).flatten() else {
        return Some((value, length));
    };
    let hundreds = 100 * value;
    let rest = after(text, end, "and").unwrap_or(end);
    let more = (text.get(rest) == Some(&b' ')).then(|| below_hundred(text.get(rest + 1..)?)).flatten();
    match more {
        // In `one hundred and two hundred` there are two numbers.
        Some((more, length)) if after(text, rest + 1 + length, "hundred").is_none() => {
            Some((hundreds + more, rest + 1 + length))
        }
        _ => Some((hundreds, end)),
    }
}

fn below_hundred(text: &[u8]) -> Option<(u32, usize)> {
    let first = word(text);
    if let Some(unit) = place(&UNITS, first) {
        return Some((unit, first.len()));
    }
    let tens = 10 * (place(&TENS, first)? + 2);
    let rest = text.get(first.len() + 1..).map(word).unwrap_or_default();
    match (text.get(first.len()), place(&UNITS, rest)) {
        (Some(b' ' | b'-'), Some(unit @ 1..=9)) => Some((tens + unit, first.len() + 1 + rest.len())),
        (Some(b'-'), _) if rest.ends_with(b"th") || ["first", "second", "third"].iter().any(|o| is(rest, o)) => None,
        _ => Some((tens, first.len())),
    }
}

/// Where `expected` ends, if it is the word after the space at `at`.
fn after(text: &[u8], at: usize, expected: &str) -> Option<usize> {
    let next = text.get(at..)?.strip_prefix(b" ").map(word)?;
    is(next, expected).then_some(at + 1 + next.len())
}

/// The letters and digits that `text` begins with.
fn word(text: &[u8]) -> &[u8] {
    text.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default()
}

fn is(word: &[u8], expected: &str) -> bool {
    word.eq_ignore_ascii_case(expected.as_bytes())
}

fn place(words: &[&str], found: &[u8]) -> Option<u32> {
    (0..).zip(words).find(|(_, word)| is(found, word)).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_where_they_end() {
        let read = |text: &str| words_of_number(text.as_bytes());
        assert_eq!(read("five"), Some((5, 4)));
        assert_eq!(read("Twenty-One of"), Some((21, 10)));
        assert_eq!(read("twenty one"), Some((21, 10)));
        assert_eq!(read("forty-year"), Some((40, 5)));
        assert_eq!(read("two hundred and five million"), Some((205, 20)));
        assert_eq!(read("nine hundred ninety-nine"), Some((999, 24)));
        assert_eq!(read("one hundred and two hundred"), Some((100, 11)));
        assert_eq!(read("one hundred and more"), Some((100, 11)));
        for other in ["", "fives", "five1", "tenth", "twenty-first", "thirty-fourth", "hundred", "a hundred", "often"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
