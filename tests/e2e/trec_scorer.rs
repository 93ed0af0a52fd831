//! `ragstage score --qrels --run` is trec_eval's job in one line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::space::{Ran, Space};

const TOLERANCE: f64 = 1e-9;

fn golden() -> Option<PathBuf> {
    let root = match std::env::var_os("RAGSTAGE_GOLDEN") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden"),
    };
    let root = root.join("ir_metrics");
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("SKIPPED trec_scorer: there is no {}", root.display());
    None
}

/// Our name of one of trec_eval's measures.
fn text_of(name: &str, level: i64) -> Option<String> {
    let (stem, cutoff) = match name.rsplit_once('_').and_then(|(stem, k)| Some((stem, k.parse::<u32>().ok()?))) {
        Some((stem, k)) => (stem, format!("@{k}")),
        None => (name, String::new()),
    };
    let (ours, graded) = match stem {
        "ndcg" | "ndcg_cut" => ("nDCG", false),
        "map" | "map_cut" => ("AP", true),
        "recip_rank" | "recip_rank_cut" => ("RR", true),
        "P" => ("P", true),
        "recall" => ("R", true),
        "success" => ("Success", true),
        "Rprec" => ("Rprec", true),
        "bpref" => ("bpref", true),
        "set_P" => ("SetP", true),
        "set_recall" => ("SetR", true),
        "set_F" => ("SetF1", true),
        _ => return None,
    };
    // The canonical text: a level of 1 is not written.
    let level = if graded && level > 1 { format!("(rel={level})") } else { String::new() };
    Some(format!("{ours}{level}{cutoff}"))
}

fn close(ours: &Value, theirs: &Value) -> bool {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(ours), Some(theirs)) => (ours - theirs).abs() <= TOLERANCE,
        _ => ours.is_null() && theirs.is_null(),
    }
}

fn score(space: &Space, folder: &Path, run: &Path, measures: &BTreeSet<String>, missing: &str) -> Ran {
    let mut command = space.command();
    command.arg("score").arg("--qrels").arg(folder.join("qrels.txt")).arg("--run").arg(run);
    command.args(["--format", "json", "--per-query", "--missing", missing]);
    for measure in measures {
        command.args(["--measure", measure]);
    }
    Ran::from(command.output().expect("the command starts"))
}

#[test]
fn every_value_is_trec_evals() {
    let Some(root) = golden() else { return };
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root).expect("folders").map(|entry| entry.expect("entry").path()).collect();
    folders.retain(|folder| folder.join("expected.json").is_file());
    folders.sort();
    assert_eq!(folders.len(), 14);
    let space = Space::new();
    let mut compared = 0;
    for folder in folders {
        let set = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let expected: Value =
            serde_json::from_str(&fs::read_to_string(folder.join("expected.json")).expect("read")).expect("JSON");
        let run = folder.join("run.txt");
        if expected["expect"] == "error" {
            let ran = score(&space, &folder, &run, &BTreeSet::from(["AP".to_string()]), "zero");
            assert_eq!(ran.code, 3, "{set}");
            assert!(ran.stderr.contains("run.txt:3: duplicate") && ran.stderr.contains("line 1"), "{}", ran.stderr);
            assert!(ran.stdout.is_empty());
            continue;
        }
        let level = expected["relevance_level"].as_i64().unwrap_or(1);
        let names: Vec<(String, String)> = expected["mean_over_all_judged"]
            .as_object()
            .expect("means")
            .keys()
            .filter_map(|name| Some((name.clone(), text_of(name, level)?)))
            .collect();
        assert!(names.len() > 20, "{set}");
        let measures: BTreeSet<String> = names.iter().map(|(_, ours)| ours.clone()).collect();
        // The same from text, from our table of it, and from several threads.
        let table = space.path(&format!("{set}.parquet"));
        let mut convert = space.command();
        convert.arg("score").arg("--run").arg(&run).arg("--to-parquet").arg(&table);
        assert_eq!(Ran::from(convert.output().expect("the command starts")).code, 0, "{set}");
        let mut first: Option<Value> = None;
        for run in [&run, &table] {
            for (missing, means) in [("skip", "mean_over_evaluated"), ("zero", "mean_over_all_judged")] {
                let ran = score(&space, &folder, run, &measures, missing);
                let scores: Value = serde_json::from_str(&ran.stdout).expect("JSON");
                assert_eq!(scores["format"], "ragstage.score.runs.v1");
                let scores = &scores["runs"][0];
                let nothing = missing == "skip" && set == "07_empty_run";
                assert_eq!(scores["evaluated_queries"] == 0, set == "07_empty_run", "{set}");
                assert_eq!(ran.code, if nothing { 11 } else { 0 }, "{set}: {}", ran.stderr);
                assert_eq!(ran.stderr.contains("nothing was scored"), nothing, "{set}: {}", ran.stderr);
                for (theirs, ours) in &names {
                    let (mean, known) = (&scores["means"][ours], &expected[means][theirs]);
                    assert!(close(mean, known), "{set} {means} {ours}: {mean}, trec_eval has {known}");
                    for (query, values) in expected["per_query"].as_object().expect("queries") {
                        let (value, known) = (&scores["per_query"][query][ours], &values[theirs]);
                        assert!(close(value, known), "{set} {query} {ours}: {value}, trec_eval has {known}");
                        compared += 1;
                    }
                }
                let missed = expected["judged_but_not_run"].as_array().map_or(0, Vec::len);
                assert_eq!(scores["missing_queries"], missed);
                assert_eq!(ran.stderr.contains("not in"), missed > 0, "{set}: {}", ran.stderr);
                assert_eq!(ran.stderr.contains("has no rows"), set == "07_empty_run", "{}", ran.stderr);
                if missing == "zero" {
                    let means = first.get_or_insert(scores["means"].clone());
                    assert_eq!(*means, scores["means"], "{set}");
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// Three queries of 40 documents; the first, third, ... document of each is relevant.
fn space_with_runs() -> Space {
    let space = Space::new();
    let (mut qrels, mut run, mut scattered) = (String::new(), String::new(), vec![String::new(); 40]);
    for query in 1..=3 {
        for (document, lines) in scattered.iter_mut().enumerate() {
            qrels += &format!("q{query} 0 d{document} {}\n", (document + 1) % 2);
            let line = format!("q{query} Q0 d{document} 0 {} tag\n", (document * 7 * query) % 11);
            run += &line;
            *lines += &line;
        }
    }
    space.write("qrels.txt", &qrels);
    space.write("run.trec", &run);
    space.write("scattered.trec", &scattered.concat());
    space
}

fn means(ran: &Ran) -> Value {
    let mut scores: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    scores["runs"][0]["means"].take()
}

#[test]
fn a_run_may_be_scattered_zipped_or_piped() {
    let space = space_with_runs();
    let whole = space.ragstage("score --qrels qrels.txt --run run.trec --format json");
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert_eq!(whole.stderr, "");
    let expected = means(&whole);
    assert!(expected["AP"].as_f64().is_some_and(|value| value > 0.3 && value < 1.0), "{expected}");
    let scattered = space.ragstage("score --qrels qrels.txt --run scattered.trec --format json --jobs 2");
    assert_eq!(means(&scattered), expected);
    let zip = std::process::Command::new("gzip").args(["-k"]).arg(space.path("scattered.trec")).status();
    if zip.is_ok_and(|status| status.success()) {
        assert_eq!(means(&space.ragstage("score --qrels qrels.txt --run scattered.trec.gz --format json")), expected);
    }
    let mut piped = space.command();
    piped.args(["score", "--qrels", "qrels.txt", "--run", "/dev/stdin", "--format", "json"]);
    piped.stdin(fs::File::open(space.path("run.trec")).expect("the run"));
    if cfg!(unix) {
        assert_eq!(means(&Ran::from(piped.output().expect("the command starts"))), expected);
    }
    let two = space.ragstage("score --qrels qrels.txt --run run.trec --run scattered.trec --measure P@5 --per-query");
    assert_eq!(two.code, 0);
    let last = two.stdout.lines().rev().nth(1).expect("a row");
    let cells: Vec<&str> = last.split_whitespace().collect();
    assert!(cells.len() == 3 && cells[0] == "P@5" && cells[1] == cells[2], "{}", two.stdout);
}

#[test]
fn beir_judgements_are_read_by_their_header() {
    let space = space_with_runs();
    let beir: String = space
        .read("qrels.txt")
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .map(|cells| format!("{}\t{}\t{}\n", cells[0], cells[2], cells[3]))
        .collect();
    space.write("test.tsv", &format!("query-id\tcorpus-id\tscore\n{beir}"));
    let trec = space.ragstage("score --qrels qrels.txt --run run.trec --format json");
    let beir = space.ragstage("score --qrels test.tsv --run run.trec --format json");
    assert_eq!(means(&trec), means(&beir));
}

#[test]
fn every_fault_is_told_with_its_line_and_column() {
    let space = space_with_runs();
    space.write("bad.trec", "q1 Q0 a 1 2.0\nq1 Q0 b 1 high t\nq1 Q0 c 1 nan t\nq2 Q0 c 1 1 t\nq1 Q0 d 1 1 t\n");
    let ran = space.ragstage("score --qrels qrels.txt --run bad.trec");
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    for told in [
        "bad.trec:1:14: expected 6 columns (query Q0 document rank score tag), found 5",
        "bad.trec:2:11: expected a number as score, found \"high\"",
        "bad.trec:3:11: expected a number as score, found \"nan\"",
    ] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    // The twin of a scattered query is found too.
    space.write("twins.trec", "q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n\nq1 Q0 a 2 1 t\n");
    let ran = space.ragstage("score --qrels qrels.txt --run twins.trec");
    assert_eq!(ran.code, 3);
    let told = "twins.trec:4: duplicate: document a of query q1 is here, and in line 1";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    space.write("bad.qrels", "q1 0 a 1\nq1 0 a 2\nq1 a\nq1 0 b x\n");
    let ran = space.ragstage("score --qrels bad.qrels --run run.trec");
    assert_eq!(ran.code, 3);
    for told in ["bad.qrels:2: duplicate", "bad.qrels:3:5: expected 4 columns", "bad.qrels:4:8: expected a whole"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(space.ragstage("score --qrels none.txt --run run.trec").code, 3);
}

#[test]
fn flags_that_do_not_go_together_are_usage_errors() {
    let space = space_with_runs();
    for (arguments, told) in [
        ("score --qrels qrels.txt", "--run FILE is needed"),
        ("score --run run.trec", "--qrels FILE is needed"),
        ("score other.yaml --qrels qrels.txt --run run.trec", "an evaluation file (other.yaml)"),
        ("score evaluation.yaml --qrels qrels.txt --run run.trec", "an evaluation file (evaluation.yaml)"),
        ("score --qrels qrels.txt --run run.trec --force build", "--force needs an evaluation file"),
        ("score --qrels qrels.txt --run run.trec --baseline b", "--baseline needs an evaluation file"),
        ("score --qrels qrels.txt --run run.trec --coverage-floor 0.5", "score them one after the other"),
        ("score --recipe a --qrels qrels.txt --run run.trec", "--response-set <SET>"),
        ("score --qrels qrels.txt --run run.trec --measure ndcg@10", "did you mean nDCG?"),
        ("score --qrels qrels.txt --run run.trec --measure token_f1", "is no measure of a ranking"),
        ("score --qrels qrels.txt --run run.trec --cases c.jsonl", "score them one after the other"),
        ("score --missing skip", "--missing needs"),
    ] {
        let ran = space.ragstage(arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{arguments}: {}", ran.stderr);
    }
    assert!(!space.path(".ragstage").exists());
}

#[test]
fn a_run_of_other_queries_has_no_number() {
    let space = space_with_runs();
    space
        .write("other.trec", &space.read("run.trec").replace("q1 ", "x1 ").replace("q2 ", "x2 ").replace("q3 ", "x3 "));
    let command = "score --qrels qrels.txt --run other.trec";
    let ran = space.ragstage(&format!("{command} --missing skip --format json"));
    assert_eq!((ran.code, &means(&ran)["AP"]), (11, &Value::Null), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: nothing was scored: other.trec has no judged query"), "{}", ran.stderr);
    // Where what is missing counts as 0 it has one, which is that of trec_eval -c.
    let ran = space.ragstage(&format!("{command} --format json"));
    assert_eq!((ran.code, &means(&ran)["AP"]), (0, &Value::from(0.0)), "{}", ran.stderr);
}

#[test]
fn gzip_that_was_cut_off_says_what_to_do() {
    let space = space_with_runs();
    let zip = std::process::Command::new("gzip").arg("-k").arg(space.path("run.trec")).status();
    if !zip.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no gzip");
        return;
    }
    let whole = fs::read(space.path("run.trec.gz")).expect("the gzip");
    let mut damaged = whole.clone();
    // A byte of the checksum, which is in the last eight.
    damaged[whole.len() - 6] ^= 0xff;
    for (bytes, hint) in
        [(&whole[..whole.len() / 2], "the gzip ends before its end"), (&damaged, "the gzip is damaged")]
    {
        fs::write(space.path("bad.gz"), bytes).expect("write");
        for command in ["score --qrels qrels.txt --run bad.gz", "score --qrels bad.gz --run run.trec"] {
            let ran = space.ragstage(command);
            assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{command}");
            assert!(ran.stderr.contains(hint) && ran.stderr.contains("fetch or pack the file again"), "{}", ran.stderr);
        }
    }
}

/// Whoever writes into a named pipe ends when it is opened, closed and opened again.
#[test]
#[cfg(unix)]
fn a_named_pipe_is_opened_once() {
    let space = space_with_runs();
    let made = std::process::Command::new("mkfifo").arg(space.path("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no mkfifo");
        return;
    }
    let expected = means(&space.ragstage("score --qrels qrels.txt --run run.trec --format json"));
    let (from, pipe) = (space.path("run.trec"), space.path("pipe"));
    let writer = std::thread::spawn(move || fs::write(pipe, fs::read(from).expect("the run")));
    let ran = space.ragstage("score --qrels qrels.txt --run pipe --format json");
    assert_eq!(means(&ran), expected, "{}", ran.stderr);
    writer.join().expect("the writer ends").expect("all of it is read");
}

#[test]
fn a_table_is_written_whole_or_not_at_all() {
    let space = space_with_runs();
    fs::write(space.path("odd.trec"), b"q1 Q0 d\xff 1 2 t\n").expect("write");
    let ran = space.ragstage("score --run odd.trec --to-parquet odd.parquet");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("is no UTF-8"), "{}", ran.stderr);
    let left: Vec<_> = space.files("").into_keys().filter(|name| name.contains("parquet")).collect();
    assert!(left.is_empty(), "{left:?}");
}
