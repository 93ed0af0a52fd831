//! `init`.

use super::failure::Failure;
use super::flags::InitFlags;
use super::out::out;
use crate::evaluation::starter;
use crate::exit;

/// Writes a commented evaluation file that runs, with a tiny benchmark.
///
/// # Errors
/// When a file is there already, or cannot be written.
pub fn init(flags: &InitFlags) -> Result<u8, Failure> {
    let absolute = std::path::absolute(&flags.folder)
        .map_err(|error| Failure::Io { what: format!("find {}", flags.folder.display()), error })?;
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let files = starter(&name);
    for (file, _) in &files {
        let path = flags.folder.join(file);
        if path.exists() {
            return Err(Failure::Exists(path));
        }
    }
    for (file, text) in &files {
        let path = flags.folder.join(file);
        crate::publish::write_if_changed(&path, text.as_bytes())
            .map_err(|error| Failure::Io { what: format!("write {}", path.display()), error })?;
        out(&format!("wrote {}\n", path.display()))?;
    }
    let run = flags.folder.join("evaluation.yaml");
    out(&format!("Next: ragstage run {}\n", run.display()))?;
    Ok(exit::OK)
}
