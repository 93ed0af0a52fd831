//! `docs/`: the documents as they are handed over.

use std::collections::BTreeSet;
use std::path::Path;

use ragstage_stages::artifact::Documents;
use ragstage_stages::materialize::openviking_markdown;

use super::super::error::OpenVikingError;
use super::json_file::{read_json, write_json};
use crate::exec::Sources;
use crate::publish::write_if_changed;

/// The list of what we wrote, beside the documents: what is not in it is somebody else's.
const WRITTEN: &str = ".ragstage-documents.json";

/// Writes the documents that are rendered, and removes those of an earlier run that are none any more. PDFs stay where they are.
///
/// # Errors
/// When a file cannot be written, or a Word file cannot be rendered.
pub fn write_documents(folder: &Path, documents: &Documents, sources: &Sources) -> Result<(), OpenVikingError> {
    let io = |path: &Path, error| OpenVikingError::Io { what: format!("write {}", path.display()), error };
    let mut written = BTreeSet::new();
    for document in &documents.rows {
        let (name, bytes) = match (&document.data, document.name.strip_suffix(".docx")) {
            (Some(data), _) => (document.name.clone(), data.clone()),
            (None, Some(name)) => {
                let Some(path) = document.digest.and_then(|digest| sources.path(&digest)) else { continue };
                let bytes = std::fs::read(&path)
                    .map_err(|error| OpenVikingError::Io { what: format!("read {}", path.display()), error })?;
                let text = openviking_markdown(&bytes, name).map_err(|why| OpenVikingError::Input {
                    what: format!("{} cannot be rendered: {why}", path.display()),
                    hint: "mend the file, or take its questions out".to_string(),
                })?;
                (format!("{name}_doc.md"), text.into_bytes())
            }
            (None, None) => continue,
        };
        let path = folder.join(&name);
        std::fs::create_dir_all(folder).map_err(|error| io(folder, error))?;
        write_if_changed(&path, &bytes).map_err(|error| io(&path, error))?;
        written.insert(name);
    }
    let list = folder.join(WRITTEN);
    // A list that cannot be read is as none: then nothing is removed.
    let before: Vec<String> =
        read_json(&list).ok().flatten().and_then(|list| serde_json::from_value(list).ok()).unwrap_or_default();
    for stale in before.iter().filter(|name| !written.contains(*name) && !name.contains(['/', '\\'])) {
        match std::fs::remove_file(folder.join(stale)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(&folder.join(stale), error)),
            _ => {}
        }
    }
    if written.is_empty() && before.is_empty() { Ok(()) } else { write_json(&list, &written, 2) }
}
