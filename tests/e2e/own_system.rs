//! A system under test that takes documents in: handed over once, looked at before it is used again, and asked only what is
//! new. The systems are the ones of `examples/own-system`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::small::{self, UNITS};
use super::space::{Ran, Space};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/own-system").join(name)
}

/// Whether there is a Python to run the examples with; says so where there is none.
fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: there is no python3 to run examples/own-system with");
    }
    found
}

/// The server of the example, whose log of requests is kept.
struct Server {
    child: Child,
    url: String,
    log: PathBuf,
}

impl Server {
    fn start(space: &Space, log: &str) -> Self {
        let log = space.path(log);
        let mut child = Command::new("python3")
            .arg(example("server.py"))
            .arg("0")
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).expect("a log"))
            .spawn()
            .expect("the server starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut url).expect("its url");
        Server { child, url: url.trim().to_string(), log }
    }

    /// The paths of all requests, in order.
    fn asked(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).expect("the log");
        let path = |line: &str| Some(line.split_once("\"POST /")?.1.split_once(' ')?.0.to_string());
        log.lines().filter_map(path).collect()
    }

    /// The paths of the requests since the last call.
    fn since(&self, seen: &mut usize) -> Vec<String> {
        let mut new = self.asked().split_off(*seen);
        *seen += new.len();
        new.sort();
        new
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn urls(url: &str) -> String {
    let urls: Vec<String> = ["query", "ingest", "count", "delete"].map(|op| format!("{op}: '{url}/{op}'")).to_vec();
    format!("{{{}}}", urls.join(", "))
}

/// The harbour in four units, asked of a system; 10 cases.
fn write(space: &Space, system: &str) {
    small::write_units(space);
    space.edit("evaluation.yaml", "    chunk: {size: 12}\n", &format!("    system: {{{system}, version: \"1\"}}\n"));
    space.edit("evaluation.yaml", "mode: full_text_search, name: bm25", "mode: words, name: asked");
    space.edit("evaluation.yaml", "answer: {provider: extractive, sentences: 1, results: 2}\n", "");
}

fn reasons(ran: &Ran, step: &str) -> Vec<String> {
    let stale = ran.of("action_stale").into_iter().filter(|event| event["step"] == step);
    stale.flat_map(|event| event["reasons"].as_array().cloned().unwrap_or_default()).map(|r| r.to_string()).collect()
}

#[test]
fn a_server_is_given_documents_once_and_looked_at_before_it_is_used_again() {
    if !python() {
        return;
    }
    let space = Space::new();
    let server = Server::start(&space, "server.log");
    write(&space, &format!("http: {}", urls(&server.url)));
    let mut seen = 0;

    // Two documents and some cases per unit: four hand-overs, ten questions, nothing to look at.
    let ran = space.run("").expect(0);
    let executed = ran.executed();
    assert_eq!((executed["ingest"], executed["retrieve"]), (4, 4));
    let mut expected = vec!["ingest"; 4];
    expected.extend(vec!["query"; 10]);
    assert_eq!(server.since(&mut seen), expected);
    let report = space.json("reports/small/report.json");
    let first = |case: &str| {
        let results = report["case_results"].as_array().expect("case results");
        let of_case = results.iter().find(|result| result["case_id"] == case).expect("the case");
        of_case["response"]["results"].clone()
    };
    assert_eq!(first("built")[0]["source"]["document_id"], "lighthouse");
    // A unit's knowledge base has the documents of that unit.
    assert_eq!(first("built").as_array().expect("results").len(), 2);

    // A warm run asks nothing, nor does one whose system moved.
    space.run("").expect(0).expect_nothing();
    assert_eq!(server.since(&mut seen), Vec::<String>::new());

    // One case more: one look, one question.
    let case =
        small::case("tar", "Where does tar come from?", "the north", ("shipyard", "Tar comes from the north"), "fact");
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &case));
    space.edit("units.jsonl", "[\"parrot\",\"planks\"]", "[\"parrot\",\"planks\",\"tar\"]");
    let ran = space.run("").expect(0);
    assert_eq!(ran.items("retrieve"), ["tar"]);
    assert_eq!(server.since(&mut seen), ["count", "query"]);

    // Another text: its unit is handed over and asked again.
    space.edit("documents.jsonl", "Entry costs six crowns.", "Entry costs seven crowns.");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed_labels().iter().filter(|label| label.starts_with("ingest ")).count(), 1);
    assert_eq!(ran.items("retrieve"), ["crossing", "entry", "groups"]);
    assert_eq!(server.since(&mut seen), ["ingest", "query", "query", "query"]);

    // The server is wiped, and elsewhere: what is asked of it is put there again first, and only that.
    drop(server);
    let server = Server::start(&space, "again.log");
    let text = space.read("evaluation.yaml");
    let old = text.split("query: '").nth(1).and_then(|rest| rest.split("/query'").next()).expect("the old url");
    space.write("evaluation.yaml", &text.replace(old, &server.url));
    space.run("").expect(0).expect_nothing();
    assert_eq!(server.asked(), Vec::<String>::new());
    let case = small::case("oak", "How long are oak planks steamed?", "an hour", ("shipyard", "for an hour"), "fact");
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &case));
    space.edit("units.jsonl", "\"planks\",\"tar\"]", "\"planks\",\"tar\",\"oak\"]");
    let ran = space.run("").expect(0);
    assert_eq!(server.asked(), ["count", "ingest", "query"]);
    assert_eq!(ran.executed()["ingest"], 1);
    let why = reasons(&ran, "ingest").join(" ");
    assert!(why.contains("probe_failed") && why.contains("there is no"), "{why}");
    let explained = space.ragstage("explain ingest north").expect(0).stdout;
    assert!(explained.contains("the system does not have it any more"), "{explained}");
    space.run("").expect(0).expect_nothing();

    // Another version is handed everything and asked everything.
    space.edit("evaluation.yaml", "version: \"1\"", "version: \"2\"");
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed()["ingest"], ran.items("retrieve").len()), (4, 12));
}

#[test]
fn scoring_hands_nothing_over_and_asks_nothing() {
    if !python() {
        return;
    }
    let space = Space::new();
    let server = Server::start(&space, "server.log");
    write(&space, &format!("http: {}", urls(&server.url)));
    space.score("").expect(3);
    assert_eq!(server.asked(), Vec::<String>::new());
    space.run("").expect(0);
    let asked = server.asked().len();
    space.score("--evaluator token_f1").expect(0);
    space.ragstage("plan evaluation.yaml").expect(0);
    assert_eq!(server.asked().len(), asked);
}

#[test]
fn a_canary_query_looks_where_a_system_does_not_count() {
    if !python() {
        return;
    }
    let space = Space::new();
    let server = Server::start(&space, "server.log");
    let url = &server.url;
    write(&space, &format!("http: {{query: '{url}/query', ingest: '{url}/ingest'}}, ingest_batch: 1"));
    space.run("--until build").expect(0);
    // Each unit has two documents, handed over one by one.
    assert_eq!(server.asked(), ["ingest"; 8]);
    space.run("").expect(0);
    let queries = server.asked().iter().filter(|path| *path == "query").count();
    assert_eq!(queries, 10 + UNITS.len(), "a canary for each unit, then its cases");
}

#[test]
fn a_command_takes_documents_in_too() {
    if !python() {
        return;
    }
    let space = Space::new();
    write(&space, "command: [python3, process.py], operations: [ingest, count, delete], files: [process.py]");
    std::fs::copy(example("process.py"), space.path("process.py")).expect("the example");
    let ran = space.run("").expect(0);
    assert_eq!(ran.executed()["ingest"], 4);
    assert_eq!(space.files("knowledge_bases").len(), 4);
    space.run("").expect(0).expect_nothing();
    // What the process kept is gone: the unit that is asked is put there again.
    std::fs::remove_dir_all(space.path("knowledge_bases")).expect("remove");
    space.edit("cases.jsonl", "When was the lighthouse built?", "In which year was the lighthouse built?");
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed()["ingest"], ran.items("retrieve")), (1, vec!["built".to_string()]));
    assert!(reasons(&ran, "ingest").join(" ").contains("there is no knowledge base"), "{:?}", reasons(&ran, "ingest"));
    assert_eq!(space.files("knowledge_bases").len(), 1);
}

#[test]
fn the_example_as_it_stands() {
    if !python() {
        return;
    }
    let space = Space::new();
    let server = Server::start(&space, "server.log");
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/make/library");
    for entry in std::fs::read_dir(&library).expect("the library") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        space.write(&format!("make/library/{name}"), &std::fs::read_to_string(&path).expect("a text"));
    }
    for name in ["evaluation.yaml", "server.py", "process.py"] {
        space.write(&format!("own-system/{name}"), &std::fs::read_to_string(example(name)).expect("a file"));
    }
    space.edit("own-system/evaluation.yaml", "http://127.0.0.1:8765", &server.url);
    let ran = space.run("own-system/evaluation.yaml").expect(0);
    assert_eq!((ran.executed()["ingest"], ran.executed()["retrieve"]), (2, 2));
}

#[test]
fn an_endpoint_of_another_shape_needs_no_shim() {
    let space = Space::new();
    let url = endpoint(
        200,
        r#"{"data": {"hits": [{"id": 7, "page": "Built in 1871.", "doc": "lighthouse"}]}, "out": "1871"}"#,
    );
    write(
        &space,
        &format!(
            "http: {{query: '{url}', request: {{input: {{text: '{{{{query}}}}', k: '{{{{top_k}}}}'}}}}, \
             response: {{results: /data/hits, text: /page, document_id: /doc, answer: /out}}}}"
        ),
    );
    space.run("").expect(0);
    let report = space.json("reports/small/report.json");
    let result = &report["case_results"][0]["response"]["results"][0];
    assert_eq!((result["id"].as_str(), result["source"]["document_id"].as_str()), (Some("7"), Some("lighthouse")));
    // Where things are read is in the key, where the endpoint is is not.
    space.edit("evaluation.yaml", &url, &endpoint(500, "{}"));
    space.run("").expect(0).expect_nothing();
    space.edit("evaluation.yaml", "document_id: /doc, ", "");
    let planned = space.ragstage("plan evaluation.yaml").expect(0).stdout;
    assert!(planned.contains("mode.system.mapping.response.document_id"), "{planned}");
}

#[test]
fn cases_whose_documents_cannot_be_handed_over_fail() {
    for (status, limits, said) in
        [(401, "", "401"), (500, "limits: {queries: {retries: 0}}\n", "500"), (404, "", "404")]
    {
        let space = Space::new();
        let url = endpoint(status, "{\"detail\": \"no room\"}");
        write(&space, &format!("http: {{query: '{url}/query', ingest: '{url}/ingest'}}"));
        space.write("evaluation.yaml", &(space.read("evaluation.yaml") + limits));
        let ran = space.run("").expect(20);
        assert!(
            ran.stderr.contains("cannot be handed to the system \"fine\"") && ran.stderr.contains(said),
            "{}",
            ran.stderr
        );
        // Nobody is asked about what it does not have.
        let report = space.json("reports/small/report.json");
        let results = report["case_results"].as_array().expect("case results");
        assert_eq!(results.len(), 10);
        for result in results {
            assert_eq!((result["response"].is_null(), &result["error"]["error_type"]), (true, &"upstream".into()));
        }
    }
    let space = Space::new();
    let url = endpoint(200, "{\"handle\": \"\"}");
    write(&space, &format!("http: {{query: '{url}/query', ingest: '{url}/ingest'}}"));
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("handle: expected a text that is not empty"), "{}", ran.stderr);
}

#[test]
fn a_system_that_cannot_be_reached_costs_no_other_recipe_its_numbers() {
    if !python() {
        return;
    }
    let space = Space::new();
    let server = Server::start(&space, "server.log");
    let other = "  - name: other\n    system: {command: [python3, process.py], operations: [ingest, count, delete], version: \"1\"}\n";
    write(&space, &format!("http: {}", urls(&server.url)));
    space.edit("evaluation.yaml", "queries:\n", &format!("{other}queries:\n"));
    std::fs::copy(example("process.py"), space.path("process.py")).expect("the example");
    let limits = "limits: {queries: {retries: 0, breaker: 0}}\n";
    space.write("evaluation.yaml", &(space.read("evaluation.yaml") + limits));
    // Whether all cases of a recipe are scored, as its line of the table says.
    let whole = |stdout: &str, recipe: &str| {
        let line = stdout.lines().find(|line| line.trim_start().starts_with(recipe)).expect(stdout);
        line.contains("100.0 %")
    };
    let url = server.url.clone();
    drop(server);

    // It does not take the documents.
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("cannot be handed to the system \"fine\""), "{}", ran.stderr);
    assert!(whole(&ran.stdout, "other") && !whole(&ran.stdout, "fine"), "{}", ran.stdout);
    assert!(space.read("reports/small/report.md").contains("cannot be handed to the system"));
    // As soon as it is there, only what is missing is done.
    let server = Server::start(&space, "again.log");
    let text = space.read("evaluation.yaml");
    space.write("evaluation.yaml", &text.replace(&url, &server.url));
    let ran = space.run("").expect(0);
    assert_eq!((ran.executed()["ingest"], ran.executed()["retrieve"]), (4, 4));
    assert!(whole(&ran.stdout, "other") && whole(&ran.stdout, "fine"), "{}", ran.stdout);

    // It cannot be looked at: the case that was to be asked fails, what is there is reported.
    drop(server);
    space.edit("cases.jsonl", "When was the lighthouse built?", "In which year was the lighthouse built?");
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("could not be looked at before it is asked"), "{}", ran.stderr);
    assert!(whole(&ran.stdout, "other") && !whole(&ran.stdout, "fine"), "{}", ran.stdout);
    assert_eq!(ran.items("retrieve"), ["built"]);
}

/// An endpoint that says the same thing to everybody.
fn endpoint(status: u16, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let mut length = 0;
            while reader.read_until(b'\n', &mut head).is_ok_and(|read| read > 2) {
                let line = String::from_utf8_lossy(&head).to_lowercase();
                length = line.trim().strip_prefix("content-length: ").and_then(|n| n.parse().ok()).unwrap_or(length);
                head.clear();
            }
            let _ = reader.read_exact(&mut vec![0; length]);
            let head = format!("HTTP/1.1 {status} Said\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn what_was_removed_is_missed_by_nobody_until_something_is_asked() {
    if !python() {
        return;
    }
    let space = Space::new();
    let server = Server::start(&space, "server.log");
    write(&space, &format!("http: {}", urls(&server.url)));
    space.run("").expect(0);
    space.ragstage("kb delete evaluation.yaml").expect(0);
    let old = server.url.clone();
    drop(server);
    // Nothing to ask, so nothing to hand over, and nobody to be there.
    let planned = space.ragstage("plan --check evaluation.yaml").expect(0).stdout;
    assert!(planned.contains("Nothing to do") && planned.contains("Calls to come: none"), "{planned}");
    space.run("").expect(0).expect_nothing();

    let server = Server::start(&space, "again.log");
    let text = space.read("evaluation.yaml");
    space.write("evaluation.yaml", &text.replace(&old, &server.url));
    let case = small::case("oak", "How long are oak planks steamed?", "an hour", ("shipyard", "for an hour"), "fact");
    space.write("cases.jsonl", &(space.read("cases.jsonl") + &case));
    space.edit("units.jsonl", "[\"parrot\",\"planks\"]", "[\"parrot\",\"planks\",\"oak\"]");
    // That it is gone is known without a look: the plan has both calls.
    let planned = space.ragstage("plan evaluation.yaml").expect(0).stdout;
    assert!(planned.contains("removed by `kb delete`") && !planned.contains("look"), "{planned}");
    let totals = space.ragstage("plan --format json evaluation.yaml").expect(0).json()["totals"].clone();
    assert_eq!((totals["calls"].as_u64(), totals["looks"].as_u64()), (Some(2), Some(0)));
    let ran = space.run("").expect(0);
    assert_eq!(server.asked(), ["ingest", "query"]);
    assert_eq!((ran.executed()["ingest"], ran.items("retrieve")), (1, vec!["oak".to_string()]));
    let why = reasons(&ran, "ingest").join(" ");
    assert!(why.contains("probe_failed") && why.contains("removed by `kb delete`"), "{why}");
    let line = ran.stderr.lines().find(|line| line.contains("handed over again"));
    assert!(line.is_some_and(|line| line.starts_with("ingest ") && line.contains("`kb delete`")), "{}", ran.stderr);
    // It was there, and then it ran: that is one action, not two.
    let counted = ran.stderr.lines().find(|line| line.starts_with("ingest   ")).expect("a count");
    assert!(counted.contains("1 ran, 3 fresh"), "{counted}");
    let listed = space.ragstage("kb list --format json evaluation.yaml").expect(0).json();
    assert_eq!(listed["knowledge_bases"].as_array().map(Vec::len), Some(1), "{listed}");
    space.run("").expect(0).expect_nothing();
    // Its documents may be gone, for all that the plan knows.
    space.edit("cases.jsonl", "How long are oak planks steamed?", "How long does one steam oak planks?");
    let planned = space.ragstage("plan evaluation.yaml").expect(0).stdout;
    assert!(planned.contains("at most 1 of systems under test, besides 1 look whether"), "{planned}");
}

#[test]
fn what_was_put_there_can_be_listed_and_removed() {
    if !python() {
        return;
    }
    let space = Space::new();
    let server = Server::start(&space, "server.log");
    write(&space, &format!("http: {}", urls(&server.url)));
    assert_eq!(
        space.ragstage("kb list --format json evaluation.yaml").expect(0).json()["knowledge_bases"],
        serde_json::json!([])
    );
    space.run("").expect(0);
    space.edit("documents.jsonl", "Entry costs six crowns.", "Entry costs seven crowns.");
    space.run("").expect(0);
    let listed = space.ragstage("kb list --format json evaluation.yaml").expect(0).json();
    let listed = listed["knowledge_bases"].as_array().expect("a list").clone();
    // The four of now, and the one that the changed document made of no use.
    assert_eq!(listed.len(), 5);
    assert_eq!(listed.iter().filter(|kb| kb["current"] == true).count(), 4);
    assert!(
        listed
            .iter()
            .all(|kb| kb["documents"] == 2 && kb["handle"].as_str().is_some_and(|h| h.starts_with("ragstage-")))
    );
    // A system that cannot delete says so.
    let delete = format!(", delete: '{}/delete'", server.url);
    space.edit("evaluation.yaml", &delete, "");
    let refused = space.ragstage("kb delete evaluation.yaml").expect(3);
    assert!(refused.stderr.contains("has no way to delete"), "{}", refused.stderr);
    space.edit("evaluation.yaml", "/count'", &format!("/count'{delete}"));
    let asked = server.asked().len();
    let deleted = space.ragstage("kb delete evaluation.yaml").expect(0).stdout;
    assert!(deleted.contains("5 removed"), "{deleted}");
    assert_eq!(server.asked()[asked..], ["delete"; 5]);
    assert_eq!(
        space.ragstage("kb list --format json evaluation.yaml").expect(0).json()["knowledge_bases"],
        serde_json::json!([])
    );
    let asked = server.asked().len();
    let again = space.ragstage("kb delete evaluation.yaml").expect(0).stdout;
    assert!(again.contains("nothing to remove"), "{again}");
    assert_eq!(server.asked().len(), asked);
    // The responses are still there, and so is what the document was before: neither needs the system.
    space.run("").expect(0).expect_nothing();
    space.edit("documents.jsonl", "Entry costs seven crowns.", "Entry costs six crowns.");
    let ran = space.run("").expect(0);
    assert!(!ran.executed().contains_key("ingest") && !ran.executed().contains_key("retrieve"), "{:?}", ran.executed());
    assert_eq!(server.asked().len(), asked);
}
