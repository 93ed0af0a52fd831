//! The adapter on files of our own.

use ragstage_cache::Digest;
use serde_json::{Value, json};

use super::*;
use crate::prepare::SourceFile;

/// The benchmark of two files; or what is wrong, in full.
fn read(corpus: &str, questions: &str) -> Result<Benchmark, Vec<String>> {
    let file = |role: &str, path: &str, text: &str| SourceFile {
        role: role.to_string(),
        path: path.into(),
        digest: Digest::of(text.as_bytes()),
        size: text.len() as u64,
    };
    let files = [
        (file(CORPUS, "corpus.json", corpus), corpus.as_bytes().to_vec()),
        (file(QUERIES, "MultiHopRAG.json", questions), questions.as_bytes().to_vec()),
    ];
    let files = files.iter().map(|(file, bytes)| (file, bytes.clone())).collect();
    let spec = MultihopRagSpec { path: "d".into() };
    let read = spec.read(&ReadFiles { files, documents: Vec::new() }, &|_| Ok(None));
    read.map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

fn article(title: &str, url: Value) -> Value {
    json!({"title": title, "body": "b", "url": url})
}

fn corpus() -> String {
    json!([article("One", json!("u/1")), article("Two", json!(null))]).to_string()
}

fn questions() -> String {
    json!([{"query": "q", "answer": "a", "question_type": "null_query", "evidence_list": []}]).to_string()
}

#[test]
fn a_question_without_evidence_has_none_and_dangling_evidence_is_counted() {
    let evidence = |title: &str, url: &str| json!({"title": title, "url": url, "fact": "f"});
    let questions = json!([
        {"query": "q", "answer": "a"},
        {"query": "q", "answer": "a", "evidence_list": [evidence("One", "u/1"), evidence("Two", ""), evidence("Three", "u/3")]},
    ]);
    let found = read(&corpus(), &questions.to_string()).expect("a benchmark");
    assert_eq!(found.golds.rows.iter().map(|gold| gold.evidence.len()).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(found.info.metadata["evidence_without_document"], 1);
    let ids: Vec<_> = found.documents.rows.iter().map(|document| Some(document.document_id.as_str())).collect();
    let named: Vec<_> = found.golds.rows[1].evidence.iter().map(|piece| piece.reference_id.as_deref()).collect();
    assert_eq!(named[..2], ids[..]);
    assert!(
        !read(&corpus(), &self::questions())
            .expect("a benchmark")
            .info
            .metadata
            .contains_key("evidence_without_document")
    );
}

#[test]
fn every_fault_has_its_line_and_name() {
    let corpus = concat!(
        "[\n",
        "  {\"title\": \"One\", \"body\": \"b\", \"url\": \"u/1\"},\n",
        "  {\"title\": \" \", \"body\": \"b\"},\n",
        "  {\"title\": \"Three\", \"author\": []},\n",
        "  7,\n",
        "  {\"title\": \"Five\", \"body\": \"b\", \"url\": \" u/1 \"}\n",
        "]\n",
    );
    let questions = concat!(
        "[{\"query\": \"q\", \"evidence_list\": null},\n",
        " {\"query\": \"q\", \"answer\": \"a\", \"evidence_list\": [{\"fact\": \"f\"}, \"x\"]},\n",
        " {\"answer\": \"a\", \"Query\": \"q\"}]",
    );
    assert_eq!(
        read(corpus, questions).expect_err("errors"),
        [
            "corpus.json:3: `[1].title` is blank",
            "corpus.json:4: `[2].author` is a list; expected a text",
            "corpus.json:4: `[2].body` is missing; expected a text",
            "corpus.json:5: `[3]` is the number 7; expected an object",
            "corpus.json:6: `[4]` has the url (or, without one, the title) of `[0]`",
            "MultiHopRAG.json:1: `[0].answer` is missing; expected a text",
            "MultiHopRAG.json:1: `[0].evidence_list` is null; expected a list",
            "MultiHopRAG.json:2: `[1].evidence_list[0].title` is missing; expected a text",
            "MultiHopRAG.json:2: `[1].evidence_list[1]` is the text \"x\"; expected an object",
            "MultiHopRAG.json:3: `[2].query` is missing; expected a text",
        ]
    );
}

#[test]
fn a_file_of_another_kind_is_one_error() {
    for (text, message) in [
        ("", "corpus.json: expected JSON, found an empty file"),
        ("{\"a\": 1}", "corpus.json:1: expected a list, found an object"),
        ("[\n{\"title\": \"One\",\n \"body\": ", "corpus.json:3:9: invalid JSON: EOF while parsing a value"),
        ("{\"title\": 1}\n{\"title\": 2}\n", "corpus.json:1: expected a list, found another value"),
        ("[]", "corpus.json: expected at least one article, found none"),
        ("[{\"title\": \"One\", \"title\": \"Two\"}]", "corpus.json:1:25: the key `title` is there twice"),
    ] {
        assert_eq!(read(text, &questions()).expect_err("an error"), [message], "{text}");
    }
    assert_eq!(
        read(&corpus(), "[]").expect_err("an error"),
        ["MultiHopRAG.json: expected at least one question, found none"]
    );
}

#[test]
fn one_huge_line_is_read_once() {
    let body = "x ".repeat(8 << 20);
    let corpus = json!([article("One", json!("u/1")), {"title": "Two", "body": body}]).to_string();
    let found = read(&corpus, &questions()).expect("a benchmark");
    assert!(found.documents.rows[1].size > Some((16 << 20) - 1));
    // All on one line, and all wrong: the first are told.
    let wrong = json!(vec![json!({"body": "b"}); 20_000]).to_string();
    let errors = read(&wrong, &questions()).expect_err("errors");
    assert_eq!(errors.len(), 21);
    assert_eq!(errors[20], "corpus.json:1: ... and 19980 more articles");
}

#[test]
fn the_category_is_the_kind_of_question() {
    let labels = &read(&corpus(), &questions()).expect("a benchmark").golds.rows[0].labels;
    assert_eq!(labels["question_type"], "null_query");
    let spec = MultihopRagSpec { path: "d".into() };
    for (category, text) in spec.instructions() {
        assert!(MULTIHOP_RAG.categories.iter().any(|known| known.name == *category) && !text.trim().is_empty());
    }
}
