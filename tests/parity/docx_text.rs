//! Real Word documents against the text that people made of them.

use std::path::PathBuf;

use crate::golden::{data, entries};
use crate::parsed::parsed;

/// The words of a text that are long enough not to be found anywhere by chance. Some of the texts lack spaces between words.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).collect()
}

/// The letters and digits of a text.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn syllabi_have_the_words_of_their_text_version() {
    let Some(folder) = data("syllabusqa/syllabi/syllabi_redacted") else { return };
    let paths: Vec<PathBuf> = entries(&folder.join("word"));
    assert!(paths.len() > 50, "{}", paths.len());
    let mut faults = Vec::new();
    for (path, parsed) in paths.iter().zip(parsed(&paths)) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert_eq!((parsed.error.as_deref(), parsed.parser.as_str()), (None, "docx"), "{name}");
        let text = std::fs::read(folder.join("text").join(format!("{name}.txt"))).expect("its text");
        let text = String::from_utf8_lossy(&text).into_owned();
        let words = words(&text);
        let ours = letters(&parsed.pages[0].text);
        let found = words.iter().filter(|word| ours.contains(**word)).count();
        if found * 100 < words.len() * 95 {
            faults.push(format!("{name}: {found} of {} words", words.len()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
