//! The memory of source files' digests.

use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

use ragstage_cache::{Digest, Store};

/// Writes a file as if it had been written a minute ago.
fn write_settled(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("write");
    touch(path, Duration::from_secs(60));
}

fn touch(path: &Path, age: Duration) {
    let file = File::options().write(true).open(path).expect("open");
    file.set_times(FileTimes::new().set_modified(SystemTime::now() - age)).expect("touch");
}

#[test]
fn a_file_is_hashed_once_and_again_when_it_changed() {
    let root = tempfile::tempdir().expect("tempdir");
    let (dir, path) = (root.path().join("store"), root.path().join("corpus.jsonl"));
    write_settled(&path, b"one");
    let store = Store::open(&dir).expect("open");
    let first = store.memo().digest(&path).expect("digest");
    assert_eq!((first.digest, first.size), (Digest::of(b"one"), 3));
    assert_eq!(store.memo().digest(&path).expect("digest"), first);
    assert_eq!(store.memo().hashed(), 1);
    store.memo().save().expect("save");

    let store = Store::open(&dir).expect("open");
    assert_eq!(store.memo().digest(&path).expect("digest"), first);
    assert_eq!(store.memo().hashed(), 0, "another process remembers");
    touch(&path, Duration::from_secs(30));
    assert_eq!(store.memo().digest(&path).expect("digest"), first, "a touch does not change the digest");
    assert_eq!(store.memo().hashed(), 1);
    write_settled(&path, b"two");
    assert_eq!(store.memo().digest(&path).expect("digest").digest, Digest::of(b"two"));
    assert!(store.memo().digest(&root.path().join("none")).is_err());
}

#[test]
fn an_edit_right_after_hashing_is_seen() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(&root.path().join("store")).expect("open");
    let path = root.path().join("corpus.jsonl");
    for text in ["aaaa", "bbbb", "cccc", "dddd"] {
        // Same size, same inode, and an mtime that may be the same too.
        fs::write(&path, text).expect("write");
        assert_eq!(store.memo().digest(&path).expect("digest").digest, Digest::of(text.as_bytes()));
    }
    assert_eq!(store.memo().hashed(), 4, "what was just written is not remembered");
}

#[test]
fn a_malformed_memo_is_ignored_and_an_unchanged_one_not_written() {
    let root = tempfile::tempdir().expect("tempdir");
    let (dir, path) = (root.path().join("store"), root.path().join("corpus.jsonl"));
    let memo = dir.join("memo-v1.json");
    write_settled(&path, b"one");
    let store = Store::open(&dir).expect("open");
    store.memo().save().expect("save");
    assert!(!memo.exists());
    fs::write(&memo, "{\"format\":1,\"files\":[[").expect("write");
    let store = Store::open(&dir).expect("open");
    assert_eq!(store.memo().digest(&path).expect("digest").digest, Digest::of(b"one"));
    assert_eq!(store.incidents().len(), 1);
    store.memo().save().expect("save");
    let store = Store::open(&dir).expect("open");
    store.memo().digest(&path).expect("digest");
    assert_eq!((store.memo().hashed(), store.incidents().len()), (0, 0));
}
