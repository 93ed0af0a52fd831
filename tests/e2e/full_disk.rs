//! Disks that are full or read-only: a clear error, nothing half-written, and the next run recovers. They are small file
//! systems of their own, which only root may mount; elsewhere these tests say that they were skipped.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::provider::{Act, Provider};
use super::quiz::{question, quiz};
use super::space::Space;
use super::values::{Values, files};

const CASES: usize = 40;

/// A file system in memory over a folder; gone on drop.
struct Disk<'a> {
    space: &'a Space,
    name: &'static str,
}

impl<'a> Disk<'a> {
    /// Mounts a disk of `size` at the folder `name`; `None` where that is not allowed.
    fn mount(space: &'a Space, name: &'static str, size: &str) -> Option<Self> {
        std::fs::create_dir_all(space.path(name)).expect("a folder");
        let options = format!("size={size}");
        if mount(&["-t", "tmpfs", "-o", &options, "tmpfs"], &space.path(name)) {
            return Some(Disk { space, name });
        }
        // Past the harness, which swallows what a passing test prints with `eprintln!`.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no tmpfs can be mounted here; full disks are not tested");
        None
    }

    fn remount(&self, options: &str) {
        let done = mount(&["-o", &format!("remount,{options}")], &self.space.path(self.name));
        assert!(done, "a disk that was mounted can be mounted again");
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.space.path(self.name)).output();
    }
}

fn mount(arguments: &[&str], folder: &Path) -> bool {
    let mounted = Command::new("mount").args(arguments).arg(folder).output();
    mounted.is_ok_and(|output| output.status.success())
}

/// A quiz whose replies are long enough to fill a small disk.
fn long_winded(text: usize) -> (Provider, Space) {
    let provider = Provider::new(move |asked| Act::Body(long_reply(&asked.query, text)));
    let space = quiz(CASES, &provider.system(), "concurrency: 1");
    (provider, space)
}

fn long_reply(query: &str, text: usize) -> String {
    let mut reply: serde_json::Value = serde_json::from_str(&super::quiz::reply(query)).expect("json");
    // Bytes that do not compress, so that artifacts are as large as rows.
    let mut state = query.bytes().fold(17_u64, |state, byte| state.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let noise = (0..text).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 33) as u8 % 26)
    });
    reply["results"][0]["text"] = noise.collect::<String>().into();
    reply.to_string()
}

#[test]
fn a_run_on_a_full_disk_stops_and_continues_when_there_is_space() {
    let (provider, space) = long_winded(8 << 10);
    let Some(disk) = Disk::mount(&space, "store", "256k") else { return };
    let full = space.run("quiz.yaml --store store/s").expect(30);
    assert!(full.stderr.contains("no space left"), "{}", full.stderr);
    assert!(full.stderr.contains("hint: free some space"), "{}", full.stderr);
    let paid = full.row_counts()["retrieve"];
    assert!((5..CASES).contains(&paid), "{paid} rows fitted");
    assert_eq!(provider.requests(), paid + 1, "after the one that did not fit nothing more was asked");
    assert!(!space.path("reports").exists(), "nothing is published of a run that did not end");
    space.ragstage("cache verify --store store/s").expect(0);

    // Still full: nothing more is paid for than can be kept.
    provider.rescript(|asked| Act::Body(long_reply(&asked.query, 8 << 10)));
    space.run("quiz.yaml --store store/s").expect(30);
    assert!(provider.requests() <= 1, "{} were asked", provider.requests());

    disk.remount("size=64m");
    let asked_before = provider.requests();
    let run = space.run("quiz.yaml --store store/s").expect(0);
    assert_eq!(provider.requests() - asked_before, CASES - paid, "what was paid for is kept");
    assert_eq!(run.row_counts()["retrieve"], CASES - paid);
    space.ragstage("cache verify --store store/s").expect(0);

    space.ragstage("run quiz.yaml --store other --output other-report").expect(0);
    let values = |store: &str, report: &str| Values::of(&space.path(store), &space.path(report));
    assert_eq!(values("store/s", "reports/quiz"), values("other", "other-report"));
}

#[test]
fn a_disk_that_is_full_for_artifacts_keeps_every_row() {
    // The rows fit, the table made of them does not: whichever write fails, the rows stay.
    let (provider, space) = long_winded(4 << 10);
    let Some(disk) = Disk::mount(&space, "store", "300k") else { return };
    let full = space.run("quiz.yaml --store store/s").expect(30);
    assert_eq!(provider.requests(), CASES);
    assert!(full.stderr.contains("no space left"), "{}", full.stderr);
    space.ragstage("cache verify --store store/s").expect(0);
    let temporary = files(&space.path("store/s/tmp"));
    assert!(temporary.iter().all(|path| path.ends_with("gate")), "{temporary:?}");
    disk.remount("size=64m");
    space.run("quiz.yaml --store store/s").expect(0);
    assert_eq!(provider.counts(), (1..=CASES).map(|number| (question(number), 1)).collect());
}

#[test]
fn a_disk_that_is_full_of_other_things_lets_a_warm_run_through() {
    let provider = Provider::healthy();
    let space = quiz(4, &provider.system(), "concurrency: 1");
    let Some(disk) = Disk::mount(&space, "store", "8m") else { return };
    space.run("quiz.yaml --store store/s").expect(0);
    let filled = std::fs::write(space.path("store/other"), vec![1; 16 << 20]);
    assert!(filled.is_err(), "the disk is full");
    let warm = space.run("quiz.yaml --store store/s").expect(0);
    assert_eq!(warm.executed(), BTreeMap::new());
    assert!(warm.stdout.contains("Nothing to do"), "{}", warm.stdout);
    space.edit("quiz.yaml", "top_k: 3", "top_k: 4");
    let stale = space.run("quiz.yaml --store store/s").expect(30);
    assert!(stale.stderr.contains("no space left"), "{}", stale.stderr);
    assert!(provider.requests() <= 5, "at most one was paid for that could not be kept");
    drop(disk);
}

#[test]
fn a_read_only_store_serves_what_is_fresh_and_refuses_the_rest() {
    let provider = Provider::healthy();
    let space = quiz(4, &provider.system(), "concurrency: 1");
    let Some(disk) = Disk::mount(&space, "store", "8m") else { return };
    space.run("quiz.yaml --store store/s").expect(0);
    disk.remount("ro");
    let before = files(&space.path("store/s"));

    let warm = space.run("quiz.yaml --store store/s").expect(0);
    assert!(warm.stdout.contains("Nothing to do"), "{}", warm.stdout);
    assert_eq!(warm.executed(), BTreeMap::new());
    std::fs::remove_dir_all(space.path("reports")).expect("remove reports");
    space.run("quiz.yaml --store store/s").expect(0);
    assert!(space.path("reports/quiz/report.json").is_file(), "reports are published from it");
    for command in [
        "plan quiz.yaml",
        "status quiz.yaml",
        "explain score --file quiz.yaml",
        "report quiz.yaml",
        "cache size",
        "cache verify",
        "cache gc --grace-hours 0",
    ] {
        space.ragstage(&format!("{command} --store store/s")).expect(0);
    }

    space.edit("quiz.yaml", "top_k: 3", "top_k: 4");
    for arguments in ["", "--force retrieve"] {
        let refused = space.run(&format!("quiz.yaml --store store/s {arguments}")).expect(30);
        assert!(refused.stderr.contains("not writable") && refused.stderr.contains("hint:"), "{}", refused.stderr);
    }
    let refused = space.ragstage("cache gc --grace-hours 0 --apply --store store/s").expect(30);
    assert!(refused.stderr.contains("not writable"), "{}", refused.stderr);
    assert_eq!(provider.requests(), 4, "nothing is paid for that cannot be kept");
    assert_eq!(files(&space.path("store/s")), before, "nothing was written");

    disk.remount("rw");
    space.run("quiz.yaml --store store/s").expect(0);
    assert_eq!(provider.requests(), 8);
}

#[test]
fn a_store_that_cannot_be_made_is_an_error() {
    let provider = Provider::healthy();
    let space = quiz(2, &provider.system(), "concurrency: 1");
    let Some(disk) = Disk::mount(&space, "store", "1m") else { return };
    disk.remount("ro");
    let refused = space.run("quiz.yaml --store store/new").expect(30);
    assert!(refused.stderr.contains("not writable") && refused.stderr.contains("--store"), "{}", refused.stderr);
    assert_eq!(provider.requests(), 0);
}

#[test]
fn reports_that_cannot_be_written_lose_nothing_else() {
    let provider = Provider::healthy();
    let space = quiz(2, &provider.system(), "concurrency: 1");
    // A file where the folder should be.
    space.write("reports", "in the way");
    let refused = space.run("quiz.yaml").expect(3);
    assert!(refused.stderr.contains("reports/quiz/report.html"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--output"), "{}", refused.stderr);
    assert_eq!(space.read("reports"), "in the way");
    let elsewhere = space.run("quiz.yaml --output elsewhere").expect(0);
    assert_eq!(elsewhere.executed(), BTreeMap::new(), "the evaluation itself was done");
    assert_eq!(files(&space.path("elsewhere")).len(), 4);

    let Some(disk) = Disk::mount(&space, "disk", "1m") else { return };
    disk.remount("ro");
    space.run("quiz.yaml --output disk/report").expect(3);
    space.ragstage("report quiz.yaml --output disk/report").expect(3);
    disk.remount("rw,size=4k");
    space.run("quiz.yaml --output disk/report").expect(3);
    let left = files(&space.path("disk"));
    assert!(left.is_empty(), "nothing half-written: {left:?}");
    disk.remount("size=4m");
    space.run("quiz.yaml --output disk/report").expect(0);
    assert_eq!(files(&space.path("disk/report")).len(), 4);
}
