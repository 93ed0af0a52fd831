//! `kb`: what runs have put into systems under test.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ragstage_cache::{Digest, Store};
use ragstage_stages::build::ingest::Handle;
use ragstage_stages::contract::Artifact;
use ragstage_stages::error::{RowError, RowErrorKind};
use ragstage_stages::query::SystemSpec;
use ragstage_stages::query::system::{Client, Operation};
use serde_json::json;

use super::failure::Failure;
use super::flags::{Format, KbCommand, KbFlags};
use super::open::{Secrets, look_with, tell_incidents};
use super::out::{out, out_json};
use crate::batch::{Batch, Settings};
use crate::exit;
use crate::graph::Spec;

/// How long a system may take to remove one knowledge base.
const DELETE_TIMEOUT: Duration = Duration::from_secs(60);

/// A knowledge base that an action of ours made within a system under test.
struct ExternalKb {
    /// The label of the action.
    label: String,
    key: Digest,
    slots: Vec<Digest>,
    handle: Handle,
    system: Arc<SystemSpec>,
    /// Whether it is the one that a run would ask now.
    current: bool,
}

/// Lists or removes what runs have put into systems under test.
///
/// # Errors
/// When a file is invalid, the store cannot be read, or a system cannot delete.
pub fn kb(flags: &KbFlags, store: Option<&Path>) -> Result<u8, Failure> {
    match &flags.command {
        KbCommand::List { files, format } => list(files, *format, store),
        KbCommand::Delete { files } => delete(files, store),
    }
}

fn list(files: &[PathBuf], format: Format, store: Option<&Path>) -> Result<u8, Failure> {
    let look = look_with(files, Settings::default(), store, Secrets::NotNeeded)?;
    let found = external_kbs(&look.batch)?;
    match format {
        Format::Json => out_json(&json!({
            "format": "ragstage.kb.v1",
            "knowledge_bases": found.iter().map(|kb| json!({
                "label": kb.label, "system": kb.system.name, "version": kb.system.version, "handle": kb.handle.handle,
                "documents": kb.handle.documents, "count": kb.handle.count, "current": kb.current,
                "usage": kb.handle.usage, "usage_unknown": kb.handle.usage_unknown,
            })).collect::<Vec<_>>(),
        }))?,
        Format::Text => {
            let mut text = String::new();
            for kb in &found {
                let state = if kb.current { "" } else { ", of no use any more" };
                let (label, handle, documents) = (&kb.label, &kb.handle.handle, kb.handle.documents);
                text += &format!("{label}: {handle} ({documents} documents{state})\n");
            }
            text += &format!("{} in systems under test\n", found.len());
            out(&text)?;
        }
    }
    tell_incidents(&look.batch);
    Ok(exit::OK)
}

fn delete(files: &[PathBuf], store: Option<&Path>) -> Result<u8, Failure> {
    let look = look_with(files, Settings::default(), store, Secrets::Needed)?;
    delete_all(&look.batch)
}

/// Whether a system has what the evaluations of `batch` would ask now.
pub(super) fn has_current(batch: &Batch) -> Result<bool, Failure> {
    Ok(external_kbs(batch)?.iter().any(|kb| kb.current && kb.handle.failed.is_none()))
}

/// Removes what the evaluations of `batch` have put into systems, and says so.
pub(super) fn delete_all(batch: &Batch) -> Result<u8, Failure> {
    let found = external_kbs(batch)?;
    if let Some(kb) = found.iter().find(|kb| !kb.system.transport.can(Operation::Delete)) {
        return Err(Failure::NotThere {
            what: format!("the system {:?} has no way to delete what it was given", kb.system.name),
            hint: "say how: `http: {..., delete: URL}`, or `operations: [..., delete]` for a command".to_string(),
        });
    }
    if found.is_empty() {
        out("There is nothing to remove from systems under test.\n")?;
        tell_incidents(batch);
        return Ok(exit::OK);
    }
    let (mut removed, mut gone) = (0, 0);
    let mut failed: Vec<String> = Vec::new();
    let mut asked: BTreeMap<(String, String), bool> = BTreeMap::new();
    let mut clients: BTreeMap<String, Client> = BTreeMap::new();
    for kb in &found {
        // A handle that two actions were given is one knowledge base.
        let place = (kb.system.name.clone(), kb.handle.handle.clone());
        let is_gone = match asked.get(&place) {
            Some(is_gone) => *is_gone,
            None => {
                let outcome = remove(kb, &mut clients);
                match &outcome {
                    Ok(true) => removed += 1,
                    Ok(false) => gone += 1,
                    Err(why) => failed.push(format!("{}: {why}", kb.label)),
                }
                asked.insert(place, outcome.is_ok());
                outcome.is_ok()
            }
        };
        if is_gone {
            withdraw(&batch.shared.store, kb)?;
        }
    }
    clients.values().for_each(|client| drop(client.close()));
    let gone = if gone == 0 { String::new() } else { format!(", {gone} were gone already") };
    out(&format!("{removed} removed{gone}\n"))?;
    for why in &failed {
        tell!("error: {why}");
    }
    tell_incidents(batch);
    Ok(if failed.is_empty() { exit::OK } else { exit::PROVIDER })
}

/// Has a system remove a knowledge base; false where it does not know it any more. The error is a fragment for people.
fn remove(kb: &ExternalKb, clients: &mut BTreeMap<String, Client>) -> Result<bool, String> {
    let client = match clients.entry(kb.system.name.clone()) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(Client::new(&kb.system)?),
    };
    match client.delete(&kb.handle.handle, DELETE_TIMEOUT) {
        Ok(()) => Ok(true),
        Err(RowError { kind: RowErrorKind::Refused, .. }) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

/// What the store knows to be in systems, by label: what a run would ask now first, then what earlier runs have left.
fn external_kbs(batch: &Batch) -> Result<Vec<ExternalKb>, Failure> {
    let plan = batch.plan()?;
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (id, node) in plan.graph.nodes() {
        let Spec::Ingest { system, .. } = &node.spec else { continue };
        let current = plan.entry(id).key;
        let earlier = batch.previous.all(&node.label).map(|(_, action)| action.key);
        for key in current.into_iter().chain(earlier) {
            if !seen.insert(key) {
                continue;
            }
            let Some(record) = batch.shared.store.actions().get(&key)? else { continue };
            if record.withdrawn.is_some() {
                continue;
            }
            let Some(output) = record.outputs.iter().find(|output| output.name == "handle") else { continue };
            // A handle that cannot be read any more is lost: nobody knows what it was.
            let Ok(bytes) = batch.shared.store.cas().get(&output.digest) else { continue };
            let Ok(handle) = Handle::decode(bytes) else { continue };
            found.push(ExternalKb {
                label: node.label.clone(),
                key,
                slots: record.slots,
                handle,
                system: system.clone(),
                current: current == Some(key),
            });
        }
    }
    Ok(found)
}

/// The next run that has something to ask hands the documents over again; one that has not needs nothing of the system.
fn withdraw(store: &Store, kb: &ExternalKb) -> Result<(), Failure> {
    for slot in &kb.slots {
        store.rows().discard(slot)?;
    }
    Ok(store.actions().withdraw(&kb.key, "removed by `kb delete`")?)
}
