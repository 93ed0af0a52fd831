//! What a report tells its readers to be careful with.

mod made_up;
mod memory;

use made_up::Evaluation;
use ragstage_stages::aggregate::BuildReport;
use ragstage_stages::artifact::{Golds, Json, Results, Score, ScoreValue, Units};
use serde_json::{Value, json};

/// `cases` cases in one unit over the document `lighthouse`, with one result each from it, and nDCG from 0 up.
fn evaluation(cases: usize) -> Evaluation {
    let ids: Vec<String> = (0..cases).map(|i| format!("q{i}")).collect();
    let cases: Vec<_> = ids.iter().map(|id| (id.as_str(), "question", None)).collect();
    let mut evaluation = Evaluation::new(&cases, &[]);
    evaluation.plan("base", "text", &["nDCG@10"]);
    evaluation.respond("base", "text", 0, "passage", &[]);
    let scores = (0..cases.len()).map(|i| i as f64 / cases.len() as f64);
    evaluation.score("base", "text", "nDCG@10", 0, scores.map(number).collect());
    evaluation
}

fn number(value: f64) -> Score {
    Score::scored(ScoreValue::Number(value), None, Json::new())
}

fn object(value: Value) -> Json {
    value.as_object().cloned().expect("object")
}

/// Name, message, cases and count of each lint of `report`.
fn lints(evaluation: &Evaluation, report: &BuildReport) -> Vec<(String, String, Vec<String>, u64)> {
    let ran = evaluation.memory.run(report);
    let json: Value = serde_json::from_slice(&ran.output("report.json").bytes).expect("json");
    let lints = json["ragstage"]["lints"].as_array().expect("lints");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let lint = |lint: &Value| {
        let cases = lint["cases"].as_array().expect("cases").iter().map(text).collect();
        (text(&lint["name"]), text(&lint["message"]), cases, lint["count"].as_u64().expect("a count"))
    };
    lints.iter().map(lint).collect()
}

fn names(evaluation: &Evaluation, report: &BuildReport) -> Vec<String> {
    lints(evaluation, report).into_iter().map(|(name, ..)| name).collect()
}

fn edit_gold(evaluation: &Evaluation, report: &mut BuildReport, edit: impl FnOnce(&mut Golds)) {
    let mut golds: Golds = evaluation.memory.read(&report.gold);
    edit(&mut golds);
    report.gold = evaluation.memory.put(&golds);
}

fn edit_results(evaluation: &mut Evaluation, edit: impl FnOnce(&mut Results)) {
    let mut results: Results = evaluation.memory.read(&evaluation.aggregate.responses[0].results);
    edit(&mut results);
    evaluation.aggregate.responses[0].results = evaluation.memory.put(&results);
}

#[test]
fn a_sound_evaluation_has_none() {
    let mut evaluation = evaluation(12);
    let report = evaluation.build_report();
    assert_eq!(lints(&evaluation, &report), []);
    assert!(!evaluation.memory.run(&report).output("report.md").bytes.windows(14).any(|w| w == b"Read with care"));
}

#[test]
fn gold_that_names_nothing_is_told() {
    let mut evaluation = evaluation(30);
    let mut report = evaluation.build_report();
    edit_gold(&evaluation, &mut report, |golds| {
        for gold in &mut golds.rows[5..] {
            gold.evidence[0].reference_id = Some("lighthose".to_string());
        }
    });
    let ids: Vec<String> = (5..25).map(|i| format!("q{i}")).collect();
    let message =
        "the gold of 25 cases names what is no document of the benchmark and in no result, such as \"lighthose\"";
    assert_eq!(lints(&evaluation, &report), [("dangling-gold".to_string(), message.to_string(), ids, 25)]);
    let ran = evaluation.memory.run(&report);
    let page = |name: &str| String::from_utf8(ran.output(name).bytes.clone()).expect("utf-8");
    let told = format!("**Read with care**\n\n- `dangling-gold`: {message}. (q5, q6, q7, q8, q9, …)\n\n## Results\n");
    assert!(page("report.md").contains(&told), "{}", page("report.md"));
    assert!(page("report.html").contains("<code>dangling-gold</code>: the gold of 25 cases"));
}

#[test]
fn each_way_to_name_a_document_is_looked_at() {
    let mut evaluation = evaluation(3);
    let report = evaluation.build_report();
    let key = "raw/benchmarks/harbour/test/lighthouse/lighthouse.txt";
    for (locator, dangling) in [
        (json!({"document_id": "lighthouse"}), false),
        (json!({"document_id": "pier"}), true),
        (json!({"source_key": key}), false),
        (json!({"object_key": "raw/benchmarks/harbor/test/lighthouse/lighthouse.txt"}), true),
        (json!({"source_key_prefix": "raw/benchmarks/harbour/test/lighthouse/"}), false),
        (json!({"source_key_prefix": "raw/benchmarks/harbour/test/pier/"}), true),
        (json!({"source_key_prefix": "raw/benchmarks/harbor/test/lighthouse/"}), true),
        (json!({"page_index": 3, "document_id": null}), false),
        (json!({"chunk_id": "chunk_9"}), false),
    ] {
        let mut report = report.clone();
        edit_gold(&evaluation, &mut report, |golds| {
            golds.rows[1].evidence[0].reference_id = None;
            golds.rows[1].evidence[0].locator = object(locator.clone());
        });
        let found = lints(&evaluation, &report);
        assert_eq!(found.iter().any(|(name, ..)| name == "dangling-gold"), dangling, "{locator}");
        assert!(!dangling || found[0].2 == ["q1"], "{found:?}");
    }
    let mut judged = report.clone();
    edit_gold(&evaluation, &mut judged, |golds| {
        golds.rows[0].metadata = object(json!({"judgements": {"lighthouse": 2, "unseen": 0}}));
        golds.rows[2].metadata = object(json!({"judgements": {"pier": 1}}));
    });
    assert_eq!(lints(&evaluation, &judged)[0].2, ["q2"]);
}

#[test]
fn gold_may_name_a_passage_that_was_found() {
    let mut evaluation = evaluation(3);
    let mut report = evaluation.build_report();
    let name = |report: &mut BuildReport, reference: &str| {
        edit_gold(&evaluation, report, |golds| golds.rows[0].evidence[0].reference_id = Some(reference.to_string()));
    };
    name(&mut report, "chunk_1");
    assert_eq!(lints(&evaluation, &report), []);
    name(&mut report, "chunk_2");
    assert_eq!(names(&evaluation, &report), ["dangling-gold"]);
}

#[test]
fn gold_in_another_unit_is_told() {
    let mut evaluation = evaluation(3);
    let mut report = evaluation.build_report();
    let mut units: Units = evaluation.memory.read(&report.units);
    units.units[0].document_rows = Some(Vec::new());
    report.units = evaluation.memory.put(&units);
    let found = lints(&evaluation, &report);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].1,
        "the gold of 3 cases names a document that is not in the case's own unit, such as \"lighthouse\""
    );
}

#[test]
fn results_without_documents_are_told_where_that_matters() {
    let without = |evaluators: &[&str]| {
        let mut evaluation = evaluation(3);
        evaluation.aggregate.plan[0].evaluators = evaluators.iter().map(|name| name.to_string()).collect();
        if !evaluators.contains(&"nDCG@10") {
            evaluation.aggregate.scores.clear();
        }
        edit_results(&mut evaluation, |results| {
            for row in &mut results.rows {
                row.results[0].source = object(json!({"document_id": "their-own-id"})).into();
            }
        });
        evaluation
    };
    let mut evaluation = without(&["nDCG@10"]);
    let mut report = evaluation.build_report();
    assert_eq!(names(&evaluation, &report), ["no-document-ids"]);
    // Texts are found without ids.
    edit_gold(&evaluation, &mut report, |golds| {
        for gold in &mut golds.rows {
            gold.evidence[0].reference_id = None;
            gold.evidence[0].text = Some("lit in 1871".to_string());
        }
    });
    assert_eq!(lints(&evaluation, &report), []);
    let mut answers_only = without(&["token_f1"]);
    let report = answers_only.build_report();
    assert_eq!(lints(&answers_only, &report), []);
    // One result that names its document is enough.
    let mut one = without(&["nDCG@10"]);
    edit_results(&mut one, |results| results.rows[2].results[0].id = "lighthouse".to_string());
    let report = one.build_report();
    assert_eq!(lints(&one, &report), []);
}

#[test]
fn a_result_that_comes_twice_is_told() {
    let mut evaluation = evaluation(3);
    edit_results(&mut evaluation, |results| {
        let row = &mut results.rows[1];
        row.results.push(row.results[0].clone());
        // Another passage of the same document is another result.
        let row = &mut results.rows[2];
        row.results.push(row.results[0].clone());
        row.results[1].id = "chunk_2".to_string();
    });
    let report = evaluation.build_report();
    let message = "base / text: the ranking of 1 case holds a result twice, such as \"chunk_1\"";
    assert_eq!(
        lints(&evaluation, &report),
        [("duplicate-hits".to_string(), message.to_string(), vec!["q1".to_string()], 1)]
    );
}

#[test]
fn one_value_for_every_case_is_told_from_ten_cases_on() {
    for (cases, odd, told) in [(10, None, true), (9, None, false), (10, Some(9), false)] {
        let mut evaluation = evaluation(cases);
        evaluation.aggregate.scores.clear();
        let value = |case| if odd == Some(case) { 0.5 } else { 0.0 };
        evaluation.score("base", "text", "nDCG@10", 0, (0..cases).map(value).map(number).collect());
        let report = evaluation.build_report();
        let found = lints(&evaluation, &report);
        assert_eq!(found.len(), usize::from(told), "{found:?}");
        if told {
            assert_eq!(found[0].1, "base / text: nDCG@10 is 0.0000 for every one of the 10 scored cases");
        }
    }
}

#[test]
fn judgements_of_no_query_are_told() {
    let mut evaluation = evaluation(3);
    let mut report = evaluation.build_report();
    let mut units: Units = evaluation.memory.read(&report.units);
    units.benchmark.metadata = object(json!({"qrels_without_query": 2}));
    report.units = evaluation.memory.put(&units);
    let message = "the queries of 2 judgements are not in the benchmark";
    assert_eq!(lints(&evaluation, &report), [("qrels-without-query".to_string(), message.to_string(), Vec::new(), 2)]);
}
