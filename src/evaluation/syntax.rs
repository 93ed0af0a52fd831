//! What ends the reading of a file before its end.

use saphyr_parser::ScanError;

use super::node::Position;

/// What ends the reading.
pub(super) struct Stop {
    /// Where.
    pub at: Position,
    /// What was expected and found.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// What the parser has against `text`, with advice on the usual slips.
pub(super) fn syntax_fault(error: &ScanError, text: &str) -> Stop {
    let info = error.info();
    let mut at = Position::of(error.marker());
    // The parser points at what it was reading; the tab may be lines below.
    let tab = first_tab(text, at.line).filter(|tab| info.contains("tab") || tab.line == at.line);
    let hint = if let Some(tab) = tab {
        at = tab;
        Some("this line is indented with a tab; indent with spaces")
    } else if info.contains("mapping values are not allowed") {
        Some("put a text that contains `: ` in quotes, and check that keys of one mapping begin in one column")
    } else if info.contains("unknown anchor") {
        Some("an alias `*name` needs an anchor `&name` before it; put a text that begins with `*` in quotes")
    } else if info.contains("unexpected character") {
        Some("put a text that begins with a special character in quotes")
    } else if info.contains("recursion limit") {
        Some("an evaluation file needs no such depth")
    } else if info.contains("end of stream") || info.contains("unexpected eof") {
        Some("a quote or bracket that begins here is not closed")
    } else {
        None
    };
    Stop { at, message: format!("not valid YAML: {info}"), hint: hint.map(str::to_string) }
}

/// The first tab in the indentation of a line from `line` on.
fn first_tab(text: &str, line: u64) -> Option<Position> {
    (1..).zip(text.lines()).skip_while(|(number, _)| *number < line).find_map(|(line, text)| {
        let column = (1..).zip(text.chars().take_while(|c| *c == ' ' || *c == '\t')).find(|(_, c)| *c == '\t')?.0;
        Some(Position { line, column })
    })
}
