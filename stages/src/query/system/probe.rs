//! Whether the knowledge base behind a handle is still what was made, asked before it is used again.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ragstage_cache::Digest;

use super::client::Client;
use super::operation::Operation;
use super::protocol::Request;
use crate::artifact::Json;
use crate::build::ingest::Handle;
use crate::contract::{Context, derived};
use crate::error::{RowError, RowErrorKind, StageError, StageErrorKind};
use crate::query::options::SystemSpec;
use crate::step::Step;

/// A look at a knowledge base that was made in an earlier run: at what it counts, or, where the system does not count, at
/// whether it finds anything for a canary query in the words of one of its documents.
///
/// That something is gone is a finding and no failed call: after a system was wiped there may be a thousand of them, and the
/// breaker of a pool is for systems that do not work.
pub(in crate::query) struct Probe<'a> {
    pub(in crate::query) client: &'a Client,
    pub(in crate::query) system: &'a SystemSpec,
    /// The mode that the canary is asked in.
    pub(in crate::query) mode: &'a str,
    pub(in crate::query) options: &'a Json,
    /// The artifact that `handle` is.
    pub(in crate::query) digest: &'a Digest,
    pub(in crate::query) handle: &'a Handle,
    /// Why it is known to be gone, where it is.
    pub(in crate::query) withdrawn: Option<&'a str>,
    finding: Mutex<Option<String>>,
}

/// That a knowledge base was found to be what it was; one look per process is enough.
struct Probed;

impl<'a> Probe<'a> {
    pub(in crate::query) fn new(
        client: &'a Client,
        system: &'a SystemSpec,
        (mode, options): (&'a str, &'a Json),
        (digest, handle): (&'a Digest, &'a Handle),
        withdrawn: Option<&'a str>,
    ) -> Self {
        Probe { client, system, mode, options, digest, handle, withdrawn, finding: Mutex::new(None) }
    }

    /// Looks once, unless this process has found it to be there before.
    ///
    /// # Errors
    /// When the system could not be asked; what it says of the knowledge base is no error, but told by [`Probe::finding`].
    pub(in crate::query) fn look(&self, context: &dyn Context, timeout: Duration) -> Result<(), RowError> {
        let stage = |kind| StageError { step: Step::Retrieve, kind };
        let failed = RefCell::new(None);
        let looked = derived(context, Step::Retrieve, self.digest, &|| match self.missing(timeout) {
            Ok(None) => Ok(Probed),
            Ok(Some(why)) => {
                *self.finding.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
                Err(stage(StageErrorKind::StaleHandle { handle: *self.digest, why }))
            }
            Err(error) => {
                let told = error.to_string();
                *failed.borrow_mut() = Some(error);
                Err(stage(StageErrorKind::Provider(told)))
            }
        });
        match (looked, failed.into_inner()) {
            (Ok(_), _) | (Err(StageError { kind: StageErrorKind::StaleHandle { .. }, .. }), _) => Ok(()),
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(RowError::new(RowErrorKind::BadReply, error.to_string())),
        }
    }

    /// Why the knowledge base is not what it was, where a look has shown that.
    pub(in crate::query) fn finding(self) -> Option<String> {
        self.finding.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn missing(&self, timeout: Duration) -> Result<Option<String>, RowError> {
        if let Some(why) = self.withdrawn {
            return Ok(Some(why.to_string()));
        }
        let counts = self.system.transport.can(Operation::Count);
        // Files and vectors are kept in two places there, and either can be lost.
        let both = self.system.openviking.is_some();
        if both && self.handle.documents == 0 {
            // An empty folder is nowhere.
            return Ok(None);
        }
        let missing = match self.look_once(counts, timeout)? {
            None if counts && both => self.look_once(false, timeout)?,
            found => found,
        };
        if missing.is_some() && both {
            // What is there by half would be taken for what an interrupted run has left, and kept.
            match self.client.delete(&self.handle.handle, timeout) {
                Ok(()) | Err(RowError { kind: RowErrorKind::Refused, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(missing)
    }

    /// Looks at what the system counts, or at what it finds for the canary.
    fn look_once(&self, counts: bool, timeout: Duration) -> Result<Option<String>, RowError> {
        let looked = match counts {
            true => self.client.count(&self.handle.handle, timeout).map(|count| match self.handle.count {
                Some(expected) if expected != count => Some(format!("it counts {count}, expected {expected}")),
                None if count == 0 && self.handle.documents > 0 => Some("it counts 0".to_string()),
                _ => None,
            }),
            false => {
                let query = Request {
                    query: &self.handle.canary,
                    mode: self.mode,
                    top_k: 1,
                    options: self.options,
                    handle: Some(&self.handle.handle),
                    id: None,
                };
                let empty = "a query in the words of one of its documents finds nothing";
                self.client
                    .ask(&query, timeout)
                    .map(|reply| (reply.results.is_empty() && self.handle.documents > 0).then(|| empty.to_string()))
            }
        };
        match looked {
            // Another 4xx than 401, 403, 408 and 429, or a reply that is an `error`: it does not know the handle.
            Err(RowError { kind: RowErrorKind::Refused, message, .. }) => Ok(Some(message)),
            other => other,
        }
    }
}
