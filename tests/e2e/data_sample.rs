//! "A part of a dataset is a folder of the same layout, whole or not there, and the same whatever the order of the files."

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::data_download::real;
use super::file_server::{FileServer, ORDERLY};
use super::small;
use super::space::{Ran, Space};

fn data(space: &Space, arguments: &str) -> Ran {
    space.ragstage(&format!("data {arguments}"))
}

/// A conversation with questions of these categories. Numbers are written as nobody would print them again.
fn conversation(id: &str, categories: &[u8]) -> String {
    let question = |(i, category): (usize, &u8)| {
        format!(r#"{{"question": "{id} {i}?", "answer": 1.50, "evidence": ["D1:1"],   "category": {category}}}"#)
    };
    let questions: Vec<String> = categories.iter().enumerate().map(question).collect();
    format!(
        r#"{{"sample_id": "{id}", "conversation": {{"session_1": [{{"dia_id": "D1:1", "text": "Ahoy é"}}]}}, "qa": [{}], "weight": 1e2}}"#,
        questions.join(", ")
    )
}

const CONVERSATIONS: [(&str, &[u8]); 5] =
    [("a", &[1, 2, 5]), ("b", &[1, 1, 4, 4]), ("c", &[5]), ("d", &[2, 2, 1, 3, 4]), ("e", &[4, 3, 1])];

fn locomo(space: &Space, order: impl Iterator<Item = usize>) {
    let all: Vec<String> = order.map(|i| conversation(CONVERSATIONS[i].0, CONVERSATIONS[i].1)).collect();
    space.write("data/locomo/locomo10.json", &format!("[{}]", all.join(",")));
}

/// The questions in a sample of Locomo, by conversation.
fn questions(space: &Space, sample: &str) -> BTreeMap<String, Vec<String>> {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let file = space.json(&format!("{sample}/locomo10.json"));
    let of = |sample: &Value| {
        let questions = sample["qa"].as_array().expect("questions").iter().map(|qa| text(&qa["question"])).collect();
        (text(&sample["sample_id"]), questions)
    };
    file.as_array().expect("conversations").iter().map(of).collect()
}

#[test]
fn documents_are_kept_whole_and_byte_for_byte() {
    let space = Space::new();
    locomo(&space, 0..5);
    let ran = data(&space, "sample locomo --documents 2 --seed 1").expect(0);
    let names: Vec<String> = space.files("samples/locomo").into_keys().collect();
    assert_eq!(names, ["locomo10.json", "sampling_metadata.json"]);
    let metadata = ran.json();
    assert_eq!(metadata, space.json("samples/locomo/sampling_metadata.json"));
    let expected = json!({"original_num_docs": 5, "original_total_qas": 14, "sampled_num_docs": 2, "num_docs": 2,
        "sample_size": null, "seed": 1, "algorithm": "stable", "is_full": false});
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&metadata[key], value, "{key}");
    }
    let drawn = questions(&space, "samples/locomo");
    assert_eq!(drawn.len(), 2);
    let written = space.read("samples/locomo/locomo10.json");
    for (id, questions) in drawn {
        let (_, categories) = CONVERSATIONS.iter().find(|(known, _)| *known == id).expect("a conversation");
        assert_eq!(questions.len(), categories.len());
        assert!(written.contains(&conversation(&id, categories)), "{id} is as it was");
    }
    data(&space, "sample locomo --full --to whole").expect(0);
    assert_eq!(questions(&space, "whole").len(), 5);
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    for part in ["--documents 2", "--questions 7", "--questions 7 --exact", "--documents 3 --questions 5"] {
        let drawn = |order: &mut dyn Iterator<Item = usize>, seed: u64| {
            let space = Space::new();
            locomo(&space, order);
            data(&space, &format!("sample locomo {part} --seed {seed}")).expect(0);
            questions(&space, "samples/locomo")
        };
        let straight: Vec<_> = (0..20).map(|seed| drawn(&mut (0..5), seed)).collect();
        assert_eq!(straight[3], drawn(&mut (0..5).rev(), 3), "{part}");
        assert!(straight.iter().any(|other| *other != straight[0]), "{part}: the seed matters");
    }
}

#[test]
fn questions_are_drawn_exactly_where_asked_for() {
    let space = Space::new();
    locomo(&space, 0..5);
    let count = |arguments: &str| {
        data(&space, &format!("sample locomo {arguments}")).expect(0).json()["sampled_total_qas"].as_u64()
    };
    for n in 1..=14 {
        assert_eq!(count(&format!("--questions {n} --exact")), Some(n));
        assert!(count(&format!("--questions {n}")).is_some_and(|found| found > 0 && found <= n.max(2)));
        assert_eq!(count(&format!("--questions {n} --documents 4")), Some(n));
    }
    assert_eq!(count("--questions 99 --exact"), Some(14));
    // Each category has its share, and questions without an answer are none.
    data(&space, "sample locomo --questions 7 --exact").expect(0);
    let file = space.json("samples/locomo/locomo10.json");
    let mut categories: BTreeMap<u64, usize> = BTreeMap::new();
    for sample in file.as_array().expect("conversations") {
        for question in sample["qa"].as_array().expect("questions") {
            *categories.entry(question["category"].as_u64().expect("a category")).or_default() += 1;
        }
    }
    assert_eq!(categories, BTreeMap::from([(1, 3), (2, 1), (3, 1), (4, 2)]));
}

#[test]
fn a_sample_replaces_a_sample_and_nothing_else() {
    let space = Space::new();
    let header = "id,syllabus_name,question_type,question\n";
    space.write(
        "raw/data/dataset_split/train.csv",
        &format!("{header}1,Alg,yes/no,\"is\nit?\"\n2,Bot,summarization,q\n"),
    );
    space.write("raw/data/dataset_split/test.csv", &format!("{header}3,Cal,yes/no,q\n4,Cal,no answer,q\n"));
    for name in ["Alg", "Bot", "Cal"] {
        space.write(&format!("raw/syllabi/syllabi_redacted/word/{name}.docx"), name);
    }
    let names = || space.files("s").into_keys().collect::<Vec<_>>();
    data(&space, "sample syllabusqa --full --from raw --to s").expect(0);
    assert_eq!(names().len(), 6);
    assert_eq!(space.read("s/data/dataset_split/train.csv"), space.read("raw/data/dataset_split/train.csv"));
    let drawn = |arguments: &str| data(&space, &format!("sample syllabusqa --from raw --to s {arguments}"));
    let (with_test, without) = (0..100).fold((None, None), |(with, without), seed| {
        drawn(&format!("--documents 1 --seed {seed}")).expect(0);
        let is_with = names().iter().any(|name| name.ends_with("test.csv"));
        // Of an earlier sample nothing is left: one split, one syllabus, and what the sample says of itself.
        assert_eq!(names().len(), 3, "{:?}", names());
        if is_with { (Some(seed), without) } else { (with, Some(seed)) }
    });
    assert!(with_test.is_some() && without.is_some());
    // OpenViking's layout has the splits at the top.
    drawn("--full --algorithm openviking").expect(0);
    assert!(space.path("s/train.csv").exists() && !space.path("s/data").exists());
    space.write("mine/notes.txt", "mine");
    let ran = data(&space, "sample syllabusqa --full --from raw --to mine").expect(3);
    assert!(ran.stderr.contains("there is no sampling_metadata.json in it"), "{}", ran.stderr);
    assert_eq!(space.files("mine").len(), 1);
    data(&space, "sample syllabusqa --full --from s --to s").expect(2);
    assert!(space.path("s/train.csv").exists());
}

#[test]
fn what_is_malformed_says_where_and_nothing_is_written() {
    let space = Space::new();
    let whole = format!("[\n{},\n{}\n]", conversation("a", &[1]), conversation("b", &[2]));
    let error = |text: &str| {
        space.write("data/locomo/locomo10.json", text);
        data(&space, "sample locomo --documents 1").expect(3).stderr
    };
    let told = error(&whole[..whole.len() - 20]);
    assert!(told.contains("data/locomo/locomo10.json:3:"), "{told}");
    let told = error(&whole.replace("\"question\": \"b 0?\"", "\"question\": 7"));
    assert!(told.contains("data/locomo/locomo10.json:3:") && told.contains("`question`"), "{told}");
    assert!(error("").contains("data/locomo/locomo10.json:1:"));
    let told = data(&space, "sample qasper --documents 1 --from data/locomo").expect(3).stderr;
    assert!(told.contains("expected one of `qasper-train-v0.3.json`") && told.contains("hint: "), "{told}");
    space.write("raw/train.csv", "id,name,question_type\n1,a,b\n");
    let told = data(&space, "sample syllabusqa --documents 1 --from raw").expect(3).stderr;
    assert!(told.contains("raw/train.csv:1: expected a column `syllabus_name`"), "{told}");
    space.write("raw/financebench_open_source.jsonl", "{\"doc_name\": \"a\"}\n{\"doc_name\": 7}\n{\"doc\n");
    let told = data(&space, "sample financebench --documents 1 --from raw").expect(3).stderr;
    assert!(told.contains("financebench_open_source.jsonl:3:"), "{told}");
    let told = data(&space, "sample locomo --documents 1 --from nowhere").expect(3).stderr;
    assert!(told.contains("cannot read nowhere: it does not exist"), "{told}");
    assert!(!space.path("samples").exists());
}

#[test]
fn what_does_not_go_together_is_told_first() {
    let space = Space::new();
    locomo(&space, 0..5);
    for (arguments, code, told) in [
        ("locomo", 2, "expected --documents N, --questions N, both, or --full"),
        ("locomo --full --documents 1", 2, "cannot be used with"),
        ("locomo --documents 0", 2, "0 is not in 1.."),
        ("locomo --exact --documents 1", 2, "cannot be used with"),
        ("locomo --documents 1 --mode random", 2, "--mode belongs to --algorithm openviking"),
        ("locomo --questions 5 --exact --algorithm openviking", 2, "--exact does not go with"),
        ("lokomo --documents 1", 3, "did you mean `locomo`?"),
        ("cranfield --documents 1", 3, "it knows beir_*, financebench, hotpotqa, locomo"),
        ("beir_scifact --questions 5", 3, "share one corpus"),
        ("hotpotqa --documents 1 --algorithm openviking", 3, "it knows financebench, locomo, qasper, syllabusqa"),
        ("multihop_rag --documents 1", 3, "share one corpus"),
        ("locomo --questions 2 --algorithm openviking", 3, "at least as many questions as there are categories (4)"),
    ] {
        let ran = data(&space, &format!("sample {arguments}")).expect(code);
        assert!(ran.stderr.contains(told), "{arguments}: {}", ran.stderr);
    }
    assert!(!space.path("samples").exists());
}

#[test]
fn questions_over_one_corpus_leave_it_whole() {
    let space = Space::new();
    space.write("raw/corpus.json", "[{\"title\": \"t\", \"body\": \"b\"}]");
    let query =
        |i| format!(r#"{{"query": "q{i}", "question_type": "{}"}}"#, if i % 3 == 0 { "null_query" } else { "x" });
    let queries: Vec<String> = (0..12).map(query).collect();
    space.write("raw/MultiHopRAG.json", &format!("[{}]", queries.join(",")));
    data(&space, "sample multihop_rag --questions 6 --exact --from raw --to s").expect(0);
    let drawn = space.json("s/MultiHopRAG.json");
    let of =
        |kind: &str| drawn.as_array().expect("queries").iter().filter(|query| query["question_type"] == kind).count();
    assert_eq!(["null_query", "x"].map(of), [2, 4]);
    assert_eq!(space.read("s/corpus.json"), space.read("raw/corpus.json"));
}

#[test]
fn queries_of_beir_keep_their_judgements() {
    let space = Space::new();
    space.write("raw/corpus.jsonl", "{\"_id\": \"d\", \"text\": \"t\"}\n");
    let queries: String = (0..9).map(|i| format!("{{\"_id\": \"q{i}\",  \"text\": \"t\"}}\n")).collect();
    space.write("raw/queries.jsonl", &queries);
    let judged: String = (0..6).map(|i| format!("q{i}\td\t1\nq{i}\te\t0\n")).collect();
    space.write("raw/qrels/test.tsv", &format!("query-id\tcorpus-id\tscore\n{judged}"));
    space.write("raw/qrels/train.tsv", "query-id\tcorpus-id\tscore\nq7\td\t1\n");
    let ran = data(&space, "sample beir_scifact --questions 4 --exact --from raw --to s").expect(0);
    assert_eq!(ran.json()["original_total_qas"], 6, "the queries of the test split");
    let kept = space.read("s/queries.jsonl");
    assert_eq!(kept.lines().count(), 4);
    assert!(kept.lines().all(|kept| queries.lines().any(|line| line == kept)));
    let judgements = space.read("s/qrels/test.tsv");
    assert!(judgements.starts_with("query-id\tcorpus-id\tscore\n"));
    assert_eq!(judgements.lines().count(), 1 + 2 * 4);
    assert_eq!(
        space.files("s").keys().collect::<Vec<_>>(),
        ["corpus.jsonl", "qrels/test.tsv", "queries.jsonl", "sampling_metadata.json"]
    );
}

#[test]
fn documents_of_uda_come_with_their_files() {
    let space = Space::new();
    // A bare carriage return stands in one record of the real files.
    let rows: String = (0..8).map(|i| format!("d{}|u{i}|Who\r rows?|x\n", i % 4)).collect();
    space.write("raw/dataset/qa/feta_qa.csv", &format!("doc_name|q_uid|question|answer\n{rows}"));
    space.write("raw/dataset/extended_qa_info_bench/bench_feta_qa.json", "{}");
    for i in 0..5 {
        space.write(&format!("raw/dataset/src_doc_files/wiki_feta_docs/pdfs/d{i}.pdf"), "pdf");
    }
    let ran = data(&space, "sample uda_feta --documents 2 --from raw --to s").expect(0);
    assert_eq!(ran.json()["sampled_total_qas"], 4);
    let kept = space.read("s/dataset/qa/feta_qa.csv");
    assert_eq!(kept.matches('\n').count(), 5);
    assert!(kept.split_inclusive('\n').skip(1).all(|row| rows.contains(row)));
    let files = space.files("s");
    let pdfs = files.keys().filter(|name| name.starts_with("dataset/src_doc_files/wiki_feta_docs/pdfs/"));
    assert_eq!(pdfs.count(), 2);
    assert!(files.contains_key("dataset/extended_qa_info_bench/bench_feta_qa.json"));
}

#[test]
fn questions_with_their_own_paragraphs_are_lines_or_an_array() {
    let space = Space::new();
    let line = |i: usize| format!("{{\"id\": \"{}hop__{i}\",  \"n\": 1.0}}\n", 2 + i % 2);
    let lines: String = (0..10).map(line).collect();
    space.write("raw/musique.sample.jsonl", &lines);
    data(&space, "sample musique --questions 4 --from raw --to s").expect(0);
    let kept = space.read("s/musique.sample.jsonl");
    assert_eq!(kept.lines().count(), 4);
    assert!(kept.lines().all(|kept| lines.lines().any(|line| line == kept)));
    assert_eq!(kept.matches("2hop").count(), 2);
}

#[test]
fn prepare_downloads_and_samples() {
    let space = Space::new();
    let corpus = b"[{\"title\": \"t\", \"body\": \"b\"}]".to_vec();
    let queries =
        b"[{\"query\": \"a\", \"question_type\": \"x\"}, {\"query\": \"b\", \"question_type\": \"x\"}]".to_vec();
    let server = FileServer::new(&[("corpus.json", corpus), ("MultiHopRAG.json", queries)], ORDERLY);
    let prepare =
        |arguments: &str| data(&space, &format!("prepare multihop_rag --mirror {} {arguments}", server.url()));
    prepare("--algorithm openviking --questions 1").expect(3);
    prepare("").expect(2);
    assert_eq!(server.asked(), Vec::<String>::new(), "what cannot be sampled is not downloaded");
    prepare("--questions 1 --exact --to part").expect(0);
    assert_eq!(space.json("part/MultiHopRAG.json").as_array().map(Vec::len), Some(1));
    assert_eq!(server.asked().len(), 2);
    prepare("--questions 2 --exact --to part").expect(0);
    assert_eq!(space.json("part/MultiHopRAG.json").as_array().map(Vec::len), Some(2));
    assert_eq!(server.asked().len(), 0, "it is there");
}

#[test]
fn parts_of_the_real_datasets() {
    for (name, arguments, documents, questions) in [
        ("locomo", "--questions 100 --exact", 10, 100),
        ("qasper", "--documents 20", 20, 0),
        ("qasper", "--questions 60", 0, 60),
        ("syllabusqa", "--documents 5 --questions 50", 5, 50),
        ("financebench", "--questions 30", 0, 30),
        ("hotpotqa", "--questions 25", 25, 25),
        ("musique", "--questions 25", 25, 25),
        ("beir_scifact", "--questions 30 --exact", 1, 30),
        ("uda_feta", "--documents 10", 10, 0),
        ("uda_fin", "--questions 100 --exact", 0, 100),
    ] {
        let folder = match name {
            "beir_scifact" => "beir/scifact",
            name if name.starts_with("uda_") => "uda",
            name => name,
        };
        let Some(from) = real(folder) else { return };
        let space = Space::new();
        let ran = data(&space, &format!("sample {name} {arguments} --from {} --to s", from.display())).expect(0);
        let metadata = ran.json();
        let asked = metadata.get("sampled_valid_qas").unwrap_or(&metadata["sampled_total_qas"]);
        assert!(documents == 0 || metadata["sampled_num_docs"] == documents, "{name}: {metadata}");
        assert!(questions == 0 || asked == questions, "{name}: {metadata}");
    }
}

/// Cases are drawn in the evaluation file too, and then nothing is built again.
#[test]
fn an_evaluation_draws_documents_and_by_category() {
    let space = small::evaluated();
    let cases = || {
        let report = space.json("reports/small/report.json");
        report["case_results"].as_array().expect("case results").len()
    };
    assert_eq!(cases(), 10);
    let of_cases_only = |ran: &Ran| {
        let executed = ran.executed();
        assert_eq!(executed.get("prepare"), Some(&1), "{executed:?}");
        for step in ["materialize", "chunk", "full_text_index"] {
            assert!(!executed.contains_key(step), "{executed:?}");
        }
        assert!(ran.rows().is_empty(), "every row was there: {:?}", ran.rows());
    };
    space.edit("evaluation.yaml", "  cases: cases.jsonl\n", "  cases: cases.jsonl\n  sample_documents: 3\n");
    of_cases_only(&space.run("").expect(0));
    let drawn = cases();
    assert!((3..10).contains(&drawn), "{drawn} cases of three documents");
    space.run("").expect(0).expect_nothing();
    space.edit("evaluation.yaml", "sample_documents: 3", "sample_documents: 99");
    of_cases_only(&space.run("").expect(0));
    space.edit("evaluation.yaml", "sample_documents: 99", "sample: 5\n  stratify: true");
    of_cases_only(&space.run("").expect(0));
    assert_eq!(cases(), 5);
    space.edit("evaluation.yaml", "  sample: 5\n", "");
    let ran = space.ragstage("plan").expect(3);
    assert!(ran.stderr.contains("there is no `sample` that could be drawn by category"), "{}", ran.stderr);
}
