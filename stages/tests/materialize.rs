//! Documents to chunks, with the rows that are computed again when something changes.

mod made_documents;
mod memory;

use made_documents::{MadePage, docx, line, paragraph, pdf};
use memory::MemoryContext;
use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{
    Chunks, Document, Documents, Golds, Heading, Json, ParsedDocument, ParsedDocuments, Queries, Unit, UnitRows,
};
use ragstage_stages::build::chunk::{ChunkDocuments, ChunkOptions, Splitter, Tokenizer};
use ragstage_stages::contract::{Action, Artifact, Produced};
use ragstage_stages::materialize::{Materialize, ParseOptions};

fn document(id: &str, media_type: &str, data: &[u8]) -> Document {
    Document {
        document_id: id.to_string(),
        name: format!("{id}.txt"),
        media_type: media_type.to_string(),
        digest: Some(Digest::of(data)),
        size: Some(data.len() as u64),
        data: Some(data.to_vec()),
        source_uri: None,
        source_key: format!("raw/benchmarks/b/test/{id}/{id}.txt"),
        metadata: Json::new(),
    }
}

fn unit(documents: &Documents, rows: Option<&[u32]>) -> Unit {
    let rows = UnitRows {
        unit_id: "u".to_string(),
        document_rows: rows.map(<[u32]>::to_vec),
        case_rows: Some(Vec::new()),
        metadata: Json::new(),
    };
    Unit::over(rows, documents, &Queries::default(), &Golds::default(), &Default::default()).expect("unit")
}

fn materialize(context: &MemoryContext, documents: &Documents, rows: Option<&[u32]>) -> Materialize {
    let unit = unit(documents, rows);
    Materialize { documents: context.put(documents), unit, options: ParseOptions::default(), salt: 0 }
}

fn corpus() -> Documents {
    Documents {
        rows: vec![
            document("plain", "text/plain", b"First page.\x0cSecond page."),
            document("marked", "text/markdown", b"# Top\r\n\r\nIntro.\r\n\r\n## Part\r\n\r\nText.\r\n"),
            document("web", "text/html; charset=utf-8", b"<title>Web</title><h1>Head</h1><p>Body &amp; soul."),
            document("twin", "text/plain", b"First page.\x0cSecond page."),
        ],
    }
}

/// What `action` produced, its one output decoded, and the labels of the rows it computed, sorted.
fn run<T: Artifact>(context: &MemoryContext, action: &dyn Action) -> (Produced, T, Vec<String>) {
    let ran = context.run(action);
    let [output] = ran.0.outputs.as_slice() else { panic!("one output, found {}", ran.0.outputs.len()) };
    assert!(!output.observation);
    let decoded = ran.read(output.name);
    (ran.0, decoded, context.computed())
}

fn texts(document: &ParsedDocument) -> Vec<&str> {
    document.pages.iter().map(|page| page.text.as_str()).collect()
}

#[test]
fn documents_become_pages_in_the_units_order() {
    let context = MemoryContext::default();
    let action = materialize(&context, &corpus(), Some(&[2, 0, 1, 3]));
    let (produced, parsed, computed) = run::<ParsedDocuments>(&context, &action);
    assert_eq!(produced.failed, 0);
    assert_eq!(computed, ["marked", "plain", "web"], "the twin shares a row");

    let ids: Vec<_> = parsed.rows.iter().map(|row| (row.document_id.as_str(), row.parser.as_str())).collect();
    assert_eq!(ids, [("web", "html"), ("plain", "text"), ("marked", "markdown"), ("twin", "text")]);
    assert_eq!(texts(&parsed.rows[0]), ["Head\n\nBody & soul."]);
    assert_eq!(parsed.rows[0].title.as_deref(), Some("Web"));
    assert_eq!(parsed.rows[0].pages[0].headings, [Heading { offset: 0, level: 1, title: "Head".to_string() }]);
    assert_eq!(texts(&parsed.rows[1]), ["First page.", "Second page."]);
    assert_eq!(texts(&parsed.rows[2]), ["# Top\n\nIntro.\n\n## Part\n\nText.\n"]);
    assert_eq!(parsed.rows[2].title.as_deref(), Some("Top"));
    assert_eq!(parsed.rows[2].source_key, "raw/benchmarks/b/test/marked/marked.txt");
    assert_eq!(texts(&parsed.rows[3]), texts(&parsed.rows[1]));
}

#[test]
fn only_a_changed_document_is_parsed_again() {
    let context = MemoryContext::default();
    let mut documents = corpus();
    let first = materialize(&context, &documents, None);
    let (before, _, _) = run::<ParsedDocuments>(&context, &first);
    documents.rows[1] = document("marked", "text/markdown", b"# Other\n");
    documents.rows.reverse();
    let (_, parsed, computed) = run::<ParsedDocuments>(&context, &materialize(&context, &documents, None));
    assert_eq!(computed, ["marked"]);
    assert_eq!(parsed.rows[2].title.as_deref(), Some("Other"));

    // The warm run gives what the cold run gave.
    let (again, _, computed) = run::<ParsedDocuments>(&context, &first);
    assert!(computed.is_empty());
    assert_eq!(again.outputs[0].bytes, before.outputs[0].bytes);

    let options = ParseOptions { encoding: Some("latin1".to_string()) };
    let (_, _, computed) = run::<ParsedDocuments>(&context, &Materialize { options, ..first.clone() });
    assert_eq!(computed, ["marked", "plain", "web"]);
    let (_, _, computed) = run::<ParsedDocuments>(&context, &Materialize { salt: 1, ..first });
    assert_eq!(computed, ["marked", "plain", "web"], "a forced run parses again");
}

#[test]
fn a_key_holds_the_units_own_documents() {
    let context = MemoryContext::default();
    let before = corpus();
    let mut after = corpus();
    after.rows[2] = document("web", "text/html", b"<p>Changed");
    let key = |documents: &Documents, rows: &[u32]| key_of(&materialize(&context, documents, Some(rows)));
    assert_eq!(key(&before, &[0, 1]), key(&after, &[0, 1]), "another unit's document changed");
    assert_ne!(key(&before, &[2]), key(&after, &[2]));
    assert_ne!(key(&before, &[0]), key(&before, &[1]));
    assert_ne!(key(&before, &[0, 1]), key(&before, &[1, 0]), "the order of the output");

    let action = materialize(&context, &before, None);
    let utf16 = ParseOptions { encoding: Some("utf-16le".to_string()) };
    assert_ne!(key_of(&action), key_of(&Materialize { options: utf16, ..action.clone() }));
    assert_ne!(key_of(&action), key_of(&Materialize { salt: 1, ..action.clone() }));
    assert_eq!(key_of(&action), key_of(&Materialize { documents: Digest::of(b"elsewhere"), ..action.clone() }));
}

#[test]
fn files_are_found_by_their_digest() {
    let context = MemoryContext::default();
    let digest = context.put_source("Grüße\nvom Meer".as_bytes());
    let mut file = document("file", "", b"");
    (file.digest, file.data) = (Some(digest), None);
    let (_, parsed, _) =
        run::<ParsedDocuments>(&context, &materialize(&context, &Documents { rows: vec![file] }, None));
    assert_eq!(texts(&parsed.rows[0]), ["Grüße\nvom Meer"]);
}

#[test]
fn what_cannot_be_parsed_fails_alone() {
    let context = MemoryContext::default();
    let mut lost = document("lost", "text/plain", b"bytes that are gone");
    lost.data = None;
    let mut remote = document("remote", "text/plain", b"");
    (remote.digest, remote.data, remote.source_uri) = (None, None, Some("https://example.org/a.txt".to_string()));
    let mut missing = document("missing", "text/plain", b"");
    (missing.digest, missing.data) = (None, None);
    let documents = Documents {
        rows: vec![
            document("binary", "text/plain", b"a\x00b"),
            document("pdf", "application/pdf", b"%PDF-1.4"),
            document("sheet", "application/vnd.ms-excel", b"x"),
            document("fine", "text/plain", b"Fine."),
            lost,
            remote,
            missing,
        ],
    };
    let action = materialize(&context, &documents, None);
    let (produced, parsed, _) = run::<ParsedDocuments>(&context, &action);
    assert_eq!((produced.failed, produced.rejected), (1, 5), "a file may come back, a broken PDF stays one");
    let digest = Digest::of(b"bytes that are gone");
    let errors: Vec<Option<&str>> = parsed.rows.iter().map(|row| row.error.as_deref()).collect();
    assert_eq!(
        errors,
        [
            Some("expected text, Markdown, HTML, CSV, PDF or DOCX, found binary data (a NUL at character 2)"),
            Some("the PDF cannot be read: it is damaged or cut off"),
            Some(
                "expected text, Markdown, HTML, CSV, PDF or DOCX, found an Office document (by its media type \
                 application/vnd.ms-excel)",
            ),
            None,
            Some(format!("no file of the benchmark holds the bytes of lost.txt (digest {})", digest.short()).as_str()),
            Some("remote.txt is at https://example.org/a.txt; remote documents are not fetched"),
            Some("the file missing.txt is missing"),
        ]
    );
    assert!(parsed.rows.iter().all(|row| row.error.is_none() || (row.pages.is_empty() && row.parser.is_empty())));

    // Failures are tried again, and what was parsed is kept.
    context.put_source(b"bytes that are gone");
    let (produced, parsed, computed) = run::<ParsedDocuments>(&context, &action);
    assert_eq!(computed, ["binary", "lost", "missing", "pdf", "remote", "sheet"]);
    assert_eq!((produced.failed, produced.rejected), (0, 5));
    assert_eq!(texts(&parsed.rows[4]), ["bytes that are gone"]);

    // A failed document has no chunks.
    let chunk = ChunkDocuments { parsed: context.put(&parsed), options: ChunkOptions::default(), salt: 0 };
    let (produced, chunks, _) = run::<Chunks>(&context, &chunk);
    assert_eq!(produced.failed, 0);
    let ids: Vec<_> = chunks.rows.iter().map(|row| row.document_id.as_str()).collect();
    assert_eq!(ids, ["fine", "lost"]);
}

#[test]
fn binary_formats_are_read_by_their_bytes_or_their_name() {
    let context = MemoryContext::default();
    let made = pdf("A title", &[MadePage::new(&line(50, 700, "First.")), MadePage::new(&line(50, 700, "Second."))]);
    let word = docx(&(paragraph("H1", "Head") + &paragraph("L", "item")));
    let documents = Documents {
        rows: vec![
            document("pdf", "text/plain", &made),
            document("word", "application/octet-stream", &word),
            document("table", "text/csv; charset=windows-1252", b"name,town\nZo\xeb,Oslo\n"),
            document("tabs", "text/tab-separated-values", b"a,b\tc\n1,2\t3\n"),
        ],
    };
    let action = materialize(&context, &documents, None);
    let (produced, parsed, _) = run::<ParsedDocuments>(&context, &action);
    assert_eq!((produced.failed, produced.rejected), (0, 0));
    let parsers: Vec<&str> = parsed.rows.iter().map(|row| row.parser.as_str()).collect();
    assert_eq!(parsers, ["pdf", "docx", "csv", "tsv"]);
    assert_eq!(texts(&parsed.rows[0]), ["First.", "Second."]);
    assert_eq!(parsed.rows[0].title.as_deref(), Some("A title"));
    assert_eq!(texts(&parsed.rows[1]), ["Head\n\n- item"]);
    assert_eq!(parsed.rows[1].pages[0].headings, [Heading { offset: 0, level: 1, title: "Head".to_string() }]);
    assert_eq!(texts(&parsed.rows[2]), ["name: Zoë; town: Oslo"]);
    assert_eq!(texts(&parsed.rows[3]), ["a,b: 1,2; c: 3"]);

    // An encoding that is asked for is that of formats that are text.
    let options = ParseOptions { encoding: Some("utf-16le".to_string()) };
    let (_, forced, _) = run::<ParsedDocuments>(&context, &Materialize { options, ..action });
    assert_eq!(texts(&forced.rows[0]), texts(&parsed.rows[0]));
    assert_eq!(texts(&forced.rows[1]), texts(&parsed.rows[1]));
}

/// What `name` in `fixtures/documents` has on its pages, or why it cannot be read.
fn fixture(name: &str) -> Result<Vec<String>, String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/documents").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let context = MemoryContext::default();
    let documents = Documents { rows: vec![document("fixture", "application/pdf", &bytes)] };
    let (_, mut parsed, _) = run::<ParsedDocuments>(&context, &materialize(&context, &documents, None));
    let parsed = parsed.rows.remove(0);
    match parsed.error {
        Some(error) => Err(error),
        None => Ok(parsed.pages.into_iter().map(|page| page.text).collect()),
    }
}

#[test]
fn documents_encrypted_with_an_empty_password_are_read() {
    let pages = ["The lock keeper opens the harbour at six.", "The second page says when it closes: at nine."];
    for name in ["rc4-40.pdf", "rc4-128.pdf", "aes-128.pdf", "aes-256.pdf"] {
        assert_eq!(fixture(name), Ok(pages.map(str::to_string).to_vec()), "{name}");
    }
    assert_eq!(fixture("password.pdf"), Err("the PDF is protected by a password".to_string()));
}

#[test]
fn an_unknown_encoding_is_named() {
    let context = MemoryContext::default();
    let options = ParseOptions { encoding: Some("utf-9".to_string()) };
    let action = Materialize { options, ..materialize(&context, &corpus(), Some(&[0])) };
    let (produced, parsed, _) = run::<ParsedDocuments>(&context, &action);
    assert_eq!(produced.rejected, 1);
    assert_eq!(
        parsed.rows[0].error.as_deref(),
        Some("expected an encoding label such as utf-8, windows-1252 or gb18030, found \"utf-9\"")
    );
}

fn chunk_documents(context: &MemoryContext, documents: &Documents, options: &ChunkOptions) -> ChunkDocuments {
    let (_, parsed, _) = run::<ParsedDocuments>(context, &materialize(context, documents, None));
    ChunkDocuments { parsed: context.put(&parsed), options: options.clone(), salt: 0 }
}

#[test]
fn pages_become_chunks() {
    let context = MemoryContext::default();
    let options =
        ChunkOptions { splitter: Splitter::Heading, tokenizer: Tokenizer::Words, size: 3, overlap: 0, minimum: 0 };
    let action = chunk_documents(&context, &corpus(), &options);
    let (produced, chunks, computed) = run::<Chunks>(&context, &action);
    assert_eq!(produced.outputs[0].rows, 7);
    assert_eq!(computed, ["marked", "plain", "twin", "web"]);
    let rows: Vec<_> = chunks
        .rows
        .iter()
        .map(|row| {
            let place = (row.page_index, row.chunk_index, row.start, row.end, row.tokens);
            (row.document_id.as_str(), place, row.heading.as_deref(), row.text.as_str())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("plain", (0, 0, 0, 11, 2), None, "First page."),
            ("plain", (1, 1, 0, 12, 2), None, "Second page."),
            ("marked", (0, 0, 0, 13, 2), Some("Top"), "# Top\n\nIntro."),
            ("marked", (0, 1, 15, 29, 2), Some("Top > Part"), "## Part\n\nText."),
            ("web", (0, 0, 0, 18, 3), Some("Head"), "Head\n\nBody & soul."),
            ("twin", (0, 0, 0, 11, 2), None, "First page."),
            ("twin", (1, 1, 0, 12, 2), None, "Second page."),
        ]
    );
    assert_eq!(chunks.rows[4].title.as_deref(), Some("Web"));
    assert_eq!(chunks.rows[4].name, "web.txt");
    assert_eq!(chunks.rows[4].source_key, "raw/benchmarks/b/test/web/web.txt");
    let mut ids: Vec<&str> = chunks.rows.iter().map(|row| row.chunk_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 7, "same text in two documents, two chunks");
    assert!(ids.iter().all(|id| id.len() == 22 && id.starts_with("chunk_")));
}

#[test]
fn only_a_changed_document_is_cut_again() {
    let context = MemoryContext::default();
    let options = ChunkOptions::default();
    let mut documents = corpus();
    let first = chunk_documents(&context, &documents, &options);
    let (before, ..) = run::<Chunks>(&context, &first);
    documents.rows[0] = document("plain", "text/plain", b"Another page.");
    let second = chunk_documents(&context, &documents, &options);
    assert_ne!(key_of(&first), key_of(&second));
    let (_, chunks, computed) = run::<Chunks>(&context, &second);
    assert_eq!(computed, ["plain"]);
    assert_eq!(chunks.rows[0].text, "Another page.");
    let (again, _, computed) = run::<Chunks>(&context, &first);
    assert!(computed.is_empty());
    assert_eq!(again.outputs[0].bytes, before.outputs[0].bytes);

    let smaller = ChunkDocuments { options: ChunkOptions { size: 2, ..options }, ..first.clone() };
    assert_ne!(key_of(&first), key_of(&smaller));
    let (_, _, computed) = run::<Chunks>(&context, &smaller);
    assert_eq!(computed, ["marked", "plain", "twin", "web"]);
}
