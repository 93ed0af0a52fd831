//! In which format a file of documents or topics is.

/// A format, as it is known by how a file begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectionFormat {
    /// A JSON object on each line.
    JsonLines,
    /// TREC's SGML, with this element for each record.
    Sgml,
    /// SMART's records.
    Smart,
    /// Something else.
    Other,
}

impl CollectionFormat {
    /// The format of `text`, whose records are elements `element` if it is SGML.
    pub(super) fn of(text: &str, element: &str) -> Self {
        let text = text.trim_start();
        if text.starts_with('{') {
            return CollectionFormat::JsonLines;
        }
        if text.starts_with(".I ") || text.starts_with(".I\t") {
            return CollectionFormat::Smart;
        }
        // A declaration, a comment or an element around the records may come first.
        let opening = |at: usize| {
            let name = text.get(at + 1..at + 1 + element.len());
            let after = text.as_bytes().get(at + 1 + element.len());
            name.is_some_and(|name| name.eq_ignore_ascii_case(element))
                && after.is_some_and(|b| !b.is_ascii_alphanumeric())
        };
        match text.starts_with('<') && memchr::memchr_iter(b'<', text.as_bytes()).any(opening) {
            true => CollectionFormat::Sgml,
            false => CollectionFormat::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_beginning() {
        for (text, format) in [
            ("\n {\"id\": 1}", CollectionFormat::JsonLines),
            (".I 1\n.T\n", CollectionFormat::Smart),
            ("<DOC>\n", CollectionFormat::Sgml),
            ("<?xml?><docs><doc id=\"1\">", CollectionFormat::Sgml),
            ("<docs></docs>", CollectionFormat::Other),
            ("Readme: files have <DOC> in them", CollectionFormat::Other),
            ("1\tx", CollectionFormat::Other),
            ("", CollectionFormat::Other),
        ] {
            assert_eq!(CollectionFormat::of(text, "doc"), format, "{text}");
        }
    }
}
