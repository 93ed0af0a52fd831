//! Word documents: zip archives of XML.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const STYLES: &str = r#"<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
    <w:style w:type="paragraph" w:default="1" w:styleId="N"><w:name w:val="Normal"/></w:style>
    <w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
    <w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
    <w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>
    <w:style w:type="paragraph" w:styleId="H"><w:name w:val="Heading of ours"/></w:style>
    <w:style w:type="paragraph" w:styleId="L"><w:name w:val="List Bullet"/>
        <w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
    </w:styles>"#;

const NUMBERING: &str = r#"<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
    <w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>
        <w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>
    <w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num>
    </w:numbering>"#;

const RELATIONS: &str = r#"<Relationships><Relationship Id="r" Type="http://x/styles" Target="styles.xml"/>
    <Relationship Id="n" Type="http://x/numbering" Target="numbering.xml"/></Relationships>"#;

/// A zip archive of these files.
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a file");
        zip.write_all(bytes).expect("written");
    }
    zip.finish().expect("an archive").into_inner()
}

/// A document with this body, and the styles `N` (normal), `T` (title), `H1`, `H2`, `H` (a heading without a level) and `L`
/// (a list). The list `2` is numbered.
pub fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
         xmlns:m=\"http://schemas.openxmlformats.org/officeDocument/2006/math\"><w:body>{body}</w:body></w:document>"
    );
    archive(&[
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", STYLES.as_bytes()),
        ("word/numbering.xml", NUMBERING.as_bytes()),
        ("word/_rels/document.xml.rels", RELATIONS.as_bytes()),
    ])
}

/// A paragraph in a style; `text` is XML.
pub fn paragraph(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}
