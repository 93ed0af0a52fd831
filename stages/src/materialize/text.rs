//! Plain text.

use super::parser::Parsed;
use crate::artifact::Page;

/// The text as it is, a page up to each form feed; the nothing after a last form feed is no page.
pub(super) fn parse(text: &str) -> Parsed {
    let mut texts: Vec<&str> = text.split('\u{c}').collect();
    if texts.len() > 1 && texts.last().is_some_and(|last| last.trim().is_empty()) {
        texts.pop();
    }
    let pages =
        (0..).zip(texts).map(|(index, text)| Page { index, text: text.to_string(), headings: Vec::new() }).collect();
    Parsed { pages, ..Parsed::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(text: &str) -> Vec<(u32, String)> {
        parse(text).pages.into_iter().map(|page| (page.index, page.text)).collect()
    }

    #[test]
    fn form_feeds_end_pages() {
        assert_eq!(pages("one"), [(0, "one".to_string())]);
        assert_eq!(
            pages("one\n\u{c}\u{c}three\u{c}\n"),
            [(0, "one\n".to_string()), (1, String::new()), (2, "three".to_string())]
        );
        assert_eq!(pages(""), [(0, String::new())]);
    }
}
