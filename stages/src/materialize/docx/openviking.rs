//! A document as OpenViking's adapter of SyllabusQA renders it, so that its figures can be compared.

use super::body::{Block, Cell};
use super::{Docx, DocxError};

/// A longer heading mark is none that anybody made.
const LONGEST_MARK: usize = 100;

/// The Markdown that OpenViking makes of a syllabus: a heading with `name`, all plain paragraphs of the body, and after them
/// all its tables. Only what its reader sees is in it: no content controls, tracked insertions, text boxes or nested tables.
///
/// `bytes` are those of a DOCX.
///
/// # Errors
/// When it is no DOCX, or a broken one.
pub fn openviking_markdown(bytes: &[u8], name: &str) -> Result<String, DocxError> {
    let Docx { styles, blocks, .. } = Docx::read(bytes)?;
    let mut lines = vec![format!("# {name}"), String::new()];
    for block in &blocks {
        let Block::Paragraph(paragraph) = block else { continue };
        let text = &paragraph.plain_text;
        if !paragraph.is_plain || text.trim().is_empty() {
            continue;
        }
        let style = styles.name(paragraph.style.as_deref());
        let line = if style.starts_with("Heading") {
            let level = style.replace("Heading ", "").trim().parse::<i64>();
            let mark = level.map_or(2, |level| usize::try_from(level).unwrap_or(0).min(LONGEST_MARK));
            format!("{} {text}", "#".repeat(mark))
        } else {
            text.clone()
        };
        lines.extend([line, String::new()]);
    }
    for block in &blocks {
        let Block::Table(table) = block else { continue };
        if !table.is_plain {
            continue;
        }
        lines.push("## Table".to_string());
        for row in table.grid(true) {
            let cells: Vec<String> = row.into_iter().map(cell_text).collect();
            lines.push(format!("| {} |", cells.join(" | ")));
        }
        lines.push(String::new());
    }
    Ok(lines.join("\n"))
}

/// The plain paragraphs of a cell, a line each.
fn cell_text(cell: &Cell) -> String {
    let plain = cell.blocks.iter().filter_map(|block| match block {
        Block::Paragraph(paragraph) if paragraph.is_plain => Some(paragraph.plain_text.as_str()),
        _ => None,
    });
    plain.collect::<Vec<_>>().join("\n").trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materialize::made_documents::{docx, paragraph};

    #[test]
    fn tables_come_last_and_only_plain_text_counts() {
        let body = format!(
            "{}<w:tbl><w:tr><w:tc>{}<w:tbl/></w:tc><w:sdt><w:sdtContent><w:tc><w:p/></w:tc></w:sdtContent></w:sdt></w:tr></w:tbl>\
             <w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt><w:p><w:r><w:t>a</w:t><w:br w:type=\"page\"/><w:t>b</w:t></w:r>\
             <w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>\
             <w:hyperlink><w:r><w:t> &lt;c&#62; </w:t></w:r></w:hyperlink></w:p>{}{}",
            paragraph("H2", "Two"),
            paragraph("N", "cell"),
            paragraph("N", "controlled"),
            paragraph("H", "Ours"),
            paragraph("N", "  "),
        );
        let markdown = openviking_markdown(&docx(&body), "Name").expect("markdown");
        assert_eq!(markdown, "# Name\n\n## Two\n\nab <c> \n\n## Ours\n\n## Table\n| cell |\n");
    }
}
