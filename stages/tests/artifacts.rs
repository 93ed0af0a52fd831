//! Artifacts of arbitrary content: what is written is read, equal content has equal bytes, and no bytes break a reader.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ragstage_cache::Digest;
use ragstage_stages::aggregate::{Latency, LatencyStatistics, QueryLatency, Summary};
use ragstage_stages::artifact::{
    Answer, Answers, BenchmarkInfo, Chunk, ChunkFacts, Chunks, Citation, Document, Documents, Entities, Entity,
    Evidence, Extracted, ExtractedChunk, FactKind, FoundAlias, FoundEntity, FoundRelation, Gold, Golds, Heading, Hit,
    Json, Mention, Mentions, Observation, Observations, Page, ParsedDocument, ParsedDocuments, Queries, Query,
    Relation, Relations, Results, Retrieved, Score, ScoreState, ScoreValue, Scores, Unit, Units,
};
use ragstage_stages::build::full_text::Index;
use ragstage_stages::contract::Artifact;
use ragstage_stages::error::{RowError, RowErrorKind};
use ragstage_stages::prepare::SourceList;
use serde_json::Value;

/// Any text: letters of all planes, control characters, quotes, line ends, nothing.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => vec(any::<char>(), 0..6).prop_map(String::from_iter), 1 => "[a\"\\\\\r\n\t{}, ]{0,8}"]
}

fn some_text() -> impl Strategy<Value = Option<String>> {
    option::of(text())
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("JSON has finite numbers only", |value| value.is_finite()), Just(0.1 + 0.2)]
}

/// What a column of whole numbers holds.
fn count() -> impl Strategy<Value = u64> {
    0..=i64::MAX as u64
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        float().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(text(), inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn json() -> impl Strategy<Value = Json> {
    btree_map(text(), value(), 0..3).prop_map(|map| map.into_iter().collect())
}

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest)
}

fn row_error() -> impl Strategy<Value = RowError> {
    let kind = prop::sample::select(vec![
        RowErrorKind::Connection,
        RowErrorKind::RateLimited,
        RowErrorKind::BadReply,
        RowErrorKind::Document,
        RowErrorKind::Source,
        RowErrorKind::BreakerOpen,
        RowErrorKind::Upstream,
        RowErrorKind::Budget,
    ]);
    (kind, text(), any::<u32>(), option::of(any::<u64>()))
        .prop_map(|(kind, message, attempts, retry_after_s)| RowError { kind, message, attempts, retry_after_s })
}

fn documents() -> impl Strategy<Value = Documents> {
    let texts = (text(), text(), text(), text());
    let document = (texts, option::of(digest()), option::of(count()), option::of(vec(any::<u8>(), 0..9)), some_text());
    let document = (document, json()).prop_map(
        |(((document_id, name, media_type, source_key), digest, size, data, source_uri), metadata)| Document {
            document_id,
            name,
            media_type,
            digest,
            size,
            data,
            source_uri,
            source_key,
            metadata,
        },
    );
    vec(document, 0..4).prop_map(|rows| Documents { rows })
}

fn queries() -> impl Strategy<Value = Queries> {
    let query = (text(), text(), some_text()).prop_map(|(case_id, text, category)| Query { case_id, text, category });
    vec(query, 0..5).prop_map(|rows| Queries { rows })
}

fn golds() -> impl Strategy<Value = Golds> {
    let evidence = (some_text(), json(), some_text(), json())
        .prop_map(|(reference_id, locator, text, metadata)| Evidence { reference_id, locator, text, metadata });
    let gold = (text(), vec(text(), 0..3), vec(evidence, 0..3), value(), json(), json(), json()).prop_map(
        |(case_id, answers, evidence, value, metadata, labels, case_metadata)| Gold {
            case_id,
            answers,
            evidence,
            value,
            metadata,
            labels,
            case_metadata,
        },
    );
    vec(gold, 0..4).prop_map(|rows| Golds { rows })
}

fn units() -> impl Strategy<Value = Units> {
    let rows = || option::of(vec(any::<u32>(), 0..3));
    let unit = ((text(), rows(), rows(), any::<u64>(), any::<u64>()), digest(), digest(), digest(), json()).prop_map(
        |(
            (unit_id, document_rows, case_rows, documents, cases),
            documents_digest,
            queries_digest,
            gold_digest,
            metadata,
        )| {
            Unit {
                unit_id,
                document_rows,
                case_rows,
                documents,
                cases,
                skipped: metadata.keys().map(|case| (case.clone(), "why".to_string())).collect(),
                documents_digest,
                document_set_digest: documents_digest,
                queries_digest,
                gold_digest,
                metadata,
            }
        },
    );
    let info = ((text(), text(), text(), text(), text()), some_text(), some_text(), some_text(), json()).prop_map(
        |((name, version, split, task_type, build_scope), homepage, license, citation, metadata)| BenchmarkInfo {
            name,
            version,
            split,
            task_type,
            build_scope,
            digest: homepage.as_ref().map(|text: &String| Digest::of(text.as_bytes())),
            homepage,
            license,
            citation,
            metadata,
        },
    );
    (info, vec(unit, 0..3), vec(any::<u32>(), 0..3), vec(text(), 0..3)).prop_map(
        |(benchmark, units, clusters, default_evaluators)| Units { benchmark, units, clusters, default_evaluators },
    )
}

fn parsed() -> impl Strategy<Value = ParsedDocuments> {
    let heading =
        (any::<u64>(), any::<u8>(), text()).prop_map(|(offset, level, title)| Heading { offset, level, title });
    let page =
        (any::<u32>(), text(), vec(heading, 0..3)).prop_map(|(index, text, headings)| Page { index, text, headings });
    let document = (text(), text(), text(), text(), some_text(), vec(page, 0..3), some_text()).prop_map(
        |(document_id, name, source_key, parser, title, pages, error)| ParsedDocument {
            document_id,
            name,
            source_key,
            parser,
            title,
            pages,
            error,
        },
    );
    vec(document, 0..4).prop_map(|rows| ParsedDocuments { rows })
}

fn chunks() -> impl Strategy<Value = Chunks> {
    let numbers = (any::<u32>(), any::<u32>(), count(), count(), count());
    let chunk = ((text(), text(), text(), text()), some_text(), numbers, some_text(), text()).prop_map(
        |(
            (chunk_id, document_id, name, source_key),
            title,
            (page_index, chunk_index, start, end, tokens),
            heading,
            text,
        )| Chunk {
            chunk_id,
            document_id,
            name,
            source_key,
            title,
            page_index,
            chunk_index,
            start,
            end,
            tokens,
            heading,
            text,
        },
    );
    vec(chunk, 0..5).prop_map(|rows| Chunks { rows })
}

fn citations() -> impl Strategy<Value = Vec<Citation>> {
    let citation = (text(), some_text(), json(), some_text()).prop_map(|(id, result_id, source, text)| Citation {
        id,
        result_id,
        source,
        text,
    });
    vec(citation, 0..3)
}

fn results() -> impl Strategy<Value = Results> {
    let hit = (text(), text(), option::of(float()), text(), json(), json()).prop_map(
        |(id, text, score, kind, source, metadata)| Hit {
            id,
            text: text.into(),
            score,
            kind,
            source: source.into(),
            metadata,
        },
    );
    let answer =
        (some_text(), citations()).prop_map(|(text, citations)| Answer { text, citations, ..Answer::default() });
    let retrieved = (text(), vec(hit, 0..4), option::of(answer), json(), option::of(row_error())).prop_map(
        |(case_id, results, answer, metadata, error)| Retrieved { case_id, results, answer, metadata, error },
    );
    vec(retrieved, 0..4).prop_map(|rows| Results { rows })
}

fn answers() -> impl Strategy<Value = Answers> {
    let answer = (text(), some_text(), citations(), option::of(row_error()))
        .prop_map(|(case_id, text, citations, error)| Answer { case_id, text, citations, error, ..Answer::default() });
    vec(answer, 0..4).prop_map(|rows| Answers { rows })
}

fn observations() -> impl Strategy<Value = Observations> {
    let observation = (text(), option::of(float()), any::<u32>())
        .prop_map(|(case_id, latency_ms, attempts)| Observation { case_id, latency_ms, attempts, usage: Vec::new() });
    vec(observation, 0..5).prop_map(|rows| Observations { rows })
}

fn scores() -> impl Strategy<Value = Scores> {
    let value = prop_oneof![
        float().prop_map(ScoreValue::Number),
        any::<bool>().prop_map(ScoreValue::Bool),
        text().prop_map(ScoreValue::Label),
    ];
    let state = prop::sample::select(vec![ScoreState::Scored, ScoreState::Skipped, ScoreState::Failed]);
    let passed = option::of(any::<bool>());
    let score = (text(), state, option::of(value), passed, some_text(), json(), option::of(row_error())).prop_map(
        |(case_id, state, value, passed, reason, detail, error)| Score {
            case_id,
            state,
            value,
            passed,
            reason,
            detail: detail.into(),
            error,
            usage: Vec::new(),
        },
    );
    vec(score, 0..5).prop_map(|rows| Scores { rows })
}

fn entities() -> impl Strategy<Value = Entities> {
    let row = (text(), text(), text(), some_text(), text(), json(), count()).prop_map(
        |(entity_id, name, kind, subtype, description, attributes, mentions)| Entity {
            entity_id,
            name,
            kind,
            subtype,
            description,
            attributes,
            mentions,
        },
    );
    vec(row, 0..4).prop_map(|rows| Entities { rows })
}

fn relations() -> impl Strategy<Value = Relations> {
    let ends = (text(), text(), text(), text());
    let row = (text(), ends, text(), text(), text(), json(), count()).prop_map(
        |(relation_id, (source_id, target_id, source, target), kind, name, description, attributes, weight)| Relation {
            relation_id,
            source_id,
            target_id,
            source,
            target,
            kind,
            name,
            description,
            attributes,
            weight,
        },
    );
    vec(row, 0..4).prop_map(|rows| Relations { rows })
}

fn mentions() -> impl Strategy<Value = Mentions> {
    let kind = prop_oneof![Just(FactKind::Entity), Just(FactKind::Relation)];
    let row = (kind, text(), text(), text(), any::<u32>()).prop_map(|(kind, id, chunk_id, document_id, page_index)| {
        Mention { kind, id, chunk_id, document_id, page_index }
    });
    vec(row, 0..4).prop_map(|rows| Mentions { rows })
}

fn extracted() -> impl Strategy<Value = Extracted> {
    let entity =
        (text(), text(), some_text(), text(), json()).prop_map(|(name, kind, subtype, description, attributes)| {
            FoundEntity { name, kind, subtype, description, attributes }
        });
    let relation = (text(), text(), text(), text(), text(), count()).prop_map(
        |(source, target, kind, name, description, weight)| FoundRelation {
            source,
            target,
            kind,
            name,
            description,
            weight,
        },
    );
    let alias = (text(), text()).prop_map(|(long, short)| FoundAlias { long, short });
    let facts = (vec(entity, 0..3), vec(relation, 0..3), vec(alias, 0..3), count())
        .prop_map(|(entities, relations, aliases, left_out)| ChunkFacts { entities, relations, aliases, left_out });
    let row = (text(), text(), any::<u32>(), facts, option::of(row_error())).prop_map(
        |(chunk_id, document_id, page_index, facts, error)| ExtractedChunk {
            chunk_id,
            document_id,
            page_index,
            facts,
            error,
        },
    );
    vec(row, 0..4).prop_map(|rows| Extracted { rows })
}

fn latency() -> impl Strategy<Value = Latency> {
    let statistics = || {
        let statistics = (any::<u64>(), float(), float(), float(), float());
        option::of(statistics.prop_map(|(count, mean_ms, p50_ms, p95_ms, p99_ms)| LatencyStatistics {
            count,
            mean_ms,
            p50_ms,
            p95_ms,
            p99_ms,
        }))
    };
    let query = (text(), text(), statistics(), statistics(), statistics())
        .prop_map(|(recipe, query, retrieve, answer, total)| QueryLatency { recipe, query, retrieve, answer, total });
    vec(query, 0..3).prop_map(|queries| Latency { queries })
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, ..Config::default() })
}

/// Reads back what it wrote; equal content, equal bytes.
fn comes_back<T: Artifact + PartialEq + std::fmt::Debug + Clone>(strategy: impl Strategy<Value = T>) {
    let outcome = runner(96).run(&strategy, |artifact| {
        let bytes = artifact.encode().map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&bytes, &artifact.clone().encode().expect("the same"));
        let read = T::decode(bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read, artifact);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_is_written_is_read() {
    comes_back(documents());
    comes_back(queries());
    comes_back(golds());
    comes_back(units());
    comes_back(parsed());
    comes_back(chunks());
    comes_back(extracted());
    comes_back(entities());
    comes_back(relations());
    comes_back(mentions());
    comes_back(results());
    comes_back(answers());
    comes_back(observations());
    comes_back(scores());
    comes_back(latency());
    comes_back(vec(text(), 0..4).prop_map(|paths| SourceList { paths }));
}

/// Decodes `bytes` as everything that there is; what is not refused must be writable.
fn decode_all(bytes: &[u8]) {
    fn decode<T: Artifact>(bytes: &[u8]) {
        if let Ok(artifact) = T::decode(bytes.to_vec()) {
            artifact.encode().expect("what was read can be written");
        }
    }
    decode::<Documents>(bytes);
    decode::<Queries>(bytes);
    decode::<Golds>(bytes);
    decode::<Units>(bytes);
    decode::<ParsedDocuments>(bytes);
    decode::<Chunks>(bytes);
    decode::<Extracted>(bytes);
    decode::<Entities>(bytes);
    decode::<Relations>(bytes);
    decode::<Mentions>(bytes);
    decode::<Results>(bytes);
    decode::<Answers>(bytes);
    decode::<Observations>(bytes);
    decode::<Scores>(bytes);
    decode::<Latency>(bytes);
    decode::<Summary>(bytes);
    decode::<SourceList>(bytes);
    decode::<Index>(bytes);
}

/// An artifact of any type, encoded.
fn encoded() -> impl Strategy<Value = Vec<u8>> {
    fn bytes<T: Artifact + std::fmt::Debug>(strategy: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Vec<u8>> {
        strategy.prop_map(|artifact| artifact.encode().expect("encode")).boxed()
    }
    prop_oneof![
        bytes(documents()),
        bytes(golds()),
        bytes(units()),
        bytes(parsed()),
        bytes(chunks()),
        bytes(extracted()),
        bytes(entities()),
        bytes(relations()),
        bytes(mentions()),
        bytes(results()),
        bytes(answers()),
        bytes(observations()),
        bytes(scores()),
        bytes(latency()),
    ]
}

#[test]
fn arbitrary_bytes_break_no_reader() {
    let outcome = runner(300).run(&vec(any::<u8>(), 0..200), |bytes| {
        decode_all(&bytes);
        decode_all(&[b"PAR1", bytes.as_slice(), b"PAR1"].concat());
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn damaged_artifacts_break_no_reader() {
    let damage = (any::<prop::sample::Index>(), any::<u8>(), 0..4usize);
    let outcome = runner(400).run(&(encoded(), vec(damage, 1..6), any::<bool>()), |(mut bytes, damages, cut)| {
        for (at, byte, longer) in damages {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if longer == 0 {
                bytes.insert(at, byte);
            }
        }
        if cut {
            bytes.truncate(bytes.len() / 2);
        }
        decode_all(&bytes);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn columns_of_lists_that_differ_in_length_are_refused() {
    use ragstage_cache::table::TableWriter;
    let mut table = TableWriter::new("results", 1);
    table.text("case_id", ["q1"]);
    table.text_list("id", [["a", "b"]]);
    table.text_list("text", [["x"]]);
    table.float_list("score", [[Some(1.0)]]);
    table.text_list("kind", [["chunk", "chunk"]]);
    table.text_list("source", [["{}", "{}"]]);
    table.text_list("hit_metadata", [["{}", "{}"]]);
    table.opt_text("answer", [None]);
    table.text("metadata", ["{}"]);
    table.opt_text("error", [None]);
    let error = Results::decode(table.finish().expect("a table")).expect_err("refused").to_string();
    assert_eq!(error, "row 0: expected 2 hits in every column");

    let mut table = TableWriter::new("parsed", 1);
    for name in ["document_id", "name", "source_key", "parser"] {
        table.text(name, ["d"]);
    }
    table.opt_text("title", [None]);
    table.int_list("page_index", [[0]]);
    table.text_list("page_text", [["one", "two"]]);
    table.text("page_headings", ["[[], []]"]);
    table.opt_text("error", [None]);
    let error = ParsedDocuments::decode(table.finish().expect("a table")).expect_err("refused").to_string();
    assert_eq!(error, "row 0: expected 2 pages in every column");
}
