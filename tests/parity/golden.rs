//! Where recorded results and real data are.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder named by `variable`, else `default` beside the project; `None`, said loudly, where it is absent.
///
/// A folder that was named and does not exist fails the test: whoever names it wants it compared.
fn folder(variable: &str, default: &str, below: &str) -> Option<PathBuf> {
    let root = match std::env::var_os(variable).map(PathBuf::from) {
        Some(root) => {
            assert!(root.is_dir(), "{variable} is {}, where there is no folder", root.display());
            root
        }
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(default),
    };
    let path = root.join(below);
    if path.exists() {
        Some(path)
    } else {
        say(&format!("SKIPPED: {} is absent; set {variable} to compare with it", path.display()));
        None
    }
}

/// Says something that must be seen although the test passes: the test harness holds back what `eprintln` prints.
pub fn say(text: &str) {
    // Nobody reads it if it cannot be written.
    let _ = writeln!(std::io::stderr(), "parity: {text}");
}

/// What is in a folder, sorted.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// A folder or file below the golden results.
pub fn golden(below: &str) -> Option<PathBuf> {
    folder("RAGSTAGE_GOLDEN", "shared/golden", below)
}

/// A folder or file below the real datasets.
pub fn data(below: &str) -> Option<PathBuf> {
    folder("RAGSTAGE_DATA", "shared/data", below)
}
