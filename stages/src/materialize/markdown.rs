//! Markdown: the text as it is, with its headings.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::heading_title::heading_title;
use super::parser::Parsed;
use crate::artifact::{Heading, Page};

/// One page of verbatim text. Headings are those of CommonMark (ATX and setext), front matter is none; the title is the
/// first heading of level 1.
pub(super) fn parse(text: &str) -> Parsed {
    let headings = headings(text);
    let title = headings.iter().find(|heading| heading.level == 1).map(|heading| heading.title.clone());
    Parsed { title, pages: vec![Page { index: 0, text: text.to_string(), headings }], encoding: None }
}

/// The headings that have words.
fn headings(text: &str) -> Vec<Heading> {
    let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_TABLES;
    let mut headings = Vec::new();
    let mut open: Option<(usize, u8)> = None;
    let mut words = String::new();
    // Headings come in order, so characters are counted once from heading to heading.
    let (mut counted, mut characters) = (0usize, 0u64);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                open = Some((range.start, level as u8));
                words.clear();
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((start, level)) = open.take() else { continue };
                let title = heading_title(&words);
                if title.is_empty() {
                    continue;
                }
                let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
                characters += text.get(counted..line).map_or(0, |between| between.chars().count() as u64);
                counted = counted.max(line);
                headings.push(Heading { offset: characters, level, title });
            }
            Event::Text(part) | Event::Code(part) if open.is_some() => words.push_str(&part),
            Event::SoftBreak | Event::HardBreak if open.is_some() => words.push(' '),
            _ => {}
        }
    }
    headings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u64, u8, String)> {
        headings(text).into_iter().map(|heading| (heading.offset, heading.level, heading.title)).collect()
    }

    #[test]
    fn atx_and_setext_outside_code() {
        let text =
            "é preamble\n\n# One *two* `three` #\n\n```\n# no heading\n```\n\nSet\next\n---\n\n  ## Four\n#hash\n";
        assert_eq!(
            found(text),
            [(12, 1, "One two three".to_string()), (57, 2, "Set ext".to_string()), (70, 2, "Four".to_string())]
        );
        for (offset, _, _) in found(text) {
            let line: String = text.chars().skip(offset as usize).take_while(|&c| c != '\n').collect();
            assert!(["# One *two* `three` #", "Set", "  ## Four"].contains(&line.as_str()), "{line}");
        }
    }

    #[test]
    fn text_is_kept_and_the_first_top_heading_is_the_title() {
        let text = "---\nname: x\n---\n\n## Before\n\n# Title\n\n# Second\n";
        let parsed = parse(text);
        assert_eq!(parsed.pages[0].text, text);
        assert_eq!(parsed.title.as_deref(), Some("Title"));
        assert_eq!(parsed.pages[0].headings.len(), 3);
    }

    #[test]
    fn a_heading_as_long_as_a_book_has_a_short_title() {
        let parsed = parse(&format!("{}===\n\ntext\n", "a\n".repeat(100_000)));
        assert_eq!(parsed.pages[0].headings[0].title, parsed.title.expect("title"));
        assert_eq!(parsed.pages[0].headings[0].title.chars().count(), 200);
    }

    #[test]
    fn headings_without_words_do_not_count() {
        assert_eq!(found("#\n\ntext\n"), []);
        assert_eq!(parse("").pages.len(), 1);
    }
}
