//! TREC's SGML: documents between `<DOC>` and `</DOC>`, topics between `<top>` and `</top>`.

use std::path::Path;

use super::collection::CollectionDocument;
use super::entities::decoded;
use super::source_text::LineCounter;
use crate::error::{InputError, Place};
use crate::python::strip;

/// Elements that hold a document's title.
const TITLES: [&str; 6] = ["title", "headline", "hl", "head", "ttl", "ti"];
/// Elements that hold a document's text. Where there is none of them, it is all but the title and [`OTHERS`].
const TEXTS: [&str; 3] = ["text", "leadpara", "lp"];
/// Elements that are about the document, or that no reader sees.
const OTHERS: [&str; 11] =
    ["docno", "docid", "docoldno", "dochdr", "docref", "fileid", "parent", "accession", "script", "style", "url"];
/// Elements that begin a line.
const BREAKS: [&str; 9] = ["p", "br", "tr", "li", "div", "h1", "h2", "h3", "h4"];

/// A stretch of text from one tag to another.
pub(super) struct Block<'a> {
    /// What is between the tags.
    pub(super) text: &'a str,
    /// The line of the first tag.
    pub(super) line: u64,
}

/// The stretches between `<name>` and `</name>`, letter case aside. One that does not end is an error.
pub(super) fn blocks<'a>(path: &Path, text: &'a str, name: &str, errors: &mut Vec<InputError>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    let mut lines = LineCounter::new(text);
    let mut open: Option<(usize, u64)> = None;
    for tag in tags(text) {
        if !tag.name.eq_ignore_ascii_case(name) {
            continue;
        }
        match (tag.is_end, open.take()) {
            (false, before) => {
                if let Some((_, line)) = before {
                    errors.push(unclosed(path, line, name));
                }
                open = Some((tag.end, lines.line(tag.start)));
            }
            (true, Some((start, line))) => {
                blocks.push(Block { text: text.get(start..tag.start).unwrap_or_default(), line });
            }
            (true, None) => {
                let place = Place::line(path, lines.line(tag.start));
                errors.push(InputError::new(place, format!("`</{name}>` without `<{name}>` before it")));
            }
        }
    }
    if let Some((_, line)) = open {
        errors.push(unclosed(path, line, name).hint("is the file cut off?"));
    }
    blocks
}

fn unclosed(path: &Path, line: u64, name: &str) -> InputError {
    InputError::new(Place::line(path, line), format!("`<{name}>` without `</{name}>` after it"))
}

/// A tag.
#[derive(Debug, PartialEq, Eq)]
struct Tag<'a> {
    name: &'a str,
    is_end: bool,
    /// The byte of its `<`.
    start: usize,
    /// The byte after its `>`.
    end: usize,
}

/// The tags of `text`: `<` and a letter, or `</` and a letter, up to the next `>` on the way to which no other `<` is.
fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', bytes).filter_map(move |start| {
        let is_end = bytes.get(start + 1) == Some(&b'/');
        let from = start + 1 + usize::from(is_end);
        let rest = text.get(from..).filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))?;
        let close = memchr::memchr2(b'>', b'<', rest.as_bytes())?;
        if rest.as_bytes().get(close) != Some(&b'>') {
            return None;
        }
        let inner = rest.get(..close)?;
        let name = inner.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_')).next()?;
        Some(Tag { name, is_end, start, end: from + close + 1 })
    })
}

/// The document in `block`; `None` where it has no number, which is an error.
pub(super) fn document(path: &Path, block: &Block<'_>, errors: &mut Vec<InputError>) -> Option<CollectionDocument> {
    let place = Place::line(path, block.line);
    let mut parts = Parts::default();
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    for tag in tags(block.text) {
        parts.take(&open, block.text.get(at..tag.start).unwrap_or_default());
        at = tag.end;
        let is = |names: &[&str]| names.iter().any(|name| tag.name.eq_ignore_ascii_case(name));
        if is(&BREAKS) {
            parts.take(&open, "\n");
        } else {
            // Words on both sides of a tag are two.
            parts.take(&open, " ");
        }
        // Others are often not closed, and change nothing.
        if is(&TITLES) || is(&TEXTS) || is(&OTHERS) {
            if tag.is_end {
                if let Some(depth) = open.iter().rposition(|name| name.eq_ignore_ascii_case(tag.name)) {
                    open.truncate(depth);
                }
            } else {
                open.push(tag.name);
            }
        }
    }
    parts.take(&open, block.text.get(at..).unwrap_or_default());
    let id = strip(&parts.number).to_string();
    if id.is_empty() {
        errors.push(InputError::new(place, "a `<DOC>` without a `<DOCNO>`; expected one with the document's number"));
        return None;
    }
    let text = if parts.has_text { parts.text } else { parts.rest };
    let title = parts.title.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(CollectionDocument {
        id,
        title: decoded(&title).into_owned(),
        text: decoded(&tidy(&text)).into_owned(),
        place,
    })
}

/// What the elements of a document hold.
#[derive(Default)]
struct Parts {
    number: String,
    title: String,
    text: String,
    /// Whether an element of [`TEXTS`] is there.
    has_text: bool,
    rest: String,
}

impl Parts {
    /// Takes `text`, which is within the elements `open`, the innermost last.
    fn take(&mut self, open: &[&str], text: &str) {
        let within =
            |names: &[&str]| open.iter().any(|name| names.iter().any(|other| name.eq_ignore_ascii_case(other)));
        if within(&["docno"]) {
            self.number.push_str(text);
        } else if within(&OTHERS) {
            // Of no reader's concern.
        } else if within(&TITLES) {
            self.title.push_str(text);
        } else if within(&TEXTS) {
            self.has_text = true;
            self.text.push_str(text);
        } else {
            self.rest.push_str(text);
        }
    }
}

/// `text` without blanks at the ends of lines, and with at most one empty line in a row.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if !tidy.is_empty() {
            tidy.push_str(if empty > 0 { "\n\n" } else { "\n" });
        }
        empty = 0;
        tidy.push_str(line);
    }
    tidy
}

/// The elements of a topic with their texts, in order: each lasts until the next tag, closed or not.
pub(super) fn elements<'a>(block: &Block<'a>) -> Vec<(&'a str, &'a str)> {
    let mut elements: Vec<(&'a str, &'a str)> = Vec::new();
    let mut open: Option<(&'a str, usize)> = None;
    let mut end = |open: &mut Option<(&'a str, usize)>, at: usize| {
        if let Some((name, start)) = open.take() {
            elements.push((name, block.text.get(start..at).unwrap_or_default()));
        }
    };
    for tag in tags(block.text) {
        end(&mut open, tag.start);
        if !tag.is_end {
            open = Some((tag.name, tag.end));
        }
    }
    end(&mut open, block.text.len());
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(text: &str) -> (Vec<CollectionDocument>, Vec<String>) {
        let mut errors = Vec::new();
        let path = Path::new("f");
        let blocks = blocks(path, text, "DOC", &mut errors);
        let documents = blocks.iter().filter_map(|block| document(path, block, &mut errors)).collect();
        (documents, errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn documents_have_number_title_and_text() {
        let text = "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<PROFILE>x</PROFILE><HEADLINE>\nHigh  tide\n</HEADLINE>\n<TEXT>\n<P>AT&amp;T at\nnoon.</P>\n\n\n<p>Then 1 < 2.\n</TEXT>\n</DOC>\n\
                    <doc id=\"2\"><docno>FT-2</docno><dochdr>http://x</dochdr><html><title>T</title>One<b>two</b><script>no</script></doc>";
        let (documents, errors) = documents(text);
        assert!(errors.is_empty(), "{errors:?}");
        let parts: Vec<_> = documents.iter().map(|d| (d.id.as_str(), d.title.as_str(), d.text.as_str())).collect();
        assert_eq!(parts, [("FT-1", "High tide", "AT&T at\nnoon.\n\nThen 1 < 2."), ("FT-2", "T", "One two")]);
        assert_eq!(documents[1].place, Place::line("f", 14));
    }

    #[test]
    fn what_is_torn_is_told() {
        let (documents, errors) = documents(
            "</DOC>\n<DOC>\n<TEXT>x</TEXT>\n</DOC>\n<DOC><DOCNO>1</DOCNO>\n<DOC><DOCNO>2</DOCNO></DOC><DOC>\n",
        );
        assert_eq!(documents.len(), 1);
        assert_eq!(
            errors,
            [
                "f:1: `</DOC>` without `<DOC>` before it",
                "f:5: `<DOC>` without `</DOC>` after it",
                "f:6: `<DOC>` without `</DOC>` after it",
                "f:2: a `<DOC>` without a `<DOCNO>`; expected one with the document's number",
            ]
        );
    }

    #[test]
    fn many_open_brackets_take_no_long() {
        let text = format!("<DOC><DOCNO>1</DOCNO>{}</DOC>", "<a ".repeat(3_000_000));
        let (documents, errors) = documents(&text);
        assert_eq!((documents.len(), errors.len()), (1, 0));
    }
}
