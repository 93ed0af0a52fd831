//! Garbage collection: what is kept, what goes, and what it says beforehand.

use std::time::Duration;

use ragstage_cache::action::{ACTION_FORMAT, ActionRecord, OutputRecord};
use ragstage_cache::gc::GcPolicy;
use ragstage_cache::rows::{Durability, StoredRow};
use ragstage_cache::runs::Roots;
use ragstage_cache::{Digest, KeyVisitor, Manifest, Store, StoreErrorKind, Walk};

struct Named(&'static str);

impl Walk for Named {
    fn walk(&self, visitor: &mut dyn KeyVisitor) {
        visitor.text("name", self.0);
    }
}

const NOW: GcPolicy = GcPolicy { keep_runs: 1, grace: Duration::ZERO };

fn action(store: &Store, name: &'static str, outputs: &[&[u8]]) -> Digest {
    let manifest = Manifest::of(&Named(name));
    let outputs = outputs
        .iter()
        .map(|bytes| OutputRecord {
            name: "output".to_string(),
            digest: store.cas().put(bytes).expect("put"),
            bytes: bytes.len() as u64,
            rows: 0,
            observation: false,
        })
        .collect();
    let key = manifest.key();
    let record = ActionRecord {
        format: ACTION_FORMAT,
        key,
        step: "chunk".to_string(),
        label: name.to_string(),
        outputs,
        rejected: 0,
        slots: Vec::new(),
        spend: None,
        withdrawn: None,
        elapsed_ms: 250.0,
        created_unix_ms: 0,
    };
    store.actions().put(&record, &manifest).expect("put");
    key
}

fn slot(store: &Store, name: &'static str) -> Digest {
    let slot = Manifest::of(&Named(name)).key();
    let rows = store.rows().slot(&slot, &|| Manifest::of(&Named(name))).expect("slot");
    for item in [b"a", b"b"] {
        let row = StoredRow { value: item.to_vec(), observation: Vec::new() };
        rows.append(Digest::of(item), row, Durability::Free).expect("append");
    }
    slot
}

fn run(store: &Store, evaluation: &str, actions: &[Digest], slots: &[Digest]) {
    let run = store.runs().create(evaluation).expect("create");
    run.write_roots(&Roots { actions: actions.to_vec(), slots: slots.to_vec() }).expect("roots");
}

#[test]
fn what_no_kept_run_used_goes_after_its_grace_period() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    let kept = action(&store, "kept", &[b"shared", b"of kept"]);
    let stale = action(&store, "stale", &[b"shared", b"of stale"]);
    let orphan = store.cas().put(b"orphan").expect("put");
    let (kept_slot, stale_slot) = (slot(&store, "kept slot"), slot(&store, "stale slot"));
    run(&store, "harbour", &[kept], &[kept_slot]);

    let grace = GcPolicy { keep_runs: 1, grace: Duration::from_secs(3600) };
    assert!(store.gc_plan(&grace).expect("plan").is_empty());

    let plan = store.gc_plan(&NOW).expect("plan");
    let [action] = plan.actions.as_slice() else { panic!("one action: {plan:?}") };
    assert_eq!((action.digest, action.recompute_ms, action.label.as_str()), (stale, Some(250.0), "stale"));
    let mut blobs = vec![(Digest::of(b"of stale"), 8, Some(250.0)), (orphan, 6, None)];
    blobs.sort_by_key(|(digest, ..)| *digest);
    let planned: Vec<_> = plan.blobs.iter().map(|blob| (blob.digest, blob.bytes, blob.recompute_ms)).collect();
    assert_eq!(planned, blobs, "a blob that a kept action made too is kept");
    assert_eq!(plan.slots.iter().map(|slot| (slot.digest, slot.rows)).collect::<Vec<_>>(), [(stale_slot, 2)]);
    assert_eq!(plan.recompute_ms(), 250.0);

    let before = store.usage().expect("usage").bytes();
    let outcome = store.gc_apply(&plan).expect("apply");
    assert_eq!((outcome.removed, outcome.kept, outcome.bytes), (4, 0, plan.bytes()));
    assert_eq!(store.usage().expect("usage").bytes(), before - plan.bytes());
    assert_eq!(store.actions().all().expect("all"), [kept]);
    assert_eq!(store.rows().all().expect("all"), [kept_slot]);
    assert!(store.verify().expect("verify").is_clean());
    assert!(store.gc_plan(&NOW).expect("plan").is_empty());
}

#[test]
fn the_newest_runs_of_each_evaluation_count() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    let (one, two) = (action(&store, "one", &[]), action(&store, "two", &[]));
    run(&store, "harbour", &[one], &[]);
    run(&store, "lighthouse", &[two], &[]);
    assert!(store.gc_plan(&NOW).expect("plan").is_empty());
    assert_eq!(store.gc_plan(&GcPolicy { keep_runs: 0, ..NOW }).expect("plan").actions.len(), 2);
}

#[test]
fn rows_are_safe_while_a_kept_run_does_not_say_what_it_used() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    slot(&store, "slot");
    let run = store.runs().create("harbour").expect("create");
    let plan = store.gc_plan(&NOW).expect("plan");
    assert!(plan.slots.is_empty());
    assert_eq!(plan.runs_without_roots, [run.id()]);
}

#[test]
fn nothing_is_removed_while_another_process_has_the_store_open() {
    let root = tempfile::tempdir().expect("tempdir");
    let store = Store::open(root.path()).expect("open");
    store.cas().put(b"orphan").expect("put");
    let plan = store.gc_plan(&NOW).expect("plan");
    let other = Store::open(root.path()).expect("open");
    let error = store.gc_apply(&plan).expect_err("in use");
    assert!(matches!(error.kind, StoreErrorKind::InUse), "{error}");
    drop(other);
    assert_eq!(store.gc_apply(&plan).expect("apply").removed, 1);
}
