//! What the engine adds to a row: looking it up, journaling it, telling of it.

use std::sync::Arc;
use std::time::Instant;

use ragstage::batch::{Batch, EventRecorder, Settings};
use ragstage::exec::{ActionContext, Interrupt};
use ragstage_cache::{Digest, KeyVisitor, Walk};
use ragstage_stages::contract::{Context, Free, Pool, Row, RowBatch, RowItem};
use ragstage_stages::step::Step;

use crate::figure::{Figure, Target};

const FREE_ROWS: usize = 100_000;
const PAID_ROWS: usize = 2_000;

/// A slot of its own per kind of row.
struct Slot(Pool);

impl Walk for Slot {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "bench.rows");
        v.text("pool", &format!("{:?}", self.0));
        v.end();
    }
}

/// Microseconds per row of an action of `rows` rows whose computation is nothing.
fn micros_per_row(store: &std::path::Path, pool: Pool, rows: usize) -> f64 {
    let recorder = Arc::new(EventRecorder::default());
    let batch = Batch::open(Vec::new(), Settings::default(), store, recorder.clone(), Interrupt::default())
        .expect("a batch of nothing");
    recorder.add(Arc::new(batch.shared.store.runs().create("rows").expect("a run record")));
    let labels: Vec<String> = (0..rows).map(|i| format!("case-{i}")).collect();
    let items: Vec<RowItem<'_>> =
        labels.iter().map(|label| RowItem { key: Digest::of(label.as_bytes()), label }).collect();
    let context = ActionContext::new(&batch.shared, Step::Score, "score rows");
    let start = Instant::now();
    let row = |_: usize, _: &_| Ok(Row { value: vec![b'v'; 200], observation: vec![b'o'; 40] });
    let outcomes = context.rows(RowBatch { slot: &Slot(pool), pool, items: &items, cost: &Free }, &row).expect("rows");
    let elapsed = start.elapsed();
    assert_eq!(outcomes.len(), rows);
    batch.shared.store.rows().close().expect("close");
    elapsed.as_secs_f64() * 1e6 / rows as f64
}

/// Measures rows that are computed and rows that are there.
pub fn figures() -> Vec<Figure> {
    let store = tempfile::tempdir().expect("a temporary folder");
    let new = micros_per_row(store.path(), Pool::Cpu, FREE_ROWS);
    let cached = micros_per_row(store.path(), Pool::Cpu, FREE_ROWS);
    let paid = micros_per_row(store.path(), Pool::Queries, PAID_ROWS);
    vec![
        Figure::new("engine overhead of a computed row, journal and events included", new, "us")
            .target(Target::AtMost(50.0)),
        Figure::new("engine overhead of a cached row", cached, "us"),
        Figure::new("engine overhead of a paid row, on the device before it is used, 8 at once", paid, "us"),
    ]
}
