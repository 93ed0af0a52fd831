//! The body of a document: paragraphs and tables in their order.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::DocxError;
use super::package::attribute;

/// Word has 63 columns at most. Text is repeated once per column, so a larger span is none.
const MOST_COLUMNS: usize = 63;

/// Tables within cells, deeper than that, are read as the paragraphs that they hold.
const DEEPEST_TABLE: usize = 16;

/// A paragraph or a table.
#[derive(Debug, PartialEq)]
pub(super) enum Block {
    Paragraph(Paragraph),
    Table(Table),
}

/// A paragraph. *Plain* is what stands right in the body or in a cell, or is a run or a hyperlink right in a paragraph: the
/// rest is in content controls, tracked insertions, text boxes and formulas.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Paragraph {
    pub(super) style: Option<String>,
    /// The id of the list that it is an item of, `0` for none; `None` where its style says.
    pub(super) list: Option<String>,
    /// Its level in the list, 0 for the topmost.
    pub(super) level: usize,
    pub(super) is_plain: bool,
    /// All its text. A line break is `\n`, a tab `\t`.
    pub(super) text: String,
    /// The plain part of its text; a page break is nothing.
    pub(super) plain_text: String,
}

/// A table.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Table {
    pub(super) is_plain: bool,
    pub(super) rows: Vec<Row>,
}

/// A row of a table.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Row {
    is_plain: bool,
    /// Columns of the grid that are left out before the first cell.
    before: usize,
    cells: Vec<Cell>,
}

/// A cell of a row.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Cell {
    is_plain: bool,
    /// How many columns it is wide.
    span: usize,
    /// Whether it goes on with the cell above it.
    is_continuation: bool,
    pub(super) blocks: Vec<Block>,
}

impl Table {
    /// The cells of each row, one for each column: a cell that is several columns wide as often, and for one that goes on with
    /// the cell above, that cell. With `only_plain`, rows and cells that are not plain are left out.
    pub(super) fn grid(&self, only_plain: bool) -> Vec<Vec<&Cell>> {
        let mut grid: Vec<Vec<&Cell>> = Vec::with_capacity(self.rows.len());
        // Of the row above: the column of each cell, and which cell it shows.
        let mut above: Vec<(usize, &Cell)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.is_plain || !only_plain) {
            let mut column = row.before;
            let mut shown = Vec::with_capacity(row.cells.len());
            for cell in row.cells.iter().filter(|cell| cell.is_plain || !only_plain) {
                let upper =
                    above.binary_search_by_key(&column, |(column, _)| *column).ok().and_then(|at| above.get(at));
                let upper = upper.filter(|_| cell.is_continuation);
                shown.push((column, upper.map_or(cell, |(_, upper)| *upper)));
                column += cell.span;
            }
            grid.push(shown.iter().flat_map(|(_, cell)| std::iter::repeat_n(*cell, cell.span)).collect());
            above = shown;
        }
        grid
    }
}

impl Cell {
    /// Whether a table is in it.
    pub(super) fn has_table(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Table(_)))
    }
}

/// What an open element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Body,
    Paragraph,
    ParagraphProperties,
    ListProperties,
    Hyperlink {
        is_plain: bool,
    },
    Run {
        is_plain: bool,
    },
    Text {
        is_plain: bool,
    },
    Table,
    Row,
    RowProperties,
    Cell,
    CellProperties,
    /// Any other: what it holds is read as if it were not there.
    Other,
}

/// A table that is being read.
#[derive(Default)]
struct OpenTable {
    table: Table,
    row: Option<Row>,
    cell: Option<Cell>,
}

/// The blocks of the main part of a document.
///
/// # Errors
/// When the part is no XML, or has no body.
pub(super) fn read(xml: &str) -> Result<Vec<Block>, DocxError> {
    let mut reader = Reader::from_str(xml);
    let mut body = Body::default();
    loop {
        let event = reader.read_event().map_err(|error| DocxError::xml("the document", &reader, &error))?;
        match event {
            Event::Start(element) => body.start(&element),
            Event::Empty(element) => {
                body.start(&element);
                body.end();
            }
            Event::End(_) => body.end(),
            Event::Text(text) => body.text(&text.xml10_content()),
            Event::CData(text) => body.text(&text.xml10_content()),
            Event::GeneralRef(reference) => body.text(&referred(&reference)),
            Event::Eof => return body.blocks.ok_or(DocxError::NoBody),
            _ => {}
        }
    }
}

/// What a reference such as `&amp;` stands for; nothing where that is unknown.
fn referred(reference: &BytesRef<'_>) -> String {
    match reference.resolve_char_ref() {
        Ok(Some(c)) => c.to_string(),
        _ => quick_xml::escape::resolve_predefined_entity(&reference.xml10_content()).unwrap_or_default().to_string(),
    }
}

/// A document as far as it has been read.
#[derive(Default)]
struct Body {
    /// The blocks of the body, once it was closed.
    blocks: Option<Vec<Block>>,
    open: Vec<Kind>,
    /// How many elements are open whose content is passed over; all others are above.
    skipped: usize,
    /// The prefixes of the names of WordprocessingML and of formulas.
    word: String,
    math: String,
    /// Blocks of the body and of each open cell.
    containers: Vec<Vec<Block>>,
    tables: Vec<OpenTable>,
    /// Open paragraphs: one is within another where it is in a text box.
    paragraphs: Vec<Paragraph>,
}

impl Body {
    fn start(&mut self, element: &BytesStart<'_>) {
        if self.skipped > 0 {
            self.skipped += 1;
            return;
        }
        let name = element.name();
        let (local, prefix) = name.decompose();
        let prefix = prefix.map_or(String::new(), |prefix| prefix.as_ref().to_string());
        if self.open.is_empty() {
            self.find_prefixes(element);
        }
        let parent = self.open.last().copied().unwrap_or(Kind::Other);
        let is_word = prefix == self.word;
        let kind = match local.as_ref() {
            // What was deleted or moved away, codes of fields, and what stands in for a text box in old programs.
            "del" | "moveFrom" | "delText" | "instrText" | "delInstrText" if is_word => return self.skipped = 1,
            "Fallback" => return self.skipped = 1,
            "t" if !self.math.is_empty() && prefix == self.math => Kind::Text { is_plain: false },
            local if is_word => self.start_word(local, parent, element),
            _ => Kind::Other,
        };
        self.open.push(kind);
    }

    fn start_word(&mut self, local: &str, parent: Kind, element: &BytesStart<'_>) -> Kind {
        let value = || attribute(element, "val");
        let number = || value().and_then(|value| value.trim().parse::<usize>().ok());
        match (local, parent) {
            ("body", _) => {
                self.containers.push(Vec::new());
                return Kind::Body;
            }
            ("p", _) => {
                let is_plain = matches!(parent, Kind::Body | Kind::Cell);
                self.paragraphs.push(Paragraph { is_plain, ..Paragraph::default() });
                return Kind::Paragraph;
            }
            ("pPr", Kind::Paragraph) => return Kind::ParagraphProperties,
            ("numPr", Kind::ParagraphProperties) => return Kind::ListProperties,
            ("hyperlink", _) => return Kind::Hyperlink { is_plain: parent == Kind::Paragraph },
            ("r", _) => {
                let is_plain = matches!(parent, Kind::Paragraph | Kind::Hyperlink { is_plain: true });
                return Kind::Run { is_plain };
            }
            ("t", Kind::Run { is_plain }) => return Kind::Text { is_plain },
            ("tab" | "ptab", Kind::Run { is_plain }) => self.add("\t", is_plain),
            ("cr", Kind::Run { is_plain }) => self.add("\n", is_plain),
            ("br", Kind::Run { is_plain }) => {
                let is_line = attribute(element, "type").is_none_or(|kind| kind == "textWrapping");
                self.add("\n", is_plain && is_line);
            }
            ("noBreakHyphen", Kind::Run { is_plain }) => self.add("-", is_plain),
            ("pStyle", Kind::ParagraphProperties) => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.style = value();
                }
            }
            ("numId", Kind::ListProperties) => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.list = value();
                }
            }
            ("ilvl", Kind::ListProperties) => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.level = number().unwrap_or(0);
                }
            }
            ("tbl", _) if self.tables.len() < DEEPEST_TABLE => {
                let is_plain = parent == Kind::Body;
                let table = Table { is_plain, ..Table::default() };
                self.tables.push(OpenTable { table, ..OpenTable::default() });
                return Kind::Table;
            }
            ("tr", _) => {
                if let Some(OpenTable { row: row @ None, .. }) = self.tables.last_mut() {
                    *row = Some(Row { is_plain: parent == Kind::Table, ..Row::default() });
                    return Kind::Row;
                }
            }
            ("trPr", Kind::Row) => return Kind::RowProperties,
            ("gridBefore", Kind::RowProperties) => {
                if let Some(OpenTable { row: Some(row), .. }) = self.tables.last_mut() {
                    row.before = number().unwrap_or(0).min(MOST_COLUMNS);
                }
            }
            ("tc", _) => {
                if let Some(OpenTable { row: Some(_), cell: cell @ None, .. }) = self.tables.last_mut() {
                    *cell = Some(Cell { is_plain: parent == Kind::Row, span: 1, ..Cell::default() });
                    self.containers.push(Vec::new());
                    return Kind::Cell;
                }
            }
            ("tcPr", Kind::Cell) => return Kind::CellProperties,
            ("gridSpan", Kind::CellProperties) => {
                if let Some(cell) = self.open_cell() {
                    cell.span = number().unwrap_or(1).clamp(1, MOST_COLUMNS);
                }
            }
            ("vMerge", Kind::CellProperties) => {
                if let Some(cell) = self.open_cell() {
                    cell.is_continuation = value().is_none_or(|value| value == "continue");
                }
            }
            _ => {}
        }
        Kind::Other
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        match self.open.pop() {
            Some(Kind::Body) => {
                let blocks = self.containers.pop().unwrap_or_default();
                self.blocks.get_or_insert(blocks);
            }
            Some(Kind::Paragraph) => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.add_block(Block::Paragraph(paragraph));
                }
            }
            Some(Kind::Cell) => {
                let blocks = self.containers.pop().unwrap_or_default();
                if let Some(OpenTable { row: Some(row), cell, .. }) = self.tables.last_mut()
                    && let Some(cell) = cell.take()
                {
                    row.cells.push(Cell { blocks, ..cell });
                }
            }
            Some(Kind::Row) => {
                if let Some(OpenTable { table, row, .. }) = self.tables.last_mut() {
                    table.rows.extend(row.take());
                }
            }
            Some(Kind::Table) => {
                if let Some(OpenTable { table, .. }) = self.tables.pop() {
                    self.add_block(Block::Table(table));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.skipped == 0
            && let Some(Kind::Text { is_plain }) = self.open.last()
        {
            self.add(text, *is_plain);
        }
    }

    fn add(&mut self, text: &str, is_plain: bool) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
            if is_plain {
                paragraph.plain_text.push_str(text);
            }
        }
    }

    fn add_block(&mut self, block: Block) {
        if let Some(blocks) = self.containers.last_mut() {
            blocks.push(block);
        }
    }

    fn open_cell(&mut self) -> Option<&mut Cell> {
        self.tables.last_mut()?.cell.as_mut()
    }

    /// Finds what names begin with, in the declarations of the outermost element.
    fn find_prefixes(&mut self, element: &BytesStart<'_>) {
        for declared in element.attributes().with_checks(false).flatten() {
            let name: &str = declared.key.as_ref();
            let prefix = match name.strip_prefix("xmlns") {
                Some("") => "",
                Some(prefix) if prefix.starts_with(':') => prefix.trim_start_matches(':'),
                _ => continue,
            };
            // Of both editions: ISO 29500 transitional, and strict.
            if declared.value.ends_with("/wordprocessingml/2006/main")
                || declared.value.ends_with("/wordprocessingml/main")
            {
                self.word = prefix.to_string();
            } else if declared.value.ends_with("/math") {
                self.math = prefix.to_string();
            }
        }
    }
}
