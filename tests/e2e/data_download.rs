//! "Datasets are downloaded by name, checked, continued where they were cut, and never mixed with what was there."

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::file_server::{FileServer, Manner, ORDERLY};
use super::space::{Ran, Space};

fn corpus() -> Vec<u8> {
    let article = |i| format!(r#"{{"title": "Ferry {i}", "body": "It leaves at {i}.", "url": "u{i}"}}"#);
    format!("[{}]", (0..50).map(article).collect::<Vec<_>>().join(",\n")).into_bytes()
}

fn queries() -> Vec<u8> {
    br#"[{"query": "When does ferry 7 leave?", "answer": "7", "question_type": "inference_query", "evidence_list": []}]"#
        .to_vec()
}

/// The files of a dataset that nothing pins.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![("corpus.json", corpus()), ("MultiHopRAG.json", queries())]
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The command, with no proxy of this machine.
fn command(space: &Space, arguments: &[&str]) -> Command {
    let mut command = space.command();
    for variable in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(variable).env_remove(variable.to_lowercase());
    }
    command.arg("data").args(arguments);
    command
}

fn data(space: &Space, arguments: &[&str]) -> Ran {
    Ran::of_command(command(space, arguments))
}

fn download(space: &Space, server: &FileServer) -> Ran {
    data(space, &["download", "multihop_rag", "--mirror", &server.url()])
}

/// What is below `data`, but for locks.
fn there(space: &Space) -> Vec<String> {
    let is_lock = |name: &String| name.ends_with(".lock") && name.starts_with('.') || name.ends_with(".guard");
    space.files("data").into_keys().filter(|name| !is_lock(name)).collect()
}

const WHOLE: [&str; 3] = ["multihop_rag/MultiHopRAG.json", "multihop_rag/corpus.json", "ragstage-data.lock"];

/// The sums that the lock file records.
fn locked(space: &Space) -> Vec<String> {
    let lock = space.json("data/ragstage-data.lock");
    assert_eq!(lock["format"], "ragstage.data.lock.v1");
    let files = lock["files"].as_array().expect("files");
    let urls: Vec<&str> = files.iter().map(|file| file["url"].as_str().expect("a url")).collect();
    assert!(urls.is_sorted() && urls.iter().all(|url| url.starts_with("http")), "{urls:?}");
    files.iter().map(|file| file["sha256"].as_str().expect("a sum").to_string()).collect()
}

#[test]
fn files_are_fetched_and_recorded() {
    let space = Space::new();
    let server = FileServer::new(&files(), ORDERLY);
    let ran = download(&space, &server).expect(0);
    assert_eq!(server.asked(), ["corpus.json", "MultiHopRAG.json"]);
    assert_eq!(there(&space), WHOLE);
    assert_eq!(space.files("data")["multihop_rag/corpus.json"], corpus());
    let mut sums: Vec<&str> = ran.stdout.lines().filter_map(|line| line.split("  ").next()).collect();
    sums.sort_unstable();
    let mut expected = [sum(&corpus()), sum(&queries())];
    expected.sort_unstable();
    assert_eq!(sums, expected);
    let mut recorded = locked(&space);
    recorded.sort_unstable();
    assert_eq!(recorded, expected);
    assert!(ran.stderr.contains(&format!("corpus.json, {} bytes", corpus().len())), "{}", ran.stderr);
    // Nothing is asked when it is there.
    let lock = space.read("data/ragstage-data.lock");
    let again = download(&space, &server).expect(0);
    assert!(again.stderr.contains("multihop_rag is in data/multihop_rag already"), "{}", again.stderr);
    assert_eq!((server.asked(), again.stdout), (Vec::<String>::new(), ran.stdout));
    assert_eq!(space.read("data/ragstage-data.lock"), lock);
}

#[test]
fn a_folder_of_this_machine_is_a_mirror() {
    let space = Space::new();
    for (name, bytes) in files() {
        space.write(&format!("mine/{name}"), &String::from_utf8(bytes).expect("text"));
    }
    data(&space, &["download", "multihop_rag", "--mirror", "mine", "--to", "elsewhere/here"]).expect(0);
    assert_eq!(space.files("elsewhere/here").keys().collect::<Vec<_>>(), ["MultiHopRAG.json", "corpus.json"]);
    assert!(space.path("elsewhere/ragstage-data.lock").exists());
    let ran = data(&space, &["download", "multihop_rag", "--mirror", "nowhere"]).expect(3);
    assert!(ran.stderr.contains("cannot copy nowhere/corpus.json: it does not exist"), "{}", ran.stderr);
    assert_eq!(there(&space), Vec::<String>::new());
}

#[test]
fn a_cut_download_continues() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { cuts: 1, ..ORDERLY });
    let ran = download(&space, &server).expect(0);
    let half = corpus().len() / 2;
    assert!(ran.stderr.contains("trying again"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("continued after {half}")), "{}", ran.stderr);
    assert_eq!(server.asked(), ["corpus.json", &format!("corpus.json bytes={half}-"), "MultiHopRAG.json"]);
    assert_eq!(space.files("data")["multihop_rag/corpus.json"], corpus());
    assert_eq!(there(&space), WHOLE);
}

/// Starts a download whose server holds back the second half, and waits until the first half is on disk.
fn held(space: &Space, server: &FileServer) -> std::process::Child {
    let arguments = ["download", "multihop_rag", "--mirror", &server.url()];
    let mut started = command(space, &arguments);
    let mut child = started.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let part = space.path("data/.multihop_rag.part/files/corpus.json.part");
    while std::fs::metadata(&part).map_or(0, |found| found.len()) < (corpus().len() / 2) as u64 {
        assert!(child.try_wait().expect("its state").is_none(), "it ended early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[test]
fn what_a_kill_left_is_continued() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { holds: true, ..ORDERLY });
    let mut child = held(&space, &server);
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert!(!space.path("data/multihop_rag").exists() && !space.path("data/ragstage-data.lock").exists());
    server.behave(ORDERLY);
    server.asked();
    download(&space, &server).expect(0);
    assert_eq!(server.asked().first(), Some(&format!("corpus.json bytes={}-", corpus().len() / 2)));
    assert_eq!(space.files("data")["multihop_rag/corpus.json"], corpus());
    assert_eq!(there(&space), WHOLE);
}

#[test]
fn two_downloads_at_once_are_one() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { holds: true, ..ORDERLY });
    let mut first = held(&space, &server);
    let arguments = ["download", "multihop_rag", "--mirror", &server.url()];
    let mut started = command(&space, &arguments);
    let mut second = started.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(second.stderr.take().expect("its stderr")).lines();
    let waiting = lines.next().expect("a line").expect("text");
    assert_eq!(waiting, "waiting for another ragstage that fetches the same dataset");
    server.behave(ORDERLY);
    assert!(first.wait().expect("it ends").success());
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert!(second.wait().expect("it ends").success(), "{rest:?}");
    assert_eq!(rest, ["multihop_rag is in data/multihop_rag already"]);
    assert_eq!(server.asked(), ["corpus.json", "MultiHopRAG.json"]);
    assert_eq!(there(&space), WHOLE);
}

#[test]
fn a_file_that_changed_since_is_not_taken_unnoticed() {
    let space = Space::new();
    download(&space, &FileServer::new(&files(), ORDERLY)).expect(0);
    let other = FileServer::new(&[("corpus.json", b"[]".to_vec()), ("MultiHopRAG.json", queries())], ORDERLY);
    std::fs::remove_dir_all(space.path("data/multihop_rag")).expect("deleted");
    let before = space.read("data/ragstage-data.lock");
    let ran = download(&space, &other).expect(3);
    assert!(ran.stderr.contains("it changed since data/ragstage-data.lock recorded it"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&sum(&corpus())) && ran.stderr.contains(&sum(b"[]")), "{}", ran.stderr);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    assert!(!space.path("data/multihop_rag").exists());
    assert_eq!(space.read("data/ragstage-data.lock"), before);
    data(&space, &["download", "multihop_rag", "--force", "--mirror", &other.url()]).expect(0);
    assert_eq!(space.read("data/multihop_rag/corpus.json"), "[]");
    assert!(locked(&space).contains(&sum(b"[]")) && !locked(&space).contains(&sum(&corpus())));
    // What did not change keeps its date.
    let date = |lock: &str| -> String {
        let lock: Value = serde_json::from_str(lock).expect("JSON");
        let files = lock["files"].as_array().expect("files");
        let file = files.iter().find(|file| file["sha256"] == sum(&queries())).expect("the queries");
        file["date"].as_str().expect("a date").to_string()
    };
    assert_eq!(date(&space.read("data/ragstage-data.lock")), date(&before));
}

#[test]
fn a_folder_of_other_origin_is_left_alone() {
    let space = Space::new();
    space.write("data/multihop_rag/notes.txt", "mine");
    let server = FileServer::new(&files(), ORDERLY);
    let ran = download(&space, &server).expect(3);
    assert!(ran.stderr.contains("no earlier download of this dataset is recorded"), "{}", ran.stderr);
    assert_eq!((space.read("data/multihop_rag/notes.txt"), server.asked()), ("mine".to_string(), Vec::new()));
    data(&space, &["download", "multihop_rag", "--force", "--mirror", &server.url()]).expect(0);
    assert_eq!(there(&space), WHOLE);
}

#[test]
fn refusals_are_told_or_waited_for() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { status: Some(429), refusals: 1, retry_after: Some(1), ..ORDERLY });
    let ran = download(&space, &server).expect(0);
    let told = "the server replied with status 429 and asks to wait 1 s; trying again in 1 s";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let space = Space::new();
    server.behave(Manner { status: Some(503), refusals: 2, ..ORDERLY });
    let ran = download(&space, &server).expect(0);
    assert_eq!(ran.stderr.matches("status 503; trying again").count(), 2, "{}", ran.stderr);
    let space = Space::new();
    server.asked();
    server.behave(Manner { status: Some(503), retry_after: Some(7200), ..ORDERLY });
    let ran = download(&space, &server).expect(20);
    assert!(ran.stderr.contains("status 503 and asks to wait 7200 s\n"), "{}", ran.stderr);
    assert_eq!(server.asked(), ["corpus.json"], "nobody waits for two hours");
    server.behave(Manner { status: Some(404), ..ORDERLY });
    let ran = download(&space, &server).expect(3);
    let url = server.url();
    assert!(ran.stderr.contains(&format!("cannot download {url}/corpus.json: it does not exist")), "{}", ran.stderr);
    assert!(ran.stderr.contains("--mirror"), "{}", ran.stderr);
    assert_eq!(server.asked(), ["corpus.json"]);
    assert_eq!(there(&space), Vec::<String>::new());
}

#[test]
fn a_server_that_promises_more_than_it_has_is_given_up() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { lie: 10, ..ORDERLY });
    let ran = download(&space, &server).expect(20);
    let (have, size) = (corpus().len(), corpus().len() + 10);
    assert!(ran.stderr.contains("trying again"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the same command continues"), "{}", ran.stderr);
    assert!(!space.path("data/multihop_rag").exists(), "{have} of {size}");
    server.behave(ORDERLY);
    download(&space, &server).expect(0);
    assert_eq!(space.files("data")["multihop_rag/corpus.json"], corpus());
}

fn tar_gz(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, *bytes).expect("an entry");
    }
    tar.into_inner().expect("a tar").finish().expect("a gzip")
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a file");
        zip.write_all(bytes).expect("content");
    }
    zip.finish().expect("a zip").into_inner()
}

const CRANFIELD: [(&str, &[u8]); 3] =
    [("cran.all.1400", b".I 1\n.W\nwings\n"), ("cran.qry", b".I 001\n.W\nwings?\n"), ("cranqrel", b"1 1 2\n")];

#[test]
fn archives_are_unpacked() {
    let space = Space::new();
    let server = FileServer::new(&[("cran.tar.gz", tar_gz(&CRANFIELD))], ORDERLY);
    data(&space, &["download", "cranfield", "--mirror", &format!("{}/cran.tar.gz", server.url())]).expect(0);
    let names: Vec<String> = space.files("data/cranfield").into_keys().collect();
    assert_eq!(names, ["cran.all.1400", "cran.qry", "cranqrel"]);
    let archive = zipped(&[
        ("scifact/corpus.jsonl", b"{}\n"),
        ("scifact/queries.jsonl", b"{}\n"),
        ("scifact/qrels/test.tsv", b"q\td\t1\n"),
    ]);
    std::fs::write(space.path("mine.zip"), archive).expect("write");
    data(&space, &["download", "beir_scifact", "--mirror", "mine.zip"]).expect(0);
    let names: Vec<String> = space.files("data/beir/scifact").into_keys().collect();
    assert_eq!(names, ["corpus.jsonl", "qrels/test.tsv", "queries.jsonl"]);
}

/// Downloads `archive` as Cranfield, which must be refused, and then the right one.
fn refused(archive: Vec<u8>, manner: Manner) -> String {
    let space = Space::new();
    let download = |server: &FileServer| data(&space, &["download", "cranfield", "--mirror", &server.url()]);
    let ran = download(&FileServer::new(&[("cran.tar.gz", archive)], manner)).expect(3);
    assert_eq!(there(&space), Vec::<String>::new(), "nothing is in place, nor kept");
    assert_eq!(space.files("").keys().filter(|name| !name.starts_with("data/")).count(), 0, "nor elsewhere");
    download(&FileServer::new(&[("cran.tar.gz", tar_gz(&CRANFIELD))], ORDERLY)).expect(0);
    ran.stderr
}

#[test]
fn harmful_and_damaged_archives_are_refused() {
    let harmful = |name| tar_gz(&[CRANFIELD[0], (name, b"x")]);
    let told = refused(harmful("../../escaped"), ORDERLY);
    assert!(told.contains("its entry \"../../escaped\" leaves the folder"), "{told}");
    let told = refused(harmful("/escaped"), ORDERLY);
    assert!(told.contains("its entry \"/escaped\" has no relative path"), "{told}");
    let zeros = vec![0; 40 << 20];
    let told = refused(tar_gz(&[("zeros", &zeros)]), ORDERLY);
    assert!(told.contains("as no dataset does"), "{told}");
    let told = refused(tar_gz(&CRANFIELD[..2]), ORDERLY);
    assert!(told.contains("expected `cranqrel` in what was downloaded, found none"), "{told}");
    let noise: Vec<u8> = (0..50_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let large = tar_gz(&[CRANFIELD[0], CRANFIELD[1], CRANFIELD[2], ("noise", &noise)]);
    let told = refused(large, Manner { lie: -5_000, ..ORDERLY });
    assert!(told.contains("it is damaged at its entry \"noise\""), "{told}");
}

#[test]
fn pinned_files_are_the_pinned_ones() {
    let space = Space::new();
    let server = FileServer::new(&[("locomo10.json", b"[]".to_vec())], ORDERLY);
    let ran = data(&space, &["download", "locomo", "--mirror", &server.url()]).expect(3);
    assert!(ran.stderr.contains("expected the file with SHA-256 79fa87e9"), "{}", ran.stderr);
    assert!(ran.stderr.contains("was not kept"), "{}", ran.stderr);
    // Not even by force: the numbers of this version are of that file.
    data(&space, &["download", "locomo", "--force", "--mirror", &server.url()]).expect(3);
    assert_eq!(there(&space), Vec::<String>::new());
    let Some(real) = real("locomo/locomo10.json") else { return };
    let bytes = std::fs::read(real).expect("read");
    let server = FileServer::new(&[("locomo10.json", bytes.clone())], Manner { cuts: 2, ..ORDERLY });
    data(&space, &["download", "locomo", "--mirror", &server.url()]).expect(0);
    assert!(space.files("data")["locomo/locomo10.json"] == bytes);
    assert_eq!(server.asked().len(), 3);
}

/// A file of the real datasets; `None`, said loudly, where it is absent.
pub fn real(below: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let path = std::env::var_os("RAGSTAGE_DATA").map_or_else(beside, PathBuf::from).join(below);
    if !path.exists() {
        let _ = writeln!(std::io::stderr(), "e2e: SKIPPED: {} is absent; set RAGSTAGE_DATA", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn proxies_are_honoured() {
    let space = Space::new();
    let proxy = FileServer::new(&files(), ORDERLY);
    let arguments = ["download", "multihop_rag", "--mirror", "http://datasets.invalid/base"];
    let mut through = command(&space, &arguments);
    through.env("HTTP_PROXY", proxy.root());
    Ran::of_command(through).expect(0);
    let asked = proxy.asked();
    assert!(asked[0].contains("datasets.invalid"), "{asked:?}");
    assert!(asked.contains(&"corpus.json".to_string()), "{asked:?}");
    assert_eq!(there(&space), WHOLE);
    // Past the proxy, where it is told to.
    let space = Space::new();
    let server = FileServer::new(&files(), ORDERLY);
    let mut past = command(&space, &["download", "multihop_rag", "--mirror", &server.url()]);
    past.env("HTTP_PROXY", proxy.root()).env("NO_PROXY", "127.0.0.1");
    Ran::of_command(past).expect(0);
    assert_eq!((server.asked().len(), proxy.asked().len()), (2, 0));
}

#[test]
fn every_dataset_says_what_it_is() {
    let space = Space::new();
    let listed = data(&space, &["list", "--format", "json"]).expect(0).json();
    let names: Vec<String> = listed["datasets"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|dataset| dataset["name"].as_str().expect("a name").to_string())
        .collect();
    assert!(names.is_sorted() && ["locomo", "qasper", "uda_fin"].iter().all(|name| names.contains(&name.to_string())));
    let text = data(&space, &["list"]).expect(0).stdout;
    for name in &names {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
        let info = data(&space, &["info", name]).expect(0).stdout;
        assert!(info.contains("\ndownload\n"), "{info}");
        let json = data(&space, &["info", name, "--format", "json"]).expect(0).json();
        assert_eq!(json["name"], name.as_str());
        let urls = json["source"]["files"].as_array().into_iter().flatten().filter_map(|file| file["url"].as_str());
        for url in urls {
            assert!(info.contains(url), "{info}");
        }
    }
    let ran = data(&space, &["info", "lokomo"]).expect(3);
    assert!(ran.stderr.contains("did you mean `locomo`?"), "{}", ran.stderr);
    let ran = data(&space, &["download", "wikipedia"]).expect(3);
    assert!(ran.stderr.contains("ragstage data list"), "{}", ran.stderr);
    for command in ["list", "info", "download", "sample", "prepare"] {
        assert!(
            data(&space, &[command, "--help"]).expect(0).stdout.contains("Example:\n  ragstage data "),
            "{command}"
        );
    }
    let script = Ran::of_command({
        let mut command = space.command();
        command.args(["completions", "bash"]);
        command
    });
    assert!(script.expect(0).stdout.contains("ragstage__subcmd__data__subcmd__download"));
}
