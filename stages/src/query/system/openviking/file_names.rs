//! What documents are called within the server, and which document a URI belongs to.

use std::collections::{BTreeMap, BTreeSet};

use crate::query::system::IngestedDocument;

/// The longest stem, in bytes.
const LONGEST_STEM: usize = 100;
/// The longest extension that is taken for one.
const LONGEST_EXTENSION: usize = 8;

/// A document's name within the server: a stem that no other document of the unit has, whatever the case of letters, and an
/// extension by which the server tells how to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileName {
    /// ASCII letters, digits, `_` and `-`: nothing that the server would write in another way.
    pub(crate) stem: String,
    /// Without the dot.
    pub(crate) extension: String,
}

impl FileName {
    /// Stem and extension.
    pub(crate) fn text(&self) -> String {
        format!("{}.{}", self.stem, self.extension)
    }
}

/// The names of `documents`, in their order: their own as far as possible.
pub(crate) fn file_names(documents: &[IngestedDocument<'_>]) -> Vec<FileName> {
    let mut taken = BTreeSet::new();
    documents.iter().map(|document| unique(document, &mut taken)).collect()
}

fn unique(document: &IngestedDocument<'_>, taken: &mut BTreeSet<String>) -> FileName {
    let file = document.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_extension = |text: &str| {
        (1..=LONGEST_EXTENSION).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let (stem, extension) = match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => (stem, extension),
        _ => (file, extension_of(document.media_type)),
    };
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let mut stem: String = stem.chars().map(safe).take(LONGEST_STEM).collect();
    if !stem.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        // The server keeps what is hidden, or nameless, to itself.
        stem.insert_str(0, "document");
    }
    let mut name = stem.clone();
    let mut number = 2;
    while !taken.insert(name.to_ascii_lowercase()) {
        name = format!("{stem}-{number}");
        number += 1;
    }
    FileName { stem: name, extension: extension.to_string() }
}

fn extension_of(media_type: &str) -> &'static str {
    match media_type.split(';').next().unwrap_or_default().trim() {
        "text/markdown" => "md",
        "text/html" => "html",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "text/csv" => "csv",
        _ => "txt",
    }
}

/// The stem of the file or folder below `root` that `uri` is, or is in.
pub(super) fn stem_at<'u>(uri: &'u str, root: &str) -> Option<&'u str> {
    let below = uri.strip_prefix(root)?.strip_prefix('/')?;
    below.split('/').next()?.split('.').next()
}

/// The document that `uri` is of: the one whose file or folder is below `root` on the way to it. `places` are documents by
/// the stems of their names.
pub(crate) fn document_at<'p>(uri: &str, root: &str, places: &'p BTreeMap<String, String>) -> Option<&'p str> {
    let stem = stem_at(uri, root)?;
    let exact = places.get(stem);
    // Stems differ in more than the case of their letters.
    let found = exact.or_else(|| places.iter().find(|(known, _)| known.eq_ignore_ascii_case(stem)).map(|(_, id)| id));
    found.map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(documents: &[(&str, &str)]) -> Vec<String> {
        let document = |&(name, media_type)| IngestedDocument { id: name, name, media_type, bytes: b"x" };
        let documents: Vec<_> = documents.iter().map(document).collect();
        file_names(&documents).iter().map(FileName::text).collect()
    }

    #[test]
    fn names_are_kept_where_they_can_be() {
        assert_eq!(
            names(&[
                ("conv-26_doc.md", "text/markdown"),
                ("docs/harbour.txt", "text/plain"),
                ("harbour", "text/markdown"),
                ("HARBOUR.html", "text/html"),
                ("otter one.v2.md", "text/markdown"),
                ("雪.md", "text/markdown"),
                (".hidden", "text/plain; charset=utf-8"),
                ("", "application/pdf"),
                ("a.thisisnoextension", "text/plain"),
            ]),
            [
                "conv-26_doc.md",
                "harbour.txt",
                "harbour-2.md",
                "HARBOUR-3.html",
                "otter_one_v2.md",
                "document_.md",
                "document_hidden.txt",
                "document.pdf",
                "a_thisisnoextension.txt",
            ]
        );
    }

    #[test]
    fn a_uri_belongs_to_the_document_whose_folder_or_file_it_is_in() {
        let places: BTreeMap<String, String> =
            [("otter_one", "o1"), ("heron", "h")].map(|(stem, id)| (stem.to_string(), id.to_string())).into();
        let root = "viking://resources/ragstage-1";
        let at = |path: &str| document_at(&format!("{root}{path}"), root, &places);
        assert_eq!(at("/otter_one/otter_one.md"), Some("o1"));
        assert_eq!(at("/otter_one/Food/Food_1.md"), Some("o1"));
        assert_eq!(at("/otter_one/.overview.md"), Some("o1"));
        assert_eq!(at("/heron.json"), Some("h"));
        assert_eq!(at("/Heron/heron.md"), Some("h"));
        assert_eq!(at("/.overview.md"), None);
        assert_eq!(at("/heron2/heron2.md"), None);
        assert_eq!(at(""), None);
        assert_eq!(document_at("viking://resources/ragstage-12/heron/heron.md", root, &places), None);
    }
}
