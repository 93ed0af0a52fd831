//! The renderings for people: templates and the engine that fills them.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};
use ragstage_cache::Digest;
use serde::Serialize;

const HTML: &str = include_str!("templates/report.html");
const MARKDOWN: &str = include_str!("templates/report.md");
const STYLE: &str = include_str!("templates/style.css");
const SORT: &str = include_str!("templates/sort.js");

/// A rendering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    /// One file without external resources; all data is escaped.
    Html,
    /// GitHub's Markdown.
    Markdown,
}

impl Page {
    /// Digest of all templates: a page is a function of these too.
    pub(super) fn templates() -> Digest {
        Digest::of_parts("ragstage.report.templates", [HTML, MARKDOWN, STYLE, SORT].map(str::as_bytes))
    }

    /// The page that shows `view`.
    pub(super) fn render(self, view: impl Serialize) -> Result<Vec<u8>, Error> {
        let mut environment = Environment::new();
        let syntax =
            SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
        environment.set_syntax(syntax);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(move |_| match self {
            Page::Html => AutoEscape::Html,
            Page::Markdown => AutoEscape::None,
        });
        environment.add_filter("cell", cell);
        environment.add_global("style", Value::from_safe_string(STYLE.to_string()));
        environment.add_global("sort", Value::from_safe_string(SORT.to_string()));
        let source = match self {
            Page::Html => HTML,
            Page::Markdown => MARKDOWN,
        };
        Ok(environment.render_str(source, Serde(view))?.into_bytes())
    }
}

/// A text as the content of a Markdown table cell: on one line, and nothing in it is markup.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '|' | '`' | '*' | '[' | ']' => cell.extend(['\\', character]),
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            character if character.is_control() => cell.push(' '),
            character => cell.push(character),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_no_markup() {
        assert_eq!(cell("a|b\n<i>`x`"), "a\\|b &lt;i>\\`x\\`");
        assert_eq!(cell("P(rel=2)@5"), "P(rel=2)@5");
    }
}
