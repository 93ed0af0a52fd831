//! Writes the page that an HTML or Word document becomes: words, line breaks, list markers, table rows and headings.

use super::heading_title::heading_title;
use crate::artifact::{Heading, Page};

/// What stands between the last word and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing.
    None,
    /// A space.
    Space,
    /// A new line, but within a table cell a space, so that a row of plain cells stays one line.
    Soft,
    /// A new line.
    Line,
    /// An empty line.
    Paragraph,
}

/// The row of a table that is being written.
#[derive(Debug, Default)]
struct Row {
    /// Cells begun so far.
    cells: u32,
    /// Whether a cell is open.
    in_cell: bool,
    /// Whether any cell has words.
    has_words: bool,
    /// Whether the open cell has words.
    cell_has_words: bool,
    /// Whether the open cell has words on more than one line; the next cell cannot stand beside it.
    cell_has_lines: bool,
}

/// A heading that is being written.
#[derive(Debug)]
struct OpenHeading {
    level: u8,
    /// Where its list marker and where its words begin, in bytes; `None` before the first word.
    start: Option<(usize, usize)>,
}

/// Writes a page from words and breaks in document order.
///
/// Breaks are held back until a word follows, so that nested elements that all break leave one gap, and nothing is left at
/// the end of a line or of the page.
#[derive(Debug)]
pub(super) struct PageWriter {
    text: String,
    gap: Gap,
    marker: Option<String>,
    separators: usize,
    preformatted: u32,
    rows: Vec<Row>,
    open_heading: Option<OpenHeading>,
    headings: Vec<Heading>,
    /// Bytes of `text` up to the last heading, and how many characters they are.
    counted: (usize, u64),
}

impl PageWriter {
    /// An empty page.
    pub(super) fn new() -> Self {
        PageWriter {
            text: String::new(),
            gap: Gap::None,
            marker: None,
            separators: 0,
            preformatted: 0,
            rows: Vec::new(),
            open_heading: None,
            headings: Vec::new(),
            counted: (0, 0),
        }
    }

    /// Bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds text: white space collapses, unless it is preformatted.
    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            if self.preformatted > 0 {
                // The line break after `<pre>` is none (WHATWG HTML, "in body").
                if c == '\n' && (self.gap >= Gap::Line || self.text.is_empty()) {
                    continue;
                }
                self.close_gap();
                self.text.push(c);
            } else if c.is_whitespace() {
                self.gap = self.gap.max(Gap::Space);
            } else {
                self.close_gap();
                self.text.push(c);
            }
        }
    }

    /// Breaks before the next word. A break at the start of a list item or of a table cell is none.
    pub(super) fn break_with(&mut self, gap: Gap) {
        if gap == Gap::None {
            return;
        }
        if self.open_heading.as_ref().is_some_and(|heading| heading.start.is_some()) {
            self.end_heading();
        }
        let at_cell_start = self.rows.last().is_some_and(|row| row.in_cell && !row.cell_has_words);
        if self.marker.is_none() && !at_cell_start {
            self.gap = self.gap.max(gap);
        }
    }

    /// A `<br>`: a new line, and two of them an empty one.
    pub(super) fn line_break(&mut self) {
        if self.preformatted > 0 {
            self.text("\n");
        } else {
            self.break_with(if self.gap >= Gap::Soft { Gap::Paragraph } else { Gap::Soft });
        }
    }

    /// Begins preformatted text.
    pub(super) fn begin_preformatted(&mut self) {
        self.break_with(Gap::Paragraph);
        self.preformatted += 1;
    }

    /// Ends preformatted text.
    pub(super) fn end_preformatted(&mut self) {
        self.preformatted = self.preformatted.saturating_sub(1);
        self.break_with(Gap::Paragraph);
    }

    /// Begins a list item that opens with `marker`.
    pub(super) fn begin_item(&mut self, marker: String) {
        self.marker = None;
        self.break_with(Gap::Line);
        self.marker = Some(marker);
    }

    /// Ends a list item; one without words leaves no marker.
    pub(super) fn end_item(&mut self) {
        self.marker = None;
        self.break_with(Gap::Line);
    }

    /// Begins a heading, ending one that was left open.
    pub(super) fn begin_heading(&mut self, level: u8) {
        self.end_heading();
        self.break_with(Gap::Paragraph);
        self.open_heading = Some(OpenHeading { level, start: None });
    }

    /// Ends the open heading, if there is one; a heading without words is none.
    pub(super) fn end_heading(&mut self) {
        let Some(OpenHeading { level, start }) = self.open_heading.take() else { return };
        if let Some((start, words)) = start {
            let words = self.text.get(words..).unwrap_or_default();
            let title = heading_title(words);
            // Preformatted white space is no title, and may yet be cut off the page.
            if !title.is_empty() {
                let (counted, characters) = self.counted;
                let between = self.text.get(counted..start).map_or(0, |between| between.chars().count() as u64);
                self.counted = (start, characters + between);
                self.headings.push(Heading { offset: self.counted.1, level, title });
            }
        }
        self.break_with(Gap::Paragraph);
    }

    /// Begins a table, which stands on lines of its own even within a cell.
    pub(super) fn begin_table(&mut self) {
        self.break_with(Gap::Paragraph);
        self.separators = 0;
        self.gap = Gap::Paragraph;
        self.rows.push(Row::default());
    }

    /// Ends the innermost table.
    pub(super) fn end_table(&mut self) {
        if self.rows.pop().is_none() {
            return;
        }
        self.separators = 0;
        self.break_with(Gap::Paragraph);
        if let Some(outer) = self.rows.last_mut() {
            outer.has_words = true;
            outer.cell_has_words = true;
            outer.cell_has_lines = true;
        }
    }

    /// Begins or ends a row. The paragraph of a cell that holds one line does not part its row from the next.
    pub(super) fn next_row(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            if row.has_words && !row.cell_has_lines {
                self.gap = Gap::Line;
            }
            *row = Row::default();
            self.separators = 0;
        }
        self.break_with(Gap::Line);
    }

    /// Begins a cell: ` | ` stands between it and the one before, or an empty line where that one has several lines.
    pub(super) fn begin_cell(&mut self) {
        let Some(row) = self.rows.last_mut() else { return self.break_with(Gap::Line) };
        if row.cell_has_lines {
            self.separators = 0;
            self.gap = Gap::Paragraph;
        } else if row.cells > 0 {
            self.separators += 1;
            if row.has_words {
                self.gap = Gap::None;
            }
        }
        row.cells += 1;
        row.in_cell = true;
        row.cell_has_words = false;
        row.cell_has_lines = false;
    }

    /// The finished page.
    pub(super) fn finish(mut self) -> Page {
        self.end_heading();
        self.text.truncate(self.text.trim_end().len());
        Page { index: 0, text: self.text, headings: self.headings }
    }

    /// Writes what stands before the next word.
    fn close_gap(&mut self) {
        let row = self.rows.last_mut().filter(|row| row.in_cell);
        let gap = match (self.gap, &row) {
            _ if self.text.is_empty() => Gap::None,
            (gap, _) if self.marker.is_some() => gap.max(Gap::Line),
            (Gap::Soft, Some(_)) => Gap::Space,
            (Gap::Soft, None) => Gap::Line,
            (gap, _) => gap,
        };
        if let Some(row) = row {
            row.cell_has_lines |= row.cell_has_words && gap >= Gap::Line;
            row.has_words = true;
            row.cell_has_words = true;
        }
        if gap >= Gap::Line {
            self.text.truncate(self.text.trim_end().len());
            self.text.push_str(if gap == Gap::Paragraph { "\n\n" } else { "\n" });
        }
        if self.separators > 0 {
            if gap < Gap::Line && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(&"| ".repeat(self.separators));
        } else if gap == Gap::Space {
            self.text.push(' ');
        }
        let start = self.text.len();
        if let Some(marker) = self.marker.take() {
            self.text.push_str(&marker);
        }
        if let Some(heading) = &mut self.open_heading {
            heading.start.get_or_insert((start, self.text.len()));
        }
        self.gap = Gap::None;
        self.separators = 0;
    }
}
