//! The passages of a page.

use std::ops::Range;

use super::heading::Headings;
use super::options::{ChunkOptions, Splitter};
use super::tokenizer::{TokenizeError, Tokens};
use super::{packing, recursive, sentence, token};
use crate::artifact::Page;

/// A passage of a page: the text between two offsets, with no white space at either end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage<'a> {
    /// Start in the page's text, in Unicode code points.
    pub(super) start: u64,
    /// End (exclusive), in Unicode code points.
    pub(super) end: u64,
    /// Tokens of the page that the passage overlaps with.
    pub(super) tokens: u64,
    /// The path of headings above its start.
    pub(super) heading: Option<String>,
    /// The page's text from `start` to `end`.
    pub(super) text: &'a str,
}

/// Cuts `page` into passages, in order of their starts, which strictly increase, as do their ends.
///
/// Every character but white space is in at least one passage. (The reference system stops a page as soon as a window's
/// only boundary lies within the overlap, and loses the rest: spec/heta 6.1.) No passage has more than `options.size`
/// tokens, except a single range of `cl100k_base` tokens that end within characters, and except the last of a page or
/// section that `options.minimum` joined to what was shorter than that: it has less than `minimum` more, and the white space
/// between the two where a tokenizer counts that.
///
/// # Errors
/// When the page cannot be tokenized.
pub(super) fn passages<'a>(page: &'a Page, options: &ChunkOptions) -> Result<Vec<Passage<'a>>, TokenizeError> {
    let text = page.text.as_str();
    let tokens = options.tokenizer.tokens(text)?;
    let headings = Headings::of(text, &page.headings);
    let size = u64::from(options.size.max(1));
    let overlap = u64::from(options.overlap).min(size - 1);
    let minimum = u64::from(options.minimum).min(size);
    let regions = match options.splitter {
        Splitter::Heading => headings.sections(text, &tokens),
        Splitter::Token | Splitter::Sentence | Splitter::Recursive => vec![Range { start: 0, end: text.len() }],
    };
    let mut ranges = Vec::new();
    for region in regions {
        let cut = match options.splitter {
            Splitter::Token => token::windows(&tokens, region, size, overlap),
            Splitter::Sentence | Splitter::Heading => {
                packing::pack(&sentence::bounds(text, &tokens, region), &tokens, size, overlap)
            }
            Splitter::Recursive => {
                packing::pack(&recursive::bounds(text, &tokens, region, size), &tokens, size, overlap)
            }
        };
        ranges.extend(joined(trimmed(text, cut), &tokens, minimum));
    }
    Ok(with_offsets(text, ranges, &tokens, &headings))
}

/// The ranges of a region, the last of which has `minimum` tokens unless it is the only one: a shorter one is joined to the
/// one before it.
fn joined(mut ranges: Vec<Range<usize>>, tokens: &Tokens, minimum: u64) -> Vec<Range<usize>> {
    while ranges.len() > 1 && ranges.last().is_some_and(|last| tokens.count(last) < minimum) {
        let end = ranges.pop().map(|last| last.end);
        if let (Some(last), Some(end)) = (ranges.last_mut(), end) {
            last.end = end;
        }
    }
    ranges
}

/// The ranges without the white space at their ends. Of two that then begin together the longer one stays, and one that
/// then lies within the one before goes; neither loses a character.
fn trimmed(text: &str, ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut kept: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        let whole = text.get(range.clone()).unwrap_or_default();
        let start = range.start + (whole.len() - whole.trim_start().len());
        let end = start + whole.trim().len();
        if start == end || kept.last().is_some_and(|last| end <= last.end) {
            continue;
        }
        if kept.last().is_some_and(|last| last.start == start) {
            kept.pop();
        }
        kept.push(start..end);
    }
    kept
}

/// Counts characters from place to place, never back to the beginning.
struct CharacterCounter<'a> {
    text: &'a str,
    byte: usize,
    characters: u64,
}

impl CharacterCounter<'_> {
    /// The characters before byte `to`, which is not before the last one asked for.
    fn advance(&mut self, to: usize) -> u64 {
        self.characters += self.text.get(self.byte..to).map_or(0, |between| between.chars().count() as u64);
        self.byte = to;
        self.characters
    }
}

fn with_offsets<'a>(
    text: &'a str,
    ranges: Vec<Range<usize>>,
    tokens: &Tokens,
    headings: &Headings,
) -> Vec<Passage<'a>> {
    let mut starts = CharacterCounter { text, byte: 0, characters: 0 };
    let mut ends = CharacterCounter { text, byte: 0, characters: 0 };
    ranges
        .into_iter()
        .map(|range| Passage {
            start: starts.advance(range.start),
            end: ends.advance(range.end),
            tokens: tokens.count(&range),
            heading: headings.path(range.start).map(str::to_string),
            text: text.get(range).unwrap_or_default(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::options::Tokenizer;
    use super::*;
    use crate::artifact::Heading;

    const SPLITTERS: [Splitter; 4] = [Splitter::Token, Splitter::Sentence, Splitter::Heading, Splitter::Recursive];

    fn page(text: &str) -> Page {
        Page { index: 0, text: text.to_string(), headings: Vec::new() }
    }

    fn cut(text: &str, options: &ChunkOptions) -> Vec<(u64, u64, String)> {
        let page = page(text);
        let passages = passages(&page, options).expect("passages");
        passages.into_iter().map(|passage| (passage.start, passage.end, passage.text.to_string())).collect()
    }

    fn options(splitter: Splitter, tokenizer: Tokenizer, size: u32, overlap: u32) -> ChunkOptions {
        ChunkOptions { splitter, tokenizer, size, overlap, minimum: 0 }
    }

    #[test]
    fn no_tail_is_lost() {
        // spec/heta 6.1 (bug 7): the reference system gives [0,18) and [13,18) of the first text and nothing more.
        let text = "Alpha beta, gamma. Delta epsilon zeta eta theta iota kappa";
        assert_eq!(
            cut(text, &options(Splitter::Token, Tokenizer::Unicode, 20, 5)),
            [
                (0, 20, "Alpha beta, gamma. D".to_string()),
                (15, 35, "ma. Delta epsilon ze".to_string()),
                (30, 50, "on zeta eta theta io".to_string()),
                (45, 58, "ta iota kappa".to_string()),
            ]
        );
        assert_eq!(
            cut(text, &options(Splitter::Sentence, Tokenizer::Unicode, 20, 5)),
            [
                (0, 18, "Alpha beta, gamma.".to_string()),
                (19, 39, "Delta epsilon zeta e".to_string()),
                (34, 54, "eta eta theta iota k".to_string()),
                (49, 58, "ota kappa".to_string()),
            ]
        );
        let text = "no punctuation at all just words going on and on";
        let offsets = |splitter| {
            let cut = cut(text, &options(splitter, Tokenizer::Unicode, 16, 4));
            cut.into_iter().map(|(start, end, _)| (start, end)).collect::<Vec<_>>()
        };
        for splitter in SPLITTERS {
            assert_eq!(offsets(splitter), [(0, 16), (12, 28), (24, 40), (36, 48)]);
        }
    }

    #[test]
    fn a_short_last_passage_is_joined_to_the_one_before() {
        let texts = |splitter, size, overlap, minimum, text: &str| -> Vec<String> {
            let options = ChunkOptions { minimum, ..options(splitter, Tokenizer::Words, size, overlap) };
            cut(text, &options).into_iter().map(|(_, _, text)| text).collect()
        };
        let text = "One two. Three four five. Six. Seven eight.";
        for (minimum, last) in [(0, "Seven eight."), (2, "Seven eight."), (3, "Three four five. Six. Seven eight.")] {
            let found = texts(Splitter::Sentence, 4, 0, minimum, text);
            assert_eq!(found.last().map(String::as_str), Some(last), "{minimum}");
            assert_eq!(found[0], "One two.");
        }
        // With an overlap nothing is there twice.
        assert_eq!(texts(Splitter::Token, 3, 1, 3, "a b c d"), ["a b c d"]);
        assert_eq!(texts(Splitter::Token, 3, 2, 4, "a b c d e"), ["a b c", "b c d", "c d e"]);
        // What is the only passage stays; a minimum above the size counts as the size.
        assert_eq!(texts(Splitter::Token, 5, 0, 5, "a b"), ["a b"]);
        assert_eq!(texts(Splitter::Token, 2, 0, 9, "a b c"), ["a b c"]);
    }

    #[test]
    fn nothing_is_joined_across_a_heading() {
        let headings = vec![
            Heading { offset: 0, level: 1, title: "A".to_string() },
            Heading { offset: 16, level: 1, title: "B".to_string() },
        ];
        let page = Page { index: 0, text: "A\nOne two. Six.\nB\nx".to_string(), headings };
        let options = ChunkOptions { minimum: 3, ..options(Splitter::Heading, Tokenizer::Words, 3, 0) };
        let found = passages(&page, &options).expect("passages");
        let texts: Vec<(&str, u64)> = found.iter().map(|passage| (passage.text, passage.tokens)).collect();
        assert_eq!(texts, [("A\nOne two. Six.", 4), ("B\nx", 2)]);
    }

    #[test]
    fn headings_above_a_passage() {
        let page = Page {
            index: 0,
            text: "Intro words.\n# One\nFirst text.\n## Two\nSecond text.".to_string(),
            headings: vec![
                Heading { offset: 13, level: 1, title: "One".to_string() },
                Heading { offset: 31, level: 2, title: "Two".to_string() },
            ],
        };
        let found = |splitter| -> Vec<(String, Option<String>, u64)> {
            let options = options(splitter, Tokenizer::Words, 100, 0);
            let passages = passages(&page, &options).expect("passages");
            passages.into_iter().map(|p| (p.text.to_string(), p.heading, p.tokens)).collect()
        };
        assert_eq!(
            found(Splitter::Heading),
            [
                ("Intro words.".to_string(), None, 2),
                ("# One\nFirst text.".to_string(), Some("One".to_string()), 3),
                ("## Two\nSecond text.".to_string(), Some("One > Two".to_string()), 3),
            ]
        );
        assert_eq!(found(Splitter::Sentence), [(page.text.clone(), None, 8)]);
    }

    #[test]
    fn white_space_alone_is_no_passage() {
        for tokenizer in [Tokenizer::Words, Tokenizer::Unicode, Tokenizer::Cl100kBase] {
            for splitter in SPLITTERS {
                assert_eq!(cut(" \n\u{3000}\t ", &options(splitter, tokenizer, 2, 1)), []);
                assert_eq!(cut("", &options(splitter, tokenizer, 2, 1)), []);
            }
        }
    }

    /// Parts that texts are made of: several scripts, marks, emoji, line ends, long words and odd spaces.
    const PARTS: [&str; 34] = [
        "word",
        "Alpha",
        "beta,",
        "gamma.",
        "Dr.",
        "e.g.",
        "3.50",
        "\"Why?\"",
        "(yes)",
        "…",
        "—",
        "!!",
        "日本語",
        "東京。",
        "タワー",
        "한국어",
        "はい！",
        "元気？",
        "ไทย",
        "e\u{301}",
        "か\u{3099}",
        "👍🏽",
        "👩‍👩‍👧",
        "🏴\u{e0067}\u{e007f}",
        "\u{202f}",
        "\u{a0}",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\n\n",
        "\t",
        "Donaudampfschifffahrtsgesellschaftskapitän",
        "\u{2029}",
    ];

    fn text_of_parts() -> impl Strategy<Value = String> {
        let parts = proptest::sample::select(PARTS.as_slice());
        let spaced =
            (parts, any::<bool>()).prop_map(|(part, space)| if space { format!("{part} ") } else { part.into() });
        proptest::collection::vec(spaced, 0..60).prop_map(|parts| parts.concat())
    }

    fn any_text() -> impl Strategy<Value = String> {
        let characters = proptest::collection::vec(any::<char>(), 0..40);
        prop_oneof![4 => text_of_parts(), 1 => characters.prop_map(|characters| characters.into_iter().collect())]
    }

    fn any_options() -> impl Strategy<Value = ChunkOptions> {
        let splitter = proptest::sample::select(SPLITTERS.as_slice());
        let tokenizer = proptest::sample::select(vec![Tokenizer::Words, Tokenizer::Unicode, Tokenizer::Cl100kBase]);
        // Among them size 1, an overlap of size - 1, and overlaps that an evaluation file could not ask for.
        let minimum = prop_oneof![3 => Just(0u32), 3 => 0u32..14, 1 => Just(u32::MAX)];
        (splitter, tokenizer, 0u32..12, prop_oneof![0u32..14, Just(u32::MAX)], any::<bool>(), minimum).prop_map(
            |(splitter, tokenizer, size, overlap, most, minimum)| {
                let overlap = if most { size.saturating_sub(1) } else { overlap };
                ChunkOptions { splitter, tokenizer, size, overlap, minimum }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn passages_cover_the_page(
            text in any_text(),
            options in any_options(),
            headings in proptest::collection::vec((0u64..200, 1u8..=6), 0..5),
        ) {
            let title = "T".to_string();
            let headings = headings
                .into_iter()
                .map(|(offset, level)| Heading { offset, level, title: title.clone() })
                .collect();
            let page = Page { index: 0, text, headings };
            let characters: Vec<char> = page.text.chars().collect();
            let mut covered = vec![false; characters.len()];
            let mut before: Option<(u64, u64)> = None;
            let tokens = options.tokenizer.tokens(&page.text).expect("tokens");
            for passage in passages(&page, &options).expect("passages") {
                let (start, end) = (passage.start as usize, passage.end as usize);
                prop_assert_eq!(passage.text, characters[start..end].iter().collect::<String>());
                prop_assert_eq!(passage.text.trim(), passage.text);
                prop_assert!(!passage.text.is_empty());
                prop_assert!(before.is_none_or(|(start, end)| start < passage.start && end < passage.end));
                before = Some((passage.start, passage.end));
                let bytes = |characters: &[char]| characters.iter().map(|c| c.len_utf8()).sum::<usize>();
                let ranges = tokens.within(&(bytes(&characters[..start])..bytes(&characters[..end])));
                prop_assert_eq!(passage.tokens, tokens.before_range(ranges.end) - tokens.before_range(ranges.start));
                let size = u64::from(options.size.max(1));
                // A range of several tokens may be a passage of its own, whatever its size.
                let most = ranges.clone().map(|i| tokens.before_range(i + 1) - tokens.before_range(i)).max();
                // A blank has at most as many tokens as it has bytes.
                let blank = |c: &&char| c.is_whitespace();
                let blanks = characters[start..end].iter().filter(blank).map(|c| c.len_utf8() as u64).sum::<u64>();
                let joined = match u64::from(options.minimum).min(size) {
                    0 | 1 => 0,
                    // What is cut off at the ends of both may count between them.
                    minimum => minimum - 1 + blanks,
                };
                prop_assert!(passage.tokens <= size.max(most.unwrap_or(0)) + joined, "{:?}", passage);
                covered[start..end].fill(true);
            }
            for (i, c) in characters.iter().enumerate() {
                prop_assert!(covered[i] || c.is_whitespace(), "character {} ({:?}) of {:?} is lost", i, c, page.text);
            }
        }
    }
}
