//! What a run came to: the digests of all value artifacts, and the published scores. Observations (latency, times) are
//! exempt from the law that a warm run gives what a cold one gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What a run came to; equal for runs that gave the same.
#[derive(Debug, PartialEq, Eq)]
pub struct Values {
    /// Digests of value artifacts, by label of the action and name of the output.
    pub artifacts: BTreeMap<(String, String), String>,
    /// The bytes of `scores.parquet`.
    pub scores: Vec<u8>,
}

impl Values {
    /// What the latest run in the store at `store` came to, with the report in `report`.
    pub fn of(store: &Path, report: &Path) -> Self {
        let actions = read_json(&latest_run(store).join("actions.json"));
        let mut artifacts = BTreeMap::new();
        for (label, action) in actions.as_object().expect("actions by label") {
            let key = action["key"].as_str().expect("a key");
            let record = read_json(&action_record(store, key));
            for output in record["outputs"].as_array().expect("outputs") {
                if output["observation"] == false {
                    let name = output["name"].as_str().expect("a name").to_string();
                    let digest = output["digest"].as_str().expect("a digest").to_string();
                    artifacts.insert((label.clone(), name), digest);
                }
            }
        }
        assert!(artifacts.len() >= 6, "{artifacts:?}");
        Values { artifacts, scores: std::fs::read(report.join("scores.parquet")).expect("scores.parquet") }
    }
}

/// The folder of the newest run record that has ended.
pub fn latest_run(store: &Path) -> PathBuf {
    let runs = std::fs::read_dir(store.join("runs")).expect("runs").map(|entry| entry.expect("entry").path());
    runs.filter(|run| run.join("outcome.json").is_file())
        .max_by_key(|run| std::fs::metadata(run.join("outcome.json")).and_then(|found| found.modified()).expect("time"))
        .expect("a run that ended")
}

/// The file of the action with this key.
pub fn action_record(store: &Path, key: &str) -> PathBuf {
    store.join("actions-v1").join(&key[..2]).join(format!("{}.json", &key[2..]))
}

/// The files below a folder of the store, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// A JSON file.
pub fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
