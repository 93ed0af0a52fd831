//! A document that is made line by line, and where in it each line stands.

use serde_json::{Value, json};

/// A stretch of a document, in Unicode code points, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    /// Where it starts.
    pub(super) start: u64,
    /// Where it ends.
    pub(super) end: u64,
}

/// Lines joined by LF, without one at the end.
#[derive(Debug, Default)]
pub(super) struct Rendering {
    text: String,
    characters: u64,
    begun: bool,
}

impl Rendering {
    /// Adds a line, which may itself hold line ends, and tells where it stands.
    pub(super) fn line(&mut self, line: &str) -> Span {
        if self.begun {
            self.text.push('\n');
            self.characters += 1;
        }
        self.begun = true;
        let start = self.characters;
        self.text.push_str(line);
        self.characters += line.chars().count() as u64;
        Span { start, end: self.characters }
    }

    /// Adds `prefix` and `text` as a line, and tells where the text stands.
    pub(super) fn prefixed(&mut self, prefix: &str, text: &str) -> Span {
        let Span { start, end } = self.line(&format!("{prefix}{text}"));
        Span { start: start + prefix.chars().count() as u64, end }
    }

    /// The document.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The value of a locator's `spans`.
pub(super) fn spans_json(spans: &[Span]) -> Value {
    spans.iter().map(|span| json!([span.start, span.end])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_characters() {
        let mut rendering = Rendering::default();
        let spans =
            [rendering.line("# Öl"), rendering.line(""), rendering.prefixed("## ", "二\n三"), rendering.line("x")];
        let text = rendering.into_text();
        assert_eq!(text, "# Öl\n\n## 二\n三\nx");
        let of = |span: Span| text.chars().skip(span.start as usize).take((span.end - span.start) as usize);
        assert_eq!(spans.map(|span| of(span).collect::<String>()), ["# Öl", "", "二\n三", "x"]);
        assert_eq!(spans_json(&spans[2..]), json!([[9, 12], [13, 14]]));
    }
}
