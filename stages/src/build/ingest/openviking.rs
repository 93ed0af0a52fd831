//! A unit's documents in an OpenViking server: as one folder, or one by one by several at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use serde::{Deserialize, Serialize};

use super::action::{Ingest, STEP, WithBytes, canary, ingested};
use super::handle::Handle;
use crate::artifact::{Json, Observation};
use crate::contract::{Artifact, Call, Context, Output, Pool, Produced, Row, RowBatch, RowItem, RowOutcome};
use crate::error::{InputError, Place, RowError, RowErrorKind, StageError, StageErrorKind};
use crate::materialize::openviking_markdown;
use crate::model::ModelUsage;
use crate::query::case_rows::{Observed, row_of, spend_of};
use crate::query::system::protocol::Request;
use crate::query::system::{
    Added, FileName, IngestMode, IngestedDocument, OpenVikingClient, OpenVikingPlace, file_names,
};

/// The row of a hand-over.
#[derive(Serialize, Deserialize)]
struct HandedOver {
    /// Where the documents are.
    uri: String,
    /// Whether the server said what its models took; the observation has it.
    usage_known: bool,
}

/// The row of the look at what was made of the hand-overs.
#[derive(Serialize, Deserialize)]
struct Counted {
    /// Files and folders.
    count: u64,
}

/// The hand-overs of one action.
struct HandOver<'a> {
    client: &'a OpenVikingClient,
    root: &'a str,
    documents: &'a [IngestedDocument<'a>],
    names: &'a [FileName],
    mode: IngestMode,
    /// Whether an interrupted run has left something at `root`; asked once, by whoever comes first.
    resumed: Mutex<Option<bool>>,
    /// How many calls were made.
    made: AtomicUsize,
}

impl HandOver<'_> {
    /// Hands over document `index`, or all of them.
    fn one(&self, index: usize, call: &Call) -> Result<Row, RowError> {
        let start = Instant::now();
        self.made.fetch_add(1, Ordering::Relaxed);
        let resumed = self.resumed(call.timeout)?;
        let added = match self.mode {
            IngestMode::PerFile => match (self.documents.get(index), self.names.get(index)) {
                (Some(document), Some(name)) => {
                    self.client.add_document(self.root, document, name, resumed, call.timeout)?
                }
                _ => return Err(RowError::new(RowErrorKind::BadReply, format!("there is no document {index}"))),
            },
            IngestMode::Directory | IngestMode::None => {
                self.client.add_folder(self.root, self.documents, self.names, resumed, call.timeout)?
            }
        };
        let Added { usage } = added;
        let value = HandedOver { uri: self.root.to_string(), usage_known: usage.is_some() };
        let usage = usage.unwrap_or_default();
        call.meter.add(spend_of(&usage));
        let latency_ms = Some(start.elapsed().as_secs_f64() * 1000.0);
        row_of(&value, &Observation { latency_ms, attempts: call.attempt, usage, ..Observation::default() })
    }

    fn resumed(&self, timeout: Duration) -> Result<bool, RowError> {
        let mut resumed = self.resumed.lock().unwrap_or_else(PoisonError::into_inner);
        match *resumed {
            Some(resumed) => Ok(resumed),
            None => Ok(*resumed.insert(self.client.begin(self.root, timeout)?)),
        }
    }

    /// Counts what is there, and asks for something of it. What was handed over by an interrupted run and is gone by now
    /// shows here.
    fn counted(&self, canary: &str, call: &Call) -> Result<Row, RowError> {
        let count = self.client.complete(self.root, self.names, call.timeout)?;
        let options = Json::new();
        let query =
            Request { query: canary, mode: "find", top_k: 1, options: &options, handle: Some(self.root), id: None };
        if self.client.ask(&query, call.timeout)?.results.is_empty() {
            let why = format!("a query in the words of a document at {} finds nothing", self.root);
            return Err(RowError::new(RowErrorKind::Refused, why));
        }
        row_of(&Counted { count }, &Observation::default())
    }
}

impl Ingest {
    /// Hands the documents over, each call of the pool `ingest` a row of its own, and looks at what was made of them. Those that
    /// are blank stay here: the server refuses them.
    pub(super) fn hand_to_openviking(
        &self,
        context: &dyn Context,
        place: &OpenVikingPlace,
        documents: &[WithBytes<'_>],
    ) -> Result<Produced, StageError> {
        let provider = |why: String| StageError { step: STEP, kind: StageErrorKind::Provider(why) };
        let client = OpenVikingClient::new(&self.system, place).map_err(provider)?;
        let root = client.place_of(&format!("ragstage-{:.16}", key_of(self).hex()));
        let options = self.system.openviking.as_ref().map(|spec| spec.options.clone()).unwrap_or_default();
        let rendered = match options.word_as_markdown {
            true => rendered(documents)?,
            false => BTreeMap::new(),
        };
        let blank = |document: &IngestedDocument<'_>| document.bytes.iter().all(u8::is_ascii_whitespace);
        let documents: Vec<IngestedDocument<'_>> = documents
            .iter()
            .map(|document| match rendered.get(&document.0.document_id) {
                Some((name, text)) => {
                    IngestedDocument { name, media_type: "text/markdown", bytes: text.as_bytes(), ..ingested(document) }
                }
                None => ingested(document),
            })
            .filter(|document| !blank(document))
            .collect();
        let names = file_names(&documents);
        let mode = options.ingest_mode;
        let labels: Vec<String> = match mode {
            IngestMode::PerFile => documents.iter().map(|document| document.id.to_string()).collect(),
            IngestMode::Directory | IngestMode::None if documents.is_empty() => Vec::new(),
            IngestMode::Directory | IngestMode::None => vec![format!("{} documents", documents.len())],
        };
        let items: Vec<RowItem<'_>> = labels
            .iter()
            .enumerate()
            .map(|(index, label)| RowItem { key: row_key(mode, &names, index), label })
            .collect();
        let hand_over = HandOver {
            client: &client,
            root: &root,
            documents: &documents,
            names: &names,
            mode,
            resumed: Mutex::new(None),
            made: AtomicUsize::new(0),
        };
        let batch = RowBatch { slot: self, pool: Pool::Ingest, items: &items, cost: &Observed };
        let start = Instant::now();
        let outcomes = context.rows(batch, &|index, call| hand_over.one(index, call))?;
        let elapsed = start.elapsed();
        let mut handle = Handle {
            handle: root.clone(),
            documents: documents.len() as u64,
            canary: documents.first().map(canary).unwrap_or_default(),
            places: places(&documents, &names),
            ..Handle::default()
        };
        let mut failed = Vec::new();
        for (outcome, label) in outcomes.iter().zip(&labels) {
            match outcome {
                RowOutcome::Done(row) => {
                    let observation: Observation = serde_json::from_slice(&row.observation).unwrap_or_default();
                    observation.usage.iter().for_each(|usage| ModelUsage::add_to(&mut handle.usage, usage));
                    let value: Result<HandedOver, _> = serde_json::from_slice(&row.value);
                    handle.usage_unknown += u64::from(!value.is_ok_and(|value| value.usage_known));
                }
                RowOutcome::Failed(error) if error.kind == RowErrorKind::Interrupted => {
                    return Err(StageError { step: STEP, kind: StageErrorKind::Cancelled });
                }
                RowOutcome::Failed(error) => failed.push((label, error)),
            }
        }
        let mut unusable = None;
        if let Some((label, error)) = failed.first() {
            let system = &self.system.name;
            let more = match failed.len() - 1 {
                0 => String::new(),
                more => format!(" ({more} more failed)"),
            };
            let why = format!("{label} cannot be handed to the system {system:?}: {error}{more}");
            // What took some of the documents can be used, and what it took is kept for the next run.
            unusable = (failed.len() == outcomes.len()).then(|| why.clone());
            handle.failed = Some(why);
        } else {
            // Where an earlier run had handed some over nobody knows what all of them take.
            let whole = hand_over.made.load(Ordering::Relaxed) >= labels.len();
            handle.seconds = whole.then_some(elapsed.as_secs_f64());
            handle.count = Some(self.count(context, &hand_over, &handle.canary)?);
        }
        let bytes = handle.encode().map_err(|error| StageError::encode(STEP, error))?;
        let outputs = vec![Output::observation("handle", bytes, 1)];
        Ok(Produced { outputs, failed: failed.len() as u64, unusable, ..Produced::default() })
    }

    /// What the server counts.
    ///
    /// # Errors
    /// `Doubt` where what was handed over is not there, so that the next run hands all of it over again: what is left of it is
    /// removed, and no row of it is kept.
    fn count(&self, context: &dyn Context, hand_over: &HandOver<'_>, canary: &str) -> Result<u64, StageError> {
        if hand_over.documents.is_empty() {
            return Ok(0);
        }
        let stage = |kind| StageError { step: STEP, kind };
        let items = [RowItem { key: Digest::of(b"ragstage.ingest.count"), label: "the knowledge base" }];
        let batch = RowBatch { slot: self, pool: Pool::Ingest, items: &items, cost: &Observed };
        let outcomes = context.rows(batch, &|_, call| hand_over.counted(canary, call))?;
        match outcomes.first() {
            Some(RowOutcome::Done(row)) => {
                let counted: Counted = serde_json::from_slice(&row.value)
                    .map_err(|error| StageError::encode(STEP, format!("the row of the count is none: {error}")))?;
                Ok(counted.count)
            }
            Some(RowOutcome::Failed(error)) if error.kind == RowErrorKind::Refused => {
                let why = format!(
                    "the documents were handed to the system {:?} and are not there: {}; the next run hands them over again",
                    self.system.name, error.message
                );
                match hand_over.client.remove(hand_over.root, REMOVE_TIMEOUT) {
                    Ok(()) | Err(RowError { kind: RowErrorKind::Refused, .. }) => {
                        Err(stage(StageErrorKind::Doubt(why)))
                    }
                    Err(error) => {
                        let why = format!("{why}; what is left of them cannot be removed: {error}");
                        Err(stage(StageErrorKind::Doubt(why)))
                    }
                }
            }
            Some(RowOutcome::Failed(error)) if error.kind != RowErrorKind::Interrupted => {
                let why = format!("what the system {:?} was handed cannot be looked at: {error}", self.system.name);
                Err(stage(StageErrorKind::Provider(why)))
            }
            Some(RowOutcome::Failed(_)) | None => Err(stage(StageErrorKind::Cancelled)),
        }
    }
}

/// The Word files of `documents` as OpenViking's benchmark renders them, by document: a name and a text.
fn rendered(documents: &[WithBytes<'_>]) -> Result<BTreeMap<String, (String, String)>, StageError> {
    let mut texts = BTreeMap::new();
    let mut errors = Vec::new();
    for (document, bytes) in documents {
        let Some(name) = document.name.strip_suffix(".docx") else { continue };
        match openviking_markdown(bytes, name) {
            Ok(text) => _ = texts.insert(document.document_id.clone(), (format!("{name}_doc.md"), text)),
            Err(why) => errors.push(
                InputError::new(Place::file(&document.name), format!("cannot be rendered: {why}"))
                    .hint("mend the file, or hand Word files over as they are: `word: file`"),
            ),
        }
    }
    if errors.is_empty() { Ok(texts) } else { Err(StageError::input(STEP, errors)) }
}

/// How long the server may take to remove what is in doubt.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(60);

/// What tells a hand-over from the others of its slot, which holds all the documents.
fn row_key(mode: IngestMode, names: &[FileName], index: usize) -> Digest {
    match (mode, names.get(index)) {
        (IngestMode::PerFile, Some(name)) => Digest::of_parts("ragstage.ingest.document", [name.text().as_bytes()]),
        _ => Digest::of(b"ragstage.ingest.row"),
    }
}

/// The document at each place below the root.
fn places(documents: &[IngestedDocument<'_>], names: &[FileName]) -> BTreeMap<String, String> {
    names.iter().zip(documents).map(|(name, document)| (name.stem.clone(), document.id.to_string())).collect()
}
