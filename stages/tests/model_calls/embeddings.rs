//! Embeddings.

use ragstage_stages::contract::Spend;
use ragstage_stages::error::{RowError, RowErrorKind, StageErrorKind};
use ragstage_stages::model::{Embedded, EmbedderSpec, OpenAiEmbedder, TextRole, UsageSource, embed_texts};
use ragstage_stages::step::Step;
use serde_json::{Value, json};

use super::models::{KEY, embedder};
use crate::memory::MemoryContext;
use crate::model_server::{Act, DIMENSIONS, ModelServer, Request, vector};

type Rows = Vec<Result<Embedded, RowError>>;

/// The vectors of `texts`, each its own label.
fn embed(memory: &MemoryContext, spec: &OpenAiEmbedder, role: TextRole, texts: &[&str]) -> Rows {
    let texts: Vec<(&str, &str)> = texts.iter().map(|text| (*text, *text)).collect();
    embed_texts(memory, Step::Embed, &EmbedderSpec::OpenAi(spec.clone()), role, &texts, None).expect("rows")
}

/// The vector that the server makes of a text, at length 1.
fn unit(text: &str, dimensions: usize) -> Vec<f32> {
    let vector = vector(text, dimensions);
    let length = vector.iter().map(|number| number * number).sum::<f64>().sqrt();
    vector.iter().map(|number| (number / length) as f32).collect()
}

fn kinds(rows: &Rows) -> Vec<Option<RowErrorKind>> {
    rows.iter().map(|row| row.as_ref().err().map(|error| error.kind)).collect()
}

fn message(rows: &Rows, index: usize) -> &str {
    &rows[index].as_ref().expect_err("the row fails").message
}

/// The server's own answer with the embedding of text `index` replaced.
fn with_embedding(request: &Request, index: usize, embedding: Value) -> Value {
    let mut answer = request.answer();
    answer["data"][index]["embedding"] = embedding;
    answer
}

#[test]
fn texts_are_asked_for_in_batches_and_once() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let spec = embedder(&server, 2);
    let texts = ["the old pump", "a lamp", "the pump of the harbour", "lamps and pumps", "night"];
    let rows = embed(&memory, &spec, TextRole::Passage, &texts);
    let requests = server.requests("embeddings");
    assert_eq!(requests.iter().map(|request| request.texts().len()).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(
        requests[0].body,
        json!({"model": "embed-1", "input": ["the old pump", "a lamp"], "encoding_format": "float"})
    );
    assert_eq!(requests[0].authorization.as_deref(), Some(format!("Bearer {KEY}").as_str()));
    let found: Vec<&Embedded> = rows.iter().map(|row| row.as_ref().expect("a vector")).collect();
    for (embedded, text) in found.iter().zip(texts) {
        assert_eq!(*embedded.vector, unit(text, DIMENSIONS));
        assert!(embedded.latency_ms > 0.0);
    }
    // 3 + 2, 5 + 3, 1 words: as a server counts for whole requests. Shares are by our own count.
    let usage = |i: usize| found[i].usage.as_ref().expect("usage");
    let tokens: Vec<u64> = (0..5).map(|i| usage(i).usage.prompt_tokens).collect();
    assert_eq!((tokens[0] + tokens[1], tokens[2] + tokens[3], tokens[4]), (5, 8, 1));
    assert_eq!((0..5).map(|i| usage(i).calls).collect::<Vec<_>>(), [1, 0, 1, 0, 1]);
    assert_eq!((usage(4).model.as_str(), usage(4).nano_usd), ("embed-1", 1000));
    assert_eq!(usage(4).usage.source, UsageSource::Server);
    assert_eq!(memory.spent(), Spend { tokens: 14, nano_usd: 14_000 });
    // A text is embedded once per embedder, wherever it stands.
    memory.computed();
    let again = embed(&memory, &spec, TextRole::Query, &["night", "a lamp", "a new one"]);
    assert_eq!((memory.computed(), server.count("embeddings")), (vec!["a new one".to_string()], 4));
    assert_eq!(again[1].as_ref().expect("a vector").vector, found[1].vector);
}

#[test]
fn prefixes_are_part_of_the_text_and_of_no_slot() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let plain = embedder(&server, 8);
    let prefixed =
        OpenAiEmbedder { query_prefix: "query: ".into(), passage_prefix: "passage: ".into(), ..plain.clone() };
    let passage = embed(&memory, &prefixed, TextRole::Passage, &["a lamp"]);
    let query = embed(&memory, &prefixed, TextRole::Query, &["a lamp"]);
    assert_eq!(server.requests("embeddings")[0].texts(), ["passage: a lamp"]);
    assert_eq!(server.requests("embeddings")[1].texts(), ["query: a lamp"]);
    assert_ne!(passage[0].as_ref().expect("a vector").vector, query[0].as_ref().expect("a vector").vector);
    embed(&memory, &plain, TextRole::Passage, &["query: a lamp"]);
    assert_eq!(server.total(), 2);
}

#[test]
fn what_a_vector_depends_on_is_in_its_slot_and_nothing_else() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let plain = embedder(&server, 8);
    let asked = |spec: &OpenAiEmbedder| {
        let before = server.total();
        let rows = embed(&memory, spec, TextRole::Query, &["a lamp"]);
        (server.total() - before, rows[0].as_ref().expect("a vector").vector.len())
    };
    assert_eq!(asked(&plain), (1, DIMENSIONS));
    let mut same = plain.clone();
    same.batch = 1;
    same.price.input_per_million = 9.0;
    same.endpoint.headers.clear();
    same.endpoint.base_url.push('/');
    assert_eq!(asked(&same), (0, DIMENSIONS));
    let mut labelled = plain.clone();
    labelled.endpoint.label = "other".into();
    assert_eq!(asked(&labelled), (1, DIMENSIONS));
    assert_eq!(asked(&OpenAiEmbedder { model: "embed-2".into(), ..plain.clone() }), (1, DIMENSIONS));
    assert_eq!(asked(&OpenAiEmbedder { normalize: false, ..plain.clone() }), (1, DIMENSIONS));
    assert_eq!(asked(&OpenAiEmbedder { dimensions: Some(4), ..plain }), (1, 4));
    assert_eq!(server.requests("embeddings").last().expect("a request").body["dimensions"], 4);
}

#[test]
fn vectors_are_as_they_came_where_they_are_not_normalised() {
    let server = ModelServer::new(|request| Act::Json(with_embedding(request, 0, json!([3, -0.1, 1e-3]))));
    let spec = OpenAiEmbedder { normalize: false, ..embedder(&server, 8) };
    let rows = embed(&MemoryContext::default(), &spec, TextRole::Passage, &["a lamp"]);
    assert_eq!(*rows[0].as_ref().expect("a vector").vector, [3.0, -0.1, 1e-3]);
}

#[test]
fn an_empty_text_is_refused_and_nobody_is_asked_for_it() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let rows = embed(&memory, &embedder(&server, 8), TextRole::Passage, &["a lamp", "", "a pump"]);
    assert_eq!(kinds(&rows), [None, Some(RowErrorKind::Refused), None]);
    assert_eq!(message(&rows, 1), "the text is empty: there is nothing to embed");
    assert_eq!(*rows[2].as_ref().expect("a vector").vector, unit("a pump", DIMENSIONS));
    assert_eq!(server.requests("embeddings")[0].texts(), ["a lamp", "a pump"]);
    assert_eq!(kinds(&embed(&memory, &embedder(&server, 8), TextRole::Passage, &[""])), [Some(RowErrorKind::Refused)]);
    assert_eq!(server.total(), 1);
}

#[test]
fn one_bad_vector_costs_the_others_nothing() {
    let bad = |request: &Request| {
        let lacking = |index: usize| {
            let mut answer = request.answer();
            answer["data"].as_array_mut().expect("data").remove(index);
            answer
        };
        match request.body["model"].as_str().expect("a model") {
            "not a number" => {
                let marked = with_embedding(request, 1, json!([0.5, "here"])).to_string();
                Act::Body(marked.replace("\"here\"", "NaN"))
            }
            "null" => Act::Json(with_embedding(request, 1, json!([0.5, null]))),
            "texts" => Act::Json(with_embedding(request, 1, json!(["0.5"]))),
            "base64" => Act::Json(with_embedding(request, 1, json!("AACAPw=="))),
            "too short" => Act::Json(with_embedding(request, 1, json!([0.5, 0.5]))),
            "missing" => Act::Json(lacking(1)),
            _ => Act::Answer,
        }
    };
    for (model, words) in [
        ("not a number", "expected a vector of finite numbers, found null or NaN at position 1"),
        ("null", "null or NaN at position 1"),
        ("texts", "the text 0.5 at position 0"),
        ("base64", "the text AACAPw=="),
        ("too short", "expected a vector of 16 numbers (`dimensions`), found 2"),
        ("missing", "expected a vector for each of 3 texts, found none for number 1"),
    ] {
        let server = ModelServer::new(bad);
        let memory = MemoryContext::default();
        let spec = OpenAiEmbedder { model: model.into(), dimensions: Some(16), ..embedder(&server, 8) };
        let rows = embed(&memory, &spec, TextRole::Passage, &["a lamp", "a pump", "night"]);
        assert_eq!(kinds(&rows), [None, Some(RowErrorKind::BadReply), None], "{model}");
        assert!(message(&rows, 1).contains(words), "{model}: {}", message(&rows, 1));
        assert_eq!(memory.spent().tokens, 5, "all three were paid for");
        // The next run asks for what failed, and for nothing that was paid for.
        server.rescript(|_| Act::Answer);
        let healed = embed(&memory, &spec, TextRole::Passage, &["a lamp", "a pump", "night"]);
        assert_eq!(kinds(&healed), [None, None, None]);
        let texts: Vec<Value> =
            server.requests("embeddings").iter().map(|request| request.body["input"].clone()).collect();
        assert_eq!(texts, [json!(["a pump"])], "{model}");
    }
}

#[test]
fn where_a_vector_may_be_anybodys_none_is_kept() {
    let server = ModelServer::new(|request| {
        let mut answer = request.answer();
        answer["data"][0]["index"] = json!(1);
        Act::Json(answer)
    });
    let memory = MemoryContext::default();
    let rows = embed(&memory, &embedder(&server, 8), TextRole::Passage, &["a lamp", "a pump"]);
    assert_eq!(kinds(&rows), [Some(RowErrorKind::BadReply); 2]);
    // Asked for alone, the text has a vector that says it is another's.
    assert_eq!(message(&rows, 0), "expected indexes below 1, found data[0].index 1");
    assert_eq!(memory.spent().tokens, 8);
    // Two lengths in one reply, and nothing says which is right.
    server.rescript(|request| Act::Json(with_embedding(request, 0, json!([1, 2]))));
    let rows = embed(&memory, &embedder(&server, 8), TextRole::Passage, &["a lamp", "a pump"]);
    assert_eq!(kinds(&rows), [Some(RowErrorKind::BadReply); 2]);
    assert!(message(&rows, 1).contains("lengths [2, 16]"), "{}", message(&rows, 1));
}

#[test]
fn a_later_vector_of_another_length_is_a_bad_reply() {
    let server = ModelServer::new(|request| match request.number {
        2 => Act::Json(with_embedding(request, 0, json!([1, 2]))),
        _ => Act::Answer,
    });
    let rows =
        embed(&MemoryContext::default(), &embedder(&server, 1), TextRole::Passage, &["a lamp", "a pump", "night"]);
    assert_eq!(kinds(&rows), [None, Some(RowErrorKind::BadReply), None]);
    let words = "expected a vector of 16 numbers, as this embedder's others have, found 2";
    assert_eq!(message(&rows, 1), words);
}

#[test]
fn a_vector_that_does_not_go_with_those_of_before_is_not_kept() {
    let server = ModelServer::new(|request| Act::Json(with_embedding(request, 0, json!([1, 2]))));
    let memory = MemoryContext::default();
    let spec = EmbedderSpec::OpenAi(embedder(&server, 8));
    let rows = |length| embed_texts(&memory, Step::Retrieve, &spec, TextRole::Query, &[("a", "a lamp")], length);
    let expected = "expected a vector of 16 numbers, as this embedder's others have, found 2";
    assert_eq!(message(&rows(Some(16)).expect("rows"), 0), expected);
    server.rescript(|_| Act::Answer);
    assert_eq!(kinds(&rows(Some(16)).expect("rows")), [None]);
    // One that was kept before the others were known is in doubt with all that were kept beside it.
    let StageErrorKind::Doubt(why) = rows(Some(2)).expect_err("two lengths").kind else { panic!("no doubt") };
    assert!(why.contains("gave vectors of 2 and of 16 numbers"), "{why}");
}

#[test]
fn another_model_under_the_same_name_puts_the_vectors_in_doubt() {
    let server = ModelServer::healthy();
    let memory = MemoryContext::default();
    let spec = embedder(&server, 8);
    embed(&memory, &spec, TextRole::Passage, &["a lamp"]);
    server.rescript(|request| Act::Json(with_embedding(request, 0, json!([1, 2]))));
    let texts = [("a", "a lamp"), ("b", "a pump")];
    let error = embed_texts(&memory, Step::Embed, &EmbedderSpec::OpenAi(spec), TextRole::Passage, &texts, None);
    let StageErrorKind::Doubt(why) = error.expect_err("two lengths").kind else { panic!("no doubt") };
    assert!(why.contains("embedder embed-1 of endpoint default gave vectors of 16 and of 2 numbers"), "{why}");
    assert!(why.contains("an `endpoint` of its own"), "{why}");
}

#[test]
fn a_text_that_the_server_refuses_costs_the_others_of_its_request_nothing() {
    let too_long = |request: &Request| match request.texts().iter().any(|text| text.len() > 20) {
        true => Act::Status(400, "", r#"{"error": {"message": "input (802 tokens) is too large"}}"#.to_string()),
        false => Act::Answer,
    };
    let server = ModelServer::new(too_long);
    let memory = MemoryContext::default();
    let mut texts: Vec<String> = (0..16).map(|i| format!("lamp {i}")).collect();
    texts[3] = "a text that is far too long".to_string();
    texts[11] = "another text that is too long".to_string();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rows = embed(&memory, &embedder(&server, 16), TextRole::Passage, &texts);
    for (i, row) in rows.iter().enumerate() {
        match (i, row) {
            (3 | 11, Err(error)) => {
                assert_eq!(error.kind, RowErrorKind::Refused);
                assert!(error.message.contains("400") && error.message.contains("802 tokens"), "{}", error.message);
            }
            (_, row) => assert_eq!(*row.as_ref().expect("a vector").vector, unit(texts[i], DIMENSIONS), "{i}"),
        }
    }
    assert!(server.total() <= 16, "{} requests", server.total());
    let before = server.total();
    embed(&memory, &embedder(&server, 16), TextRole::Passage, &texts);
    let asked: Vec<Vec<String>> = server.requests("embeddings")[before..]
        .iter()
        .map(|request| request.texts().iter().map(ToString::to_string).collect())
        .collect();
    assert!(asked.iter().flatten().all(|text| text.len() > 20), "what was paid for is asked again: {asked:?}");
}

#[test]
fn a_server_error_is_first_tried_again_as_it_was() {
    // llama.cpp says 500 for what is too long.
    let too_long = |request: &Request| match request.texts().contains(&"long") {
        true => Act::Status(500, "", r#"{"error": {"message": "input is too large to process"}}"#.to_string()),
        false => Act::Answer,
    };
    let texts = ["a lamp", "long", "a pump", "night"];
    let server = ModelServer::new(too_long);
    let rows = embed(&MemoryContext::default(), &embedder(&server, 8), TextRole::Passage, &texts);
    assert_eq!((kinds(&rows), server.total()), (vec![Some(RowErrorKind::Server); 4], 1));
    assert!(message(&rows, 0).contains("500") && message(&rows, 0).contains("input is too large to process"));
    let rows = embed(&MemoryContext::with_second_attempts(), &embedder(&server, 8), TextRole::Passage, &texts);
    assert_eq!(kinds(&rows), [None, Some(RowErrorKind::Server), None, None]);
    assert!(message(&rows, 1).contains("input is too large to process"));
}

#[test]
fn a_server_that_is_down_is_not_asked_for_each_text() {
    let server = ModelServer::new(|_| Act::Status(500, "", "no lamps today".to_string()));
    let texts: Vec<String> = (0..32).map(|i| format!("lamp {i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let rows = embed(&MemoryContext::with_second_attempts(), &embedder(&server, 32), TextRole::Passage, &texts);
    assert_eq!(kinds(&rows), vec![Some(RowErrorKind::Server); 32]);
    assert_eq!(server.total(), 3, "all of them, and two alone");
}

#[test]
fn tokens_are_counted_where_the_server_does_not_say() {
    for usage in [json!(null), json!({}), json!({"prompt_tokens": "12"})] {
        let server = ModelServer::new(move |request| {
            let mut answer = request.answer();
            answer["usage"] = usage.clone();
            Act::Json(answer)
        });
        let memory = MemoryContext::default();
        let rows = embed(&memory, &embedder(&server, 8), TextRole::Passage, &["a lamp", "hello world"]);
        let usage = |i: usize| rows[i].as_ref().expect("a vector").usage.as_ref().expect("usage").usage;
        // In cl100k_base both are two tokens.
        assert_eq!((usage(0).prompt_tokens, usage(1).prompt_tokens), (2, 2));
        assert_eq!((usage(0).source, memory.spent().tokens), (UsageSource::Counted, 4));
    }
}
