//! Which file is a syllabus.
//!
//! Upstream has every syllabus as text, Word file and PDF. They are looked for by the name in the questions: OpenViking's
//! benchmark takes every `.docx` out of a file's name and so misses `Odd.docx.docx`, the file of a syllabus called `Odd.docx`.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// A form of the syllabi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyllabusForm {
    /// Plain text.
    Text,
    /// Word files.
    Word,
    /// PDF.
    Pdf,
}

impl SyllabusForm {
    /// The word in evaluation files, which is the name of the form's folder.
    pub(super) fn word(self) -> &'static str {
        match self {
            SyllabusForm::Text => "text",
            SyllabusForm::Word => "word",
            SyllabusForm::Pdf => "pdf",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            SyllabusForm::Text => "txt",
            SyllabusForm::Word => "docx",
            SyllabusForm::Pdf => "pdf",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            SyllabusForm::Text => "text/plain",
            SyllabusForm::Word => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            SyllabusForm::Pdf => "application/pdf",
        }
    }

    /// Where the syllabus `name` may be, below the root.
    fn paths(self, name: &str) -> [String; 2] {
        let (word, ending) = (self.word(), self.ending());
        [format!("syllabi/syllabi_redacted/{word}/{name}.{ending}"), format!("syllabi/{name}.{ending}")]
    }
}

/// The media type of a syllabus at `path`.
pub(super) fn media_type(path: &str) -> &'static str {
    let forms = [SyllabusForm::Word, SyllabusForm::Pdf];
    let form = forms.into_iter().find(|form| path.ends_with(form.ending())).unwrap_or(SyllabusForm::Text);
    form.media_type()
}

/// The syllabi on disk.
pub(super) struct Syllabi<'a> {
    /// The only one that is read.
    form: Option<SyllabusForm>,
    below: HashSet<&'a str>,
}

impl<'a> Syllabi<'a> {
    /// Those among the files `below` the root.
    pub(super) fn new(form: Option<SyllabusForm>, below: &'a [String]) -> Self {
        Syllabi { form, below: below.iter().map(String::as_str).collect() }
    }

    /// The path of the syllabus `name` below the root, where it is there.
    pub(super) fn path(&self, name: &str) -> Option<String> {
        paths(self.form, name).into_iter().find(|path| self.below.contains(path.as_str()))
    }

    /// Where a syllabus is looked for first.
    pub(super) fn example(form: Option<SyllabusForm>) -> String {
        paths(form, "NAME").into_iter().next().unwrap_or_default()
    }
}

fn forms(form: Option<SyllabusForm>) -> &'static [SyllabusForm] {
    match form {
        None => &[SyllabusForm::Word, SyllabusForm::Text],
        Some(SyllabusForm::Word) => &[SyllabusForm::Word],
        Some(SyllabusForm::Text) => &[SyllabusForm::Text],
        Some(SyllabusForm::Pdf) => &[SyllabusForm::Pdf],
    }
}

/// Where the syllabus `name` may be, below the root, best first; nowhere where that is no name of a file.
pub(super) fn paths(form: Option<SyllabusForm>, name: &str) -> Vec<String> {
    if name.is_empty() || name.contains(['/', '\\', '\0']) {
        return Vec::new();
    }
    forms(form).iter().flat_map(|form| form.paths(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_is_there_is_read() {
        let below = [
            "syllabi/A b.docx",
            "syllabi/syllabi_redacted/pdf/A b.pdf",
            "syllabi/syllabi_redacted/text/A b.txt",
            "syllabi/syllabi_redacted/text/C.txt",
            "syllabi/syllabi_redacted/word/Odd.docx.docx",
        ]
        .map(str::to_string);
        let path = |form, name| Syllabi::new(form, &below).path(name);
        assert_eq!(path(None, "A b").as_deref(), Some("syllabi/A b.docx"));
        assert_eq!(path(None, "C").as_deref(), Some("syllabi/syllabi_redacted/text/C.txt"));
        assert_eq!(path(None, "Odd.docx").as_deref(), Some("syllabi/syllabi_redacted/word/Odd.docx.docx"));
        assert_eq!(path(Some(SyllabusForm::Word), "C"), None);
        assert_eq!(path(Some(SyllabusForm::Pdf), "A b").as_deref(), Some("syllabi/syllabi_redacted/pdf/A b.pdf"));
        for name in ["", "../A b", "Odd", "a\\b"] {
            assert_eq!(path(None, name), None, "{name}");
        }
        assert_eq!(media_type("syllabi/A b.docx"), SyllabusForm::Word.media_type());
        assert_eq!(media_type("syllabi/x.docx.txt"), "text/plain");
    }
}
