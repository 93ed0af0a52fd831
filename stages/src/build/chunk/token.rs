//! The `token` splitter: windows of tokens.

use std::ops::Range;

use super::tokenizer::Tokens;

/// Cuts `region` (bytes) into windows of at most `size` tokens, each of which repeats at most `overlap` tokens of the one
/// before. A cut is right before a token, so the windows cover the region.
///
/// A range that counts for more than `size` tokens (a character of several tokens) is a window of its own. Windows advance
/// by at least one token, whatever `overlap` is.
pub(super) fn windows(tokens: &Tokens, region: Range<usize>, size: u64, overlap: u64) -> Vec<Range<usize>> {
    let within = tokens.within(&region);
    let mut windows = Vec::new();
    let mut first = within.start;
    let mut start = region.start;
    loop {
        let full = tokens.last_with_before(tokens.before_range(first).saturating_add(size));
        let last = full.max(first + 1);
        if last >= within.end {
            windows.push(start..region.end);
            return windows;
        }
        windows.push(start..tokens.start(last));
        let repeated = tokens.first_with_before(tokens.before_range(last).saturating_sub(overlap));
        first = repeated.clamp(first + 1, last);
        start = tokens.start(first);
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Tokenizer;
    use super::*;

    fn cut(text: &str, size: u64, overlap: u64) -> Vec<&str> {
        let tokens = Tokenizer::Words.tokens(text).expect("tokens");
        windows(&tokens, 0..text.len(), size, overlap).into_iter().map(|window| &text[window]).collect()
    }

    #[test]
    fn windows_cover_and_overlap() {
        assert_eq!(cut("(a b, c d e.", 2, 0), ["(a b, ", "c d ", "e."]);
        assert_eq!(cut("a b c d e", 3, 1), ["a b c ", "c d e"]);
        assert_eq!(cut("a b c d", 3, 2), ["a b c ", "b c d"]);
        assert_eq!(cut("a b c", 1, 0), ["a ", "b ", "c"]);
        assert_eq!(cut("a b c", 9, 3), ["a b c"]);
    }

    #[test]
    fn an_overlap_of_the_size_or_more_still_advances() {
        assert_eq!(cut("a b c d", 2, 2), ["a b ", "b c ", "c d"]);
        assert_eq!(cut("a b c", 1, 7), ["a ", "b ", "c"]);
    }

    #[test]
    fn a_character_of_several_tokens_is_not_cut() {
        let text = "ab\u{e0067}cd";
        let tokens = Tokenizer::Cl100kBase.tokens(text).expect("tokens");
        let cut: Vec<&str> = windows(&tokens, 0..text.len(), 1, 0).into_iter().map(|window| &text[window]).collect();
        assert_eq!(cut, ["ab", "\u{e0067}", "cd"]);
    }

    #[test]
    fn a_region_without_tokens_is_one_window() {
        assert_eq!(cut("", 3, 1), [""]);
        assert_eq!(cut("  \n", 3, 1), ["  \n"]);
    }
}
