//! Documents in every format that is read, and some that cannot be: a bad document is a failed item with its reason, and
//! nothing else.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::made_documents::{MadePage, docx, line, paragraph, pdf};
use super::small::case;
use super::space::{Ran, Space};

/// Case id, question, answer, document, and the page that it is on.
const CASES: [(&str, &str, &str, &str, u64); 6] = [
    ("close", "When does the lock close?", "nine", "lock", 1),
    ("toll", "What is the toll for a barge?", "12 crowns", "tolls", 0),
    ("captain", "Who is the captain of the dredger Mole?", "Berta", "ships", 0),
    ("depth", "How deep is the basin?", "4.2", "basin", 2),
    ("warden", "Who is the warden of the quay?", "Zoë", "quay", 0),
    ("menu", "Where are the fees of the slipway listed?", "board", "slipway", 0),
];

/// A PDF of three pages, the second of which is empty.
fn basin() -> Vec<u8> {
    let pages = [
        MadePage::new(&line(50, 700, "The basin was dug by hand.")),
        MadePage::new(""),
        MadePage { content: line(50, 700, "The basin is 4.2 metres deep."), rotate: 90 },
    ];
    pdf("The basin", &pages)
}

fn tolls() -> Vec<u8> {
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph("N", text));
    let row = |ship: &str, toll: &str| format!("<w:tr>{}{}</w:tr>", cell(ship), cell(toll));
    let table = row("Ship", "Toll") + &row("Barge", "The toll for a barge is 12 crowns.");
    docx(&format!("{}<w:tbl>{table}</w:tbl>{}", paragraph("H1", "Tolls"), paragraph("N", "Paid on entry.")))
}

fn write_bytes(space: &Space, name: &str, bytes: &[u8]) {
    space.write(name, "");
    std::fs::write(space.path(name), bytes).expect("write");
}

/// A benchmark with a document in each format, and these broken ones, by id.
fn written(broken: &[(&str, &str, Vec<u8>)]) -> Space {
    let space = Space::new();
    let encrypted = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents/aes-256.pdf");
    let whole: [(&str, &str, Vec<u8>); 6] = [
        ("lock", "lock.pdf", std::fs::read(encrypted).expect("a fixture")),
        ("tolls", "tolls.docx", tolls()),
        ("ships", "ships.csv", b"Ship;Captain of the dredger\nGull;Arno\nMole;Berta\n".to_vec()),
        ("basin", "basin.pdf", basin()),
        ("quay", "quay.txt", b"The warden of the quay is Zo\xeb.".to_vec()),
        (
            "slipway",
            "slipway.html",
            b"<nav>slipway fees listed</nav><table><tr><td>Fees of the slipway<td>are listed on the board</table>"
                .to_vec(),
        ),
    ];
    let mut documents = String::new();
    for (id, name, bytes) in whole.iter().chain(broken) {
        write_bytes(&space, &format!("files/{name}"), bytes);
        // The media type says nothing, so that the name and the bytes decide.
        let row = json!({
            "document_id": id, "name": name, "media_type": "application/octet-stream", "path": format!("files/{name}"),
        });
        documents += &format!("{row}\n");
    }
    space.write("documents.jsonl", &documents);
    let cases =
        CASES.iter().map(|(id, question, answer, document, _)| case(id, question, answer, (document, answer), "fact"));
    space.write("cases.jsonl", &cases.collect::<String>());
    space.write(
        "evaluation.yaml",
        "name: quays\nbenchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}\n\
         recipe: {name: plain}\nqueries: [{mode: full_text_search, top_k: 1}]\nevaluators: [\"R@1\", answer_contains]\n",
    );
    space
}

/// The document and the page of the first result of each case.
fn places(space: &Space) -> BTreeMap<String, (String, u64)> {
    let report: Value = space.json("reports/quays/report.json");
    let place = |result: &Value| {
        let source = &result["response"]["results"][0]["source"];
        let document = source["document_id"].as_str().expect("a document").to_string();
        (
            result["case_id"].as_str().expect("a case").to_string(),
            (document, source["page_index"].as_u64().expect("a page")),
        )
    };
    report["case_results"].as_array().expect("case results").iter().map(place).collect()
}

/// The reason of each document that failed.
fn reasons(ran: &Ran) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    ran.of("row_failed").into_iter().map(|event| (text(&event["item"]), text(&event["error"]["message"]))).collect()
}

#[test]
fn every_format_is_read_and_found_on_its_page() {
    let space = written(&[]);
    space.run("").expect(0);
    let expected = CASES.iter().map(|(id, _, _, document, page)| (id.to_string(), (document.to_string(), *page)));
    assert_eq!(places(&space), expected.collect());
}

#[test]
fn broken_documents_fail_with_a_reason_and_the_others_go_on() {
    let mut cut = basin();
    cut.truncate(40);
    let mut torn = tolls();
    torn.truncate(torn.len() / 2);
    let password = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents/password.pdf");
    let broken = [
        ("cut", "cut.pdf", cut),
        ("torn", "torn.docx", torn),
        ("locked", "locked.pdf", std::fs::read(password).expect("a fixture")),
        ("scan", "scan.pdf", pdf("", &[MadePage::new("0 0 m 9 9 l S")])),
        ("endless", "endless.pdf", pdf("", &[MadePage::new(&(line(50, 700, "Round") + "/X1 Do"))])),
    ];
    let space = written(&broken);
    let cold = space.run("").expect(10);
    let reasons = reasons(&cold);
    assert_eq!(reasons.len(), 5, "{reasons:?}");
    for (document, reason) in [
        ("cut", "the PDF cannot be read: it is damaged or cut off"),
        ("torn", "expected a DOCX, which is a zip archive, found none: "),
        ("locked", "the PDF is protected by a password"),
        ("scan", "the PDF has no text layer on any of its pages (1); scanned?"),
        ("endless", "page 1 of the PDF draws too much to be a page"),
    ] {
        assert!(reasons[document].starts_with(reason), "{document}: {}", reasons[document]);
    }
    assert!(cold.stderr.contains("documents that no parser reads: 5;"), "{}", cold.stderr);
    assert!(!cold.stderr.contains("panicked"), "{}", cold.stderr);
    let expected = CASES.iter().map(|(id, _, _, document, page)| (id.to_string(), (document.to_string(), *page)));
    assert_eq!(places(&space), expected.collect(), "the others are found as ever");
    let warm = space.run("").expect(10);
    assert_eq!(warm.executed(), BTreeMap::new());

    // A document that is mended is parsed, and nothing else is.
    write_bytes(&space, "files/scan.pdf", &pdf("", &[MadePage::new(&line(50, 700, "Now with words."))]));
    let mended = space.run("").expect(10);
    assert_eq!(mended.items("materialize"), ["scan"]);
}
