//! HotpotQA, MuSiQue and Cranfield, from the files that their authors ship: run on a part of each where the data is there.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::space::{Ran, Space};

/// A file below the real datasets; `None`, said aloud, where it is not there.
fn data(below: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("RAGSTAGE_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"),
    };
    let path = folder.join(below);
    if path.exists() {
        return Some(path);
    }
    // Not `eprintln`, which the test harness holds back where a test passes.
    let _ = writeln!(std::io::stderr(), "e2e: SKIPPED: {} is absent; set RAGSTAGE_DATA to run it", path.display());
    None
}

/// The mean of an evaluator in the only query mode, by its name.
fn mean(space: &Space, evaluator: &str) -> f64 {
    let report = space.json("reports/run/report.json");
    let name = format!("bm25.{evaluator}");
    report["score_summary"][&name].as_f64().unwrap_or_else(|| panic!("{name}: {}", report["score_summary"]))
}

/// How many cases have a score, or are skipped or failed, by evaluator.
fn counts(space: &Space, evaluator: &str) -> [u64; 3] {
    let report = space.json("reports/run/report.json");
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures").clone();
    let measure =
        measures.iter().find(|measure| measure["evaluator"] == evaluator).unwrap_or_else(|| panic!("{measures:#?}"));
    ["scored", "skipped", "failed"]
        .map(|state| measure["counts"][state].as_u64().unwrap_or_else(|| panic!("{measure}")))
}

/// A run of everything, after which nothing is left to run.
fn run_twice(space: &Space) -> Ran {
    let ran = space.run("--output reports/run").expect(0);
    space.run("--output reports/run").expect(0).expect_nothing();
    ran
}

/// The first `count` questions of HotpotQA's sample.
fn hotpotqa(count: usize) -> Option<(Space, Value)> {
    let text = std::fs::read(data("hotpotqa/hotpot_dev_distractor_v1.sample200.json")?).expect("the sample");
    let Value::Array(mut questions) = serde_json::from_slice(&text).expect("JSON") else { panic!("no list") };
    questions.truncate(count);
    let space = Space::new();
    space.write("data/hotpot_dev_distractor_v1.json", &json!(questions).to_string());
    Some((space, json!(questions)))
}

fn evaluation(benchmark: &str, more: &str) -> String {
    format!(
        "name: run\nbenchmark: {benchmark}\nrecipe: {{name: plain}}\nqueries:\n  - {{mode: full_text_search, name: bm25, top_k: 10}}\n\
         statistics: {{resamples: 100}}\n{more}"
    )
}

#[test]
fn hotpotqa_is_run_question_by_question() {
    let Some((space, questions)) = hotpotqa(40) else { return };
    space.write("evaluation.yaml", &evaluation("{adapter: hotpotqa, path: data}", ""));
    let ran = run_twice(&space);
    assert_eq!(ran.executed()["retrieve"], 40);
    let report = space.json("reports/run/report.json");
    assert_eq!(
        (&report["benchmark"]["name"], &report["benchmark"]["build_scope"]),
        (&json!("hotpotqa"), &json!("case"))
    );
    assert_eq!(report["benchmark"]["license"], "CC BY-SA 4.0");
    assert_eq!(report["ragstage"]["benchmark_digest"].as_str().map(str::len), Some(64));
    // A sentence is seldom the answer itself, but its words often are.
    let (em, f1) = (mean(&space, "squad_em"), mean(&space, "token_f1(normal=hotpotqa)"));
    assert!(em <= f1 && f1 > 0.02 && f1 < 0.4, "{em} {f1}");
    let (facts, joint) = (mean(&space, "supporting_facts_f1@2"), mean(&space, "joint_f1@2"));
    assert!(facts > 0.15 && facts < 0.8 && joint <= facts && joint < f1, "{facts} {joint}");
    assert_eq!(counts(&space, "joint_f1@2"), [40, 0, 0]);
    let kinds = |word: &str| questions.as_array().expect("a list").iter().filter(|q| q["type"] == word).count();
    let cases = report["case_results"].as_array().expect("cases");
    let of = |word: &str| cases.iter().filter(|case| case["metadata"]["category"] == word).count();
    for word in ["bridge", "comparison"] {
        assert!(kinds(word) > 0 && of(word) == kinds(word), "{word}");
    }
}

#[test]
fn hotpotqas_results_alone_have_supporting_facts() {
    let Some((space, questions)) = hotpotqa(40) else { return };
    let evaluators = "evaluators: [supporting_facts_recall@10, supporting_facts_f1@2, joint_f1@2, evidence_recall@10]\nanswer: none\n";
    space.write("evaluation.yaml", &evaluation("{adapter: hotpotqa, path: data}", evaluators));
    run_twice(&space);
    // All ten paragraphs of a question are among the first ten results, where a paragraph is one chunk and words match.
    assert!(mean(&space, "supporting_facts_recall@10") > 0.9);
    assert!(mean(&space, "evidence_recall@10") > 0.9);
    let own = mean(&space, "supporting_facts_f1@2");
    assert!(own > 0.2 && own < 0.8, "{own}");
    assert_eq!(counts(&space, "joint_f1@2"), [0, 40, 0]);

    // One knowledge base of all paragraphs is harder to search.
    space.edit("evaluation.yaml", "path: data}", "path: data, scope: corpus}");
    let ran = run_twice(&space);
    assert_eq!(ran.executed()["retrieve"], 1);
    assert!(ran.items("materialize").is_empty(), "paragraphs are parsed once, whatever they are grouped by");
    let corpus = mean(&space, "supporting_facts_recall@10");
    assert!(corpus > 0.4 && corpus <= 1.0, "{corpus}");
    let paragraphs =
        questions.as_array().expect("a list").iter().map(|q| q["context"].as_array().expect("a context").len());
    let report = space.json("reports/run/report.json");
    assert_eq!(report["benchmark"]["build_scope"], "corpus");
    assert!(paragraphs.sum::<usize>() >= 390);
}

#[test]
fn musique_is_run_question_by_question() {
    let Some(path) = data("musique/musique_ans_v1.0_dev.sample200.jsonl") else { return };
    let text = std::fs::read_to_string(path).expect("the sample");
    let lines: Vec<&str> = text.lines().take(30).collect();
    let space = Space::new();
    space.write("musique.jsonl", &lines.join("\n"));
    space.write("evaluation.yaml", &evaluation("{adapter: musique, path: musique.jsonl}", ""));
    let ran = run_twice(&space);
    assert_eq!(ran.executed()["retrieve"], 30);
    let (em, f1) = (mean(&space, "squad_em"), mean(&space, "token_f1"));
    assert!(em <= f1 && f1 < 0.4, "{em} {f1}");
    let facts = mean(&space, "supporting_facts_f1(unit=document)@4");
    assert!(facts > 0.2 && facts < 0.9, "{facts}");
    assert_eq!(counts(&space, "supporting_facts_f1(unit=document)@4"), [30, 0, 0]);
}

#[test]
fn cranfield_is_run_whole() {
    let Some(folder) = data("cranfield") else { return };
    let space = Space::new();
    let benchmark = |qrels: &str| {
        format!(
            "{{adapter: trec, name: cranfield, documents: {0}/cran.all.1400, topics: {0}/cran.qry, qrels: {0}/{qrels}, \
             query_ids: position}}",
            folder.display()
        )
    };
    let recipe = "recipe: {name: plain, chunk: {splitter: sentence, tokenizer: words, size: 1000000}}";
    let file = |qrels: &str| {
        let text = evaluation(&benchmark(qrels), "answer: none\n").replace("top_k: 10}", "top_k: 100}");
        text.replace("recipe: {name: plain}", recipe)
    };
    space.write("evaluation.yaml", &file("QRelsCorrectedforTRECeval"));
    run_twice(&space);
    // BM25 is at 0.3 to 0.45 in average precision on this collection.
    let (ndcg, ap, recall) = (mean(&space, "nDCG@10"), mean(&space, "AP"), mean(&space, "R@100"));
    assert!(
        (0.4..0.6).contains(&ndcg) && (0.3..0.45).contains(&ap) && (0.7..0.9).contains(&recall),
        "{ndcg} {ap} {recall}"
    );
    assert_eq!(counts(&space, "AP"), [225, 0, 0]);

    // The other file of the same judgements, whose codes run the other way.
    space.write("evaluation.yaml", &file("cranqrel, relevance: cranfield"));
    let ran = run_twice(&space);
    assert!(!ran.executed().contains_key("retrieve"), "the same gold in other words asks nothing again");
    assert_eq!((mean(&space, "nDCG@10"), mean(&space, "AP")), (ndcg, ap));

    // Numbers that are places, taken for the topics' own, are not guessed at.
    space.edit("evaluation.yaml", ", query_ids: position", "");
    let ran = space.run("--output reports/run").expect(3);
    assert!(
        ran.stderr.contains("cranqrel: the judgements' query numbers are not those of the topics"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("query_ids: position"), "{}", ran.stderr);
}
