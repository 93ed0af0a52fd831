//! `score`: evaluators over responses that are there already.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use ragstage_cache::Store;
use ragstage_stages::query;
use ragstage_stages::responses::Pick;

use super::failure::Failure;
use super::flags::RunFlags;
use super::open::{last_run, store_place};
use super::standalone::{Missing, StandaloneFlags};
use super::{run, standalone};
use crate::batch::{RESPONSES_FILE, RecordedResponses};
use crate::evaluation::{Evaluation, RecordedTables, ResponsesConfig, ResponsesPlace};

/// Flags of `score`.
#[derive(Args)]
pub struct ScoreFlags {
    /// What it shares with `run`.
    #[command(flatten)]
    pub run: RunFlags,
    /// Score these responses in place of those of the file's recipes: a file (JSON lines, Parquet, a TREC run, a report.json,
    /// OpenViking's generated_answers.json), the id of an earlier run, or `last`
    #[arg(long, value_name = "SET")]
    pub response_set: Option<String>,
    /// Of a response set with several recipes, which one
    #[arg(long, requires = "response_set")]
    pub recipe: Option<String>,
    /// Of a response set with several queries or modes, which one
    #[arg(long, requires = "response_set")]
    pub query: Option<String>,
    /// Score the file's own recipes beside the response set
    #[arg(long, requires = "response_set")]
    pub with_recipes: bool,
    /// Scoring without evaluation file and store.
    #[command(flatten)]
    pub standalone: StandaloneFlags,
}

/// Scores responses again, or those of a response set.
///
/// # Errors
/// When a file is invalid, the set is not there, or the batch fails as a whole.
pub fn score(flags: &ScoreFlags, store: Option<&Path>) -> Result<u8, Failure> {
    match (flags.standalone.given(), &flags.response_set) {
        (Some(flag), Some(_)) => {
            return Err(Failure::Usage(format!("{flag} goes without an evaluation file, --response-set with one")));
        }
        (None, None) if flags.standalone.missing.is_none() => {}
        (_, None) => return standalone::standalone(&flags.standalone, &flags.run),
        (None, Some(_)) => {}
    }
    let missing = flags.standalone.missing.map(|missing| match missing {
        Missing::Zero => query::Missing::Empty,
        Missing::Skip => query::Missing::Skip,
    });
    let pick = Pick { recipe: flags.recipe.clone(), query: flags.query.clone() };
    let Some(set) = &flags.response_set else {
        return run::run(&flags.run, store, true, &|_| Ok(()));
    };
    let place = store_place(store, &flags.run.files());
    run::run(&flags.run, store, true, &|evaluations| {
        for evaluation in evaluations {
            let mut recipes = Vec::new();
            for (name, place) in sets(evaluation, (set, &pick), place.exists.then_some(place.root.as_path()))? {
                recipes.push((name, ResponsesConfig { place, missing, ignore_unknown: None }));
            }
            evaluation.add_response_sets(recipes, flags.with_recipes);
        }
        Ok(())
    })
}

/// The response sets that `named` stands for, by the names that their recipes are to have.
fn sets(
    evaluation: &Evaluation,
    (named, pick): (&str, &Pick),
    store: Option<&Path>,
) -> Result<Vec<(String, ResponsesPlace)>, Failure> {
    let path = PathBuf::from(named);
    if path.is_file() {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name: String =
            stem.chars().map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
        let place = ResponsesPlace::File { path, format: None, pick: pick.clone() };
        return Ok(vec![(if name.is_empty() { "responses".to_string() } else { name }, place)]);
    }
    if path.is_dir() {
        return Err(Failure::NotThere {
            what: format!("{named} is a folder, and not a file of responses"),
            hint: "name a file in it".to_string(),
        });
    }
    let absent = |what: String| Failure::NotThere {
        what,
        hint: "give a file, `last`, or the id of a run, as `ragstage status` and reports show it".to_string(),
    };
    let Some(root) = store else { return Err(absent(format!("no response set {named:?}, and no store"))) };
    let store = Store::open(root)?;
    let recorded = |id: &str| -> Result<Option<Vec<RecordedResponses>>, Failure> {
        let found: Option<Vec<_>> = store.runs().read_json(id, RESPONSES_FILE)?;
        Ok(found.filter(|found| !found.is_empty()))
    };
    let found = match named {
        // A run that broke off, or `score` without responses, has none.
        "last" => last_run(&store, &evaluation.name, &recorded)?,
        id => match store.runs().evaluation(id)? {
            Some(_) => recorded(id)?,
            None => return Err(absent(format!("no file and no run is called {named:?}"))),
        },
    };
    let Some(found) = found else {
        return Err(absent(format!("{named:?} has no responses: no run came so far")));
    };
    let is = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let picked: Vec<&RecordedResponses> =
        found.iter().filter(|found| is(&pick.recipe, &found.recipe) && is(&pick.query, &found.query)).collect();
    if picked.is_empty() {
        let known: BTreeSet<String> = found.iter().map(|found| format!("{}/{}", found.recipe, found.query)).collect();
        return Err(Failure::NotThere {
            what: format!("{named:?} has no responses of the recipe and query that --recipe and --query name"),
            hint: format!("it has {}", known.into_iter().collect::<Vec<_>>().join(", ")),
        });
    }
    let queries: BTreeSet<&str> = picked.iter().map(|responses| responses.query.as_str()).collect();
    // In the order of the run, with the names of its recipes.
    let mut sets: Vec<(String, Vec<RecordedTables>)> = Vec::new();
    for responses in picked {
        let name = match queries.len() {
            1 => responses.recipe.clone(),
            _ => format!("{}-{}", responses.recipe, responses.query),
        };
        let table = (responses.results, responses.answers);
        match sets.iter_mut().find(|(known, _)| *known == name) {
            Some((_, tables)) => tables.push(table),
            None => sets.push((name, vec![table])),
        }
    }
    Ok(sets.into_iter().map(|(name, tables)| (name, ResponsesPlace::Run(tables))).collect())
}
