//! What stands in quotes, or as code between backticks.

use super::shape::{Shape, shape};
use super::stop_words::is_stop_word;
use super::word::words;

const PAIRS: [(char, char); 9] = [
    ('“', '”'),
    ('"', '"'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
    ('〈', '〉'),
    ('`', '`'),
    ('‘', '’'),
];

/// Most words of a quotation that is a name or term and not somebody's words.
const MOST_WORDS: usize = 6;
/// Most characters of one.
const MOST_CHARS: usize = 60;

/// The short quotations of a sentence, each with the byte at which it starts.
pub(super) fn quotations(sentence: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = sentence.get(at..) {
        let Some((offset, open)) = rest.char_indices().find(|(_, c)| PAIRS.iter().any(|(open, _)| open == c)) else {
            break;
        };
        let start = at + offset + open.len_utf8();
        at = start;
        let Some(close) = PAIRS.iter().find(|(known, _)| *known == open).map(|(_, close)| *close) else { continue };
        let Some(length) = sentence.get(start..).and_then(|rest| rest.find(close)) else { continue };
        let inside = sentence.get(start..start + length).unwrap_or_default();
        if is_named(inside) {
            found.push((start, inside.trim()));
        }
        at = start + length + close.len_utf8();
    }
    found
}

fn is_named(text: &str) -> bool {
    let words = words(text);
    let says = |word: &str| shape(word) != Shape::Plain || !is_stop_word(&word.to_lowercase());
    (1..=MOST_WORDS).contains(&words.len())
        && text.chars().count() <= MOST_CHARS
        && words.iter().any(|word| says(word.text))
        && !text.ends_with([',', '?', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_quotations_are_names() {
        let of = |text| quotations(text).into_iter().map(|(_, inside)| inside).collect::<Vec<_>>();
        assert_eq!(of("He read \"War and Peace\" and “Emma”."), ["War and Peace", "Emma"]);
        assert_eq!(of("Set `cache_dir` to `x y`; see 《红楼梦》"), ["cache_dir", "x y", "红楼梦"]);
        assert_eq!(of("\"No,\" she said, \"I will not go there with you now\""), Vec::<&str>::new());
        assert_eq!(of("5\" wide"), Vec::<&str>::new());
        assert_eq!(quotations("é “Emma”"), [(6, "Emma")]);
    }
}
