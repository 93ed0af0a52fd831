//! Writers that are killed. The parent starts this test binary again as the writer.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ragstage_cache::rows::{Durability, StoredRow};
use ragstage_cache::{Digest, KeyVisitor, Manifest, Store, Walk};

const ROOT: &str = "RAGSTAGE_TEST_STORE";
const ROUNDS: usize = 12;

struct Example;

impl Walk for Example {
    fn walk(&self, visitor: &mut dyn KeyVisitor) {
        visitor.text("name", "example");
    }
}

fn slot() -> Digest {
    Manifest::of(&Example).key()
}

fn key(number: usize) -> Digest {
    Digest::of(&number.to_le_bytes())
}

fn row(number: usize) -> StoredRow {
    // Of many lengths, so that kills come at many offsets.
    StoredRow { value: vec![number as u8; 1 + number * 37 % 5000], observation: number.to_le_bytes().to_vec() }
}

/// Not a test of its own: the process that is killed. It says each row's number once the row is stored.
#[test]
fn writer() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let store = Store::open(Path::new(&root)).expect("open");
    let rows = store.rows().slot(&slot(), &|| Manifest::of(&Example)).expect("slot");
    let mut out = std::io::stdout().lock();
    for number in 0.. {
        if rows.get(&key(number)).is_some() {
            continue;
        }
        let durability = if number % 3 == 0 { Durability::Paid } else { Durability::Free };
        rows.append(key(number), row(number), durability).expect("append");
        writeln!(out, "\nstored {number}").and_then(|()| out.flush()).expect("say");
    }
}

fn start_writer(root: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", "writer", "--nocapture"]).env(ROOT, root);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("start")
}

#[test]
fn no_stored_row_is_lost_and_no_torn_one_trusted() {
    let root = tempfile::tempdir().expect("tempdir");
    let mut stored = 0;
    for round in 0..ROUNDS {
        let mut child = start_writer(root.path());
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut told = 0;
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("stored ") {
                stored = stored.max(number.parse::<usize>().expect("a number") + 1);
                told += 1;
            }
            if told > 5 + round * 7 {
                break;
            }
        }
        child.kill().expect("kill");
        child.wait().expect("wait");
        // What it said before it died counts too.
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("stored ").and_then(|number| number.parse::<usize>().ok()) {
                stored = stored.max(number + 1);
            }
        }
        let store = Store::open(root.path()).expect("open");
        let rows = store.rows().slot(&slot(), &|| Manifest::of(&Example)).expect("slot");
        for number in 0..stored {
            assert_eq!(*rows.get(&key(number)).expect("stored before the kill"), row(number), "row {number}");
        }
    }
    let slot_dir = root.path().join("rows-v1").join(&slot().hex()[..2]).join(&slot().hex()[2..]);
    let journals = std::fs::read_dir(slot_dir).expect("list").count() - 1;
    assert_eq!(journals, 1, "each writer went on in the journal of the one before");
    drop(Store::open(root.path()).expect("open"));
    let tmp = std::fs::read_dir(root.path().join("tmp")).expect("list").count();
    assert_eq!(tmp, 1, "the temporary files of the killed are swept; the gate stays");
}
