//! Files as the parsers read them.

use std::path::{Path, PathBuf};

use ragstage_cache::Digest;
use ragstage_stages::artifact::{
    Document, Documents, Golds, Json, ParsedDocument, ParsedDocuments, Queries, Unit, UnitRows,
};
use ragstage_stages::materialize::{Materialize, ParseOptions};

use crate::memory::MemoryContext;

fn document(path: &Path) -> Document {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    Document {
        document_id: path.display().to_string(),
        name,
        media_type: "application/octet-stream".to_string(),
        digest: Some(Digest::of(&bytes)),
        size: Some(bytes.len() as u64),
        data: Some(bytes),
        source_uri: None,
        source_key: String::new(),
        metadata: Json::new(),
    }
}

/// The documents at `paths`, in this order.
pub fn parsed(paths: &[PathBuf]) -> Vec<ParsedDocument> {
    let context = MemoryContext::default();
    let documents = Documents { rows: paths.iter().map(|path| document(path)).collect() };
    let rows = UnitRows { unit_id: "u".to_string(), document_rows: None, case_rows: None, metadata: Json::new() };
    let unit =
        Unit::over(rows, &documents, &Queries::default(), &Golds::default(), &Default::default()).expect("a unit");
    let action = Materialize { documents: context.put(&documents), unit, options: ParseOptions::default(), salt: 0 };
    context.run(&action).read::<ParsedDocuments>("parsed").rows
}
