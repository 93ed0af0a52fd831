//! The files of UDA-Benchmark's documents, found by their names.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::subset::UdaSubset;

/// The best file for each name.
pub(super) struct DocumentFiles<'a> {
    by_name: HashMap<&'a str, &'a str>,
}

impl<'a> DocumentFiles<'a> {
    /// Of the files at `paths` (segments joined by `/`). A document's file is called as the document is, with one ending behind, and
    /// of several the first in this order is taken: one in the subset's own folder, a PDF, the shortest path, the first path by letters.
    pub(super) fn new(subset: UdaSubset, paths: impl Iterator<Item = &'a str>) -> Self {
        let rank = |path: &str| {
            let own = path.split('/').any(|segment| segment == subset.folder());
            let pdf = media_type(path) == "application/pdf";
            (Reverse(own), Reverse(pdf), path.chars().count(), path.to_string())
        };
        let mut by_name: HashMap<&'a str, &'a str> = HashMap::new();
        for path in paths {
            let file = path.rsplit('/').next().unwrap_or(path);
            let Some((name, _)) = file.rsplit_once('.') else { continue };
            let best = by_name.entry(name).or_insert(path);
            if rank(path) < rank(best) {
                *best = path;
            }
        }
        DocumentFiles { by_name }
    }

    /// The file of the document called `name`.
    pub(super) fn find(&self, name: &str) -> Option<&'a str> {
        self.by_name.get(name).copied()
    }
}

/// The media type that the ending of `path` says, letter case aside.
pub(super) fn media_type(path: &str) -> &'static str {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "pdf" => "application/pdf",
        "html" | "htm" => "text/html",
        "txt" | "md" => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(paths: &[&'a str], name: &str) -> Option<&'a str> {
        DocumentFiles::new(UdaSubset::Fin, paths.iter().copied()).find(name)
    }

    #[test]
    fn the_subsets_folder_comes_first_then_pdfs_then_short_paths() {
        let all =
            ["x/A.pdf", "src/fin_docs/A.html", "src/fin_docs/deep/A.pdf", "src/fin_docs/A.PDF", "src/fin_docs/B.PDF"];
        for (paths, best) in [
            (&all[..1], "x/A.pdf"),
            (&all[..2], "src/fin_docs/A.html"),
            (&all[..3], "src/fin_docs/deep/A.pdf"),
            (&all[..], "src/fin_docs/A.PDF"),
        ] {
            assert_eq!(found(paths, "A"), Some(best));
            let backwards: Vec<&str> = paths.iter().rev().copied().collect();
            assert_eq!(found(&backwards, "A"), Some(best));
        }
        assert_eq!(found(&["b/A.txt", "a/A.txt"], "A"), Some("a/A.txt"));
    }

    #[test]
    fn a_name_is_no_pattern_and_no_prefix() {
        assert_eq!(found(&["Reef [TV].html"], "Reef [TV]"), Some("Reef [TV].html"));
        assert_eq!(found(&["AB.pdf"], "A?"), None);
        assert_eq!(found(&["1901.00001.v2.pdf"], "1901.00001"), None);
        assert_eq!(found(&["1901.00001.pdf"], "1901"), None);
        assert_eq!(found(&["1901.00001.pdf"], "1901.00001"), Some("1901.00001.pdf"));
        assert_eq!(found(&["A", ".A.pdf"], "A"), None);
    }
}
