//! Texts that stand in files of their own: prompts, instructions.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::diagnostic::Faults;
use super::view::View;

/// No prompt is larger; what is, is data given by mistake.
const MAX_BYTES: u64 = 1 << 20;

/// The path, joined to `base`, and the text of the file that the text at `view` names. It is added to `files`, those that were
/// read to know the evaluation. `None` where no file is named or it cannot be used, which is reported.
pub(super) fn read(
    view: &View<'_>,
    base: &Path,
    files: &mut Vec<PathBuf>,
    faults: &mut Faults,
) -> Option<(PathBuf, String)> {
    let name = view.text()?;
    let path = base.join(name);
    if !files.contains(&path) {
        files.push(path.clone());
    }
    match content(&path) {
        Ok(text) => Some((path, text.strip_prefix('\u{feff}').unwrap_or(&text).to_string())),
        Err(why) => {
            let hint = "paths are relative to the evaluation file".to_string();
            faults.add_hint(view.start(), &view.path, format!("`{name}` {why}"), hint);
            None
        }
    }
}

/// The text of the file at `path`, or why it cannot be used.
pub(super) fn content(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    // Opening a pipe waits for a writer that may never come.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is not a regular file".to_string());
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("is larger than {MAX_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        format!("is not UTF-8 in line {}", sound.iter().filter(|byte| **byte == b'\n').count() + 1)
    })
}
