//! The page that a Word document becomes.

use std::collections::HashSet;

use super::body::{Block, Cell, Paragraph, Table};
use super::numbering::ItemCounter;
use super::styles::Styles;
use super::{Docx, DocxError};
use crate::artifact::Heading;
use crate::materialize::page_writer::{Gap, PageWriter};
use crate::materialize::parser::Parsed;

/// The most text that a page may have. Merged cells repeat theirs, so a document may have more of it than bytes.
const MOST_TEXT: usize = 256 << 20;

/// The document as one page.
///
/// # Errors
/// When there is too much text.
pub(super) fn parsed(docx: &Docx) -> Result<Parsed, DocxError> {
    let items = ItemCounter::new(&docx.numbering);
    let mut writer = DocxPage { page: PageWriter::new(), styles: &docx.styles, items, title: None };
    writer.blocks(&docx.blocks, Gap::Paragraph)?;
    let DocxPage { page, title, .. } = writer;
    let page = page.finish();
    let first = |headings: &[Heading]| headings.iter().find(|heading| heading.level == 1).map(|h| h.title.clone());
    let title = title.or_else(|| first(&page.headings));
    Ok(Parsed { title, pages: vec![page], encoding: None })
}

struct DocxPage<'a> {
    page: PageWriter,
    styles: &'a Styles,
    items: ItemCounter<'a>,
    title: Option<String>,
}

impl DocxPage<'_> {
    /// Writes blocks; `gap` stands between paragraphs. Tables within tables are as deep as the reader allows.
    fn blocks(&mut self, blocks: &[Block], gap: Gap) -> Result<(), DocxError> {
        for block in blocks {
            match block {
                Block::Paragraph(paragraph) => self.paragraph(paragraph, gap),
                Block::Table(table) => self.table(table)?,
            }
        }
        Ok(())
    }

    fn paragraph(&mut self, paragraph: &Paragraph, gap: Gap) {
        let style = paragraph.style.as_deref();
        if paragraph.text.trim().is_empty() {
            return self.page.break_with(gap);
        }
        let name = self.styles.name(style);
        if name == "Title" && self.title.is_none() {
            self.title = Some(paragraph.text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        match name.strip_prefix("Heading ").and_then(|level| level.parse().ok()) {
            Some(level @ 1..=9) => {
                self.page.begin_heading(level);
                self.page.text(&paragraph.text);
                self.page.end_heading();
            }
            _ => match paragraph.list.as_deref().or_else(|| self.styles.list(style)).filter(|list| *list != "0") {
                Some(list) => {
                    self.page.begin_item(self.items.marker(list, paragraph.level));
                    self.lines(&paragraph.text);
                    self.page.end_item();
                }
                None => {
                    self.page.break_with(gap);
                    self.lines(&paragraph.text);
                    self.page.break_with(gap);
                }
            },
        }
    }

    fn lines(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.page.line_break();
            }
            self.page.text(line);
        }
    }

    fn table(&mut self, table: &Table) -> Result<(), DocxError> {
        self.page.begin_table();
        // A merged cell repeats its words, but not a table in it: tables within tables would multiply.
        let mut tables: HashSet<*const Cell> = HashSet::new();
        for row in table.grid(false) {
            self.page.next_row();
            for cell in row {
                self.page.begin_cell();
                if !cell.has_table() || tables.insert(cell) {
                    self.blocks(&cell.blocks, Gap::Soft)?;
                }
                if self.page.len() > MOST_TEXT {
                    return Err(DocxError::TooMuchText(MOST_TEXT >> 20));
                }
            }
        }
        self.page.end_table();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::materialize::made_documents::{docx, paragraph};

    fn parsed(body: &str) -> Parsed {
        parse(&docx(body)).expect("a document")
    }

    fn text(body: &str) -> String {
        parsed(body).pages.remove(0).text
    }

    fn cell(properties: &str, text: &str) -> String {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", paragraph("N", text))
    }

    fn row(cells: &[String]) -> String {
        format!("<w:tr>{}</w:tr>", cells.concat())
    }

    #[test]
    fn headings_lists_and_paragraphs() {
        let body = [
            paragraph("T", "The  title"),
            paragraph("H1", "One"),
            paragraph("N", "Zoë &amp; co."),
            paragraph("L", "first"),
            paragraph("L", "second"),
            paragraph("H2", "Two"),
            paragraph("gone", "end"),
        ];
        let parsed = parsed(&body.concat());
        assert_eq!(parsed.title.as_deref(), Some("The title"));
        let page = &parsed.pages[0];
        assert_eq!(page.text, "The title\n\nOne\n\nZoë & co.\n\n- first\n- second\n\nTwo\n\nend");
        let headings: Vec<_> = page.headings.iter().map(|h| (h.offset, h.level, h.title.as_str())).collect();
        assert_eq!(headings, [(11, 1, "One"), (45, 2, "Two")]);
    }

    #[test]
    fn items_have_the_numbers_of_their_list() {
        let item = |list: u32, level: u32, text: &str| {
            format!(
                "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr></w:pPr>\
                 <w:r><w:t>{text}</w:t></w:r></w:p>"
            )
        };
        let plain = "<w:p><w:pPr><w:pStyle w:val=\"L\"/><w:numPr><w:numId w:val=\"0\"/></w:numPr></w:pPr><w:r><w:t>plain</w:t></w:r></w:p>";
        let body = [item(2, 0, "one"), item(2, 1, "under"), item(2, 0, "two"), item(9, 0, "other"), plain.to_string()];
        assert_eq!(text(&body.concat()), "1. one\na. under\n2. two\n- other\n\nplain");
    }

    #[test]
    fn the_first_heading_is_the_title_of_a_document_without_one() {
        assert_eq!(parsed(&paragraph("H1", "One")).title.as_deref(), Some("One"));
        assert_eq!(parsed(&paragraph("H2", "Two")).title, None);
    }

    #[test]
    fn a_table_stands_where_it_is_and_merged_cells_repeat() {
        let table = [
            row(&[cell("<w:gridSpan w:val=\"2\"/>", "wide"), cell("", "c")]),
            row(&[cell("", "a"), cell("", "b"), cell("<w:vMerge w:val=\"restart\"/>", "tall")]),
            row(&[cell("", "d"), cell("", ""), cell("<w:vMerge/>", "")]),
        ];
        let body = format!("{}<w:tbl>{}</w:tbl>{}", paragraph("N", "before"), table.concat(), paragraph("N", "after"));
        assert_eq!(text(&body), "before\n\nwide | wide | c\na | b | tall\nd | | tall\n\nafter");
    }

    #[test]
    fn a_cell_is_one_line_and_a_table_within_is_several() {
        let inner = format!("<w:tbl>{}</w:tbl>", row(&[cell("", "x"), cell("", "y")]));
        let nested = format!("<w:tc>{}{inner}{}</w:tc>", paragraph("N", "over"), paragraph("N", "under"));
        let two = format!("<w:tc>{}{}</w:tc>", paragraph("N", "one"), paragraph("N", "two"));
        assert_eq!(text(&format!("<w:tbl>{}</w:tbl>", row(&[two.clone(), cell("", "b")]))), "one two | b");
        assert_eq!(text(&format!("<w:tbl>{}</w:tbl>", row(&[two, nested]))), "one two | over\n\nx | y\n\nunder");
    }

    #[test]
    fn runs_links_breaks_insertions_and_boxes() {
        let body = "<w:p><w:r><w:t xml:space=\"preserve\">See </w:t></w:r><w:hyperlink><w:r><w:t>the page</w:t></w:r></w:hyperlink>\
            <w:r><w:tab/><w:t>or</w:t><w:br/><w:t>non</w:t><w:noBreakHyphen/><w:t>stop</w:t></w:r>\
            <w:ins><w:r><w:t xml:space=\"preserve\"> new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>\
            <w:r><w:instrText>PAGE</w:instrText></w:r><m:oMath><m:r><m:t>+x</m:t></m:r></m:oMath></w:p>\
            <w:sdt><w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>\
            <w:p><w:r><w:t>outside</w:t><w:pict><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></w:pict></w:r></w:p>";
        assert_eq!(text(body), "See the page or\nnon-stop new+x\n\ncontrolled\n\nboxed\n\noutside");
    }

    #[test]
    fn tables_within_tables_without_end_are_no_recursion() {
        let depth = 50_000;
        let body = format!(
            "{}{}{}",
            "<w:tbl><w:tr><w:tc>".repeat(depth),
            paragraph("N", "deep"),
            "</w:tc></w:tr></w:tbl>".repeat(depth)
        );
        assert_eq!(text(&body), "deep");
    }

    #[test]
    fn spans_beyond_reason_are_cut() {
        let body = format!("<w:tbl>{}</w:tbl>", row(&[cell("<w:gridSpan w:val=\"4000000000\"/>", "a")]));
        assert_eq!(text(&body).matches('a').count(), 63);
    }
}
