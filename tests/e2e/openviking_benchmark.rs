//! OpenViking's own benchmark by its run configurations: `import openviking`, the steps of `run --config`, and its files.

use serde_json::{Value, json};

use super::model_server::{Act, ModelServer, Request};
use super::openviking_server::OpenViking;
use super::space::{Ran, Space};

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
    let sample = |id: &str, turns: Value, qa: Value| {
        json!({"sample_id": id, "conversation": {"session_1_date_time": "8 May, 2023", "session_1": turns}, "qa": qa})
    };
    let question = |text: &str, answer: Value, id: &str, category: u32| {
        json!({"question": text, "answer": answer, "evidence": [id], "category": category})
    };
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
