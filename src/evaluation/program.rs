//! An entry of `evaluators` that is a program of the user's: a command that speaks the protocol, or a Python file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use ragstage_stages::error::Place;
use ragstage_stages::process::Launch;
use ragstage_stages::score::Reads;
use ragstage_stages::score::program::ProgramRunner;

use super::check::join;
use super::diagnostic::{EvaluationErrors, Faults};
use super::evaluators::{COLUMN, EvaluatorConfig, is_name};
use super::python_file::PythonFile;
use super::secrets::{self, Substituted};
use super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::text_file;
use super::view::View;

/// How many cases `evaluate_batch` is given where nobody says otherwise.
const DEFAULT_BATCH: u32 = 16;
/// What runs a Python file where nobody says otherwise.
const PYTHON3: &str = "python3";

const READS: [Choice; 3] = [
    Choice { word: "answer", doc: "the answer and its citations" },
    Choice { word: "results", doc: "what was found, with its texts" },
    Choice { word: "question", doc: "the question" },
];

const fn name(need: Need, doc: &'static str) -> Field {
    Field { name: "name", doc, shape: COLUMN, need }
}

const VERSION: Field = Field {
    name: "version",
    doc: "What you call this state of it; another one scores again. For what no file shows: a model that it asks, say.",
    shape: TEXT,
    need: Need::Optional,
};

const FILES: Field = Field {
    name: "files",
    doc: "Files that the scores depend on, relative to this file; a changed file scores again.",
    shape: Shape::List { of: &TEXT, least: 0 },
    need: Need::Optional,
};

const SHOWN: Field = Field {
    name: "reads",
    doc: "What it is shown beside what is right; it scores again where that changes. All of it by default.",
    shape: Shape::List { of: &Shape::Choice(&READS), least: 0 },
    need: Need::Optional,
};

const SCORES: Field = Field {
    name: "scores",
    doc: "The names of its scores where it gives several, each a column `name.score`; one score without a name by default.",
    shape: Shape::List { of: &COLUMN, least: 1 },
    need: Need::Optional,
};

const BATCH: Field = Field {
    name: "batch",
    doc: "How many cases it takes at once at most; one at a time by default.",
    shape: Shape::Int { min: 1, max: 100_000 },
    need: Need::Optional,
};

const ENVIRONMENT: Field = Field {
    name: "environment",
    doc: "Added to its environment; `${NAME}` in a value is the environment variable NAME.",
    shape: Shape::Secrets,
    need: Need::Optional,
};

const DESCRIPTION: Field =
    Field { name: "description", doc: "What it measures, for reports.", shape: TEXT, need: Need::Optional };

const HIGHER_IS_BETTER: Field = Field {
    name: "higher_is_better",
    doc: "Whether a higher score is a better one, for reports; `true` by default.",
    shape: Shape::Bool,
    need: Need::Optional,
};

/// What an entry with `program` accepts.
pub(super) static PROGRAM: Record = Record {
    name: "program",
    doc: "An evaluator in any language: a process that reads and writes one JSON object per line.",
    fields: &[
        Field {
            name: "program",
            doc: "Program and arguments; it runs in the folder of the evaluation file. Its words are in the key, without the \
                  folders of absolute paths.",
            shape: Shape::List { of: &TEXT, least: 1 },
            need: Need::Required,
        },
        name(Need::Required, "Name of the evaluator, unique in the file."),
        VERSION,
        FILES,
        SHOWN,
        SCORES,
        BATCH,
        ENVIRONMENT,
        DESCRIPTION,
        HIGHER_IS_BETTER,
    ],
    together: &[],
};

/// What an entry with `python` accepts.
pub(super) static PYTHON: Record = Record {
    name: "python",
    doc: "An evaluator that is a Python file with `def evaluate(case, response)`. What is not said here it may say itself, in \
          lines such as `SCORES = [\"faithfulness\", \"relevance\"]`.",
    fields: &[
        Field {
            name: "python",
            doc: "The file, relative to this file; its content is in the key.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "interpreter",
            doc: "The Python that runs it; `python3` by default. It is not in the key.",
            shape: TEXT,
            need: Need::Optional,
        },
        name(
            Need::Optional,
            "Name of the evaluator, unique in the file; by default NAME of the file, else the file's own.",
        ),
        VERSION,
        FILES,
        SHOWN,
        SCORES,
        BATCH,
        ENVIRONMENT,
        DESCRIPTION,
        HIGHER_IS_BETTER,
    ],
    together: &[],
};

/// A program that scores, as the evaluation file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramConfig {
    /// What it is called.
    pub name: String,
    /// What it measures.
    pub description: String,
    /// Whether a higher score is a better one.
    pub higher_is_better: bool,
    /// What its owner calls this state of it.
    pub version: String,
    /// What runs it.
    pub runner: ProgramRunner,
    /// Files that its scores depend on: as they are named, and where they are.
    pub files: Vec<(String, PathBuf)>,
    /// What it is shown.
    pub reads: Reads,
    /// The names of its scores; empty for one without a name.
    pub scores: Vec<String>,
    /// How many cases it takes at once.
    pub batch: Option<u32>,
    /// How it is started, with secrets in it.
    pub launch: Launch,
}

impl ProgramConfig {
    /// The names of its columns.
    pub fn names(&self) -> Vec<String> {
        match self.scores.as_slice() {
            [] => vec![self.name.clone()],
            scores => scores.iter().map(|score| format!("{}.{score}", self.name)).collect(),
        }
    }
}

/// What an entry may refer to.
pub(super) struct Known<'a> {
    /// The folder of the evaluation file.
    pub(super) base: &'a Path,
    /// Environment variables.
    pub(super) environment: &'a dyn Fn(&str) -> Option<String>,
    /// Files that were read to know the evaluation.
    pub(super) files: &'a RefCell<Vec<PathBuf>>,
}

/// How a program is started, but for its command: in the folder `base`, with the `environment` of a checked mapping.
pub(super) fn launch(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> Launch {
    let pairs = view.get("environment");
    for entry in pairs.entries() {
        if entry.key.contains('=') || entry.key.contains('\0') {
            let path = join(&pairs.path, &entry.key);
            faults.add(entry.start, &path, "expected the name of an environment variable, without `=`");
        }
    }
    let Substituted { pairs: environment, variables } = secrets::substitute(&pairs, environment, faults);
    let directory = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base.to_path_buf() };
    Launch { command: Vec::new(), directory, environment, variables }
}

/// The program that a checked entry stands for; `None` where a fault hides it.
pub(super) fn convert(view: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<ProgramConfig> {
    let launch = launch(view, known.base, known.environment, faults);
    let scores = view.get("scores");
    let said = Said {
        name: view.get("name").text().map(str::to_string),
        description: view.get("description").text().map(str::to_string),
        higher_is_better: view.get("higher_is_better").bool(),
        version: view.get("version").text().map(str::to_string),
        files: view.get("files").texts(),
        reads: view.get("reads").texts(),
        scores: scores.texts(),
        batch: view.get("batch").int(),
        scores_at: (faults.place(scores.start()), scores.path.clone()),
    };
    match view.get("program").texts() {
        Some(command) => {
            let words = command.iter().map(|word| key_word(word)).collect();
            let name = said.name.clone()?;
            let files = said.files.iter().flatten().map(|file| named(file, known.base)).collect();
            let launch = Launch { command, ..launch };
            Some(said.config(name, ProgramRunner::Command(words), files, launch, faults))
        }
        None => {
            let python = view.get("python");
            let (path, text) = text_file::read(&python, known.base, &mut known.files.borrow_mut(), faults)?;
            let interpreter = view.get("interpreter").text().unwrap_or(PYTHON3);
            let file = PythonPlace { path: &path, text: &text, base: known.base, named: python.text()? };
            said.python(&file, interpreter, launch, faults)
        }
    }
}

/// The evaluator in the Python file at `path`, relative to where we are. It has no environment of its own.
///
/// # Errors
/// When it cannot be read, or what it says of itself is wrong.
pub fn evaluator_file(path: &Path) -> Result<EvaluatorConfig, EvaluationErrors> {
    let mut faults = Faults::new(path);
    let shown = path.to_string_lossy();
    let config = match text_file::content(path) {
        Err(why) => {
            faults.add_in_file(Place::file(path), "", why, "paths are relative to the current folder".to_string());
            None
        }
        Ok(text) => {
            let launch = Launch {
                command: Vec::new(),
                directory: PathBuf::from("."),
                environment: Vec::new(),
                variables: Vec::new(),
            };
            let file = PythonPlace { path, text: &text, base: Path::new(""), named: &shown };
            Said::default().python(&file, PYTHON3, launch, &mut faults)
        }
    };
    match config {
        Some(config) if faults.is_empty() => Ok(EvaluatorConfig::Program(Box::new(config))),
        _ => {
            Err(EvaluationErrors { diagnostics: faults.into_sorted(), source: String::new(), what: "evaluation file" })
        }
    }
}

/// A Python file.
struct PythonPlace<'a> {
    path: &'a Path,
    text: &'a str,
    /// The folder that the program is started in.
    base: &'a Path,
    /// The path from there.
    named: &'a str,
}

/// What is said of a program, outside of it.
#[derive(Default)]
struct Said {
    name: Option<String>,
    description: Option<String>,
    higher_is_better: Option<bool>,
    version: Option<String>,
    files: Option<Vec<String>>,
    reads: Option<Vec<String>>,
    scores: Option<Vec<String>>,
    batch: Option<u32>,
    /// Where the scores are named.
    scores_at: (Place, String),
}

impl Said {
    /// The program that is a Python file, with what it says of itself.
    fn python(
        mut self,
        file: &PythonPlace<'_>,
        interpreter: &str,
        launch: Launch,
        faults: &mut Faults,
    ) -> Option<ProgramConfig> {
        let path = file.path;
        let hint = "planning reads it without running it, so it must stand there as it is; or say it in the evaluation file \
                    and give the constant another name";
        let own = match PythonFile::read(file.text.strip_prefix('\u{feff}').unwrap_or(file.text)) {
            Ok(own) => own,
            Err(found) => {
                for fault in found {
                    faults.add_in_file(Place::line(path, fault.line), "", fault.message, hint.to_string());
                }
                return None;
            }
        };
        let place = |constant: &str| match own.line(constant) {
            Some(line) => Place::line(path, line),
            None => Place::file(path),
        };
        let mut wrong = |constant: &str, word: &str, expected: &str| {
            let message = format!("{constant}: expected {expected}, found `{word}`");
            faults.add_in_file(place(constant), "", message, "names are of letters, digits, `_` and `-`".to_string());
        };
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name = self.name.take().or_else(|| own.name.clone()).unwrap_or(stem);
        if !is_name(&name) {
            wrong("NAME", &name, "a name for the evaluator");
        }
        if self.scores.is_none() {
            own.scores.iter().flatten().filter(|score| !is_name(score)).for_each(|s| wrong("SCORES", s, "a name"));
        }
        if self.reads.is_none() {
            let unknown = own.reads.iter().flatten().filter(|word| READS.iter().all(|known| known.word != *word));
            unknown.for_each(|word| wrong("READS", word, "\"answer\", \"results\" or \"question\""));
        }
        let mut files = vec![named(file.named, file.base)];
        match self.files.take() {
            Some(given) => files.extend(given.iter().map(|other| named(other, file.base))),
            None => {
                // Those that it names itself are beside it.
                let folder = path.parent().unwrap_or(Path::new(""));
                files.extend(own.files.iter().flatten().map(|other| named(other, folder)));
            }
        }
        let scores_at = match self.scores {
            Some(_) => self.scores_at,
            None => (place("SCORES"), String::new()),
        };
        let said = Said {
            name: None,
            description: self.description.or(own.description),
            higher_is_better: self.higher_is_better.or(own.higher_is_better),
            version: self.version,
            files: None,
            reads: self.reads.or(own.reads),
            scores: self.scores.or(own.scores),
            batch: self.batch.or(own.batch).or(own.takes_batches.then_some(DEFAULT_BATCH)),
            scores_at,
        };
        let launch = Launch { command: ProgramRunner::python(interpreter, file.named), ..launch };
        Some(said.config(name, ProgramRunner::Python, files, launch, faults))
    }

    fn config(
        self,
        name: String,
        runner: ProgramRunner,
        files: Vec<(String, PathBuf)>,
        launch: Launch,
        faults: &mut Faults,
    ) -> ProgramConfig {
        let scores = self.scores.unwrap_or_default();
        for (position, score) in scores.iter().enumerate() {
            if scores.iter().take(position).any(|other| other == score) {
                let (place, path) = &self.scores_at;
                let message = format!("the score `{score}` is listed twice");
                faults.add_in_file(place.clone(), path, message, "keep one of them".to_string());
            }
        }
        let reads = |word: &str| self.reads.as_ref().is_none_or(|reads| reads.iter().any(|read| read == word));
        ProgramConfig {
            name,
            description: self.description.unwrap_or_else(|| "an evaluator of yours".to_string()),
            higher_is_better: self.higher_is_better.unwrap_or(true),
            version: self.version.unwrap_or_default(),
            runner,
            files,
            reads: Reads {
                answer: reads("answer"),
                results: reads("results"),
                question: reads("question"),
                ..Reads::default()
            },
            scores,
            batch: self.batch,
            launch,
        }
    }
}

/// A word of a command as it is in the key: of an absolute path only the last part, for the rest is where this machine has it.
pub(super) fn key_word(word: &str) -> String {
    let path = Path::new(word);
    match path.file_name() {
        Some(name) if path.is_absolute() => name.to_string_lossy().into_owned(),
        _ => word.to_string(),
    }
}

/// A file's name in the key, and where it is.
pub(super) fn named(file: &str, base: &Path) -> (String, PathBuf) {
    (key_word(file).replace('\\', "/"), base.join(file))
}
