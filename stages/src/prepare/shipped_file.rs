//! Where in a dataset's folder a file of it is.

use std::path::{Path, PathBuf};

/// The file called `name` below `folder`: at the first of `places` (folders, nothing for `folder` itself) at which it is, else at
/// the first at which it is with `.gz` behind; where it is nowhere, where it should be.
pub(super) fn shipped_file(folder: &Path, places: &[&str], name: &str) -> PathBuf {
    let at = |name: &str| places.iter().map(|place| folder.join(place).join(name)).collect::<Vec<_>>();
    let paths = [at(name), at(&format!("{name}.gz"))].concat();
    let should_be = folder.join(places.first().copied().unwrap_or_default()).join(name);
    paths.into_iter().find(|path| path.exists()).unwrap_or(should_be)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_counts_and_plain_files_come_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let of = |places: &[&str]| shipped_file(root, places, "qa.csv");
        assert_eq!(of(&["data/qa", ""]), root.join("data/qa/qa.csv"), "where it should be");
        std::fs::create_dir_all(root.join("data/qa")).expect("folders");
        std::fs::write(root.join("data/qa/qa.csv.gz"), "").expect("a file");
        assert_eq!(of(&["", "data/qa"]), root.join("data/qa/qa.csv.gz"));
        std::fs::write(root.join("qa.csv"), "").expect("a file");
        assert_eq!(of(&["data/qa", ""]), root.join("qa.csv"));
    }
}
