//! The title of a heading.

/// A title is copied into each chunk below it, so a paragraph that is marked up as a heading is cut.
const LONGEST: usize = 200;

/// The title that `words` make: one space between words, at most 200 characters and `…`.
pub(super) fn heading_title(words: &str) -> String {
    let mut title = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = title.char_indices().nth(LONGEST) {
        title.truncate(at);
        title.truncate(title.trim_end().len());
        title.push('…');
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_titles_are_cut() {
        assert_eq!(heading_title(" One\n two "), "One two");
        let whole = "é".repeat(200);
        assert_eq!(heading_title(&whole), whole);
        assert_eq!(heading_title(&format!("{whole}x")), format!("{whole}…"));
        assert_eq!(heading_title(&"a ".repeat(100_000)).chars().count(), 200);
    }
}
