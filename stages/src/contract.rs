//! What a stage is to the executor: an [`Action`] with a key, and a [`Context`] to run in.
//!
//! An action knows the digests of its inputs, never where they came from. It reads blobs through its context, hands items
//! to the context's row cache, and gives back the bytes of its outputs. Whether rows run in parallel, how often a call is
//! tried and where bytes are stored is the context's business.

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ragstage_cache::table_file::{TableFile, TableSource};
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use crate::error::{DecodeError, RowError, StageError, StageErrorKind};
use crate::step::Step;

/// One unit of work with a key: a step with its parameters and the digests of its inputs.
///
/// The [`Walk`] visits all that the outputs depend on (DESIGN section 3's table) and nothing else. Implementations open
/// with [`begin_key`] so that every key starts with its step, its code version and its salt.
pub trait Action: Walk + Send + Sync {
    /// The step this is an action of.
    fn step(&self) -> Step;

    /// Computes the outputs.
    ///
    /// # Errors
    /// When inputs are malformed, the store fails or the run is interrupted. A failing row is no error of the action: it
    /// is a row that says so, and makes the action incomplete.
    fn run(&self, context: &dyn Context) -> Result<Produced, StageError>;
}

/// Opens the record of an action's key; the caller visits its own fields and closes it with `end`.
///
/// `salt` is 0 except after `--force` (a forced stage gets a key of its own, so that what it replaces is not lost).
pub fn begin_key(visitor: &mut dyn KeyVisitor, step: Step, salt: u64) {
    visitor.begin_record("", &format!("ragstage.{}", step.name()));
    visitor.uint("code_version", step.code_version());
    if salt != 0 {
        visitor.uint("salt", salt);
    }
}

/// What an action made.
#[derive(Debug, Clone, Default)]
pub struct Produced {
    /// The artifacts.
    pub outputs: Vec<Output>,
    /// Rows that failed and may succeed another time; an action with any is incomplete and is not cached.
    pub failed: u64,
    /// Rows that can never be computed from these inputs (a document that no parser reads). They are part of the value,
    /// so the action is complete, but the run still says that items failed.
    pub rejected: u64,
    /// Why a provider could not be used at all, where the action came to its end without it: its rows failed, and the run
    /// says so with its exit code.
    pub unusable: Option<String>,
}

/// One artifact.
#[derive(Debug, Clone)]
pub struct Output {
    /// Its name within the action, e.g. `chunks`.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How many rows it holds.
    pub rows: u64,
    /// Whether it is an observation: stored, but exempt from the law and in no key but that of `aggregate`.
    pub observation: bool,
}

impl Output {
    /// An artifact that drives downstream keys.
    pub fn value(name: &'static str, bytes: Vec<u8>, rows: usize) -> Self {
        Output { name, bytes, rows: rows as u64, observation: false }
    }

    /// An artifact that drives none.
    pub fn observation(name: &'static str, bytes: Vec<u8>, rows: usize) -> Self {
        Output { name, bytes, rows: rows as u64, observation: true }
    }
}

/// A row as the row cache keeps it: its value, and what was observed while it was computed.
pub use ragstage_cache::rows::StoredRow as Row;

/// An item of incremental work.
#[derive(Debug, Clone)]
pub struct RowItem<'a> {
    /// Digest of all that the row depends on beyond its slot.
    pub key: Digest,
    /// What people call it: a document id, a case id.
    pub label: &'a str,
}

/// Where the rows of a batch are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pool {
    /// On the CPU: all cores, no retry.
    Cpu,
    /// Calls of the system under test: paid, limited, retried.
    Queries,
    /// Calls that hand documents over to a system under test which does work of its own on each.
    Ingest,
    /// Calls of an embedding endpoint.
    Embeddings,
    /// Calls of a reranking endpoint.
    Rerank,
    /// Calls of a chat model.
    Llm,
    /// Calls of a chat model that judges responses.
    Judge,
    /// Cases that a user's own evaluator program is given.
    Programs,
}

impl Pool {
    /// The pools whose rows are calls of somebody else.
    pub const CALLS: [Pool; 7] =
        [Pool::Queries, Pool::Ingest, Pool::Embeddings, Pool::Rerank, Pool::Llm, Pool::Judge, Pool::Programs];

    /// The name under `limits` in an evaluation file and in events.
    pub fn name(self) -> &'static str {
        match self {
            Pool::Cpu => "cpu",
            Pool::Queries => "queries",
            Pool::Ingest => "ingest",
            Pool::Embeddings => "embeddings",
            Pool::Rerank => "rerank",
            Pool::Llm => "llm",
            Pool::Judge => "judge",
            Pool::Programs => "programs",
        }
    }

    /// Whether a row is a call of somebody else: paid, limited, retried, and on the device before anybody sees it.
    pub fn calls(self) -> bool {
        self != Pool::Cpu
    }
}

/// What calls cost: tokens in both directions, and money.
///
/// Money is a whole number of billionths of a US dollar, so that sums do not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Spend {
    /// Tokens read and written.
    pub tokens: u64,
    /// Billionths of a US dollar.
    pub nano_usd: u64,
}

impl Spend {
    /// Both together.
    pub fn plus(self, other: Spend) -> Spend {
        Spend {
            tokens: self.tokens.saturating_add(other.tokens),
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
        }
    }

    /// US dollars.
    pub fn usd(self) -> f64 {
        self.nano_usd as f64 / 1e9
    }
}

/// Counts what one call spent, whether or not a row came of it.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<Spend>>);

impl Meter {
    /// Adds what a reply cost.
    pub fn add(&self, spend: Spend) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = sum.plus(spend);
    }

    /// What was added so far.
    pub fn total(&self) -> Spend {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the rows of a batch cost.
pub trait Cost: Sync {
    /// The most that computing item `item` may cost: what a budget must still hold for the call to begin.
    fn estimate(&self, item: usize) -> Spend;

    /// What a kept row has cost.
    fn of(&self, row: &Row) -> Spend;
}

/// Rows that cost nothing.
pub struct Free;

impl Cost for Free {
    fn estimate(&self, _: usize) -> Spend {
        Spend::default()
    }

    fn of(&self, _: &Row) -> Spend {
        Spend::default()
    }
}

/// Items that share a slot.
pub struct RowBatch<'a> {
    /// The stage's key without its list of items: the row cache that the rows live in.
    pub slot: &'a dyn Walk,
    /// Where missing rows are computed.
    pub pool: Pool,
    /// The items, in artifact order.
    pub items: &'a [RowItem<'a>],
    /// What they cost; [`Free`] where nothing is known of it.
    pub cost: &'a dyn Cost,
}

/// How a row came out.
#[derive(Debug, Clone)]
pub enum RowOutcome {
    /// Computed now or found in the row cache.
    Done(Arc<Row>),
    /// Not computed.
    Failed(RowError),
}

/// What a call may take, given by the pool it runs in.
#[derive(Debug, Clone)]
pub struct Call {
    /// How long the call may take.
    pub timeout: Duration,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Where to say what was spent.
    pub meter: Meter,
}

/// Computes item `index` of a batch.
pub type ComputeRow<'a> = dyn Fn(usize, &Call) -> Result<Row, RowError> + Sync + 'a;

/// Looks whether the rows of a batch can be asked for.
pub type Check<'a> = dyn Fn(&Call) -> Result<(), RowError> + Sync + 'a;

/// Computes several items of a batch in one call: a row or an error for each, in the order of `indexes`, or one error for
/// all of them.
pub type ComputeGroup<'a> = dyn Fn(&[usize], &Call) -> Result<Vec<Result<Row, RowError>>, RowError> + Sync + 'a;

/// Computes all the missing items of a batch at once: a row or an error for each, in the order of `indexes`.
pub type ComputeTogether<'a> = dyn Fn(&[usize]) -> Result<Vec<Result<Row, RowError>>, StageError> + 'a;

/// Does one of several parts of the work, by its number.
pub type OnePart<'a> = dyn Fn(usize) -> Result<(), StageError> + Sync + 'a;

/// A value made of an artifact, of any type.
pub type Decoded = Arc<dyn Any + Send + Sync>;

/// Makes a value of an artifact, and says how many bytes of it are read for that.
pub type MakeValue<'a> = dyn Fn() -> Result<(Decoded, usize), StageError> + 'a;

/// A row that an action keeps in its own outputs, from where the next run of the action takes it.
#[derive(Debug, Clone, Copy)]
pub struct OwnRow<'a> {
    /// Digest of all that the row depends on.
    pub key: Digest,
    /// What people call it: a case id.
    pub label: &'a str,
    /// Whether an earlier run's outputs have it.
    pub reused: bool,
}

/// What the executor lends a running action.
pub trait Context: Sync {
    /// The bytes of a blob, verified.
    ///
    /// # Errors
    /// When the blob is lost or corrupt; the executor then computes it again.
    fn blob(&self, digest: &Digest) -> Result<Vec<u8>, StageError>;

    /// The value of type `kind` that `make` makes of the blob `digest` and of nothing else, made once per process while
    /// memory lasts. Use [`decoded`] and [`derived`].
    ///
    /// # Errors
    /// Those of `make`.
    fn value(&self, digest: &Digest, kind: TypeId, make: &MakeValue<'_>) -> Result<Decoded, StageError>;

    /// The file of a blob, verified: for artifacts that are mapped into memory rather than read. It must not be written to.
    ///
    /// # Errors
    /// As [`Context::blob`].
    fn blob_file(&self, digest: &Digest) -> Result<PathBuf, StageError>;

    /// A blob that is a table, verified, to be read by parts.
    ///
    /// # Errors
    /// As [`Context::blob`].
    fn table(&self, digest: &Digest) -> Result<TableSource, StageError> {
        self.blob(digest).map(TableSource::from)
    }

    /// The value of an artifact that [`Context::value`] has kept as the type `kind`, where it is still there.
    fn kept(&self, digest: &Digest, kind: TypeId) -> Option<Decoded> {
        let _ = (digest, kind);
        None
    }

    /// The output `name`, a table, of the last run of the same action, whatever its inputs were then; `None` where there is
    /// none or it is lost. It says itself what of it still holds.
    fn previous(&self, name: &str) -> Option<TableSource> {
        let _ = name;
        None
    }

    /// Runs `one` for each of `parts`, on all cores where there are several.
    ///
    /// # Errors
    /// Those of `one`, and when the run is interrupted.
    fn spread(&self, parts: usize, one: &OnePart<'_>) -> Result<(), StageError> {
        (0..parts).try_for_each(one)
    }

    /// Tells of rows that the action keeps itself. Gives whether those that are not reused are to be computed; if they are
    /// not, nobody wants the action's outputs.
    fn own_rows(&self, slot: &Digest, rows: &[OwnRow<'_>]) -> bool {
        let _ = (slot, rows);
        true
    }

    /// Tells which rows that the action keeps itself were computed, and which could not be.
    fn own_rows_done(&self, computed: &[&str], failed: &[(&str, &RowError)]) {
        let _ = (computed, failed);
    }

    /// The bytes of a file of the benchmark, by digest; `None` when no source file has that digest (any more).
    ///
    /// # Errors
    /// When the file cannot be read or changed while the run was going on.
    fn source(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StageError>;

    /// Whether the action may start a program, or let one go on: it is to stop where this is an error.
    ///
    /// # Errors
    /// When the run is interrupted, or is a plan, which starts nothing.
    fn may_start_programs(&self) -> Result<(), StageError> {
        Ok(())
    }

    /// Every item's row, in item order: from the row cache, else computed (in parallel), journaled and kept.
    ///
    /// # Errors
    /// When the store fails, the run is interrupted, or the provider cannot be used at all.
    fn rows(&self, batch: RowBatch<'_>, compute: &ComputeRow<'_>) -> Result<Vec<RowOutcome>, StageError>;

    /// Whether what the batch's missing rows are to be asked of is there: `check` is called in the batch's pool if any row is
    /// missing, and its error is given back. Nothing of it is kept. A context that asks nobody anything checks nothing.
    ///
    /// # Errors
    /// As [`Context::rows`].
    fn check_before(&self, batch: &RowBatch<'_>, check: &Check<'_>) -> Result<Result<(), RowError>, StageError> {
        let _ = (batch, check);
        Ok(Ok(()))
    }

    /// As [`Context::rows`], where one call computes up to `size` rows.
    ///
    /// # Errors
    /// As [`Context::rows`].
    fn rows_in_groups(
        &self,
        batch: RowBatch<'_>,
        size: usize,
        compute: &ComputeGroup<'_>,
    ) -> Result<Vec<RowOutcome>, StageError>;

    /// As [`Context::rows`], where all missing rows are computed at once, on the action's own thread, by code that may ask
    /// this context for further rows: what a case needs of models is computed before the case itself. The batch's pool is
    /// [`Pool::Cpu`]: what is paid for is in the rows that were asked for on the way.
    ///
    /// # Errors
    /// As [`Context::rows`], and those of `compute`.
    fn rows_together(&self, batch: RowBatch<'_>, compute: &ComputeTogether<'_>) -> Result<Vec<RowOutcome>, StageError>;
}

/// An artifact type: how it is written and read.
pub trait Artifact: Sized + Send + Sync + 'static {
    /// The bytes, a function of the content alone.
    ///
    /// # Errors
    /// Only through a fault of ours.
    fn encode(&self) -> Result<Vec<u8>, DecodeError>;

    /// Reads what [`Artifact::encode`] wrote.
    ///
    /// # Errors
    /// When the bytes are something else.
    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError>;
}

/// The artifact `digest`, decoded once per process.
///
/// # Errors
/// As [`Context::blob`], and when the bytes are no `T`.
pub fn decoded<T: Artifact>(context: &dyn Context, step: Step, digest: &Digest) -> Result<Arc<T>, StageError> {
    value(context, step, digest, &|| {
        let bytes = context.blob(digest)?;
        let size = bytes.len();
        let kind = |error: DecodeError| StageErrorKind::Artifact { digest: *digest, why: error.to_string() };
        Ok((T::decode(bytes).map_err(|error| StageError { step, kind: kind(error) })?, size))
    })
}

/// What `make` computes from the artifact `digest` alone, once per process: what every action that reads the artifact would
/// compute again. `T` is of the caller's own, and says what was computed.
///
/// # Errors
/// Those of `make`.
pub fn derived<T: Send + Sync + 'static>(
    context: &dyn Context,
    step: Step,
    digest: &Digest,
    make: &dyn Fn() -> Result<T, StageError>,
) -> Result<Arc<T>, StageError> {
    value(context, step, digest, &|| Ok((make()?, 0)))
}

/// As [`derived`] of what is made on all cores, where a thread that waits may be given work that asks for the same value: who
/// asks meanwhile makes it too. It takes about `size` bytes of memory.
///
/// # Errors
/// Those of `make`.
pub fn derived_on_all_cores<T: Send + Sync + 'static>(
    context: &dyn Context,
    digest: &Digest,
    size: impl Fn(&T) -> usize,
    make: impl FnOnce() -> Result<T, StageError>,
) -> Result<Arc<T>, StageError> {
    if let Some(kept) = context.kept(digest, TypeId::of::<T>()).and_then(|kept| kept.downcast::<T>().ok()) {
        return Ok(kept);
    }
    let made = Arc::new(make()?);
    let any = context.value(digest, TypeId::of::<T>(), &|| Ok((made.clone() as Decoded, size(&made))))?;
    Ok(any.downcast::<T>().unwrap_or(made))
}

fn value<T: Send + Sync + 'static>(
    context: &dyn Context,
    step: Step,
    digest: &Digest,
    make: &dyn Fn() -> Result<(T, usize), StageError>,
) -> Result<Arc<T>, StageError> {
    let any = context.value(digest, TypeId::of::<T>(), &|| {
        let (value, size) = make()?;
        Ok((Arc::new(value) as Decoded, size))
    })?;
    any.downcast::<T>().map_err(|_| StageError {
        step,
        kind: StageErrorKind::Artifact { digest: *digest, why: "is kept as another type".to_string() },
    })
}

/// An artifact that is a table, and may be read by parts.
pub trait TableArtifact: Send + Sync + 'static {
    /// Opens the table.
    ///
    /// # Errors
    /// When `source` is something else.
    fn open(source: TableSource) -> Result<TableFile, DecodeError>;
}

/// An open table of `T`.
pub struct Opened<T> {
    file: TableFile,
    of: PhantomData<fn() -> T>,
}

impl<T> Deref for Opened<T> {
    type Target = TableFile;

    fn deref(&self) -> &TableFile {
        &self.file
    }
}

/// The table `digest`, verified and opened once per process.
///
/// # Errors
/// As [`Context::blob`], and when it is no table of `T`.
pub fn opened<T: TableArtifact>(
    context: &dyn Context,
    step: Step,
    digest: &Digest,
) -> Result<Arc<Opened<T>>, StageError> {
    derived(context, step, digest, &|| {
        let kind = |error: DecodeError| StageErrorKind::Artifact { digest: *digest, why: error.to_string() };
        let file = T::open(context.table(digest)?).map_err(|error| StageError { step, kind: kind(error) })?;
        Ok(Opened { file, of: PhantomData })
    })
}
