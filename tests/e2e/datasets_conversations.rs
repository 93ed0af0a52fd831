//! Public datasets as their authors ship them: LoCoMo, SyllabusQA, Qasper and FinanceBench. Slices of the real files, under
//! `$RAGSTAGE_DATA` (default `../shared/data`), are evaluated from end to end; where they are absent it is said on standard error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer};
use super::space::Space;

/// A file or folder of the real datasets.
fn data(below: &str) -> Option<PathBuf> {
    let root = std::env::var_os("RAGSTAGE_DATA").map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let path = root.join(below);
    if path.exists() {
        return Some(path);
    }
    say(&format!("SKIPPED: {} is absent; set RAGSTAGE_DATA to evaluate a slice of it", path.display()));
    None
}

/// Says something although the test harness holds back what tests print.
fn say(text: &str) {
    // Nobody reads it if it cannot be written.
    let _ = writeln!(std::io::stderr(), "e2e: {text}");
}

/// An evaluation of `benchmark` with full-text search and extractive answers, called `slice`.
fn write_evaluation(space: &Space, benchmark: &str) {
    let text = format!(
        "name: slice\nbenchmark: {{{benchmark}}}\nrecipe: {{}}\nqueries: [{{mode: full_text_search, top_k: 10}}]\nanswer: {{provider: \
         extractive}}\n"
    );
    space.write("evaluation.yaml", &text);
}

/// Runs the slice, which a second run finds up to date; the report.
fn evaluate(space: &Space) -> Value {
    space.run("").expect(0);
    space.run("").expect(0).expect_nothing();
    report(space)
}

fn report(space: &Space) -> Value {
    space.json("reports/slice/report.json")
}

/// The measure of an evaluator.
fn measure<'a>(report: &'a Value, evaluator: &str) -> &'a Value {
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures");
    let found = measures.iter().find(|measure| measure["evaluator"] == evaluator);
    found.unwrap_or_else(|| panic!("no {evaluator} in {measures:?}"))
}

fn mean(report: &Value, evaluator: &str) -> f64 {
    measure(report, evaluator)["mean"].as_f64().unwrap_or_else(|| panic!("{evaluator} has no mean"))
}

fn count(report: &Value, evaluator: &str, what: &str) -> u64 {
    measure(report, evaluator)["counts"][what].as_u64().expect("a count")
}

fn cases(report: &Value) -> &[Value] {
    report["case_results"].as_array().expect("case results")
}

/// How many cases there are of each category.
fn categories(report: &Value) -> BTreeMap<&str, usize> {
    let mut categories = BTreeMap::new();
    for case in cases(report) {
        *categories.entry(case["metadata"]["category"].as_str().unwrap_or_default()).or_default() += 1;
    }
    categories
}

/// The documents that were found for a case.
fn found(case: &Value) -> BTreeSet<&str> {
    let results = case["response"]["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    results.iter().filter_map(|hit| hit["source"]["document_id"].as_str()).collect()
}

#[test]
fn conversations_are_asked_one_by_one_or_together() {
    let Some(path) = data("locomo/locomo10.json") else { return };
    let space = Space::new();
    let text = fs::read_to_string(path).expect("the conversations");
    let mut samples: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    samples.truncate(2);
    for sample in &mut samples {
        sample["qa"].as_array_mut().expect("questions").truncate(40);
    }
    space.write("locomo/locomo10.json", &json!(samples).to_string());
    write_evaluation(&space, "adapter: locomo, path: locomo");
    let alone = evaluate(&space);
    assert_eq!(
        (&alone["benchmark"]["name"], &alone["benchmark"]["license"]),
        (&json!("locomo"), &json!("CC BY-NC 4.0"))
    );
    assert!(alone["ragstage"]["benchmark_digest"].is_string());
    assert_eq!(cases(&alone).len(), 80);
    for case in cases(&alone) {
        let conversation = case["case_id"].as_str().and_then(|id| id.split_once('/')).map(|(id, _)| id).expect("an id");
        assert_eq!(found(case), BTreeSet::from([conversation]), "{case}");
    }
    let words: BTreeSet<&str> = categories(&alone).into_keys().collect();
    assert!(
        words.is_subset(&BTreeSet::from(["multi-hop", "temporal", "open-domain", "single-hop"])) && words.len() > 2
    );
    let recall = mean(&alone, "evidence_recall@10");
    assert!((0.6..=0.95).contains(&recall), "evidence_recall@10 is {recall}");
    assert!(mean(&alone, "evidence_recall@5") < recall);
    let f1 = mean(&alone, "token_f1");
    assert!((0.02..0.3).contains(&f1), "token_f1 is {f1}");

    // All in one knowledge base: nothing is parsed again, and a turn of another conversation is no evidence.
    space.edit("evaluation.yaml", "path: locomo", "path: locomo, scope: corpus");
    let ran = space.run("").expect(0);
    assert_eq!(ran.row_counts().get("materialize"), None, "{:?}", ran.row_counts());
    let together = report(&space);
    assert!(cases(&together).iter().any(|case| found(case).len() == 2));
    let of_both = mean(&together, "evidence_recall@10");
    assert!((0.6..=0.95).contains(&of_both), "evidence_recall@10 is {of_both}");
    say(&format!(
        "locomo, 80 questions: evidence_recall@10 {recall:.4} alone, {of_both:.4} together, token_f1 {f1:.4}"
    ));
}

#[test]
fn papers_are_asked_one_by_one() {
    let Some(path) = data("qasper/qasper-test-v0.3.first20.json") else { return };
    let space = Space::new();
    write_evaluation(
        &space,
        &format!("adapter: qasper, path: {:?}, scope: document", path.canonicalize().expect("a file")),
    );
    let report = evaluate(&space);
    assert_eq!((cases(&report).len(), &report["benchmark"]["build_scope"]), (66, &json!("case")));
    assert!(cases(&report).iter().all(|case| found(case).len() <= 1));
    let unanswerable = categories(&report).get("unanswerable").copied().unwrap_or_default() as u64;
    assert_eq!(count(&report, "token_f1", "skipped"), unanswerable);
    assert_eq!(count(&report, "refusal_agreement", "scored"), 66);
    let yes_no = "label_accuracy(labels=[\"no\",\"yes\"],pick=start)";
    assert!((1..66).contains(&count(&report, yes_no, "scored")));
    let recall = mean(&report, "evidence_recall@10");
    assert!((0.5..1.0).contains(&recall), "evidence_recall@10 is {recall}");
    say(&format!("qasper, 20 papers: evidence_recall@10 {recall:.4}, token_f1 {:.4}", mean(&report, "token_f1")));
    // OpenViking's filter leaves the unanswerable questions out, and asks nobody again.
    space.edit("evaluation.yaml", "scope: document", "scope: document, unanswerable: false");
    let ran = space.run("").expect(0);
    assert_eq!(ran.row_counts().get("retrieve"), None, "{:?}", ran.row_counts());
    assert_eq!(cases(&self::report(&space)).len() as u64, 66 - unanswerable);
}

/// The questions of `table` about `syllabi`, at most `most` of each.
fn table_of(table: &str, syllabi: &[&str], most: usize) -> String {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for (number, record) in reader.records().enumerate() {
        let record = record.expect("a record");
        let syllabus = record.get(1).unwrap_or_default().to_string();
        let count = taken.entry(syllabus.clone()).or_default();
        if number == 0 || syllabi.contains(&syllabus.as_str()) && *count < most {
            *count += 1;
            writer.write_record(&record).expect("a record");
        }
    }
    String::from_utf8(writer.into_inner().expect("bytes")).expect("UTF-8")
}

#[test]
fn questions_about_a_syllabus_that_is_missing_are_skipped() {
    let Some(path) = data("syllabusqa") else { return };
    let text = |below: &str| path.join(below);
    let table = fs::read_to_string(text("dataset_split/val.csv")).expect("val.csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let named: BTreeSet<String> = reader.records().map(|record| record.expect("a record")[1].to_string()).collect();
    let syllabi: Vec<&str> = named.iter().take(3).map(String::as_str).collect();
    let space = Space::new();
    space.write("syllabusqa/data/dataset_split/val.csv", &table_of(&table, &syllabi, 30));
    let folder = "syllabi/syllabi_redacted/text";
    fs::create_dir_all(space.path("syllabusqa").join(folder)).expect("a folder");
    for syllabus in &syllabi[..2] {
        let name = format!("{folder}/{syllabus}.txt");
        fs::copy(text(&name), space.path("syllabusqa").join(&name)).expect("a copy");
    }
    write_evaluation(&space, "adapter: syllabusqa, path: syllabusqa, documents: text");
    let report = evaluate(&space);
    assert_eq!(report["benchmark"]["metadata"]["syllabi_not_on_disk"], 1);
    let (mut asked, mut skipped) = (0, 0);
    for case in cases(&report) {
        if case["query"].as_str().is_some_and(|query| query.contains(&format!("\"{}\"", syllabi[2]))) {
            skipped += 1;
            let unscored = case["metadata"]["unscored"].as_array().expect("unscored");
            assert!(case["scores"].as_array().is_some_and(Vec::is_empty) && !unscored.is_empty(), "{case}");
            assert!(unscored.iter().all(|score| score["state"] == "skipped"), "{case}");
            assert!(case.to_string().contains(&format!("the syllabus is not on disk: {folder}/")), "{case}");
        } else {
            asked += 1;
            assert!(!found(case).is_empty(), "{case}");
        }
    }
    assert!(asked > 30 && skipped > 10, "{asked} asked, {skipped} skipped");
    assert_eq!(count(&report, "token_f1", "scored"), asked);
    assert_eq!(categories(&report).get("no answer"), None);
    let recall = mean(&report, "evidence_recall(text=cover)@10");
    assert!((0.3..=1.0).contains(&recall), "evidence_recall(text=cover)@10 is {recall}");
    say(&format!(
        "syllabusqa, 2 syllabi: evidence_recall(text=cover)@10 {recall:.4}, token_f1 {:.4}",
        mean(&report, "token_f1")
    ));
}

#[test]
fn questions_about_a_filing_that_is_missing_are_skipped() {
    let Some(path) = data("financebench") else { return };
    let space = Space::new();
    let questions = fs::read_to_string(path.join("data/financebench_open_source.jsonl")).expect("questions");
    space.write("financebench/data/financebench_open_source.jsonl", &questions);
    let filings =
        ["FOOTLOCKER_2022_8K_dated-2022-05-20", "ULTABEAUTY_2023Q4_EARNINGS", "PEPSICO_2023_8K_dated-2023-05-05"];
    fs::create_dir_all(space.path("financebench/pdfs")).expect("a folder");
    for filing in filings {
        let name = format!("pdfs/{filing}.pdf");
        fs::copy(path.join(&name), space.path("financebench").join(&name)).expect("a copy");
    }
    let row = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
    let about =
        questions.lines().map(row).filter(|row| filings.iter().any(|filing| row["doc_name"] == *filing)).count();
    write_evaluation(&space, "adapter: financebench, path: financebench, scope: document");
    let ran = space.run("");
    let report = report(&space);
    assert_eq!(cases(&report).len(), 150);
    assert_eq!(report["benchmark"]["metadata"]["filings_not_on_disk"], 81);
    let page_recall = "evidence_recall(match=locator)@10";
    let asked: Vec<&Value> =
        cases(&report).iter().filter(|case| !case.to_string().contains("the filing is not on disk: pdfs/")).collect();
    assert!(about > 4 && asked.len() == about, "{} of {about} asked", asked.len());
    assert_eq!(count(&report, page_recall, "skipped"), 150 - about as u64);
    assert_eq!(count(&report, "token_f1", "scored"), about as u64);
    if ran.code == 0 {
        let recall = mean(&report, page_recall);
        assert!((0.3..=1.0).contains(&recall), "{page_recall} is {recall}");
        say(&format!("financebench, 3 filings: {page_recall} {recall:.4}, token_f1 {:.4}", mean(&report, "token_f1")));
        space.run("").expect(0).expect_nothing();
    } else {
        // Documents that no parser reads are rejected, and the run says so.
        let ran = ran.expect(10);
        assert!(ran.stderr.contains("documents that no parser reads: 3"), "{}\n{}", ran.stdout, ran.stderr);
    }
}

/// Two syllabi of which one is not on disk, each with a knowledge base of its own.
fn two_syllabi(space: &Space) {
    space.write(
        "course/train.csv",
        "id,syllabus_name,question_type,question,answer,answer_span_1\n\
         a,Pottery,single factual,When do we throw pots?,On Mondays,throw pots on Mondays\n\
         b,Pottery,yes/no,Is there a kiln?,Yes,The kiln is hot\n\
         c,Glazing,single factual,Which glaze is blue?,Cobalt,cobalt\n\
         d,Pottery,no answer,Who is the dean?,No/insufficient information,\n",
    );
    space.write("course/syllabi/Pottery.txt", "We throw pots on Mondays. The kiln is hot on Fridays.");
    write_evaluation(space, "adapter: syllabusqa, path: course, scope: document");
}

#[test]
fn a_unit_without_any_document_comes_to_its_end() {
    let space = Space::new();
    two_syllabi(&space);
    let report = evaluate(&space);
    let of = |id: &str| cases(&report).iter().find(|case| case["case_id"] == id).expect("a case");
    assert_eq!(cases(&report).len(), 3);
    assert!(of("c").to_string().contains("the syllabus is not on disk: syllabi/syllabi_redacted/word/Glazing.docx"));
    assert_eq!(found(of("a")), BTreeSet::from(["Pottery"]));
    assert_eq!(count(&report, "token_f1", "skipped"), 1);
    let lints = report["ragstage"]["lints"].as_array().expect("lints");
    assert!(lints.iter().all(|lint| lint["name"] != "dangling-gold"), "{lints:?}");
    assert_eq!(mean(&report, "evidence_recall(text=cover)@5"), 1.0);
    // When it comes, its questions alone are asked.
    space.write("course/syllabi/Glazing.txt", "The blue glaze is cobalt.");
    let ran = space.run("").expect(0);
    assert_eq!((ran.items("materialize"), ran.items("retrieve")), (vec!["Glazing".to_string()], vec!["c".to_string()]));
    assert_eq!(count(&self::report(&space), "token_f1", "scored"), 3);
}

#[test]
fn what_is_wrong_ends_with_3_and_nothing_is_written() {
    let space = Space::new();
    two_syllabi(&space);
    space.write("course/train.csv", &space.read("course/train.csv").replace("b,Pottery,yes/no", "a,Pottery"));
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("train.csv:3: expected 6 cells as in the first row, found 5"), "{}", ran.stderr);
    assert!(!Path::exists(&space.path("reports")));
}

#[test]
fn a_model_is_told_what_the_dataset_asks_for() {
    let server = ModelServer::new(|_| Act::Say("On Mondays. [1]".to_string()));
    let space = Space::new();
    two_syllabi(&space);
    let model = format!("models: [{{name: small, model: m-1, base_url: \"{}\"}}]\nrecipe", server.base_url());
    space.edit("evaluation.yaml", "recipe", &model);
    space.edit(
        "evaluation.yaml",
        "answer: {provider: extractive}",
        "answer: {provider: openai, llm: small}\nevaluators: [token_f1]",
    );
    space.run("").expect(0);
    let told = |question: &str| -> String {
        let requests = server.requests("chat/completions");
        let asked: Vec<_> = requests.iter().filter(|request| request.prompt().contains(question)).collect();
        assert_eq!(asked.len(), 1, "{question}");
        let messages = asked[0].body["messages"].as_array().expect("messages");
        messages.iter().filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
    };
    let [facts, yes_no] = ["single_factual", "yes_no"].map(|name| {
        let path = format!("stages/src/prepare/syllabusqa/prompts/{name}.md");
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a prompt").trim().to_string()
    });
    assert!(told("throw pots?").contains(&facts) && told("a kiln?").contains(&yes_no));
    // A missing syllabus is nobody's question.
    assert_eq!(server.count("chat/completions"), 2);
    // One of one's own takes the place of the dataset's for its category, and asks those cases alone.
    space.edit("evaluation.yaml", "llm: small", "llm: small, instructions: {yes/no: Say aye or nay.}");
    server.rescript(|_| Act::Say("Aye. [1]".to_string()));
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("answer"), ["b"]);
    assert!(told("a kiln?").contains("Say aye or nay.") && !told("a kiln?").contains(&yes_no));
}

#[test]
fn a_store_and_reports_beside_a_dataset_are_no_part_of_it() {
    let space = Space::new();
    let header = "id,syllabus_name,question_type,question,answer\n";
    space.write("questions.csv", &format!("{header}1,Pots,yes/no,Is there a kiln?,Yes\n"));
    space.write("syllabi/Pots.txt", "There is a kiln.");
    write_evaluation(&space, "adapter: syllabusqa, path: questions.csv");
    let report = evaluate(&space);
    assert_eq!(count(&report, "token_f1", "scored"), 1);
    space.write("notes/Pots.md", "nobody's");
    space.run("").expect(0).expect_nothing();
}
