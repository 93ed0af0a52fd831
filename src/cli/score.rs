//! `score`: evaluators over responses that are there already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use ragstage_cache::manifest::FieldValue;
use ragstage_cache::{Digest, Store};
use ragstage_stages::responses::Pick;

use super::failure::Failure;
use super::flags::RunFlags;
use super::open::store_place;
use super::standalone::{Missing, StandaloneFlags};
use super::{run, standalone};
use crate::evaluation::{Evaluation, ResponsesConfig, ResponsesPlace};
use crate::exec::{ACTIONS_FILE, RecordedAction};

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
        Missing::Zero => crate::evaluation::missing("empty"),
        Missing::Skip => crate::evaluation::missing("skip"),
    });
    let Some(set) = &flags.response_set else {
        return run::run(&flags.run, store, true, &|_| Ok(()));
    };
    let place = store_place(store, &flags.run.files);
    run::run(&flags.run, store, true, &|evaluations| {
        for evaluation in evaluations {
            let mut recipes = Vec::new();
            for (name, place) in sets(evaluation, set, place.exists.then_some(place.root.as_path()))? {
                recipes.push((name, ResponsesConfig { place, missing: missing.flatten(), ignore_unknown: None }));
            }
            evaluation.add_response_sets(recipes, flags.with_recipes);
        }
        Ok(())
    })
}

/// The response sets that `named` stands for, by the names that their recipes are to have.
fn sets(evaluation: &Evaluation, named: &str, store: Option<&Path>) -> Result<Vec<(String, ResponsesPlace)>, Failure> {
    let path = PathBuf::from(named);
    if path.is_file() {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name: String =
            stem.chars().map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
        let place = ResponsesPlace::File { path, format: None, pick: Pick::default() };
        return Ok(vec![(if name.is_empty() { "responses".to_string() } else { name }, place)]);
    }
    let absent = |what: String| Failure::NotThere {
        what,
        hint: "give a file, `last`, or the id of a run, as `ragstage status` and reports show it".to_string(),
    };
    let Some(root) = store else { return Err(absent(format!("no response set {named:?}, and no store"))) };
    let store = Store::open(root)?;
    let id = match named {
        "last" => store.runs().latest(&evaluation.name)?.map(|run| run.id().to_string()),
        id => store.runs().evaluation(id)?.map(|_| id.to_string()),
    };
    let Some(id) = id else { return Err(absent(format!("no file and no run is called {named:?}"))) };
    let tables = tables(&store, &id)?;
    if tables.is_empty() {
        return Err(absent(format!("the run {id} has no responses: it did not reach its report")));
    }
    let queries = tables.keys().map(|(_, query)| query).collect::<std::collections::BTreeSet<_>>().len();
    let name = |recipe: &str, query: &str| match queries {
        1 => recipe.to_string(),
        _ => format!("{recipe}-{query}"),
    };
    let named =
        tables.into_iter().map(|((recipe, query), tables)| (name(&recipe, &query), ResponsesPlace::Run(tables)));
    Ok(named.collect())
}

/// By recipe and query, the artifacts that a run's summary was made of.
type Tables = BTreeMap<(String, String), Vec<(Digest, Option<Digest>)>>;

fn tables(store: &Store, run: &str) -> Result<Tables, Failure> {
    let actions: BTreeMap<String, RecordedAction> = store.runs().read_json(run, ACTIONS_FILE)?.unwrap_or_default();
    let mut tables = Tables::new();
    for action in actions.iter().filter(|(label, _)| label.starts_with("aggregate ")).map(|(_, action)| action) {
        let Some(manifest) = store.actions().manifest(&action.key)? else { continue };
        // Of each response table its fields, by its position in the list.
        let mut rows: BTreeMap<usize, BTreeMap<String, FieldValue>> = BTreeMap::new();
        for (path, value) in manifest.leaves() {
            let mut parts = path.splitn(3, '.');
            if let (Some("responses"), Some(Ok(position)), Some(field)) =
                (parts.next(), parts.next().map(str::parse::<usize>), parts.next())
            {
                rows.entry(position).or_default().insert(field.to_string(), value);
            }
        }
        for row in rows.values() {
            let text = |field: &str| match row.get(field) {
                Some(FieldValue::Text(text)) => text.clone(),
                _ => String::new(),
            };
            let digest = |field: &str| match row.get(field) {
                Some(FieldValue::Digest(digest)) => Some(*digest),
                _ => None,
            };
            if let Some(results) = digest("results") {
                tables.entry((text("recipe"), text("query"))).or_default().push((results, digest("answers")));
            }
        }
    }
    Ok(tables)
}
