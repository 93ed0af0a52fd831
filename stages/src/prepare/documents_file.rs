//! The documents file of the `jsonl` adapter.

use std::collections::HashMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ragstage_cache::Digest;

use super::benchmark::{append_in_line_order, nothing, source_key};
use super::document_path::document_path;
use super::fields::Fields;
use super::ids::Ids;
use super::keys::DOCUMENT;
use super::lines::{LineEnds, SourceBytes};
use super::rows::{Row, rows};
use super::sources::FindDocument;
use crate::artifact::{BenchmarkInfo, Document, Documents};
use crate::error::{InputError, Place};

/// The documents of `source`: rows of `document_id`, `name`, `media_type`, `metadata` and exactly one payload.
pub(super) fn read_documents(
    info: &BenchmarkInfo,
    source: SourceBytes<'_>,
    find: &FindDocument<'_>,
    errors: &mut Vec<InputError>,
) -> (Documents, Ids) {
    let mut found = Vec::new();
    let rows = rows(source, LineEnds::Json, &mut found);
    let files = DocumentFiles { find, root: "the folder of the documents file" };
    documents_in(info, source.path, &rows, &files, found, errors)
}

/// Where documents that are given as paths are.
pub(super) struct DocumentFiles<'a> {
    /// Finds one.
    pub(super) find: &'a FindDocument<'a>,
    /// What paths are relative to where the benchmark does not say.
    pub(super) root: &'static str,
}

impl DocumentFiles<'_> {
    fn hint(&self) -> String {
        format!("paths are relative to `root`, by default {}", self.root)
    }
}

/// The documents in `rows` of the file `path`, of which `found` is what is known to be wrong so far.
pub(super) fn documents_in(
    info: &BenchmarkInfo,
    path: &Path,
    rows: &[Row],
    files: &DocumentFiles<'_>,
    mut found: Vec<InputError>,
    errors: &mut Vec<InputError>,
) -> (Documents, Ids) {
    let mut ids = Ids::new("document_id");
    let mut paths = HashMap::new();
    let mut documents = Vec::new();
    for row in rows {
        let fields = Fields::of(path, row).checked(&DOCUMENT, &mut found);
        let document_id = fields.text("document_id", &mut found);
        if let Some(document_id) = &document_id {
            ids.take(document_id, documents.len(), fields.place(), &mut found);
        }
        let name = fields.text("name", &mut found);
        if let Some(name) = &name {
            check_file_name(name, &fields, &mut found);
        }
        let media_type = fields.text("media_type", &mut found);
        let payload = payload(&fields, &mut paths, files, &mut found);
        let metadata = fields.object("metadata", &mut found);
        if let (Some(document_id), Some(name), Some(media_type), Some(payload)) =
            (document_id, name, media_type, payload)
        {
            let source_key = source_key(&info.name, &info.split, &document_id, &name);
            let Payload { digest, size, data, source_uri } = payload;
            documents.push(Document {
                document_id,
                name,
                media_type,
                digest,
                size,
                data,
                source_uri,
                source_key,
                metadata,
            });
        }
    }
    if documents.is_empty() && found.is_empty() {
        found.push(nothing(Place::file(path), "document", "write one document per line"));
    }
    append_in_line_order(errors, found);
    (Documents { rows: documents }, ids)
}

/// A document is stored under its name, so the name must be that of a file.
fn check_file_name(name: &str, fields: &Fields<'_>, errors: &mut Vec<InputError>) {
    if name.contains(['/', '\\']) || name == "." || name == ".." {
        let error = fields.error(format!("`name` is {name:?}; expected a file name"));
        errors.push(error.hint("leave the folders out of the name"));
    }
}

/// Where a document's bytes are.
#[derive(Default)]
struct Payload {
    digest: Option<Digest>,
    size: Option<u64>,
    data: Option<Vec<u8>>,
    source_uri: Option<String>,
}

impl Payload {
    fn inline(data: Vec<u8>) -> Self {
        Payload { digest: Some(Digest::of(&data)), size: Some(data.len() as u64), data: Some(data), source_uri: None }
    }
}

/// The keys that say where a document's bytes are; a row has exactly one of them.
const PAYLOADS: [&str; 4] = ["text", "data_base64", "path", "source_uri"];

fn payload(
    fields: &Fields<'_>,
    paths: &mut HashMap<String, u64>,
    files: &DocumentFiles<'_>,
    errors: &mut Vec<InputError>,
) -> Option<Payload> {
    let given: Vec<&str> = PAYLOADS.into_iter().filter(|key| fields.value(key).is_some()).collect();
    match given.as_slice() {
        ["text"] => fields.verbatim("text", errors).map(|text| Payload::inline(text.into_bytes())),
        ["data_base64"] => {
            let text = fields.verbatim("data_base64", errors)?;
            // Encoders break long texts into lines.
            let text = text.replace(['\r', '\n'], "");
            match STANDARD.decode(&text) {
                Ok(data) => Some(Payload::inline(data)),
                Err(error) => {
                    let message = format!("`data_base64` is no base64: {}", fault(&error));
                    errors.push(fields.error(message).hint("use the standard alphabet with `=` padding, no blanks"));
                    None
                }
            }
        }
        ["path"] => file(fields, paths, files, errors),
        ["source_uri"] => {
            let source_uri = fields.optional_text("source_uri", errors)?;
            Some(Payload { source_uri: Some(source_uri), ..Payload::default() })
        }
        [] if PAYLOADS.into_iter().any(|key| fields.is_misspelt(key)) => None,
        [] => {
            let error = fields.error("no content; expected one of `text`, `data_base64`, `path`, `source_uri`");
            errors.push(if fields.is_null("text") {
                error.hint("`text` is null; write \"\" for an empty document")
            } else {
                error
            });
            None
        }
        given => {
            let given: Vec<String> = given.iter().map(|key| format!("`{key}`")).collect();
            let error = fields.error(format!("{} are both given; expected one of them", given.join(" and ")));
            errors.push(error.hint("keep the one that holds the document"));
            None
        }
    }
}

fn fault(error: &base64::DecodeError) -> String {
    use base64::DecodeError::{InvalidByte, InvalidLastSymbol, InvalidLength, InvalidPadding};
    match error {
        InvalidByte(at, byte) => format!("unexpected {:?} at offset {at}", char::from(*byte)),
        InvalidLastSymbol(at, byte) => format!("the last symbol {:?} at offset {at} has stray bits", char::from(*byte)),
        InvalidLength(length) => format!("{length} symbols cannot be decoded"),
        InvalidPadding => "the padding is wrong or missing".to_string(),
    }
}

fn file(
    fields: &Fields<'_>,
    paths: &mut HashMap<String, u64>,
    files: &DocumentFiles<'_>,
    errors: &mut Vec<InputError>,
) -> Option<Payload> {
    let written = fields.verbatim("path", errors)?;
    let path = match document_path(&written) {
        Ok(path) => path,
        Err(why) => {
            let error = fields.error(format!("`path` {written:?} {why}"));
            errors.push(error.hint(files.hint()));
            return None;
        }
    };
    let line = fields.place().line.unwrap_or_default();
    if let Some(other) = paths.insert(path.clone(), line) {
        let error = fields.error(format!("`path` {path:?} is the document of line {other} too"));
        errors.push(error.hint("give each file one row; units may share a document by its id"));
        return None;
    }
    match (files.find)(&path) {
        Ok(Some((digest, size))) => Some(Payload { digest: Some(digest), size: Some(size), ..Payload::default() }),
        Ok(None) => {
            let error = fields.error(format!("`path` {path:?} is missing on disk"));
            errors.push(error.hint(files.hint()));
            None
        }
        Err(why) => {
            errors.push(fields.error(format!("`path` {path:?} {why}")));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Documents, Vec<InputError>> {
        let mut errors = Vec::new();
        let info = BenchmarkInfo { name: "harbor".into(), split: "test".into(), ..BenchmarkInfo::default() };
        let source = SourceBytes { path: Path::new("documents.jsonl"), bytes: text.as_bytes() };
        let find = |path: &str| match path {
            "files/a.md" => Ok(Some((Digest::of(b"abc"), 3))),
            "files" => Err("cannot be read: is a directory".to_string()),
            _ => Ok(None),
        };
        let (documents, _) = read_documents(&info, source, &find, &mut errors);
        if errors.is_empty() { Ok(documents) } else { Err(errors) }
    }

    fn row(payload: &str) -> String {
        format!("{{\"document_id\": \"d\", \"name\": \"d.txt\", \"media_type\": \"text/plain\", {payload}}}")
    }

    fn one(payload: &str) -> Document {
        read(&row(payload)).unwrap().rows.remove(0)
    }

    fn fault(payload: &str) -> String {
        let errors = read(&row(payload)).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].place, Place::line("documents.jsonl", 1));
        errors[0].message.clone()
    }

    #[test]
    fn a_document_has_one_payload() {
        let text = one(r#""text": " é ", "path": null"#);
        assert_eq!(text.data.as_deref(), Some(" é ".as_bytes()));
        assert_eq!((text.size, text.digest), (Some(4), Some(Digest::of(" é ".as_bytes()))));
        assert_eq!(text.source_key, "raw/benchmarks/harbor/test/d/d.txt");
        assert_eq!(one(r#""data_base64": "AP8Q\r\ngAc=\n""#).data, one(r#""data_base64": "AP8QgAc=""#).data);
        assert_eq!(one(r#""data_base64": "AP8QgAc=""#).data.as_deref(), Some([0, 0xff, 0x10, 0x80, 7].as_slice()));
        let file = one(r#""path": "./files/a.md""#);
        assert_eq!((file.data, file.digest, file.size), (None, Some(Digest::of(b"abc")), Some(3)));
        let remote = one(r#""source_uri": "s3://b/x""#);
        assert_eq!((remote.source_uri.as_deref(), remote.digest), (Some("s3://b/x"), None));
        assert_eq!(one(r#""text": """#).size, Some(0));
    }

    #[test]
    fn other_payloads_are_errors() {
        assert_eq!(fault(r#""x": 1"#), "no content; expected one of `text`, `data_base64`, `path`, `source_uri`");
        assert_eq!(fault(r#""text": null"#), "no content; expected one of `text`, `data_base64`, `path`, `source_uri`");
        assert_eq!(fault(r#""text": "", "path": "p""#), "`text` and `path` are both given; expected one of them");
        assert_eq!(fault(r#""text": ["a"]"#), "`text` is a list; expected a text");
        assert_eq!(fault(r#""data_base64": "YQ""#), "`data_base64` is no base64: the padding is wrong or missing");
        assert_eq!(fault(r#""data_base64": "Y Q=""#), "`data_base64` is no base64: unexpected ' ' at offset 1");
        assert_eq!(fault(r#""path": "files/b.md""#), "`path` \"files/b.md\" is missing on disk");
        assert_eq!(fault(r#""path": "files""#), "`path` \"files\" cannot be read: is a directory");
        assert_eq!(fault(r#""path": "../a.md""#), "`path` \"../a.md\" leaves the benchmark's root");
        assert_eq!(fault(r#""source_uri": " ""#), "`source_uri` is blank");
    }

    #[test]
    fn misspelt_keys_are_told_once_with_what_was_meant() {
        let errors =
            read("{\"docment_id\": \"d\", \"name\": \"d.txt\", \"media_type\": \"text/plain\", \"txt\": \"t\"}")
                .unwrap_err();
        let told: Vec<_> = errors.iter().map(|error| (error.message.as_str(), error.hint.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("unknown key `docment_id`", Some("did you mean `document_id`?")),
                ("unknown key `txt`", Some("did you mean `text`?")),
            ]
        );
        assert!(read(&row(r#""text": "t", "ignored_field": 1"#)).is_ok());
    }

    #[test]
    fn ids_and_paths_are_taken_once() {
        let path = row(r#""path": "files/a.md""#);
        let errors = read(&format!("{path}\n{}\n", path.replace("files/a.md", "files//a.md"))).unwrap_err();
        let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "documents.jsonl:2: document_id \"d\" is taken by line 1",
                "documents.jsonl:2: `path` \"files/a.md\" is the document of line 1 too",
            ]
        );
    }

    #[test]
    fn a_name_is_a_file_name() {
        for name in ["sub/d.txt", "sub\\\\d.txt", "..", "."] {
            let errors = read(&row(r#""text": "t""#).replace("d.txt", name)).unwrap_err();
            assert!(errors[0].message.ends_with("expected a file name"), "{errors:?}");
        }
    }
}
