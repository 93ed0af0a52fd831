//! A benchmark prepared by the two actions of the prepare stage, over files on disk and without a store.

use ragstage_stages::artifact::{Documents, Golds, Queries, Units};
use ragstage_stages::contract::{Action, Artifact, Produced};
use ragstage_stages::error::{InputError, StageError, StageErrorKind};
use ragstage_stages::prepare::{BenchmarkSpec, DocumentFile, PrepareBenchmark, SourceFile, SourceList, Sources};

use crate::memory::MemoryContext;

/// The four artifacts.
#[derive(PartialEq)]
pub struct Prepared {
    pub documents: Documents,
    pub queries: Queries,
    pub golds: Golds,
    pub units: Units,
}

/// Prepares `spec`; `edit` gives the bytes that a listing file is taken to have (role and bytes on disk).
pub fn prepare(spec: &BenchmarkSpec, edit: &dyn Fn(&str, Vec<u8>) -> Vec<u8>) -> Result<Prepared, Vec<InputError>> {
    let memory = MemoryContext::default();
    let mut files = Vec::new();
    for listed in spec.listing() {
        if let Ok(bytes) = std::fs::read(&listed.path) {
            let bytes = edit(&listed.role, bytes);
            let (digest, size) = (memory.put_source(&bytes), bytes.len() as u64);
            files.push(SourceFile { role: listed.role, path: listed.path, digest, size });
        }
    }
    let below = spec.below_root().expect("a folder that can be listed");
    let sources = Sources { spec: spec.clone(), files: files.clone(), below, salt: 0 };
    let list: SourceList = output(&sources.run(&memory).map_err(input_errors)?, "sources");
    let documents = list.paths.into_iter().map(|relative| match std::fs::read(spec.root().join(&relative)) {
        Ok(bytes) => {
            let (digest, size) = (memory.put_source(&bytes), bytes.len() as u64);
            DocumentFile { relative, digest: Some(digest), size, fault: None }
        }
        Err(_) => DocumentFile { relative, digest: None, size: 0, fault: None },
    });
    let documents = documents.collect();
    let action = PrepareBenchmark { spec: spec.clone(), files, documents, records: None, salt: 0 };
    let produced = action.run(&memory).map_err(input_errors)?;
    Ok(Prepared {
        documents: output(&produced, "documents"),
        queries: output(&produced, "queries"),
        golds: output(&produced, "gold"),
        units: output(&produced, "units"),
    })
}

fn output<T: Artifact>(produced: &Produced, name: &str) -> T {
    let output = produced.outputs.iter().find(|output| output.name == name).expect("an output of that name");
    T::decode(output.bytes.clone()).expect("an artifact that can be read back")
}

fn input_errors(error: StageError) -> Vec<InputError> {
    match error.kind {
        StageErrorKind::Input(errors) => errors,
        kind => panic!("not an input error: {kind:?}"),
    }
}
