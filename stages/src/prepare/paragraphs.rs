//! Paragraphs that questions come with. Each is one document, however many questions have it.

use std::collections::{HashMap, HashSet};

use ragstage_cache::Digest;
use serde_json::json;

use super::benchmark::source_key;
use super::rendering::{Rendering, Span};
use super::safe_id::safe_id;
use crate::artifact::{BenchmarkInfo, Document, Json};

/// What a paragraph's id is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParagraphIds {
    /// Its title, which says which paragraph it is. Of two with one title the later one's text is in its id too.
    Title,
    /// Its title and its text, for many have the same title.
    TitleAndText,
}

/// All paragraphs so far.
#[derive(Debug)]
pub(super) struct Paragraphs {
    ids: ParagraphIds,
    /// The documents, a row for each paragraph.
    pub(super) documents: Vec<Document>,
    /// Where the lines of each stand in its text.
    lines: Vec<Vec<Span>>,
    /// The rows, by the digest of the text.
    rows: HashMap<Digest, u32>,
    taken: HashSet<String>,
}

impl Paragraphs {
    /// None yet.
    pub(super) fn new(ids: ParagraphIds) -> Self {
        Paragraphs { ids, documents: Vec::new(), lines: Vec::new(), rows: HashMap::new(), taken: HashSet::new() }
    }

    /// The row of the paragraph of these lines, whose text is its title, an empty line, and a line for each of `lines`. Blank
    /// ones are left out.
    pub(super) fn row(&mut self, info: &BenchmarkInfo, title: &str, lines: &[String]) -> u32 {
        let mut rendering = Rendering::default();
        rendering.line(title);
        rendering.line("");
        let line = |line: &String| if line.is_empty() { Span::default() } else { rendering.line(line) };
        let spans: Vec<Span> = lines.iter().map(line).collect();
        let data = rendering.into_text().into_bytes();
        let digest = Digest::of(&data);
        if let Some(row) = self.rows.get(&digest) {
            return *row;
        }
        let row = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        let document_id = self.id(title, &digest);
        let name = format!("{document_id}.txt");
        self.documents.push(Document {
            source_key: source_key(&info.name, &info.split, &document_id, &name),
            document_id,
            name,
            media_type: "text/plain".to_string(),
            digest: Some(digest),
            size: Some(data.len() as u64),
            data: Some(data),
            source_uri: None,
            metadata: Json::from_iter([("title".to_string(), json!(title))]),
        });
        self.lines.push(spans);
        self.rows.insert(digest, row);
        row
    }

    fn id(&mut self, title: &str, text: &Digest) -> String {
        let plain = safe_id(title);
        let exact = format!("{plain}_{}", text.hex().get(..12).unwrap_or_default());
        let id = if self.ids == ParagraphIds::Title && !self.taken.contains(&plain) { plain } else { exact };
        self.taken.insert(id.clone());
        id
    }

    /// The id of the document at `row`.
    pub(super) fn document_id(&self, row: u32) -> &str {
        self.documents.get(row as usize).map(|document| document.document_id.as_str()).unwrap_or_default()
    }

    /// Where line `line` of the document at `row` stands in its text.
    pub(super) fn line(&self, row: u32, line: usize) -> Span {
        self.lines.get(row as usize).and_then(|lines| lines.get(line)).copied().unwrap_or_default()
    }
}

/// `text` on one line, without blanks at its ends.
pub(super) fn one_line(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.trim().to_string();
    }
    let lines: Vec<&str> =
        text.split(|c: char| c.is_control()).map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> BenchmarkInfo {
        BenchmarkInfo { name: "reef".to_string(), split: "dev".to_string(), ..BenchmarkInfo::default() }
    }

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| line.to_string()).collect()
    }

    #[test]
    fn a_paragraph_is_one_document() {
        let mut paragraphs = Paragraphs::new(ParagraphIds::Title);
        let first = paragraphs.row(&info(), "Öl/Gas", &lines(&["One.", "", "Two."]));
        let other = paragraphs.row(&info(), "Öl/Gas", &lines(&["One."]));
        assert_eq!(paragraphs.row(&info(), "Öl/Gas", &lines(&["One.", "", "Two."])), first);
        assert_eq!((first, other, paragraphs.documents.len()), (0, 1, 2));
        let document = &paragraphs.documents[0];
        assert_eq!(document.data.as_deref(), Some("Öl/Gas\n\nOne.\nTwo.".as_bytes()));
        assert_eq!(document.source_key, format!("raw/benchmarks/reef/dev/{0}/{0}.txt", document.document_id));
        assert!(paragraphs.document_id(1).starts_with(&format!("{}_", paragraphs.document_id(0))));
        assert_eq!(paragraphs.line(0, 2), Span { start: 13, end: 17 });
        assert_eq!(paragraphs.line(0, 1), Span::default());
    }

    #[test]
    fn titles_alone_may_say_too_little() {
        let mut paragraphs = Paragraphs::new(ParagraphIds::TitleAndText);
        let row = paragraphs.row(&info(), "Reef", &lines(&["One."]));
        let id = paragraphs.document_id(row).to_string();
        assert!(id.starts_with("Reef_") && id.len() == "Reef_".len() + 12, "{id}");
        // Whatever comes before it.
        let mut paragraphs = Paragraphs::new(ParagraphIds::TitleAndText);
        paragraphs.row(&info(), "Reef", &lines(&["Two."]));
        let row = paragraphs.row(&info(), "Reef", &lines(&["One."]));
        assert_eq!(paragraphs.document_id(row), id);
    }

    #[test]
    fn lines_have_no_ends_within() {
        assert_eq!(one_line(" A\u{c}b \r\n\r\n c\u{85}d\u{2028} "), "A b c d");
    }
}
