//! The title in a PDF's properties.

use encoding_rs::UTF_16BE;

/// Endings of titles that are the name of the file that the PDF was made from.
const FILE_ENDINGS: [&str; 14] = [
    ".doc", ".docx", ".dvi", ".htm", ".html", ".indd", ".pdf", ".pmd", ".ppt", ".pptx", ".qxd", ".rtf", ".tex", ".xlsx",
];

/// The title that `bytes`, a text string of PDF, say; none where they say nothing, or name a file.
pub(super) fn document_title(bytes: &[u8]) -> Option<String> {
    let title = text_string(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = title.to_lowercase();
    let is_file = FILE_ENDINGS.iter().any(|ending| lower.ends_with(ending)) || lower.starts_with("microsoft word - ");
    let is_title = !is_file && lower != "untitled" && title.chars().any(char::is_alphabetic);
    is_title.then_some(title)
}

/// A text string (ISO 32000-2, 7.9.2.2): UTF-16BE or UTF-8 with a byte order mark, else PDFDocEncoding.
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        bytes => bytes.iter().map(|byte| pdf_doc_character(*byte)).collect(),
    }
}

/// A character of PDFDocEncoding (ISO 32000-2, Annex D.3): Latin-1 but for these.
fn pdf_doc_character(byte: u8) -> char {
    const FROM_0X18: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
    const FROM_0X80: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł',
        'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    let of = |table: &[char], first: u8| table.get(usize::from(byte.wrapping_sub(first))).copied();
    of(&FROM_0X18, 0x18).or_else(|| of(&FROM_0X80, 0x80)).unwrap_or(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_people_and_of_programs() {
        let title = |text: &str| document_title(text.as_bytes());
        assert_eq!(title(" Annual\n report 2020 "), Some("Annual report 2020".to_string()));
        assert_eq!(document_title(b"\xfe\xff\0C\0a\0f\0\xe9"), Some("Café".to_string()));
        assert_eq!(document_title(b"\xef\xbb\xbfCaf\xc3\xa9"), Some("Café".to_string()));
        assert_eq!(document_title(b"Caf\xe9 \x84 \x1f"), Some("Café — ˜".to_string()));
        for none in ["", "  ", "Untitled", "Microsoft Word - syllabus", "d123.PDF", "10-k.html", "2020"] {
            assert_eq!(title(none), None, "{none}");
        }
    }
}
