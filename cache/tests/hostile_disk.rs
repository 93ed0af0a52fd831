//! Disks that are full or read-only. They are small file systems of their own, which only root may mount; elsewhere these
//! tests say that they were skipped.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use ragstage_cache::rows::{Durability, StoredRow};
use ragstage_cache::{Digest, KeyVisitor, Manifest, Store, StoreErrorKind, Walk};

struct Example;

impl Walk for Example {
    fn walk(&self, visitor: &mut dyn KeyVisitor) {
        visitor.text("name", "example");
    }
}

/// Says so past the harness, which swallows what a passing test prints with `eprintln!`.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

struct Mount(tempfile::TempDir);

impl Mount {
    fn tmpfs(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().expect("tempdir");
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Mount(dir));
        }
        skipped("no tmpfs can be mounted here");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn make_read_only(&self) -> bool {
        let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(self.path()).output();
        remounted.is_ok_and(|output| output.status.success())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).output();
    }
}

fn row(bytes: usize) -> StoredRow {
    StoredRow { value: vec![7; bytes], observation: Vec::new() }
}

#[test]
fn a_full_disk_is_said_to_be_full_and_loses_nothing() {
    let Some(mount) = Mount::tmpfs("256k") else { return };
    let root = mount.path().join("store");
    let store = Store::open(&root).expect("open");
    let slot = store.rows().slot(&Digest::of(b"slot"), &|| Manifest::of(&Example)).expect("slot");
    slot.append(Digest::of(b"first"), row(100), Durability::Paid).expect("append");

    let error = store.cas().put(&vec![1; 400 << 10]).expect_err("too large");
    assert!(matches!(error.kind, StoreErrorKind::Full), "{error}");
    let scratch = std::fs::read_dir(root.join("tmp")).expect("list").map(|entry| entry.expect("entry").path());
    let left: usize = scratch.filter(|path| path.is_dir()).map(|path| path.read_dir().expect("list").count()).sum();
    assert_eq!(left, 1, "of the scratch directory only its lock is left");

    let error = slot.append(Digest::of(b"large"), row(400 << 10), Durability::Paid).expect_err("too large");
    assert!(matches!(error.kind, StoreErrorKind::Full), "{error}");
    assert!(slot.get(&Digest::of(b"large")).is_none());
    slot.append(Digest::of(b"second"), row(100), Durability::Paid).expect("what was written of the large row is cut");
    drop((slot, store));

    let store = Store::open(&root).expect("open");
    let keys = [Digest::of(b"first"), Digest::of(b"second"), Digest::of(b"large")];
    assert_eq!(store.rows().peek(&Digest::of(b"slot"), &keys).expect("peek").iter().filter(|found| **found).count(), 2);
    assert!(store.incidents().is_empty());
}

#[test]
fn a_read_only_store_can_be_read() {
    let Some(mount) = Mount::tmpfs("4m") else { return };
    let root = mount.path().join("store");
    let store = Store::open(&root).expect("open");
    let blob = store.cas().put(b"harbour").expect("put");
    let slot = Digest::of(b"slot");
    let rows = store.rows().slot(&slot, &|| Manifest::of(&Example)).expect("slot");
    rows.append(Digest::of(b"a"), row(10), Durability::Paid).expect("append");
    drop((rows, store));
    if !mount.make_read_only() {
        skipped("the tmpfs cannot be made read-only");
        return;
    }
    let store = Store::open(&root).expect("open");
    assert!(!store.writable());
    assert_eq!(store.cas().get(&blob).expect("get"), b"harbour");
    assert_eq!(store.rows().peek(&slot, &[Digest::of(b"a")]).expect("peek"), [true]);
    assert!(store.verify().expect("verify").is_clean());
    store.memo().save().expect("nothing to do");
    let rows = store.rows().slot(&slot, &|| Manifest::of(&Example)).expect("slot");
    let refused = [
        store.cas().put(b"new").map(drop).expect_err("put"),
        store.runs().create("harbour").map(drop).expect_err("run"),
        store.salts().bump("harbour", &["chunk"]).map(drop).expect_err("salt"),
        store.locks().acquire(&blob, &mut || {}).map(drop).expect_err("lock"),
        rows.append(Digest::of(b"b"), row(10), Durability::Free).map(drop).expect_err("row"),
        Store::open(&mount.path().join("new")).map(drop).expect_err("a store that is not there"),
    ];
    for error in refused {
        assert!(matches!(error.kind, StoreErrorKind::ReadOnly), "{error}");
    }
    assert_eq!(store.cas().put(b"harbour").expect("what is there need not be written"), blob);
    store.rows().close().expect("close");
}
