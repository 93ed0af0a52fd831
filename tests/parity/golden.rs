//! Where recorded results and real data are.

use std::io::Write;
use std::path::PathBuf;

/// The folder named by `variable`, else `default` beside the project; `None`, said loudly, where it is absent.
fn folder(variable: &str, default: &str, below: &str) -> Option<PathBuf> {
    let root = std::env::var_os(variable)
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(default));
    let path = root.join(below);
    if path.exists() {
        Some(path)
    } else {
        // Past the harness, which swallows what a passing test prints with `eprintln!`.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is absent; set {variable} to run this test", path.display());
        None
    }
}

/// A folder or file below the golden results.
pub fn golden(below: &str) -> Option<PathBuf> {
    folder("RAGSTAGE_GOLDEN", "shared/golden", below)
}

/// A folder or file below the real datasets.
pub fn data(below: &str) -> Option<PathBuf> {
    folder("RAGSTAGE_DATA", "shared/data", below)
}
