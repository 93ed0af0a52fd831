//! The action that hands a unit's documents to a system under test.

use std::borrow::Cow;
use std::path::PathBuf;

use ragstage_cache::key::key_of;
use ragstage_cache::{Digest, KeyVisitor, Walk};

use super::handle::Handle;
use crate::artifact::{Document, Documents, Unit};
use crate::contract::{
    Action, Artifact, Call, Context, Free, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome, begin_key,
    decoded,
};
use crate::error::{InputError, Place, RowError, RowErrorKind, StageError, StageErrorKind};
use crate::model::json_reply::{bad_reply, shortened};
use crate::query::system::protocol::PROTOCOL_VERSION;
use crate::query::system::{Client, IngestedDocument, Operation};
use crate::query::{SystemSpec, Transport};
use crate::step::Step;

pub(super) const STEP: Step = Step::Ingest;
/// How much of the first document a canary query has, in Unicode code points.
const CANARY_CHARS: usize = 200;

/// Hands the documents of one unit to a system under test; its output is the observation `handle`, a [`Handle`].
///
/// Where that fails, the handle says why, and the action is incomplete: its readers have cases that fail, and what does not
/// depend on it is reported. The whole action is one row, a call (or a few, in batches) of the pool `queries`. A document without bytes is an input
/// error, for the system would be asked about what it does not have.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// The benchmark's documents. Only where to read: the key holds the digest of the unit's own.
    pub documents: Digest,
    /// The unit.
    pub unit: Unit,
    /// The system.
    pub system: SystemSpec,
    /// 0 except after `--force`.
    pub salt: u64,
}

impl Walk for Ingest {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        begin_key(v, STEP, self.salt);
        v.uint("protocol_version", PROTOCOL_VERSION);
        self.system.walk(v);
        v.digest("documents", &self.system.documents_digest(&self.unit));
        v.end();
    }
}

impl Action for Ingest {
    fn step(&self) -> Step {
        STEP
    }

    fn run(&self, context: &dyn Context) -> Result<Produced, StageError> {
        let documents = decoded::<Documents>(context, STEP, &self.documents)?;
        let documents = self.with_bytes(context, &documents)?;
        if let Transport::OpenViking(place) = &self.system.transport {
            return self.hand_to_openviking(context, place, &documents);
        }
        let client =
            Client::new(&self.system).map_err(|why| StageError { step: STEP, kind: StageErrorKind::Provider(why) })?;
        let name = format!("ragstage-{:.16}", key_of(self).hex());
        let label = format!("{} documents", documents.len());
        let items = [RowItem { key: Digest::of(b"ragstage.ingest.row"), label: &label }];
        let batch = RowBatch { slot: self, pool: Pool::Queries, items: &items, cost: &Free };
        let outcomes = context.rows(batch, &|_, call| self.hand_over(&client, &name, &documents, call))?;
        client.close().map_err(|why| StageError { step: STEP, kind: StageErrorKind::Doubt(why) })?;
        let (handle, unusable) = match outcomes.into_iter().next() {
            Some(RowOutcome::Done(row)) => {
                let handle = Handle::decode(row.value.clone())
                    .map_err(|error| StageError::encode(STEP, format!("the row of {name} is no handle: {error}")))?;
                (handle, None)
            }
            Some(RowOutcome::Failed(RowError { kind: RowErrorKind::Interrupted, .. })) | None => {
                return Err(StageError { step: STEP, kind: StageErrorKind::Cancelled });
            }
            Some(RowOutcome::Failed(error)) => {
                let system = &self.system.name;
                let why = format!("{label} cannot be handed to the system {system:?}: {error}");
                (Handle { failed: Some(why.clone()), ..Handle::default() }, Some(why))
            }
        };
        let bytes = handle.encode().map_err(|error| StageError::encode(STEP, error))?;
        let outputs = vec![Output::observation("handle", bytes, 1)];
        Ok(Produced { outputs, failed: u64::from(unusable.is_some()), unusable, ..Produced::default() })
    }
}

/// A document with its bytes.
pub(super) type WithBytes<'d> = (&'d Document, Cow<'d, [u8]>);

impl Ingest {
    /// The unit's documents in its order, with their bytes.
    fn with_bytes<'d>(
        &self,
        context: &dyn Context,
        documents: &'d Documents,
    ) -> Result<Vec<WithBytes<'d>>, StageError> {
        let all = documents.rows.len();
        let mut found = Vec::new();
        let mut errors = Vec::new();
        for position in self.unit.document_positions(all) {
            let Some(document) = documents.rows.get(position) else {
                let why = format!("unit {} names document {position} of {all}", self.unit.unit_id);
                return Err(StageError { step: STEP, kind: StageErrorKind::Artifact { digest: self.documents, why } });
            };
            let bytes = match (&document.data, &document.digest) {
                (Some(data), _) => Some(Cow::Borrowed(data.as_slice())),
                (None, Some(digest)) => context.source(digest)?.map(Cow::Owned),
                (None, None) => None,
            };
            match bytes {
                Some(bytes) => found.push((document, bytes)),
                None => errors.push(
                    InputError::new(
                        Place::file(PathBuf::from(&document.name)),
                        format!("document {:?} has no bytes that could be handed to a system", document.document_id),
                    )
                    .hint("its file is missing, or it is remote: remote documents are not fetched"),
                ),
            }
        }
        if errors.is_empty() { Ok(found) } else { Err(StageError::input(STEP, errors)) }
    }

    /// Hands all documents over, batch after batch.
    fn hand_over(
        &self,
        client: &Client,
        name: &str,
        documents: &[WithBytes<'_>],
        call: &Call,
    ) -> Result<Row, RowError> {
        let documents: Vec<IngestedDocument<'_>> = documents.iter().map(ingested).collect();
        let size = self.system.ingest_batch.map_or(usize::MAX, |size| size.max(1) as usize);
        let mut handle: Option<String> = None;
        let mut count = None;
        // A unit without documents is a knowledge base, too.
        let batches = documents.chunks(size).chain(documents.is_empty().then_some(&[][..]));
        for batch in batches {
            match client.ingest(name, &self.system, handle.as_deref(), batch, call.timeout) {
                Ok(ingested) => {
                    handle = Some(ingested.handle.or(handle).unwrap_or_else(|| name.to_string()));
                    count = ingested.count;
                }
                Err(error) => {
                    // What is there by half is of no use to anybody.
                    if let Some(half) = handle.filter(|_| self.system.transport.can(Operation::Delete)) {
                        let _ = client.delete(&half, call.timeout);
                    }
                    return Err(error);
                }
            }
        }
        let handle = Handle {
            handle: handle.unwrap_or_else(|| name.to_string()),
            documents: documents.len() as u64,
            count: if self.system.transport.can(Operation::Count) { count } else { None },
            canary: documents.first().map(canary).unwrap_or_default(),
            ..Handle::default()
        };
        let value = handle.encode().map_err(|error| bad_reply(format!("the handle is no JSON: {error}")))?;
        Ok(Row { value, observation: Vec::new() })
    }
}

/// A document on its way into the system.
pub(super) fn ingested<'d>((document, bytes): &'d WithBytes<'_>) -> IngestedDocument<'d> {
    IngestedDocument { id: &document.document_id, name: &document.name, media_type: &document.media_type, bytes }
}

/// The first line of a document that says something; its name where it is no text.
pub(super) fn canary(document: &IngestedDocument<'_>) -> String {
    let text = std::str::from_utf8(document.bytes).unwrap_or_default();
    let line = text.lines().map(str::trim).find(|line| line.chars().any(char::is_alphanumeric));
    shortened(line.unwrap_or(document.name), CANARY_CHARS)
}
