//! MultiHop-RAG and UDA-Benchmark: slices of the files as their authors ship them, run to a report.
//!
//! The files are not ours to keep: they are found below `$RAGSTAGE_DATA`, by default `../shared/data`. Where they are absent a test
//! says so and passes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::space::{Space, steps};

/// A folder or file of the real datasets; `None`, said loudly, where it is absent.
fn data(below: &str) -> Option<PathBuf> {
    let root = std::env::var_os("RAGSTAGE_DATA").map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let path = root.join(below);
    if path.exists() {
        return Some(path);
    }
    say(&format!("SKIPPED: {} is absent; set RAGSTAGE_DATA to test with it", path.display()));
    None
}

/// Says something that must be seen although the test passes: the test harness holds back what `eprintln` prints.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "datasets: {text}");
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An evaluation of `benchmark` with full-text search and answers that are sentences of what is found, by the benchmark's own
/// evaluators and `more`.
fn evaluation(benchmark: &str) -> String {
    format!(
        "name: slice\nbenchmark: {benchmark}\nrecipe: {{chunk: {{size: 256}}}}\nqueries:\n  - {{mode: full_text_search, name: \
         bm25, top_k: 10}}\nanswer: {{provider: extractive, sentences: 1, results: 3}}\nstatistics: {{resamples: 100}}\n"
    )
}

/// The measures of the slice's report by evaluator.
fn measures(space: &Space) -> BTreeMap<String, Value> {
    let report = space.json("reports/slice/report.json");
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures").clone();
    measures.into_iter().map(|measure| (measure["evaluator"].as_str().expect("a name").to_string(), measure)).collect()
}

fn number(measure: &Value, field: &str) -> f64 {
    measure[field].as_f64().unwrap_or_else(|| panic!("{field} of {measure}"))
}

/// `scored`, `skipped` and `failed` of a measure.
fn counts(measure: &Value) -> [u64; 3] {
    ["scored", "skipped", "failed"]
        .map(|field| measure["counts"][field].as_u64().unwrap_or_else(|| panic!("{field} of {measure}")))
}

fn say_means(name: &str, measures: &BTreeMap<String, Value>) {
    let means: Vec<String> =
        measures.iter().map(|(evaluator, measure)| format!("{evaluator} {:.4}", number(measure, "mean"))).collect();
    say(&format!("{name}: {}", means.join(", ")));
}

#[test]
fn multihop_rag_is_scored_as_its_paper_does() {
    let Some(folder) = data("multihop_rag") else { return };
    let space = Space::new();
    let questions: Vec<Value> = serde_json::from_str(&read(folder.join("MultiHopRAG.json"))).expect("questions");
    let slice: Vec<Value> = questions.into_iter().take(120).collect();
    let null = slice.iter().filter(|question| question["question_type"] == "null_query").count() as u64;
    let of_slice = slice.len() as u64;
    assert!(null > 0 && null < of_slice);
    space.write("MultiHop-RAG/MultiHopRAG.json", &json!(slice).to_string());
    space.write("MultiHop-RAG/corpus.json", &read(folder.join("corpus.json")));
    space.write("evaluation.yaml", &evaluation("{adapter: multihop_rag, path: MultiHop-RAG}"));
    space.run("").expect(0);

    let measures = measures(&space);
    say_means("multihop_rag", &measures);
    assert_eq!(measures.len(), 7);
    for (evaluator, measure) in &measures {
        // Null queries have no evidence to find, and are answered like any other.
        let skipped = if evaluator == "answer_accuracy" { 0 } else { null };
        assert_eq!(counts(measure), [of_slice - skipped, skipped, 0], "{evaluator}");
        assert!((0.0..=1.0).contains(&number(measure, "mean")), "{measure}");
    }
    let mean = |evaluator: &str| number(&measures[evaluator], "mean");
    let [hits_4, hits_10] = [4, 10].map(|k| mean(&format!("evidence_hits(match=text,text=unspaced)@{k}")));
    let mrr = mean("evidence_mrr(match=text,text=unspaced)@10");
    let map = mean("evidence_map(match=text,text=unspaced)@10");
    // The bodies of the articles here are their evidence, so most of it is found.
    assert!(hits_10 > 0.8 && hits_4 <= hits_10 && mrr <= hits_10, "{hits_4} {hits_10} {mrr}");
    assert!(map <= mrr && map > 0.1, "each piece counts 1 / its rank, and none is earlier than the first: {map} {mrr}");
    assert!(mean("evidence_recall@5") <= mean("evidence_recall@10"));
    let report = space.json("reports/slice/report.json");
    assert_eq!(report["benchmark"]["license"], "ODC-BY-1.0");
    assert!(report["ragstage"]["benchmark_digest"].is_string());
    space.run("").expect(0).expect_nothing();
}

/// The passages around the questions of FinQA's extended file, as a document for each name.
fn write_fin_documents(space: &Space, extended: &Value, names: &[&str]) {
    for name in names {
        let mut lines: Vec<&str> = Vec::new();
        for entry in extended[name].as_array().expect("entries") {
            for part in ["pre_text", "post_text"] {
                lines.extend(entry["context"][part].as_array().expect("lines").iter().filter_map(Value::as_str));
            }
            lines.extend(entry["evidence"].as_object().expect("evidence").values().filter_map(Value::as_str));
        }
        space.write(&format!("UDA/dataset/src_doc_files/fin_docs/{name}.txt"), &lines.join("\n"));
    }
}

#[test]
fn the_whole_of_uda_fin_is_read_and_only_what_has_a_document_is_asked() {
    let Some(dataset) = data("uda/dataset") else { return };
    let space = Space::new();
    space.write("UDA/dataset/qa/fin_qa.csv", &read(dataset.join("qa/fin_qa.csv")));
    let extended = read(dataset.join("extended_qa_info_bench/bench_fin_qa.json"));
    space.write("UDA/dataset/extended_qa_info_bench/bench_fin_qa.json", &extended);
    let extended: Value = serde_json::from_str(&extended).expect("the extended file");
    let names: Vec<&str> = extended.as_object().expect("documents").keys().map(String::as_str).take(3).collect();
    write_fin_documents(&space, &extended, &names);
    let evaluators = "evaluators: [numeric_match(variant=uda_fin), evidence_recall@10]\n";
    space.write("evaluation.yaml", &(evaluation("{adapter: uda, path: UDA, subset: fin}") + evaluators));
    let ran = space.run("").expect(0);

    let text = space.read("UDA/dataset/qa/fin_qa.csv");
    let of_names = text.lines().filter(|line| names.iter().any(|name| line.starts_with(&format!("{name}|"))));
    let asked: Vec<Vec<&str>> = of_names.map(|line| line.split('|').collect()).collect();
    // A question that stands twice on a document is asked once.
    let texts: BTreeSet<(&str, &str)> = asked.iter().map(|cells| (cells[0], cells[2])).collect();
    let asked = asked.len() as u64;
    assert!(asked >= 3);
    // Three knowledge bases, and a fourth unit of which nothing is built.
    assert_eq!(
        ran.executed(),
        steps(&[
            ("sources", 1),
            ("prepare", 1),
            ("materialize", 3),
            ("chunk", 3),
            ("full_text_index", 3),
            ("retrieve", 4),
            ("answer", 4),
            ("score", 8),
            ("aggregate", 1),
            ("report", 1),
        ])
    );
    assert_eq!(ran.items("retrieve").len(), texts.len());
    let measures = measures(&space);
    say_means("uda_fin", &measures);
    assert_eq!(counts(&measures["numeric_match(variant=uda_fin)"]), [asked, 8_190 - asked, 0]);
    let recall = &measures["evidence_recall@10"];
    let [scored, skipped, failed] = counts(recall);
    assert_eq!((scored + skipped, failed), (8_190, 0));
    assert!(scored > 0 && scored <= asked);
    assert!(number(recall, "mean") > 0.5, "the documents have the evidence to the letter: {recall}");
    let report = space.json("reports/slice/report.json");
    assert_eq!(report["benchmark"]["metadata"]["documents_missing"], 785);
    let result = &report["case_results"][0];
    let (metadata, text) = (&result["metadata"], result.to_string());
    assert!(metadata["benchmark_run_unit"] != "without-documents" || text.contains("there is no file"), "{text}");
    space.run("").expect(0).expect_nothing();

    // Asked for what is there alone, the same knowledge bases serve.
    space.edit("evaluation.yaml", "subset: fin}", "subset: fin, documents: present}");
    let ran = space.run("").expect(0);
    for step in ["materialize", "chunk", "full_text_index", "retrieve", "answer"] {
        assert!(!ran.executed().contains_key(step), "{step}: {:?}", ran.executed());
    }
    let measures = self::measures(&space);
    assert_eq!(counts(&measures["numeric_match(variant=uda_fin)"]), [asked, 0, 0]);
}

/// A document of the questions' own gold, with a word before it.
fn write_slice(space: &Space, dataset: &std::path::Path, subset: &str, folder: &str, documents: usize) -> u64 {
    let text = read(dataset.join(format!("qa/{subset}_qa.csv")));
    space.write(&format!("UDA/qa/{subset}_qa.csv"), &text);
    let mut names: Vec<&str> = Vec::new();
    let mut cases = 0;
    for line in text.split('\n').skip(1) {
        let name = line.split('|').next().unwrap_or_default();
        if line.matches('|').count() < 3 || name.starts_with('"') {
            continue;
        }
        if !names.contains(&name) && names.len() < documents {
            names.push(name);
        }
        if names.contains(&name) {
            cases += 1;
            let file = format!("UDA/{folder}/{name}.txt");
            let known = if space.path(&file).exists() { space.read(&file) } else { String::new() };
            space.write(&file, &(known + &line.replace('|', ". ") + "\n\n"));
        }
    }
    cases
}

#[test]
fn every_subset_of_uda_runs_to_a_report_with_its_authors_scorers() {
    let Some(dataset) = data("uda/dataset") else { return };
    for (subset, folder, documents, evaluators) in [
        ("tat", "tat_docs", 1, &["tat_em", "tat_f1"][..]),
        ("paper_text", "paper_docs", 4, &["uda_f1"]),
        ("paper_tab", "paper_docs", 8, &["uda_f1"]),
        ("feta", "wiki_feta_docs", 4, &["uda_f1"]),
        ("nq", "wiki_nq_docs", 2, &["uda_f1"]),
    ] {
        let space = Space::new();
        let least = write_slice(&space, &dataset, subset, folder, documents);
        space.write(
            "evaluation.yaml",
            &evaluation(&format!("{{adapter: uda, path: UDA, subset: {subset}, documents: present}}")),
        );
        space.run("").expect(0);
        let measures = measures(&space);
        say_means(&format!("uda_{subset} (documents made of the gold)"), &measures);
        assert_eq!(measures.keys().map(String::as_str).collect::<Vec<_>>(), evaluators, "{subset}");
        for measure in measures.values() {
            let [scored, skipped, failed] = counts(measure);
            assert!(scored > 0 && failed == 0, "{subset}: {measure}");
            assert!(scored + skipped >= least, "{subset}: {measure}");
        }
        let best = measures.values().map(|measure| number(measure, "mean")).fold(0.0, f64::max);
        // Sentences that hold the gold among other words.
        assert!(best > 0.02 && best < 1.0, "{subset}: {best}");
        space.run("").expect(0).expect_nothing();
    }
}

/// The best mean of a subset's measures on the PDFs that are there, and how many questions were asked.
fn of_pdfs(dataset: &std::path::Path, subset: &str) -> (BTreeMap<String, Value>, u64) {
    let space = Space::new();
    let path = dataset.canonicalize().expect("a folder that is there");
    let benchmark = format!("{{adapter: uda, path: {path:?}, subset: {subset}, documents: present}}");
    space.write("evaluation.yaml", &evaluation(&benchmark));
    let ran = space.run("").expect(0);
    assert_eq!(ran.of("row_failed").len(), 0, "{subset}");
    let measures = measures(&space);
    say_means(&format!("uda_{subset} (PDF)"), &measures);
    let report = space.json("reports/slice/report.json");
    let results = report["case_results"].as_array().expect("case results");
    for result in results {
        let hits = result["response"]["results"].as_array().expect("results");
        assert!(!hits.is_empty(), "{subset}: nothing was found for {result}");
    }
    let asked = results.len() as u64;
    space.run("").expect(0).expect_nothing();
    (measures, asked)
}

#[test]
fn uda_runs_on_the_pdfs_that_are_there() {
    let Some(dataset) = data("uda/dataset") else { return };
    for (subset, asked) in [("fin", 21), ("tat", 42), ("paper_text", 9), ("paper_tab", 3), ("feta", 4), ("nq", 2)] {
        let (measures, found) = of_pdfs(&dataset, subset);
        assert_eq!(found, asked, "{subset}");
        for (evaluator, measure) in &measures {
            assert_eq!(counts(measure), [asked, 0, 0], "{subset} {evaluator}");
            assert!((0.0..=1.0).contains(&number(measure, "mean")), "{subset} {evaluator}");
        }
        // Sentences of a paper or a page share words with the gold, whichever they are.
        if let Some(f1) = measures.get("uda_f1") {
            assert!(number(f1, "mean") > 0.0, "{subset}: {f1}");
        }
    }
}

#[test]
fn malformed_files_are_refused_with_file_line_and_reason() {
    let space = Space::new();
    space.write("UDA/qa/fin_qa.csv", "doc_name|q_uid|question|answer_1|answer_2\nA|u|q|1|2\nA|u|q2|1\n");
    space.write("UDA/A.txt", "text");
    space.write("evaluation.yaml", &evaluation("{adapter: uda, path: UDA, subset: fin}"));
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("UDA/qa/fin_qa.csv:3: expected 5 cells, found 4"), "{}", ran.stderr);
    assert!(!space.path("reports").exists());

    space.write("news/corpus.json", "[\n{\"title\": \"One\", \"body\": \"b\"},\n{\"title\": ");
    space.write("news/MultiHopRAG.json", "[{\"query\": \"q\"}]");
    space.write("evaluation.yaml", &evaluation("{adapter: multihop_rag, path: news}"));
    let ran = space.run("").expect(3);
    for told in
        ["news/corpus.json:3:10: invalid JSON", "is the file cut off?", "MultiHopRAG.json:1: `[0].answer` is missing"]
    {
        assert!(ran.stderr.contains(told), "{told} is not in {}", ran.stderr);
    }

    std::fs::remove_file(space.path("news/corpus.json")).expect("removed");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("news/corpus.json"), "{}", ran.stderr);
}
