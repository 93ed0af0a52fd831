//! Scripts written without blanks: which characters they have and how a run of them is searched.

/// Whether `c` is a Han ideograph, kana, bopomofo or Hangul, i.e. of a run that is indexed as bigrams.
///
/// Ranges are of Unicode 16, blocks `CJK`, `Hiragana`, `Katakana`, `Bopomofo`, `Hangul` without their punctuation.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11FF                       // Hangul jamo
        | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035 | 0x303B // iteration marks, Hangzhou numerals
        | 0x3041..=0x3096 | 0x3099..=0x309A | 0x309D..=0x309F // hiragana
        | 0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF // katakana
        | 0x3105..=0x312F | 0x31A0..=0x31BF   // bopomofo
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF // ideographs
        | 0xA960..=0xA97F | 0xAC00..=0xD7A3 | 0xD7B0..=0xD7FB // Hangul
        | 0x1AFF0..=0x1B16F                   // kana supplements
        | 0x20000..=0x3FFFD                   // ideographs of planes 2 and 3
    )
}

/// Visits the overlapping bigrams of `run`; a run of one character is visited as it is.
pub(super) fn bigrams(run: &str, mut visit: impl FnMut(&str)) {
    let mut previous = None;
    let mut start = 0;
    let mut count = 0usize;
    for (at, c) in run.char_indices() {
        count += 1;
        let end = at + c.len_utf8();
        if previous.is_some()
            && let Some(pair) = run.get(start..end)
        {
            visit(pair);
        }
        previous = Some(c);
        start = at;
    }
    if count == 1 {
        visit(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(run: &str) -> Vec<String> {
        let mut pairs = Vec::new();
        bigrams(run, |pair| pairs.push(pair.to_string()));
        pairs
    }

    #[test]
    fn runs_become_overlapping_pairs() {
        assert_eq!(of("红色狐狸"), ["红色", "色狐", "狐狸"]);
        assert_eq!(of("茶"), ["茶"]);
        assert_eq!(of("한국어"), ["한국", "국어"]);
        assert!(of("").is_empty());
    }

    #[test]
    fn only_letters_of_these_scripts_count() {
        assert!("漢あカー한㐀々".chars().all(is_cjk));
        assert!("aé1。、・ ".chars().all(|c| !is_cjk(c)));
    }
}
