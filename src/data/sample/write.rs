//! Reads a dataset, draws a part of it, and puts that in place whole or not at all.

use std::path::{Path, PathBuf};

use ragstage_stages::prepare::DATASETS;
use serde_json::{Value, json};

use super::algorithm::{Algorithm, Mode, Part};
use super::beir::Beir;
use super::drawn::Drawn;
use super::financebench::FinanceBench;
use super::layout::{Content, Layout, Original, OutFile};
use super::locomo::Locomo;
use super::openviking::{self, Script};
use super::pool::Pool;
use super::qasper::Qasper;
use super::question_file::{QuestionFile, Shape};
use super::sample_error::SampleError;
use super::stable;
use super::syllabusqa::SyllabusQa;
use super::uda::Uda;
use crate::data::{SOURCES, Source};
use crate::download::{FetchError, FetchErrorKind, copy, lock, remove_folder, replace_folder, with_suffix};

/// The file that says what a sample is of.
pub const METADATA_FILE: &str = "sampling_metadata.json";

/// A dataset that was read.
type Read = Result<Box<dyn Layout>, SampleError>;

/// A dataset that can be sampled.
struct Sampled {
    /// Its name; one that ends in `*` stands for all sources that begin so.
    name: &'static str,
    /// Reads the files in a folder of the dataset of that name.
    read: fn(&str, &Path) -> Read,
    /// What it is to OpenViking, which knows four.
    original: Option<Original>,
    /// Whether all its questions share one corpus, which stays whole.
    has_one_corpus: bool,
}

static HOTPOTQA: Shape = Shape {
    file: "hotpot_dev_distractor_v1.json",
    other_end: ".json",
    id: "_id",
    category: |question| question["type"].as_str().map(str::to_string),
    corpus: None,
};

static MUSIQUE: Shape = Shape {
    file: "musique_ans_v1.0_dev.jsonl",
    other_end: ".jsonl",
    id: "id",
    // `2hop__...`, `3hop1__...`: so many hops.
    category: |question| question["id"].as_str()?.get(..4).map(str::to_string),
    corpus: None,
};

static MULTIHOP_RAG: Shape = Shape {
    file: "MultiHopRAG.json",
    other_end: "MultiHopRAG.json",
    id: "query",
    category: |question| question["question_type"].as_str().map(str::to_string),
    corpus: Some("corpus.json"),
};

static SAMPLED: [Sampled; 9] = [
    Sampled {
        name: "beir_*",
        read: |_, folder| Ok(Box::new(Beir::read(folder)?)),
        original: None,
        has_one_corpus: true,
    },
    Sampled {
        name: "financebench",
        read: |_, folder| Ok(Box::new(FinanceBench::read(folder)?)),
        original: Some(Original { title: "Financebench", script: Script::FinanceBench, counts_all: false }),
        has_one_corpus: false,
    },
    Sampled {
        name: "hotpotqa",
        read: |_, folder| Ok(Box::new(QuestionFile::read(&HOTPOTQA, folder)?)),
        original: None,
        has_one_corpus: false,
    },
    Sampled {
        name: "locomo",
        read: |_, folder| Ok(Box::new(Locomo::read(folder)?)),
        original: Some(Original { title: "Locomo", script: Script::Locomo, counts_all: false }),
        has_one_corpus: false,
    },
    Sampled {
        name: "multihop_rag",
        read: |_, folder| Ok(Box::new(QuestionFile::read(&MULTIHOP_RAG, folder)?)),
        original: None,
        has_one_corpus: true,
    },
    Sampled {
        name: "musique",
        read: |_, folder| Ok(Box::new(QuestionFile::read(&MUSIQUE, folder)?)),
        original: None,
        has_one_corpus: false,
    },
    Sampled {
        name: "qasper",
        read: |_, folder| Ok(Box::new(Qasper::read(folder)?)),
        original: Some(Original { title: "Qasper", script: Script::Qasper, counts_all: false }),
        has_one_corpus: false,
    },
    Sampled {
        name: "syllabusqa",
        read: |_, folder| Ok(Box::new(SyllabusQa::read(folder)?)),
        original: Some(Original { title: "SyllabusQA", script: Script::SyllabusQa, counts_all: true }),
        has_one_corpus: false,
    },
    Sampled {
        name: "uda_*",
        read: |name, folder| Ok(Box::new(Uda::read(name, folder)?)),
        original: None,
        has_one_corpus: false,
    },
];

fn find(name: &str) -> Option<&'static Sampled> {
    SAMPLED.iter().find(|sampled| match sampled.name.strip_suffix('*') {
        Some(start) => name.starts_with(start) && Source::find(name).is_some(),
        None => sampled.name == name,
    })
}

/// Whether parts of a dataset can be drawn so.
pub fn is_supported(name: &str, algorithm: Algorithm) -> bool {
    match algorithm {
        Algorithm::Stable => find(name).is_some(),
        Algorithm::OpenViking(_) => find(name).is_some_and(|sampled| sampled.original.is_some()),
    }
}

/// As [`is_supported`].
///
/// # Errors
/// Where they cannot, with the datasets that they can be drawn of.
pub fn check_support(name: &str, algorithm: Algorithm) -> Result<(), SampleError> {
    if is_supported(name, algorithm) {
        return Ok(());
    }
    let known = SOURCES.iter().map(|source| source.name).chain(DATASETS.iter().map(|about| about.name));
    let can: Vec<&str> = SAMPLED
        .iter()
        .filter(|sampled| algorithm == Algorithm::Stable || sampled.original.is_some())
        .map(|sampled| sampled.name)
        .collect();
    let what = if known.into_iter().any(|known| known == name) {
        format!("--algorithm {} does not know the layout of {name}", algorithm.name())
    } else {
        format!("no dataset {name:?} is known")
    };
    let hint = format!("it knows {}; `sample` in an evaluation file draws cases of any benchmark", can.join(", "));
    Err(SampleError::Refused { what, hint })
}

/// Draws a part of the dataset `name` in the folder `from`, and makes it the folder `to`, in the place of an older sample.
/// What is said of it is returned and stands in [`METADATA_FILE`].
///
/// # Errors
/// When the dataset is malformed, `to` is something else than a sample, or the part cannot be had. Then nothing was written.
pub fn sample(name: &str, part: &Part, from: &Path, to: &Path) -> Result<Value, SampleError> {
    check_support(name, part.algorithm)?;
    let Some(sampled) = find(name) else { return check_support(name, part.algorithm).map(|()| Value::Null) };
    if sampled.has_one_corpus && (part.documents.is_some() || (part.questions.is_some() && !part.exact)) {
        return Err(SampleError::Refused {
            what: format!("all questions of {name} share one corpus, which stays whole"),
            hint: "draw questions: --questions N --exact".to_string(),
        });
    }
    if !from.exists() {
        let place = from.display().to_string();
        return Err(FetchError { operation: "read", place, kind: FetchErrorKind::NotThere }.into());
    }
    if let (Ok(from), Ok(to)) = (from.canonicalize(), to.canonicalize())
        && from.starts_with(&to)
    {
        return Err(SampleError::Usage(format!("the sample would replace the dataset in {}", from.display())));
    }
    let layout = (sampled.read)(name, from)?;
    let pool = layout.pool();
    if pool.asked() == 0 {
        return Err(SampleError::Refused {
            what: format!("no question in {} can be asked", from.display()),
            hint: "--from names the folder of the dataset".to_string(),
        });
    }
    let drawn = draw(sampled, pool, part)?;
    let metadata = metadata(name, sampled, pool, &drawn, part);
    let mut files = layout.files(&drawn, part.algorithm);
    files.push(OutFile { path: METADATA_FILE.into(), content: Content::Bytes(format!("{metadata:#}\n").into_bytes()) });
    put(&files, to)?;
    Ok(metadata)
}

fn draw(sampled: &Sampled, pool: &Pool, part: &Part) -> Result<Drawn, SampleError> {
    let number = |number: Option<u64>| number.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let (documents, questions) = (number(part.documents), number(part.questions));
    match (part.algorithm, sampled.original) {
        (Algorithm::OpenViking(mode), Some(original)) => {
            openviking::draw(original.script, pool, documents, questions, mode, part.seed)
        }
        _ => Ok(stable::draw(pool, documents, questions, part.exact, part.seed)),
    }
}

fn metadata(name: &str, sampled: &Sampled, pool: &Pool, drawn: &Drawn, part: &Part) -> Value {
    let (kept, asked) = drawn.count(pool);
    let counts_all = sampled.original.is_none_or(|original| original.counts_all);
    let of = |all: usize, asked: usize| if counts_all { all } else { asked };
    let mode = match part.algorithm {
        Algorithm::Stable if part.exact || part.documents.is_some() => Mode::Stratified.name(),
        Algorithm::Stable => "whole documents",
        Algorithm::OpenViking(mode) => mode.name(),
    };
    let title = match (part.algorithm, sampled.original) {
        (Algorithm::OpenViking(_), Some(original)) => original.title,
        _ => name,
    };
    let is_full = part.documents.is_none() && part.questions.is_none();
    let mut metadata = json!({
        "dataset": title,
        "algorithm": part.algorithm.name(),
        "original_num_docs": pool.documents.len(),
        "original_total_qas": of(pool.questions(), pool.asked()),
        "sampled_num_docs": drawn.documents.len(),
        "sampled_total_qas": of(kept, asked),
        "sample_size": part.questions,
        "num_docs": part.documents,
        "seed": part.seed,
        "sample_mode": mode,
        "is_full": is_full,
        "note": if is_full { "the whole dataset" } else { "a part of the dataset: its numbers are not those of the whole" },
    });
    if counts_all && let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("original_valid_qas".to_string(), pool.asked().into());
        metadata.insert("sampled_valid_qas".to_string(), asked.into());
    }
    metadata
}

/// Makes `files` the folder `to`.
fn put(files: &[OutFile], to: &Path) -> Result<(), FetchError> {
    let Some(name) = to.file_name() else {
        return Err(FetchError::malformed("write", to, "it is no path of a folder of its own"));
    };
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let hidden = |suffix: &str| {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        parent.join(with_suffix(Path::new(&hidden), suffix))
    };
    make_folder(parent)?;
    let _lock = lock(&hidden(".lock"), &|_| {})?;
    let is_empty = || std::fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_none());
    if to.exists() && !to.join(METADATA_FILE).is_file() && !is_empty() {
        let why = format!("it exists and is no sample: there is no {METADATA_FILE} in it");
        return Err(FetchError::malformed("replace", to, why));
    }
    let staging = hidden(".part");
    remove_folder(&staging)?;
    let written = files.iter().try_for_each(|file| write(file, &staging));
    // What is half-written must not stay; the error that is told is the first one.
    written.and_then(|()| replace_folder(&staging, to)).inspect_err(|_| {
        let _ = remove_folder(&staging);
    })
}

fn write(file: &OutFile, folder: &Path) -> Result<(), FetchError> {
    let path: PathBuf = folder.join(&file.path);
    make_folder(path.parent().unwrap_or(folder))?;
    match &file.content {
        Content::Bytes(bytes) => std::fs::write(&path, bytes).map_err(|error| FetchError::io("write", &path, error)),
        Content::Copy(from) => copy(from, &path, &|_| {}),
    }
}

fn make_folder(folder: &Path) -> Result<(), FetchError> {
    std::fs::create_dir_all(folder).map_err(|error| FetchError::io("make the folder", folder, error))
}
