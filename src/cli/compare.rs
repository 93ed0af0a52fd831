//! `compare`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::Table;
use ragstage_cache::Store;
use ragstage_stages::aggregate::{SameData, Side, SideError, StatisticsOptions, sides_of_report};
use serde_json::json;

use super::failure::Failure;
use super::flags::Format;
use super::open::{Secrets, evaluations, last_run, store_place};
use super::out::{out, out_json};
use crate::compare::{Compared, Comparison, Flip, compare as compare_sides};
use crate::exec::{ACTIONS_FILE, RecordedAction};
use crate::exit;

/// How many differences between keys are shown in text.
const MOST_DIFFERENCES: usize = 15;

/// Flags of `compare`.
#[derive(Args)]
pub struct CompareFlags {
    /// What is compared with the first: evaluation files (their last runs), ids of runs, report.json files or folders with one. `#RECIPE`
    /// or `#RECIPE/QUERY` after one names a part of it. One alone: its recipes and queries are compared with its first
    #[arg(required = true, value_name = "SIDE")]
    pub sides: Vec<String>,
    /// An evaluator that is compared [default: all that both sides have]; may be given several times
    #[arg(long, value_name = "EVALUATOR")]
    pub measure: Vec<String>,
    /// Bootstrap resamples
    #[arg(long, default_value_t = 10_000)]
    pub resamples: u32,
    /// Level of the intervals
    #[arg(long, default_value_t = 0.95)]
    pub confidence: f64,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Compares evaluations case by case.
///
/// # Errors
/// When a side is not there, is no report, or has nothing in common with the first.
pub fn compare(flags: &CompareFlags, store: Option<&Path>) -> Result<u8, Failure> {
    if !(flags.confidence > 0.0 && flags.confidence < 1.0) {
        return Err(Failure::Usage(format!("--confidence must be above 0 and below 1, found {}", flags.confidence)));
    }
    let several = flags.sides.len() > 1;
    let all = flags.sides.iter().map(|side| read(side, several, store)).collect::<Result<Vec<_>, _>>()?;
    let pairs = pairs(&flags.sides, &all)?;
    let statistics =
        StatisticsOptions { confidence: flags.confidence, resamples: flags.resamples, ..StatisticsOptions::default() };
    let comparisons = compare_sides(&pairs, &flags.measure, &statistics);
    if let Some(empty) = comparisons.iter().find(|comparison| comparison.measures.is_empty()) {
        return Err(Failure::NotThere {
            what: format!("{} and {} have no such evaluator in common", empty.first, empty.second),
            hint: "`ragstage report` shows what an evaluation has; `ragstage score FILE --evaluator ...` adds another"
                .to_string(),
        });
    }
    let scored = |(first, second): &&(&Side, &Side)| {
        let mut both = first.scores.iter().filter_map(|(evaluator, ones)| Some((ones, second.scores.get(evaluator)?)));
        both.any(|(ones, others)| ones.keys().any(|case| others.contains_key(case)))
    };
    if let Some((first, second)) = pairs.iter().find(|pair| !scored(pair)) {
        return Err(Failure::NotThere {
            what: format!("{} and {} have no scored case in common", first.name, second.name),
            hint: "cases are compared by their ids; both sides must be of one benchmark".to_string(),
        });
    }
    match flags.format {
        Format::Json => {
            out_json(&json!({"format": "ragstage.compare.v1", "statistics": statistics, "comparisons": comparisons}))?
        }
        Format::Text => out(&comparisons.iter().map(text).collect::<Vec<_>>().join("\n"))?,
    }
    Ok(exit::OK)
}

/// Which sides are compared: with the first argument's, those of the others that have its recipe and query; where both have one
/// only, these. Of one argument alone all with its first.
fn pairs<'a>(names: &[String], all: &'a [Vec<Side>]) -> Result<Vec<(&'a Side, &'a Side)>, Failure> {
    let nothing = |what: String| Failure::NotThere {
        what,
        hint: "name a part with SIDE#RECIPE or SIDE#RECIPE/QUERY".to_string(),
    };
    let Some((first, others)) = all.split_first() else { return Ok(Vec::new()) };
    if others.is_empty() {
        let Some((base, rest)) = first.split_first() else { return Err(nothing("there are no responses".to_string())) };
        if rest.is_empty() {
            return Err(nothing(format!("{} has one recipe and query, and nothing to compare it with", names[0])));
        }
        return Ok(rest.iter().map(|side| (base, side)).collect());
    }
    let mut pairs = Vec::new();
    for (other, name) in others.iter().zip(names.iter().skip(1)) {
        let before = pairs.len();
        match (first.as_slice(), other.as_slice()) {
            ([one], [another]) => pairs.push((one, another)),
            _ => {
                pairs.extend(first.iter().filter_map(|one| Some((one, one.twin(first, other)?))));
            }
        }
        if pairs.len() == before {
            return Err(nothing(format!("{} and {name} have no recipe and query in common", names[0])));
        }
    }
    Ok(pairs)
}

/// The sides that `named` stands for.
fn read(named: &str, several: bool, store: Option<&Path>) -> Result<Vec<Side>, Failure> {
    let (place, part) = match named.rsplit_once('#') {
        Some((place, part)) if !Path::new(named).exists() => (place, Some(part)),
        _ => (named, None),
    };
    let (report, scores) = files(place, store)?;
    let shown = several.then(|| Path::new(place));
    let fault = |error: SideError| Failure::NotThere {
        what: format!("{place}: {error}"),
        hint: "give a report.json that `ragstage run` or Heta Evaluation wrote".to_string(),
    };
    let sides = sides_of_report(shown, &report, scores).map_err(fault)?;
    let Some(part) = part else { return Ok(sides) };
    let (recipe, query) = match part.split_once('/') {
        Some((recipe, query)) => (recipe, Some(query)),
        None => (part, None),
    };
    let known: Vec<String> = sides.iter().map(|side| format!("{}/{}", side.recipe, side.query)).collect();
    let wanted = |side: &Side| side.recipe == recipe && query.is_none_or(|query| side.query == query);
    let picked: Vec<Side> = sides.into_iter().filter(wanted).collect();
    if picked.is_empty() {
        return Err(Failure::NotThere {
            what: format!("{place} has no {part}"),
            hint: format!("it has {}", known.join(", ")),
        });
    }
    Ok(picked)
}

/// A report, and the table of scores beside it.
type ReportFiles = (Vec<u8>, Option<Vec<u8>>);

/// The files of the side that `place` names.
fn files(place: &str, store: Option<&Path>) -> Result<ReportFiles, Failure> {
    let path = PathBuf::from(place);
    let path = if path.is_dir() && path.join("report.json").is_file() { path.join("report.json") } else { path };
    let is_json = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    if path.is_file() && is_json(&path) && path.file_name().is_some_and(|name| name != "evaluation.json") {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| Failure::Io { what: format!("read {}", path.display()), error })
        };
        let scores = path.with_file_name("scores.parquet");
        // Another report's table must not be taken for this one's.
        let ours = path.file_name().is_some_and(|name| name == "report.json") && scores.is_file();
        return Ok((read(&path)?, if ours { Some(read(&scores)?) } else { None }));
    }
    let absent = |what: String| Failure::NotThere {
        what,
        hint: "give an evaluation file that was run, the id of a run, or a report.json".to_string(),
    };
    let of_run = |store: &Store, id: &str| -> Result<Option<ReportFiles>, Failure> {
        let actions: BTreeMap<String, RecordedAction> = store.runs().read_json(id, ACTIONS_FILE)?.unwrap_or_default();
        let output = |label: &str, name: &str| {
            let action = actions.iter().find(|(known, _)| known.starts_with(label)).map(|(_, action)| action);
            action.and_then(|action| action.outputs.get(name)).copied()
        };
        let Some(report) = output("report ", "report.json") else { return Ok(None) };
        let scores = output("aggregate ", "score_table").map(|digest| store.cas().get(&digest)).transpose()?;
        Ok(Some((store.cas().get(&report)?, scores)))
    };
    if path.exists() {
        let files = [path.clone()];
        let root = store_place(store, &files).root;
        let read = evaluations(&files, Secrets::NotNeeded)?;
        let name = read.first().map(|evaluation| evaluation.name.clone()).unwrap_or_default();
        let store = Store::open(&root)?;
        // One that broke off has no report.
        return last_run(&store, &name, &|id| of_run(&store, id))?
            .ok_or_else(|| absent(format!("{place} has no run that came to a report")));
    }
    let found = store_place(store, &[]);
    if !found.exists {
        return Err(absent(format!("there is no file {place:?}, and no store with such a run")));
    }
    let store = Store::open(&found.root)?;
    match store.runs().evaluation(place)? {
        Some(_) => of_run(&store, place)?.ok_or_else(|| absent(format!("the run {place} has no report"))),
        None => Err(absent(format!("no file and no run is called {place:?}"))),
    }
}

fn text(comparison: &Comparison) -> String {
    let mut text = format!("{} -> {}\n", comparison.first, comparison.second);
    match comparison.same_data {
        SameData::Yes => {}
        SameData::OtherState => {
            text.push_str(
                "other-data: they are of other documents, cases or gold of one benchmark: a difference may be theirs\n",
            );
        }
        SameData::OtherBenchmark => {
            text.push_str(
                "other-data: they are of different benchmarks: cases are paired that happen to have one id\n",
            );
        }
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "evaluator",
        "cases",
        "first",
        "second",
        "difference",
        "interval",
        "p",
        "p (Holm)",
        "effect",
        "wins",
        "ties",
        "losses",
    ]);
    for measure in &comparison.measures {
        table.add_row(row(measure));
    }
    text.push_str(&format!("{table}\n"));
    for measure in &comparison.measures {
        if measure.left_out > 0 {
            text.push_str(&format!(
                "{}: {} left out, for only one side has a number\n",
                measure.evaluator,
                cases(measure.left_out)
            ));
        }
        for (what, flips) in [("failed now", &measure.failed_now), ("passed now", &measure.passed_now)] {
            if !flips.is_empty() {
                let named: Vec<&str> = flips.iter().map(|flip: &Flip| flip.case_id.as_str()).collect();
                text.push_str(&format!("{}: {what}: {}\n", measure.evaluator, named.join(", ")));
            }
        }
    }
    if comparison.responses > 0 {
        text.push_str(&format!(
            "shared-answers: {} of {} have the same response on both sides\n",
            comparison.same_responses,
            cases(comparison.responses)
        ));
    }
    for measure in comparison.measures.iter().filter(|measure| measure.drifted > 0) {
        let drifted = cases(measure.drifted);
        text.push_str(&format!(
            "judge-drift: {} scores {drifted} otherwise, with the same response\n",
            measure.evaluator
        ));
    }
    if !comparison.differences.is_empty() {
        text.push_str("they differ in\n");
        for difference in comparison.differences.iter().take(MOST_DIFFERENCES) {
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_string());
            text.push_str(&format!(
                "  {}: {} -> {}\n",
                difference.path,
                shown(&difference.first),
                shown(&difference.second)
            ));
        }
        if let Some(more) = comparison.differences.len().checked_sub(MOST_DIFFERENCES).filter(|more| *more > 0) {
            text.push_str(&format!("  ... and {more} more; --format json has all\n"));
        }
    }
    text
}

fn cases(count: u64) -> String {
    format!("{count} case{}", if count == 1 { "" } else { "s" })
}

fn row(measure: &Compared) -> Vec<String> {
    let Some(paired) = &measure.paired else {
        let mut row = vec![measure.evaluator.clone(), "0".to_string()];
        row.resize(12, String::new());
        return row;
    };
    let p = |p: Option<f64>| p.map(|p| format!("{p:.4}")).unwrap_or_default();
    vec![
        measure.evaluator.clone(),
        paired.cases.to_string(),
        format!("{:.4}", paired.first),
        format!("{:.4}", paired.second),
        format!("{:+.4}", paired.difference),
        paired.interval.map(|(low, high)| format!("[{low:+.4}, {high:+.4}]")).unwrap_or_default(),
        p(paired.p),
        p(measure.p_holm),
        paired.effect.map(|effect| format!("{effect:+.2}")).unwrap_or_default(),
        paired.wins.to_string(),
        paired.ties.to_string(),
        paired.losses.to_string(),
    ]
}
