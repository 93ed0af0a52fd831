//! Evaluators of users: Python files and programs in any language, asked once per case, whose faults are those of their cases.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::small::{self, CASE_COUNT};
use super::space::{Ran, Space, steps};

#[path = "../../examples/own-evaluator/brevity.rs"]
mod brevity;

const REPORT: &str = "reports/small/report.json";

/// Scores answers of the small benchmark; the cases are told apart by their questions.
const MINE: &str = r#""""House rules."""
NAME = "house"
DESCRIPTION = "how many words the answer has"


def evaluate(case, response):
    print("hello", case["question"])
    return len((response["answer"] or "").split())
"#;

/// Whether there is a Python; says so where there is none.
fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: there is no python3 to run evaluators with");
    }
    found
}

/// The small benchmark, scored by `evaluators` alone; `limits` keep what fails from being tried again.
fn with(evaluators: &str) -> Space {
    let space = Space::new();
    small::write(&space);
    space.edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", evaluators);
    let text = space.read("evaluation.yaml") + "limits: {programs: {retries: 0, timeout_s: 20}}\n";
    space.write("evaluation.yaml", &text);
    space
}

fn with_file(file: &str) -> Space {
    let space = with("[{python: eval/mine.py}]");
    space.write("eval/mine.py", file);
    space
}

/// What a column says of each case: its value, or what stands in the report for one.
fn column(space: &Space, name: &str) -> BTreeMap<String, Value> {
    let report = space.json(REPORT);
    let mut column = BTreeMap::new();
    for result in report["case_results"].as_array().expect("case results") {
        let id = result["case_id"].as_str().expect("an id").to_string();
        let of = |list: &Value| list.as_array().into_iter().flatten().find(|score| score["name"] == name).cloned();
        let score = of(&result["scores"]).map(|score| score["value"].clone());
        column.insert(id, score.or_else(|| of(&result["metadata"]["unscored"])).unwrap_or(Value::Null));
    }
    column
}

/// The message of each failed row, by case, of the rows that people count.
fn failures(ran: &Ran) -> BTreeMap<String, String> {
    let failed = ran.of("row_failed").into_iter().filter(|event| event["nested"] != true);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    failed.map(|event| (text(&event["item"]), text(&event["error"]["message"]))).collect()
}

#[test]
fn a_python_file_scores_every_case_once() {
    if !python() {
        return;
    }
    let space = with_file(MINE);
    let ran = space.run("").expect(0);
    assert_eq!(ran.row_counts()["score"], CASE_COUNT);
    // "The lighthouse was built in 1871."
    assert_eq!(column(&space, "house")["built"], 6.0);
    assert!(space.read(REPORT).contains("how many words the answer has"));
    space.run("").expect(0).expect_nothing();

    // A corrected gold answer asks for that case alone.
    space.edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\"");
    let ran = space.score("").expect(0);
    assert_eq!(ran.items("score"), ["pay"]);

    // A changed file asks for all, and nothing else runs.
    space.edit("eval/mine.py", "len((", "2 * len((");
    let ran = space.score("").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(ran.row_counts()["score"], CASE_COUNT);
    assert_eq!(column(&space, "house")["built"], 12.0);

    // Another name or interpreter is the same evaluator.
    space.edit(
        "evaluation.yaml",
        "{python: eval/mine.py}",
        "{python: eval/mine.py, name: home, interpreter: never-started}",
    );
    assert_eq!(space.score("").expect(0).rows(), Vec::<String>::new());

    // Forced, it is asked again.
    space.edit("evaluation.yaml", ", interpreter: never-started", "");
    let ran = space.score("--force score").expect(0);
    let paid = |ran: &Ran| ran.of("row_done").into_iter().filter(|event| event["paid"] == true).count();
    assert_eq!(paid(&ran), CASE_COUNT);
}

/// The square of such a score is no number: one case must not make a mean infinite.
#[test]
fn a_score_beyond_all_bounds_fails_its_case() {
    if !python() {
        return;
    }
    let space = with_file(
        "def evaluate(case, response):\n    return 1e308 if case[\"question\"].startswith(\"When\") else 1e100\n",
    );
    let ran = space.run("").expect(11);
    let failed = failures(&ran);
    assert!(
        !failed.is_empty() && failed.values().all(|message| message.contains("which is beyond 1e100")),
        "{failed:?}"
    );
    let report = space.json(REPORT);
    let mean = &report["ragstage"]["summary"]["measures"][0]["mean"];
    assert!(mean.as_f64().is_some_and(|mean| (mean / 1e100 - 1.0).abs() < 1e-9), "{mean}");
}

/// What a program writes is quoted; a terminal must not obey it.
#[test]
fn escape_sequences_are_not_passed_on() {
    if !python() {
        return;
    }
    let space = with_file(
        r#"
import os, sys


def evaluate(case, response):
    sys.stderr.write("\x1b[2J\x1b[31mno model\x1b[0m\r\n")
    sys.stderr.flush()
    os._exit(3)
"#,
    );
    let ran = space.run("").expect(11);
    assert!(ran.stderr.contains("its standard error ends with: no model"), "{}", ran.stderr);
    assert!(!(ran.stdout + &ran.stderr).contains(['\x1b', '\r']));
}

#[test]
fn values_of_all_kinds() {
    if !python() {
        return;
    }
    let space = with_file(
        r#"
class Tensor:
    def item(self):
        return 0.5


def evaluate(case, response):
    question = case["question"]
    if question.startswith("When"):
        return True
    if question.startswith("How many"):
        return None
    if question.startswith("How do traders"):
        return Tensor()
    if question.startswith("How do groups"):
        return 0.25, {"why": case["answers"][0]}
    if question.startswith("How long"):
        return float("nan")
    if question.startswith("What does"):
        return [1]
    if question.startswith("Where"):
        raise KeyError("permit")
    return 1
"#,
    );
    let ran = space.run("").expect(11);
    let scores = column(&space, "mine");
    assert_eq!((&scores["built"], &scores["opens"], &scores["planks"]), (&json!(true), &json!(true), &json!(1.0)));
    assert_eq!((&scores["pay"], &scores["groups"]), (&json!(0.5), &json!(0.25)));
    assert!(scores["steps"].to_string().contains("the evaluator returned None"), "{}", scores["steps"]);
    assert!(
        space.read(REPORT).contains(r#""why": "by letter""#) || space.read(REPORT).contains(r#""why":"by letter""#)
    );
    let failures = failures(&ran);
    assert_eq!(failures.keys().collect::<Vec<_>>(), ["crossing", "entry", "permit"]);
    assert!(failures["crossing"].contains("not JSON compliant"), "{}", failures["crossing"]);
    assert!(failures["entry"].contains("found list"), "{}", failures["entry"]);
    let permit = &failures["permit"];
    assert!(permit.contains("KeyError: 'permit'") && permit.contains("raise KeyError") && permit.contains("mine.py"));

    // What failed is asked again, and nothing else.
    space.edit("eval/mine.py", "[1]", "[2]");
    assert_eq!(space.score("").expect(11).items("score").len(), CASE_COUNT - 3);
    assert_eq!(space.score("").expect(11).items("score"), Vec::<String>::new());
}

#[test]
fn several_scores_share_one_reply() {
    if !python() {
        return;
    }
    let space = with_file(
        r#"
SCORES = ["words", "short"]

def evaluate(case, response):
    with open("asked.log", "a") as log:
        log.write(case["question"] + "\n")
    words = len(response["answer"].split())
    return {"words": words, "short": words < 9}
"#,
    );
    space.edit("evaluation.yaml", "statistics:", "gates: [{measure: mine.words, at_least: 1}]\nstatistics:");
    space.run("").expect(0);
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
    assert_eq!(column(&space, "mine.words")["built"], 6.0);
    assert_eq!(column(&space, "mine.short")["built"], true);

    // Another evaluation that has the file in common asks nothing.
    let twin = space.read("evaluation.yaml").replace("name: small", "name: twin");
    space.write("twin.yaml", &twin);
    space.run("evaluation.yaml twin.yaml").expect(0);
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
    std::fs::remove_dir_all(space.path(".ragstage")).expect("the store");
    std::fs::remove_file(space.path("asked.log")).expect("the log");
    space.run("evaluation.yaml twin.yaml").expect(0);
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);

    // A plan knows that, too.
    space.edit("eval/mine.py", "words < 9}", "words < 8}");
    let plan = space.ragstage("plan").expect(0);
    let calls = format!("Calls to come: at most {CASE_COUNT} of evaluators of your own;");
    assert!(plan.stdout.contains(&calls), "{}", plan.stdout);
    space.edit("eval/mine.py", "words < 8}", "words < 9}");

    // A score that is missing is the fault of the reply.
    space.edit("eval/mine.py", "\"short\": words < 9", "\"shirt\": words < 9");
    let failures = failures(&space.score("evaluation.yaml").expect(11));
    assert!(failures["built"].contains("scores.short: expected a score, found nothing"), "{}", failures["built"]);
}

#[test]
fn batches_and_what_breaks_in_them() {
    if !python() {
        return;
    }
    let space = with_file(
        r#"
import os
BATCH = 4

async def evaluate_batch(cases, responses):
    with open("sizes.log", "a") as log:
        log.write(f"{len(cases)}\n")
    for case in cases:
        if case["question"].startswith("Where"):
            os._exit(3)
        if case["question"].startswith("What does"):
            raise ValueError("no prices")
    return [len(response["answer"].split()) for response in responses]
"#,
    );
    let ran = space.run("").expect(11);
    let failures = failures(&ran);
    assert_eq!(failures.keys().collect::<Vec<_>>(), ["entry", "permit"]);
    assert!(failures["permit"].contains("ended (exit status: 3) without a reply"), "{}", failures["permit"]);
    assert!(failures["entry"].contains("ValueError: no prices"), "{}", failures["entry"]);
    assert_eq!(column(&space, "mine")["built"], 6.0);
    let sizes = space.read("sizes.log");
    assert!(sizes.lines().any(|size| size == "4") && sizes.lines().all(|size| size <= "4"), "{sizes}");

    // How many are taken at once changes no score.
    space.edit("evaluation.yaml", "{python: eval/mine.py}", "{python: eval/mine.py, batch: 2}");
    assert_eq!(space.score("").expect(11).items("score"), Vec::<String>::new());
}

#[test]
fn a_program_that_breaks_fails_its_cases_and_is_started_again() {
    // One process for all cases, in a language that is everywhere.
    let space = with("[{program: [sh, eval/mine.sh], name: house, files: [eval/mine.sh], reads: [answer, question]}]");
    space.edit("evaluation.yaml", "retries: 0, timeout_s: 20", "retries: 0, timeout_s: 2, concurrency: 1");
    space.write(
        "eval/mine.sh",
        r#"echo started >> started.log
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
    *'"results":'*) exit 9;;
    *"lighthouse built"*) echo "out of lamps" >&2; exit 3;;
    *"How many steps"*) echo "thinking" >&2; sleep 60;;
    *"fish market open"*) echo "no json";;
    *"traders pay"*) echo "{\"id\": 999, \"scores\": 1}";;
    *"crossing take"*) echo "{\"scores\": 1}";;
    *"entry to the museum"*) echo "{\"id\": $id, \"scores\": NaN}";;
    *"groups book"*) echo "{\"id\": $id, \"scores\": 1e999}";;
    *"parrot"*) echo "{\"id\": $id, \"error\": \"no birds\"}";;
    *) echo "{\"id\": $id, \"scores\": 0.5}";;
  esac
done
"#,
    );
    let ran = space.run("").expect(11);
    let failures = failures(&ran);
    let expected = [
        ("built", "ended (exit status: 3) without a reply; its standard error ends with: out of lamps"),
        ("steps", "within 2 s; its standard error ends with: thinking"),
        ("opens", "expected one JSON object, found no json"),
        ("pay", "id: expected 1 as in the request, found the number 999"),
        ("crossing", "id: expected 1 as in the request, found nothing"),
        ("entry", "expected one JSON object, found"),
        ("groups", "expected one JSON object, found"),
        ("parrot", "the program says: no birds"),
    ];
    for (case, words) in expected {
        assert!(failures[case].contains(words), "{case}: {}", failures[case]);
    }
    assert_eq!(failures.len(), expected.len());
    assert_eq!((&column(&space, "house")["planks"], &column(&space, "house")["permit"]), (&json!(0.5), &json!(0.5)));
    // A reply that says `error` is no reason to start another.
    assert_eq!(space.read("started.log").lines().count(), expected.len());

    // Mended, it is asked for all: its file is another.
    space.edit("eval/mine.sh", "case $line in", "case x in");
    assert_eq!(space.score("").expect(0).items("score").len(), CASE_COUNT);
    // Words of the command are in the key; where the program is, is not.
    space.edit("evaluation.yaml", "[sh, eval/mine.sh]", "[/bin/sh, eval/mine.sh]");
    space.score("").expect(0).expect_nothing();
    space.edit("evaluation.yaml", "[/bin/sh, eval/mine.sh]", "[sh, eval/mine.sh, -x]");
    assert_eq!(space.score("").expect(0).items("score").len(), CASE_COUNT);
}

#[test]
fn what_cannot_be_started_gives_no_number() {
    let space = with("[answer_contains, {program: [./not-there], name: house}]");
    let ran = space.run("").expect(20);
    assert!(ran.stderr.contains("evaluator \"house\": cannot start \"./not-there\""), "{}", ran.stderr);
    assert!(!space.path(REPORT).exists());
}

#[test]
fn a_python_file_that_does_not_load_shows_why() {
    if !python() {
        return;
    }
    for (file, why) in [
        (
            "import no_such_package\n\ndef evaluate(case, response):\n    return 1\n",
            "ModuleNotFoundError: No module named 'no_such_package'",
        ),
        ("def evaluate(case, response)\n    return 1\n", "SyntaxError"),
        ("def judge(case, response):\n    return 1\n", "has neither `def evaluate(case, response)`"),
    ] {
        let space = with_file(file);
        let ran = space.run("").expect(20);
        assert!(ran.stderr.contains("evaluator \"mine\": ") && ran.stderr.contains(why), "{why}: {}", ran.stderr);
        // No case has failed: none was asked for.
        assert!(failures(&ran).is_empty() && !space.path(REPORT).exists());
        space.write("eval/mine.py", MINE);
        space.run("").expect(0);
    }
}

#[test]
fn an_evaluator_file_of_the_command_line_asks_zero_queries() {
    if !python() {
        return;
    }
    let space = Space::new();
    small::write_system(&space);
    space.run("").expect(0);
    space.write("eval/mine.py", MINE);
    assert!(space.ragstage("plan --evaluator-file eval/mine.py").expect(0).stdout.contains("house"));
    let ran = space.score("--evaluator-file eval/mine.py").expect(0);
    assert_eq!(ran.executed(), steps(&[("score", 1), ("aggregate", 1), ("report", 1)]));
    assert_eq!(space.read("asked.log").lines().count(), CASE_COUNT);
    assert!(ran.stdout.contains("house"), "{}", ran.stdout);
    // In the file it is the same evaluator.
    space.edit("evaluation.yaml", "answer_contains]", "answer_contains, {python: eval/mine.py}]");
    assert_eq!(space.score("").expect(0).rows(), Vec::<String>::new());
    space.score("--evaluator-file eval/mine.py").expect(0).expect_nothing();

    space.edit("eval/mine.py", "NAME = \"house\"", "NAME = str(1)");
    let ran = space.ragstage("score --evaluator-file eval/mine.py").expect(3);
    assert!(ran.stderr.contains("eval/mine.py:2: NAME: expected a text"), "{}", ran.stderr);
}

#[test]
fn what_an_evaluation_file_says_wrong_of_programs() {
    let space =
        with("[{program: [sh]}, {python: not/there.py}, {python: a.py, scores: [b, b]}, {program: [sh], name: a.b}]");
    space.write("a.py", "def evaluate(case, response): return 1\n");
    let ran = space.ragstage("plan").expect(3);
    for words in [
        "missing `name`",
        "`not/there.py` cannot be read",
        "the score `b` is listed twice",
        "expected the name of a column",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let space = with("[{program: [cat], name: a, files: [gone.txt]}]");
    let ran = space.ragstage("run").expect(3);
    assert!(ran.stderr.contains("file of evaluator \"a\" does not exist"), "{}", ran.stderr);
}

#[test]
fn a_secret_of_the_environment_reaches_the_program_and_no_report() {
    let space = with("[{program: [sh, mine.sh], name: house, environment: {KEY: '${HOUSE_KEY}'}}]");
    space.write("mine.sh", "echo \"key $KEY\" >&2\nread -r line\nexit 1\n");
    let mut command = space.command();
    command.args(["run"]).env("HOUSE_KEY", "sesame-0123456789");
    let ran = Ran::of_command(command);
    assert!(ran.stderr.contains("key ***"), "{}", ran.stderr);
    assert!(!(ran.stdout + &ran.stderr).contains("sesame"));
    let ran = space.ragstage("run").expect(3);
    assert!(ran.stderr.contains("the environment variable `HOUSE_KEY` is not set"), "{}", ran.stderr);
    let ran = space.ragstage("score").expect(3);
    assert!(ran.stderr.contains("`HOUSE_KEY`, which evaluator `house` is given, is not set"), "{}", ran.stderr);
}

#[test]
fn an_evaluator_in_rust_is_one_more_column() {
    let space = small::evaluated();
    let run = || brevity::run(&space.path("evaluation.yaml"), &space.path(".ragstage")).expect("it runs");
    let outcome = run();
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    // The score, the summary and the report.
    assert_eq!((outcome.executed, outcome.rows_computed), (3, CASE_COUNT));
    // "The lighthouse was built in 1871." has 33 characters, the gold answer 4.
    assert_eq!(column(&space, "brevity")["built"], 4.0 / 33.0);
    assert_eq!(run().executed, 0);
}

#[test]
fn the_example_scores_as_its_readme_says() {
    if !python() {
        return;
    }
    let space = Space::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for folder in ["own-evaluator", "make", "make/library"] {
        for entry in
            std::fs::read_dir(root.join(folder)).expect("an example").map(|entry| entry.expect("an entry").path())
        {
            if entry.is_file() {
                let name = entry.file_name().expect("a name").to_string_lossy().into_owned();
                space.write(&format!("{folder}/{name}"), &std::fs::read_to_string(&entry).expect("text"));
            }
        }
    }
    let ran = space.run("own-evaluator/evaluation.yaml").expect(0);
    for name in ["grounded.words", "grounded.numbers", "length"] {
        assert!(ran.stdout.contains(name), "{}", ran.stdout);
    }
    let report = space.json("own-evaluator/reports/own-evaluator/report.json");
    for result in report["case_results"].as_array().expect("case results") {
        let score = |name: &str| {
            let scores = result["scores"].as_array().into_iter().flatten();
            scores.into_iter().find(|score| score["name"] == name).map(|score| score["value"].clone())
        };
        // Sentences are cut out of what was found.
        assert_eq!(score("grounded.words"), Some(json!(1.0)), "{result}");
        let answer = result["response"]["answer"].as_str().expect("an answer");
        if answer.is_ascii() && !answer.contains(['"', '\\']) {
            assert_eq!(score("length"), Some(json!(answer.len() as f64)));
        }
    }
    space.run("own-evaluator/evaluation.yaml").expect(0).expect_nothing();
}

#[test]
fn a_file_that_changes_while_it_scores_ends_the_run() {
    if !python() {
        return;
    }
    let space =
        with_file("def evaluate(case, response):\n    open(__file__, \"a\").write(\"# more\\n\")\n    return 1\n");
    let ran = space.run("").expect(3);
    assert!(ran.stderr.contains("eval/mine.py: was written to while"), "{}", ran.stderr);
    assert!(!space.path(REPORT).exists());
}

#[test]
fn what_it_does_not_read_is_not_shown_and_changes_nothing() {
    if !python() {
        return;
    }
    let space = with_file(
        "READS = [\"results\"]\n\ndef evaluate(case, response):\n    assert set(response) == {\"results\"}, response\n    \
         assert \"question\" not in case\n    return len(response[\"results\"])\n",
    );
    space.edit("evaluation.yaml", "{provider: extractive, sentences: 1, results: 2}", "none");
    space.run("").expect(0);
    // One passage has a word of the question.
    assert_eq!(column(&space, "mine")["built"], 1.0);
    space.edit("evaluation.yaml", "answer: none", "answer: {provider: extractive, sentences: 2, results: 2}");
    assert_eq!(space.run("").expect(0).items("score"), Vec::<String>::new());
}
