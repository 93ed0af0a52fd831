//! `report`.

use std::path::Path;

use super::failure::Failure;
use super::flags::{ReportFlags, ReportFormat};
use super::open::look;
use super::out::out;
use crate::batch::Settings;
use crate::exec::{RecordedAction, RunError};
use crate::exit;
use crate::publish::{FILES, PublishError, Source, publish};
use ragstage_cache::Digest;
use ragstage_cache::action::OutputRecord;

/// Prints the report of the last run, or writes its files. Runs nothing.
///
/// # Errors
/// When there is no report, or it cannot be read or written.
pub fn report(flags: &ReportFlags, store: Option<&Path>) -> Result<u8, Failure> {
    let look = look(std::slice::from_ref(&flags.file), Settings::default(), store)?;
    let batch = &look.batch;
    let Some(evaluation) = batch.evaluations.first() else { return Ok(exit::OK) };
    let store = &batch.shared.store;
    let artifact = |source: Source, name: &str| -> Result<OutputRecord, Failure> {
        let label = match source {
            Source::Report => format!("report {}", evaluation.name),
            Source::Aggregate => format!("aggregate {}", evaluation.name),
        };
        batch.previous.action(&label).and_then(|action| output(action, name)).ok_or_else(|| Failure::NotThere {
            what: match look.place.exists {
                true => {
                    format!("no run of {:?} left a report in the store {}", evaluation.name, look.place.root.display())
                }
                false => format!("there is no store, and so no report of {:?}", evaluation.name),
            },
            hint: format!(
                "`ragstage run {}` makes it; if it ran in another folder, name its store with --store DIR",
                flags.file.display()
            ),
        })
    };
    if let Some(folder) = &flags.output {
        for (source, output, name) in FILES {
            let path = folder.join(name);
            let published = publish(store, &artifact(source, output)?, &path).map_err(|error| match error {
                PublishError::Store(error) => Failure::from(error),
                PublishError::Write(path, error) => Failure::Run(RunError::Publish { path, error }),
            })?;
            out(&format!("{}\n", published.path.display()))?;
        }
        return Ok(exit::OK);
    }
    let name = match flags.format {
        ReportFormat::Md => "report.md",
        ReportFormat::Json => "report.json",
        ReportFormat::Html => "report.html",
    };
    let bytes = store.cas().get(&artifact(Source::Report, name)?.digest)?;
    out(&String::from_utf8_lossy(&bytes))?;
    Ok(exit::OK)
}

fn output(action: &RecordedAction, name: &str) -> Option<OutputRecord> {
    let digest: Digest = *action.outputs.get(name)?;
    Some(OutputRecord { name: name.to_string(), digest, bytes: 0, rows: 0, observation: true })
}
