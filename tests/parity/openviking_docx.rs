//! Syllabi as OpenViking's adapter renders them.

use ragstage_stages::materialize::openviking_markdown;
use serde_json::Value;

use crate::golden::golden;

#[test]
fn syllabi_are_rendered_as_recorded() {
    let Some(folder) = golden("openviking_adapters/syllabusqa") else { return };
    let expected = std::fs::read(folder.join("expected.json")).expect("expected.json");
    let expected: Value = serde_json::from_slice(&expected).expect("JSON");
    let documents = expected["documents"].as_array().expect("documents");
    assert!(!documents.is_empty());
    for document in documents {
        let name = document["sample_id"].as_str().expect("a name");
        let path = folder.join("syllabi/syllabi_redacted/word").join(format!("{name}.docx"));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let ours = openviking_markdown(&bytes, name).expect("a DOCX");
        assert_eq!(ours, document["content"].as_str().expect("content"), "{name}");
    }
}
