//! The words of a sentence.

use super::script::{Script, script_of};

/// A word, or a run of characters of a script that is written without blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// The characters.
    pub(super) text: &'a str,
    /// Where it starts in the sentence, in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Its script.
    pub(super) script: Script,
}

/// The words of `sentence` in reading order. `top-k`, `Smith's`, `AT&T` and `3.5` are one word each.
pub(super) fn words(sentence: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let characters: Vec<(usize, char)> = sentence.char_indices().collect();
    let mut open: Option<(usize, Script)> = None;
    let mut close = |open: &mut Option<(usize, Script)>, end: usize| {
        if let Some((start, script)) = open.take()
            && let Some(text) = sentence.get(start..end)
        {
            words.push(Word { text, start, end, script });
        }
    };
    for (i, (at, c)) in characters.iter().enumerate() {
        let script = match (script_of(*c), open) {
            (None, Some((_, Script::Spaced))) if matches!(c, '-' | '\'' | '’' | '.' | '&') => {
                let before = i.checked_sub(1).and_then(|i| characters.get(i)).is_some_and(|(_, c)| c.is_alphanumeric());
                let after = characters.get(i + 1).and_then(|(_, c)| script_of(*c)) == Some(Script::Spaced);
                (before && after).then_some(Script::Spaced)
            }
            (script, _) => script,
        };
        if open.map(|(_, script)| script) != script {
            close(&mut open, *at);
            open = script.map(|script| (*at, script));
        }
    }
    close(&mut open, sentence.len());
    words
}

/// What stands between two words.
pub(super) fn gap<'a>(sentence: &'a str, before: &Word<'_>, after: &Word<'_>) -> &'a str {
    sentence.get(before.end..after.start).unwrap_or_default()
}

/// Whether nothing but blanks stands between two words.
pub(super) fn adjacent(sentence: &str, before: &Word<'_>, after: &Word<'_>) -> bool {
    let gap = gap(sentence, before, after);
    !gap.is_empty() && gap.chars().all(|c| c == ' ' || c == '\t' || c == '\u{a0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sentence: &str) -> Vec<&str> {
        words(sentence).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_stand_apart_or_change_script() {
        assert_eq!(
            of("AT&T's top-k is 3.5, (U.S.) a_b -x- e.g."),
            ["AT&T's", "top-k", "is", "3.5", "U.S", "a_b", "x", "e.g"]
        );
        assert_eq!(of("使用BM25检索。"), ["使用", "BM25", "检索"]);
        assert_eq!(of("東京タワーは高い"), ["東京", "タワー", "は", "高", "い"]);
        assert_eq!(of("서울은 크다"), ["서울은", "크다"]);
        assert!(of(" ... ").is_empty());
    }
}
