//! What an adapter is to the prepare stage.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use ragstage_cache::KeyVisitor;

use super::about::About;
use super::benchmark::Benchmark;
use super::command::BenchmarkProgram;
use super::lines::SourceBytes;
use super::listing::{ListingFile, SourceFile};
use super::sources::FindDocument;
use crate::error::InputError;

/// Reads one dataset from the files that its authors ship, with the options that an evaluation file gives.
///
/// It is asked in this order: [`Adapter::listing`] before every run, since files come and go; [`Adapter::named`] when one
/// of the naming files changed; [`Adapter::read`] when anything changed. The first two open no document.
pub(super) trait Adapter: Debug {
    /// The name in evaluation files.
    fn name(&self) -> &'static str;

    /// The code version, bumped by hand when what is read from the same files changes.
    fn version(&self) -> u64;

    /// The benchmark's name, as labels and reports have it.
    fn benchmark_name(&self) -> String;

    /// Visits the options that the outputs depend on: never a path.
    fn walk_options(&self, v: &mut dyn KeyVisitor);

    /// The files to read, in a fixed order. May look at the disk to see which there are.
    fn listing(&self) -> Vec<ListingFile>;

    /// What to do when a required file of the listing is missing, as a hint.
    fn advice(&self) -> &'static str;

    /// The folder that [`Adapter::named`] is relative to.
    fn root(&self) -> PathBuf;

    /// What is wrong with the options themselves, before any file is looked at.
    fn check(&self) -> Result<(), Vec<InputError>> {
        Ok(())
    }

    /// The folder below [`Adapter::root`] (empty for that itself) of which the names of files matter to [`Adapter::named`]. Then they
    /// are part of its key, so it is no wider than it must be.
    fn looks_into(&self) -> Option<&'static str> {
        None
    }

    /// Whether the listing's file of this role names documents that are files of their own.
    fn names_documents(&self, _role: &str) -> bool {
        false
    }

    /// The documents that are files: their paths below the root, segments joined by `/`. `files` has the naming files only,
    /// `below` the paths of all files below the root, sorted, where [`Adapter::looks_into`] asks for them. What is
    /// malformed names nothing here; [`Adapter::read`] tells it, together with all else that is wrong.
    fn named(&self, _files: &ReadFiles<'_>, _below: &[String]) -> Vec<String> {
        Vec::new()
    }

    /// The program that prints the benchmark, where one does. What it prints is then a file of the role [`RECORDS`], the only one
    /// that [`Adapter::named`] and [`Adapter::read`] see; the files of the listing are what it depends on.
    fn program(&self) -> Option<&BenchmarkProgram> {
        None
    }

    /// The benchmark in `files`. `find` is asked for the documents that [`Adapter::named`] named.
    ///
    /// # Errors
    /// All that is missing or malformed in any of the files, with file and line.
    fn read(&self, files: &ReadFiles<'_>, find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>>;

    /// The role of the file that errors about cases as a whole name.
    fn cases_role(&self) -> &'static str;

    /// What is known of the dataset, where it is one that everybody has.
    fn about(&self) -> Option<&'static About> {
        None
    }

    /// What a chat model is told beside the question, by category, unless the evaluation says so itself.
    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// The role of what a program printed.
pub(super) const RECORDS: &str = "records";

/// The bytes of listing files, in the listing's order.
#[derive(Debug, Default)]
pub(super) struct ReadFiles<'a> {
    /// Each file with its bytes.
    pub(super) files: Vec<(&'a SourceFile, Vec<u8>)>,
    /// What [`Adapter::named`] gave, where the benchmark is read: the documents that are files.
    pub(super) documents: Vec<&'a str>,
}

impl ReadFiles<'_> {
    /// The file of that role, where it is there.
    pub(super) fn find(&self, role: &str) -> Option<SourceBytes<'_>> {
        self.iter().find(|(found, _)| *found == role).map(|(_, bytes)| bytes)
    }

    /// The file of that role. A required file was found before anything is read; without it an adapter sees an empty one
    /// and says so.
    pub(super) fn needed(&self, role: &str) -> SourceBytes<'_> {
        self.find(role).unwrap_or(SourceBytes { path: Path::new(""), bytes: &[] })
    }

    /// All files with their roles.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, SourceBytes<'_>)> {
        self.files.iter().map(|(file, bytes)| (file.role.as_str(), SourceBytes { path: &file.path, bytes }))
    }
}
