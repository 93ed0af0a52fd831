//! Answers by a chat model: asked once per request, kept, asked again for what changed alone; their tokens and their cost are in
//! the reports, and the key to the server is in nothing that is written.

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer, Request};
use super::small::{CASE_COUNT, case, write};
use super::space::{Ran, Space};

const CHAT: &str = "chat/completions";
const SECRET: &str = "sk-harbour-7d1f6f0c2b";

/// The town of [`write`], answered by the model at `server`.
fn town(server: &ModelServer) -> Space {
    let space = Space::new();
    write(&space);
    space.edit(
        "evaluation.yaml",
        "recipes:\n",
        &format!(
            "models:\n  - {{name: small, model: m-1, base_url: \"{}\", api_key_env: HARBOUR_KEY, price: {{input_per_million: \
             100, output_per_million: 1000}}}}\nrecipes:\n",
            server.base_url()
        ),
    );
    space.edit(
        "evaluation.yaml",
        "answer: {provider: extractive, sentences: 1, results: 2}\n",
        "answer: {provider: openai, llm: small, max_tokens: 48, context: {tokens: 200, results: 2}}\n",
    );
    space.edit("evaluation.yaml", "    chunk: {size: 12}\n", "    chunk: {size: 40}\n");
    space
}

fn run(space: &Space, arguments: &str) -> Ran {
    let events = space.path(".events");
    let mut command = space.command();
    command.env("HARBOUR_KEY", SECRET).args(["run", "--events"]).arg(&events).args(arguments.split_whitespace());
    let mut ran = Ran::of_command(command);
    ran.events = super::space::read_events(&events);
    let _ = std::fs::remove_file(events);
    ran
}

/// The first passage of a request: what is between its number and the next one or the question.
fn first_passage(request: &Request) -> String {
    let (_, rest) = request.prompt().split_once("[1]").unwrap_or_default();
    let end = rest.find("\n[2]").or(rest.find("\nQuestion:")).unwrap_or(rest.len());
    rest[..end].trim().to_string()
}

/// A model that repeats the first passage.
fn reader() -> ModelServer {
    ModelServer::new(|request| Act::Say(format!("{} [1]", first_passage(request))))
}

#[test]
fn a_warm_run_asks_nothing_and_a_new_case_once() {
    let server = reader();
    let space = town(&server);
    run(&space, "").expect(0);
    assert_eq!(server.count(CHAT), CASE_COUNT);
    let report = space.json("reports/small/report.json");
    run(&space, "").expect(0).expect_nothing();
    assert_eq!(server.count(CHAT), CASE_COUNT);
    // One more case.
    let more = case("oil", "What does the lamp burn no longer?", "whale oil", ("lighthouse", "whale oil"), "fact");
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &more));
    let ran = run(&space, "").expect(0);
    assert_eq!(ran.items("answer"), ["oil"]);
    assert_eq!(server.count(CHAT), CASE_COUNT + 1);
    // Another store gets the same bytes from the same replies.
    assert_eq!(report["case_results"][0]["response"]["citations"][0]["result_id"], {
        report["case_results"][0]["response"]["results"][0]["id"].clone()
    });
    let values = space.values(".ragstage", "small");
    run(&space, "--store cold").expect(0);
    assert_eq!(space.values("cold", "small"), values);
}

#[test]
fn only_answers_to_what_changed_are_asked_for() {
    let server = reader();
    let space = town(&server);
    run(&space, "").expect(0);
    let ran_after = |old: &str, new: &str| {
        space.edit("evaluation.yaml", old, new);
        server.rescript(|request| Act::Say(format!("{} [1]", first_passage(request))));
        run(&space, "").expect(0)
    };
    // Another model: every answer, and nothing before it.
    let ran = ran_after("model: m-1", "model: m-2");
    assert_eq!((server.count(CHAT), ran.executed().contains_key("retrieve")), (CASE_COUNT, false));
    // An instruction for one of the two categories.
    let ran = ran_after("llm: small,", "llm: small, instructions: {howto: \"Say how, in three words.\"},");
    assert_eq!(ran.items("answer"), ["groups", "pay", "permit", "planks"]);
    assert_eq!(server.count(CHAT), 4);
    // A prompt of one's own, and its change; it is one of the files that the run depends on.
    space.write(
        "prompt.md",
        "{% for p in context %}\n[{{ p.number }}] {{ p.text }}\n{% endfor %}\nQuestion: {{ question }}\n",
    );
    ran_after("llm: small,", "llm: small, prompt: prompt.md,");
    assert_eq!(server.count(CHAT), CASE_COUNT);
    assert!(!server.requests(CHAT)[0].prompt().contains("lighthouse.txt"));
    run(&space, "--stamp done --depfile deps").expect(0);
    assert!(space.read("deps").contains("prompt.md"), "{}", space.read("deps"));
    // A document: the index is built again, and those are asked again that read it.
    let readers = |text: &str| server.requests(CHAT).iter().filter(|request| request.prompt().contains(text)).count();
    let before = readers("Tar comes from the north.");
    assert!((1..CASE_COUNT).contains(&before), "{before}");
    space.edit("documents.jsonl", "Tar comes from the north.", "Tar comes from the south.");
    let ran = run(&space, "").expect(0);
    assert_eq!(ran.executed().get("full_text_index"), Some(&1));
    assert_eq!((server.count(CHAT), readers("Tar comes from the south.")), (CASE_COUNT + before, before));
    // A price asks nothing and makes nothing stale.
    ran_after("input_per_million: 100", "input_per_million: 200").expect_nothing();
    assert_eq!(server.count(CHAT), 0);
}

#[test]
fn a_plan_tells_the_calls_to_come() {
    let server = reader();
    let space = town(&server);
    let plan = |space: &Space| {
        let mut command = space.command();
        command.env("HARBOUR_KEY", SECRET).args(["plan", "--format", "json"]);
        Ran::of_command(command).expect(0).json().to_string()
    };
    let cold = plan(&space);
    assert!(cold.contains(&format!("\"calls\":true,\"missing\":{CASE_COUNT}")), "{cold}");
    assert_eq!(server.total(), 0);
    run(&space, "").expect(0);
    assert!(!plan(&space).contains("\"calls\":true"));
}

#[test]
fn tokens_and_cost_are_in_every_report() {
    let server = ModelServer::new(|request| {
        let mut reply = super::model_server::chat("I don't know.", request);
        // One server says nothing of tokens for one question.
        match request.prompt().contains("parrot") {
            true => drop(reply.as_object_mut().map(|map| map.remove("usage"))),
            false => reply["usage"] = json!({"prompt_tokens": 150, "completion_tokens": 5}),
        }
        Act::Json(reply)
    });
    let space = town(&server);
    space.edit("evaluation.yaml", "max_tokens: 48", "max_tokens: 48, samples: 2, temperature: 1, seed: 1");
    run(&space, "").expect(0);
    assert_eq!(server.count(CHAT), 2 * CASE_COUNT);
    let report = space.json("reports/small/report.json");
    let rows = report["ragstage"]["usage"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        [&row["recipe"], &row["query"], &row["part"], &row["model"]].map(|text| text.as_str().unwrap_or_default()),
        ["fine", "bm25", "answer", "small"]
    );
    assert_eq!((&row["cases"], &row["calls"]), (&json!(CASE_COUNT), &json!(2 * CASE_COUNT)));
    assert_eq!(row["counted_cases"], 1);
    let usage = |case: &Value| case["metadata"]["usage"][0].clone();
    let cases = report["case_results"].as_array().expect("cases");
    let by_server: Vec<Value> = cases.iter().map(usage).filter(|usage| usage["usage"]["source"] == "server").collect();
    assert_eq!(by_server.len(), CASE_COUNT - 1);
    // Two calls of 150 tokens at 100 dollars a million, and of 5 at 1000.
    assert!(by_server.iter().all(|usage| usage["nano_usd"] == json!(40_000_000_u64)), "{by_server:?}");
    assert!(row["prompt_tokens"].as_u64() > Some(300 * (CASE_COUNT as u64 - 1)));
    assert_eq!(cases[0]["metadata"]["answer"]["refused"], true);
    assert_eq!(cases[0]["metadata"]["answer"]["samples"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["ragstage"]["summary"]["responses"][0]["refused"], CASE_COUNT);
    for name in ["report.md", "report.html"] {
        let text = space.read(&format!("reports/small/{name}"));
        assert!(text.contains("Tokens and cost") && text.contains("server; ragstage for 1 cases"), "{text}");
        assert!(text.contains("that the passages do not hold the answer"), "{text}");
    }
    assert_eq!(report["recipe_manifest"]["metadata"]["answer"]["answer.model.name"], "\"m-1\"");
}

#[test]
fn the_key_is_sent_and_written_nowhere() {
    let server = ModelServer::new(|request| match request.prompt().contains("parrot") {
        // A server that complains with the key, and one that repeats it.
        true => Act::Status(400, "", format!("{{\"error\": \"bad key {SECRET}\"}}")),
        false if request.prompt().contains("oak") => Act::Say(format!("Steamed, {SECRET}.")),
        false => Act::Answer,
    });
    let space = town(&server);
    let ran = run(&space, "").expect(11);
    assert!(
        server
            .requests(CHAT)
            .iter()
            .all(|request| { request.authorization.as_deref() == Some(&format!("Bearer {SECRET}")) })
    );
    let report = space.json("reports/small/report.json");
    let failed = report["case_results"].as_array().expect("cases").iter().filter(|case| !case["error"].is_null());
    let failed: Vec<&str> = failed.map(|case| case["error"]["error_type"].as_str().unwrap_or_default()).collect();
    assert_eq!(failed, ["refused", "bad_reply"]);
    assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET));
    assert!(!ran.events.iter().any(|event| event.to_string().contains(SECRET)));
    for (name, bytes) in space.files("") {
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "{name} holds the key");
    }
}

#[test]
fn bad_templates_stop_before_anything_runs() {
    let server = reader();
    let space = town(&server);
    space.write("prompt.md", "Passages:\n{{ passages }}\n");
    space.edit("evaluation.yaml", "llm: small,", "llm: small, prompt: {user: prompt.md},");
    let ran = run(&space, "").expect(3);
    let expected = "prompt.md:2: answer.prompt.user: the template uses `passages`, which it is not given\n  hint: templates are \
                    Jinja's and may use question, context, category, instructions, refusal and citations";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    space.write("prompt.md", "{% for passage in context %}\n");
    let ran = run(&space, "").expect(3);
    assert!(ran.stderr.contains("prompt.md:") && ran.stderr.contains("syntax error"), "{}", ran.stderr);
    assert_eq!(server.total(), 0);
}
