//! What somebody who comes from Heta Evaluation has: its reports, its names, and the fields of its run configuration.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::openviking_benchmark::golden;
use super::small::{self, CASE_COUNT};
use super::space::{Space, steps};

/// The evaluators of the recorded report by their names in it and in ours.
const EVALUATORS: [(&str, &str); 5] = [
    ("evidence_recall@3", "evidence_recall(variant=heta)@3"),
    ("beir_ndcg@3", "nDCG(variant=heta)@3"),
    ("beir_mrr@3", "RR(variant=heta)@3"),
    ("answer_contains", "answer_contains"),
    ("answer_exact_match", "answer_exact_match"),
];

/// The benchmark of the recorded report, which it describes itself, and `theirs.json`, the report.
fn recorded() -> Option<(Space, Value)> {
    let report = std::fs::read_to_string(golden("heta_report_example.json")?).expect("the recorded report");
    let space = Space::new();
    space.write("theirs.json", &report);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    for (name, file) in [("documents", "documents.jsonl"), ("cases", "cases.jsonl")] {
        let rows = report["metadata"]["inputs"][name].as_array().expect("rows");
        space.write(file, &rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    }
    space.write(
        "evaluation.yaml",
        "name: harbour\n\
         benchmark: {adapter: jsonl, name: demo_harbour, version: v1, documents: documents.jsonl, cases: cases.jsonl}\n\
         recipe: {}\n\
         evaluators: [\"evidence_recall(variant=heta)@3\", beir_ndcg@3, beir_mrr@3, answer_contains, answer_exact_match]\n\
         statistics: {resamples: 0}\n",
    );
    Some((space, report))
}

fn number(value: &Value) -> f64 {
    value.as_bool().map(|flag| f64::from(u8::from(flag))).or(value.as_f64()).unwrap_or_else(|| panic!("{value}"))
}

/// The scores of a case result by evaluator.
fn scores(result: &Value) -> BTreeMap<String, f64> {
    let listed = result["scores"].as_array().expect("scores").iter();
    listed.filter(|score| !score["value"].is_string()).map(|score| (name_of(score), number(&score["value"]))).collect()
}

fn name_of(of: &Value) -> String {
    of["name"].as_str().expect("a name").to_string()
}

fn results_of<'a>(report: &'a Value, mode: &'a str) -> impl Iterator<Item = &'a Value> {
    report["case_results"].as_array().expect("case results").iter().filter(move |result| result["query_mode"] == mode)
}

#[test]
fn a_report_of_theirs_is_scored_again_and_gives_its_own_values() {
    let Some((space, theirs)) = recorded() else { return };
    for mode in ["vector_search", "full_text_search"] {
        let ran = space.score(&format!("--response-set theirs.json --query {mode}")).expect(0);
        assert!(!ran.executed().contains_key("retrieve") && !ran.executed().contains_key("answer"), "nobody is asked");
        let ours = space.json("reports/harbour-responses/report.json");
        let mut compared = 0;
        for (their, our) in results_of(&theirs, mode).zip(results_of(&ours, "imported")) {
            assert_eq!(
                (&their["case_id"], &their["response"]["answer"]),
                (&our["case_id"], &our["response"]["answer"])
            );
            let hits = |of: &Value| of["response"]["results"].as_array().map(Vec::len);
            assert_eq!(hits(their), hits(our), "{}", their["case_id"]);
            if their["case_id"] == "q5" {
                // No gold: theirs averages a 0 in, with us nothing is expected.
                assert_eq!(our["scores"], json!([]));
                assert!(our["metadata"]["unscored"].as_array().expect("list").iter().all(|s| s["state"] == "skipped"));
                continue;
            }
            let (theirs, ours) = (scores(their), scores(our));
            for (their_name, our_name) in EVALUATORS {
                let difference = theirs[their_name] - ours[our_name];
                assert!(difference.abs() <= 1e-9, "{mode} {} {our_name}: {difference}", their["case_id"]);
                compared += 1;
            }
        }
        assert_eq!(compared, 4 * EVALUATORS.len());
        // The mean of theirs is over five cases, one of which is 0 because it has no gold.
        for (their_name, our_name) in EVALUATORS {
            let their_mean = number(&theirs["score_summary"][format!("{mode}.{their_name}")]);
            let our_mean = number(&ours["score_summary"][format!("imported.{our_name}")]);
            assert!((their_mean * 5.0 / 4.0 - our_mean).abs() <= 1e-9, "{mode} {our_name}: {our_mean}");
        }
    }
}

#[test]
fn what_failed_in_a_report_of_theirs_stays_a_failure() {
    let Some((space, _)) = recorded() else { return };
    space.score("--response-set theirs.json --query hybrid_search").expect(11);
    let ours = space.json("reports/harbour-responses/report.json");
    let failed: Vec<&Value> = results_of(&ours, "imported").filter(|result| result["response"].is_null()).collect();
    assert_eq!(failed.len(), 5, "q5 too, though it has no gold");
    let told = failed[4]["error"]["message"].as_str().expect("a message");
    assert!(
        told.contains("hybrid_search requires missing search asset(s): graph_vector_index, graph_tables"),
        "{told}"
    );
    assert_eq!(ours["score_summary"], json!({}), "a failure is no 0");
    // Which of several modes is meant must be said.
    let ran = space.score("--response-set theirs.json").expect(3);
    for told in ["responses of 3 recipes and queries: full_text_search, hybrid_search, vector_search", "say which with"]
    {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let ran = space.score("--response-set theirs.json --query wiki_search").expect(3);
    assert!(ran.stderr.contains("no responses of that recipe and query"), "{}", ran.stderr);
    // As a recipe, beside others.
    space.edit(
        "evaluation.yaml",
        "recipe: {}\n",
        "recipes:\n  - {name: dense, responses: {path: theirs.json, query: vector_search}}\n  - {name: mine}\n",
    );
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed().get("import"), Some(&1));
    let report = space.json("reports/harbour/report.json");
    assert_eq!(number(&report["score_summary"]["dense.imported.RR(variant=heta)@3"]), 2.5 / 4.0);
}

#[test]
fn knowledge_bases_are_named_as_theirs() {
    let space = Space::new();
    small::write_units(&space);
    space.edit("units.jsonl", "\"unit_id\":\"east\"", "\"unit_id\":\"ADI_2009\"");
    space.edit("evaluation.yaml", "answer:", "run: {knowledge_base_name: Demo KB-v1}\nanswer:");
    space.run("").expect(0);
    let report = space.json("reports/small/report.json");
    assert_eq!(report["knowledge_base_name"], "Demo KB-v1");
    let listed = report["knowledge_base_manifest"]["knowledge_bases"].as_array().expect("one per unit");
    let names: Vec<String> = listed.iter().map(name_of).collect();
    assert_eq!(names, ["Demo KB-v1-adi_2009", "Demo KB-v1-west", "Demo KB-v1-north", "Demo KB-v1-south"]);
    let of_case = |case: &str| {
        let results = report["case_results"].as_array().expect("results");
        let metadata = &results.iter().find(|result| result["case_id"] == case).expect("it is there")["metadata"];
        (metadata["benchmark_run_unit"].clone(), metadata["knowledge_base_name"].clone())
    };
    assert_eq!(of_case("built"), (json!("ADI_2009"), json!("Demo KB-v1-adi_2009")));
    assert_eq!(of_case("permit"), (json!("south"), json!("Demo KB-v1-south")));
    let run = &listed[0]["run_record"];
    assert_eq!((&run["status"], run["step_records"].as_array().map(Vec::len)), (&json!("succeeded"), Some(3)));
    assert_eq!(report["recipe_manifest"]["capabilities_provided"], json!(["full_text_search"]));
    assert_eq!(report["recipe_manifest"]["metadata"]["chunk"]["size"], 12);
    // With all in one unit the base name is the name.
    let one = small::evaluated();
    let report = one.json("reports/small/report.json");
    assert_eq!((&report["knowledge_base_manifest"]["name"], &report["report_key"]), (&json!("small"), &Value::Null));
    // A single unit that is told which documents it has is none that has it all.
    let told = json!({"unit_id": "The East", "document_ids": ["lighthouse"], "case_ids": small::case_ids()});
    one.write("units.jsonl", &format!("{told}\n"));
    one.edit("evaluation.yaml", "  cases: cases.jsonl\n", "  cases: cases.jsonl\n  units: units.jsonl\n");
    one.run("").expect(0);
    let report = one.json("reports/small/report.json");
    assert_eq!(report["knowledge_base_manifest"]["name"], "small-the_east");
    assert_eq!(report["case_results"][0]["metadata"]["knowledge_base_name"], "small-the_east");
}

#[test]
fn fields_of_their_run_configuration_are_defaults() {
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "name: bm25, top_k: 3", "name: bm25");
    space.edit("evaluation.yaml", "answer:", "run: {top_k: 2, trace: true}\nanswer:");
    space.run("").expect(0);
    // The most results that a case has, and the first case.
    let looked = || {
        let report = space.json("reports/small/report.json");
        let results = report["case_results"].as_array().expect("results").clone();
        let most = results.iter().filter_map(|result| result["response"]["results"].as_array().map(Vec::len)).max();
        (most, results[0].clone())
    };
    let (most, first) = looked();
    assert_eq!((most, &first["response"]["trace"][0]["mode"]), (Some(2), &json!("full_text_search")));
    // A query that says otherwise wins; the rest of what the file says there changes no key.
    space.edit("evaluation.yaml", "name: bm25", "name: bm25, top_k: 2, trace: true");
    space.edit(
        "evaluation.yaml",
        "{top_k: 2, trace: true}\n",
        "{top_k: 7, max_concurrent_queries: 2, persist_report: false}\n",
    );
    space.run("").expect(0).expect_nothing();
    // Without queries they are those of the only one.
    space.edit("evaluation.yaml", "queries:\n  - {mode: full_text_search, name: bm25, top_k: 2, trace: true}\n", "");
    space.run("").expect(0);
    let (most, first) = looked();
    assert!(most > Some(3) && most <= Some(7), "{most:?}");
    assert_eq!(first["query_mode"], "full_text_search");
    assert_eq!(first["response"]["trace"], json!([]));
}

#[test]
fn options_of_all_queries_go_where_they_are_known() {
    let space = Space::new();
    small::write_system(&space);
    space.edit("evaluation.yaml", "top_k: 3}", "top_k: 3, options: {depth: 2}}");
    space.edit("evaluation.yaml", "evaluators:", "run: {query_options: {depth: 1, mood: calm}}\nevaluators:");
    space.run("").expect(0);
    let asked: Value = serde_json::from_str(space.read("asked.log").lines().next().expect("a line")).expect("JSON");
    assert_eq!(asked["options"], json!({"depth": 2, "mood": "calm"}), "{asked}");
    // The modes of a knowledge base take what they have; what none has is a fault.
    let built = Space::new();
    small::write(&built);
    built.edit("evaluation.yaml", "    chunk: {size: 12}\n", "    chunk: {size: 12}\n    embed: {provider: hashing}\n");
    built.edit("evaluation.yaml", "top_k: 3}\n", "top_k: 3}\n  - {mode: hybrid_search, options: {rrf_k: 30}}\n");
    built.edit("evaluation.yaml", "answer:", "run: {query_options: {candidates: 4, rrf_k: 9}}\nanswer:");
    let ran = built.run("");
    assert!(ran.code == 0, "{}", ran.stderr);
    let queries = built.json("reports/small/report.json")["ragstage"]["queries"].clone();
    assert_eq!(queries[1]["options"], json!({"rrf_k": 30, "candidates": 4}), "{queries}");
    assert_eq!(queries[0]["options"], json!({}), "{queries}");
    for (option, hint) in [
        ("candidats", "did you mean `candidates`?"),
        ("candidate_top_k", "Heta's `candidate_top_k` is `candidates` here"),
    ] {
        built.edit("evaluation.yaml", "rrf_k: 9", &format!("{option}: 4"));
        let ran = built.run("").expect(3);
        let told = format!("no mode of `queries` has the option `{option}`");
        assert!(ran.stderr.contains(&told) && ran.stderr.contains(hint), "{}", ran.stderr);
        built.edit("evaluation.yaml", &format!("{option}: 4"), "rrf_k: 9");
    }
}

#[test]
fn two_limits_that_differ_are_a_fault() {
    let space = Space::new();
    small::write(&space);
    space.edit(
        "evaluation.yaml",
        "answer:",
        "limits: {queries: {concurrency: 4}}\nrun: {max_concurrent_queries: 8, report_id: ../up}\nanswer:",
    );
    let ran = space.run("").expect(3);
    for told in [
        "run.max_concurrent_queries: expected the same as `limits.queries.concurrency`, which is 4, found 8",
        "run.report_id: expected an id of a report, found `..` in it",
    ] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    assert!(!space.path("reports").exists());
}

#[test]
fn a_report_is_kept_under_the_key_that_they_give_it() {
    let space = small::evaluated();
    let said = "run: {persist_report: true, knowledge_base_name: Demo KB-v1, report_id: Nightly/Example Report, object_store: objects, \
                metadata: {team: harbour, run_units: none}}\nanswer:";
    space.edit("evaluation.yaml", "answer:", said);
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed(), steps(&[("report", 1)]), "nothing else is stale");
    let key = "_heta/knowledge_bases/demo_kb-v1/evaluations/nightly/example_report/report.json";
    assert_eq!(space.files("objects").keys().collect::<Vec<_>>(), [key]);
    assert_eq!(space.read(&format!("objects/{key}")), space.read("reports/small/report.json"));
    let report = space.json("reports/small/report.json");
    assert_eq!((&report["report_id"], &report["report_key"]), (&json!("Nightly/Example Report"), &json!(key)));
    assert_eq!(report["metadata"]["team"], "harbour");
    assert!(report["metadata"]["run_units"].is_array(), "what is ours wins, as theirs does");
    // It is among the files that the run has published, and is not written again.
    let kept: Vec<bool> = ran
        .of("published")
        .iter()
        .filter(|event| event["path"].as_str().is_some_and(|path| path.ends_with(key)))
        .map(|event| event["changed"] == true)
        .collect();
    assert_eq!(kept, [true]);
    let ran = space.run("").expect(0).expect_nothing();
    assert!(ran.of("published").iter().all(|event| event["changed"] == false));
    // It is lost: the next run puts it back, and computes nothing.
    std::fs::remove_dir_all(space.path("objects")).expect("remove");
    space.run("").expect(0).expect_nothing();
    assert_eq!(space.files("objects").len(), 1);
    // It is a response set like any other.
    let before = report["score_summary"].clone();
    space.score(&format!("--response-set objects/{key}")).expect(0);
    let again = space.json("reports/small-responses/report.json");
    assert_eq!(again["report_id"], "Nightly/Example Report-responses");
    for evaluator in ["evidence_recall@3", "answer_contains"] {
        let (was, is) =
            (&before[format!("bm25.{evaluator}")], &again["score_summary"][format!("imported.{evaluator}")]);
        assert!(is.is_number() && was == is, "{evaluator}: {was} {is}");
    }
    assert_eq!(results_of(&again, "imported").count(), CASE_COUNT);
    assert_eq!(space.files("objects").len(), 2, "and has not taken the place of the first");
    let id = report["report_id"].as_str().expect("an id");
    assert_eq!(space.json(&format!("objects/{key}"))["report_id"], id);
}

#[test]
fn without_an_id_and_a_store_it_is_kept_with_the_report_files() {
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "answer:", "run: {persist_report: true}\nanswer:");
    space.run("").expect(0);
    let report = space.json("reports/small/report.json");
    let id = report["report_id"].as_str().expect("an id");
    assert!(id.starts_with("eval_") && id.len() == 37, "{id}");
    let key = format!("_heta/knowledge_bases/small/evaluations/{id}/report.json");
    assert_eq!(report["report_key"], key.as_str());
    assert_eq!(space.json(&format!("reports/small/{key}")), report);
    // Somewhere else, where the files are.
    space.run("--output elsewhere").expect(0);
    assert_eq!(space.json(&format!("elsewhere/{key}")), report);
}

#[test]
fn no_report_is_kept_over_another_or_over_what_is_read() {
    let space = small::evaluated();
    let said = "run: {persist_report: true, knowledge_base_name: kb, report_id: r, object_store: objects}\nanswer:";
    space.edit("evaluation.yaml", "answer:", said);
    space.write("second.yaml", &space.read("evaluation.yaml").replace("name: small\n", "name: second\n"));
    let ran = space.ragstage("run evaluation.yaml second.yaml");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("another evaluation keeps its report there too"), "{}", ran.stderr);
    assert!(!space.path("objects").exists());
    space.run("").expect(0);
    let kept = "objects/_heta/knowledge_bases/kb/evaluations/r/report.json";
    let before = space.read(kept);
    let own = "recipes:\n  - name: fine\n    chunk: {size: 12}\nqueries:\n  - {mode: full_text_search, name: bm25, top_k: 3}\n";
    space.edit("second.yaml", own, &format!("recipe: {{responses: {{path: {kept}}}}}\n"));
    let ran = space.ragstage("run second.yaml");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("a file which is read"), "{}", ran.stderr);
    assert_eq!(space.read(kept), before);
}
