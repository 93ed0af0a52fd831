//! A folder of documents as one file.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::file_names::FileName;
use crate::error::{RowError, RowErrorKind};
use crate::query::system::IngestedDocument;

/// A zip archive of `documents` under their `names`: files alone, deflated, without times, so that the same documents are
/// the same bytes.
///
/// # Errors
/// `refused` for what does not fit into an archive.
pub(super) fn archive(documents: &[IngestedDocument<'_>], names: &[FileName]) -> Result<Vec<u8>, RowError> {
    let refused =
        |error: String| RowError::new(RowErrorKind::Refused, format!("the documents make no archive: {error}"));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (document, name) in documents.iter().zip(names) {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .large_file(u32::try_from(document.bytes.len()).is_err());
        writer.start_file(name.text(), options).map_err(|error| refused(error.to_string()))?;
        writer.write_all(document.bytes).map_err(|error| refused(error.to_string()))?;
    }
    Ok(writer.finish().map_err(|error| refused(error.to_string()))?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::file_names::file_names;
    use super::*;

    #[test]
    fn documents_come_out_of_the_archive_as_they_went_in() {
        let long = "The heron stands in the reeds. ".repeat(500);
        let document = |name, bytes| IngestedDocument { id: name, name, media_type: "text/plain", bytes };
        let documents = [document("sub/heron.txt", long.as_bytes()), document("雪.bin", &[0, 255])];
        let names = file_names(&documents);
        let bytes = archive(&documents, &names).expect("an archive");
        assert!(bytes.len() < long.len() / 4, "{} bytes", bytes.len());
        assert_eq!(archive(&documents, &names).expect("again"), bytes);
        let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip");
        let names = zip.file_names().map(|name| name.expect("a name").into_owned()).collect::<Vec<_>>();
        assert_eq!(names, ["heron.txt", "document_.bin"]);
        let mut read = |name: &str| {
            let mut bytes = Vec::new();
            zip.by_name(name).expect("a file").read_to_end(&mut bytes).expect("its bytes");
            bytes
        };
        assert_eq!(read("heron.txt"), long.as_bytes());
        assert_eq!(read("document_.bin"), [0, 255]);
    }
}
