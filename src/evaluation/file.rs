//! The evaluation file as a whole: its elements, and what they must agree on.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use ragstage_stages::aggregate::{CaseResults, LINTS, RunInfo, StatisticsOptions};
use ragstage_stages::error::Place;
use ragstage_stages::nearest::nearest;
use ragstage_stages::prepare::BenchmarkSpec;
use ragstage_stages::query::AnswerOptions;

use super::answer::{self, ANSWER};
use super::benchmark::{self, BENCHMARK};
use super::check::{check, did_you_mean};
use super::diagnostic::{Diagnostic, EvaluationErrors, Faults};
use super::embed::EmbedConfig;
use super::evaluators::{self, CheckEvaluator, EVALUATOR, EvaluatorConfig};
use super::gates::{self, GATE, GateSpec};
use super::judge::{self, JudgeConfig};
use super::limits::{self, LIMITS, Limits};
use super::mode::Modes;
use super::models::{self, MODEL, Models, ServedModel};
use super::name::NAME;
use super::node::Value;
use super::program;
use super::prompt::PromptFiles;
use super::queries::{self, QUERY, QuerySpec, RecipeNames};
use super::recipe::{self, BuiltRecipe, NAMED_RECIPE, RECIPE, Recipe, RecipeKind};
use super::report::{self, REPORT};
use super::rerankers::{self, RERANKER, Rerankers};
use super::responses::{IMPORTED, ResponsesConfig};
use super::run::{self, QueryDefaults, RUN};
use super::shape::{Field, Need, Record, Refusal, Shape, TEXT, TextRule, Together};
use super::statistics::{self, STATISTICS};
use super::tree::read_tree;
use super::view::View;

/// No evaluation file is larger; what is, is data given by mistake.
const MAX_BYTES: u64 = 1 << 20;

/// The name of a lint.
const LINT: Shape = Shape::Text(&TextRule {
    expected: "the name of a lint",
    pattern: None,
    refuse: |text| {
        (!LINTS.contains(&text)).then(|| Refusal {
            message: format!("no lint is called `{text}`"),
            hint: Some(match nearest(text, LINTS) {
                Some(near) => did_you_mean(near),
                None => format!("the lints are {}", LINTS.join(", ")),
            }),
        })
    },
});

/// What the file accepts.
pub(super) static EVALUATION: Record = Record {
    name: "evaluation",
    doc: "An evaluation of knowledge recipes on a benchmark. Paths are relative to this file.",
    fields: &[
        Field { name: "name", doc: "Name of the evaluation.", shape: NAME, need: Need::Required },
        Field {
            name: "benchmark",
            doc: "The dataset: documents, cases and what is right.",
            shape: Shape::Tagged(&BENCHMARK),
            need: Need::Required,
        },
        Field {
            name: "models",
            doc: "The chat models that recipes, queries and answers name.",
            shape: Shape::List { of: &Shape::Record(&MODEL), least: 0 },
            need: Need::Default("[]"),
        },
        Field {
            name: "rerankers",
            doc: "The cross-encoders that queries name.",
            shape: Shape::List { of: &Shape::Record(&RERANKER), least: 0 },
            need: Need::Default("[]"),
        },
        Field {
            name: "recipe",
            doc: "The recipe, when there is one; `{}` for every default.",
            shape: Shape::Record(&RECIPE),
            need: Need::Optional,
        },
        Field {
            name: "recipes",
            doc: "The recipes that are compared.",
            shape: Shape::List { of: &Shape::Record(&NAMED_RECIPE), least: 1 },
            need: Need::Optional,
        },
        Field {
            name: "queries",
            doc: "How each recipe is asked.",
            shape: Shape::List { of: &Shape::Record(&QUERY), least: 1 },
            need: Need::Default(r#"[{"mode": "full_text_search", "top_k": 10}]"#),
        },
        Field {
            name: "run",
            doc: "How queries ask by default, and what the report says of the run.",
            shape: Shape::Record(&RUN),
            need: Need::Optional,
        },
        Field {
            name: "answer",
            doc: "How answers are made, or `none`; by default extractive, and by the system itself for systems under \
                  test.",
            shape: ANSWER,
            need: Need::Optional,
        },
        Field {
            name: "evaluators",
            doc: "What responses are scored by; the benchmark's own by default.",
            shape: Shape::List { of: &EVALUATOR, least: 1 },
            need: Need::Optional,
        },
        Field {
            name: "statistics",
            doc: "How scores are summed up.",
            shape: Shape::Record(&STATISTICS),
            need: Need::Optional,
        },
        Field {
            name: "gates",
            doc: "Bounds that the means must keep.",
            shape: Shape::List { of: &Shape::Record(&GATE), least: 0 },
            need: Need::Default("[]"),
        },
        Field {
            name: "report",
            doc: "What the report files hold.",
            shape: Shape::Record(&REPORT),
            need: Need::Optional,
        },
        Field {
            name: "silence",
            doc: "Names of lints that are not told.",
            shape: Shape::List { of: &LINT, least: 0 },
            need: Need::Default("[]"),
        },
        Field {
            name: "baseline",
            doc: "A `report.json`, or the folder with one and its `scores.parquet`, that gates compare with.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "limits",
            doc: "How much runs at once, and how long calls may take.",
            shape: Shape::Record(&LIMITS),
            need: Need::Optional,
        },
        Field {
            name: "output",
            doc: "Folder of the report files, relative to this file; `reports/<name>` by default.",
            shape: TEXT,
            need: Need::Optional,
        },
    ],
    together: &[Together::ExactlyOne(&["recipe", "recipes"])],
};

/// An evaluation file without fault. Paths are joined to the folder of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The file.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// The benchmark.
    pub benchmark: BenchmarkSpec,
    /// The recipes; at least one, with unique names.
    pub recipes: Vec<Recipe>,
    /// The queries; at least one, with unique names.
    pub queries: Vec<QuerySpec>,
    /// How answers are made; `None` for no answers.
    pub answer: Option<AnswerOptions>,
    /// Whether the file says how answers are made. If not, systems under test answer themselves.
    pub answer_given: bool,
    /// What responses are scored by; the benchmark's own when `None`.
    pub evaluators: Option<Vec<EvaluatorConfig>>,
    /// The judge beside the benchmark's own evaluators, where the benchmark has one and the file a model that judges.
    pub benchmark_judge: Option<JudgeConfig>,
    /// How scores are summed up.
    pub statistics: StatisticsOptions,
    /// Bounds that the means must keep.
    pub gates: Vec<GateSpec>,
    /// Which case results reports list.
    pub case_results: CaseResults,
    /// Names of lints that are not told.
    pub silence: Vec<String>,
    /// The report that gates compare with.
    pub baseline: Option<PathBuf>,
    /// What reports are told of the run.
    pub run: RunInfo,
    /// The folder that is the object store of kept reports; that of the report files when `None`.
    pub object_store: Option<PathBuf>,
    /// How much runs at once.
    pub limits: Limits,
    /// The models behind endpoints that the file names.
    pub served: Vec<ServedModel>,
    /// Where report files go.
    pub output: PathBuf,
    /// Every file that was read to know this.
    pub files: Vec<PathBuf>,
}

impl Evaluation {
    /// The evaluators that ask a chat model, be they the file's or the benchmark's.
    pub fn judges(&self) -> impl Iterator<Item = &JudgeConfig> {
        let listed = self.evaluators.iter().flatten().filter_map(|config| match config {
            EvaluatorConfig::Judge(judge) => Some(&**judge),
            _ => None,
        });
        listed.chain(&self.benchmark_judge)
    }

    /// The file of the object store that keeps the report, where that is known before the report is there; `output` takes the place of the
    /// file's own output folder.
    pub fn kept_report(&self, output: Option<&Path>) -> Option<PathBuf> {
        Some(self.object_store(output).join(self.run.given_report_key(&self.name)?))
    }

    /// The folder that is the object store; see [`Evaluation::kept_report`].
    pub fn object_store<'a>(&'a self, output: Option<&'a Path>) -> &'a Path {
        self.object_store.as_deref().or(output).unwrap_or(&self.output)
    }

    /// Adds recipes whose responses were made elsewhere, in place of the file's own unless `beside` them. A name that a recipe of
    /// the file has gets a number.
    pub fn add_response_sets(&mut self, sets: Vec<(String, ResponsesConfig)>, beside: bool) {
        if !beside {
            // Its report and its run record are not those of the file's own recipes.
            if self.output.file_name().is_some_and(|name| name == self.name.as_str()) {
                self.output.set_file_name(format!("{}-responses", self.name));
            }
            self.name = format!("{}-responses", self.name);
            self.run.report_id = self.run.report_id.take().map(|id| format!("{id}-responses"));
            self.recipes.clear();
            self.queries.clear();
            // They are about recipes that are not there.
            self.gates.retain(|gate| gate.recipe.is_none() && gate.query.is_none());
        }
        let mut names: Vec<String> = Vec::new();
        for (name, config) in sets {
            let taken = |name: &String| self.recipes.iter().any(|recipe| recipe.name == *name);
            let numbered = (2u32..).map(|number| format!("{name}-{number}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name);
            names.push(free.clone());
            self.recipes.push(Recipe { name: free, kind: RecipeKind::Responses(config) });
        }
        match self.queries.iter_mut().find(|query| query.mode == IMPORTED) {
            Some(query) => query.recipes.get_or_insert_default().extend(names),
            None => {
                let own: Vec<String> = self
                    .recipes
                    .iter()
                    .map(|recipe| recipe.name.clone())
                    .filter(|name| !names.contains(name))
                    .collect();
                for query in &mut self.queries {
                    let asked = own.iter().filter(|name| query.asks(name)).cloned().collect();
                    query.recipes = Some(asked);
                }
                self.queries.push(QuerySpec::imported(names));
            }
        }
    }
}

/// Reads the evaluation file at `path`.
///
/// `environment` gives the variables for `${NAME}` in headers and environments of systems; `check_evaluator` knows
/// which evaluators there are.
///
/// # Errors
/// Every fault that was found, with its place.
pub fn read(
    path: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    check_evaluator: &CheckEvaluator<'_>,
) -> Result<Evaluation, EvaluationErrors> {
    let alone = |place: Place, message: String, hint: Option<&str>| EvaluationErrors {
        diagnostics: vec![Diagnostic { place, path: String::new(), message, hint: hint.map(str::to_string) }],
        source: String::new(),
        what: "evaluation file",
    };
    // Opening a pipe waits for a writer that may never come.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(alone(Place::file(path), "not a regular file".to_string(), None));
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let hint = missing.then_some("`ragstage init` writes an evaluation file to start from");
        alone(Place::file(path), format!("cannot be read: {error}"), hint)
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        let hint = "documents and cases belong into files of their own, which `benchmark` names";
        return Err(alone(Place::file(path), format!("larger than {MAX_BYTES} bytes"), Some(hint)));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let sound =
            String::from_utf8_lossy(error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default());
        let line = sound.split('\n').count() as u64;
        let column = sound.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u64 + 1;
        alone(Place::at(path, line, column), "not UTF-8".to_string(), Some("save the file as UTF-8"))
    })?;
    read_text(path, &text, environment, check_evaluator)
}

/// Reads `text`, the content of the evaluation file at `path`.
pub(super) fn read_text(
    path: &Path,
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
    check_evaluator: &CheckEvaluator<'_>,
) -> Result<Evaluation, EvaluationErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut faults = Faults::new(path);
    let (root, tree_faults) = read_tree(text);
    for fault in tree_faults {
        faults.add_hint(fault.at, &fault.path, fault.message, fault.hint);
    }
    let evaluation = root.and_then(|mut root| {
        if root.value == Value::Null {
            let hint = "`ragstage init` writes an evaluation file to start from";
            faults.add_hint(root.start, "", "the file is empty", hint.to_string());
            return None;
        }
        check(&mut root, &Shape::Record(&EVALUATION), "", &mut faults);
        if root.value == Value::Faulty {
            return None;
        }
        Some(convert(&View::root(&root), path, environment, check_evaluator, &mut faults))
    });
    match evaluation {
        Some(evaluation) if faults.is_empty() => Ok(evaluation),
        _ => Err(EvaluationErrors {
            diagnostics: faults.into_sorted(),
            source: text.to_string(),
            what: "evaluation file",
        }),
    }
}

fn convert(
    view: &View<'_>,
    path: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    check_evaluator: &CheckEvaluator<'_>,
    faults: &mut Faults,
) -> Evaluation {
    let base = path.parent().unwrap_or(Path::new(""));
    let name = view.get("name").text().unwrap_or_default().to_string();
    let benchmark = benchmark::convert(&view.get("benchmark"), base, environment, faults);

    let models = models::convert(&view.get("models"), environment, faults);
    let (mut recipes, places, incomplete) = convert_recipes(view, base, environment, &models, faults);
    let alone = view.get("recipe");
    if alone.is_given() && !alone.get("name").is_given() {
        // Every recipe without a name has the same one; its system's responses must not be another evaluation's.
        for recipe in &mut recipes {
            if let RecipeKind::System(system) = &mut recipe.kind {
                system.name.get_or_insert_with(|| name.clone());
            }
        }
    }
    let names = RecipeNames { recipes: &recipes, places: &places, incomplete };
    let rerankers = rerankers::convert(&view.get("rerankers"), environment, faults);
    let prompts = PromptFiles::new(base);
    let run_view = view.get("run");
    let mut defaults = QueryDefaults::of(&run_view);
    let modes = Modes { models: &models, rerankers: &rerankers, prompts: &prompts };
    let unsaid = queries::default(&recipes, view.start());
    let listed = match view.get("queries") {
        absent if !absent.is_given() && !view.is_faulty("queries") => View::of(&unsaid, "queries"),
        given => given,
    };
    let queries = queries::convert(&listed, &mut defaults, &names, &modes, faults);
    if !queries.incomplete {
        defaults.finish(&run_view, faults);
    }
    let queries = queries.beside_imported(&recipes, &view.get("queries"), faults);
    for (recipe, place) in recipes.iter().zip(&places) {
        if !queries.incomplete && !queries.list.iter().any(|query| query.asks(&recipe.name)) {
            let message = format!("no query asks the recipe `{}`", recipe.name);
            let hint = "add it to the `recipes` of a query, or remove it".to_string();
            faults.add_hint(place.start(), &place.path, message, hint);
        }
    }

    let evaluators_view = view.get("evaluators");
    let read_programs = RefCell::default();
    let named = evaluators::Known {
        judges: judge::Known { models: &models, files: &prompts },
        programs: program::Known { base, environment, files: &read_programs },
    };
    let evaluators = evaluators::convert(&evaluators_view, check_evaluator, &named, faults);
    let benchmark_judge = match &evaluators {
        None => benchmark.adapter.about().and_then(|about| about.judge.clone()).zip(models.judging().cloned()),
        Some(_) => None,
    };
    let benchmark_judge = benchmark_judge.map(|(kind, model)| JudgeConfig::new(kind, model));
    let listed = evaluators.as_ref().map_or(0, Vec::len);
    let known = gates::Known {
        recipes: &names,
        queries: &queries,
        evaluators: evaluators.as_deref(),
        benchmark_judge: benchmark_judge.as_ref(),
        evaluators_incomplete: view.is_faulty("evaluators")
            || evaluators_view.items().is_some_and(|items| items.len() != listed),
    };
    let gates = gates::convert(&view.get("gates"), &known, check_evaluator, faults);
    let mut files = vec![path.to_path_buf()];
    files.extend(prompts.into_read());
    files.extend(read_programs.into_inner());
    let instructions = benchmark.adapter.instructions();
    let known = answer::Known { base, models: &models, recipes: &recipes, instructions };
    let answer = answer::convert(&view.get("answer"), &known, &mut files, faults);
    let limits_view = view.get("limits");
    let mut limits = limits::convert(&limits_view, &recipes);
    run::limit(&run_view, &limits_view, &mut limits, faults);
    let output = match view.get("output").text() {
        Some(output) => base.join(output),
        None => base.join("reports").join(&name),
    };
    Evaluation {
        path: path.to_path_buf(),
        benchmark,
        answer,
        answer_given: view.get("answer").is_given(),
        statistics: statistics::convert(&view.get("statistics")),
        gates,
        case_results: report::convert(&view.get("report")),
        silence: view.get("silence").texts().unwrap_or_default(),
        baseline: view.get("baseline").text().map(|path| base.join(path)),
        run: run::convert(&run_view),
        object_store: run_view.get("object_store").text().map(|path| base.join(path)),
        limits,
        served: served(&models, &rerankers, &recipes),
        output,
        files,
        name,
        recipes,
        queries: queries.list,
        evaluators,
        benchmark_judge,
    }
}

/// The recipes with their places, and whether some of their names are not known because of a fault.
fn convert_recipes<'a>(
    view: &View<'a>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    models: &Models,
    faults: &mut Faults,
) -> (Vec<Recipe>, Vec<View<'a>>, bool) {
    let alone = view.get("recipe");
    let items = match view.get("recipes").items() {
        Some(items) => items,
        None if alone.is_given() => vec![alone.clone()],
        None => Vec::new(),
    };
    let mut incomplete = items.is_empty();
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut places = Vec::new();
    for item in items {
        let recipe = recipe::convert(&item, base, environment, models, faults);
        let name = item.get("name");
        if item.path != alone.path && !name.is_given() || item.is_faulty("name") {
            incomplete = true;
            continue;
        }
        if recipes.iter().any(|other| other.name == recipe.name) {
            let message = format!("two recipes are named `{}`", recipe.name);
            faults.add_hint(name.start(), &name.path, message, "give one of them another name".to_string());
            incomplete = true;
            continue;
        }
        if let Some(twin) = recipes.iter().find(|other| answers_for(other, &recipe)) {
            let system = item.get("system");
            let message = format!("the same system as that of `{}`, reached in another way", twin.name);
            let hint =
                "give different systems different `name`s or `version`s: responses are kept by these, not by URL";
            faults.add_hint(system.start(), &system.path, message, hint.to_string());
        }
        recipes.push(recipe);
        places.push(item);
    }
    (recipes, places, incomplete)
}

/// Every model behind an endpoint.
fn served(models: &Models, rerankers: &Rerankers, recipes: &[Recipe]) -> Vec<ServedModel> {
    let chat =
        models.list.iter().map(|model| ServedModel::of("chat model", &model.model, &model.endpoint, model.price));
    let rerank =
        rerankers.list.iter().map(|(_, model)| ServedModel::of("reranker", &model.model, &model.endpoint, model.price));
    let embed = recipes.iter().filter_map(|recipe| match &recipe.kind {
        RecipeKind::Built(BuiltRecipe { embed: Some(EmbedConfig::OpenAi(model)), .. }) => {
            Some(ServedModel::of("embedder", &model.model, &model.endpoint, model.price))
        }
        _ => None,
    });
    chat.chain(rerank).chain(embed).collect()
}

/// Whether two recipes' systems would share responses although they are reached in different ways.
fn answers_for(one: &Recipe, other: &Recipe) -> bool {
    let identity = |recipe: &Recipe| match &recipe.kind {
        RecipeKind::System(system) => {
            let name = system.name.clone().unwrap_or_else(|| recipe.name.clone());
            Some((name, system.version.clone(), system.files.clone(), system.transport.clone()))
        }
        RecipeKind::Built(_) | RecipeKind::Responses(_) => None,
    };
    match (identity(one), identity(other)) {
        (Some((a, b, c, way)), Some((d, e, f, other_way))) => (a, b, c) == (d, e, f) && way != other_way,
        _ => false,
    }
}
