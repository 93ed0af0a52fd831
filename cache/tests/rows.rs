//! Row caches: many writers, deaths, rolls and merges.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use ragstage_cache::rows::{Durability, RowSlot, StoredRow};
use ragstage_cache::{Digest, KeyVisitor, Manifest, Store, Walk};

struct Example;

impl Walk for Example {
    fn walk(&self, visitor: &mut dyn KeyVisitor) {
        visitor.begin_record("", "example");
        visitor.uint("top_k", 10);
        visitor.end();
    }
}

fn slot() -> Digest {
    Manifest::of(&Example).key()
}

fn key(number: usize) -> Digest {
    Digest::of(format!("case {number}").as_bytes())
}

fn row(number: usize) -> StoredRow {
    StoredRow { value: format!("answer {number}").into_bytes(), observation: b"{\"ms\":12}".to_vec() }
}

fn open(store: &Store) -> Arc<RowSlot> {
    store.rows().slot(&slot(), &|| Manifest::of(&Example)).expect("slot")
}

fn fill(store: &Store, numbers: std::ops::Range<usize>) {
    let rows = open(store);
    for number in numbers {
        rows.append(key(number), row(number), Durability::Free).expect("append");
    }
}

fn has(store: &Store, numbers: std::ops::Range<usize>) -> bool {
    let rows = open(store);
    numbers.into_iter().all(|number| rows.get(&key(number)).is_some_and(|found| *found == row(number)))
}

fn dir(root: &Path) -> PathBuf {
    let hex = slot().hex();
    root.join("rows-v1").join(&hex[..2]).join(&hex[2..])
}

fn files(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir(root)) else { return Vec::new() };
    let paths: BTreeSet<_> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)))
        .collect()
}

#[test]
fn asking_makes_no_file_and_appending_does() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    assert_eq!(store.rows().peek(&slot(), &[key(1)]).expect("peek"), [false]);
    assert!(open(&store).get(&key(1)).is_none());
    assert!(!dir(root.path()).exists());
    fill(&store, 1..3);
    assert_eq!(store.rows().peek(&slot(), &[key(1), key(2), key(3)]).expect("peek"), [true, true, false]);
    assert_eq!(store.rows().manifest(&slot()).expect("manifest").expect("there").key(), slot());
    assert_eq!(store.rows().all().expect("all"), [slot()]);
}

#[test]
fn two_processes_see_each_others_rows() {
    let root = tempfile::tempdir().expect("tempdir");
    let (one, two) = (Store::open(root.path()).expect("open"), Store::open(root.path()).expect("open"));
    fill(&one, 0..10);
    fill(&two, 10..20);
    assert!(has(&one, 0..20) && has(&two, 0..20));
    assert_eq!(files(root.path(), "journal-").len(), 2, "writers never share a journal");
    fill(&one, 20..21);
    assert!(has(&two, 0..21), "a journal is read on from where it was read to");
}

#[test]
fn the_journal_of_a_dead_writer_is_adopted_and_its_torn_tail_cut() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    fill(&store, 0..5);
    // Dropped without close: what a killed process leaves, apart from its torn last record.
    drop(store);
    let journal = files(root.path(), "journal-").remove(0);
    let len = fs::metadata(&journal).expect("stat").len();
    fs::OpenOptions::new().write(true).open(&journal).expect("open").set_len(len - 3).expect("tear");
    let store = Store::open(root.path()).expect("open");
    assert!(has(&store, 0..4));
    assert!(open(&store).get(&key(4)).is_none(), "a torn row is not trusted");
    fill(&store, 4..6);
    assert_eq!(files(root.path(), "journal-"), [journal]);
    assert_eq!(store.take_incidents().len(), 1);
    drop(store);
    let store = Store::open(root.path()).expect("open");
    assert!(has(&store, 0..6));
    assert!(store.incidents().is_empty());
}

#[test]
fn long_journals_become_segments_and_many_segments_one() {
    let root = tempfile::tempdir().expect("tempdir");
    let mut segments = Vec::new();
    for round in 0..10 {
        let store = Store::open(root.path()).expect("open");
        fill(&store, round * 600..(round + 1) * 600);
        store.rows().close().expect("close");
        assert!(files(root.path(), "journal-").is_empty());
        segments.push(files(root.path(), "segment-").len());
    }
    assert_eq!(segments, [1, 2, 3, 4, 5, 6, 7, 8, 1, 2]);
    let store = Store::open(root.path()).expect("open");
    assert!(has(&store, 0..6000));
    assert_eq!(open(&store).len(), 6000);
}

#[test]
fn short_journals_stay() {
    let root = tempfile::tempdir().expect("tempdir");
    for round in 0..3 {
        let store = Store::open(root.path()).expect("open");
        fill(&store, round * 100..(round + 1) * 100);
        store.rows().close().expect("close");
    }
    assert_eq!(files(root.path(), "journal-").len(), 1);
    assert!(files(root.path(), "segment-").is_empty());
    assert!(has(&Store::open(root.path()).expect("open"), 0..300));
}

#[test]
fn a_roll_takes_the_journals_of_the_dead_and_leaves_those_of_the_living() {
    let root = tempfile::tempdir().expect("tempdir");
    let living = Store::open(root.path()).expect("open");
    let dead = Store::open(root.path()).expect("open");
    let closing = Store::open(root.path()).expect("open");
    fill(&living, 0..50);
    fill(&dead, 50..400);
    fill(&closing, 400..700);
    drop(dead);
    closing.rows().close().expect("close");
    assert_eq!(files(root.path(), "journal-").len(), 1);
    assert_eq!(files(root.path(), "segment-").len(), 1);
    fill(&living, 700..701);
    for store in [&living, &closing, &Store::open(root.path()).expect("open")] {
        assert!(has(store, 0..701));
    }
}

#[test]
fn a_row_written_again_overrides_the_one_in_a_segment() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    fill(&store, 0..600);
    store.rows().close().expect("close");
    let rows = open(&store);
    for number in 0..600 {
        rows.append(key(number), row(number + 1000), Durability::Free).expect("append");
    }
    assert_eq!(*rows.get(&key(7)).expect("there"), row(1007));
    store.rows().close().expect("close");
    assert_eq!(files(root.path(), "segment-").len(), 1, "two answers to one question are settled on disk");
    let store = Store::open(root.path()).expect("open");
    assert!((0..600).all(|number| open(&store).get(&key(number)).is_some_and(|found| *found == row(number + 1000))));
}

#[test]
fn a_damaged_segment_is_put_aside_and_its_rows_are_missing() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    fill(&store, 0..600);
    store.rows().close().expect("close");
    fill(&store, 600..610);
    let segment = files(root.path(), "segment-").remove(0);
    let mut bytes = fs::read(&segment).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).expect("write");
    let store = Store::open(root.path()).expect("open");
    assert!(has(&store, 600..610));
    assert_eq!(open(&store).len(), 10);
    assert_eq!(store.incidents().len(), 1);
    assert!(!segment.exists());
    assert_eq!(fs::read_dir(root.path().join("quarantine")).expect("list").count(), 1);
}

#[test]
fn paid_rows_of_eight_threads_are_all_there() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    let rows = open(&store);
    thread::scope(|scope| {
        for thread in 0..8 {
            let rows = &rows;
            scope.spawn(move || {
                for number in thread * 25..(thread + 1) * 25 {
                    let stored = rows.append(key(number), row(number), Durability::Paid).expect("append");
                    assert_eq!(rows.get(&key(number)), Some(stored));
                }
            });
        }
    });
    drop((rows, store));
    assert!(has(&Store::open(root.path()).expect("open"), 0..200));
}

#[test]
fn closing_while_others_append_loses_nothing() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in thread * 400..(thread + 1) * 400 {
                    let durability = if number % 50 == 0 { Durability::Paid } else { Durability::Free };
                    open(store).append(key(number), row(number), durability).expect("append");
                    if number % 100 == 99 {
                        store.rows().close().expect("close");
                    }
                }
            });
        }
    });
    drop(store);
    assert!(has(&Store::open(root.path()).expect("open"), 0..1600));
}
