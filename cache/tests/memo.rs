//! The memory of source files' digests.

use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use ragstage_cache::{Digest, Store};

/// Writes a file and waits until it may be remembered: its ctime is the file system's own.
fn write_settled(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("write");
    touch(path, Duration::from_secs(60));
    settle();
}

fn settle() {
    std::thread::sleep(Duration::from_millis(100));
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
    settle();
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
    let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    for text in ["aaaa", "bbbb", "cccc", "dddd"] {
        // Same size, same inode, and a ctime that may be the same too. The mtime is set back, as `touch -r` does.
        fs::write(&path, text).expect("write");
        File::options().write(true).open(&path).expect("open").set_times(times).expect("touch");
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

#[test]
fn what_would_be_read_without_end_is_refused() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(&root.path().join("store")).expect("open");
    let (pipe, link) = (root.path().join("pipe"), root.path().join("link"));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    std::os::unix::fs::symlink("/dev/zero", &link).expect("link");
    for path in [&pipe, &link] {
        assert_eq!(store.memo().digest(path).expect_err("special").to_string(), "not a regular file");
    }
    assert_eq!(store.memo().digest(root.path()).expect_err("folder").to_string(), "is a directory");
    assert_eq!(store.memo().hashed(), 0);
}

#[test]
fn a_memo_of_another_shape_is_ignored() {
    let root = tempfile::tempdir().expect("tempdir");
    let (dir, path) = (root.path().join("store"), root.path().join("corpus.jsonl"));
    fs::write(&path, b"one").expect("write");
    let store = Store::open(&dir).expect("open");
    let stat = "{\"size\":3,\"mtime_ns\":1,\"ctime_ns\":1,\"inode\":1}";
    let digest = Digest::of(b"two");
    let memo = format!("{{\"format\":1,\"files\":[[{path:?},{stat},\"{digest}\"]]}}");
    fs::write(dir.join("memo-v1.json"), memo).expect("write");
    assert_eq!(store.memo().digest(&path).expect("digest").digest, Digest::of(b"one"));
}
