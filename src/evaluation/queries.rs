//! `queries`: how each recipe is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use ragstage_stages::artifact::Json;
use ragstage_stages::query::search::{KbArtifact, SearchMode};

use super::check::did_you_mean;
use super::diagnostic::Faults;
use super::mode::{Modes, is_mode, mode_names};
use super::name::{NAME, refuse_name};
use super::node::{Entry, Node, Position, Text, Value};
use super::recipe::{NAMED_RECIPE, Recipe, RecipeKind};
use super::responses::IMPORTED;
use super::run::QueryDefaults;
use super::shape::{Field, Need, Record, Shape, TEXT};
use super::system_openviking::{FIND, check_query, is_openviking};
use super::view::View;
use ragstage_stages::nearest::nearest;

/// The mode that ranks by BM25.
pub const FULL_TEXT_SEARCH: &str = "full_text_search";

const DEFAULT_TOP_K: u32 = 10;

/// What an entry of `queries` accepts.
pub(super) static QUERY: Record = Record {
    name: "query",
    doc: "A way to ask.",
    fields: &[
        Field {
            name: "mode",
            doc: "`full_text_search`, `vector_search`, `hybrid_search`, ...; for a system under test any name, which it is \
                  given as it is.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "name",
            doc: "Name of this way to ask, unique in the evaluation; the mode by default.",
            shape: NAME,
            need: Need::Optional,
        },
        Field {
            name: "top_k",
            doc: "How many results are asked for.",
            shape: Shape::Int { min: 1, max: 10_000 },
            need: Need::Default("10"),
        },
        Field {
            name: "options",
            doc: "Options of the mode; given to a system under test as they are.",
            shape: Shape::Free,
            need: Need::Default("{}"),
        },
        Field {
            name: "trace",
            doc: "Whether what the mode does is kept, step by step, in the results' metadata.",
            shape: Shape::Bool,
            need: Need::Default("false"),
        },
        Field {
            name: "recipes",
            doc: "Names of the recipes that are asked in this way; all by default.",
            shape: Shape::List { of: &TEXT, least: 1 },
            need: Need::Optional,
        },
    ],
    together: &[],
};

/// A way to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct QuerySpec {
    /// Its name, unique in the evaluation.
    pub name: String,
    /// The mode.
    pub mode: String,
    /// How many results are asked for.
    pub top_k: u32,
    /// Options of the mode, as the file has them.
    pub options: Json,
    /// The mode and its options, where a recipe that is built here is asked in this way.
    pub search: Option<Arc<SearchMode>>,
    /// Whether what the mode does is kept, step by step.
    pub trace: bool,
    /// The recipes that are asked in this way; all when `None`.
    pub recipes: Option<Vec<String>>,
}

impl QuerySpec {
    /// Whether `recipe` is asked in this way.
    pub fn asks(&self, recipe: &str) -> bool {
        self.recipes.as_ref().is_none_or(|recipes| recipes.iter().any(|name| name == recipe))
    }
}

impl QuerySpec {
    /// What the responses of `recipes`, which were made elsewhere, answer.
    pub(super) fn imported(recipes: Vec<String>) -> Self {
        QuerySpec {
            name: IMPORTED.to_string(),
            mode: IMPORTED.to_string(),
            // Whoever made the responses decided how many.
            top_k: 0,
            options: Json::new(),
            search: None,
            trace: false,
            recipes: Some(recipes),
        }
    }
}

impl Queries {
    /// The same where the responses of some recipes were made elsewhere: those are asked nothing, and have a query of their own.
    pub(super) fn beside_imported(mut self, recipes: &[Recipe], view: &View<'_>, faults: &mut Faults) -> Self {
        let named = |imported: bool| {
            let of_kind = move |recipe: &&Recipe| matches!(recipe.kind, RecipeKind::Responses(_)) == imported;
            recipes.iter().filter(of_kind).map(|recipe| recipe.name.clone())
        };
        let imported: Vec<String> = named(true).collect();
        if imported.is_empty() {
            return self;
        }
        for query in &mut self.list {
            let asked: Vec<String> = named(false).filter(|name| query.asks(name)).collect();
            query.recipes = Some(asked);
        }
        // What asks nobody any more, but the default, asked only for what cannot be asked.
        for query in
            self.list.iter().filter(|query| query.recipes.as_ref().is_some_and(Vec::is_empty) && view.is_given())
        {
            let message = format!("the query `{}` asks recipes whose responses were made elsewhere", query.name);
            let hint = "remove the query: responses made elsewhere are taken as they are".to_string();
            faults.add_hint(view.start(), &view.path, message, hint);
        }
        self.list.retain(|query| query.recipes.as_ref().is_none_or(|recipes| !recipes.is_empty()));
        if self.list.iter().any(|query| query.name == IMPORTED) {
            let message = format!("a query is named `{IMPORTED}`, the name of that of responses made elsewhere");
            faults.add_hint(view.start(), &view.path, message, "give it another `name`".to_string());
        }
        self.list.push(QuerySpec::imported(imported));
        self
    }
}

/// The names of recipes as far as they are known.
pub(super) struct RecipeNames<'a> {
    /// The recipes without fault.
    pub recipes: &'a [Recipe],
    /// Where each of them is.
    pub places: &'a [View<'a>],
    /// Whether a recipe has a faulty name or is faulty as a whole, so that a name may be right without being known.
    pub incomplete: bool,
}

impl RecipeNames<'_> {
    /// Whether the recipe at `position` has `part` in the file, be it faulty or under a misspelt key: it has been reported then,
    /// and is not missing as well.
    fn mentions(&self, position: usize, part: &str) -> bool {
        let keys = || NAMED_RECIPE.fields.iter().map(|field| field.name);
        let stands_for =
            |key: &str| key == part || !keys().any(|known| known == key) && nearest(key, keys()) == Some(part);
        self.places.get(position).is_some_and(|place| {
            place.entries().iter().any(|entry| entry.value.value != Value::Null && stands_for(&entry.key))
        })
    }

    /// Whether a recipe has the name at `view`; reports the name if none can have it.
    pub(super) fn check(&self, view: &View<'_>, faults: &mut Faults) -> bool {
        let Some(name) = view.text() else { return false };
        let names = || self.recipes.iter().map(|recipe| recipe.name.as_str());
        if names().any(|known| known == name) {
            return true;
        }
        if self.incomplete {
            return false;
        }
        let hint = match nearest(name, names()) {
            Some(near) => did_you_mean(near),
            None => format!("the recipes are {}", names().collect::<Vec<_>>().join(", ")),
        };
        faults.add_hint(view.start(), &view.path, format!("no recipe is named `{name}`"), hint);
        false
    }
}

/// The queries as far as they are known.
pub(super) struct Queries {
    /// The queries with a name.
    pub list: Vec<QuerySpec>,
    /// Whether a fault hides a query, or what one asks.
    pub incomplete: bool,
}

/// The list when the file says nothing, at `start`: one full-text search, or the only mode that all `recipes` have.
pub(super) fn default(recipes: &[Recipe], start: Position) -> Node {
    let mode = match !recipes.is_empty() && recipes.iter().all(is_openviking) {
        true => FIND,
        false => FULL_TEXT_SEARCH,
    };
    let value = Value::Text(Text { text: mode.to_string(), quoted: false });
    let entry = Entry { key: "mode".to_string(), start, value: Node { start, value } };
    Node { start, value: Value::List(vec![Node { start, value: Value::Map(vec![entry]) }]) }
}

/// The queries that a checked list stands for, with `defaults` where they do not say.
pub(super) fn convert(
    view: &View<'_>,
    defaults: &mut QueryDefaults,
    names: &RecipeNames<'_>,
    modes: &Modes<'_>,
    faults: &mut Faults,
) -> Queries {
    let mut queries = Queries { list: Vec::new(), incomplete: !view.is_given() };
    let Some(items) = view.items() else { return queries };
    let filled: Vec<(String, Option<Node>)> = items
        .iter()
        .map(|item| {
            let asked = item.get("recipes").texts();
            let asks = |recipe: &&Recipe| asked.as_ref().is_none_or(|asked| asked.contains(&recipe.name));
            let is_built = names.recipes.iter().filter(asks).any(Recipe::is_built);
            (item.path.clone(), defaults.fill(item, item.get("mode").text().unwrap_or_default(), is_built))
        })
        .collect();
    let items = items.iter().zip(&filled).map(|(item, (path, filled))| match filled {
        Some(node) => View::of(node, path),
        None => item.clone(),
    });
    for item in items {
        let mode = item.get("mode");
        let name = item.get("name");
        let Some(mut query) = convert_one(&item, names, &mut queries.incomplete, faults) else {
            queries.incomplete = true;
            continue;
        };
        let at = if name.is_given() { &name } else { &mode };
        if !name.is_given() && refuse_name(&query.name).is_some() {
            let message = format!("the mode `{}` cannot be a name as well", query.mode);
            faults.add_hint(mode.start(), &mode.path, message, "give this query a `name`".to_string());
        }
        if queries.list.iter().any(|other| other.name == query.name) {
            let message = format!("two queries are named `{}`", query.name);
            faults.add_hint(at.start(), &at.path, message, "give one of them another `name`".to_string());
            queries.incomplete = true;
            continue;
        }
        if check_mode(&query, &mode, names, faults) {
            let options = item.get("options");
            query.search = modes.convert(&query.mode, &options, faults).map(Arc::new);
            check_artifacts(&query, &mode, names, faults);
        }
        if let Some(recipe) = names.recipes.iter().find(|recipe| is_openviking(recipe) && query.asks(&recipe.name)) {
            check_query(&recipe.name, &item, faults);
        }
        queries.list.push(query);
    }
    queries
}

fn convert_one(
    view: &View<'_>,
    names: &RecipeNames<'_>,
    incomplete: &mut bool,
    faults: &mut Faults,
) -> Option<QuerySpec> {
    let recipes = view.get("recipes");
    for item in recipes.items().unwrap_or_default() {
        *incomplete |= !names.check(&item, faults);
    }
    let mode = view.get("mode").text()?.to_string();
    if view.is_faulty("name") || view.is_faulty("recipes") {
        return None;
    }
    Some(QuerySpec {
        name: view.get("name").text().map_or_else(|| mode.clone(), str::to_string),
        mode,
        top_k: view.get("top_k").int().unwrap_or(DEFAULT_TOP_K),
        options: view.get("options").json().unwrap_or_default(),
        search: None,
        trace: view.get("trace").bool().unwrap_or(false),
        recipes: recipes.texts(),
    })
}

/// Whether a recipe that is built here is asked in a mode that there is; reports one that there is not.
fn check_mode(query: &QuerySpec, mode: &View<'_>, names: &RecipeNames<'_>, faults: &mut Faults) -> bool {
    let Some(built) = names.recipes.iter().find(|recipe| recipe.is_built() && query.asks(&recipe.name)) else {
        return false;
    };
    if is_mode(&query.mode) {
        return true;
    }
    let hint = match nearest_mode(&query.mode) {
        Some(near) => did_you_mean(near),
        None if names.recipes.iter().any(|recipe| !recipe.is_built()) => {
            "name the systems that have this mode with `recipes`".to_string()
        }
        None => format!("the modes are {}", mode_names().collect::<Vec<_>>().join(", ")),
    };
    faults.add_hint(
        mode.start(),
        &mode.path,
        format!("the recipe `{}` has no mode `{}`", built.name, query.mode),
        hint,
    );
    false
}

/// The mode that `word` is meant to be: often one without its `_search`.
fn nearest_mode(word: &str) -> Option<&'static str> {
    let stem = |mode: &'static str| mode.strip_suffix("_search").unwrap_or(mode);
    nearest(word, mode_names()).or_else(|| {
        let near = nearest(word, mode_names().map(stem))?;
        mode_names().find(|mode| stem(mode) == near)
    })
}

/// Reports the recipes that do not build what the mode reads.
fn check_artifacts(query: &QuerySpec, mode: &View<'_>, names: &RecipeNames<'_>, faults: &mut Faults) {
    let Some(search) = &query.search else { return };
    let mut reads = BTreeSet::new();
    search.reads(&mut reads);
    for (position, recipe) in names.recipes.iter().enumerate().filter(|(_, recipe)| query.asks(&recipe.name)) {
        let RecipeKind::Built(built) = &recipe.kind else { continue };
        let vectors = [KbArtifact::VectorIndex, KbArtifact::GraphVectorIndex];
        let graph = [KbArtifact::Entities, KbArtifact::Relations, KbArtifact::Mentions, KbArtifact::GraphVectorIndex];
        let missing = [
            ("embed", built.embed.is_none() && vectors.iter().any(|artifact| reads.contains(artifact))),
            ("graph", built.graph.is_none() && graph.iter().any(|artifact| reads.contains(artifact))),
        ];
        for (key, _) in missing.iter().filter(|(key, missing)| *missing && !names.mentions(position, key)) {
            let message = format!("the recipe `{}` has no `{key}`, which `{}` reads", recipe.name, query.mode);
            let hint = format!("add `{key}` to the recipe, or name the recipes that have it with `recipes`");
            faults.add_hint(mode.start(), &mode.path, message, hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ragstage_stages::query::Transport;
    use ragstage_stages::query::system::Mapping;

    use super::super::models::Models;
    use super::super::prompt::PromptFiles;
    use super::super::rerankers::Rerankers;
    use super::super::system::SystemConfig;
    use super::super::view::tests::checked;
    use super::*;

    fn recipes() -> Vec<Recipe> {
        let built = RecipeKind::Built(Default::default());
        let transport = Transport::Command {
            command: vec!["x".into()],
            directory: PathBuf::from("."),
            environment: vec![],
            variables: vec![],
            operations: vec![],
        };
        let system = RecipeKind::System(SystemConfig {
            name: None,
            version: "1".into(),
            files: vec![],
            mapping: Mapping::default(),
            ingest_batch: None,
            ingest_workers: None,
            openviking: None,
            transport,
        });
        vec![Recipe { name: "small".into(), kind: built }, Recipe { name: "mine".into(), kind: system }]
    }

    fn read(text: &str) -> Result<Vec<QuerySpec>, Vec<String>> {
        let recipes = recipes();
        const LIST: Shape = Shape::List { of: &Shape::Record(&QUERY), least: 1 };
        let names = RecipeNames { recipes: &recipes, places: &[], incomplete: false };
        let models = Models { list: Vec::new(), incomplete: false };
        let prompts = PromptFiles::new("".as_ref());
        let modes = Modes { models: &models, rerankers: &Rerankers::default(), prompts: &prompts };
        checked(text, &LIST, |view, faults| {
            let mut defaults = QueryDefaults::of(&view.get("run"));
            convert(view, &mut defaults, &names, &modes, faults).list
        })
    }

    #[test]
    fn a_query_with_defaults() {
        let queries =
            read("[{mode: full_text_search}, {mode: hybrid, name: h, top_k: 3, options: {a: 1}, recipes: [mine]}]")
                .unwrap();
        assert_eq!((queries[0].name.as_str(), queries[0].top_k), ("full_text_search", 10));
        assert!(queries[0].asks("small") && queries[0].asks("mine"));
        assert!(!queries[1].asks("small") && queries[1].asks("mine"));
        assert_eq!(serde_json::Value::Object(queries[1].options.clone()), serde_json::json!({"a": 1}));
    }

    #[test]
    fn names_and_modes_are_checked() {
        for (text, expected) in [
            (
                "[{mode: fulltext_search}]",
                "1:9 [0].mode: the recipe `small` has no mode `fulltext_search` [did \
                 you mean `full_text_search`?]",
            ),
            (
                "[{mode: Hybrid}]",
                "1:9 [0].mode: the recipe `small` has no mode `Hybrid` [did you mean `hybrid_search`?]",
            ),
            (
                "[{mode: fastest}]",
                "1:9 [0].mode: the recipe `small` has no mode `fastest` [name the \
                 systems that have this mode with `recipes`]",
            ),
            (
                "[{mode: full_text_search, recipes: [smal]}]",
                "1:37 [0].recipes[0]: no recipe is named `smal` [did you mean `small`?]",
            ),
            (
                "[{mode: full_text_search}, {mode: full_text_search, top_k: 20}]",
                "1:35 [1].mode: two queries are named `full_text_search` [give one of them another `name`]",
            ),
            (
                "[{mode: a/b, recipes: [mine]}]",
                "1:9 [0].mode: the mode `a/b` cannot be a name as well [give this query a `name`]",
            ),
            (
                "[{mode: full_text_search, top_k: 0}]",
                "1:34 [0].top_k: expected a whole number from 1 to 10000, found 0",
            ),
            ("[{topk: 5, mode: full_text_search}]", "1:3 [0]: unknown key `topk` [did you mean `top_k`?]"),
            ("[]", "1:1 : expected a list of at least 1, found 0"),
        ] {
            assert_eq!(read(text).unwrap_err(), [expected], "{text}");
        }
    }
}
