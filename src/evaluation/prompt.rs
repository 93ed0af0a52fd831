//! Prompts that the evaluation file names: templates in files of their own.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ragstage_stages::model::Prompt;
use serde_json::Value;

use super::diagnostic::Faults;
use super::shape::{Field, Need, TEXT};
use super::view::View;

/// No prompt is larger; what is, is another file given by mistake.
const MAX_BYTES: u64 = 1 << 16;

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

    /// The prompt in the file that the text at `view` names, or `ours` where it names none. It must take `example`, what
    /// such a prompt is filled with.
    pub(super) fn prompt(&self, view: &View<'_>, ours: Prompt, example: &Value, faults: &mut Faults) -> Option<Prompt> {
        let Some(name) = view.text() else { return Some(ours) };
        let path = self.base.join(name);
        let text = content(&path);
        if !self.read.borrow().contains(&path) {
            self.read.borrow_mut().push(path);
        }
        let text = match text {
            Ok(text) => text,
            Err(why) => {
                let hint = "paths are relative to the evaluation file".to_string();
                faults.add_hint(view.start(), &view.path, format!("the prompt `{name}` cannot be read: {why}"), hint);
                return None;
            }
        };
        let prompt = Prompt::new(&text);
        match prompt.fill(example) {
            Ok(filled) if filled.is_empty() => {
                faults.add(view.start(), &view.path, format!("the prompt `{name}` is empty"));
                None
            }
            Ok(_) => Some(prompt),
            Err(why) => {
                let names: Vec<&str> =
                    example.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                let hint = format!("it is given {}", names.join(", "));
                faults.add_hint(view.start(), &view.path, format!("the prompt `{name}` cannot be filled: {why}"), hint);
                None
            }
        }
    }
}

fn content(path: &Path) -> Result<String, String> {
    let told = |error: io::Error| error.to_string();
    let facts = fs::metadata(path).map_err(told)?;
    // Opening a pipe waits for a writer that may never come.
    if !facts.is_file() {
        return Err("not a regular file".to_string());
    }
    if facts.len() > MAX_BYTES {
        return Err(format!("larger than {MAX_BYTES} bytes"));
    }
    fs::read_to_string(path).map_err(told)
}
