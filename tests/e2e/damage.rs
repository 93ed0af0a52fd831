//! Whatever is damaged in the store is found when it is read, put aside, told, and made again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::provider::Provider;
use super::quiz::{question, quiz};
use super::running::Running;
use super::space::{Ran, Space};
use super::values::{Values, action_record, files, latest_run, read_json};

const CASES: usize = 6;

/// An evaluation of two recipes that are built here, small enough to be damaged in every place in turn.
fn built() -> Space {
    let space = Space::new();
    let (mut documents, mut cases) = (String::new(), String::new());
    for n in 1..=CASES {
        documents += &format!(
            "{{\"document_id\": \"d{n}\", \"name\": \"d{n}.txt\", \"media_type\": \"text/plain\", \"text\": \"Pier {n} \
             was built by the harbour board. It carries {n}0 lamps.\"}}\n"
        );
        cases += &format!(
            "{{\"case_id\": \"c{n}\", \"query\": \"How many lamps does pier {n} carry?\", \"expected\": \
             {{\"answers\": [\"{n}0 lamps\"], \"evidence\": [{{\"reference_id\": \"d{n}\"}}]}}}}\n"
        );
    }
    space.write("documents.jsonl", &documents);
    space.write("cases.jsonl", &cases);
    space.write(
        "evaluation.yaml",
        "name: piers\nbenchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}\n\
         recipe: {name: small, chunk: {size: 8}}\nevaluators: [evidence_recall@5, answer_contains]\n\
         statistics: {resamples: 100}\n",
    );
    space.run("").expect(0);
    space
}

fn values(space: &Space) -> Values {
    Values::of(&space.path(".ragstage"), &space.path("reports/piers"))
}

fn blobs(space: &Space) -> Vec<PathBuf> {
    files(&space.path(".ragstage/cas-v1"))
}

fn quarantine(space: &Space) -> Vec<PathBuf> {
    files(&space.path(".ragstage/quarantine"))
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(path, bytes).expect("write");
}

/// The incidents that a run told as events; each must have been told to people too.
fn incidents(run: &Ran) -> Vec<String> {
    let told: Vec<String> = run
        .of("store_incident")
        .iter()
        .map(|event| event["message"].as_str().expect("a message").to_string())
        .collect();
    for message in &told {
        assert!(run.stderr.contains(message.as_str()), "not on stderr: {message}\n{}", run.stderr);
    }
    told
}

/// Copies the whole folder, so that each damage meets a store that is whole but for it.
fn copy(space: &Space) -> Space {
    let twin = Space::new();
    for file in files(&space.path("")) {
        let name = file.strip_prefix(space.path("")).expect("below").to_str().expect("text").to_string();
        if name.starts_with(".ragstage/tmp/") {
            continue;
        }
        let target = twin.path(&name);
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("folders");
        std::fs::copy(&file, target).expect("copy");
    }
    // Digests in the memo are of files elsewhere now; it is only a memory.
    let _ = std::fs::remove_file(twin.path(".ragstage/memo-v1.json"));
    twin
}

/// Reads as much of the store as a run can: a new evaluator, and every report anew.
fn read_everything(space: &Space) -> [Ran; 2] {
    std::fs::remove_dir_all(space.path("reports")).expect("remove reports");
    let scored = space.score("--evaluator nDCG@10").expect(0);
    std::fs::remove_dir_all(space.path("reports")).expect("remove reports");
    [scored, space.run("").expect(0)]
}

#[test]
fn a_damaged_blob_is_put_aside_and_made_again() {
    let whole = built();
    let expected = values(&whole);
    type Damage = (&'static str, fn(&Path));
    let damages: [Damage; 3] = [
        ("a flipped byte", flip),
        ("cut in half", |path| {
            let bytes = std::fs::read(path).expect("read");
            std::fs::write(path, &bytes[..bytes.len() / 2]).expect("write");
        }),
        ("deleted", |path| std::fs::remove_file(path).expect("remove")),
    ];
    let names: Vec<PathBuf> =
        blobs(&whole).iter().map(|blob| blob.strip_prefix(whole.path("")).expect("below").to_path_buf()).collect();
    assert!(names.len() > 15, "{names:?}");
    let actions = read_json(&latest_run(&whole.path(".ragstage")).join("actions.json"));
    let reports = actions["report piers"]["outputs"].as_object().expect("outputs");
    let reports: Vec<&str> = reports.values().filter_map(|digest| digest.as_str()).collect();
    for (what, damage) in damages {
        let mut read = 0;
        // Every byte that flips is one story; files that are short or gone are told of some of them.
        let step = if what == "a flipped byte" { 1 } else { 4 };
        for name in names.iter().step_by(step) {
            let space = copy(&whole);
            let name = name.to_str().expect("text");
            damage(&space.path(name));
            let runs = read_everything(&space);
            let told = runs.iter().map(incidents).collect::<Vec<_>>().concat();
            assert_eq!(values(&space), expected, "{name} {what}");
            let digest = name.trim_start_matches(".ragstage/cas-v1/").replace('/', "");
            let of_blob = told.iter().filter(|message| message.contains(&digest[2..])).count();
            let aside = quarantine(&space).len();
            if what == "a flipped byte" && of_blob > 0 {
                read += 1;
                assert_eq!((of_blob, aside), (1, 1), "{name} {what}: {told:?}");
                // The report tells when it was made, so another one has another name.
                if !reports.contains(&digest.as_str()) {
                    let bytes = std::fs::read(space.path(name)).expect("made again");
                    assert_eq!(bytes, std::fs::read(whole.path(name)).expect("whole"), "{name}");
                }
            } else {
                assert_eq!(aside, of_blob, "{name} {what}: {told:?}");
            }
            let verified = space.ragstage("cache verify");
            if verified.code != 0 {
                // Nothing read it, or the report that tells times was made anew under another digest.
                let unread = what == "a flipped byte" || reports.contains(&digest.as_str());
                assert!(unread && of_blob == 0, "{name} {what}: {}", verified.stdout);
                space.run("").expect(0);
                space.ragstage("cache verify").expect(0);
            }
            assert_eq!(space.run("").expect(0).executed(), BTreeMap::new(), "{name} {what}");
        }
        if what == "a flipped byte" {
            assert!(read * 2 > names.len(), "only {read} of {} damaged blobs were read", names.len());
        }
    }
}

#[test]
fn all_blobs_damaged_at_once_are_made_again() {
    let space = built();
    let expected = values(&space);
    for blob in blobs(&space) {
        flip(&blob);
    }
    std::fs::remove_dir_all(space.path("reports")).expect("remove reports");
    let run = space.run("--evaluator nDCG@10").expect(0);
    assert!(!incidents(&run).is_empty());
    std::fs::remove_dir_all(space.path("reports")).expect("remove reports");
    space.run("").expect(0);
    assert_eq!(values(&space), expected);
}

#[test]
fn a_lost_response_table_is_made_of_its_rows_and_asks_nothing() {
    let provider = Provider::healthy();
    let space = quiz(CASES, &provider.system(), "concurrency: 2");
    space.run("quiz.yaml").expect(0);
    let asked = provider.requests();
    for blob in blobs(&space) {
        flip(&blob);
    }
    std::fs::remove_dir_all(space.path("reports")).expect("remove reports");
    let scored = space.score("quiz.yaml --evaluator answer_exact_match").expect(0);
    assert!(scored.executed_labels().iter().any(|label| label.starts_with("retrieve ")), "{:?}", scored.executed());
    assert_eq!(provider.requests(), asked, "the rows were in the row cache");

    // Without the rows it would have to ask, which scoring never does.
    std::fs::remove_dir_all(space.path(".ragstage/rows-v1")).expect("remove rows");
    for blob in blobs(&space) {
        flip(&blob);
    }
    let refused = space.score("quiz.yaml --evaluator \"f1@5\"");
    assert_ne!(refused.code, 0);
    let refused = space.score("quiz.yaml --evaluator token_f1").expect(3);
    assert!(refused.stderr.contains("never asks a query"), "{}", refused.stderr);
    assert_eq!(provider.requests(), asked);
    space.run("quiz.yaml").expect(0);
    assert_eq!(provider.requests(), asked + CASES);
}

#[test]
fn damaged_records_run_their_actions_again() {
    let whole = built();
    let expected = values(&whole);
    let actions = read_json(&latest_run(&whole.path(".ragstage")).join("actions.json"));
    for (label, action) in actions.as_object().expect("actions") {
        let key = action["key"].as_str().expect("a key");
        for garbled in [true, false] {
            let space = copy(&whole);
            let record = action_record(&space.path(".ragstage"), key);
            if garbled {
                std::fs::write(&record, "{\"format\": 1, \"key\":").expect("write");
            } else {
                std::fs::remove_file(&record).expect("remove");
            }
            let run = space.run("").expect(0);
            // Early cutoff: its outputs are the same, so nothing after it runs. But the report tells when it was made.
            assert_eq!(run.executed_labels(), std::slice::from_ref(label));
            assert_eq!(incidents(&run).len(), usize::from(garbled), "{label}");
            assert_eq!(quarantine(&space).len(), usize::from(garbled), "{label}");
            assert_eq!(values(&space), expected);
            space.ragstage("cache verify").expect(0);
        }
    }
}

#[test]
fn a_garbled_manifest_costs_an_explanation_and_nothing_else() {
    let space = built();
    let manifests: Vec<PathBuf> = files(&space.path(".ragstage/actions-v1"))
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".manifest.json"))
        .collect();
    for manifest in &manifests {
        std::fs::write(manifest, "not json").expect("write");
    }
    assert_eq!(space.run("").expect(0).executed(), BTreeMap::new());
    space.edit("evaluation.yaml", "size: 8", "size: 9");
    let explained = space.ragstage("explain chunk").expect(0);
    assert!(explained.stderr.contains("malformed manifest"), "{}", explained.stderr);
    let verified = space.ragstage("cache verify").expect(30);
    assert!(verified.stdout.contains("wrong manifest"), "{}", verified.stdout);
    space.run("").expect(0);
}

/// The rows of the only slot of `step`, and the file that holds them.
fn journal(space: &Space, step: &str) -> PathBuf {
    let slots = files(&space.path(".ragstage/rows-v1"));
    let of_step =
        |path: &&PathBuf| path.ends_with("slot.json") && space_text(path).contains(&format!("ragstage.{step}"));
    let slot = slots.iter().find(of_step).unwrap_or_else(|| panic!("a slot of {step}"));
    let folder = files(slot.parent().expect("a folder"));
    folder.into_iter().find(|path| !path.ends_with("slot.json")).expect("a journal or a segment")
}

fn space_text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("text")
}

/// Where the records of a journal end: a header of 12 bytes, then records of a length, so many bytes, and a checksum.
fn record_ends(journal: &[u8]) -> Vec<usize> {
    let (mut at, mut ends) = (12, Vec::new());
    while let Some(length) = journal.get(at..at + 4) {
        at += 4 + u32::from_le_bytes(length.try_into().expect("four bytes")) as usize + 8;
        ends.push(at);
    }
    ends
}

/// Forgets every action, so that a run has nothing but rows.
fn forget_actions(space: &Space) {
    std::fs::remove_dir_all(space.path(".ragstage/actions-v1")).expect("remove actions");
}

#[test]
fn a_truncated_journal_costs_the_rows_that_were_cut_and_no_others() {
    let provider = Provider::healthy();
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    space.run("quiz.yaml").expect(0);
    let expected = Values::of(&space.path(".ragstage"), &space.path("reports/quiz"));
    let path = journal(&space, "retrieve");
    let bytes = std::fs::read(&path).expect("read");
    let ends = record_ends(&bytes);
    assert_eq!(ends.len(), CASES);
    let mut offsets: BTreeSet<usize> = [0, 1, 11, 12].into();
    for end in &ends {
        offsets.extend([end - 9, end - 1, *end, end + 1, end + 4, end + 40]);
    }
    for offset in offsets.into_iter().filter(|offset| *offset < bytes.len()) {
        std::fs::write(&path, &bytes[..offset]).expect("write");
        forget_actions(&space);
        provider.rescript(|_| super::provider::Act::Answer);
        let run = space.run("quiz.yaml").expect(0);
        let asked = provider.requests();
        let whole = ends.iter().filter(|end| **end <= offset).count();
        assert_eq!(asked, CASES - whole, "cut to {offset}");
        assert!(provider.counts().values().all(|count| *count == 1));
        assert_eq!(run.row_counts()["retrieve"], asked);
        assert_eq!(Values::of(&space.path(".ragstage"), &space.path("reports/quiz")), expected, "cut to {offset}");
        space.ragstage("cache verify").expect(0);
        // Whatever was asked again is durable: with the actions forgotten once more, the rows suffice.
        forget_actions(&space);
        assert_eq!(space.run("quiz.yaml").expect(0).row_counts().get("retrieve"), None, "cut to {offset}");
        for file in files(path.parent().expect("a folder")) {
            if !file.ends_with("slot.json") {
                std::fs::remove_file(file).expect("remove");
            }
        }
    }
}

#[test]
fn a_damaged_row_costs_itself() {
    let provider = Provider::healthy();
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    space.run("quiz.yaml").expect(0);
    let path = journal(&space, "retrieve");
    let mut bytes = std::fs::read(&path).expect("read");
    let ends = record_ends(&bytes);
    bytes[(ends[1] + ends[2]) / 2] ^= 1;
    std::fs::write(&path, bytes).expect("write");
    forget_actions(&space);
    let run = space.run("quiz.yaml").expect(0);
    assert_eq!(run.row_counts()["retrieve"], 1);
    assert!(incidents(&run).iter().any(|message| message.contains("1 damaged row")), "{:?}", incidents(&run));
    assert_eq!(provider.counts()[&question(3)], 2);
}

#[test]
fn a_garbled_segment_is_put_aside_and_its_rows_are_asked_again() {
    // From 512 rows on a journal becomes a segment at the end of the run.
    const ROWS: usize = 520;
    let provider = Provider::healthy();
    let space = quiz(ROWS, &provider.system(), "concurrency: 8");
    space.run("quiz.yaml").expect(0);
    let expected = Values::of(&space.path(".ragstage"), &space.path("reports/quiz"));
    let segment = journal(&space, "retrieve");
    assert!(segment.to_string_lossy().ends_with(".parquet"), "{}", segment.display());
    forget_actions(&space);
    assert_eq!(space.run("quiz.yaml").expect(0).row_counts().get("retrieve"), None, "the segment is read");
    flip(&segment);
    forget_actions(&space);
    let run = space.run("quiz.yaml").expect(0);
    assert_eq!(run.row_counts()["retrieve"], ROWS);
    assert!(incidents(&run).iter().any(|message| message.contains("segment")), "{:?}", incidents(&run));
    assert_eq!(Values::of(&space.path(".ragstage"), &space.path("reports/quiz")), expected);
    assert!(!quarantine(&space).is_empty());
    space.ragstage("cache verify").expect(0);
}

#[test]
fn a_garbled_memo_only_costs_hashing() {
    let space = built();
    space.write(".ragstage/memo-v1.json", "{]");
    let run = space.run("").expect(0);
    assert_eq!(run.executed(), BTreeMap::new());
    assert!(incidents(&run)[0].contains("memo"), "{:?}", incidents(&run));
}

#[test]
fn what_cannot_be_understood_is_an_error_and_is_left_alone() {
    let space = built();
    for (file, content, words) in [
        ("version", "ragstage-store 999\n", "999"),
        ("version", "something else\n", "expected `ragstage-store 1`"),
        ("version", "", "expected `ragstage-store 1`"),
    ] {
        let path = format!(".ragstage/{file}");
        let before = space.read(&path);
        space.write(&path, content);
        for command in ["run", "score", "plan", "status", "explain score", "cache verify", "cache gc --apply"] {
            let refused = space.ragstage(command).expect(30);
            assert!(refused.stderr.contains(words), "{command}: {}", refused.stderr);
            assert!(refused.stderr.contains("hint:"), "{command}: {}", refused.stderr);
        }
        assert_eq!(space.read(&path), content, "left as it is");
        space.write(&path, &before);
    }
    space.run("--force score").expect(0);
    let salts = files(&space.path(".ragstage/salts-v1"));
    let before = std::fs::read(&salts[0]).expect("salts");
    for (content, words) in [("{", "salts"), ("{\"format\": 9, \"evaluation\": \"piers\", \"salts\": {}}", "version 9")]
    {
        std::fs::write(&salts[0], content).expect("write");
        let refused = space.ragstage("run").expect(30);
        assert!(refused.stderr.contains(words) && refused.stderr.contains("hint:"), "{}", refused.stderr);
    }
    std::fs::write(&salts[0], before).expect("write");
    assert_eq!(space.run("").expect(0).executed(), BTreeMap::new());
}

#[test]
fn a_record_of_a_newer_version_is_not_taken_for_damage() {
    let space = built();
    let actions = read_json(&latest_run(&space.path(".ragstage")).join("actions.json"));
    let key = actions["prepare benchmark"]["key"].as_str().expect("a key");
    let record = action_record(&space.path(".ragstage"), key);
    std::fs::write(&record, "{\"format\": 2, \"anything\": []}").expect("write");
    let refused = space.run("").expect(30);
    assert!(refused.stderr.contains("version 2"), "{}", refused.stderr);
    assert_eq!(space_text(&record), "{\"format\": 2, \"anything\": []}");
}

#[test]
fn verify_finds_a_flipped_byte_and_says_when_all_is_well() {
    let space = built();
    let clean = space.ragstage("cache verify").expect(0);
    assert!(clean.stdout.contains("the store is whole"), "{}", clean.stdout);
    flip(&blobs(&space)[3]);
    let found = space.ragstage("cache verify").expect(30);
    assert!(found.stdout.contains("damaged:") && found.stdout.contains("quarantine"), "{}", found.stdout);
    assert_eq!(quarantine(&space).len(), 1);
    // It is gone now, which is another thing to find, until a run has made it again.
    space.ragstage("cache verify").expect(30);
    space.run("").expect(0);
    space.ragstage("cache verify").expect(0);
}

#[test]
fn size_tells_what_is_there() {
    let space = built();
    let printed: serde_json::Value =
        serde_json::from_str(&space.ragstage("cache size --format json").expect(0).stdout).expect("json");
    let mut there = files(&space.path(".ragstage"));
    there.retain(|path| !path.starts_with(space.path(".ragstage/tmp")));
    let bytes: u64 = there.iter().map(|path| std::fs::metadata(path).expect("a file").len()).sum();
    let buckets = printed["buckets"].as_array().expect("buckets");
    let of = |field: &str| -> u64 {
        buckets.iter().filter(|bucket| bucket["name"] != "tmp").filter_map(|bucket| bucket[field].as_u64()).sum()
    };
    assert_eq!((of("files"), of("bytes")), (there.len() as u64, bytes));
    let blobs_told = buckets.iter().find(|bucket| bucket["name"] == "cas-v1").expect("cas-v1");
    assert_eq!(blobs_told["files"], blobs(&space).len());
}

#[test]
fn collection_keeps_what_the_last_run_used_and_frees_the_rest() {
    let provider = Provider::healthy();
    let space = quiz(CASES, &provider.system(), "concurrency: 2");
    space.run("quiz.yaml").expect(0);
    let asked = provider.requests();
    space.edit("quiz.yaml", "top_k: 3", "top_k: 4");
    space.run("quiz.yaml").expect(0);
    let before = files(&space.path(".ragstage")).len();
    let plan = space.ragstage("cache gc --keep-runs 1 --grace-hours 0").expect(0);
    assert!(plan.stdout.contains("nothing was removed"), "{}", plan.stdout);
    assert!(plan.stdout.contains("rows would have to be computed or asked again"), "{}", plan.stdout);
    assert_eq!(files(&space.path(".ragstage")).len(), before, "a plan removes nothing");
    let applied: serde_json::Value = serde_json::from_str(
        &space.ragstage("cache gc --keep-runs 1 --grace-hours 0 --apply --format json").expect(0).stdout,
    )
    .expect("json");
    assert!(applied["removed_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{applied}");
    assert!(applied["slots"].as_u64().is_some_and(|slots| slots >= 1), "{applied}");
    assert!(files(&space.path(".ragstage")).len() < before);
    space.ragstage("cache verify").expect(0);
    assert_eq!(space.run("quiz.yaml").expect(0).executed(), BTreeMap::new(), "what the last run used is there");
    assert_eq!(provider.requests(), 2 * asked);
    // What was freed has to be paid for again, as the plan said.
    space.edit("quiz.yaml", "top_k: 4", "top_k: 3");
    space.run("quiz.yaml").expect(0);
    assert_eq!(provider.requests(), 3 * asked);
}

#[test]
fn collection_never_runs_beside_a_run() {
    let provider = Provider::new(|_| super::provider::Act::Hold);
    let space = quiz(2, &provider.system(), "concurrency: 1");
    let running = Running::start(&space, "events", "quiz.yaml");
    provider.wait_for_held(1);
    let before = files(&space.path(".ragstage/actions-v1"));
    let refused = space.ragstage("cache gc --apply --grace-hours 0").expect(30);
    assert!(refused.stderr.contains("in use by another process"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint:"), "{}", refused.stderr);
    assert_eq!(files(&space.path(".ragstage/actions-v1")), before);
    provider.release();
    running.finish().expect(0);
    space.ragstage("cache gc --apply --grace-hours 0").expect(0);
}
