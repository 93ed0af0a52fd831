//! "A budget is kept": a run stops before it is broken, says so, and the same command with more money asks for the rest alone. What
//! is spent and what caches save is told to the token.

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer, Request, chat};
use super::small::{self, CASE_COUNT};
use super::space::{Ran, Space};
use super::values::latest_run;

const CHAT: &str = "chat/completions";

/// A reply of 10 tokens to a request of 100, whatever they are.
fn reply(request: &Request) -> Act {
    let mut reply = chat("I don't know.", request);
    reply["usage"] = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    Act::Json(reply)
}

/// The town, answered one case after the other. Reading costs nothing and a written token a tenth of a cent, so a reply may cost
/// 20 tenths (`max_tokens`) and costs 10.
fn town(server: &ModelServer) -> Space {
    let space = Space::new();
    small::write(&space);
    let models = format!(
        "models:\n  - {{name: small, model: m-1, base_url: \"{}\", price: {{input_per_million: 0, output_per_million: \
         1000}}}}\nlimits:\n  llm: {{concurrency: 1}}\n  budget_usd: 0.05\nrecipes:\n",
        server.base_url()
    );
    space.edit("evaluation.yaml", "recipes:\n", &models);
    space.edit(
        "evaluation.yaml",
        "answer: {provider: extractive, sentences: 1, results: 2}\n",
        "answer: {provider: openai, llm: small, max_tokens: 20}\n",
    );
    space
}

/// The account of a run: tokens and tenths of a cent that were spent and saved, and how many calls the budget did not hold.
fn account(spend: &Value) -> [u64; 5] {
    let tenths =
        |name: &str| (spend[name].as_f64().unwrap_or_else(|| panic!("{name}: {spend}")) * 1000.0).round() as u64;
    let whole = |name: &str| spend[name].as_u64().unwrap_or_else(|| panic!("{name}: {spend}"));
    [whole("spent_tokens"), tenths("spent_usd"), whole("saved_tokens"), tenths("saved_usd"), whole("over_budget")]
}

/// The account as a run prints it, which its record and its last event repeat.
fn printed(space: &Space, ran: &Ran) -> [u64; 5] {
    let spend = ran.json()["spend"].clone();
    let record: Value = serde_json::from_slice(
        &std::fs::read(latest_run(&space.path(".ragstage")).join("outcome.json")).expect("outcome"),
    )
    .expect("JSON");
    assert_eq!(record["spend"], spend);
    assert_eq!(ran.of("run_finished")[0]["spend"], spend);
    account(&spend)
}

#[test]
fn one_call_too_many_is_told_as_one() {
    let server = ModelServer::new(reply);
    let space = town(&server);
    space.edit("evaluation.yaml", "budget_usd: 0.05", "budget_usd: 0.1");
    let stopped = space.run("").expect(10);
    let said = "and 1 call was not made because it might have broken it.";
    assert!(stopped.stderr.contains(said), "{}", stopped.stderr);
}

#[test]
fn a_model_that_a_budget_does_not_see_is_told() {
    let server = ModelServer::new(reply);
    let space = town(&server);
    let note = "note: the chat model \"m-1\" has no `price`, so its calls count nothing against `budget_usd`";
    assert!(!space.run("").expect(10).stderr.contains("note: the chat model"));
    space.edit("evaluation.yaml", ", price: {input_per_million: 0, output_per_million: 1000}", "");
    let ran = space.run("").expect(0);
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}

#[test]
fn a_budget_stops_and_a_higher_one_goes_on() {
    let server = ModelServer::new(reply);
    let space = town(&server);
    // A call begins where what is spent and what it may cost are within 50 tenths: after 0, 10, 20 and 30.
    let stopped = space.run("--format json").expect(10);
    assert_eq!(server.count(CHAT), 4);
    assert_eq!(printed(&space, &stopped), [440, 40, 0, 0, 6]);
    assert_eq!(stopped.json()["spend"]["budget_usd"], 0.05);
    assert_eq!(stopped.of("budget_reached").len(), 1);
    let failed: Vec<&Value> = stopped.of("row_failed");
    assert_eq!(failed.len(), 6);
    assert!(failed.iter().all(|event| event["error"]["kind"] == "over_budget"), "{failed:?}");
    let said = "the budget of $0.0500 stopped the run: $0.0400 are spent, and 6 calls were not made because they might have broken \
                it. What was paid for is kept. Each run has the whole budget, so the same command goes on and spends again; \
                with a higher `limits.budget_usd` it gets further.";
    assert!(stopped.stderr.contains(said), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("spent $0.0400 (440 tokens), saved by cache $0.0000"), "{}", stopped.stderr);
    // What was not asked is a failure in the report, not a 0.
    let report = space.json("reports/small/report.json");
    let cases = report["case_results"].as_array().expect("cases");
    let unasked = cases.iter().filter(|case| case["error"]["error_type"] == "over_budget").count();
    assert_eq!((unasked, cases.len()), (6, CASE_COUNT));

    // The next run has the same budget anew, and asks what it holds of the rest.
    let more = space.run("--format json").expect(10);
    assert_eq!(server.count(CHAT), 8);
    assert_eq!(printed(&space, &more), [440, 40, 440, 40, 2]);

    space.edit("evaluation.yaml", "budget_usd: 0.05", "budget_usd: 1");
    let rest = space.run("--format json").expect(0);
    assert_eq!(server.count(CHAT), CASE_COUNT);
    assert_eq!(printed(&space, &rest), [220, 20, 880, 80, 0]);
    assert!(rest.stderr.contains("spent $0.0200 (220 tokens), saved by cache $0.0800"), "{}", rest.stderr);
    assert!(rest.of("budget_reached").is_empty());

    // All of it was there already.
    let warm = space.run("--format json").expect(0);
    assert_eq!(printed(&space, &warm), [0, 0, 1100, 100, 0]);
    assert!(warm.stderr.contains("spent $0.0000 (0 tokens), saved by cache $0.1000"), "{}", warm.stderr);
    warm.expect_nothing();
    assert_eq!(server.count(CHAT), CASE_COUNT);

    // And it came to what a run with enough money comes to.
    let values = space.values(".ragstage", "small");
    space.run("--store rich --output rich-reports").expect(0);
    assert_eq!(space.values("rich", "small"), values);
}

#[test]
fn evaluations_of_a_batch_have_one_budget() {
    let server = ModelServer::new(reply);
    let space = town(&server);
    let second = space.read("evaluation.yaml").replace("name: small\nbenchmark", "name: second\nbenchmark");
    space.write("second.yaml", &second.replace("m-1", "m-2").replace("budget_usd: 0.05", "budget_usd: 0.5"));
    let stopped = space.run("evaluation.yaml second.yaml --format json").expect(10);
    // The smaller budget is that of both.
    assert_eq!(server.count(CHAT), 4);
    assert_eq!(account(&stopped.json()["spend"]), [440, 40, 0, 0, 16]);
    let failed: u64 =
        stopped.json()["evaluations"].as_array().expect("two").iter().filter_map(|e| e["failed_items"].as_u64()).sum();
    assert!(failed >= 16, "{}", stopped.stdout);
    space.edit("evaluation.yaml", "budget_usd: 0.05", "budget_usd: 0.5");
    let rest = space.run("evaluation.yaml second.yaml --format json").expect(0);
    assert_eq!(server.count(CHAT), 2 * CASE_COUNT);
    assert_eq!(account(&rest.json()["spend"]), [1760, 160, 440, 40, 0]);
    space.run("evaluation.yaml second.yaml").expect(0).expect_nothing();
}

#[test]
fn a_plan_tells_tokens_and_cost_to_come() {
    let server = ModelServer::new(reply);
    let space = town(&server);
    let plan = || space.ragstage("plan --format json").expect(0).json();
    // What a model will be asked is not known before there are results.
    let cold = plan();
    let pools = cold["totals"]["pools"].as_array().expect("pools").clone();
    assert_eq!((pools.len(), &pools[0]["pool"], &pools[0]["calls"]), (1, &json!("llm"), &json!(CASE_COUNT)), "{cold}");
    assert_eq!(server.total(), 0);

    space.run("").expect(10);
    let left = plan();
    let pool = &left["totals"]["pools"][0];
    assert_eq!((&pool["calls"], &pool["at_least"]), (&json!(6), &json!(false)), "{left}");
    // Six replies of up to 20 tokens; what is read costs nothing, but is counted.
    assert_eq!(pool["spend"]["nano_usd"], json!(120_000_000));
    assert_eq!(left["cost_usd"], json!(0.12));
    let tokens = left["tokens"].as_u64().expect("tokens");
    assert!(tokens > 6 * 20 + 6 * 30, "{tokens}");
    let text = space.ragstage("plan").expect(0).stdout;
    assert!(text.contains("Calls to come: at most 6 of chat models; tokens: at most "), "{text}");
    assert!(text.contains("; cost: at most $0.1200."), "{text}");
    assert_eq!(server.count(CHAT), 4);

    space.edit("evaluation.yaml", "budget_usd: 0.05", "budget_usd: 1");
    space.run("").expect(0);
    let done = plan();
    assert_eq!((&done["totals"]["pools"], &done["cost_usd"]), (&json!([]), &json!(0.0)), "{done}");
    assert!(space.ragstage("plan").expect(0).stdout.contains("Calls to come: none; tokens: none; cost: none."));
}

#[test]
fn every_reply_that_is_paid_for_is_counted() {
    // Replies that are no answer to what was asked are paid for too.
    let server = ModelServer::new(|request| match request.schema() {
        Some(_) => reply(request),
        None => Act::Answer,
    });
    let space = town(&server);
    space.edit(
        "evaluation.yaml",
        "{mode: full_text_search, name: bm25, top_k: 3}",
        "{mode: rewrite_search, name: worded, top_k: 3, options: {base_mode: full_text_search, llm: small, max_tokens: 20}}",
    );
    space.edit("evaluation.yaml", "answer: {provider: openai, llm: small, max_tokens: 20}\n", "answer: none\n");
    space.edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", "[evidence_recall@3]");
    space.edit("evaluation.yaml", "{concurrency: 1}", "{concurrency: 1, breaker: 0}");
    space.edit("evaluation.yaml", "budget_usd: 0.05", "budget_usd: 10");
    let ran = space.run("--format json");
    let asked = server.count(CHAT) as u64;
    // Each is asked for three times.
    assert_eq!(asked, 3 * CASE_COUNT as u64, "{}", ran.stderr);
    assert_eq!(account(&ran.json()["spend"]), [110 * asked, 10 * asked, 0, 0, 0]);
}
