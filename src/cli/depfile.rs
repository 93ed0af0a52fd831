//! `--depfile`: a Makefile rule that lists every file read, as compilers write it.

use std::path::Path;

use super::failure::Failure;
use crate::batch::{Batch, BatchOutcome};
use crate::publish::write_if_changed;

/// Writes the rule. Its target is the stamp, or the first published file where there is none.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, stamp: Option<&Path>, batch: &Batch, outcome: &BatchOutcome) -> Result<(), Failure> {
    let published = outcome.evaluations.iter().flat_map(|evaluation| evaluation.files.iter()).map(|(path, _)| path);
    let Some(target) = stamp.or_else(|| published.into_iter().next().map(|path| path.as_path())) else {
        return Ok(());
    };
    let mut read = batch.shared.sources.read();
    read.extend(batch.evaluations.iter().flat_map(|evaluation| evaluation.files.iter().cloned()));
    read.sort();
    read.dedup();
    let files: Vec<String> = read.iter().map(|file| escape(file)).collect::<Result<_, _>>()?;
    // The empty rules keep make going when a file that was read is deleted; the run then says what is wrong.
    let empty: String = files.iter().map(|file| format!("\n{file}:\n")).collect();
    let text = format!("{}: \\\n  {}\n{empty}", escape(target)?, files.join(" \\\n  "));
    write_if_changed(path, text.as_bytes())
        .map(drop)
        .map_err(|error| Failure::Io { what: format!("write {}", path.display()), error })
}

/// A file name as GNU make reads it in a rule without a pattern.
fn escape(path: &Path) -> Result<String, Failure> {
    let name = path.to_str().filter(|name| !name.contains(['\n', '\r'])).ok_or_else(|| Failure::NotThere {
        what: format!("the file name {path:?} cannot stand in a Makefile"),
        hint: "rename the file, or run without --depfile".to_string(),
    })?;
    let mut text = String::new();
    for character in name.chars() {
        match character {
            ' ' | '#' | '\\' | ':' => {
                text.push('\\');
                text.push(character);
            }
            '$' => text.push_str("$$"),
            other => text.push(other),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_for_make() {
        let escaped = |name: &str| escape(Path::new(name)).ok();
        assert_eq!(escaped("my data/$x#1.txt").as_deref(), Some("my\\ data/$$x\\#1.txt"));
        assert_eq!(escaped("a%b/cases.jsonl").as_deref(), Some("a%b/cases.jsonl"));
        assert_eq!(escaped("two\nlines"), None);
    }
}
