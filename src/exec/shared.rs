//! What the threads of a run share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use ragstage_cache::Store;

use super::claims::Claims;
use super::decoded::DecodedArtifacts;
use super::event::EventSink;
use super::interrupt::Interrupt;
use super::ledger::Ledger;
use super::permits::Permits;
use super::pools::Pools;
use super::sources::Sources;

/// What the threads of a run share.
pub struct Shared {
    /// The store.
    pub store: Arc<Store>,
    /// The files that are read.
    pub sources: Arc<Sources>,
    /// Calls of systems under test and of models.
    pub pools: Pools,
    /// What is spent and saved.
    pub ledger: Arc<Ledger>,
    /// The paid rows that are being computed.
    pub claims: Claims,
    /// Where events go.
    pub events: Arc<dyn EventSink>,
    /// Whether to stop.
    pub interrupt: Interrupt,
    /// Artifacts in decoded form.
    pub decoded: DecodedArtifacts,
    /// Held by the actions that compute; those that only store what they computed hold none.
    pub computing: Permits,
    /// CPU threads.
    pub threads: rayon::ThreadPool,
    /// Rows computed in this run.
    pub rows_computed: AtomicUsize,
    /// Rows that failed in this run.
    pub rows_failed: AtomicUsize,
}
