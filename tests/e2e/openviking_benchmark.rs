//! OpenViking's own benchmark by its run configurations: `import openviking`, the steps of `run --config`, and its files.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer, Request};
use super::openviking_server::{Act as ServerAct, Asked, OpenViking};
use super::running::Running;
use super::space::{Ran, Space};

/// A golden file or folder, under `$RAGSTAGE_GOLDEN` (default `../shared/golden`); where it is absent that is said.
pub fn golden(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("RAGSTAGE_GOLDEN").map(PathBuf::from);
    let root = root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/golden"));
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    // Nobody reads it if it cannot be written.
    let _ = writeln!(
        std::io::stderr(),
        "e2e: SKIPPED: {} is absent; set RAGSTAGE_GOLDEN to compare with it",
        path.display()
    );
    None
}

const CHAT: &str = "chat/completions";
const CONFIG: &str = "config/locomo_config.yaml";

/// Two conversations with three questions that are asked, and the configuration of theirs that is shipped for them.
struct Experiment {
    space: Space,
    viking: OpenViking,
    model: ModelServer,
}

impl Experiment {
    fn new() -> Self {
        let experiment = Experiment { space: Space::new(), viking: OpenViking::new(), model: ModelServer::new(reply) };
        experiment.space.write("datasets/locomo10.json", &samples().to_string());
        experiment.configure("");
        experiment
    }

    /// Writes the configuration, with further keys of `execution`.
    fn configure(&self, execution: &str) {
        let text = format!(
            "project_name: bench\ndataset_name: Locomo\n\
             adapter: {{module: src.adapters.locomo_adapter, class_name: LocomoAdapter}}\n\
             execution:\n  max_workers: 4\n  ingest_workers: 2\n  retrieval_topk: 2\n  ingest_mode: per_file\n{execution}\
             paths:\n  dataset_path: datasets/locomo10.json\n  output_dir: Output/{{dataset_name}}/experiment_test_top_{{retrieval_topk}}\n  \
             doc_output_dir: ov_storage/{{dataset_name}}_docs\n  log_file: Output/{{dataset_name}}/benchmark.log\n\
             llm: {{model: m-1, temperature: 0, base_url: \"{}\", api_key: dummy}}\n",
            self.model.base_url()
        );
        self.space.write(CONFIG, &text);
    }

    fn step(&self, step: &str) -> Ran {
        let mut command = self.space.command();
        command.env("OPENVIKING_URL", self.viking.url()).env("HOME", self.space.path(""));
        command.args(["run", "--quiet", "--config", CONFIG, "--step", step, "--events", "events.jsonl"]);
        Ran::of_command(command)
    }

    fn file(&self, name: &str) -> Value {
        self.space.json(&format!("Output/Locomo/experiment_test_top_2/{name}"))
    }
}

fn samples() -> Value {
    let turn = |id: &str, text: &str| json!({"speaker": "Ann", "text": text, "dia_id": id});
    let sample = |id: &str, turns: Value, qa: Value| json!({"sample_id": id, "conversation": {"session_1_date_time": "8 May, 2023", "session_1": turns}, "qa": qa});
    let question = |text: &str, answer: Value, id: &str, category: u32| json!({"question": text, "answer": answer, "evidence": [id], "category": category});
    json!([
        sample(
            "conv-1",
            json!([turn("D1:1", "I bought a red kite at the harbour."), turn("D1:2", "The lighthouse is old.")]),
            json!([
                question("What did Ann buy?", json!("a red kite"), "D1:1", 4),
                question("What is old?", json!("the lighthouse"), "D1:2", 1),
                question("Was it said?", json!("no"), "D1:2", 5),
            ]),
        ),
        sample(
            "conv-2",
            json!([turn("D1:1", "My parrot speaks Dutch.")]),
            json!([question("Which language does the parrot speak?", Value::Null, "D1:1", 3)]),
        ),
    ])
}

/// Answers a question, and judges an answer.
fn reply(request: &Request) -> Act {
    Act::Say(match request.schema() {
        Some(_) => "{\"reasoning\": \"so it is\", \"score\": 4}".to_string(),
        None if request.prompt().contains("parrot speak?") => " It is not mentioned. ".to_string(),
        None => "a red kite".to_string(),
    })
}

/// How many requests were answers, and how many judgements.
fn asked(model: &ModelServer) -> (usize, usize) {
    let requests = model.requests(CHAT);
    let judged = requests.iter().filter(|request| request.schema().is_some()).count();
    (requests.len() - judged, judged)
}

#[test]
fn the_steps_of_a_configuration_leave_their_files() {
    let experiment = Experiment::new();
    let ran = experiment.step("gen").expect(0);
    assert!(ran.stderr.contains("not carried over: project_name"), "{}", ran.stderr);
    assert_eq!(asked(&experiment.model), (3, 0));
    let docs = experiment.space.files("ov_storage/Locomo_docs");
    let names: Vec<&str> = docs.keys().map(String::as_str).filter(|name| name.ends_with(".md")).collect();
    assert_eq!(names, ["conv-1_doc.md", "conv-2_doc.md"]);
    let generated = experiment.file("generated_answers.json");
    assert_eq!(generated["summary"], json!({"dataset": "Locomo", "total_queries": 3}));
    let first = &generated["results"][0];
    for (key, value) in [
        ("_global_index", json!(0)),
        ("sample_id", json!("conv-1")),
        ("question", json!("What did Ann buy?")),
        ("gold_answers", json!(["a red kite"])),
        ("category", json!("4")),
        ("evidence", json!(["D1:1"])),
        ("metrics", json!({"Recall": 1.0})),
    ] {
        assert_eq!(first[key], value, "{key}");
    }
    assert_eq!(first["llm"]["final_answer"], "a red kite");
    assert!(first["retrieval"]["latency_sec"].is_f64() && first["token_usage"]["total_input_tokens"].is_u64());
    let uris = first["retrieval"]["uris"].as_array().expect("URIs").len();
    assert_eq!((uris, first["retrieval"]["texts"].as_array().expect("texts").len()), (2, 2));
    assert_eq!(generated["results"][2]["gold_answers"], json!(["Not mentioned"]));
    assert_eq!(generated["results"][2]["llm"]["final_answer"], "It is not mentioned.");
    assert_eq!(generated["ragstage"]["coverage"], 1.0);
    let metrics = experiment.file("benchmark_metrics_report.json");
    assert!(metrics["Insertion Efficiency (Total Dataset)"]["Total Insertion Time (s)"].is_f64(), "{metrics}");
    assert!(metrics["Query Efficiency (Average Per Query)"]["Average Input Tokens"].is_f64(), "{metrics}");
    assert!(metrics.get("Performance Metrics").is_none());

    // The third answer refuses, as its gold does: nobody judges it.
    experiment.model.rescript(reply);
    experiment.viking.counts();
    experiment.step("eval").expect(0);
    assert_eq!((asked(&experiment.model), experiment.viking.counts().len()), ((0, 2), 0));
    let details = experiment.file("qa_eval_detailed_results.json");
    let second = &details["results"][1];
    assert_eq!(second["metrics"], json!({"Recall": 1.0, "F1": 0.0, "Accuracy": 4}));
    assert_eq!(
        second["llm_evaluation"],
        json!({"prompt_used": "Locomo_0or4", "reasoning": "so it is", "normalized_score": 4})
    );
    let third = &details["results"][2];
    assert_eq!((&third["metrics"]["F1"], &third["metrics"]["Accuracy"]), (&json!(1.0), &json!(4.0)));
    assert_eq!(third["llm_evaluation"]["prompt_used"], "Heuristic_Refusal_Check");
    let metrics = experiment.file("benchmark_metrics_report.json");
    assert_eq!(
        metrics["Performance Metrics"],
        json!({
            "Average F1 Score": 2.0 / 3.0, "Average Recall": 1.0, "Average Accuracy (Hit 0-4)": 4.0,
            "Average Accuracy (normalization)": 1.0,
        })
    );
    assert_eq!((&metrics["Dataset"], &metrics["Total Queries Evaluated"]), (&json!("Locomo"), &json!(3)));
    assert!(metrics["Query Efficiency (Average Per Query)"].is_object());

    // Deletion takes what was put there, and nothing else.
    experiment.viking.put("viking://resources/theirs/note.md", "somebody else's");
    experiment.step("del").expect(0);
    assert_eq!(experiment.viking.files(), ["viking://resources/theirs/note.md"]);
    let metrics = experiment.file("benchmark_metrics_report.json");
    assert_eq!(metrics["Deletion Efficiency (Total Dataset)"]["Total Input Tokens"], 0);
    let log = experiment.space.read("Output/Locomo/benchmark.log");
    assert!(log.lines().all(|line| line.split(" | ").nth(1).is_some_and(|level| level.len() == 7)), "{log}");
    assert!(log.contains("3 of 3 questions have an answer"), "{log}");

    // All of it again asks nobody anything, and hands nothing over.
    experiment.model.rescript(reply);
    experiment.viking.counts();
    experiment.step("all").expect(0);
    assert_eq!(asked(&experiment.model), (0, 0));
    let counts = experiment.viking.counts();
    assert!(counts.keys().all(|call| *call == "health"), "{counts:?}");
}

/// Waits until the model was asked `count` times since the script was last set.
fn wait_for_requests(model: &ModelServer, count: usize) {
    let start = Instant::now();
    while model.total() < count {
        assert!(start.elapsed() < Duration::from_secs(60), "{} of {count} requests came", model.total());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Does what is asked, but for request `number` of this kind, which is never replied to.
fn stalled(judging: bool, number: usize) -> impl Fn(&Request) -> Act + Send + 'static {
    let seen = AtomicUsize::new(0);
    move |request| {
        if request.schema().is_some() != judging || seen.fetch_add(1, Ordering::SeqCst) + 1 != number {
            return reply(request);
        }
        Act::Stall(Duration::from_secs(600))
    }
}

#[test]
fn a_step_that_was_killed_asks_nothing_twice() {
    let experiment = Experiment::new();
    let config = experiment.space.read(CONFIG).replace("max_workers: 4", "max_workers: 1");
    experiment.space.write(CONFIG, &config);
    let killed = |step: &str, requests: usize| {
        let mut command = experiment.space.command();
        command.env("OPENVIKING_URL", experiment.viking.url()).env("HOME", experiment.space.path(""));
        let arguments = format!("--quiet --config {CONFIG} --step {step}");
        let running = Running::spawn(&experiment.space, command, "killed.jsonl", &arguments);
        wait_for_requests(&experiment.model, requests);
        assert_eq!(running.kill().code, -1);
    };
    experiment.model.rescript(stalled(false, 2));
    killed("gen", 2);
    assert!(!experiment.space.path("Output/Locomo/experiment_test_top_2/generated_answers.json").exists());
    experiment.model.rescript(reply);
    experiment.viking.counts();
    experiment.step("gen").expect(0);
    // The one that was on its way, and the one that was not asked yet.
    assert_eq!(asked(&experiment.model), (2, 0));
    let counts = experiment.viking.counts();
    assert!(!counts.contains_key("add") && !counts.contains_key("upload"), "{counts:?}");
    experiment.model.rescript(stalled(true, 2));
    killed("eval", 2);
    experiment.model.rescript(reply);
    experiment.step("eval").expect(0);
    assert_eq!(asked(&experiment.model), (0, 1));
    assert_eq!(experiment.file("qa_eval_detailed_results.json")["results"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_server_that_fails_every_third_question_costs_those_questions_alone() {
    let experiment = Experiment::new();
    let refuse = |asked: &Asked| match asked.call {
        "find" if asked.number.is_multiple_of(3) => ServerAct::Error(400, "", "INVALID_ARGUMENT", json!({})),
        _ => ServerAct::Answer,
    };
    experiment.viking.script(refuse);
    let ran = experiment.step("all").expect(10);
    assert!(ran.stdout.contains("2 of 3 questions have an answer (coverage 66.7 %)"), "{}", ran.stdout);
    let generated = experiment.file("generated_answers.json");
    assert_eq!(generated["summary"]["total_queries"], 2);
    let failures = generated["ragstage"]["failures"].as_array().expect("failures").clone();
    assert_eq!((failures.len(), generated["ragstage"]["coverage"].as_f64()), (1, Some(2.0 / 3.0)));
    let metrics = experiment.file("benchmark_metrics_report.json");
    assert_eq!(metrics["Total Queries Evaluated"], 2);
    assert_eq!(metrics["ragstage"]["questions"], 3);
    // What failed is asked again, and what was answered is not; nothing was removed before that.
    let judged = asked(&experiment.model).1;
    experiment.viking.script(|_| ServerAct::Answer);
    experiment.viking.counts();
    experiment.model.rescript(reply);
    experiment.step("gen").expect(0);
    let counts = experiment.viking.counts();
    assert!(!counts.contains_key("add"), "{counts:?}");
    assert_eq!(asked(&experiment.model).0, 1);
    experiment.step("eval").expect(0);
    assert_eq!(judged + asked(&experiment.model).1, 2, "the refusal is judged by nobody");
    assert_eq!(experiment.file("generated_answers.json")["summary"]["total_queries"], 3);
}

#[test]
fn an_outage_of_the_judge_is_no_zero() {
    let experiment = Experiment::new();
    experiment.step("gen").expect(0);
    experiment.model.rescript(|_| Act::Status(401, "", "{\"error\": {\"message\": \"no\"}}".to_string()));
    experiment.step("eval").expect(20);
    let details = experiment.space.path("Output/Locomo/experiment_test_top_2/qa_eval_detailed_results.json");
    if details.exists() {
        let details = experiment.file("qa_eval_detailed_results.json");
        assert_eq!(details["results"][0]["metrics"]["Accuracy"], Value::Null);
        // Nobody judges a refusal.
        let accuracy =
            &experiment.file("benchmark_metrics_report.json")["Performance Metrics"]["Average Accuracy (Hit 0-4)"];
        assert_eq!(accuracy, &json!(4.0));
    }
    experiment.model.rescript(reply);
    experiment.step("eval").expect(0);
    assert_eq!(asked(&experiment.model), (0, 2));
    assert_eq!(experiment.file("qa_eval_detailed_results.json")["results"][0]["metrics"]["Accuracy"], 4);
}

#[test]
fn the_first_questions_and_what_is_there_already() {
    let experiment = Experiment::new();
    experiment.configure("  max_queries: 2\n");
    experiment.step("gen").expect(0);
    assert_eq!(experiment.file("generated_answers.json")["summary"]["total_queries"], 2);
    // What an earlier run has handed over is used; the third question is the only one that is asked.
    experiment.model.rescript(reply);
    experiment.viking.counts();
    experiment.configure("  skip_ingestion: true\n");
    let ran = experiment.step("gen").expect(0);
    assert!(ran.stderr.contains("what an earlier run has handed over"), "{}", ran.stderr);
    assert_eq!(asked(&experiment.model), (1, 0));
    assert!(!experiment.viking.counts().contains_key("add"));
    // Where there is none, all that the server has is asked.
    let elsewhere = Experiment::new();
    elsewhere.viking.put("viking://resources/theirs/conv-1.md", "Ann bought a red kite.");
    elsewhere.configure("  skip_ingestion: true\n");
    let ran = elsewhere.step("gen").expect(0);
    assert!(ran.stderr.contains("asked as it is"), "{}", ran.stderr);
    assert!(!elsewhere.viking.counts().contains_key("add"));
    let uris = elsewhere.file("generated_answers.json")["results"][0]["retrieval"]["uris"].clone();
    assert_eq!(uris, json!(["viking://resources/theirs/conv-1.md"]));
    elsewhere.step("del").expect(0);
    assert_eq!(elsewhere.viking.files(), ["viking://resources/theirs/conv-1.md"]);
}

#[test]
fn a_configuration_becomes_an_evaluation_file() {
    let experiment = Experiment::new();
    experiment.configure("  max_queries: 2\n  retrieval_instruction: 'Find:'\n  colour: red\n");
    experiment.space.write("ov.conf", "{}");
    let import = |rest: &str| {
        let mut command = experiment.space.command();
        command.env("OPENVIKING_URL", experiment.viking.url()).env("HOME", experiment.space.path(""));
        command.args(["import", "openviking", CONFIG]).args(rest.split_whitespace());
        Ran::of_command(command)
    };
    let printed = import("").expect(0);
    assert!(
        printed.stderr.contains("not carried over: execution.colour: OpenViking's benchmark has no such key"),
        "{}",
        printed.stderr
    );
    for line in [
        "first: 2",
        "variant: openviking",
        "version: \"0.5.2\"",
        "retrieval_instruction: \"Find:\"",
        "scale: binary",
        "ov.conf",
    ] {
        assert!(printed.stdout.contains(line), "{line}: {}", printed.stdout);
    }
    import("-o evaluation.yaml").expect(0);
    assert_eq!(experiment.space.read("evaluation.yaml"), printed.stdout);
    let again = import("-o evaluation.yaml").expect(3);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    experiment.space.run("").expect(0);
    assert_eq!(asked(&experiment.model), (2, 2));
    assert!(experiment.viking.asked("find").contains(&"Find: What did Ann buy?".to_string()));
    // The configuration itself finds all of that done.
    experiment.model.rescript(reply);
    experiment.step("gen").expect(0);
    experiment.step("eval").expect(0);
    assert_eq!(asked(&experiment.model), (0, 0));
}

#[test]
fn what_is_missing_is_told() {
    let experiment = Experiment::new();
    let ran = experiment.step("eval").expect(3);
    assert!(
        ran.stderr.contains("generated_answers.json does not exist") && ran.stderr.contains("--step gen"),
        "{}",
        ran.stderr
    );
    let answers = "Output/Locomo/experiment_test_top_2/generated_answers.json";
    for (text, told) in [
        ("{\"results\": [", "generated_answers.json:1:13: no JSON"),
        ("{\"results\": [{\"question\": 7}]}", "/results/0/question"),
        ("{\"results\": [{\"sample_id\": \"conv-1\", \"question\": \"Who knows?\"}]}", "\"Who knows?\""),
    ] {
        experiment.space.write(answers, text);
        let ran = experiment.step("eval").expect(3);
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        assert_eq!(experiment.space.read(answers), text);
        assert!(!experiment.space.path("Output/Locomo/experiment_test_top_2/qa_eval_detailed_results.json").exists());
    }
    experiment.space.write(CONFIG, "execution: {max_workers: many}\n");
    let ran = experiment.step("gen").expect(3);
    assert!(ran.stderr.contains("locomo_config.yaml:1:26: execution.max_workers"), "{}", ran.stderr);
    experiment.space.ragstage("run --config none.yaml").expect(3);
    experiment.space.ragstage("run --step gen").expect(2);
    let nobody = Experiment::new();
    let mut command = nobody.space.command();
    command.env("OPENVIKING_URL", "http://127.0.0.1:9").args(["run", "--config", CONFIG, "--step", "gen"]);
    let ran = Ran::of_command(command).expect(20);
    assert!(ran.stderr.contains("http://127.0.0.1:9 cannot be used"), "{}", ran.stderr);
}

/// A dataset, a file of OpenViking's own shape, and the F1 and recall of each of its items.
type TheirFile = (Value, Value, Vec<(f64, f64)>);

/// A file without texts of the F1 and recall vectors; `None` where they are absent.
fn their_file() -> Option<TheirFile> {
    let golden = golden("openviking_metrics.jsonl")?;
    let text = std::fs::read_to_string(golden).expect("the vectors");
    let vectors: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |name: &'static str| {
        vectors.iter().filter(move |vector| vector["fn"] == name && vector.get("optional").is_none())
    };
    let is_texts = |value: &Value| value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string));
    let refuses = |text: &Value| {
        let text = text.as_str().unwrap_or_default().to_lowercase();
        ["not mentioned", "no information", "cannot be answered", "none", "unknown", "don't know"]
            .iter()
            .any(|phrase| text.contains(phrase))
    };
    let f1 = of("f1").filter(|vector| vector["input"]["prediction"].is_string() && is_texts(&vector["input"]["golds"]));
    let mut recall = of("recall").filter(|vector| is_texts(&vector["input"]["evidence"]));
    let (mut qa, mut items, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    for (index, vector) in f1.enumerate() {
        let (answer, golds) = (&vector["input"]["prediction"], &vector["input"]["golds"]);
        let (evidence, stated) = match recall.next() {
            Some(vector) => (vector["input"]["evidence"].clone(), vector["expected"].as_f64().expect("a recall")),
            None => (json!(["D1:1"]), 0.5),
        };
        let overridden = refuses(answer) && golds.as_array().expect("golds").iter().any(refuses);
        let value = if overridden { 1.0 } else { vector["expected"].as_f64().expect("an F1") };
        let question = format!("Question {index}?");
        qa.push(json!({"question": question, "answer": golds, "evidence": evidence, "category": 4}));
        items.push(json!({
            "_global_index": index, "sample_id": "conv-1", "question": question, "gold_answers": golds, "category": "4",
            "evidence": evidence, "retrieval": {"latency_sec": 0.1, "uris": ["viking://resources/a"]},
            "llm": {"final_answer": answer}, "metrics": {"Recall": stated},
            "token_usage": {"total_input_tokens": 10, "llm_output_tokens": 2},
        }));
        expected.push((value, stated));
    }
    let turn = json!({"speaker": "Ann", "text": "hello", "dia_id": "D1:1"});
    let samples = json!([{"sample_id": "conv-1", "conversation": {"session_1": [turn]}, "qa": qa}]);
    let file = json!({"summary": {"dataset": "Locomo", "total_queries": items.len()}, "results": items});
    Some((samples, file, expected))
}

#[test]
fn their_own_answers_scored_again_have_their_own_scores() {
    let Some((samples, file, expected)) = their_file() else { return };
    assert!(expected.len() > 30, "{}", expected.len());
    let experiment = Experiment::new();
    experiment.space.write("datasets/locomo10.json", &samples.to_string());
    experiment.space.write("Output/Locomo/experiment_test_top_2/generated_answers.json", &file.to_string());
    experiment.step("eval").expect(0);
    let details = experiment.file("qa_eval_detailed_results.json");
    let results = details["results"].as_array().expect("results");
    assert_eq!(results.len(), expected.len());
    for (result, (f1, recall)) in results.iter().zip(&expected) {
        let metric = |name: &str| result["metrics"][name].as_f64().unwrap_or_else(|| panic!("{name} of {result}"));
        assert!((metric("F1") - f1).abs() < 1e-9, "{result}: {f1}");
        assert!((metric("Recall") - recall).abs() < 1e-9, "{result}: {recall}");
        assert_eq!(result["token_usage"], json!({"total_input_tokens": 10, "llm_output_tokens": 2}));
    }
    // The report's recall is theirs too: a case without evidence is a 0 there.
    let report = experiment.space.json("Output/Locomo/experiment_test_top_2/ragstage/evaluated/report.json");
    let measures = report["ragstage"]["summary"]["measures"].as_array().expect("measures").clone();
    let mean =
        |name: &str| measures.iter().find(|measure| measure["evaluator"] == name).expect("a measure")["mean"].as_f64();
    let average = expected.iter().map(|(f1, _)| f1).sum::<f64>() / expected.len() as f64;
    assert!((mean("openviking_benchmark_f1").expect("a mean") - average).abs() < 1e-9);
}

/// What is recorded of an adapter of theirs, and the path of its dataset.
fn recorded(adapter: &str) -> Option<(PathBuf, Value)> {
    let folder = golden(&format!("openviking_adapters/{adapter}"))?;
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let path = expected["dataset_path"].as_str().expect("a path");
    Some((if path == "." { folder } else { folder.join(path) }, expected))
}

#[test]
fn what_theirs_made_of_the_datasets_goes_through_all_of_it() {
    for (adapter, dataset) in
        [("locomo", "Locomo"), ("syllabusqa", "SyllabusQA"), ("qasper", "Qasper"), ("financebench", "FinanceBench")]
    {
        let Some((path, expected)) = recorded(adapter) else { return };
        let experiment = Experiment::new();
        let config = experiment.space.read(CONFIG);
        let class = format!("src.adapters.{adapter}_adapter, class_name: {dataset}Adapter");
        let config = config
            .replace("src.adapters.locomo_adapter, class_name: LocomoAdapter", &class)
            .replace("dataset_name: Locomo", &format!("dataset_name: {dataset}"))
            .replace("datasets/locomo10.json", &path.display().to_string())
            .replace("ingest_mode: per_file", "ingest_mode: directory");
        experiment.space.write(CONFIG, &config);
        experiment.step("gen").expect(0);
        let output = format!("Output/{dataset}/experiment_test_top_2");
        let generated = experiment.space.json(&format!("{output}/generated_answers.json"));
        let mut theirs: BTreeMap<u64, Value> = BTreeMap::new();
        for sample in expected["samples"].as_array().expect("samples") {
            for qa in sample["qa"].as_array().expect("questions") {
                let evidence = if qa["evidence"].is_null() { json!([]) } else { qa["evidence"].clone() };
                let item = json!({
                    "sample_id": sample["sample_id"], "question": qa["question"], "gold_answers": qa["gold_answers"],
                    "category": qa["category_as_written"], "evidence": evidence,
                });
                theirs.insert(theirs.len() as u64, item);
            }
        }
        let results = generated["results"].as_array().expect("results");
        let skipped = generated["ragstage"]["skipped"].as_array().expect("skipped");
        assert_eq!(generated["ragstage"]["failures"], json!([]), "{adapter}");
        assert_eq!(results.len() + skipped.len(), theirs.len(), "{adapter}");
        assert!(!results.is_empty(), "{adapter}");
        for result in results {
            let index = result["_global_index"].as_u64().expect("an index");
            for (key, value) in theirs[&index].as_object().expect("an item") {
                assert_eq!(&result[key], value, "{adapter} {index} {key}");
            }
        }
        // What is not asked is of documents that are not there.
        let says = |left_out: &Value| left_out["error"].as_str().is_some_and(|why| why.contains("not on disk"));
        assert!(skipped.iter().all(says), "{skipped:?}");
        let folder = experiment.space.path(&format!("ov_storage/{dataset}_docs"));
        for document in expected["documents"].as_array().expect("documents") {
            let Some(content) = document["content"].as_str() else { continue };
            let name = document["file_name"].as_str().expect("a name");
            let written = std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(written, content, "{adapter} {name}");
        }
        experiment.step("eval").expect(0);
        let details = experiment.space.json(&format!("{output}/qa_eval_detailed_results.json"));
        let prompts = details["results"]
            .as_array()
            .expect("results")
            .iter()
            .map(|result| &result["llm_evaluation"]["prompt_used"]);
        let scale = if adapter == "locomo" { "Locomo_0or4" } else { "Generic_0-4" };
        assert!(prompts.clone().any(|prompt| prompt == scale), "{adapter}");
    }
}

#[test]
fn two_at_once_pay_for_one() {
    let experiment = Experiment::new();
    let start = |events: &str| {
        let mut command = experiment.space.command();
        command.env("OPENVIKING_URL", experiment.viking.url()).env("HOME", experiment.space.path(""));
        let arguments = format!("--quiet --config {CONFIG} --step gen");
        Running::spawn(&experiment.space, command, events, &arguments)
    };
    let both = [start("one.jsonl"), start("other.jsonl")];
    for running in both {
        running.finish().expect(0);
    }
    assert_eq!(asked(&experiment.model), (3, 0));
    assert_eq!(experiment.viking.counts()["add"], 2, "one for each conversation");
    assert_eq!(experiment.file("generated_answers.json")["summary"]["total_queries"], 3);
}

#[test]
fn an_interrupted_step_lands_what_is_on_its_way() {
    let experiment = Experiment::new();
    let config = experiment.space.read(CONFIG).replace("max_workers: 4", "max_workers: 1");
    experiment.space.write(CONFIG, &config);
    experiment.model.rescript(|request| {
        std::thread::sleep(Duration::from_millis(300));
        reply(request)
    });
    let mut command = experiment.space.command();
    command.env("OPENVIKING_URL", experiment.viking.url()).env("HOME", experiment.space.path(""));
    let arguments = format!("--quiet --config {CONFIG} --step all");
    let running = Running::spawn(&experiment.space, command, "interrupted.jsonl", &arguments);
    wait_for_requests(&experiment.model, 1);
    running.signal("INT");
    running.finish().expect(130);
    let landed = asked(&experiment.model).0;
    experiment.model.rescript(reply);
    experiment.step("all").expect(0);
    assert_eq!(landed + asked(&experiment.model).0, 3);
}
