//! What is wrong with an evaluation file, where, and what to do about it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use ragstage_stages::error::Place;

use super::node::Position;

/// How many characters of a source line are shown around the fault.
const SHOWN_CHARS: usize = 100;

/// One fault of an evaluation file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub place: Place,
    /// The element, e.g. `recipes[0].chunk.size`; empty for the file as a whole.
    pub path: String,
    /// What was expected and what was found, as a lower-case fragment.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// The fault as text of several lines: place and message, the line of `source` with a caret, the hint.
    pub fn render(&self, source: &str) -> String {
        let mut out = self.to_string();
        if let (Some(line), Some(column)) = (self.place.line, self.place.column) {
            let text = usize::try_from(line - 1).ok().and_then(|line| source.lines().nth(line));
            if let Some(text) = text {
                let (shown, caret) = excerpt(text, usize::try_from(column).unwrap_or(1).saturating_sub(1));
                let number = line.to_string();
                out += &format!("\n  {number} | {shown}\n  {} | {caret}^", " ".repeat(number.len()));
            }
        }
        if let Some(hint) = &self.hint {
            out += &format!("\n  hint: {hint}");
        }
        out
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// The part of `line` around its character `at`, and the blanks that bring a caret under it. Control characters become
/// blanks, so that a file cannot steer the terminal.
fn excerpt(line: &str, at: usize) -> (String, String) {
    let chars: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let at = at.min(chars.len());
    let from = if chars.len() <= SHOWN_CHARS { 0 } else { at.saturating_sub(SHOWN_CHARS / 2) };
    let to = chars.len().min(from + SHOWN_CHARS);
    let before = if from > 0 { "..." } else { "" };
    let after = if to < chars.len() { "..." } else { "" };
    let shown: String = chars.iter().skip(from).take(to - from).collect();
    (format!("{before}{shown}{after}"), " ".repeat(before.len() + at - from))
}

/// Every fault of an evaluation file, or of a configuration of OpenViking's benchmark, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationErrors {
    /// The faults; at least one.
    pub diagnostics: Vec<Diagnostic>,
    /// The text of the file, for [`Diagnostic::render`]; empty when it could not be read.
    pub source: String,
    /// What the file is.
    pub what: &'static str,
}

impl fmt::Display for EvaluationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { "\n" }, diagnostic.render(&self.source))?;
        }
        Ok(())
    }
}

impl std::error::Error for EvaluationErrors {}

/// Collects the faults of one file.
pub(super) struct Faults {
    file: PathBuf,
    list: Vec<Diagnostic>,
    told: BTreeSet<(Position, String)>,
}

impl Faults {
    /// None yet.
    pub(super) fn new(file: &Path) -> Self {
        Faults { file: file.to_path_buf(), list: Vec::new(), told: BTreeSet::new() }
    }

    /// A fault at `at` in the element `path`.
    pub(super) fn add(&mut self, at: Position, path: &str, message: impl Into<String>) {
        self.push(at, path, message.into(), None);
    }

    /// A fault with advice.
    pub(super) fn add_hint(
        &mut self,
        at: Position,
        path: &str,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) {
        self.push(at, path, message.into(), hint.into());
    }

    /// `at` in this file.
    pub(super) fn place(&self, at: Position) -> Place {
        Place::at(&self.file, at.line, at.column)
    }

    fn push(&mut self, at: Position, path: &str, message: String, hint: Option<String>) {
        // An aliased value is checked wherever it is used; its fault is told once.
        if self.told.insert((at, message.clone())) {
            let place = self.place(at);
            self.list.push(Diagnostic { place, path: path.to_string(), message, hint });
        }
    }

    /// A fault of a file that the element `path` names, at `place` in that file, with advice.
    pub(super) fn add_in_file(&mut self, place: Place, path: &str, message: String, hint: String) {
        let fault = Diagnostic { place, path: path.to_string(), message, hint: Some(hint) };
        if !self.list.contains(&fault) {
            self.list.push(fault);
        }
    }

    /// Whether there is none.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in the order of the file.
    pub(super) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| (diagnostic.place.line, diagnostic.place.column));
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(line: u64, column: u64) -> Diagnostic {
        Diagnostic {
            place: Place::at("a.yaml", line, column),
            path: "chunk.size".to_string(),
            message: "expected a number".to_string(),
            hint: Some("write one".to_string()),
        }
    }

    #[test]
    fn a_rendering_points_at_the_fault() {
        let expected = "a.yaml:2:7: chunk.size: expected a number\n  2 | size: ten\n    |       ^\n  hint: write one";
        assert_eq!(diagnostic(2, 7).render("chunk:\nsize: ten\n"), expected);
    }

    #[test]
    fn tabs_and_control_characters_become_blanks() {
        let rendered = diagnostic(1, 3).render("\té\u{1b}x\n");
        assert!(rendered.contains("\n  1 |  é x\n    |   ^"), "{rendered:?}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let line = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let rendered = diagnostic(1, 501).render(&line);
        let lines: Vec<&str> = rendered.lines().collect();
        assert!(lines[1].len() < 120, "{rendered}");
        assert_eq!(lines[1].find('X'), lines[2].find('^'), "{rendered}");
    }

    #[test]
    fn a_place_outside_the_text_is_no_panic() {
        assert!(diagnostic(9, 9).render("one\n").contains("a.yaml:9:9"));
        assert!(diagnostic(1, 99).render("one\n").contains("one"));
        assert!(diagnostic(1, 1).render("").contains("hint"));
    }

    #[test]
    fn faults_are_told_once_and_in_order() {
        let mut faults = Faults::new(Path::new("f"));
        faults.add(Position { line: 3, column: 1 }, "b", "y");
        faults.add(Position { line: 1, column: 5 }, "a", "x");
        faults.add(Position { line: 1, column: 5 }, "c", "x");
        let paths: Vec<String> = faults.into_sorted().into_iter().map(|diagnostic| diagnostic.path).collect();
        assert_eq!(paths, ["a", "b"]);
    }
}
