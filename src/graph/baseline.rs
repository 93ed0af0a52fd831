//! The baseline that gates compare with, with the digests of its files.

use ragstage_stages::aggregate::Baseline;
use ragstage_stages::error::{InputError, Place};

use crate::evaluation::Evaluation;
use crate::exec::Sources;

/// The evaluation's baseline, where a gate asks for it.
///
/// # Errors
/// When there is none, or it cannot be read.
pub(super) fn baseline(evaluation: &Evaluation, sources: &Sources) -> Result<Option<Baseline>, InputError> {
    if !evaluation.gates.iter().any(|gate| gate.compares_with_baseline()) {
        return Ok(None);
    }
    let Some(given) = &evaluation.baseline else {
        let message = "a gate says `no_worse_than: baseline`, and there is no baseline";
        return Err(InputError::new(Place::file(&evaluation.path), message)
            .hint("name the report.json of an earlier run with `baseline` at the top of the file or --baseline"));
    };
    let path = if given.is_dir() { given.join("report.json") } else { given.clone() };
    let real = |path: &std::path::Path| std::fs::canonicalize(path).ok();
    if path.parent().is_some_and(|folder| real(folder).is_some() && real(folder) == real(&evaluation.output)) {
        let message = "the baseline is the report that this evaluation writes: it would be compared with itself";
        return Err(InputError::new(Place::file(&path), message)
            .hint("keep a copy elsewhere: `ragstage report -o FOLDER` writes one"));
    }
    let Some(report) = sources.digest(&path)? else {
        return Err(InputError::new(Place::file(&path), "the baseline does not exist")
            .hint("keep the report.json and scores.parquet of a run: `ragstage report -o FOLDER` writes them"));
    };
    // Another report's table must not be taken for this one's.
    let ours = path.file_name().is_some_and(|name| name == "report.json");
    let scores = if ours { sources.digest(&path.with_file_name("scores.parquet"))? } else { None };
    Ok(Some(Baseline { path, report, scores }))
}
