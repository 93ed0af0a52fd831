//! The store as a whole: opening, blobs, actions, salts, runs, locks, damage.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use proptest::prelude::*;
use ragstage_cache::action::{ACTION_FORMAT, ActionRecord, ActionSpend, OutputRecord};
use ragstage_cache::key::{key_of, walk_json};
use ragstage_cache::{Digest, KeyVisitor, Manifest, Store, StoreErrorKind, Walk};

struct Params(serde_json::Value);

impl Walk for Params {
    fn walk(&self, visitor: &mut dyn KeyVisitor) {
        walk_json(visitor, "", &self.0);
    }
}

fn store() -> (tempfile::TempDir, Store) {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(&root.path().join("store")).expect("open");
    (root, store)
}

fn files_below(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).expect("list").map(|entry| entry.expect("entry").path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

fn flip_byte(path: &Path) {
    let mut bytes = fs::read(path).expect("read");
    bytes[0] ^= 1;
    fs::write(path, bytes).expect("write");
}

/// Records an action with one output and returns its key and its blob.
fn record(store: &Store, name: &str) -> (Digest, Digest) {
    let manifest = Manifest::of(&Params(serde_json::json!({ "name": name, "top_k": 10 })));
    let (key, bytes) = (manifest.key(), format!("chunks of {name}").into_bytes());
    let digest = store.cas().put(&bytes).expect("put");
    let output =
        OutputRecord { name: "chunks".to_string(), digest, bytes: bytes.len() as u64, rows: 3, observation: false };
    let record = ActionRecord {
        format: ACTION_FORMAT,
        key,
        step: "chunk".to_string(),
        label: name.to_string(),
        outputs: vec![output],
        rejected: 0,
        slots: Vec::new(),
        spend: Some(ActionSpend { tokens: 41, nano_usd: 123 }),
        withdrawn: None,
        elapsed_ms: 0.1 + 0.2,
        created_unix_ms: 1_700_000_000_000,
    };
    store.actions().put(&record, &manifest).expect("put");
    assert_eq!(store.actions().get(&key).expect("get"), Some(record));
    (key, digest)
}

#[test]
fn opening_makes_the_tree_and_opening_again_finds_it() {
    let (root, store) = store();
    assert!(store.writable());
    let dir = root.path().join("store");
    assert_eq!(fs::read_to_string(dir.join("version")).expect("version"), "ragstage-store 1\n");
    let tag = fs::read_to_string(dir.join("CACHEDIR.TAG")).expect("tag");
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
    drop(store);
    assert_eq!(files_below(&dir.join("tmp")), 1, "only the gate is left");
    assert!(Store::open(&dir).expect("open").incidents().is_empty());
}

#[test]
fn newer_and_foreign_versions_are_refused() {
    let (_root, store) = store();
    let version = store.root().join("version");
    fs::write(&version, "ragstage-store 2\n").expect("write");
    let error = Store::open(store.root()).expect_err("newer");
    assert!(matches!(error.kind, StoreErrorKind::Newer { found: 2, known: 1 }), "{error}");
    for garbage in ["", "ragstage-store", "ragstage-store 0\n", "ragstage-store -1", "other 1"] {
        fs::write(&version, garbage).expect("write");
        let error = Store::open(store.root()).expect_err("garbage");
        assert!(matches!(error.kind, StoreErrorKind::Malformed(_)), "{error}");
    }
}

#[test]
fn a_store_that_cannot_be_made_is_an_error() {
    let root = tempfile::tempdir().expect("tempdir");
    let file = root.path().join("file");
    fs::write(&file, "x").expect("write");
    assert!(Store::open(&file.join("store")).is_err());
}

#[test]
fn temporary_files_of_the_dead_are_swept_and_those_of_the_living_kept() {
    let (_root, living) = store();
    let tmp = living.root().join("tmp");
    for (name, locked) in [("1-dead", true), ("2-unborn", false)] {
        fs::create_dir(tmp.join(name)).expect("dir");
        fs::write(tmp.join(name).join("half a blob"), "x").expect("write");
        if locked {
            // A lock file that nobody holds.
            fs::write(tmp.join(name).join("lock"), "").expect("write");
        }
    }
    let other = Store::open(living.root()).expect("open");
    assert!(!tmp.join("1-dead").exists() && !tmp.join("2-unborn").exists());
    living.cas().put(b"still writing").expect("put");
    other.cas().put(b"me too").expect("put");
}

#[test]
fn equal_bytes_are_one_blob() {
    let (_root, store) = store();
    let digest = store.cas().put(b"harbour").expect("put");
    assert_eq!(store.cas().put(b"harbour").expect("put"), digest);
    assert_eq!(files_below(&store.root().join("cas-v1")), 1);
    assert_eq!(store.cas().get(&digest).expect("get"), b"harbour");
    assert!(store.cas().has(&digest, 7) && !store.cas().has(&digest, 8));
    let hex = digest.hex();
    assert_eq!(store.cas().path(&digest), store.root().join("cas-v1").join(&hex[..2]).join(&hex[2..]));
}

#[test]
fn a_flipped_byte_is_found_and_the_blob_put_aside() {
    let (_root, store) = store();
    let digest = store.cas().put(b"harbour").expect("put");
    flip_byte(&store.cas().path(&digest));
    let error = store.cas().get(&digest).expect_err("corrupt");
    assert!(matches!(error.kind, StoreErrorKind::Corrupt { expected } if expected == digest));
    assert_eq!(error.lost_blob(), Some(digest));
    let error = store.cas().get(&digest).expect_err("gone");
    assert!(matches!(error.kind, StoreErrorKind::Missing { .. }));
    assert_eq!(files_below(&store.root().join("quarantine")), 1);
    assert_eq!(store.take_incidents().len(), 1);
    assert!(store.incidents().is_empty());
    assert_eq!(store.cas().put(b"harbour").expect("put"), digest);
    assert_eq!(store.cas().get(&digest).expect("get"), b"harbour");
}

#[test]
fn the_file_of_a_blob_is_verified_too() {
    let (_root, store) = store();
    let digest = store.cas().put(b"harbour").expect("put");
    let path = store.cas().file(&digest).expect("file");
    assert_eq!((path.clone(), fs::read(&path).expect("read")), (store.cas().path(&digest), b"harbour".to_vec()));
    flip_byte(&path);
    let error = store.cas().file(&digest).expect_err("corrupt");
    assert!(matches!(error.kind, StoreErrorKind::Corrupt { expected } if expected == digest));
    assert_eq!(files_below(&store.root().join("quarantine")), 1);
    let error = store.cas().file(&digest).expect_err("gone");
    assert!(matches!(error.kind, StoreErrorKind::Missing { .. }));
}

#[test]
fn actions_are_listed_explained_and_forgotten() {
    let (_root, store) = store();
    let (one, two) = (record(&store, "one").0, record(&store, "two").0);
    let mut keys = vec![one, two];
    keys.sort();
    assert_eq!(store.actions().all().expect("all"), keys);
    assert_eq!(store.actions().manifest(&one).expect("manifest").expect("there").key(), one);
    store.actions().remove(&one).expect("remove");
    store.actions().remove(&one).expect("remove again");
    assert_eq!(store.actions().get(&one).expect("get"), None);
    assert_eq!(store.actions().manifest(&one).expect("manifest"), None);
    assert_eq!(store.actions().all().expect("all"), [two]);
}

#[test]
fn a_malformed_action_is_put_aside_and_runs_again() {
    let (_root, store) = store();
    let (key, other) = (record(&store, "one").0, record(&store, "two").0);
    let at = |key: &Digest| {
        let hex = key.hex();
        store.root().join("actions-v1").join(&hex[..2]).join(format!("{}.json", &hex[2..]))
    };
    fs::write(at(&key), "{\"format\":1").expect("write");
    assert_eq!(store.actions().get(&key).expect("get"), None);
    fs::copy(at(&other), at(&key)).expect("copy");
    assert_eq!(store.actions().get(&key).expect("get"), None, "another action's record");
    assert_eq!(store.incidents().len(), 2);
    // A damaged byte that leaves a record which can be read.
    let text = fs::read_to_string(at(&other)).expect("read");
    fs::write(at(&other), text.replacen("\"chunks\"", "\"chunkr\"", 1)).expect("write");
    assert_eq!(store.actions().get(&other).expect("get"), None, "an output of another name");
    assert_eq!(store.incidents().len(), 3);
    // Of one that was withdrawn, too.
    let withdrawn = record(&store, "three").0;
    store.actions().withdraw(&withdrawn, "the knowledge base was deleted").expect("withdraw");
    let found = store.actions().get(&withdrawn).expect("get").expect("it stays");
    assert_eq!(found.withdrawn.as_deref(), Some("the knowledge base was deleted"));
    let text = fs::read_to_string(at(&withdrawn)).expect("read");
    fs::write(at(&withdrawn), text.replacen("\"chunks\"", "\"chunkr\"", 1)).expect("write");
    assert_eq!(store.actions().get(&withdrawn).expect("get"), None, "an output of another name");
    assert_eq!(store.incidents().len(), 4);
    fs::write(at(&key), "{\"format\":2,\"what\":\"is this\"}").expect("write");
    let error = store.actions().get(&key).expect_err("newer");
    assert!(matches!(error.kind, StoreErrorKind::Newer { found: 2, known: 1 }));
    assert!(at(&key).exists());
}

#[test]
fn salts_are_kept_by_evaluation() {
    let (_root, store) = store();
    assert!(store.salts().get("harbour").expect("get").is_empty());
    store.salts().bump("harbour", &["chunk", "answer"]).expect("bump");
    let salts = store.salts().bump("harbour", &["answer"]).expect("bump");
    assert_eq!(salts, [("answer".to_string(), 2), ("chunk".to_string(), 1)].into());
    assert_eq!(store.salts().get("harbour").expect("get"), salts);
    assert!(store.salts().get("other").expect("get").is_empty());
}

#[test]
fn no_bump_of_many_is_lost() {
    let (_root, store) = store();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    store.salts().bump("harbour", &["answer"]).expect("bump");
                }
            });
        }
    });
    assert_eq!(store.salts().get("harbour").expect("get")["answer"], 20);
}

#[test]
fn runs_are_listed_newest_first() {
    let (_root, store) = store();
    let first = store.runs().create("harbour").expect("create");
    first.write_json("outcome.json", &serde_json::json!({ "done": 3 })).expect("write");
    first.append_line("events.jsonl", "{\"event\":\"began\"}").expect("append");
    first.append_line("events.jsonl", "{\"event\":\"ended\"}").expect("append");
    let events = fs::read_to_string(first.path().join("events.jsonl")).expect("read");
    assert_eq!(events, "{\"event\":\"began\"}\n{\"event\":\"ended\"}\n");
    // Ids have the millisecond in them; older ones are made by hand.
    let old = "20200101T000000Z-0000000a";
    let dir = store.root().join("runs").join(old);
    fs::create_dir(&dir).expect("dir");
    fs::write(dir.join("run.json"), format!("{{\"format\":1,\"id\":\"{old}\",\"evaluation\":\"lighthouse\"}}"))
        .expect("write");
    fs::create_dir(store.root().join("runs/20990101T000000Z-0000000b")).expect("a record that was never begun");
    let runs = store.runs().list().expect("list");
    assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), [first.id(), old]);
    assert_eq!(store.runs().latest("lighthouse").expect("latest").expect("there").id(), old);
    assert!(store.runs().latest("nothing").expect("latest").is_none());
    let outcome: Option<serde_json::Value> = store.runs().read_json(first.id(), "outcome.json").expect("read");
    assert_eq!(outcome.expect("there")["done"], 3);
    assert_eq!(store.runs().read_json::<serde_json::Value>(first.id(), "none.json").expect("read"), None);
    let (time, nonce) = first.id().split_once('-').expect("two parts");
    assert!(time.len() == 20 && time.ends_with('Z') && nonce.len() == 8);
}

#[test]
fn runs_of_one_second_are_in_their_order() {
    let (_root, store) = store();
    let mut made: Vec<String> = (0..8)
        .map(|_| {
            // Two runs are never of one millisecond: a process does not start that fast.
            thread::sleep(std::time::Duration::from_millis(2));
            store.runs().create("harbour").expect("create").id().to_string()
        })
        .collect();
    made.reverse();
    let listed: Vec<String> = store.runs().list().expect("list").into_iter().map(|run| run.id).collect();
    assert_eq!(listed, made);
}

#[test]
fn a_lock_has_one_owner_among_handles_and_threads() {
    let (_root, store) = store();
    let other = Store::open(store.root()).expect("open");
    let key = Digest::of(b"action");
    let (inside, passed, waited) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let guard = store.locks().acquire(&key, &mut || panic!("it is free")).expect("acquire");
    let mut looks = 0;
    let given_up = store.locks().acquire_while(&key, &mut || {
        looks += 1;
        looks < 3
    });
    assert!(given_up.expect("acquire").is_none());
    assert_eq!(looks, 3, "asked again and again");
    assert!(other.locks().try_acquire(&key).expect("try").is_none());
    assert!(other.locks().try_acquire(&Digest::of(b"other")).expect("try").is_some());
    thread::scope(|scope| {
        for number in 0..8 {
            let locks = if number % 2 == 0 { store.locks() } else { other.locks() };
            scope.spawn(|| {
                for _ in 0..50 {
                    let mut calls = 0;
                    let _guard = locks.acquire(&key, &mut || calls += 1).expect("acquire");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    passed.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    assert!(calls <= 1, "told once");
                    waited.fetch_add(calls, Ordering::SeqCst);
                }
            });
        }
        assert_eq!(passed.load(Ordering::SeqCst), 0);
        drop(guard);
    });
    assert_eq!(passed.load(Ordering::SeqCst), 400);
    assert_eq!(files_below(&store.root().join("locks")), 0, "a lock is a file only while it is held");
}

#[test]
fn verify_reports_each_kind_of_damage_once() {
    let (_root, store) = store();
    let ((healthy, _), (_, corrupt), (lost_key, lost)) =
        (record(&store, "one"), record(&store, "two"), record(&store, "three"));
    let report = store.verify().expect("verify");
    assert!(report.is_clean() && report.strays.is_empty());
    assert_eq!((report.blobs, report.actions), (3, 3));
    flip_byte(&store.cas().path(&corrupt));
    fs::remove_file(store.cas().path(&lost)).expect("remove");
    let hex = healthy.hex();
    let manifest = store.root().join("actions-v1").join(&hex[..2]).join(format!("{}.manifest.json", &hex[2..]));
    fs::write(&manifest, "{\"fields\":[]}").expect("write");
    fs::write(store.root().join("cas-v1/notes.txt"), "x").expect("write");
    let report = store.verify().expect("verify");
    assert_eq!(report.corrupt_blobs, [corrupt]);
    assert!(report.missing_blobs.contains(&(lost_key, "chunks".to_string(), lost)));
    assert_eq!(report.missing_blobs.len(), 2, "a blob in quarantine is missing too");
    assert_eq!(report.wrong_manifests, [healthy]);
    assert_eq!(report.strays, [store.root().join("cas-v1/notes.txt")]);
    assert!(!report.is_clean());
}

#[test]
fn usage_counts_files_and_bytes() {
    let (_root, store) = store();
    store.cas().put(b"harbour").expect("put");
    store.cas().put(b"sea").expect("put");
    let usage = store.usage().expect("usage");
    let cas = usage.buckets.iter().find(|bucket| bucket.name == "cas-v1").expect("there");
    assert_eq!((cas.files, cas.bytes), (2, 10));
    // Version, tag, gate and this process's lock.
    assert_eq!(usage.files(), 6);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map(".*", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_manifest_read_back_is_the_preimage_of_its_key(value in json()) {
        let params = Params(value);
        let manifest = Manifest::of(&params);
        let text = serde_json::to_string(&manifest).expect("write");
        let back: Manifest = serde_json::from_str(&text).expect("read");
        prop_assert_eq!(back.key(), key_of(&params));
        prop_assert!(Manifest::diff(&manifest, &back).is_empty());
    }
}
