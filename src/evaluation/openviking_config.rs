//! The run configuration of OpenViking's RAG benchmark (spec/openviking 4), read and checked.

use std::fs;
use std::path::{Component, Path, PathBuf};

use ragstage_stages::error::Place;

use super::check::{check, join};
use super::diagnostic::{Diagnostic, EvaluationErrors, Faults};
use super::node::{Node, Value};
use super::placeholders::filled;
use super::shape::{Choice, Field, Need, Range, Record, Shape, TEXT};
use super::system::URL;
use super::tree::read_tree;
use super::view::View;

const COUNT: Shape = Shape::Int { min: 1, max: 1024 };

const fn required(name: &'static str, doc: &'static str, shape: Shape) -> Field {
    Field { name, doc, shape, need: Need::Required }
}

const fn optional(name: &'static str, doc: &'static str, shape: Shape) -> Field {
    Field { name, doc, shape, need: Need::Optional }
}

static ADAPTER: Record = Record {
    name: "openviking_adapter",
    doc: "Which of its adapters reads the dataset.",
    fields: &[optional("module", "The adapter's module.", TEXT), optional("class_name", "The adapter's class.", TEXT)],
    together: &[],
};

static EXECUTION: Record = Record {
    name: "openviking_execution",
    doc: "How it is run.",
    fields: &[
        required("max_workers", "Calls at once.", COUNT),
        optional("ingest_workers", "Hand-overs at once.", COUNT),
        required("retrieval_topk", "How many results are asked for.", Shape::Int { min: 1, max: 10_000 }),
        optional("max_queries", "Only the first so many questions.", Shape::Int { min: 1, max: u64::MAX }),
        optional("skip_ingestion", "Whether the documents are there already.", Shape::Bool),
        optional("ingest_mode", "`directory`; anything else is `per_file`.", TEXT),
        optional("retrieval_instruction", "Put before every question.", Shape::AnyText),
    ],
    together: &[],
};

static PATHS: Record = Record {
    name: "openviking_paths",
    doc: "Files and folders; relative ones are below the benchmark's folder.",
    fields: &[
        required("dataset_path", "The dataset.", TEXT),
        required("output_dir", "Where its files go.", TEXT),
        required("log_file", "Its log.", TEXT),
        optional("doc_output_dir", "Where documents are written; `docs` below `output_dir` by default.", TEXT),
    ],
    together: &[],
};

static LLM: Record = Record {
    name: "openviking_llm",
    doc: "The chat model that answers and judges.",
    fields: &[
        required("model", "Its name at its provider.", TEXT),
        required("temperature", "Sampling temperature.", Shape::Float(Range::closed(0.0, 2.0))),
        required("base_url", "The URL below which `chat/completions` is.", URL),
        optional("api_key", "The key itself.", Shape::AnyText),
        optional("api_key_env_var", "Name of the environment variable with the key.", Shape::AnyText),
    ],
    together: &[],
};

static CONFIG: Record = Record {
    name: "openviking_config",
    doc: "A run configuration of OpenViking's benchmark.",
    fields: &[
        optional("project_name", "Read by nobody.", Shape::AnyText),
        optional("dataset_name", "The dataset's name, in paths and reports.", TEXT),
        optional("adapter", "Which of its adapters reads the dataset.", Shape::Record(&ADAPTER)),
        required("execution", "How it is run.", Shape::Record(&EXECUTION)),
        required("paths", "Files and folders.", Shape::Record(&PATHS)),
        required("llm", "The chat model that answers and judges.", Shape::Record(&LLM)),
    ],
    together: &[],
};

/// The four adapters, by what their module and class are called.
static ADAPTERS: [Choice; 4] = [
    Choice { word: "locomo", doc: "LoCoMo" },
    Choice { word: "syllabusqa", doc: "SyllabusQA" },
    Choice { word: "qasper", doc: "Qasper" },
    Choice { word: "financebench", doc: "FinanceBench" },
];

/// A key that means something else here, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCarried {
    /// The key, with those around it: `llm.api_key`.
    pub key: String,
    /// Why it is not carried over.
    pub why: String,
}

/// The chat model that answers and judges.
#[derive(Clone, PartialEq)]
pub struct OpenVikingLlm {
    /// Its name at its provider.
    pub model: String,
    /// Sampling temperature.
    pub temperature: f64,
    /// The URL below which `chat/completions` is.
    pub base_url: String,
    /// The key that stands in the file; `None` where it is blank or names a variable that is set.
    pub api_key: Option<String>,
    /// The environment variable with the key.
    pub api_key_env: Option<String>,
}

impl std::fmt::Debug for OpenVikingLlm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the key.
        f.debug_struct("OpenVikingLlm").field("model", &self.model).field("base_url", &self.base_url).finish()
    }
}

/// A run configuration, with its paths resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenVikingConfig {
    /// The file.
    pub path: PathBuf,
    /// The dataset's name as reports have it.
    pub dataset_name: String,
    /// Which of our adapters reads it: `locomo`, `syllabusqa`, `qasper` or `financebench`.
    pub adapter: &'static str,
    /// Questions and judgements at once.
    pub max_workers: u32,
    /// Hand-overs at once.
    pub ingest_workers: u32,
    /// How many results are asked for.
    pub retrieval_topk: u32,
    /// Only the first so many questions.
    pub max_queries: Option<u64>,
    /// Whether the documents are there already.
    pub skip_ingestion: bool,
    /// Whether all documents are handed over as one folder, rather than one by one.
    pub directory: bool,
    /// Put before every question.
    pub retrieval_instruction: String,
    /// The dataset.
    pub dataset_path: PathBuf,
    /// Where documents are written.
    pub doc_output_dir: PathBuf,
    /// Where its files go.
    pub output_dir: PathBuf,
    /// Its log.
    pub log_file: PathBuf,
    /// The chat model.
    pub llm: OpenVikingLlm,
    /// The server's configuration, where one lies in the benchmark's folder.
    pub ov_conf: Option<PathBuf>,
    /// The keys that are not carried over, in the order of the file.
    pub not_carried: Vec<NotCarried>,
}

/// Reads the configuration at `path`. `root` is the benchmark's folder, which relative paths are below; by default that of the file,
/// or the one above it where that is called `config` or `configs`. `environment` tells whether the variable of the key is set.
///
/// # Errors
/// Every fault that was found, with its place.
pub fn read_openviking_config(
    path: &Path,
    root: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<OpenVikingConfig, EvaluationErrors> {
    let text = fs::read_to_string(path).map_err(|error| {
        let hint = "name one of the benchmark's config/*.yaml".to_string();
        let place = Place::file(path);
        let message = format!("cannot be read: {error}");
        let diagnostics = vec![Diagnostic { place, path: String::new(), message, hint: Some(hint) }];
        EvaluationErrors { diagnostics, source: String::new(), what: "configuration" }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut faults = Faults::new(path);
    let (tree, tree_faults) = read_tree(text);
    for fault in tree_faults {
        faults.add_hint(fault.at, &fault.path, fault.message, fault.hint);
    }
    let mut not_carried = Vec::new();
    let config = tree.and_then(|mut tree| {
        set_aside(&mut tree, &CONFIG, "", &mut not_carried);
        check(&mut tree, &Shape::Record(&CONFIG), "", &mut faults);
        if tree.value == Value::Faulty {
            return None;
        }
        let folder = root.map_or_else(|| benchmark_folder(path), Path::to_path_buf);
        convert(&View::root(&tree), path, &folder, environment, &mut not_carried, &mut faults)
    });
    match config {
        Some(config) if faults.is_empty() => Ok(OpenVikingConfig { not_carried, ..config }),
        _ => {
            Err(EvaluationErrors { diagnostics: faults.into_sorted(), source: text.to_string(), what: "configuration" })
        }
    }
}

/// The folder of the benchmark that a configuration is of.
fn benchmark_folder(path: &Path) -> PathBuf {
    let folder = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = folder.parent().unwrap_or(Path::new("")).to_path_buf();
    let is_config = folder.file_name().is_some_and(|name| name == "config" || name == "configs");
    match folder.parent().filter(|_| is_config) {
        Some(above) => above.to_path_buf(),
        None => folder,
    }
}

/// Takes out of a mapping, and of those in it, what the benchmark does not know: it passes over that.
fn set_aside(node: &mut Node, record: &'static Record, path: &str, not_carried: &mut Vec<NotCarried>) {
    let Value::Map(entries) = &mut node.value else { return };
    entries.retain_mut(|entry| {
        let path = join(path, &entry.key);
        let Some(field) = record.fields.iter().find(|field| field.name == entry.key) else {
            let why = "OpenViking's benchmark has no such key".to_string();
            not_carried.push(NotCarried { key: path, why });
            return false;
        };
        if let Shape::Record(inner) = field.shape {
            set_aside(&mut entry.value, inner, &path, not_carried);
        }
        true
    });
}

fn convert(
    view: &View<'_>,
    path: &Path,
    root: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    not_carried: &mut Vec<NotCarried>,
    faults: &mut Faults,
) -> Option<OpenVikingConfig> {
    if view.get("project_name").is_given() {
        let why = "OpenViking's benchmark does not read it either".to_string();
        not_carried.insert(0, NotCarried { key: "project_name".to_string(), why });
    }
    let (execution, paths) = (view.get("execution"), view.get("paths"));
    let named = view.get("dataset_name").text();
    let topk: Option<u32> = execution.get("retrieval_topk").int();
    // In paths and in reports they have different names for a dataset without one.
    let values = [
        ("dataset_name", named.unwrap_or("UnknownDataset").to_string()),
        ("retrieval_topk", topk.unwrap_or(5).to_string()),
    ];
    let mut place = |key: &str| -> Option<PathBuf> {
        let view = paths.get(key);
        let text = view.text()?;
        match filled(text, &values) {
            Ok(text) => Some(normal(&root.join(text))),
            Err(fault) => {
                faults.add_hint(view.start(), &view.path, fault.message, Some(fault.hint));
                None
            }
        }
    };
    let (dataset_path, output_dir, log_file) = (place("dataset_path"), place("output_dir"), place("log_file"));
    let doc_output_dir = match paths.get("doc_output_dir").is_given() {
        true => place("doc_output_dir"),
        false => output_dir.as_ref().map(|folder| folder.join("docs")),
    };
    let adapter = adapter(view, not_carried, faults);
    let llm = llm(&view.get("llm"), environment, not_carried);
    let ov_conf = Some(root.join("ov.conf")).filter(|file| file.is_file());
    Some(OpenVikingConfig {
        path: path.to_path_buf(),
        dataset_name: named.unwrap_or("Unknown_Dataset").to_string(),
        adapter: adapter?,
        max_workers: execution.get("max_workers").int()?,
        ingest_workers: execution.get("ingest_workers").int().unwrap_or(10),
        retrieval_topk: topk?,
        max_queries: execution.get("max_queries").int(),
        skip_ingestion: execution.get("skip_ingestion").bool().unwrap_or(false),
        directory: execution.get("ingest_mode").text() == Some("directory"),
        retrieval_instruction: execution.get("retrieval_instruction").text().unwrap_or_default().to_string(),
        dataset_path: dataset_path?,
        doc_output_dir: doc_output_dir?,
        output_dir: output_dir?,
        log_file: log_file?,
        llm: llm?,
        ov_conf,
        not_carried: Vec::new(),
    })
}

/// Which of our adapters is meant: by the class, the module or the dataset's name; theirs is LoCoMo's by default.
fn adapter(view: &View<'_>, not_carried: &mut Vec<NotCarried>, faults: &mut Faults) -> Option<&'static str> {
    let adapter = view.get("adapter");
    let (class, module, name) = (adapter.get("class_name"), adapter.get("module"), view.get("dataset_name"));
    let of = |text: &str| {
        let text: String = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        ADAPTERS.iter().map(|adapter| adapter.word).find(|word| text.contains(word))
    };
    let named = if class.is_given() || module.is_given() { [class, module] } else { [name.clone(), name] };
    let given = named.iter().find(|view| view.is_given());
    match named.iter().filter_map(|view| view.text()).find_map(of) {
        Some(adapter) => {
            let other = class_of(&view.get("adapter")).filter(|class| of(class).is_none());
            not_carried.extend(other.map(|class| NotCarried {
                key: "adapter.class_name".to_string(),
                why: format!(
                    "`{class}` is no class of theirs; the dataset is read as `{adapter}`, which its module names"
                ),
            }));
            Some(adapter)
        }
        None if given.is_none() => Some("locomo"),
        None => {
            let view = given.unwrap_or(&adapter);
            let words: Vec<String> = ADAPTERS.iter().map(|adapter| format!("`{}`", adapter.word)).collect();
            let message =
                format!("expected the adapter of {}, found `{}`", words.join(", "), view.text().unwrap_or_default());
            let hint = "an adapter of your own becomes a benchmark of the adapter `command`, or files for `jsonl`";
            faults.add_hint(view.start(), &view.path, message, hint.to_string());
            None
        }
    }
}

fn class_of<'a>(adapter: &View<'a>) -> Option<&'a str> {
    adapter.get("class_name").text()
}

fn llm(
    view: &View<'_>,
    environment: &dyn Fn(&str) -> Option<String>,
    not_carried: &mut Vec<NotCarried>,
) -> Option<OpenVikingLlm> {
    let said = |key: &str| view.get(key).text().map(str::trim).filter(|text| !text.is_empty()).map(str::to_string);
    let variable = said("api_key_env_var");
    let is_set = variable.as_deref().and_then(environment).is_some_and(|value| !value.trim().is_empty());
    // The shipped configurations have the word "dummy" for a key.
    let key = said("api_key").filter(|key| key != "dummy" && !is_set);
    if key.is_some() {
        let why = "it is used, and written nowhere; an environment variable that `api_key_env_var` names is safer";
        not_carried.push(NotCarried { key: "llm.api_key".to_string(), why: why.to_string() });
    }
    Some(OpenVikingLlm {
        model: said("model")?,
        temperature: view.get("temperature").float()?,
        base_url: said("base_url")?,
        api_key_env: variable.filter(|_| key.is_none()),
        api_key: key,
    })
}

/// The path without `.` and `..`, as their benchmark writes it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => _ = normal.pop(),
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    const LLM: &str = "llm: {model: m, temperature: 0, base_url: 'http://host/v1'}\n";

    fn read(folder: &Path, text: &str) -> Result<OpenVikingConfig, String> {
        let config = folder.join("config");
        fs::create_dir_all(&config).expect("a folder");
        let path = config.join("c.yaml");
        fs::write(&path, text).expect("a file");
        let environment = |name: &str| (name == "SET").then(|| "k".to_string());
        read_openviking_config(&path, None, &environment).map_err(|errors| {
            let told: Vec<String> = errors.diagnostics.iter().map(ToString::to_string).collect();
            told.join("\n").replace(&format!("{}/", config.display()), "")
        })
    }

    #[test]
    fn placeholders_and_defaults_are_theirs() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("ov.conf"), "{}").expect("a file");
        let text = format!(
            "project_name: x\ndataset_name: Locomo\nexecution: {{max_workers: 8, retrieval_topk: 5, max_queries: null}}\n\
             paths:\n  dataset_path: ./datasets/{{dataset_name}}/../l.json\n  output_dir: Output/{{dataset_name}}/top_{{retrieval_topk}}_{{{{x}}}}\n  \
             log_file: /var/{{dataset_name}}.log\n{LLM}more: 1\n"
        );
        let config = read(folder.path(), &text).expect("a configuration");
        let root = folder.path();
        assert_eq!(config.dataset_path, root.join("datasets/l.json"));
        assert_eq!(config.output_dir, root.join("Output/Locomo/top_5_{x}"));
        assert_eq!(config.doc_output_dir, root.join("Output/Locomo/top_5_{x}/docs"));
        assert_eq!(
            (config.log_file.as_path(), config.ov_conf),
            (Path::new("/var/Locomo.log"), Some(root.join("ov.conf")))
        );
        assert_eq!((config.adapter, config.ingest_workers, config.max_queries), ("locomo", 10, None));
        assert!(!config.directory && !config.skip_ingestion && config.retrieval_instruction.is_empty());
        let keys: Vec<&str> = config.not_carried.iter().map(|key| key.key.as_str()).collect();
        assert_eq!(keys, ["project_name", "more"]);
    }

    #[test]
    fn the_key_is_named_and_never_kept_where_a_variable_is_set() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |llm: &str| {
            let paths = "paths: {dataset_path: d, output_dir: o, log_file: l}\n";
            let execution = "execution: {max_workers: 8, retrieval_topk: 5, ingest_mode: directory}\n";
            let text = format!(
                "dataset_name: Qasper\n{execution}{paths}llm: {{model: m, temperature: 0, base_url: 'http://u/v1', {llm}}}\n"
            );
            let config = read(folder.path(), &text).expect("a configuration");
            assert!(config.directory && config.adapter == "qasper");
            (config.llm.api_key, config.llm.api_key_env, config.not_carried.len())
        };
        let text = |text: &str| Some(text.to_string());
        assert_eq!(of("api_key: dummy"), (None, None, 0));
        assert_eq!(of("api_key: sk-1, api_key_env_var: SET"), (None, text("SET"), 0));
        assert_eq!(of("api_key: sk-1, api_key_env_var: UNSET"), (text("sk-1"), None, 1));
        assert_eq!(of("api_key: '', api_key_env_var: UNSET"), (None, text("UNSET"), 0));
    }

    #[test]
    fn faults_have_their_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let told = read(
            folder.path(),
            "dataset_name: Nobody\nexecution: {max_workers: 0, retrieval_topk: 5}\npaths:\n  dataset_path: '{data}'\n  output_dir: o\n  log_file: '{'\n",
        );
        let told = told.expect_err("faults");
        for line in [
            "c.yaml:1:1: missing `llm`",
            "c.yaml:1:15: dataset_name: expected the adapter of `locomo`, `syllabusqa`, `qasper`, `financebench`, found `Nobody`",
            "c.yaml:2:26: execution.max_workers: expected a whole number from 1 to 1024, found 0",
            "c.yaml:4:17: paths.dataset_path: there is no placeholder `{data}`",
            "c.yaml:6:13: paths.log_file: a `{` is not closed",
        ] {
            assert!(told.contains(line), "{line}: {told}");
        }
        let more =
            "execution: {max_workers: 1, retrieval_topk: 5}\npaths: {dataset_path: d, output_dir: o, log_file: l}\n";
        let of = |adapter: &str, url: &str| {
            let llm = format!("llm: {{model: m, temperature: 0, base_url: '{url}'}}\n");
            read(folder.path(), &format!("adapter: {adapter}\n{more}{llm}"))
        };
        for url in ["ftp://host/v1", "http://me:secret@host/v1", "host"] {
            assert!(of("{module: locomo}", url).expect_err("a fault").contains("llm.base_url"), "{url}");
        }
        let keys = |adapter: &str| -> Vec<String> {
            let config = of(adapter, "http://host/v1").expect("a configuration");
            config.not_carried.into_iter().map(|key| key.key).collect()
        };
        assert_eq!(keys("{module: src.adapters.qasper_adapter, class_name: QasperAdapter}"), Vec::<String>::new());
        assert_eq!(keys("{module: src.adapters.qasper_adapter, class_name: FooAdapter}"), ["adapter.class_name"]);
        let missing = read_openviking_config(&folder.path().join("none.yaml"), None, &|_| None).expect_err("no file");
        assert!(missing.diagnostics[0].message.contains("cannot be read"));
    }
}
