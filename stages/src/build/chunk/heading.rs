//! Headings: the sections of a page, and the path of headings above a place.

use std::ops::Range;

use super::tokenizer::Tokens;
use crate::artifact::Heading;

/// A heading's place in a page, and the path of headings that is open from there on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// Bytes before the heading's line.
    byte: usize,
    path: Option<String>,
}

/// The headings of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Headings {
    /// In text order.
    places: Vec<Place>,
}

impl Headings {
    /// The headings of `text`. One beyond its end is above nothing and is left out.
    pub(super) fn of(text: &str, headings: &[Heading]) -> Self {
        let mut in_order: Vec<&Heading> = headings.iter().collect();
        in_order.sort_by_key(|heading| heading.offset);
        let mut characters = (0u64..).zip(text.char_indices());
        let mut open: Vec<&Heading> = Vec::new();
        let mut places = Vec::with_capacity(in_order.len());
        let mut here = characters.next();
        for heading in in_order {
            while here.is_some_and(|(offset, _)| offset < heading.offset) {
                here = characters.next();
            }
            let Some((_, (byte, _))) = here else { break };
            while open.last().is_some_and(|above| above.level >= heading.level) {
                open.pop();
            }
            open.push(heading);
            let titles: Vec<&str> = open.iter().map(|h| h.title.trim()).filter(|title| !title.is_empty()).collect();
            places.push(Place { byte, path: (!titles.is_empty()).then(|| titles.join(" > ")) });
        }
        Headings { places }
    }

    /// The path of headings above byte `at`: `A > B`, outermost first. A heading is above its own line.
    pub(super) fn path(&self, at: usize) -> Option<&str> {
        let i = self.places.partition_point(|place| place.byte <= at).checked_sub(1)?;
        self.places.get(i)?.path.as_deref()
    }

    /// The sections of `text`: what is before the first heading, and then a range from each heading to the next.
    pub(super) fn sections(&self, text: &str, tokens: &Tokens) -> Vec<Range<usize>> {
        let mut sections = Vec::with_capacity(self.places.len() + 1);
        let mut start = 0;
        for place in &self.places {
            let end = tokens.out_of_token(text, place.byte);
            if end > start {
                sections.push(start..end);
                start = end;
            }
        }
        if text.len() > start {
            sections.push(start..text.len());
        }
        sections
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Tokenizer;
    use super::*;

    fn heading(offset: u64, level: u8, title: &str) -> Heading {
        Heading { offset, level, title: title.to_string() }
    }

    #[test]
    fn paths_and_sections() {
        let text = "é\nA\nx\nB\ny\nC\nz\nD\n";
        let given =
            [heading(2, 1, "A"), heading(6, 3, "B"), heading(10, 2, "C"), heading(14, 1, "D"), heading(99, 1, "-")];
        let headings = Headings::of(text, &given);
        let tokens = Tokenizer::Words.tokens(text).expect("tokens");
        let sections: Vec<(&str, Option<&str>)> = headings
            .sections(text, &tokens)
            .into_iter()
            .map(|section| (&text[section.clone()], headings.path(section.start)))
            .collect();
        assert_eq!(
            sections,
            [
                ("é\n", None),
                ("A\nx\n", Some("A")),
                ("B\ny\n", Some("A > B")),
                ("C\nz\n", Some("A > C")),
                ("D\n", Some("D")),
            ]
        );
        assert_eq!(headings.path(5), Some("A"));
    }

    #[test]
    fn a_page_without_headings_is_one_section() {
        let tokens = Tokenizer::Words.tokens("a b").expect("tokens");
        assert_eq!(Headings::of("a b", &[]).sections("a b", &tokens), vec![Range { start: 0, end: 3 }]);
        assert_eq!(Headings::default().path(1), None);
        assert_eq!(Headings::of("a b", &[heading(0, 1, "")]).path(2), None);
    }
}
