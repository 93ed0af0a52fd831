//! PDF: the text layer of each page.
//!
//! The page's drawing instructions are carried out by `hayro-interpret`, which finds out which character each glyph is and
//! where it stands; ours is to read lines, words and columns out of that (docs/design/018). Nothing is drawn.

mod columns;
mod glyph;
mod lines;
mod title;
mod word;

use std::any::Any;

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};
use thiserror::Error;

use self::glyph::{DrawsTooMuch, GlyphCollector};
use self::lines::page_text;
use super::caught::{caught, panic_message};
use super::parser::Parsed;
use crate::artifact::Page;

/// The stack of the thread that reads a document: forms within forms, up to the crate's bound of 50, are calls within calls.
const STACK_BYTES: usize = 64 << 20;

/// Why a PDF has no text, as a lower-case fragment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum PdfError {
    /// It is no PDF, or too much of it is gone.
    #[error("the PDF cannot be read: it is damaged or cut off")]
    Damaged,
    /// It opens with a password only.
    #[error("the PDF is protected by a password")]
    Password,
    /// It is encrypted in a way that is not known.
    #[error("the PDF is encrypted in a way that is not known")]
    Encryption,
    /// It has no pages.
    #[error("the PDF has no pages")]
    NoPages,
    /// Its pages have no text.
    #[error("the PDF has no text layer on any of its pages ({0}); scanned?")]
    NoText(usize),
    /// Its text is glyphs without characters.
    #[error("the fonts of the PDF do not say which characters its {0} glyphs are")]
    NoCharacters(usize),
    /// A page draws without end.
    #[error("page {0} of the PDF draws too much to be a page")]
    DrawsTooMuch(usize),
    /// The crate gave up.
    #[error("{place} of the PDF cannot be read: {message}")]
    Panic {
        /// The page, counted from 1, or the file.
        place: String,
        /// What the crate says.
        message: String,
    },
    /// No thread.
    #[error("the PDF is not read: no thread can be started: {0}")]
    Thread(String),
}

impl PdfError {
    fn of_panic(page: Option<usize>, panic: &(dyn Any + Send)) -> Self {
        match page {
            Some(page) if panic.is::<DrawsTooMuch>() => PdfError::DrawsTooMuch(page),
            page => PdfError::Panic {
                place: page.map_or_else(|| "the structure".to_string(), |page| format!("page {page}")),
                message: panic_message(panic).to_string(),
            },
        }
    }
}

/// A page of text for each page of the document, empty where the page has no text. The title is that of the document's
/// properties, unless it is a file name.
///
/// # Errors
/// When the document cannot be opened, a page cannot be read, or there is no text at all.
pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, PdfError> {
    let bytes = bytes.to_vec();
    let thread = std::thread::Builder::new().name("pdf".to_string()).stack_size(STACK_BYTES);
    let reading = thread.spawn(move || {
        // Outside of a page, a panic can come from opening the file only.
        caught(|| read(bytes)).unwrap_or_else(|panic| Err(PdfError::of_panic(None, &*panic)))
    });
    let reading = reading.map_err(|error| PdfError::Thread(error.to_string()))?;
    reading.join().unwrap_or_else(|panic| Err(PdfError::of_panic(None, &*panic)))
}

fn read(bytes: Vec<u8>) -> Result<Parsed, PdfError> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfError::Password,
        LoadPdfError::Decryption(_) => PdfError::Encryption,
        LoadPdfError::Invalid => PdfError::Damaged,
    })?;
    let pages = pdf.pages();
    if pages.is_empty() {
        return Err(PdfError::NoPages);
    }
    let cache = InterpreterCache::new();
    let mut read = Vec::with_capacity(pages.len());
    let mut unknown = 0;
    for (index, page) in (0u32..).zip(pages.iter()) {
        let media_box = page.media_box();
        let media_box = Rect::new(media_box.x0, media_box.y0, media_box.x1, media_box.y1);
        let mut collector = GlyphCollector::new(media_box);
        let drawing = caught(|| {
            let settings = InterpreterSettings::default();
            let mut context = Context::new(Affine::IDENTITY, media_box, &cache, pdf.xref(), settings);
            interpret_page(page, &mut context, &mut collector);
        });
        drawing.map_err(|panic| PdfError::of_panic(Some(read.len() + 1), &*panic))?;
        unknown += collector.unknown;
        read.push(Page { index, text: page_text(&collector.glyphs), headings: Vec::new() });
    }
    if read.iter().all(|page| page.text.is_empty()) {
        return Err(if unknown > 0 { PdfError::NoCharacters(unknown) } else { PdfError::NoText(read.len()) });
    }
    let title = pdf.metadata().title.as_deref().and_then(title::document_title);
    Ok(Parsed { title, pages: read, encoding: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materialize::made_documents::{MadePage, line, pdf};

    fn texts(bytes: &[u8]) -> Vec<String> {
        let parsed = parse(bytes).expect("a document");
        let indexes: Vec<u32> = parsed.pages.iter().map(|page| page.index).collect();
        assert_eq!(indexes, (0..parsed.pages.len() as u32).collect::<Vec<_>>());
        parsed.pages.into_iter().map(|page| page.text).collect()
    }

    fn text_of(content: &str) -> String {
        texts(&pdf("", &[MadePage::new(content)])).remove(0)
    }

    #[test]
    fn pages_keep_their_index_and_the_document_its_title() {
        let pages =
            [MadePage::new(&line(50, 700, "First.")), MadePage::new(""), MadePage::new(&line(50, 700, "Third."))];
        let bytes = pdf("A report", &pages);
        assert_eq!(texts(&bytes), ["First.", "", "Third."]);
        assert_eq!(parse(&bytes).expect("a document").title.as_deref(), Some("A report"));
        assert_eq!(parse(&pdf("report.doc", &pages)).expect("a document").title, None);
    }

    #[test]
    fn ligatures_quotes_and_operators_that_move_to_the_next_line() {
        let content = "BT /F2 10 Tf 50 700 Td 14 TL (The o\\256ce) Tj T* (pro\\256t) Tj (it's) ' 0 0 (so) \" ET";
        assert_eq!(text_of(content), "The ofice\nprofit\nit’s\nso");
    }

    #[test]
    fn letters_set_one_by_one_are_words_and_moved_ones_have_spaces() {
        let content = "BT /F1 10 Tf 50 700 Td [(consoli) -20 (dated) -300 (net) 30 (sales)] TJ ET";
        assert_eq!(text_of(content), "consolidated netsales");
        assert_eq!(text_of("BT /F1 10 Tf 1 0 0 1 50 700 Tm (a) Tj 1 0 0 1 55.6 700 Tm (b) Tj ET"), "ab");
    }

    #[test]
    fn turned_pages_and_turned_text_read_the_same() {
        let turned = "BT /F1 10 Tf 0 1 -1 0 300 100 Tm (Turned page) Tj 0 -14 Td (second line) Tj ET";
        for rotate in [0, 90, 270] {
            let page = MadePage { content: turned.to_string(), rotate };
            assert_eq!(texts(&pdf("", &[page])), ["Turned page\nsecond line"]);
        }
        let upright = MadePage { content: line(50, 700, "Upright") + turned, rotate: 180 };
        assert_eq!(texts(&pdf("", &[upright])), ["Turned page\nsecond line\n\nUpright"]);
    }

    #[test]
    fn two_columns_are_read_one_after_the_other() {
        let mut content = line(200, 760, "A heading over both of the columns of the page");
        for row in 0..5 {
            let y = 700 - 12 * row;
            content += &line(50, y, &format!("Left line {row} of a column of running text"));
            content += &line(320, y, &format!("Right line {row} of a column of running text"));
        }
        let text = text_of(&content);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 11, "{text}");
        assert!(lines[1..6].iter().all(|line| line.starts_with("Left")), "{text}");
        assert!(lines[6..].iter().all(|line| line.starts_with("Right")), "{text}");
    }

    #[test]
    fn a_table_is_a_line_for_each_row() {
        let mut content = String::new();
        // Column by column, as some programs draw.
        for (x, cells) in
            [(50, ["Item", "Net sales", "Cost"]), (300, ["2019", "1,200", "900"]), (400, ["2020", "1,300", "950"])]
        {
            for (row, cell) in (0u32..).zip(cells) {
                content += &line(x, 700 - 14 * row, cell);
            }
        }
        assert_eq!(text_of(&content), "Item\t2019\t2020\nNet sales\t1,200\t1,300\nCost\t900\t950");
    }

    #[test]
    fn text_off_the_page_is_not_on_it() {
        assert_eq!(text_of(&(line(50, 700, "On") + &line(900, 700, "off"))), "On");
    }

    #[test]
    fn scans_and_empty_documents_say_what_they_lack() {
        let message = |bytes: &[u8]| parse(bytes).expect_err("an error").to_string();
        let pages = [MadePage::new("0 0 m 100 100 l S"), MadePage::new("")];
        assert_eq!(message(&pdf("", &pages)), "the PDF has no text layer on any of its pages (2); scanned?");
        assert_eq!(message(&pdf("", &[])), "the PDF has no pages");
        assert_eq!(message(b"%PDF-1.7 and nothing more"), "the PDF cannot be read: it is damaged or cut off");
    }

    #[test]
    fn forms_that_draw_forms_end() {
        assert!(text_of("/X0 Do").starts_with("itself"));
        assert_eq!(text_of("/X20 Do"), "end", "what is drawn again at the same place is read once");
        let pages = [MadePage::new(&line(50, 700, "First.")), MadePage::new("/X1 Do")];
        assert_eq!(parse(&pdf("", &pages)), Err(PdfError::DrawsTooMuch(2)));
    }

    #[test]
    fn bytes_that_are_damaged_anywhere_are_a_result() {
        let bytes =
            pdf("Title", &[MadePage::new(&line(50, 700, "Some text.")), MadePage::new(&line(50, 700, "More."))]);
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            for byte in damaged.iter_mut().skip(at).take(5) {
                *byte = byte.wrapping_mul(31).wrapping_add(17);
            }
            // Whether it can be read does not matter here; that it ends, and is no panic, does.
            let result = parse(&damaged);
            assert!(!matches!(result, Err(PdfError::Panic { .. })), "{at}: {result:?}");
            let _ = parse(&bytes[..at]);
        }
    }
}
