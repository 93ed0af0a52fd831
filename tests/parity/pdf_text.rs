//! The text of real PDFs, page by page, against that of poppler's `pdftotext`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use ragstage_stages::artifact::Page;
use unicode_normalization::UnicodeNormalization;

use crate::golden::{data, say};
use crate::parsed::parsed;

/// The share of pdftotext's words that a page must have.
const LEAST_SHARE: f64 = 0.95;

/// A page with fewer words is compared as part of its document only: one word would be too large a share of it.
const FEWEST_WORDS: usize = 20;

/// The PDFs below a folder, sorted.
fn pdfs(folder: &Path) -> Vec<PathBuf> {
    let mut open = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for path in crate::golden::entries(&folder) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pdf") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The pages of a document as pdftotext reads them; `None` where it is not installed.
fn pdftotext(path: &Path) -> Option<Vec<String>> {
    let output = Command::new("pdftotext").args(["-enc", "UTF-8"]).arg(path).arg("-").output().ok()?;
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A form feed ends each page, the last one too.
    let mut pages: Vec<String> = text.split('\u{c}').map(str::to_string).collect();
    pages.pop();
    Some(pages)
}

/// The words of a text: letters and digits that stand together, in one spelling for ligatures and accents.
fn words(text: &str) -> HashMap<String, usize> {
    let text: String = text.nfkc().collect();
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_string()).or_insert(0) += 1;
    }
    words
}

/// The words of one of our pages. pdftotext joins what a hyphen parts at the end of a line, and ours does not: either way
/// counts.
fn words_of_page(page: &Page) -> HashMap<String, usize> {
    let mut found = words(&page.text);
    for (word, count) in words(&page.text.replace("-\n", "")) {
        let known = found.entry(word).or_insert(0);
        *known = count.max(*known);
    }
    found
}

#[test]
fn the_words_that_pdftotext_finds_are_found_on_their_page() {
    let folders = ["financebench/pdfs", "uda/dataset/src_doc_files_example"];
    let paths: Vec<PathBuf> =
        folders.iter().filter_map(|folder| data(folder)).flat_map(|folder| pdfs(&folder)).collect();
    if paths.is_empty() {
        return;
    }
    if pdftotext(&paths[0]).is_none() {
        return say("SKIPPED: pdftotext is not installed (Debian's package poppler-utils); no PDF is compared with it");
    }
    let (mut pages, mut faults) = (0, Vec::new());
    for (path, parsed) in paths.iter().zip(parsed(&paths)) {
        let name = &parsed.name;
        assert_eq!(parsed.error, None, "{name}");
        let theirs = pdftotext(path).expect("installed");
        assert_eq!(parsed.pages.len(), theirs.len(), "{name}");
        let (mut found, mut all) = (0, 0);
        for (page, theirs) in parsed.pages.iter().zip(&theirs) {
            let (ours, theirs) = (words_of_page(page), words(theirs));
            let of_page: usize = theirs.values().sum();
            let common: usize =
                theirs.iter().map(|(word, count)| ours.get(word).map_or(0, |have| *have.min(count))).sum();
            (found, all, pages) = (found + common, all + of_page, pages + 1);
            if of_page >= FEWEST_WORDS && (common as f64) < LEAST_SHARE * of_page as f64 {
                faults.push(format!("{name}, page {}: {common} of {of_page} words", page.index));
            }
        }
        if (found as f64) < LEAST_SHARE * all as f64 {
            faults.push(format!("{name}: {found} of {all} words"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    say(&format!("{pages} pages of {} PDFs have at least {LEAST_SHARE} of the words of pdftotext", paths.len()));
}
