//! `cache`.

use std::path::Path;
use std::time::Duration;

use ragstage_cache::Store;
use ragstage_cache::gc::GcPolicy;
use serde_json::json;

use super::failure::Failure;
use super::flags::{CacheCommand, CacheFlags, Format};
use super::open::{StorePlace, store_place};
use super::out::{out, out_json};
use crate::exit;

/// Looks after the store.
///
/// # Errors
/// When the store cannot be read, or written where that is asked for.
pub fn cache(flags: &CacheFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let StorePlace { root, exists } = store_place(store, &[]);
    if !exists {
        return Err(Failure::NotThere {
            what: format!("there is no store at {}", root.display()),
            hint: "name it with --store DIR; `ragstage run` makes one".to_string(),
        });
    }
    let store = Store::open(&root)?;
    match &flags.command {
        CacheCommand::Size { format } => size(&store, *format),
        CacheCommand::Verify { format } => verify(&store, *format),
        CacheCommand::Gc { keep_runs, grace_hours, apply, format } => {
            let grace = Duration::from_secs(grace_hours.saturating_mul(3600));
            collect(&store, &GcPolicy { keep_runs: *keep_runs, grace }, *apply, *format)
        }
    }
}

fn size(store: &Store, format: Format) -> Result<u8, Failure> {
    let usage = store.usage()?;
    match format {
        Format::Json => out_json(&json!({
            "format": "ragstage.cache.size.v1",
            "store": store.root().display().to_string(),
            "bytes": usage.bytes(),
            "files": usage.files(),
            "buckets": usage.buckets.iter().map(|bucket| json!({
                "name": bucket.name, "bytes": bucket.bytes, "files": bucket.files,
            })).collect::<Vec<_>>(),
        }))?,
        Format::Text => {
            let mut text = format!("{:<14} {:>12} {:>9}\n", "bucket", "bytes", "files");
            for bucket in &usage.buckets {
                text += &format!("{:<14} {:>12} {:>9}\n", bucket.name, bucket.bytes, bucket.files);
            }
            text += &format!("{:<14} {:>12} {:>9}\n", "all", usage.bytes(), usage.files());
            out(&text)?;
        }
    }
    Ok(exit::OK)
}

fn verify(store: &Store, format: Format) -> Result<u8, Failure> {
    let found = store.verify()?;
    let incidents: Vec<String> = found.incidents.iter().map(ToString::to_string).collect();
    match format {
        Format::Json => out_json(&json!({
            "format": "ragstage.cache.verify.v1",
            "clean": found.is_clean(),
            "blobs": found.blobs, "actions": found.actions, "slots": found.slots,
            "segments": found.segments, "rows": found.rows,
            "corrupt_blobs": found.corrupt_blobs,
            "missing_blobs": found.missing_blobs.iter().map(|(action, output, blob)| json!({
                "action": action, "output": output, "blob": blob,
            })).collect::<Vec<_>>(),
            "malformed_actions": found.malformed_actions,
            "wrong_manifests": found.wrong_manifests,
            "bad_segments": found.bad_segments,
            "strays": found.strays,
            "incidents": incidents,
        }))?,
        Format::Text => {
            let mut text = format!(
                "read {} blobs, {} actions, {} rows in {} slots\n",
                found.blobs, found.actions, found.rows, found.slots
            );
            for incident in &incidents {
                text += &format!("damaged: {incident}\n");
            }
            for (action, output, blob) in &found.missing_blobs {
                text += &format!("missing: {} ({output} of action {})\n", blob.short(), action.short());
            }
            for key in &found.wrong_manifests {
                text += &format!("wrong manifest: action {}\n", key.short());
            }
            for stray in &found.strays {
                text += &format!("stray file: {}\n", stray.display());
            }
            text += if found.is_clean() {
                "the store is whole\n"
            } else {
                "damaged parts were put into quarantine; the next run computes them again\n"
            };
            out(&text)?;
        }
    }
    Ok(if found.is_clean() { exit::OK } else { exit::STORE })
}

fn collect(store: &Store, policy: &GcPolicy, apply: bool, format: Format) -> Result<u8, Failure> {
    let plan = store.gc_plan(policy)?;
    let outcome = if apply { Some(store.gc_apply(&plan)?) } else { None };
    let rows: u64 = plan.slots.iter().map(|slot| slot.rows).sum();
    match format {
        Format::Json => out_json(&json!({
            "format": "ragstage.cache.gc.v1",
            "actions": plan.actions.len(), "blobs": plan.blobs.len(), "slots": plan.slots.len(), "rows": rows,
            "bytes": plan.bytes(), "recompute_ms": plan.recompute_ms(),
            "runs_without_roots": plan.runs_without_roots,
            "removed": outcome.map(|outcome| outcome.removed),
            "removed_bytes": outcome.map(|outcome| outcome.bytes),
        }))?,
        Format::Text => {
            let mut text = format!(
                "no recent run uses {} actions, {} blobs and {} row slots ({rows} rows): {} bytes\n",
                plan.actions.len(),
                plan.blobs.len(),
                plan.slots.len(),
                plan.bytes()
            );
            text += &format!("making the actions again took {:.1} s when they ran\n", plan.recompute_ms() / 1e3);
            if rows > 0 {
                text += &format!("{rows} rows would have to be computed or asked again\n");
            }
            for run in &plan.runs_without_roots {
                text += &format!("run {run} did not end, so no row slot is removed while it is among those kept\n");
            }
            text += &match outcome {
                Some(outcome) => format!("removed {} of them, {} bytes\n", outcome.removed, outcome.bytes),
                None => "nothing was removed; --apply removes it\n".to_string(),
            };
            out(&text)?;
        }
    }
    Ok(exit::OK)
}
