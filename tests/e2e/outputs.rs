//! What a run leaves: report files, stamps, depfiles, JSON, and exit codes that scripts branch on.

use std::time::{Duration, SystemTime};

use super::small::{self, CASE_COUNT, DOCUMENT_COUNT};
use super::space::{Space, steps};

const REPORTS: [&str; 4] = ["report.html", "report.json", "report.md", "scores.parquet"];

fn modified(space: &Space, name: &str) -> SystemTime {
    std::fs::metadata(space.path(name))
        .and_then(|file| file.modified())
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Makes a file as old as an hour, so that any later write shows.
fn age(space: &Space, name: &str) -> SystemTime {
    let file = std::fs::File::options().append(true).open(space.path(name)).expect("open");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("set the time");
    modified(space, name)
}

#[test]
fn reports_are_written_only_if_they_change() {
    let space = small::evaluated();
    let old: Vec<SystemTime> = REPORTS.iter().map(|name| age(&space, &format!("reports/small/{name}"))).collect();
    let ran = space.run("").expect(0).expect_nothing();
    for (name, old) in REPORTS.iter().zip(old) {
        assert_eq!(modified(&space, &format!("reports/small/{name}")), old, "{name}");
    }
    assert_eq!(ran.of("published").len(), REPORTS.len());
    assert!(ran.of("published").iter().all(|event| event["changed"] == false));

    // What somebody deleted or wrote over is put right again.
    std::fs::remove_file(space.path("reports/small/report.html")).expect("remove");
    space.write("reports/small/report.md", "mine");
    space.run("").expect(0).expect_nothing();
    assert!(space.read("reports/small/report.html").starts_with("<!"));
    assert!(space.read("reports/small/report.md").contains("evidence_recall@3"));
}

#[test]
fn a_stamp_is_touched_on_success_only() {
    let space = Space::new();
    small::write(&space);
    space.run("--stamp made/stamp").expect(0);
    let old = age(&space, "made/stamp");
    space.run("--stamp made/stamp").expect(0).expect_nothing();
    let touched = modified(&space, "made/stamp");
    assert!(touched > old, "a run that has nothing to do succeeds too");

    age(&space, "made/stamp");
    let old = modified(&space, "made/stamp");
    let sound = space.read("evaluation.yaml");
    space.write("evaluation.yaml", &format!("{sound}gates: [{{measure: answer_contains, at_least: 2}}]\n"));
    space.run("--stamp made/stamp").expect(12);
    assert_eq!(modified(&space, "made/stamp"), old);
    space.write("evaluation.yaml", &sound);
    space.edit("cases.jsonl", "{\"case_id\":\"pay\"", "\"case_id\":\"pay\"");
    space.run("--stamp made/stamp").expect(3);
    assert_eq!(modified(&space, "made/stamp"), old);
    space.run("--stamp other/stamp").expect(3);
    assert!(!space.path("other/stamp").exists());
}

#[test]
fn a_depfile_lists_every_file_read() {
    let space = Space::new();
    small::write_units(&space);
    space.run("--stamp stamp --depfile deps.mk").expect(0);
    let rule = space.read("deps.mk");
    assert!(rule.starts_with("stamp:"), "{rule}");
    let listed: Vec<&str> = rule.split_whitespace().filter(|word| !word.ends_with(':') && *word != "\\").collect();
    for file in ["evaluation.yaml", "documents.jsonl", "cases.jsonl", "units.jsonl", "files/pier.txt"] {
        assert!(listed.contains(&file), "{file} is not in\n{rule}");
        assert!(rule.contains(&format!("\n{file}:")), "{file} has no rule of its own");
    }
    assert_eq!(listed.len(), 5, "{rule}");

    let old = age(&space, "deps.mk");
    space.run("--stamp stamp --depfile deps.mk").expect(0).expect_nothing();
    assert_eq!(modified(&space, "deps.mk"), old, "the same files, so it is not written");
    space.write("files/quay.txt", "The quay is new.");
    let document = small::document("quay", "").replace("\"text\":\"\"", "\"path\":\"files/quay.txt\"");
    space.write("documents.jsonl", &(space.read("documents.jsonl") + &document));
    space.run("--stamp stamp --depfile deps.mk").expect(0);
    assert!(space.read("deps.mk").contains("files/quay.txt"));
}

#[test]
fn a_depfile_lists_the_files_of_a_system() {
    let space = Space::new();
    small::write_system(&space);
    space.run("--stamp stamp --depfile deps.mk").expect(0);
    assert!(space.read("deps.mk").contains("system.sh"), "{}", space.read("deps.mk"));
}

#[test]
fn the_outcome_as_json() {
    let space = Space::new();
    small::write(&space);
    let json = space.ragstage("run --format json").expect(0).json();
    assert_eq!(json["format"], "ragstage.run.v1");
    assert_eq!((json["executed"].as_u64(), json["fresh"].as_u64()), (Some(11), Some(0)));
    assert_eq!(json["rows_computed"].as_u64(), Some((2 * DOCUMENT_COUNT + 4 * CASE_COUNT) as u64));
    let evaluation = &json["evaluations"][0];
    assert_eq!(evaluation["name"], "small");
    let lines = evaluation["headlines"].as_array().expect("headlines");
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert_eq!((line["scored"].as_u64(), line["failed"].as_u64()), (Some(CASE_COUNT as u64), Some(0)), "{line}");
        assert!(line["mean"].as_f64().is_some_and(|mean| mean > 0.5), "{line}");
        assert_eq!(line["coverage"], 1.0);
    }
    let files = evaluation["files"].as_array().expect("files");
    assert_eq!(files.len(), REPORTS.len());
    for file in files {
        assert_eq!(file["changed"], true);
        assert!(space.path(file["path"].as_str().expect("a path")).is_file());
    }
    let again = space.ragstage("run --format json").expect(0).json();
    assert_eq!((again["executed"].as_u64(), again["fresh"].as_u64()), (Some(0), Some(11)));
}

#[test]
fn the_output_folder() {
    let space = Space::new();
    small::write(&space);
    space.run("--output here/and/there").expect(0);
    for name in REPORTS {
        assert!(space.path(&format!("here/and/there/{name}")).is_file(), "{name}");
    }
    assert!(!space.path("reports").exists());
    // Relative to the evaluation file, not to the current folder.
    space.write(
        "sub/evaluation.yaml",
        &small::EVALUATION.replace("documents: ", "documents: ../").replace("cases: ", "cases: ../"),
    );
    space.run("sub/evaluation.yaml").expect(0).expect_nothing();
    assert!(space.path("sub/reports/small/report.json").is_file());
}

#[test]
fn the_report_is_printed_in_three_languages() {
    let space = small::evaluated();
    let print = |format: &str| space.ragstage(&format!("report --format {format}")).expect(0).stdout;
    assert_eq!(print("md"), space.read("reports/small/report.md"));
    assert_eq!(print("json"), space.read("reports/small/report.json"));
    assert_eq!(print("html"), space.read("reports/small/report.html"));
    assert_eq!(space.ragstage("report").expect(0).stdout, print("md"));

    space.ragstage("report --output copies").expect(0);
    for name in REPORTS {
        let read = |folder: &str| std::fs::read(space.path(folder).join(name)).expect("a report");
        assert_eq!(read("copies"), read("reports/small"), "{name}");
    }
    let never = Space::new();
    small::write(&never);
    let ran = never.ragstage("report").expect(3);
    assert!(
        ran.stderr.contains("there is no store, and so no report") && ran.stderr.contains("ragstage run"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_page_is_self_contained() {
    let space = small::evaluated();
    let page = space.read("reports/small/report.html");
    for reference in ["src=\"http", "href=\"http", "@import", "<link"] {
        assert!(!page.contains(reference), "{reference}");
    }
    // What a document or a case says is text, not markup.
    space.edit("documents.jsonl", "Herring is sold by the barrel.", "<script>alert('herring')</script> is sold.");
    space.edit("cases.jsonl", "\"five\"", "\"<img src=x onerror=alert(1)>\"");
    space.run("").expect(0);
    let page = space.read("reports/small/report.html");
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "markup of the benchmark is in the page");
}

#[test]
fn a_gate_that_fails_is_twelve_and_says_why() {
    let space = small::evaluated();
    let sound = space.read("evaluation.yaml");
    space.write("evaluation.yaml", &format!("{sound}gates: [{{measure: evidence_recall@3, at_least: 0.1}}]\n"));
    // A moved bound renders the report again and runs nothing else.
    assert_eq!(space.run("").expect(0).executed(), steps(&[("report", 1)]));
    assert!(space.read("reports/small/report.md").contains("All passed."));
    space.run("").expect(0).expect_nothing();

    space.write(
        "evaluation.yaml",
        &format!("{sound}gates:\n  - {{measure: evidence_recall@3, at_least: 0.1}}\n  - {{measure: answer_contains, recipe: fine, query: bm25, at_most: 0.01}}\n"),
    );
    let ran = space.run("").expect(12);
    assert_eq!(ran.executed(), steps(&[("report", 1)]));
    assert!(space.read("reports/small/report.md").contains("| **failed** | answer_contains | fine / bm25 |"));
    let ran = space.run("").expect(12).expect_nothing();
    assert_eq!(ran.stderr.matches("gate failed").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("gate failed: answer_contains") && ran.stderr.contains("0.01"), "{}", ran.stderr);
    let json = space.ragstage("run --format json").expect(12).json();
    let gates = json["evaluations"][0]["gates"].as_array().expect("gates");
    assert_eq!(gates.iter().map(|gate| gate["passed"].as_bool()).collect::<Vec<_>>(), [Some(true), Some(false)]);
    assert!(space.path("reports/small/report.json").is_file(), "the report is there all the same");
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let space = Space::new();
    small::write(&space);
    for flag in ["--depfile evaluation.yaml", "--stamp cases.jsonl", "--events documents.jsonl"] {
        let before = (space.read("evaluation.yaml"), space.read("cases.jsonl"), space.read("documents.jsonl"));
        let ran = space.ragstage(&format!("run {flag}")).expect(2);
        assert!(ran.stderr.contains("would write over"), "{}", ran.stderr);
        assert_eq!(before, (space.read("evaluation.yaml"), space.read("cases.jsonl"), space.read("documents.jsonl")));
    }
}
