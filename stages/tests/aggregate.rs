//! Aggregation and reports over artifacts in memory.

mod made_up;
mod memory;

use made_up::{Evaluation, fault};
use memory::Ran;
use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_cache::table::TableReader;
use ragstage_stages::aggregate::{
    BuildReport, CaseResults, GateRule, GateSpec, Latency, MeasureSummary, NoHeadline, NoWorseThan, Resampled,
    StatisticsOptions, Summary, UsagePart, UsageTable, check,
};
use ragstage_stages::artifact::{Json, Observation, Observations, Score, ScoreValue};
use ragstage_stages::contract::{Action, Artifact};
use ragstage_stages::error::RowErrorKind;
use ragstage_stages::model::{ModelUsage, Usage, UsageSource};
use serde_json::{Value, json};

fn number(value: f64) -> Score {
    Score::scored(ScoreValue::Number(value), None, Json::new())
}

fn verdict(value: bool) -> Score {
    let detail: Json = [("matched_answers".to_string(), json!([]))].into_iter().collect();
    Score::scored(ScoreValue::Bool(value), Some(value), detail)
}

fn label(value: &str) -> Score {
    Score::scored(ScoreValue::Label(value.to_string()), None, Json::new())
}

fn skipped() -> Score {
    Score::skipped("no gold evidence")
}

fn failed() -> Score {
    Score::failed(fault(RowErrorKind::Evaluator, "the judge gave no verdict"))
}

/// Five cases in one unit: categories a, a, b, none, b.
fn five() -> Evaluation {
    let cases = [
        ("q1", "Who kept the lighthouse?", Some("a")),
        ("q2", "When was it lit?", Some("a")),
        ("q3", "How long is the crossing?", Some("b")),
        ("q4", "Who founded the cannery?", None),
        ("q5", "How high is the spring tide?", Some("b")),
    ];
    Evaluation::new(&cases, &[])
}

fn summary(evaluation: &Evaluation) -> Summary {
    evaluation.memory.run(&evaluation.aggregate).read("summary")
}

fn measured(scores: Vec<Score>) -> MeasureSummary {
    let mut evaluation = five();
    evaluation.plan("base", "text", &["AP"]);
    evaluation.respond("base", "text", 0, "passage", &[]);
    evaluation.score("base", "text", "AP", 0, scores);
    summary(&evaluation).measures.remove(0)
}

#[test]
fn skipped_and_failed_cases_are_no_zeros() {
    let measure = measured(vec![number(0.5), skipped(), number(1.0), failed(), number(0.0)]);
    assert_eq!(measure.mean, Some(0.5));
    let counts = measure.counts;
    assert_eq!((counts.cases, counts.expected, counts.scored, counts.failed, counts.skipped), (5, 4, 3, 1, 1));
    assert_eq!(counts.coverage, Some(0.75));
    assert_eq!(measure.headline, None);
    assert_eq!(measure.no_headline, Some(NoHeadline::Coverage { coverage: 0.75, floor: 0.95 }));
    let distribution = measure.distribution.expect("distribution");
    assert_eq!((distribution.min, distribution.max, distribution.median, distribution.std), (0.0, 1.0, 0.5, Some(0.5)));
    let slices: Vec<_> = measure.categories.iter().map(|s| (s.name.as_deref(), s.headline, s.counts.scored)).collect();
    assert_eq!(slices, [(None, None, 0), (Some("a"), Some(0.5), 1), (Some("b"), Some(0.5), 2)]);
    assert!(measure.units.is_empty());
}

#[test]
fn a_slice_below_the_floor_shows_its_counts_and_no_mean() {
    // Category a has one score of two; b has both of its cases.
    let scores = || vec![number(0.25), failed(), number(0.75), number(1.0), number(0.75)];
    let a = &measured(scores()).categories[1];
    assert_eq!((a.name.as_deref(), a.headline), (Some("a"), None));
    assert_eq!(a.no_headline, Some(NoHeadline::Coverage { coverage: 0.5, floor: 0.95 }));
    assert_eq!((a.counts.scored, a.counts.failed), (1, 1));
    let mut evaluation = five();
    evaluation.plan("base", "text", &["AP"]);
    evaluation.respond("base", "text", 0, "passage", &[]);
    evaluation.score("base", "text", "AP", 0, scores());
    let ran = evaluation.report();
    let markdown = text(&ran, "report.md");
    assert!(
        markdown.contains("| a | – 1/1/0 |") && markdown.contains("| b | 0.7500 [0.7500, 0.7500] 2/0/0 |"),
        "{markdown}"
    );
    let html = text(&ran, "report.html");
    assert!(html.contains("title=\"coverage 0.5000 is under 0.9500\">–<span class=\"counts\">1&#x2f;1"), "{html}");
    let report: Value = serde_json::from_slice(&ran.output("report.json").bytes).expect("json");
    let slice = &report["ragstage"]["summary"]["measures"][0]["categories"][1];
    assert_eq!((&slice["headline"], slice["no_headline"]["coverage"]["coverage"].as_f64()), (&Value::Null, Some(0.5)));
    assert_eq!(slice.get("mean"), None);
}

#[test]
fn skipped_cases_cost_no_headline() {
    let measure = measured(vec![number(0.5), skipped(), number(1.0), skipped(), number(0.0)]);
    assert_eq!((measure.headline, measure.counts.coverage), (Some(0.5), Some(1.0)));
    let all = measured((0..5).map(|_| skipped()).collect());
    assert_eq!((all.mean, all.headline, all.no_headline), (None, None, Some(NoHeadline::AllSkipped)));
}

#[test]
fn a_value_that_is_no_number_fails_its_case_only() {
    let measure = measured(vec![number(f64::NAN), number(1.0), number(f64::INFINITY), number(0.0), number(0.5)]);
    assert_eq!((measure.mean, measure.counts.scored, measure.counts.failed), (Some(0.5), 3, 2));
}

#[test]
fn truth_values_count_as_one_and_zero() {
    let measure = measured(vec![verdict(true), verdict(false), verdict(true), verdict(true), skipped()]);
    assert_eq!((measure.headline, measure.passed), (Some(0.75), Some(3)));
}

#[test]
fn labels_have_a_histogram_and_no_mean() {
    let measure = measured(vec![label("long"), label("short"), label("long"), skipped(), label("long")]);
    assert_eq!((measure.mean, measure.headline, measure.no_headline), (None, None, Some(NoHeadline::Labels)));
    let labels: Vec<_> = measure.labels.iter().map(|label| (label.label.as_str(), label.cases)).collect();
    assert_eq!(labels, [("long", 3), ("short", 1)]);
    assert!(measure.interval.is_none());
}

#[test]
fn another_evaluator_changes_no_interval() {
    let scores = || vec![number(0.1), number(0.9), number(0.4), number(0.7), number(0.2)];
    let alone = measured(scores());
    let mut evaluation = five();
    evaluation.plan("base", "text", &["RR", "AP"]);
    evaluation.score("base", "text", "RR", 0, scores());
    evaluation.score("base", "text", "AP", 0, scores());
    let summary = summary(&evaluation);
    assert_eq!(summary.measures[1], alone);
    assert_ne!(summary.measures[0].interval, alone.interval);
    let interval = alone.interval.expect("interval");
    assert!(interval.low < 0.46 && 0.46 < interval.high && interval.resampled == Resampled::Cases);
}

#[test]
fn outputs_are_a_function_of_inputs() {
    let evaluation = sample();
    let once = evaluation.memory.run(&evaluation.aggregate);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
    let again = pool.install(|| evaluation.memory.run(&evaluation.aggregate));
    let digests = |ran: &Ran| -> Vec<Digest> { ran.0.outputs.iter().map(|output| Digest::of(&output.bytes)).collect() };
    assert_eq!(digests(&once), digests(&again));
    let mut reordered = sample();
    reordered.aggregate.scores.reverse();
    reordered.aggregate.responses.reverse();
    assert_eq!(digests(&once), digests(&reordered.memory.run(&reordered.aggregate)));
}

#[test]
fn the_key_holds_names_and_options_but_not_the_evaluation() {
    let evaluation = five();
    let key = key_of(&evaluation.aggregate);
    let mut other = evaluation.aggregate.clone();
    other.evaluation = "renamed".to_string();
    assert_eq!(key_of(&other), key);
    other.statistics = StatisticsOptions { seed: 1, ..other.statistics };
    assert_ne!(key_of(&other), key);
    let mut evaluation = sample();
    let report = evaluation.build_report();
    let later =
        ragstage_stages::aggregate::BuildReport { finished_at: "2027-01-01T00:00:00Z".to_string(), ..report.clone() };
    assert_eq!(key_of(&later), key_of(&report));
}

#[test]
fn what_models_took_is_told_by_part_and_model() {
    let mut evaluation = five();
    evaluation.plan("base", "text", &["AP"]);
    evaluation.respond("base", "text", 0, "passage", &[1]);
    evaluation.score("base", "text", "AP", 0, vec![number(1.0); 5]);
    let plain = evaluation.memory.run(&evaluation.aggregate);
    assert!(plain.0.outputs.iter().all(|output| output.name != "usage"));
    let usage = |model: &str, prompt_tokens, source| ModelUsage {
        model: model.to_string(),
        calls: 2,
        usage: Usage { prompt_tokens, completion_tokens: 10, source },
        nano_usd: 1_500_000,
    };
    let observed = |usage: Vec<Vec<ModelUsage>>| {
        let rows = usage.into_iter().zip(evaluation.case_ids(0));
        let row = |(usage, case_id)| Observation { case_id, latency_ms: Some(1.0), attempts: 1, usage };
        Some(evaluation.memory.put(&Observations { rows: rows.map(row).collect() }))
    };
    let (server, counted) = (UsageSource::Server, UsageSource::Counted);
    let retrieve = observed(vec![vec![usage("planner", 90, server), usage("a|b", 40, server)]; 5]);
    let answered = [Some((100, server)), None, Some((200, counted)), None, Some((300, server))];
    let answer = observed(
        answered
            .map(|tokens| tokens.map(|(tokens, source)| usage("planner", tokens, source)).into_iter().collect())
            .to_vec(),
    );
    let judged =
        observed(vec![vec![usage("judge", 60, server)], vec![], vec![], vec![usage("judge", 60, server)], vec![]]);
    let table = &mut evaluation.aggregate.responses[0];
    (table.retrieve_observations, table.answer_observations) = (retrieve, answer);
    let unjudged = key_of(&evaluation.aggregate);
    evaluation.aggregate.scores[0].observations = judged;
    assert_ne!(key_of(&evaluation.aggregate), unjudged);
    let ran = evaluation.memory.run(&evaluation.aggregate);
    // Values are what they were.
    assert_eq!(ran.digest("summary"), plain.digest("summary"));
    let table: UsageTable = ran.read("usage");
    let told: Vec<(UsagePart, &str, u64, u64, u64, u64, f64)> = table
        .rows
        .iter()
        .map(|row| {
            let tokens = row.prompt_tokens + row.completion_tokens;
            (row.part, row.model.as_str(), row.cases, row.calls, tokens, row.counted_cases, row.tokens_per_case)
        })
        .collect();
    assert_eq!(
        told,
        [
            (UsagePart::Retrieve, "planner", 5, 10, 500, 0, 100.0),
            (UsagePart::Retrieve, "a|b", 5, 10, 250, 0, 50.0),
            (UsagePart::Answer, "planner", 3, 6, 630, 1, 210.0),
            (UsagePart::Judge, "judge", 2, 4, 140, 0, 70.0),
        ]
    );
    let evaluators: Vec<Option<&str>> = table.rows.iter().map(|row| row.evaluator.as_deref()).collect();
    assert_eq!(evaluators, [None, None, None, Some("AP")]);
    assert_eq!((table.rows[2].usd, table.rows[2].usd_per_case), (0.0045, 0.0015));
    let report = evaluation.report();
    let row = "| base / text | answer | planner | 3 | 6 | 600 | 30 | 210.0 | 0.004500 | 0.001500 | server; ragstage for 1 cases |";
    assert!(text(&report, "report.md").contains(row), "{}", text(&report, "report.md"));
    assert!(text(&report, "report.md").contains("| retrieve | a\\|b |"));
    let row = "| base / text | judge AP | judge | 2 | 4 | 120 | 20 | 70.0 | 0.003000 | 0.001500 | server |";
    assert!(text(&report, "report.md").contains(row), "{}", text(&report, "report.md"));
    assert!(text(&report, "report.html").contains("<h2>Tokens and cost</h2>"));
    let json: Value = serde_json::from_str(&text(&report, "report.json")).expect("JSON");
    let of_case = json["case_results"][0]["metadata"]["usage"].as_array().expect("usage");
    assert_eq!(
        of_case.iter().map(|usage| usage["part"].as_str()).collect::<Vec<_>>(),
        [Some("retrieve"), Some("retrieve"), Some("answer")]
    );
}

#[test]
fn cases_that_share_gold_documents_are_resampled_together() {
    let ids: Vec<String> = (0..60).map(|i| format!("q{i}")).collect();
    let cases: Vec<(&str, &str, Option<&str>)> = ids.iter().map(|id| (id.as_str(), id.as_str(), None)).collect();
    // Pairs that are right or wrong together, and 20 cases that share nothing.
    let pairs: Vec<u32> = (0..60).map(|i| if i < 40 { i / 2 * 2 } else { i }).collect();
    let interval = |clusters: &[u32]| {
        let mut evaluation = Evaluation::grouped(&cases, &[], clusters);
        evaluation.plan("base", "text", &["AP"]);
        let values = pairs.iter().enumerate().map(|(i, pair)| f64::from(if i < 40 { pair / 2 % 2 } else { pair % 2 }));
        evaluation.score("base", "text", "AP", 0, values.map(number).collect());
        let html = text(&evaluation.report(), "report.html");
        assert_eq!(html.contains("share gold documents are resampled together"), !clusters.is_empty());
        let ran = evaluation.memory.run(&evaluation.aggregate);
        let table = TableReader::open_any(ran.output("score_table").bytes.clone()).expect("a table");
        let named = table.has("cluster").then(|| table.opt_text("cluster").expect("texts")[3].clone());
        assert_eq!(named, (!clusters.is_empty()).then(|| Some("q2".to_string())));
        summary(&evaluation).measures.remove(0).interval.expect("interval")
    };
    let (alone, together) = (interval(&[]), interval(&pairs));
    assert_eq!((alone.resampled, together.resampled), (Resampled::Cases, Resampled::Documents));
    // The variance of the mean: 20 pairs count for twice what 20 cases do, squared (0.25 (20 x 4 + 20) / 3600 against 0.25 x 60 / 3600).
    let ratio = (together.high - together.low) / (alone.high - alone.low);
    assert!((1.1..1.5).contains(&ratio), "{alone:?}, {together:?}");
}

#[test]
fn many_units_are_resampled_as_clusters() {
    let cases: Vec<(String, String)> = (0..40).map(|i| (format!("q{i}"), format!("question {i}"))).collect();
    let cases: Vec<(&str, &str, Option<&str>)> =
        cases.iter().map(|(id, text)| (id.as_str(), text.as_str(), None)).collect();
    let rows: Vec<(String, [u32; 2])> = (0..20).map(|i| (format!("u{i}"), [2 * i, 2 * i + 1])).collect();
    let units: Vec<(&str, &[u32])> = rows.iter().map(|(id, rows)| (id.as_str(), rows.as_slice())).collect();
    let mut evaluation = Evaluation::new(&cases, &units);
    evaluation.plan("base", "text", &["AP"]);
    for unit in 0..20 {
        let value = (unit % 2) as f64;
        evaluation.score("base", "text", "AP", unit, vec![number(value), number(value)]);
    }
    let measure = summary(&evaluation).measures.remove(0);
    let interval = measure.interval.expect("interval");
    assert_eq!((measure.headline, interval.resampled), (Some(0.5), Resampled::Units));
    // 20 independent units: 2 x 1.96 x 0.5 / sqrt(20) = 0.438; 40 cases would give 0.310.
    assert!(interval.high - interval.low > 0.36, "{interval:?}");
    let slices: Vec<_> = measure.units.iter().map(|slice| (slice.name.as_deref(), slice.headline)).take(2).collect();
    assert_eq!(slices, [(Some("u0"), Some(0.0)), (Some("u1"), Some(1.0))]);
    let html = text(&evaluation.report(), "report.html");
    assert!(html.contains("By unit") && html.contains("whole units are resampled"));
}

#[test]
fn a_unit_without_tables_is_failed_cases() {
    let cases = [("q1", "one", None), ("q2", "two", None), ("q3", "three", None)];
    let mut evaluation = Evaluation::new(&cases, &[("north", &[0, 1]), ("south", &[2])]);
    evaluation.plan("base", "text", &["AP"]);
    evaluation.plan("base", "vector", &["AP"]);
    evaluation.respond("base", "text", 0, "passage", &[]);
    evaluation.score("base", "text", "AP", 0, vec![number(1.0), number(1.0)]);
    let summary = summary(&evaluation);
    let counts: Vec<_> = summary.measures.iter().map(|m| (m.counts.scored, m.counts.failed, m.headline)).collect();
    assert_eq!(counts, [(2, 1, None), (0, 3, None)]);
    assert_eq!(summary.measures[1].no_headline, Some(NoHeadline::NothingScored));
    let responses: Vec<_> = summary.responses.iter().map(|r| (r.query.as_str(), r.cases, r.failed)).collect();
    assert_eq!(responses, [("text", 3, 1), ("vector", 3, 3)]);
    assert_eq!(summary.failures[0].message, "the unit was not asked");
    assert_eq!((summary.failures[0].count, summary.failures[0].cases.len(), summary.failures.len()), (3, 3, 2));
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let mut unplanned = five();
    unplanned.score("base", "text", "AP", 0, (0..5).map(|_| number(1.0)).collect());
    assert!(unplanned.aggregate.run(&unplanned.memory).is_err());
    let mut swapped = Evaluation::new(&[("q1", "one", None), ("q2", "two", None)], &[("north", &[0]), ("south", &[1])]);
    swapped.plan("base", "text", &["AP"]);
    swapped.score("base", "text", "AP", 0, vec![number(1.0)]);
    swapped.aggregate.scores[0].unit_id = "south".to_string();
    let error = swapped.aggregate.run(&swapped.memory).expect_err("other rows").to_string();
    assert!(error.contains("are not the 1 cases of unit south"), "{error}");
}

#[test]
fn latencies_by_nearest_rank() {
    let mut evaluation = five();
    evaluation.plan("base", "text", &[]);
    evaluation.respond("base", "text", 0, "passage", &[4]);
    let latency: Latency = evaluation.memory.run(&evaluation.aggregate).read("latency");
    let total = latency.queries[0].total.expect("total");
    assert_eq!((total.count, total.mean_ms, total.p50_ms, total.p95_ms), (4, 26.0, 21.0, 41.0));
    assert_eq!(latency.queries[0].answer.expect("answer").p99_ms, 1.0);
}

#[test]
fn the_long_table_has_every_score() {
    let evaluation = sample();
    let ran = evaluation.memory.run(&evaluation.aggregate);
    let table = TableReader::open(ran.output("score_table").bytes.clone(), "score_table", 1).expect("table");
    assert_eq!(table.rows(), 15);
    assert_eq!(table.text("evaluator").expect("evaluator")[5], "answer_contains");
    assert_eq!(table.text("state").expect("state")[..5], ["scored", "skipped", "scored", "failed", "scored"]);
    assert_eq!(table.opt_float("value").expect("value")[..4], [Some(0.5), None, Some(1.0), None]);
    assert_eq!(table.opt_text("reason").expect("reason")[1].as_deref(), Some("no gold evidence"));
    assert_eq!(table.opt_text("error_type").expect("type")[3].as_deref(), Some("upstream"));
    assert_eq!(table.opt_int("attempts").expect("attempts")[2..4], [None, Some(3)]);
    assert_eq!(table.opt_text("label").expect("label")[10].as_deref(), Some("long"));
}

/// Five cases, one query, three evaluators, one failed response, and a passage that is an attack.
fn sample() -> Evaluation {
    let mut evaluation = five();
    evaluation.plan("base", "text", &["nDCG@10", "answer_contains", "length"]);
    evaluation.respond("base", "text", 0, "<script>alert('x')</script> & |pipes|", &[3]);
    let upstream = || Score::failed(fault(RowErrorKind::Upstream, "no response"));
    evaluation.score("base", "text", "nDCG@10", 0, vec![number(0.5), skipped(), number(1.0), upstream(), number(0.0)]);
    let verdicts = vec![verdict(true), verdict(true), verdict(true), failed(), verdict(false)];
    evaluation.score("base", "text", "answer_contains", 0, verdicts);
    let labels = vec![label("long"), label("long"), label("short"), upstream(), label("<b>")];
    evaluation.score("base", "text", "length", 0, labels);
    evaluation.aggregate.statistics.coverage_floor = 0.75;
    evaluation
}

fn text(ran: &Ran, name: &str) -> String {
    String::from_utf8(ran.output(name).bytes.clone()).expect("utf-8")
}

#[test]
fn the_json_report_is_hetas_with_our_own_beside_it() {
    let ran = sample().report();
    let report: Value = serde_json::from_slice(&ran.output("report.json").bytes).expect("json");
    let id = report["report_id"].as_str().expect("id");
    assert!(id.len() == 37 && id.starts_with("eval_"));
    assert_eq!(report["query_modes"], json!(["text"]));
    // Of the labels there is no mean; nDCG@10 has 3 of 4 expected.
    assert_eq!(report["score_summary"], json!({"text.answer_contains": 0.75, "text.nDCG@10": 0.5}));
    let cases = report["case_results"].as_array().expect("cases");
    assert_eq!(cases.len(), 5);
    assert_eq!(cases[0]["latency_ms"], json!(11.0));
    assert_eq!(
        cases[0]["scores"][1],
        json!({
            "name": "answer_contains", "value": true, "passed": true, "metadata": {"matched_answers": []}
        })
    );
    assert_eq!(cases[1]["scores"].as_array().map(Vec::len), Some(2));
    assert_eq!(cases[1]["metadata"]["unscored"][0]["reason"], json!("no gold evidence"));
    assert_eq!((&cases[3]["response"], &cases[3]["latency_ms"]), (&Value::Null, &Value::Null));
    assert_eq!(cases[3]["error"]["error_type"], json!("server"));
    assert_eq!(cases[3]["error"]["retryable"], json!(true));
    assert_eq!(cases[3]["scores"], json!([]));
    assert_eq!(report["metadata"]["run_units"][0]["unit_id"], json!("corpus"));
    let ours = &report["ragstage"];
    assert_eq!(ours["summary"]["measures"][0]["counts"]["coverage"], json!(0.75));
    assert_eq!(ours["queries"][0]["top_k"], json!(10));
    assert_eq!(ours["evaluators"][0]["description"], json!("what nDCG@10 measures"));
}

#[test]
fn an_evaluator_that_passes_a_failure_on_is_not_counted_again() {
    let summary = summary(&sample());
    let groups: Vec<_> = summary.failures.iter().map(|g| (g.place.as_str(), g.error_type.as_str(), g.count)).collect();
    assert_eq!(groups, [("retrieve", "server", 1)]);
    assert_eq!(summary.failures[0].cases, ["q4"]);
}

#[test]
fn recipes_are_told_apart_where_there_are_several() {
    let mut evaluation = five();
    for recipe in ["base", "tuned"] {
        evaluation.plan(recipe, "text", &["AP"]);
        evaluation.respond(recipe, "text", 0, recipe, &[]);
        evaluation.score(recipe, "text", "AP", 0, (0..5).map(|_| number(0.25)).collect());
    }
    let ran = evaluation.report();
    let report: Value = serde_json::from_slice(&ran.output("report.json").bytes).expect("json");
    assert_eq!(report["score_summary"], json!({"base.text.AP": 0.25, "tuned.text.AP": 0.25}));
    let order: Vec<_> = report["case_results"]
        .as_array()
        .expect("cases")
        .iter()
        .take(3)
        .map(|case| (case["case_id"].as_str(), case["metadata"]["knowledge_base_name"].as_str()))
        .collect();
    assert_eq!(
        order,
        [(Some("q1"), Some("harbour-base")), (Some("q1"), Some("harbour-tuned")), (Some("q2"), Some("harbour-base")),]
    );
    assert_eq!(report["recipe_manifest"]["metadata"]["recipes"][1]["name"], json!("tuned"));
}

#[test]
fn a_knowledge_base_without_responses_has_failed() {
    let mut evaluation = five();
    for recipe in ["base", "tuned"] {
        evaluation.plan(recipe, "text", &["AP"]);
    }
    evaluation.respond("base", "text", 0, "base", &[]);
    evaluation.score("base", "text", "AP", 0, (0..5).map(|_| number(0.25)).collect());
    let report: Value = serde_json::from_slice(&evaluation.report().output("report.json").bytes).expect("json");
    let listed = report["knowledge_base_manifest"]["knowledge_bases"].as_array().expect("one per recipe");
    let states: Vec<_> = listed.iter().map(|kb| (&kb["name"], &kb["run_record"]["status"])).collect();
    let expected = [(json!("harbour-base"), json!("succeeded")), (json!("harbour-tuned"), json!("failed"))];
    assert_eq!(states, expected.each_ref().map(|(name, status)| (name, status)));
    assert_eq!(listed[1]["run_record"]["step_records"][0]["status"], "failed");
    assert_eq!(report["started_at"], "2026-11-30T16:20:33+00:00");
}

#[test]
fn html_escapes_what_it_shows_and_loads_nothing() {
    let html = text(&sample().report(), "report.html");
    assert!(!html.contains("<script>alert"));
    assert!(html.contains("&lt;script&gt;alert(&#x27;x&#x27;)&lt;&#x2f;script&gt; &amp; |pipes|"), "escaped passage");
    assert!(html.contains("&lt;b&gt;"), "escaped label");
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert_eq!(html.matches("<details>").count(), html.matches("</details>").count());
    assert!(html.contains("1 of 5 cases have no response"));
}

#[test]
fn markdown_in_full() {
    let markdown = text(&sample().report(), "report.md");
    let id = markdown.split('`').nth(1).expect("id").to_string();
    assert_eq!(markdown.replace(&id, "ID"), include_str!("made_up/report.md"));
}

#[test]
fn a_report_without_evaluators() {
    let mut evaluation = five();
    evaluation.plan("base", "text", &[]);
    evaluation.respond("base", "text", 0, "passage", &[]);
    let ran = evaluation.report();
    assert!(text(&ran, "report.md").contains("No evaluator was run."));
    assert!(text(&ran, "report.html").contains("No evaluator was run."));
    let report: Value = serde_json::from_slice(&ran.output("report.json").bytes).expect("json");
    assert_eq!((&report["score_summary"], report["case_results"].as_array().map(Vec::len)), (&json!({}), Some(5)));
}

#[test]
fn pages_show_a_part_and_say_so() {
    let cases: Vec<String> = (0..250).map(|i| format!("q{i:03}")).collect();
    let cases: Vec<_> = cases.iter().map(|id| (id.as_str(), "question", None)).collect();
    let mut evaluation = Evaluation::new(&cases, &[]);
    evaluation.plan("base", "text", &["AP"]);
    evaluation.respond("base", "text", 0, "passage", &[249]);
    let scores = (0..250).map(|i| if i == 249 { failed() } else { number(f64::from(i) / 248.0) }).collect();
    evaluation.score("base", "text", "AP", 0, scores);
    let html = text(&evaluation.report(), "report.html");
    // 249 is failed, 248 is at the top.
    assert!(html.contains("200 are shown, 49 more"));
    let shown = |id: &str| html.contains(&format!("{id} · base"));
    assert!(shown("q249") && shown("q000") && shown("q198") && !shown("q199") && !shown("q248"));
    assert!(html.find("q249 ·") < html.find("q000 ·"));
}

#[test]
fn gates_are_in_every_report() {
    let mut evaluation = sample();
    evaluation.plan("base", "vector", &["nDCG@10"]);
    let gate = |measure: &str, at_least, at_most| GateSpec {
        measure: measure.to_string(),
        query: Some(if measure == "AP" { "text|" } else { "text" }.to_string()),
        at_least,
        at_most,
        ..GateSpec::default()
    };
    let mut report = evaluation.build_report();
    let plain = key_of(&report);
    report.gates = vec![
        gate("nDCG@10", Some(0.5), Some(0.9)),
        gate("answer_contains", Some(0.8), None),
        gate("AP", None, Some(1.0)),
    ];
    assert_ne!(key_of(&report), plain);
    let ran = evaluation.memory.run(&report);
    let markdown = text(&ran, "report.md");
    for row in [
        "**2 of 3 failed.**\n\n| gate |",
        "| passed | nDCG@10 | base / text | 0.5000 | at least 0.5, at most 0.9 |  |\n",
        "| **failed** | answer_contains | base / text | 0.7500 | at least 0.8 | 0.7500 &lt; 0.8 |\n",
        "| **failed** | AP | any / text\\| | – | at most 1 | no evaluator is called AP; there are",
        "|\n\n## Results\n",
    ] {
        assert!(markdown.contains(row), "{row}: {markdown}");
    }
    let html = text(&ran, "report.html");
    assert!(html.contains("2 of 3 failed") && html.contains("0.7500 &lt; 0.8"));
    let json: Value = serde_json::from_slice(&ran.output("report.json").bytes).expect("json");
    let gates = &json["ragstage"]["gates"];
    assert_eq!(
        gates[0],
        json!({
            "gate": "nDCG@10 >= 0.5 and <= 0.9", "recipe": "base", "query": "text", "measure": "nDCG@10", "value": 0.5,
            "at_least": 0.5, "at_most": 0.9, "passed": true, "why": null,
        })
    );
    assert_eq!((&gates[1]["passed"], &gates[2]["value"]), (&json!(false), &Value::Null));
    report.gates.truncate(1);
    assert!(text(&evaluation.memory.run(&report), "report.md").contains("All passed.\n\n| gate |"));
}

#[test]
fn gates_that_are_called_the_same_are_each_their_own() {
    let mut evaluation = five();
    for recipe in ["base", "other"] {
        evaluation.plan(recipe, "text", &["AP"]);
        evaluation.respond(recipe, "text", 0, "passage", &[]);
        evaluation.score(recipe, "text", "AP", 0, vec![number(0.5); 5]);
    }
    let mut report = evaluation.build_report();
    let gate = |recipe: &str| GateSpec {
        name: Some("quality".to_string()),
        measure: "AP".to_string(),
        recipe: Some(recipe.to_string()),
        ..GateSpec::default()
    };
    let no_worse_than =
        NoWorseThan { reference: "base".to_string(), margin: 0.1, rule: GateRule::NonInferior, lower_is_better: false };
    report.gates = vec![
        GateSpec { at_least: Some(0.1), ..gate("base") },
        GateSpec { no_worse_than: Some(no_worse_than), ..gate("other") },
    ];
    let gates: Value = serde_json::from_slice(&evaluation.memory.run(&report).output("gates").bytes).expect("json");
    assert_eq!((&gates[0]["paired"], &gates[1]["paired"]["cases"]), (&Value::Null, &json!(5)));
}

#[test]
fn worst_cases_are_ranked_by_the_first_evaluator_and_ties_by_the_next() {
    let mut evaluation = five();
    evaluation.plan("base", "text", &["answer_contains", "token_f1"]);
    evaluation.respond("base", "text", 0, "passage", &[]);
    // By the mean over evaluators q1, which is right in many words, would come before q2 and q5.
    let right = vec![verdict(true), verdict(false), verdict(true), skipped(), verdict(false)];
    evaluation.score("base", "text", "answer_contains", 0, right);
    let words = vec![number(0.0625), number(1.0), number(1.0), number(0.5), number(0.75)];
    evaluation.score("base", "text", "token_f1", 0, words);
    let html = text(&evaluation.report(), "report.html");
    let place = |id: &str| html.find(&format!("{id} · base"));
    let places = ["q5", "q2", "q1", "q4"].map(place);
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
    assert_eq!(place("q3"), None);
    assert!(html.contains("then those with the lowest answer_contains, the evaluation's first evaluator; ties"));
}

#[test]
fn summaries_round_trip_and_give_headlines() {
    let evaluation = sample();
    let summary = summary(&evaluation);
    assert_eq!(Summary::decode(summary.encode().expect("encode")).expect("decode"), summary);
    let headlines = summary.headlines();
    assert_eq!(
        (headlines[0].mean, headlines[0].scored, headlines[0].failed, headlines[0].skipped),
        (Some(0.5), 3, 1, 1)
    );
    assert_eq!(headlines[2].why_not, Some(NoHeadline::Labels));
    let gate = GateSpec { measure: "answer_contains".to_string(), at_least: Some(0.8), ..GateSpec::default() };
    let outcome = check(&summary, &[gate]).remove(0);
    assert_eq!((outcome.passed, outcome.why.as_deref()), (false, Some("0.7500 < 0.8")));
}

#[test]
fn a_large_report_lists_what_failed_and_what_is_worst() {
    let mut evaluation = five();
    evaluation.plan("base", "text", &["AP", "token_f1"]);
    evaluation.respond("base", "text", 0, "passage", &[4]);
    let scores = |values: [f64; 4]| values.into_iter().map(number).chain([failed()]).collect::<Vec<_>>();
    evaluation.score("base", "text", "AP", 0, scores([1.0, 1.0, 1.0, 0.25]));
    evaluation.score("base", "text", "token_f1", 0, scores([1.0, 0.5, 1.0, 1.0]));
    let mut report = evaluation.build_report();
    let whole = key_of(&report);
    let read = |report: &BuildReport| -> Value {
        serde_json::from_slice(&evaluation.memory.run(report).output("report.json").bytes).expect("JSON")
    };
    let ids = |json: &Value| -> Vec<String> {
        let results = json["case_results"].as_array().expect("case results").iter();
        results.map(|result| result["case_id"].as_str().unwrap_or_default().to_string()).collect()
    };
    let all = read(&report);
    assert_eq!(ids(&all), ["q1", "q2", "q3", "q4", "q5"]);
    assert_eq!(all["ragstage"].get("case_results_truncated"), None);
    report.case_results = CaseResults::UpTo(5);
    assert_eq!(ids(&read(&report)).len(), 5);
    report.case_results = CaseResults::UpTo(4);
    assert_ne!(key_of(&report), whole);
    let part = read(&report);
    assert_eq!(ids(&part), ["q2", "q4", "q5"]);
    let truncated = &part["ragstage"]["case_results_truncated"];
    assert_eq!((&truncated["listed"], &truncated["of"]), (&json!(3), &json!(5)));
    assert_eq!(truncated["all_scores"], "scores.parquet");
    // What is listed is what the whole report has of it.
    let of = |json: &Value, id: &str| {
        let results = json["case_results"].as_array().expect("case results");
        results.iter().find(|result| result["case_id"] == id).cloned()
    };
    for id in ["q2", "q4", "q5"] {
        assert_eq!(of(&part, id), of(&all, id));
    }
    assert_eq!(part["score_summary"], all["score_summary"]);
    report.case_results = CaseResults::All;
    assert_eq!(ids(&read(&report)).len(), 5);
}
