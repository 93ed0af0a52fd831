//! The `recursive` splitter: paragraphs where they fit, else their lines, else the sentences of these.

use std::ops::Range;

use super::sentence;
use super::tokenizer::Tokens;

/// What a text is cut at, coarsest first. What is finer than a sentence is cut by tokens, where pieces are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// After a blank line, and after U+2029.
    Paragraph,
    /// After a line break.
    Line,
    /// At the end of a sentence.
    Sentence,
}

impl Level {
    fn finer(self) -> Option<Level> {
        match self {
            Level::Paragraph => Some(Level::Line),
            Level::Line => Some(Level::Sentence),
            Level::Sentence => None,
        }
    }
}

/// Where the pieces of `region` (bytes) begin, and where the last one ends, in order and without repeats: the largest
/// pieces that have at most `size` tokens, or sentences that have more.
pub(super) fn bounds(text: &str, tokens: &Tokens, region: Range<usize>, size: u64) -> Vec<usize> {
    let mut bounds = Vec::new();
    let end = region.end;
    cut(text, tokens, region, size, Level::Paragraph, &mut bounds);
    bounds.push(end);
    bounds.dedup();
    bounds
}

/// Adds where the pieces of `region` begin. A level's pieces cover the region, so no level loses a character.
fn cut(text: &str, tokens: &Tokens, region: Range<usize>, size: u64, level: Level, bounds: &mut Vec<usize>) {
    if tokens.count(&region) <= size {
        bounds.push(region.start);
        return;
    }
    let ends = match level {
        Level::Paragraph => line_ends(text, tokens, &region, true),
        Level::Line => line_ends(text, tokens, &region, false),
        Level::Sentence => sentence::bounds(text, tokens, region.clone()),
    };
    let mut start = region.start;
    for end in ends.into_iter().chain([region.end]) {
        if end > start {
            match level.finer() {
                Some(finer) => cut(text, tokens, start..end, size, finer, bounds),
                None => bounds.push(start),
            }
            start = end;
        }
    }
}

/// Where the lines of `region` end, or only those of them that end a paragraph: the last of blank lines, and what U+2029
/// closes. Blank lines belong to the line before them. An end within a token moves out of it.
fn line_ends(text: &str, tokens: &Tokens, region: &Range<usize>, paragraphs: bool) -> Vec<usize> {
    let within = text.get(region.clone()).unwrap_or_default();
    let blank = |line: &str| line.trim().is_empty();
    let mut ends = Vec::new();
    let mut lines = within.split_inclusive(is_line_break).peekable();
    let mut end = region.start;
    while let Some(line) = lines.next() {
        end += line.len();
        // The two characters of CRLF are one line break.
        if line.ends_with('\r') && lines.peek() == Some(&"\n") {
            end += 1;
            lines.next();
        }
        let closes = line.ends_with('\u{2029}');
        let before_text = lines.peek().is_some_and(|next| !blank(next));
        if closes || (before_text && (!paragraphs || blank(line))) {
            ends.push(tokens.out_of_token(text, end).clamp(region.start, region.end));
        }
    }
    ends
}

/// The characters after which Unicode (UAX 14, class BK, CR, LF, NL) always breaks a line, but form feed and vertical tab.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::super::options::Tokenizer;
    use super::super::packing::pack;
    use super::*;

    fn pieces(text: &str, size: u64) -> Vec<&str> {
        let tokens = Tokenizer::Words.tokens(text).expect("tokens");
        bounds(text, &tokens, 0..text.len(), size).windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
    }

    fn cut(text: &str, size: u64, overlap: u64) -> Vec<&str> {
        let tokens = Tokenizer::Words.tokens(text).expect("tokens");
        let bounds = bounds(text, &tokens, 0..text.len(), size);
        pack(&bounds, &tokens, size, overlap).into_iter().map(|passage| &text[passage]).collect()
    }

    const TEXT: &str = "One two.\n\nThree four. Five six.\nSeven eight nine. Ten\n \n\nA b c d e f g.";

    #[test]
    fn pieces_are_the_largest_that_fit() {
        assert_eq!(pieces(TEXT, 20), [TEXT]);
        assert_eq!(
            pieces(TEXT, 8),
            ["One two.\n\n", "Three four. Five six.\nSeven eight nine. Ten\n \n\n", "A b c d e f g."]
        );
        assert_eq!(
            pieces(TEXT, 7),
            ["One two.\n\n", "Three four. Five six.\n", "Seven eight nine. Ten\n \n\n", "A b c d e f g."]
        );
        assert_eq!(
            pieces(TEXT, 3),
            [
                "One two.\n\n",
                "Three four. ",
                "Five six.\n",
                "Seven eight nine. ",
                "Ten\n",
                " \n", // each line break ends a sentence
                "\n",
                "A b c d e f g.", // cut by tokens when it is packed
            ]
        );
    }

    #[test]
    fn pieces_are_packed_greedily() {
        assert_eq!(
            cut(TEXT, 7, 0),
            ["One two.\n\nThree four. Five six.\n", "Seven eight nine. Ten\n \n\n", "A b c d e f g."]
        );
        assert_eq!(
            cut(TEXT, 3, 0),
            [
                "One two.\n\n",
                "Three four. ",
                "Five six.\n",
                "Seven eight nine. ",
                "Ten\n \n\n",
                "A b c ",
                "d e f ",
                "g."
            ]
        );
        assert_eq!(cut("a b.\n\nc.\n\nd e.", 3, 1), ["a b.\n\nc.\n\n", "c.\n\nd e."]);
    }

    #[test]
    fn every_kind_of_line_break_counts() {
        assert_eq!(pieces("a b\r\nc d\re f\u{85}g h\u{2028}i", 2).len(), 5);
        assert_eq!(pieces("a b\r\n\r\nc d", 2), ["a b\r\n\r\n", "c d"]);
        assert_eq!(pieces("a b\u{2029}c d", 2), ["a b\u{2029}", "c d"]);
    }
}
