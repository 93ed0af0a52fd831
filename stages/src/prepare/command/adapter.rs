//! The options of the adapter.

use std::path::{Path, PathBuf};

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};

use super::program::BenchmarkProgram;
use super::records::{Records, read};
use crate::error::InputError;
use crate::prepare::adapter::{Adapter, RECORDS, ReadFiles};
use crate::prepare::benchmark::Benchmark;
use crate::prepare::document_path::document_path;
use crate::prepare::listing::ListingFile;
use crate::prepare::sources::FindDocument;

/// Options of the `command` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// The program.
    pub program: BenchmarkProgram,
    /// Files that its output depends on: as they are named in the key, and where they are.
    pub files: Vec<(String, PathBuf)>,
    /// What `path` payloads are relative to.
    pub root: PathBuf,
    /// The benchmark's name in labels, and where its manifest does not say one.
    pub name: String,
}

/// How the roles of declared files begin.
const FILES: &str = "files/";
/// The role of the program's own file.
const PROGRAM: &str = "program";

impl CommandSpec {
    /// The program's own file, where it is one beside the evaluation file: the first word of the command that is a relative path
    /// of a file, such as `make.py` in `[python3, make.py]`.
    fn own_file(&self) -> Option<PathBuf> {
        let launch = &self.program.launch;
        let words = launch.command.iter().map(Path::new).filter(|word| word.is_relative());
        let mut files = words.map(|word| launch.directory.join(word)).filter(|path| path.is_file());
        files.next()
    }
}

impl Adapter for CommandSpec {
    fn name(&self) -> &'static str {
        "command"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        self.name.clone()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        v.text("name", &self.name);
    }

    /// The declared files, and the program's own file where it is none of them.
    fn listing(&self) -> Vec<ListingFile> {
        let declared = self.files.iter();
        let mut files: Vec<ListingFile> =
            declared.map(|(name, path)| ListingFile::required(format!("{FILES}{name}"), path.clone())).collect();
        if let Some(own) = self.own_file().filter(|own| self.files.iter().all(|(_, path)| path != own)) {
            files.push(ListingFile::required(PROGRAM, own));
        }
        files
    }

    fn advice(&self) -> &'static str {
        "correct `files` in the evaluation file; paths are relative to it"
    }

    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn names_documents(&self, _role: &str) -> bool {
        true
    }

    fn named(&self, files: &ReadFiles<'_>, _below: &[String]) -> Vec<String> {
        let records = files.find(RECORDS).map(|source| Records::read(source, &mut Vec::new())).unwrap_or_default();
        let paths = records.documents.iter().filter_map(|row| document_path(row.object.get("path")?.as_str()?).ok());
        paths.collect()
    }

    fn program(&self) -> Option<&BenchmarkProgram> {
        Some(&self.program)
    }

    fn read(&self, files: &ReadFiles<'_>, find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        read(&self.name, files.needed(RECORDS), find)
    }

    fn cases_role(&self) -> &'static str {
        RECORDS
    }
}

#[cfg(test)]
mod tests {
    use ragstage_cache::key::key_of;

    use super::*;
    use crate::prepare::listing::SourceFile;
    use crate::prepare::sources::Sources;
    use crate::prepare::spec::{AdapterSpec, BenchmarkSpec, Selection};
    use crate::process::Launch;

    fn spec(directory: &Path, command: &[&str]) -> CommandSpec {
        let command: Vec<String> = command.iter().map(|word| word.to_string()).collect();
        let launch = Launch { command: command.clone(), directory: directory.to_path_buf(), ..Launch::default() };
        CommandSpec {
            program: BenchmarkProgram { words: command, version: String::new(), timeout_s: 5.0, launch },
            files: vec![("data.csv".to_string(), directory.join("data.csv"))],
            root: directory.to_path_buf(),
            name: "reef".to_string(),
        }
    }

    #[test]
    fn the_programs_own_file_is_one_of_its_files() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["make.py", "data.csv"] {
            std::fs::write(folder.path().join(name), b"x").expect("a file");
        }
        let roles = |command: &[&str]| {
            let listing = spec(folder.path(), command).listing();
            listing.into_iter().map(|file| file.role).collect::<Vec<_>>()
        };
        assert_eq!(roles(&["python3", "make.py", "data.csv"]), ["files/data.csv", "program"]);
        assert_eq!(roles(&["./make.py"]), ["files/data.csv", "program"]);
        assert_eq!(roles(&["python3", "-m", "make"]), ["files/data.csv"]);
        // One that is declared is not there twice.
        assert_eq!(roles(&["cat", "data.csv"]), ["files/data.csv"]);
    }

    #[test]
    fn what_is_run_is_in_the_key_and_how_is_not() {
        let one = spec(Path::new("here"), &["make", "all"]);
        let file = |text: &str| SourceFile {
            role: "files/data.csv".to_string(),
            path: "data.csv".into(),
            digest: ragstage_cache::Digest::of(text.as_bytes()),
            size: 1,
        };
        let key = |spec: &CommandSpec, text: &str| {
            let spec = BenchmarkSpec { adapter: AdapterSpec::Command(spec.clone()), selection: Selection::default() };
            key_of(&Sources { spec, files: vec![file(text)], below: Vec::new(), salt: 0 })
        };
        let first = key(&one, "x");
        let mut same = one.clone();
        same.program.timeout_s = 9.0;
        same.program.launch.directory = "there".into();
        same.program.launch.environment = vec![("A".to_string(), "b".to_string())];
        same.root = "there".into();
        assert_eq!(key(&same, "x"), first);
        let mut version = one.clone();
        version.program.version = "2".to_string();
        let mut words = one.clone();
        words.program.words.pop();
        for other in [key(&version, "x"), key(&words, "x"), key(&one, "y")] {
            assert_ne!(other, first);
        }
    }
}
