//! One evaluation in two processes, one with a thread and one with four: all values have the same bytes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use ragstage_cache::{Digest, Store};

use crate::golden::folder;

/// The digests of all values that an evaluation makes in a new store, by action and output.
fn values(store: &Path, jobs: &str) -> BTreeMap<String, Digest> {
    let reports = store.with_extension("reports");
    let output = Command::new(env!("CARGO_BIN_EXE_ragstage"))
        .arg("--store")
        .arg(store)
        .args(["run", "--quiet", "--jobs", jobs, "--output"])
        .arg(&reports)
        .arg(folder().join("evaluation.yaml"))
        .output()
        .expect("the command starts");
    // 10: one document is a PDF, which no parser reads.
    assert_eq!(output.status.code(), Some(10), "{}", String::from_utf8_lossy(&output.stderr));
    let store = Store::open(store).expect("the store");
    let run = store.runs().latest("harbour").expect("the runs").expect("a run");
    let actions: BTreeMap<String, ragstage::exec::RecordedAction> =
        store.runs().read_json(run.id(), ragstage::exec::ACTIONS_FILE).expect("the actions").expect("a file");
    let mut values = BTreeMap::new();
    for (label, action) in actions {
        assert!(action.complete, "{label}");
        let record = store.actions().get(&action.key).expect("the record").expect("a kept action");
        for output in record.outputs.iter().filter(|output| !output.observation) {
            assert_eq!(action.outputs.get(&output.name), Some(&output.digest), "{label}");
            values.insert(format!("{label}: {}", output.name), output.digest);
        }
    }
    values
}

#[test]
fn bytes_are_equal_in_two_processes_and_for_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = values(&folder.path().join("one"), "1");
    let four = values(&folder.path().join("four"), "4");
    assert!(one.keys().any(|name| name.starts_with("aggregate")) && one.len() > 40, "{one:?}");
    assert_eq!(one, four);
}
