//! A real OpenViking server: slices of LoCoMo and SyllabusQA handed over in both ways, asked, answered, scored and removed.
//!
//! Documents are handed over as `vectors_only`, for the chat model would take minutes to write summaries of them. Those of one short
//! document are in the test of the benchmark's own configuration.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::counting_proxy::CountingProxy;
use super::servers;
use super::slices;
use super::space::{Ran, Space};

/// How long the server may take for a document of the test's own.
const PATIENCE: Duration = Duration::from_secs(120);

/// The server itself, past the proxy: what somebody else does with it.
struct Server {
    url: String,
    agent: ureq::Agent,
}

impl Server {
    fn new(url: &str) -> Self {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Server { url: url.to_string(), agent }
    }

    /// Status and JSON of a reply.
    fn told(sent: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> (u16, Value) {
        let mut response = sent.expect("a reply");
        let text = response.body_mut().read_to_string().expect("a text");
        (response.status().as_u16(), serde_json::from_str(&text).expect("JSON"))
    }

    fn get(&self, path: &str) -> (u16, Value) {
        Server::told(self.agent.get(format!("{}{path}", self.url)).call())
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.agent.post(format!("{}{path}", self.url)).header("content-type", "application/json");
        Server::told(request.send(body.to_string()))
    }

    /// Puts a text at `uri`, without summaries.
    fn put(&self, uri: &str, name: &str, text: &str) {
        let form = format!(
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{text}\r\n--b--\r\n"
        );
        let request = self.agent.post(format!("{}/api/v1/resources/temp_upload", self.url));
        let sent = request.header("content-type", "multipart/form-data; boundary=b").send(form);
        let (status, upload) = Server::told(sent);
        assert_eq!(status, 200, "{upload}");
        let body = json!({
            "temp_file_id": upload["result"]["temp_file_id"], "source_name": name, "to": uri, "wait": true,
            "processing_mode": "vectors_only",
        });
        let start = Instant::now();
        loop {
            let (status, added) = self.post("/api/v1/resources", &body);
            if status == 200 {
                assert_eq!(added["result"]["status"], "success", "{added}");
                return;
            }
            assert!(status == 409 && start.elapsed() < PATIENCE, "{status} {added}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// The URIs of files below `uri`; `None` where there is nothing.
    fn files(&self, uri: &str) -> Option<Vec<String>> {
        let (status, listed) = self.get(&format!("/api/v1/fs/ls?uri={}&recursive=true&simple=true", encoded(uri)));
        let uris = listed["result"].as_array().map(|uris| uris.iter().filter_map(Value::as_str));
        match status {
            404 => None,
            _ => Some(uris.expect("a list").filter(|uri| uri.ends_with(".md")).map(str::to_string).collect()),
        }
    }

    fn read(&self, uri: &str) -> (u16, Value) {
        self.get(&format!("/api/v1/content/read?uri={}&offset=0&limit=-1", encoded(uri)))
    }

    /// Removes what is at `uri`, behind the back of whoever put it there.
    fn lose(&self, uri: &str) {
        let path = format!("{}/api/v1/fs?uri={}&recursive=true", self.url, encoded(uri));
        let start = Instant::now();
        loop {
            let (status, removed) = Server::told(self.agent.delete(&path).call());
            if status == 200 {
                return;
            }
            assert!(status == 409 && start.elapsed() < PATIENCE, "{status} {removed}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn encoded(uri: &str) -> String {
    uri.replace(':', "%3A").replace('/', "%2F")
}

/// A slice of a dataset before the real servers.
struct Bench {
    space: Space,
    server: Server,
    viking: CountingProxy,
    model: CountingProxy,
    version: String,
    model_name: String,
    benchmark: String,
}

impl Bench {
    /// `None`, said loudly, where a server is not there.
    fn new(space: Space, benchmark: &str) -> Option<Self> {
        let (url, llm) = (servers::openviking()?, servers::llm()?);
        let server = Server::new(&url);
        let health = server.get("/health").1;
        let version = health["version"].as_str().expect("a version").to_string();
        let (viking, model) = (CountingProxy::before(&url), CountingProxy::before(&llm.base_url));
        Some(Bench { space, server, viking, model, version, model_name: llm.model, benchmark: benchmark.to_string() })
    }

    /// Writes an evaluation of the slice handed over in both ways; `rest` says who answers and what is scored.
    fn evaluation(&self, file: &str, version: &str, rest: &str) {
        let recipe = |name: &str, mode: &str| {
            format!(
                "  - {{name: {name}, system: {{name: {name}, provider: openviking, url: \"{}\", version: \"{version}\", \
                 ingest_mode: {mode}, ingest_workers: 2, processing_mode: vectors_only}}}}\n",
                self.viking.base_url()
            )
        };
        let text = format!(
            "name: slice\nbenchmark: {}\nmodels: [{{name: tiny, model: {}, base_url: \"{}\"}}]\nrecipes:\n{}{}\
             queries: [{{mode: find, name: found, top_k: 3}}]\nstatistics: {{resamples: 10}}\n\
             limits: {{ingest: {{timeout_s: 300}}, llm: {{concurrency: 1, timeout_s: 300}}, judge: {{concurrency: 1, timeout_s: 300}}}}\n{rest}",
            self.benchmark,
            self.model_name,
            self.model.base_url(),
            recipe("folder", "directory"),
            recipe("files", "per_file"),
        );
        self.space.write(file, &text);
    }

    /// How many requests of each kind the server had since the last look.
    fn asked(&self) -> BTreeMap<String, usize> {
        kinds(&self.viking)
    }

    /// Places by system, as they are kept.
    fn places(&self, file: &str) -> BTreeMap<String, Value> {
        let listed = self.space.ragstage(&format!("kb list --format json {file}")).expect(0).json();
        let places = listed["knowledge_bases"].as_array().expect("a list").iter();
        places.map(|kb| (kb["handle"].as_str().expect("a handle").to_string(), kb.clone())).collect()
    }
}

/// How many requests of each kind went through since the last look.
fn kinds(proxy: &CountingProxy) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for path in proxy.drain() {
        let path = path.split('?').next().expect("a path");
        // The last word, but of `tasks/ID` the first.
        let kind = path.rsplit('/').find(|word| !word.contains('-')).expect("a word");
        *asked.entry(kind.to_string()).or_default() += 1;
    }
    asked
}

fn case_results(space: &Space) -> Vec<Value> {
    space.json("reports/slice/report.json")["case_results"].as_array().expect("case results").clone()
}

const ANSWERED: &str = "answer: {provider: openai, llm: tiny, max_tokens: 32, context: {results: 1, result_chars: 500, tokens: 200}}\n\
     evaluators: [openviking_recall, openviking_f1, {judge: openviking, scale: SCALE, model: tiny, max_tokens: 160}]\n";
const FOUND: &str = "answer: none\nevaluators: [openviking_recall]\n";

/// Hands `documents` over in both ways, asks `cases`, has them answered and judged, loses a place, and removes everything.
fn evaluated(bench: &Bench, scale: &str, documents: usize, cases: usize) {
    let foreign = format!("viking://resources/diary-{scale}");
    bench.server.put(&foreign, "today.md", "# Today\n\nNobody met a support group and no lecture was held.\n");
    let foreign_files = bench.server.files(&foreign).expect("what was put there");
    assert_eq!(foreign_files.len(), 1, "{foreign_files:?}");
    // Nothing of an earlier run of the tests, which may have been cut off, is at the places of this one.
    let version = format!("{}+slice-{}", bench.version, std::process::id());
    bench.evaluation("evaluation.yaml", &version, &ANSWERED.replace("SCALE", scale));

    let ran = bench.space.run("");
    // A tiny model may not manage to judge as it is asked to; then that is said, and nothing is made of it.
    assert!([0, 10, 11].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    let failed = ran.of("row_failed");
    for event in &failed {
        assert_eq!((&event["step"], &event["error"]["kind"]), (&json!("score"), &json!("bad_reply")), "{event}");
    }
    let asked = bench.asked();
    assert_eq!((asked["temp_upload"], asked["resources"]), (1 + documents, 1 + documents), "{asked:?}");
    assert_eq!(asked["find"], 2 * (1 + cases), "the look at each place, and the questions: {asked:?}");
    let answers = bench.model.drain().len();
    // An answer and a judgement for each case, once for both ways where they found the same, thrice where a reply does not fit.
    assert!((2 * cases..=8 * cases).contains(&answers), "{answers}");
    expect_scores(bench, &ran, scale, cases);

    // Tokens are the server's.
    let places = bench.places("evaluation.yaml");
    assert_eq!(places.len(), 2, "{places:?}");
    for (handle, kb) in &places {
        assert!(handle.starts_with("viking://resources/ragstage-"), "{handle}");
        let usage = &kb["usage"][0];
        assert_eq!((&usage["model"], &usage["usage"]["source"]), (&json!("openviking embedding"), &json!("server")));
        assert!(usage["usage"]["prompt_tokens"].as_u64().is_some_and(|tokens| tokens > 100), "{kb}");
        assert!(kb.get("usage_unknown").is_none_or(|unknown| *unknown == json!(0)), "{kb}");
    }
    println!("openviking: {scale}: first run {asked:?} of the server, {answers} of the chat model\n{}", ran.stdout);

    // Again: nobody is asked anything.
    let again = bench.space.run("");
    assert_eq!((again.code, bench.asked()), (ran.code, BTreeMap::new()));
    let asked_again = bench.model.drain().len();
    if failed.is_empty() {
        again.expect_nothing();
        assert_eq!(asked_again, 0);
    } else {
        // Only what has no value is asked for again.
        assert_eq!((again.executed().keys().any(|step| step == "retrieve"), again.items("answer").len()), (false, 0));
        assert!(asked_again <= 3 * failed.len(), "{asked_again}: {failed:?}");
    }
    println!("openviking: {scale}: second run 0 of the server, {asked_again} of the chat model, {failed:?}");

    // A place that is gone is seen before it is used again, and made again; the other one is used as it is.
    let lost = places.iter().find(|(_, kb)| kb.to_string().contains("folder")).expect("the folder's place").0;
    bench.server.lose(lost);
    bench.evaluation("more.yaml", &version, &FOUND.replace("answer: none", "answer: none\nname: more"));
    bench.space.edit("more.yaml", "name: slice\n", "");
    bench.space.edit("more.yaml", "top_k: 3", "top_k: 2");
    let ran = bench.space.run("more.yaml").expect(0);
    let stale: Vec<String> = ran.of("action_stale").into_iter().map(|event| event["reasons"].to_string()).collect();
    assert!(stale.iter().any(|why| why.contains("probe_failed")), "{stale:?}");
    assert_eq!(bench.asked()["resources"], 1, "one folder is handed over again");
    assert_eq!(bench.server.files(lost).map(|files| files.len() >= documents), Some(true));

    // Another version is another server: what it knows is another place. One that is not there is refused.
    let other = format!("{}+other-{}", bench.version, std::process::id());
    bench.evaluation("more.yaml", &other, FOUND);
    bench.space.run("more.yaml --until build").expect(0);
    assert_eq!(bench.asked()["resources"], 1 + documents);
    let others = bench.places("more.yaml");
    assert!(
        others.len() >= 2 && others.keys().filter(|handle| !places.contains_key(*handle)).count() == 2,
        "{others:?}"
    );
    bench.evaluation("none.yaml", "0.4.0", FOUND);
    let ran = bench.space.run("none.yaml").expect(20);
    assert!(ran.stderr.contains(&format!("the server is of version \"{}\"", bench.version)), "{}", ran.stderr);
    assert_eq!(bench.asked().keys().collect::<Vec<_>>(), ["health"]);

    // Only what was put there is removed.
    for file in ["evaluation.yaml", "more.yaml"] {
        bench.space.ragstage(&format!("kb delete {file}")).expect(0);
    }
    for handle in places.keys().chain(others.keys()) {
        assert_eq!(bench.server.files(handle), None, "{handle}");
    }
    assert_eq!(bench.server.files(&foreign), Some(foreign_files.clone()));
    let (status, text) = bench.server.read(&foreign_files[0]);
    assert_eq!(status, 200, "{text}");
    assert!(text["result"].as_str().is_some_and(|text| text.contains("no lecture was held")), "{text}");
    bench.server.lose(&foreign);
}

/// Every case found the right document, has an answer and the scores that were asked for.
fn expect_scores(bench: &Bench, ran: &Ran, scale: &str, cases: usize) {
    let mut verdicts = 0;
    let results = case_results(&bench.space);
    assert_eq!(results.len(), 2 * cases, "{}", ran.stdout);
    for case in &results {
        let found = case["response"]["results"].as_array().expect("results");
        assert!(!found.is_empty() && found.iter().all(|result| result["source"]["document_id"].is_string()), "{case}");
        assert!(found.iter().all(|result| result["text"].as_str().is_some_and(|text| !text.is_empty())), "{case}");
        assert!(case["response"]["answer"].as_str().is_some_and(|answer| !answer.is_empty()), "{case}");
        let scored = |name: &str| {
            let mut all = case["scores"].as_array().expect("scores").iter();
            all.find(|score| score["name"] == name)
        };
        // What is asked for is in what was found, whole.
        assert_eq!(scored("openviking_recall").map(|score| &score["value"]), Some(&json!(1.0)), "{}", case["scores"]);
        let f1 = scored("token_f1(normal=openviking)").expect("an F1");
        let number = |value: &Value| value.as_f64().expect("a number");
        let (precision, recall) = (number(&f1["metadata"]["precision"]), number(&f1["metadata"]["recall"]));
        let harmonic = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
        assert!((number(&f1["value"]) - harmonic).abs() < 1e-12, "{f1}");
        if let Some(judged) = scored("openviking") {
            let points = number(&judged["value"]);
            assert!((0.0..=4.0).contains(&points) && (scale != "binary" || points % 4.0 == 0.0), "{judged}");
            assert!(judged["metadata"]["reply"]["text"].as_str().is_some_and(|text| text.starts_with('{')), "{judged}");
            verdicts += 1;
        }
    }
    assert!(verdicts > 0 || ran.code != 0, "{}", ran.stderr);
}

#[test]
fn a_slice_of_locomo_is_evaluated_in_both_ways_and_removed() {
    let space = Space::new();
    let Some(slice) = slices::locomo(&space, 2) else { return };
    let Some(bench) = Bench::new(space, "{adapter: locomo, path: locomo10.json, variant: openviking, scope: corpus}")
    else {
        return;
    };
    evaluated(&bench, "binary", slice.documents, slice.cases);
}

#[test]
fn a_slice_of_syllabusqa_is_evaluated_in_both_ways_and_removed() {
    let space = Space::new();
    let Some(slice) = slices::syllabusqa(&space) else { return };
    let Some(bench) =
        Bench::new(space, "{adapter: syllabusqa, path: course/questions.json, documents: text, variant: openviking}")
    else {
        return;
    };
    evaluated(&bench, "graded", slice.documents, slice.cases);
}

#[test]
fn a_configuration_of_the_benchmark_runs_step_by_step_with_summaries() {
    let space = Space::new();
    let Some(slice) = slices::locomo(&space, 1) else { return };
    let (Some(url), Some(llm)) = (servers::openviking(), servers::llm()) else { return };
    let (viking, model) = (CountingProxy::before(&url), CountingProxy::before(&llm.base_url));
    space.write(
        "config/locomo_config.yaml",
        &format!(
            "dataset_name: Locomo\nadapter: {{module: src.adapters.locomo_adapter, class_name: LocomoAdapter}}\n\
             execution: {{max_workers: 1, ingest_workers: 2, retrieval_topk: 3, ingest_mode: per_file, max_queries: 1}}\n\
             paths: {{dataset_path: locomo10.json, output_dir: Output, doc_output_dir: docs, log_file: Output/benchmark.log}}\n\
             llm: {{model: {}, temperature: 0, base_url: \"{}\", api_key: none}}\n",
            llm.model,
            model.base_url()
        ),
    );
    let step = |step: &str| {
        let mut command = space.command();
        command.env("OPENVIKING_URL", viking.base_url()).env("HOME", space.path(""));
        command.args(["run", "--quiet", "--config", "config/locomo_config.yaml", "--step", step]);
        Ran::of_command(command)
    };
    step("gen").expect(0);
    let asked = kinds(&viking);
    assert_eq!((asked["resources"], asked["find"]), (slice.documents, 2), "{asked:?}");
    let generated = space.json("Output/generated_answers.json");
    let first = &generated["results"][0];
    assert!(first["llm"]["final_answer"].as_str().is_some_and(|answer| !answer.is_empty()), "{first}");
    // Summaries of folders are found beside the text, and have their overview.
    let uris: Vec<&str> =
        first["retrieval"]["uris"].as_array().expect("URIs").iter().filter_map(Value::as_str).collect();
    let texts = first["retrieval"]["texts"].as_array().expect("texts");
    assert!(uris.iter().any(|uri| uri.ends_with("/.overview.md") || uri.ends_with("/.abstract.md")), "{uris:?}");
    assert!(texts.iter().all(|text| text.as_str().is_some_and(|text| !text.trim().is_empty())), "{texts:?}");
    let metrics = space.json("Output/benchmark_metrics_report.json");
    let insertion = &metrics["Insertion Efficiency (Total Dataset)"];
    for tokens in ["Total Input Tokens", "Total Output Tokens", "Total Embedding Tokens"] {
        assert!(insertion[tokens].as_u64().is_some_and(|tokens| tokens > 0), "{tokens}: {insertion}");
    }
    println!("openviking: config: gen {asked:?} of the server, {} of the chat model; {insertion}", model.drain().len());

    // Answered once; the server is asked no more. A tiny judge may reply nonsense, which is no score and fails that step.
    step("gen").expect(0);
    assert_eq!((kinds(&viking).into_keys().filter(|kind| kind != "health").count(), model.drain().len()), (0, 0));
    let ran = step("eval");
    assert!([0, 10, 11].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    assert_eq!(kinds(&viking), BTreeMap::new());
    let details = space.json("Output/qa_eval_detailed_results.json");
    let scores = &details["results"][0]["metrics"];
    assert_eq!(scores["Recall"], 1.0, "{details}");
    assert!(scores["F1"].as_f64().is_some_and(|f1| (0.0..=1.0).contains(&f1)), "{details}");
    println!("openviking: config: eval exit code {}, {scores}", ran.code);

    step("del").expect(0);
    let place = uris[0].split('/').take(4).collect::<Vec<_>>().join("/");
    assert_eq!(Server::new(&url).files(&place), None, "{place}");
}
