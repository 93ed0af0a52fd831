//! The store of version 1, as the first program of that version wrote it: `fixtures/compat/v1/store`.
//!
//! It holds one action with one blob, one slot with a segment of 512 rows and a journal of 4, one run record, and salts.
//! The sample is never made anew: a program that cannot open it would lose what its users paid for.

use std::fs;
use std::path::{Path, PathBuf};

use ragstage_cache::action::OutputRecord;
use ragstage_cache::manifest::FieldValue;
use ragstage_cache::runs::{Roots, RunSummary};
use ragstage_cache::{Digest, Manifest, Store};

const KEY: &str = "3a3052e8643196686cb819842cac60d4492a54b2cbf9027aa2f5932d0cc08de2";
const BLOB: &str = "b7dfcf0964c4d4c1ef1021b1b49fd43b069aeb2aad634dd35669dd9319fb614e";
const SLOT: &str = "8f5dba55e729668a855d6cb469aac7088833146a17cd70c69b686b5305b8dc4c";
const RUN: &str = "20261130T192158Z-23852b1b";

fn digest(hex: &str) -> Digest {
    hex.parse().expect("a digest")
}

/// A copy of the sample, which opening may write to.
fn sample() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().expect("tempdir");
    let from = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/compat/v1/store");
    copy(&from, &dir.path().join("store"));
    let store = Store::open(&dir.path().join("store")).expect("open");
    (dir, store)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("dir");
    for entry in fs::read_dir(from).expect("list") {
        let entry = entry.expect("entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copy");
        }
    }
}

#[test]
fn the_sample_is_whole() {
    let (_dir, store) = sample();
    let report = store.verify().expect("verify");
    assert!(report.is_clean(), "{report:?}");
    assert_eq!((report.blobs, report.actions, report.slots, report.segments, report.rows), (1, 1, 1, 1, 515));
    assert!(report.strays.is_empty());
}

#[test]
fn its_action_and_blob_are_found() {
    let (_dir, store) = sample();
    let record = store.actions().get(&digest(KEY)).expect("get").expect("there");
    assert_eq!((record.format, record.step.as_str(), record.label.as_str()), (1, "sample", "sample corpus"));
    assert_eq!((record.elapsed_ms, record.created_unix_ms), (12.5, 1_767_225_600_000));
    let output =
        OutputRecord { name: "sample".to_string(), digest: digest(BLOB), bytes: 33, rows: 1, observation: false };
    assert_eq!(record.outputs, [output]);
    assert_eq!(store.cas().get(&digest(BLOB)).expect("get"), b"a blob of the first store format\n");
}

#[test]
fn its_manifest_is_the_preimage_of_its_key() {
    let (_dir, store) = sample();
    let manifest = store.actions().manifest(&digest(KEY)).expect("read").expect("there");
    assert_eq!(manifest.key(), digest(KEY));
    assert!(manifest.leaves().contains(&("top_k".to_string(), FieldValue::Uint(10))));
    let slot = store.rows().manifest(&digest(SLOT)).expect("read").expect("there");
    assert_eq!(slot.key(), digest(SLOT));
}

#[test]
fn its_rows_are_read_from_segment_and_journal() {
    let (_dir, store) = sample();
    let rows = store.rows().slot(&digest(SLOT), &|| Manifest { fields: Vec::new() }).expect("slot");
    assert_eq!(rows.len(), 515);
    for number in 0..515 {
        // One row was asked again later: the journal's is newer than the segment's.
        let told = if number == 7 { 1007 } else { number };
        let row = rows.get(&Digest::of(format!("case {number}").as_bytes())).expect("there");
        assert_eq!(row.value, format!("answer {told}").as_bytes());
        assert_eq!(row.observation, format!("{{\"ms\":{told}}}").as_bytes());
    }
}

#[test]
fn its_run_record_and_salts_are_read() {
    let (_dir, store) = sample();
    let run = RunSummary { id: RUN.to_string(), evaluation: "harbour".to_string() };
    assert_eq!(store.runs().list().expect("list"), [run]);
    let roots = Roots { actions: vec![digest(KEY)], slots: vec![digest(SLOT)] };
    assert_eq!(store.runs().roots(RUN).expect("read"), Some(roots));
    let salts = store.salts().get("harbour").expect("read");
    assert_eq!(salts, [("answer".to_string(), 2), ("chunk".to_string(), 1)].into());
}
