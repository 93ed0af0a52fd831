//! Responses that were made elsewhere are scored like those of a recipe: nobody is asked anything.

use serde_json::{Value, json};

use super::small::{self, CASE_COUNT};
use super::space::{Ran, Space, steps};

const RUN: &str = "built Q0 lighthouse 1 9.5 t\nbuilt Q0 museum 2 9.1 t\nsteps Q0 museum 1 3 t\nsteps Q0 lighthouse 2 3 t\nopens Q0 ferry 1 1 t\n";

/// The town with its responses taken from the file `responses` says.
fn town(responses: &str) -> Space {
    let space = Space::new();
    small::write(&space);
    space.edit(
        "evaluation.yaml",
        "  - name: fine\n    chunk: {size: 12}\n",
        &format!("  - {{name: old, responses: {responses}}}\n"),
    );
    space.edit(
        "evaluation.yaml",
        "queries:\n  - {mode: full_text_search, name: bm25, top_k: 3}\nanswer: {provider: extractive, sentences: 1, results: 2}\n",
        "",
    );
    space
}

fn measure(space: &Space, name: &str) -> Value {
    let report = space.json("reports/small/report.json");
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures").clone();
    measures.into_iter().find(|measure| measure["evaluator"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn ids_of_cases() -> Vec<String> {
    small::case_ids().into_iter().map(str::to_string).collect()
}

/// JSON lines in which every case is answered with its own id.
fn lines() -> String {
    let line = |id: &String| {
        json!({"case_id": id, "answer": format!("It is {id}, in 1871."), "latency_ms": 12.5,
        "results": [{"id": "p1", "text": "The lighthouse was built in 1871.", "source": {"document_id": "lighthouse"}}]})
    };
    ids_of_cases().iter().map(|id| format!("{}\n", line(id))).collect()
}

#[test]
fn a_trec_run_is_a_recipe() {
    let space = town("{path: bm25.trec}");
    space.write("bm25.trec", RUN);
    space.edit(
        "evaluation.yaml",
        "evaluators: [evidence_recall@3, answer_contains]",
        "evaluators: [RR, nDCG@10, NumRet]",
    );
    let ran = space.run("").expect(0);
    assert_eq!(
        ran.executed(),
        steps(&[("sources", 1), ("prepare", 1), ("import", 1), ("score", 3), ("aggregate", 1), ("report", 1)])
    );
    // built: 1; steps: equal scores stand by id descending, so the museum is first: 1/2; the others 0.
    assert_eq!(measure(&space, "RR")["mean"], 1.5 / CASE_COUNT as f64);
    assert_eq!(measure(&space, "NumRet")["mean"], 5.0 / CASE_COUNT as f64);
    assert_eq!(measure(&space, "RR")["counts"]["scored"], CASE_COUNT);
    space.run("").expect(0).expect_nothing();
    // Another run of the same name: taken in again, scored again.
    space.write("bm25.trec", &RUN.replace("steps Q0 lighthouse 2 3 t", "steps Q0 lighthouse 2 4 t"));
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed(), steps(&[("import", 1), ("score", 3), ("aggregate", 1), ("report", 1)]));
    assert_eq!(measure(&space, "RR")["mean"], 2.0 / CASE_COUNT as f64);
    // Queries that the run lacks are left out where that is asked for.
    space.edit("evaluation.yaml", "{path: bm25.trec}", "{path: bm25.trec, missing: skip}");
    space.run("").expect(0);
    let rr = measure(&space, "RR");
    assert_eq!((&rr["mean"], &rr["counts"]["skipped"]), (&json!(2.0 / 3.0), &json!(CASE_COUNT - 3)));
}

/// A ranking is not an answer of nothing: what reads answers skips it, and no response has failed.
#[test]
fn evaluators_of_answers_skip_a_trec_run() {
    let space = town("{path: bm25.trec}");
    space.write("bm25.trec", RUN);
    space.edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", "[RR, answer_contains]");
    space.run("").expect(0);
    assert_eq!(measure(&space, "RR")["counts"]["scored"], CASE_COUNT);
    let contains = measure(&space, "answer_contains");
    let counts = &contains["counts"];
    assert_eq!((&contains["mean"], &counts["failed"]), (&Value::Null, &json!(0)), "{contains}");
    assert_eq!(counts["skipped"], CASE_COUNT, "{contains}");
}

#[test]
fn json_lines_have_answers_and_latencies() {
    let space = town("{path: old.jsonl}");
    space.write("old.jsonl", &lines());
    space.run("").expect(0);
    assert_eq!(measure(&space, "answer_contains")["mean"], 1.0 / CASE_COUNT as f64);
    let report = space.json("reports/small/report.json");
    assert_eq!(report["case_results"][0]["response"]["answer"], "It is built, in 1871.");
    assert_eq!(report["case_results"][0]["latency_ms"], 12.5);
    // A case without response failed, unless the file says otherwise.
    let without: String =
        lines().lines().filter(|line| !line.contains("\"built\"")).map(|line| format!("{line}\n")).collect();
    space.write("old.jsonl", &without);
    space.edit("evaluation.yaml", "statistics: {resamples: 100}", "statistics: {resamples: 100, coverage_floor: 0.5}");
    let ran = space.run("").expect(10);
    assert!(ran.stdout.contains("90.0 %"), "{}", ran.stdout);
    let failures = space.json("reports/small/report.json")["ragstage"]["summary"]["failures"].to_string();
    assert!(failures.contains("the response set has no response for this case"), "{failures}");
    // Another try would find the same file.
    assert!(
        ran.stderr.contains("responses made elsewhere that failed there or are not in their file: 1;"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("tries them again") && !ran.stderr.contains("no parser"), "{}", ran.stderr);
    space.edit("evaluation.yaml", "coverage_floor: 0.5", "coverage_floor: 0.95");
    let ran = space.run("").expect(11);
    assert!(
        ran.stderr.contains("coverage is under its floor") && ran.stderr.contains("mend the file"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("tries them again"), "{}", ran.stderr);
}

#[test]
fn corrected_gold_scores_one_case_of_an_imported_set() {
    let space = town("{path: old.jsonl}");
    space.write("old.jsonl", &lines());
    space.run("").expect(0);
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed(), steps(&[("prepare", 1), ("score", 2), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.rows(), ["score pay", "score pay"]);
}

#[test]
fn import_writes_what_a_recipe_reads() {
    for (name, format) in [("old.parquet", "Parquet"), ("old.jsonl", "JSON lines")] {
        let space = Space::new();
        small::write(&space);
        space.write("given.jsonl", &lines());
        let ran = space.ragstage(&format!("import evaluation.yaml given.jsonl -o kept/{name} --format json")).expect(0);
        assert_eq!(ran.json()["responses"], CASE_COUNT, "{format}");
        let scored = |set: &str| {
            space.score(&format!("--response-set {set}")).expect(0);
            let report = space.json("reports/small-responses/report.json");
            let first = &report["case_results"][0];
            assert_eq!(first["latency_ms"], 12.5, "{set}");
            (first["response"].clone(), report["score_summary"].clone())
        };
        let given = scored("given.jsonl");
        assert_eq!(scored(&format!("kept/{name}")), given, "{format}");
        // The file can go away.
        assert_eq!(given.1["imported.answer_contains"], 1.0 / CASE_COUNT as f64);
    }
}

#[test]
fn import_never_writes_over_what_is_read() {
    let space = town("{path: old.jsonl}");
    space.write("old.jsonl", &lines());
    space.run("").expect(0);
    for taken in ["old.jsonl", "cases.jsonl", "evaluation.yaml", "reports/small/new.jsonl", ".ragstage/new.jsonl"] {
        let before = space.path(taken).exists().then(|| space.read(taken));
        let ran = space.ragstage(&format!("import evaluation.yaml old.jsonl -o {taken}")).expect(2);
        assert!(ran.stderr.contains("--output"), "{}", ran.stderr);
        assert_eq!(space.path(taken).exists().then(|| space.read(taken)), before, "{taken}");
    }
}

#[test]
fn a_report_is_a_response_set() {
    let space = small::evaluated();
    let own = space.json("reports/small/report.json");
    std::fs::copy(space.path("reports/small/report.json"), space.path("old.json")).expect("a copy");
    space.score("--response-set old.json").expect(0);
    let again = space.json("reports/small-responses/report.json");
    assert_eq!(space.json("reports/small/report.json"), own);
    assert_eq!(again["score_summary"]["imported.answer_contains"], own["score_summary"]["bm25.answer_contains"]);
    assert_eq!(again["score_summary"]["imported.evidence_recall@3"], own["score_summary"]["bm25.evidence_recall@3"]);
    // Beside the file's own recipes.
    space.score("--response-set old.json --with-recipes").expect(0);
    let both = space.json("reports/small/report.json");
    assert_eq!(
        both["score_summary"]["old.imported.answer_contains"],
        both["score_summary"]["fine.bm25.answer_contains"]
    );
}

/// The town asked in two ways by two recipes.
fn two_by_two() -> Space {
    let space = Space::new();
    small::write(&space);
    small::add_coarse(&space);
    space.edit("evaluation.yaml", "answer: {", "  - {mode: full_text_search, name: one, top_k: 1}\nanswer: {");
    space.run("").expect(0);
    space
}

#[test]
fn of_several_recipes_and_queries_one_can_be_picked() {
    let space = two_by_two();
    let own = space.json("reports/small/report.json")["score_summary"].clone();
    std::fs::copy(space.path("reports/small/report.json"), space.path("old.json")).expect("a copy");
    let ran = space.score("--response-set old.json").expect(3);
    assert!(ran.stderr.contains("recipe"), "{}", ran.stderr);
    for set in ["old.json", "last"] {
        space.score(&format!("--response-set {set} --recipe coarse --query one")).expect(0);
        let summary = space.json("reports/small-responses/report.json")["score_summary"].clone();
        assert_eq!(summary["imported.evidence_recall@3"], own["coarse.one.evidence_recall@3"], "{set}: {summary}");
    }
    let ran = space.score("--response-set last --recipe corse").expect(3);
    assert!(ran.stderr.contains("it has coarse/bm25, coarse/one, fine/bm25, fine/one"), "{}", ran.stderr);
    space.ragstage("score evaluation.yaml --recipe coarse").expect(2);
    // Only reports have several.
    space.write("old.jsonl", &lines());
    let ran = space.score("--response-set old.jsonl --recipe coarse").expect(3);
    assert!(ran.stderr.contains("only reports have several; this is jsonl"), "{}", ran.stderr);
    let ran = space.ragstage("import evaluation.yaml none.jsonl").expect(3);
    assert!(ran.stderr.contains("there are no responses none.jsonl"), "{}", ran.stderr);
}

#[test]
fn responses_that_were_taken_again_are_compared_with_their_recipe() {
    let space = two_by_two();
    space.score("--response-set last").expect(0);
    let found = space.ragstage("compare evaluation.yaml reports/small-responses --format json").expect(0).json();
    let comparisons = found["comparisons"].as_array().expect("comparisons");
    assert_eq!(comparisons.len(), 4);
    for comparison in comparisons {
        let (first, second) =
            (comparison["first"].as_str().expect("text"), comparison["second"].as_str().expect("text"));
        let (recipe, query) = first.rsplit_once(": ").and_then(|(_, side)| side.split_once(" / ")).expect("a side");
        assert!(second.ends_with(&format!(": {recipe}-{query} / imported")), "{first} {second}");
        assert_eq!(comparison["same_data"], "yes");
        let measures = comparison["measures"].as_array().expect("measures");
        assert!(measures.iter().all(|measure| measure["paired"]["difference"] == 0.0), "{comparison}");
    }
}

#[test]
fn responses_of_an_earlier_run_are_scored_after_the_recipe_changed() {
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    let asked = || space.read("asked.log").lines().count();
    assert_eq!(asked(), CASE_COUNT);
    space.edit("evaluation.yaml", "version: \"1\"", "version: \"2\"");
    // Under the present keys nothing is there, and scoring asks nobody.
    let ran = space.score("").expect(3);
    assert!(ran.stderr.contains("--response-set last"), "{}", ran.stderr);
    // The responses are the same, and so are their scores under the evaluators of before.
    let ran: Ran = space.score("--response-set last --evaluator RR").expect(0);
    assert_eq!(ran.executed(), steps(&[("import", 1), ("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(asked(), CASE_COUNT);
}

#[test]
fn a_run_whose_items_failed_has_responses_too() {
    let space = Space::new();
    small::write(&space);
    space.write("odd.py", "def evaluate(case, response):\n    if '1871' in case['answers']:\n        raise ValueError('odd')\n    return 1\n");
    space.edit("evaluation.yaml", "answer_contains]", "answer_contains, {python: odd.py}]");
    space.edit(
        "evaluation.yaml",
        "statistics: {resamples: 100}",
        "statistics: {resamples: 100, coverage_floor: 0.5}\nlimits: {programs: {retries: 0}}",
    );
    let ran = space.run("");
    if ran.code == 20 {
        println!("SKIPPED: there is no python3");
        return;
    }
    assert_eq!(ran.code, 10, "{}", ran.stderr);
    let ran = space.score("--response-set last --evaluator token_f1").expect(10);
    assert_eq!(ran.executed().get("import"), Some(&1));
    let report = space.json("reports/small-responses/report.json");
    let own = space.json("reports/small/report.json");
    assert_eq!(report["score_summary"]["imported.answer_contains"], own["score_summary"]["bm25.answer_contains"]);
}

#[test]
fn openvikings_answers_are_found_by_their_question() {
    let space = town("{path: generated_answers.json}");
    let item = |index: usize, question: &str, answer: &str| {
        json!({"_global_index": index, "sample_id": "conv-1", "question": question, "gold_answers": ["x"],
        "category": "1", "evidence": [], "retrieval": {"latency_sec": 0.25, "uris": ["viking://resources/a.md"]},
        "llm": {"final_answer": answer}, "metrics": {"Recall": 0.0}, "token_usage": {"total_input_tokens": 5, "llm_output_tokens": 2}})
    };
    let file = json!({"summary": {"dataset": "harbour", "total_queries": 2}, "results": [
        item(0, "When was the lighthouse built?", "It was built in 1871."), item(1, "How do traders pay at the market?", "By card."),
    ]});
    space.write("generated_answers.json", &serde_json::to_string_pretty(&file).expect("JSON"));
    space.edit("evaluation.yaml", "{path: generated_answers.json}", "{path: generated_answers.json, missing: skip}");
    space.run("").expect(0);
    let contains = measure(&space, "answer_contains");
    assert_eq!((&contains["mean"], &contains["counts"]["scored"]), (&json!(0.5), &json!(2)));
    assert_eq!(space.json("reports/small/report.json")["case_results"][0]["latency_ms"], 250.0);
}

const LIGHTHOUSE: &str = "When was the lighthouse built?";

/// OpenViking's answers to questions, by index, with the recall that they state.
fn answers(items: &[(usize, &str, f64)]) -> String {
    let item = |(index, question, recall): &(usize, &str, f64)| {
        json!({"_global_index": index, "sample_id": "conv-1", "question": question, "retrieval": {"uris": ["viking://a"]},
            "llm": {"final_answer": "In 1871."}, "metrics": {"Recall": recall}})
    };
    json!({"results": items.iter().map(item).collect::<Vec<_>>()}).to_string()
}

#[test]
fn sets_that_do_not_fit_are_refused_with_their_place() {
    for (name, text, expected) in [
        ("a.jsonl", "{\"case_id\": \"built\"}\n{\"case_id\": \"built\"}\n".to_string(), "is taken by line 1"),
        (
            "a.jsonl",
            "{\"case_id\": \"bilt\", \"answer\": \"x\"}\n".to_string(),
            "cases that the benchmark does not have: \"bilt\"",
        ),
        ("a.jsonl", "{\"case_id\": \"built\", \"answr\": \"x\"}\n".to_string(), "a.jsonl:1:"),
        ("a.jsonl", "{\"case_id\": \"built\", \"answer\": \"x\n".to_string(), "a.jsonl:1:"),
        ("a.trec", "built Q0 lighthouse 1 9.5\n".to_string(), "a.trec:1: expected six cells"),
        ("a.trec", format!("{RUN}built Q0 museum 9 1 t\n"), "document \"museum\" is there a second time"),
        (
            "a.json",
            "{\n\"case_results\": [{\"query_mode\": \"m\"}]}".to_string(),
            "expected a text, found nothing at /case_results/0/case_id",
        ),
        ("a.json", "{\n\"case_results\": [".to_string(), "a.json:2:"),
        ("a.json", "[]".to_string(), "expected an object with a list `case_results`, found a list"),
        (
            "a.json",
            answers(&[(0, LIGHTHOUSE, 0.5), (0, LIGHTHOUSE, 0.5)]),
            "_global_index 0 is at /results/0 and again at /results/1",
        ),
        (
            "a.json",
            answers(&[(0, LIGHTHOUSE, 0.5), (1, LIGHTHOUSE, 0.5)]),
            "1 of the responses are for cases that have one already",
        ),
        (
            "a.json",
            answers(&[(0, LIGHTHOUSE, 2.0)]),
            "expected a number from 0 to 1, found 2.0 at /results/0/metrics/Recall",
        ),
        ("a.parquet", "PAR1 and nothing else".to_string(), "cannot be read"),
        ("a.jsonl", " \n\n".to_string(), "the file is empty"),
        ("a.trec", String::new(), "the file is empty"),
        ("a.jsonl", "{\"case_id\": \"built\"}\n".to_string(), "no line has an `answer`, `results` or an `error`"),
    ] {
        let space = town(&format!("{{path: {name}}}"));
        space.write(name, &text);
        let ran = space.run("").expect(3);
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
        assert!(!space.path("reports").exists());
    }
    let space = town("{path: none.jsonl}");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("none.jsonl") && ran.stderr.contains("do not exist"), "{}", ran.stderr);
    let space = town("{path: a.jsonl, mising: skip}");
    assert!(space.run("").expect(3).stderr.contains("did you mean `missing`?"));
    let space = town("{path: a.jsonl}");
    space.edit("evaluation.yaml", "evaluators:", "queries: [{mode: full_text_search}]\nevaluators:");
    space.write("a.jsonl", &lines());
    assert!(space.run("").expect(3).stderr.contains("asks recipes whose responses were made elsewhere"));
}
