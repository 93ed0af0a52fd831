//! The files that a benchmark is read from.

use std::path::{Path, PathBuf};
use std::{fs, io};

use ragstage_cache::Digest;

use super::adapter::RECORDS;
use super::spec::BenchmarkSpec;
use crate::error::{InputError, Place};

/// A file to digest before anything is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingFile {
    /// What the adapter reads it as, e.g. `documents`; unique in a listing.
    pub role: String,
    /// Where it is.
    pub path: PathBuf,
    /// Whether the benchmark cannot be read without it.
    pub required: bool,
}

/// A listing file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The role of the [`ListingFile`].
    pub role: String,
    /// Shown in errors; part of no key.
    pub path: PathBuf,
    /// Digest of its bytes.
    pub digest: Digest,
    /// Size in bytes.
    pub size: u64,
}

impl ListingFile {
    /// A file that the benchmark cannot be read without.
    pub(super) fn required(role: impl Into<String>, path: PathBuf) -> Self {
        ListingFile { role: role.into(), path, required: true }
    }
}

impl BenchmarkSpec {
    /// The files that the adapter reads, in its order.
    pub fn listing(&self) -> Vec<ListingFile> {
        self.adapter.adapter().listing()
    }

    /// The folder that documents given as files are relative to.
    pub fn root(&self) -> PathBuf {
        self.adapter.adapter().root()
    }

    /// The paths below the root of the files that the adapter looks at, sorted, segments joined by `/`. Names that are no UTF-8 are
    /// left out, for nothing can name them, and so is what is hidden: a store beside a dataset is no part of it.
    ///
    /// # Errors
    /// When a folder cannot be listed. A root that is not there has no files.
    pub fn below_root(&self) -> io::Result<Vec<String>> {
        match self.adapter.adapter().looks_into() {
            None => Ok(Vec::new()),
            Some("") => files_below(&self.root()),
            Some(folder) => {
                let found = files_below(&self.root().join(folder))?;
                Ok(found.into_iter().map(|path| format!("{folder}/{path}")).collect())
            }
        }
    }

    /// What the benchmark's program printed, by its digest and its size, as a source file; `None` where no program prints it.
    pub fn records(&self, digest: Digest, size: u64) -> Option<SourceFile> {
        self.adapter.adapter().program().map(|program| program.file(RECORDS, digest, size))
    }

    /// An error for every required file that is not among `files`.
    pub(super) fn missing(&self, files: &[SourceFile]) -> Vec<InputError> {
        self.listing()
            .into_iter()
            .filter(|listed| listed.required && !files.iter().any(|file| file.role == listed.role))
            .map(|listed| {
                let message = format!("the benchmark's {} file is missing", listed.role);
                InputError::new(Place::file(listed.path), message).hint(self.adapter.adapter().advice())
            })
            .collect()
    }
}

/// The names of the files right in `folder`, sorted; none where it cannot be listed. Names that are no UTF-8 are left out.
pub(super) fn named_files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| fs::metadata(entry.path()).is_ok_and(|about| about.is_file()));
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// How deep folders are looked into: enough for any dataset, and an end to links that lead upwards.
const DEEPEST: usize = 16;

/// The paths of the files below `root`, but for what is hidden.
pub(super) fn files_below(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_path_buf(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if depth == 0 && error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let name = format!("{prefix}{name}");
            match fs::metadata(entry.path()) {
                Ok(about) if about.is_dir() && depth < DEEPEST => {
                    folders.push((entry.path(), format!("{name}/"), depth + 1));
                }
                Ok(about) if about.is_file() => found.push(name),
                // A link to nothing, or what is neither.
                _ => {}
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::beir::BeirSpec;
    use super::super::spec::{AdapterSpec, Selection};
    use super::*;

    #[test]
    fn a_beir_folder_has_three_files() {
        let spec =
            BeirSpec { path: "reef".into(), dataset: "minireef".into(), split: " Test ".into(), dataset_url: None };
        let spec = BenchmarkSpec { adapter: AdapterSpec::Beir(spec), selection: Selection::default() };
        let paths: Vec<PathBuf> = spec.listing().into_iter().map(|file| file.path).collect();
        assert_eq!(paths, ["reef/corpus.jsonl", "reef/queries.jsonl", "reef/qrels/test.tsv"].map(PathBuf::from));
        let missing = spec.missing(&[]);
        assert_eq!(missing.len(), 3);
        assert_eq!(missing[2].to_string(), "reef/qrels/test.tsv: the benchmark's qrels file is missing");
    }
}
