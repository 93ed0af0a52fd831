//! Prompts that the evaluation file names: templates in files of their own.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use ragstage_stages::error::Place;
use ragstage_stages::model::Prompt;
use serde_json::Value;

use super::diagnostic::Faults;
use super::shape::{Field, Need, TEXT};
use super::text_file;
use super::view::View;

pub(super) const PROMPT_FIELD: Field = Field {
    name: "prompt",
    doc: "A file with another prompt, relative to this file: a template in the language of Jinja2. Its content is in the \
          key.",
    shape: TEXT,
    need: Need::Optional,
};

/// Reads prompts, and remembers which files were read.
pub(super) struct PromptFiles<'a> {
    /// The folder of the evaluation file.
    base: &'a Path,
    read: RefCell<Vec<PathBuf>>,
}

impl<'a> PromptFiles<'a> {
    /// Prompts relative to `base`; none is read yet.
    pub(super) fn new(base: &'a Path) -> Self {
        PromptFiles { base, read: RefCell::default() }
    }

    /// The files that were read.
    pub(super) fn into_read(self) -> Vec<PathBuf> {
        self.read.into_inner()
    }

    /// The path and the text of the file that the text at `view` names; `None` where it names none or it cannot be read, which
    /// is reported.
    pub(super) fn text(&self, view: &View<'_>, faults: &mut Faults) -> Option<(PathBuf, String)> {
        text_file::read(view, self.base, &mut self.read.borrow_mut(), faults)
    }

    /// The prompt in the file that the text at `view` names, or `ours` where it names none. It must take `example`, what
    /// such a prompt is filled with.
    pub(super) fn prompt(&self, view: &View<'_>, ours: Prompt, example: &Value, faults: &mut Faults) -> Option<Prompt> {
        if !view.is_given() {
            return Some(ours);
        }
        let (file, text) = text_file::read(view, self.base, &mut self.read.borrow_mut(), faults)?;
        let prompt = Prompt::new(&text);
        match prompt.check(example) {
            Ok(()) => Some(prompt),
            Err(fault) => {
                let hint = fault.hint.unwrap_or_else(|| format!("it is given {}", given(example)));
                let place = Place { file, line: fault.line, column: None };
                faults.add_in_file(place, &view.path, fault.message, hint);
                None
            }
        }
    }
}

/// The names of `example`, with those of the items of lists.
fn given(example: &Value) -> String {
    let names = |value: &Value| {
        value.as_object().into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>()
    };
    let one = |(name, value): (&String, &Value)| match value.get(0).map(names).filter(|fields| !fields.is_empty()) {
        Some(fields) => format!("`{name}` (each with {})", fields.join(", ")),
        None => format!("`{name}`"),
    };
    example.as_object().into_iter().flatten().map(one).collect::<Vec<_>>().join(", ")
}
