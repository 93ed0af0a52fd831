//! Rows through a context: which calls are made, what they cost, and what is told of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ragstage_cache::{Digest, KeyVisitor, Store, Walk};
use ragstage_stages::contract::{Call, Context, Cost, Pool, Row, RowBatch, RowItem, RowOutcome, Spend};
use ragstage_stages::error::{RowError, RowErrorKind, StageErrorKind};
use ragstage_stages::step::Step;

use super::*;

struct Slot(&'static str);

impl Walk for Slot {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", self.0);
        v.end();
    }
}

/// Every row costs so many billionths of a dollar, and as many tokens.
struct Each(u64);

impl Cost for Each {
    fn estimate(&self, _: usize) -> Spend {
        self.spend()
    }

    fn of(&self, _: &Row) -> Spend {
        self.spend()
    }
}

impl Each {
    fn spend(&self) -> Spend {
        Spend { tokens: self.0, nano_usd: self.0 }
    }
}

#[derive(Default)]
struct Events(Mutex<Vec<Event>>);

impl EventSink for Events {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// A process: it ends when it is dropped, and another may go on in the same folder.
struct Process {
    shared: Shared,
    events: Arc<Events>,
}

impl Process {
    fn start(folder: &std::path::Path, limits: PoolLimits, budget_usd: Option<f64>) -> Self {
        let store = Arc::new(Store::open(folder).expect("a store"));
        let events = Arc::new(Events::default());
        let interrupt = Interrupt::default();
        let ledger = Arc::new(Ledger::new(budget_usd));
        let shared = Shared {
            sources: Arc::new(Sources::new(store.clone())),
            store,
            pools: Pools::new(&|_| limits, &interrupt, &ledger),
            ledger,
            claims: Claims::default(),
            events: events.clone(),
            interrupt,
            decoded: DecodedArtifacts::default(),
            computing: Permits::new(1),
            threads: rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads"),
            rows_computed: AtomicUsize::new(0),
            rows_failed: AtomicUsize::new(0),
        };
        Process { shared, events }
    }

    fn context(&self) -> ActionContext<'_> {
        ActionContext::new(&self.shared, Step::Embed, "embed a")
    }

    fn account(&self) -> Account {
        self.shared.ledger.account().expect("money was spent or saved")
    }

    fn count(&self, which: impl Fn(&Event) -> bool) -> usize {
        self.events.0.lock().unwrap().iter().filter(|event| which(event)).count()
    }
}

fn labels(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("text-{i}")).collect()
}

fn items(labels: &[String]) -> Vec<RowItem<'_>> {
    labels.iter().map(|label| RowItem { key: Digest::of(label.as_bytes()), label }).collect()
}

/// A batch that costs nothing.
fn free<'a>(slot: &'a Slot, pool: Pool, items: &'a [RowItem<'a>]) -> RowBatch<'a> {
    RowBatch { slot, pool, items, cost: &Each(0) }
}

fn row(index: usize) -> Row {
    Row { value: format!("vector {index}").into_bytes(), observation: Vec::new() }
}

/// The values of rows that are there, the kinds of fault of the others.
fn shown(outcomes: &[RowOutcome]) -> Vec<String> {
    let shown = |outcome: &RowOutcome| match outcome {
        RowOutcome::Done(row) => String::from_utf8_lossy(&row.value).into_owned(),
        RowOutcome::Failed(error) => error.kind.name().to_string(),
    };
    outcomes.iter().map(shown).collect()
}

fn vectors(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("vector {i}")).collect()
}

fn patient() -> PoolLimits {
    PoolLimits { concurrency: 4, timeout: Duration::from_secs(5), ..PoolLimits::default() }
}

/// Calls that were made: the rows of each.
#[derive(Default)]
struct Made(Mutex<Vec<Vec<usize>>>);

impl Made {
    fn note(&self, indexes: &[usize]) {
        self.0.lock().unwrap().push(indexes.to_vec());
    }

    fn take(&self) -> Vec<Vec<usize>> {
        let mut made = std::mem::take(&mut *self.0.lock().unwrap());
        made.sort();
        made
    }
}

#[test]
fn a_refused_group_is_divided_until_only_the_bad_row_fails() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(10);
    let items = items(&labels);
    let made = Made::default();
    let compute = |indexes: &[usize], call: &Call| {
        made.note(indexes);
        call.meter.add(Each(indexes.len() as u64).spend());
        match indexes.contains(&5) {
            true => Err(RowError::new(RowErrorKind::Refused, "one text is too long")),
            false => Ok(indexes.iter().map(|&index| Ok(row(index))).collect()),
        }
    };
    let mut expected = vectors(10);
    expected[5] = "refused".to_string();
    let batch = || RowBatch { slot: &Slot("texts"), pool: Pool::Embeddings, items: &items, cost: &Each(1) };

    let process = Process::start(folder.path(), patient(), None);
    let context = process.context();
    assert_eq!(shown(&context.rows_in_groups(batch(), 4, &compute).unwrap()), expected);
    let groups: [&[usize]; 7] = [&[0, 1, 2, 3], &[4], &[4, 5], &[4, 5, 6, 7], &[5], &[6, 7], &[8, 9]];
    assert_eq!(made.take(), groups);
    // Refusals are paid for too; rows count what they cost themselves.
    assert_eq!((process.account().spent_tokens, context.spend().tokens, context.failed()), (16, 9, 1));
    assert_eq!(process.count(|event| matches!(event, Event::RowDone { paid: true, .. })), 9);
    drop(context);
    drop(process);

    let process = Process::start(folder.path(), patient(), None);
    let context = process.context();
    assert_eq!(shown(&context.rows_in_groups(batch(), 4, &compute).unwrap()), expected);
    assert_eq!(made.take(), [[5]], "what was paid for is there");
    let account = process.account();
    assert_eq!((account.spent_tokens, account.saved_tokens, context.spend().tokens), (1, 9, 9));
}

#[test]
fn a_group_whose_fault_may_pass_is_asked_again_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(3);
    let items = items(&labels);
    let made = Made::default();
    let compute = |indexes: &[usize], call: &Call| {
        made.note(indexes);
        match call.attempt {
            1 => Err(RowError {
                retry_after_s: Some(0),
                ..RowError::new(RowErrorKind::RateLimited, "too many requests")
            }),
            // A row less than was asked for, and one that failed by itself.
            _ => Ok(vec![Ok(row(0)), Err(RowError::new(RowErrorKind::BadReply, "NaN"))]),
        }
    };
    let process = Process::start(folder.path(), patient(), None);
    let batch = RowBatch { slot: &Slot("texts"), pool: Pool::Embeddings, items: &items, cost: &Each(0) };
    let outcomes = process.context().rows_in_groups(batch, 8, &compute).unwrap();
    assert_eq!(shown(&outcomes), ["vector 0", "bad_reply", "bad_reply"]);
    assert_eq!(made.take(), [[0, 1, 2], [0, 1, 2]]);
    let retried = |event: &Event| matches!(event, Event::RowRetried { item, .. } if item == "text-0 and 2 more");
    assert_eq!(process.count(retried), 1);
    for outcome in &outcomes[1..] {
        assert!(matches!(outcome, RowOutcome::Failed(RowError { attempts: 2 | 1, .. })), "{outcome:?}");
    }
}

#[test]
fn the_breaker_counts_calls_and_not_rows() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(30);
    let items = items(&labels);
    let made = AtomicUsize::new(0);
    let compute = |_: &[usize], _: &Call| {
        made.fetch_add(1, Ordering::SeqCst);
        Err(RowError::new(RowErrorKind::Connection, "nobody is there"))
    };
    let limits = PoolLimits { concurrency: 1, retries: 0, breaker: 2, ..patient() };
    let process = Process::start(folder.path(), limits, None);
    let batch = RowBatch { slot: &Slot("texts"), pool: Pool::Embeddings, items: &items, cost: &Each(0) };
    let shown = shown(&process.context().rows_in_groups(batch, 10, &compute).unwrap());
    assert_eq!(made.into_inner(), 2);
    let kinds = |kind: &str| shown.iter().filter(|shown| *shown == kind).count();
    assert_eq!((kinds("connection"), kinds("breaker_open")), (20, 10));
    let opened = |event: &Event| matches!(event, Event::BreakerOpened { pool, .. } if pool == "embeddings");
    assert_eq!(process.count(opened), 1);
}

#[test]
fn the_budget_stops_calls_and_a_higher_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(6);
    let items = items(&labels);
    let made = Made::default();
    let compute = |index: usize, call: &Call| {
        made.note(&[index]);
        call.meter.add(Each(300).spend());
        Ok(row(index))
    };
    let batch = || RowBatch { slot: &Slot("texts"), pool: Pool::Llm, items: &items, cost: &Each(300) };
    let process = Process::start(folder.path(), PoolLimits { concurrency: 1, ..patient() }, Some(1e-6));
    let outcomes = process.context().rows(batch(), &compute).unwrap();
    assert_eq!(made.take(), [[0], [1], [2]]);
    let over = "over_budget".to_string();
    assert_eq!(shown(&outcomes), [vectors(3), vec![over; 3]].concat());
    let account = process.account();
    assert_eq!((account.spent_usd, account.budget_usd, account.over_budget), (9e-7, Some(1e-6), 3));
    assert_eq!(process.count(|event| matches!(event, Event::BudgetReached { pool, .. } if pool == "llm")), 1);
    drop(process);

    let process = Process::start(folder.path(), patient(), Some(2e-6));
    assert_eq!(shown(&process.context().rows(batch(), &compute).unwrap()), vectors(6));
    assert_eq!(made.take(), [[3], [4], [5]]);
    let account = process.account();
    assert_eq!((account.spent_tokens, account.saved_tokens, account.over_budget), (900, 900, 0));
}

#[test]
fn actions_that_need_the_same_rows_pay_once_whatever_their_order() {
    for pool in [Pool::Embeddings, Pool::Cpu] {
        let folder = tempfile::tempdir().unwrap();
        let labels = labels(40);
        let forward = items(&labels);
        let backward: Vec<RowItem<'_>> = forward.iter().rev().cloned().collect();
        let computed: Mutex<BTreeMap<String, usize>> = Mutex::default();
        let process = Process::start(folder.path(), patient(), None);
        std::thread::scope(|scope| {
            for items in [&forward, &backward, &forward, &backward] {
                let (process, computed) = (&process, &computed);
                scope.spawn(move || {
                    let compute = |indexes: &[usize], _: &Call| {
                        for &index in indexes {
                            *computed.lock().unwrap().entry(items[index].label.to_string()).or_default() += 1;
                        }
                        std::thread::yield_now();
                        Ok(indexes
                            .iter()
                            .map(|&index| Ok(Row { value: items[index].label.into(), ..row(0) }))
                            .collect())
                    };
                    let batch = RowBatch { slot: &Slot("texts"), pool, items, cost: &Each(0) };
                    let outcomes = process.context().rows_in_groups(batch, 7, &compute).unwrap();
                    let expected: Vec<&str> = items.iter().map(|item| item.label).collect();
                    assert_eq!(shown(&outcomes), expected);
                });
            }
        });
        let computed = computed.into_inner().unwrap();
        assert_eq!(computed.len(), 40, "{pool:?}");
        assert!(computed.values().all(|&times| times == 1), "{pool:?}: {computed:?}");
    }
}

#[test]
fn a_pool_that_is_refused_does_not_stop_another() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(3);
    let items = items(&labels);
    let process = Process::start(folder.path(), PoolLimits { concurrency: 1, ..patient() }, None);
    let refused = |_: usize, _: &Call| Err(RowError::new(RowErrorKind::Auth, "no such key"));
    let outcomes = process.context().rows(free(&Slot("llm"), Pool::Llm, &items), &refused).unwrap();
    assert_eq!(shown(&outcomes), ["auth", "auth", "auth"]);
    for pool in [Pool::Queries, Pool::Embeddings, Pool::Rerank] {
        let slot = Slot(pool.name());
        let outcomes = process.context().rows(free(&slot, pool, &items), &|index, _| Ok(row(index))).unwrap();
        assert_eq!(shown(&outcomes), vectors(3), "{pool:?}");
    }
    assert_eq!(process.count(|event| matches!(event, Event::PoolStopped { pool, .. } if pool == "llm")), 1);
    let closed: Vec<Pool> =
        process.shared.pools.all().filter(|(_, calls)| calls.unusable().is_some()).map(|(pool, _)| pool).collect();
    assert_eq!(closed, [Pool::Llm]);
}

#[test]
fn an_action_that_may_not_ask_asks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(2);
    let items = items(&labels);
    let process = Process::start(folder.path(), patient(), None);
    let mut mute = process.context();
    mute.ask = false;
    for pool in Pool::CALLS {
        let slot = Slot(pool.name());
        let batch = || free(&slot, pool, &items);
        let unasked = mute.rows(batch(), &|_, _| unreachable!("it may not ask")).unwrap_err();
        assert!(matches!(unasked.kind, StageErrorKind::Unasked(2)), "{unasked}");
        let unasked = mute.rows_in_groups(batch(), 2, &|_, _| unreachable!("it may not ask")).unwrap_err();
        assert!(matches!(unasked.kind, StageErrorKind::Unasked(2)), "{unasked}");
        process.context().rows(batch(), &|index, _| Ok(row(index))).unwrap();
        assert_eq!(shown(&mute.rows(batch(), &|_, _| unreachable!("all is there")).unwrap()), vectors(2));
    }
}

#[test]
fn a_group_on_the_cpu_that_breaks_down_fails_only_the_bad_row() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(100);
    let items = items(&labels);
    let compute = |indexes: &[usize], _: &Call| {
        assert!(!indexes.contains(&70), "scripted");
        // Long enough for the other threads to be called in.
        std::thread::sleep(Duration::from_micros(100));
        Ok(indexes.iter().map(|&index| Ok(row(index))).collect())
    };
    let process = Process::start(folder.path(), patient(), None);
    let batch = || RowBatch { slot: &Slot("texts"), pool: Pool::Cpu, items: &items, cost: &Each(0) };
    let mut expected = vectors(100);
    expected[70] = "document".to_string();
    assert_eq!(shown(&process.context().rows_in_groups(batch(), 8, &compute).unwrap()), expected);
    let free = |event: &Event| matches!(event, Event::RowDone { paid: false, attempts: 1, .. });
    assert_eq!((process.count(free), process.shared.ledger.account()), (99, None));
}

#[test]
fn rows_for_the_sake_of_others_are_told_apart_and_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(4);
    let items = items(&labels);
    let asked = AtomicU64::new(0);
    let process = Process::start(folder.path(), patient(), None);
    let context = process.context();
    let parts = || {
        let batch = RowBatch { slot: &Slot("parts"), pool: Pool::Llm, items: &items, cost: &Each(10) };
        context.rows(batch, &|index, call| {
            asked.fetch_add(1, Ordering::SeqCst);
            call.meter.add(Each(10).spend());
            Ok(row(index))
        })
    };
    let whole = RowBatch { slot: &Slot("whole"), pool: Pool::Cpu, items: &items, cost: &Each(0) };
    let outcomes = context
        .rows_together(whole, &|missing| {
            parts()?;
            // A second round asks for the same: it is neither paid again nor saved.
            parts()?;
            Ok(missing.iter().map(|&index| Ok(row(index))).collect())
        })
        .unwrap();
    assert_eq!(shown(&outcomes), vectors(4));
    assert_eq!((asked.into_inner(), context.spend().tokens), (4, 40));
    let account = process.account();
    assert_eq!((account.spent_tokens, account.saved_tokens), (40, 0));
    let done = |nested: bool| process.count(|e| matches!(e, Event::RowDone { nested: found, .. } if *found == nested));
    assert_eq!((done(true), done(false)), (4, 4));
    assert_eq!(process.shared.rows_computed.load(Ordering::SeqCst), 4);
    assert_eq!(context.slots().len(), 2);
}

#[test]
fn an_action_that_waits_for_calls_lets_others_compute() {
    let folder = tempfile::tempdir().unwrap();
    let labels = labels(2);
    let items = items(&labels);
    let process = Process::start(folder.path(), patient(), None);
    let context = process.context();
    context.hold(Some(process.shared.computing.take()));
    let batch = RowBatch { slot: &Slot("texts"), pool: Pool::Rerank, items: &items, cost: &Each(0) };
    let outcomes = context.rows(batch, &|index, _| {
        // There is one permit: this would wait for ever if the action still had it.
        drop(process.shared.computing.take());
        Ok(row(index))
    });
    assert_eq!(shown(&outcomes.unwrap()), vectors(2));
    context.release();
    drop(process.shared.computing.take());
}
