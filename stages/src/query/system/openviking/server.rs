//! An OpenViking server: documents handed over, looked at, asked for and removed.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::api::{Api, Deadline, add_body, text};
use super::archive::archive;
use super::envelope::Fault;
use super::file_names::{FileName, stem_at};
use super::options::{IngestMode, OpenVikingPlace, OpenVikingSearch};
use super::telemetry;
use crate::artifact::{Hit, Json};
use crate::error::{RowError, RowErrorKind};
use crate::model::ModelUsage;
use crate::model::json_reply::{bad_reply, describe, excerpt};
use crate::query::options::SystemSpec;
use crate::query::system::IngestedDocument;
use crate::query::system::protocol::{Reply, Request};

/// How the last part of a place begins that documents are put at: nothing else is ever removed.
const OWN_PLACE: &str = "ragstage-";
/// The level of what is a document's own text; those below it are summaries of folders.
const TEXT_LEVEL: u64 = 2;
/// The first pause before a busy place, or an unfinished task, is looked at again; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// So many failed looks at a task in a row, and nobody is there to be asked.
const FAILED_LOOKS: u32 = 5;
/// The longest pause that the server may ask for while a task is looked at.
const LONGEST_ASKED_PAUSE: u64 = 60;
/// How many files a message names.
const NAMED_FILES: usize = 3;

/// What is known of documents that were taken in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Added {
    /// What the server's models took, by its own account; `None` where it gave none.
    pub usage: Option<Vec<ModelUsage>>,
}

/// A file on its way into the server.
struct File<'a> {
    /// Where it is put.
    uri: &'a str,
    /// What it is uploaded as.
    file_name: &'a str,
    /// What it is called there.
    source_name: &'a str,
    bytes: &'a [u8],
}

/// An OpenViking server that can be asked, by many threads at once.
pub struct OpenVikingClient {
    api: Api,
    target: String,
    wait: bool,
    processing_mode: Option<&'static str>,
    search: OpenVikingSearch,
    version: String,
    /// Whether the version has still to be looked at before the first question, since nothing is handed over or looked at.
    unchecked: Mutex<bool>,
}

/// What the `/health` of the server at `place` states.
///
/// # Errors
/// When nobody replies in time, or with something else; a fragment for people.
pub fn server_version(place: &OpenVikingPlace, timeout: Duration) -> Result<String, String> {
    Api::new(place)?.version(&Deadline::after(timeout)).map_err(|error| error.to_string())
}

impl OpenVikingClient {
    /// A client for the server at `place` that is `system`.
    ///
    /// # Errors
    /// When the URL or a header cannot be used at all, as a lower-case fragment.
    pub fn new(system: &SystemSpec, place: &OpenVikingPlace) -> Result<Self, String> {
        let (options, search) = system.openviking.clone().map(|spec| (spec.options, spec.search)).unwrap_or_default();
        Ok(OpenVikingClient {
            api: Api::new(place)?,
            target: place.target.trim_end_matches('/').to_string(),
            wait: place.wait,
            processing_mode: options.processing_mode.map(|mode| mode.name()),
            search,
            version: system.version.clone(),
            unchecked: Mutex::new(place.ingest_mode == IngestMode::None),
        })
    }

    /// The place of the knowledge base `name`.
    pub fn place_of(&self, name: &str) -> String {
        format!("{}/{name}", self.target)
    }

    /// Whether there is something at `root` already, that an interrupted run has left there.
    ///
    /// # Errors
    /// Those of the calls, and `bad_reply` where the server is of another version than the evaluation file says.
    pub fn begin(&self, root: &str, timeout: Duration) -> Result<bool, RowError> {
        let deadline = Deadline::after(timeout);
        self.check_version(&deadline)?;
        Ok(self.api.entries(root, &deadline)?.is_some())
    }

    /// Has one document taken in at its own place below `root`. `resumed` says that it may have been handed over before.
    ///
    /// # Errors
    /// Those of the calls; `refused` where the server cannot take it in, or does not get done within `timeout`.
    pub(crate) fn add_document(
        &self,
        root: &str,
        document: &IngestedDocument<'_>,
        name: &FileName,
        resumed: bool,
        timeout: Duration,
    ) -> Result<Added, RowError> {
        let uri = format!("{root}/{}", name.stem);
        let file_name = name.text();
        let file = File { uri: &uri, file_name: &file_name, source_name: &file_name, bytes: document.bytes };
        self.add(&file, resumed, timeout)
    }

    /// Has all documents taken in at `root`, as one folder.
    ///
    /// # Errors
    /// As [`OpenVikingClient::add_document`].
    pub(crate) fn add_folder(
        &self,
        root: &str,
        documents: &[IngestedDocument<'_>],
        names: &[FileName],
        resumed: bool,
        timeout: Duration,
    ) -> Result<Added, RowError> {
        let bytes = archive(documents, names)?;
        let name = root.rsplit('/').next().unwrap_or(root);
        let file = File { uri: root, file_name: &format!("{name}.zip"), source_name: name, bytes: &bytes };
        self.add(&file, resumed, timeout)
    }

    /// How many files and folders are at `root`.
    ///
    /// # Errors
    /// Those of the calls; `refused` where there is nothing; `bad_reply` where the server is of another version.
    pub fn count(&self, root: &str, timeout: Duration) -> Result<u64, RowError> {
        let deadline = Deadline::after(timeout);
        self.check_version(&deadline)?;
        Ok(self.api.entries(root, &deadline)?.ok_or_else(|| nothing_at(root))?.len() as u64)
    }

    /// Counts the files and folders at `root`, where those of all `names` must be.
    ///
    /// # Errors
    /// Those of the calls; `refused` where one is not there.
    pub(crate) fn complete(&self, root: &str, names: &[FileName], timeout: Duration) -> Result<u64, RowError> {
        let entries = self.api.entries(root, &Deadline::after(timeout))?.ok_or_else(|| nothing_at(root))?;
        let stems = entries.iter().filter_map(|entry| stem_at(entry, root));
        let there: BTreeSet<String> = stems.map(str::to_ascii_lowercase).collect();
        let missing = |name: &&FileName| !there.contains(&name.stem.to_ascii_lowercase());
        match names.iter().filter(missing).count() {
            0 => Ok(entries.len() as u64),
            count => {
                let first = names.iter().find(missing).map(FileName::text).unwrap_or_default();
                let why = format!("of {} documents {count} are not at {root}, the first of them {first}", names.len());
                Err(RowError::new(RowErrorKind::Refused, why))
            }
        }
    }

    /// Removes what is at and below `root`.
    ///
    /// # Errors
    /// Those of the calls; `refused` where there is nothing, or where `root` is no place that documents are put at.
    pub fn remove(&self, root: &str, timeout: Duration) -> Result<(), RowError> {
        if !root.rsplit('/').next().is_some_and(|name| name.starts_with(OWN_PLACE)) {
            let message = format!("{root} is no place of our own, so it is not removed");
            return Err(RowError::new(RowErrorKind::Refused, message));
        }
        let deadline = Deadline::after(timeout);
        let there = self.api.entries(root, &deadline)?.is_some();
        // Asked for in any case: what is only just being taken in is in no list.
        let mut pause = FIRST_PAUSE;
        while let Err(fault) = self.api.remove(root, &deadline) {
            if !fault.is_busy() || deadline.left() <= pause {
                return Err(fault.error);
            }
            std::thread::sleep(pause);
            pause = longer(pause);
        }
        if there { Ok(()) } else { Err(nothing_at(root)) }
    }

    /// Asks once.
    ///
    /// # Errors
    /// Those of the calls, and `bad_reply` with the field where a reply is not what it should be.
    pub fn ask(&self, request: &Request<'_>, timeout: Duration) -> Result<Reply, RowError> {
        let deadline = Deadline::after(timeout);
        {
            let mut unchecked = self.unchecked.lock().unwrap_or_else(PoisonError::into_inner);
            if *unchecked {
                self.check_version(&deadline)?;
                *unchecked = false;
            }
        }
        let query = match self.search.retrieval_instruction.as_str() {
            "" => request.query.to_string(),
            instruction => format!("{instruction} {}", request.query),
        };
        let mut body: Json = request.options.clone();
        body.insert("query".to_string(), query.into());
        body.insert("target_uri".to_string(), request.handle.unwrap_or(&self.target).into());
        body.insert("limit".to_string(), request.top_k.into());
        body.insert("telemetry".to_string(), true.into());
        let envelope = self.api.find(body, &deadline)?;
        let results = match envelope.result.get("resources") {
            Some(Value::Array(results)) => results,
            other => {
                let found = other.map_or_else(|| "nothing".to_string(), describe);
                return Err(bad_reply(format!("result.resources: expected a list, found {found}")));
            }
        };
        let results = results.iter().take(request.top_k as usize).enumerate();
        let results = results.map(|(i, entry)| self.hit(i, entry, &deadline)).collect::<Result<_, _>>()?;
        let usage = telemetry::usage(envelope.telemetry.as_ref()).unwrap_or_default();
        Ok(Reply { results, usage, ..Reply::default() })
    }

    fn check_version(&self, deadline: &Deadline) -> Result<(), RowError> {
        let found = self.api.version(deadline)?;
        // What follows a `+` is its owner's word for what else the server is made of.
        let same = self.version.strip_prefix(&found).is_some_and(|rest| rest.is_empty() || rest.starts_with('+'));
        if same {
            return Ok(());
        }
        Err(bad_reply(format!(
            "the server is of version {found:?}, the evaluation file says {:?}: set `system.version` to \"{found}\" (or \
             \"{found}+...\" with a word of your own for its models); all is then handed over and asked again",
            self.version
        )))
    }

    fn add(&self, file: &File<'_>, resumed: bool, timeout: Duration) -> Result<Added, RowError> {
        let deadline = Deadline::after(timeout);
        if resumed && let Some(added) = self.under_way(file.uri, &deadline)? {
            return Ok(added);
        }
        let id = self.api.upload(file.file_name, file.bytes, &deadline)?;
        let body = add_body(&id, file.source_name, file.uri, self.wait, self.processing_mode);
        let mut pause = FIRST_PAUSE;
        loop {
            // A reply that comes when all is done may take as long as that.
            match self.api.add(&body, self.wait.then(|| deadline.left()), &deadline) {
                Ok(envelope) if self.wait => {
                    return added(&envelope.result, envelope.telemetry.as_ref(), file.uri);
                }
                Ok(envelope) => return self.finish(text(&envelope.result, "task_id")?, file.uri, &deadline),
                Err(Fault { task: Some(task), .. }) => return self.finish(&task, file.uri, &deadline),
                Err(fault) if fault.is_busy() => {
                    if let Some(added) = self.under_way(file.uri, &deadline)? {
                        return Ok(added);
                    }
                    if deadline.left() <= pause {
                        return Err(fault.error);
                    }
                    std::thread::sleep(pause);
                    pause = longer(pause);
                }
                Err(Fault { error, .. }) if self.wait && deadline.left().is_zero() => {
                    return Err(hung("the call that adds it", "under way", &deadline, &error));
                }
                Err(fault) => return Err(fault.error),
            }
        }
    }

    /// The end of a task that the server has, or had, for `uri`: what an interrupted call has begun need not be begun again.
    fn under_way(&self, uri: &str, deadline: &Deadline) -> Result<Option<Added>, RowError> {
        for task in self.api.tasks_of(uri, deadline)? {
            let field = |name: &str| task.get(name).and_then(Value::as_str);
            if field("task_type").is_some_and(|kind| kind != "add_resource") {
                continue;
            }
            match (field("status"), field("task_id")) {
                (Some("pending" | "running"), Some(id)) => return self.finish(id, uri, deadline).map(Some),
                (Some("completed"), Some(id)) if self.api.entries(uri, deadline)?.is_some() => {
                    // One that came to nothing is begun again.
                    if let Ok(added) = self.finish(id, uri, deadline) {
                        return Ok(Some(added));
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Waits for the end of a task.
    fn finish(&self, task: &str, uri: &str, deadline: &Deadline) -> Result<Added, RowError> {
        let mut pause = FIRST_PAUSE;
        let mut failed = 0;
        let mut seen = "not looked at".to_string();
        loop {
            let mut asked_pause = None;
            match self.api.task(task, deadline) {
                Ok(state) => {
                    failed = 0;
                    let status = text(&state, "status")?;
                    match status {
                        "pending" | "running" | "cancelling" => {
                            let stage = state.get("stage").and_then(Value::as_str).unwrap_or("unknown");
                            seen = format!("{status}, at the stage {stage:?}");
                        }
                        "completed" => {
                            return added(state.get("result").unwrap_or(&Value::Null), None, uri);
                        }
                        "failed" | "cancelled" => {
                            let why = match state.get("error") {
                                Some(Value::String(why)) => excerpt(why),
                                None | Some(Value::Null) => "without a word".to_string(),
                                Some(other) => excerpt(&other.to_string()),
                            };
                            return Err(RowError::new(
                                RowErrorKind::Refused,
                                format!("the task {task} {status}: {why}"),
                            ));
                        }
                        other => {
                            let message =
                                format!("the task {task}: status: expected a status of tasks, found {other:?}");
                            return Err(bad_reply(message));
                        }
                    }
                }
                // That it is forgotten says nothing of what it has done: it is begun again.
                Err(fault) if fault.is_not_found() => {
                    return Err(RowError { kind: RowErrorKind::Server, ..fault.error });
                }
                Err(fault) if fault.error.kind.retryable() && failed < FAILED_LOOKS && !deadline.left().is_zero() => {
                    failed += 1;
                    asked_pause = fault.error.retry_after_s.map(|s| Duration::from_secs(s.min(LONGEST_ASKED_PAUSE)));
                }
                Err(fault) if deadline.left().is_zero() => {
                    return Err(hung(&format!("the task {task}"), &seen, deadline, &fault.error));
                }
                Err(fault) => return Err(fault.error),
            }
            let wait = asked_pause.unwrap_or(pause);
            if deadline.left() <= wait {
                let late = RowError::new(RowErrorKind::Timeout, "the time was up");
                return Err(hung(&format!("the task {task}"), &seen, deadline, &late));
            }
            std::thread::sleep(wait);
            pause = longer(pause);
        }
    }

    fn hit(&self, place: usize, entry: &Value, deadline: &Deadline) -> Result<Hit, RowError> {
        let wrong = |field: &str, expected: &str, found: Option<&Value>| {
            let found = found.map_or_else(|| "nothing".to_string(), describe);
            bad_reply(format!("result.resources[{place}].{field}: expected {expected}, found {found}"))
        };
        let uri = match entry.get("uri") {
            Some(Value::String(uri)) if !uri.is_empty() => uri,
            other => return Err(wrong("uri", "a text that is not empty", other)),
        };
        let level = match entry.get("level") {
            None | Some(Value::Null) => TEXT_LEVEL,
            Some(level) => level.as_u64().ok_or_else(|| wrong("level", "a whole number", Some(level)))?,
        };
        let score = match entry.get("score") {
            None | Some(Value::Null) => None,
            Some(score) => match score.as_f64().filter(|score| score.is_finite()) {
                Some(score) => Some(score),
                None => return Err(wrong("score", "a finite number", Some(score))),
            },
        };
        let summary = match entry.get("abstract") {
            None | Some(Value::Null) => "",
            Some(Value::String(summary)) => summary.as_str(),
            other => return Err(wrong("abstract", "a text", other)),
        };
        let text = if level == TEXT_LEVEL {
            self.api.read(uri, deadline)?
        } else if self.search.overview {
            format!("{summary}\n{}", self.api.overview(uri, deadline)?)
        } else {
            format!("{summary}\n")
        };
        Ok(Hit {
            id: uri.clone(),
            text: text.into(),
            score,
            kind: "chunk".to_string(),
            source: Json::from_iter([("uri".to_string(), uri.as_str().into())]).into(),
            metadata: Json::from_iter([("level".to_string(), level.into()), ("abstract".to_string(), summary.into())]),
        })
    }
}

fn longer(pause: Duration) -> Duration {
    pause.saturating_mul(2).min(LONGEST_PAUSE)
}

/// Not tried again by itself: the server may still be at it, and another attempt would wait as long.
fn hung(what: &str, seen: &str, deadline: &Deadline, last: &RowError) -> RowError {
    RowError::new(
        RowErrorKind::Refused,
        format!(
            "{what} did not end within {} s (`limits.ingest.timeout_s`); last seen: {seen}; {}; the server may still be at it, \
             and the next run looks for it before it begins again",
            deadline.seconds(),
            last.message
        ),
    )
}

fn nothing_at(root: &str) -> RowError {
    RowError::new(RowErrorKind::Refused, format!("there is nothing at {root}"))
}

/// Reads what became of documents that were to be put at `uri`. `beside` is the telemetry of the reply, for versions that
/// have none in the result.
fn added(result: &Value, beside: Option<&Value>, uri: &str) -> Result<Added, RowError> {
    let refused = |message: String| Err(RowError::new(RowErrorKind::Refused, message));
    let status = text(result, "status")?;
    let errors = result.get("errors").and_then(Value::as_array).filter(|errors| !errors.is_empty());
    if status != "success" {
        return refused(format!("the server did not take it in: its status is {status:?}"));
    }
    if let Some(error) = errors.and_then(|errors| errors.first()) {
        let error = error.as_str().map_or_else(|| error.to_string(), str::to_string);
        return refused(format!("the server did not take all in: {}", excerpt(&error)));
    }
    match result.get("root_uri") {
        None | Some(Value::Null) => {}
        Some(Value::String(found)) if found.trim_end_matches('/') == uri => {}
        Some(other) => {
            return Err(bad_reply(format!("result.root_uri: expected {uri:?}, found {}", describe(other))));
        }
    }
    let left_out: Vec<String> = ["failed_files", "unsupported_files", "skipped_files"]
        .into_iter()
        .filter_map(|list| result.get("meta")?.get(list)?.as_array())
        .flatten()
        .map(|file| {
            let field = |name: &str| file.get(name).and_then(Value::as_str);
            let path = field("path").or(file.as_str()).unwrap_or("a file without a name");
            field("reason").map_or_else(|| path.to_string(), |reason| format!("{path} ({reason})"))
        })
        .collect();
    if !left_out.is_empty() {
        let named = left_out.iter().take(NAMED_FILES).cloned().collect::<Vec<_>>().join(", ");
        let more = match left_out.len().saturating_sub(NAMED_FILES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        return refused(format!("the server left out {}", excerpt(&format!("{named}{more}"))));
    }
    let telemetry = result.get("telemetry").filter(|telemetry| !telemetry.is_null()).or(beside);
    Ok(Added { usage: telemetry::usage(telemetry) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const URI: &str = "viking://resources/ragstage-1";

    fn message(result: Value) -> (RowErrorKind, String) {
        let error = added(&result, None, URI).expect_err("not taken in");
        (error.kind, error.message)
    }

    #[test]
    fn tokens_are_in_the_result_or_beside_it() {
        let telemetry = |tokens: u64| json!({"summary": {"tokens": {"embedding": {"total": tokens}}}});
        let read = |result: Value, beside: Option<Value>| {
            let usage = added(&result, beside.as_ref(), URI).expect("taken in").usage?;
            Some(usage.iter().map(|usage| usage.usage.prompt_tokens).sum::<u64>())
        };
        let within = json!({"status": "success", "root_uri": URI, "telemetry": telemetry(7)});
        let without = json!({"status": "success", "errors": [], "meta": null});
        assert_eq!(read(within.clone(), None), Some(7));
        // The reply's own counts what was done before the task, and would count twice.
        assert_eq!(read(within, Some(telemetry(9))), Some(7));
        assert_eq!(read(without.clone(), Some(telemetry(9))), Some(9));
        assert_eq!(read(without, None), None);
    }

    #[test]
    fn what_was_not_taken_in_says_why() {
        let refused = |message: &str| (RowErrorKind::Refused, message.to_string());
        assert_eq!(
            message(json!({"status": "cancelled"})),
            refused("the server did not take it in: its status is \"cancelled\"")
        );
        assert_eq!(
            message(json!({"status": "success", "errors": ["no space"]})),
            refused("the server did not take all in: no space")
        );
        let meta = json!({"failed_files": [], "unsupported_files": [{"path": "a.xyz", "reason": "unsupported"}],
                          "skipped_files": [{"path": "b.md"}, "c.md", {"reason": 1}]});
        assert_eq!(
            message(json!({"status": "success", "meta": meta})),
            refused("the server left out a.xyz (unsupported), b.md, c.md and 1 more")
        );
        assert_eq!(message(Value::Null).1, "result: expected an object, found null");
        assert_eq!(message(json!({"status": null})).1, "result.status: expected a text that is not empty, found null");
        let (kind, elsewhere) = message(json!({"status": "success", "root_uri": "viking://resources/other"}));
        assert_eq!(kind, RowErrorKind::BadReply);
        assert!(elsewhere.contains("result.root_uri: expected \"viking://resources/ragstage-1\""), "{elsewhere}");
    }
}
