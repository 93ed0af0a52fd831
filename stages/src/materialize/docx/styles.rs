//! The paragraph styles of a document: what they are called, and which list they are of.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::DocxError;
use super::package::attribute;

/// How many styles may be based on each other: a circle has no end.
const LONGEST_CHAIN: usize = 20;

/// A paragraph style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Style {
    /// As people see it.
    name: String,
    based_on: Option<String>,
    /// The id of the list that its paragraphs are items of, `0` for none; `None` where the style that it is based on says.
    list: Option<String>,
}

/// The paragraph styles by id.
#[derive(Debug, Default)]
pub(super) struct Styles {
    by_id: HashMap<String, Style>,
    /// The id of the style of paragraphs that name none, or one that is not there.
    default: Option<String>,
}

impl Styles {
    /// Reads `styles.xml`.
    ///
    /// # Errors
    /// When it is no XML.
    pub(super) fn read(xml: &str) -> Result<Self, DocxError> {
        let mut styles = Styles::default();
        let mut open: Option<(String, Style)> = None;
        let mut reader = Reader::from_str(xml);
        loop {
            let event = reader.read_event().map_err(|error| DocxError::xml("the styles", &reader, &error))?;
            let is_empty = matches!(event, Event::Empty(_));
            match event {
                Event::Start(element) | Event::Empty(element) => match (element.local_name().as_ref(), &mut open) {
                    ("style", _) => {
                        let is_paragraph = attribute(&element, "type").is_none_or(|kind| kind == "paragraph");
                        let Some(id) = attribute(&element, "styleId").filter(|_| is_paragraph) else { continue };
                        if attribute(&element, "default").is_some_and(|value| is_on(&value)) {
                            styles.default = Some(id.clone());
                        }
                        if is_empty {
                            styles.by_id.insert(id, Style::default());
                        } else {
                            open = Some((id, Style::default()));
                        }
                    }
                    ("name", Some((_, style))) if style.name.is_empty() => {
                        style.name = shown_name(&attribute(&element, "val").unwrap_or_default());
                    }
                    ("basedOn", Some((_, style))) => style.based_on = attribute(&element, "val"),
                    ("numId", Some((_, style))) => style.list = attribute(&element, "val"),
                    _ => {}
                },
                Event::End(element) if element.local_name().as_ref() == "style" => styles.by_id.extend(open.take()),
                Event::Eof => return Ok(styles),
                _ => {}
            }
        }
    }

    /// The style of a paragraph that names `id`.
    fn style(&self, id: Option<&str>) -> Option<&Style> {
        let named = id.and_then(|id| self.by_id.get(id));
        named.or_else(|| self.by_id.get(self.default.as_deref()?))
    }

    /// The name of the style of a paragraph that names `id`; empty where there is none.
    pub(super) fn name(&self, id: Option<&str>) -> &str {
        self.style(id).map_or("", |style| &style.name)
    }

    /// The id of the list that paragraphs that name `id` are items of, `0` for none.
    pub(super) fn list(&self, id: Option<&str>) -> Option<&str> {
        let mut style = self.style(id);
        for _ in 0..LONGEST_CHAIN {
            match style {
                Some(Style { list: Some(list), .. }) => return Some(list),
                Some(Style { based_on: Some(base), .. }) => style = self.by_id.get(base),
                _ => return None,
            }
        }
        None
    }
}

/// Whether a value of XML Schema's boolean, as Word writes it, is true.
fn is_on(value: &str) -> bool {
    matches!(value, "1" | "true" | "on")
}

/// The name that Word shows: the file has a few of the built-in names in lower case.
fn shown_name(name: &str) -> String {
    match name {
        "caption" => "Caption".to_string(),
        "header" => "Header".to_string(),
        "footer" => "Footer".to_string(),
        name => match name.strip_prefix("heading ").map(str::as_bytes) {
            Some([b'1'..=b'9']) => name.replacen('h', "H", 1),
            _ => name.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLES: &str = r#"<?xml version="1.0"?><w:styles xmlns:w="w">
        <w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>
        <w:style w:type="character" w:default="1" w:styleId="Char"><w:name w:val="heading 2"/></w:style>
        <w:style w:type="paragraph" w:styleId="Kop1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/></w:style>
        <w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own &amp; only"/><w:basedOn w:val="Kop1"/></w:style>
        <w:style w:type="paragraph" w:styleId="L"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
        <w:style w:type="paragraph" w:styleId="L2"><w:name w:val="List Bullet 2"/><w:basedOn w:val="L"/></w:style>
        <w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style>
        <w:style w:type="paragraph" w:styleId="B"><w:basedOn w:val="A"/></w:style>
        </w:styles>"#;

    #[test]
    fn names_as_word_shows_them() {
        let styles = Styles::read(STYLES).expect("styles");
        for (id, name) in
            [("Kop1", "Heading 1"), ("Own", "Own & only"), ("Char", "Normal"), ("gone", "Normal"), ("A", "")]
        {
            assert_eq!(styles.name(Some(id)), name, "{id}");
        }
        assert_eq!(styles.name(None), "Normal");
        assert_eq!(Styles::default().name(None), "");
        assert_eq!(shown_name("heading 10"), "heading 10");
    }

    #[test]
    fn lists_are_inherited() {
        let styles = Styles::read(STYLES).expect("styles");
        assert_eq!(["L", "L2", "Kop1", "A"].map(|id| styles.list(Some(id))), [Some("3"), Some("3"), None, None]);
    }

    #[test]
    fn broken_xml_is_an_error() {
        assert!(Styles::read("<a></b>").is_err());
    }
}
