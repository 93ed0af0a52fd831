//! `data`.

use std::path::{Path, PathBuf};

use ragstage_stages::prepare::{About, DATASETS};
use serde_json::json;

use super::data_text::{about_json, info_text, list_text, source_json};
use super::download_bar::DownloadBar;
use super::failure::Failure;
use super::flags::{
    DataCommand, DataFlags, DownloadFlags, Format, PartFlags, PrepareFlags, SampleAlgorithm, SampleMode,
};
use super::out::{out, out_json};
use crate::data::sample::{self, Algorithm, Mode, Part};
use crate::data::{Mirror, Request, SOURCES, Source, download};
use crate::exit;
use crate::models::nearest_name;

/// The folders of datasets and of samples, below the working directory.
const DATA: &str = "data";
const SAMPLES: &str = "samples";

/// A dataset: what is known of it, and where it is from. One of both is there.
#[derive(Clone, Copy)]
pub struct Dataset {
    /// Its name.
    pub name: &'static str,
    /// What an adapter says of it.
    pub about: Option<&'static About>,
    /// Where it is downloaded from.
    pub source: Option<&'static Source>,
}

/// Lists, downloads and samples public datasets.
///
/// # Errors
/// When a name is none, a dataset cannot be had, or the files are not what they should be.
pub fn data(flags: &DataFlags) -> Result<u8, Failure> {
    match &flags.command {
        DataCommand::List { format } => list(*format),
        DataCommand::Info { name, format } => info(name, *format),
        DataCommand::Download(flags) => fetch(flags).map(|_| exit::OK),
        DataCommand::Sample(flags) => {
            let from = flags.from.clone().unwrap_or_else(|| downloaded(&flags.name));
            part(&flags.name, &flags.part, &from, flags.to.as_deref())
        }
        DataCommand::Prepare(flags) => prepare(flags),
    }
}

/// All datasets, by name.
fn datasets() -> Vec<Dataset> {
    let mut names: Vec<&'static str> =
        DATASETS.iter().map(|about| about.name).chain(SOURCES.iter().map(|source| source.name)).collect();
    names.sort_unstable();
    names.dedup();
    let about = |name| DATASETS.iter().copied().find(|about| about.name == name);
    names.into_iter().map(|name| Dataset { name, about: about(name), source: Source::find(name) }).collect()
}

fn find(name: &str) -> Result<Dataset, Failure> {
    let all = datasets();
    all.iter().find(|dataset| dataset.name == name).copied().ok_or_else(|| Failure::NotThere {
        what: format!("no dataset {name:?} is known"),
        hint: match nearest_name(name, all.iter().map(|dataset| dataset.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`ragstage data list` names those that are known".to_string(),
        },
    })
}

fn list(format: Format) -> Result<u8, Failure> {
    let all = datasets();
    match format {
        Format::Json => out_json(&json!({
            "format": "ragstage.data.list.v1",
            "datasets": all.iter().map(|dataset| json!({
                "name": dataset.name,
                "adapter": dataset.about.map(|about| about.adapter),
                "title": dataset.about.map(|about| about.title),
                "license": dataset.about.map(|about| about.license),
                "downloadable": dataset.source.is_some(),
                "bytes": dataset.source.and_then(Source::bytes),
                "samplers": samplers(dataset.name),
            })).collect::<Vec<_>>(),
        }))?,
        Format::Text => out(&list_text(&all))?,
    }
    Ok(exit::OK)
}

fn info(name: &str, format: Format) -> Result<u8, Failure> {
    let dataset = find(name)?;
    match format {
        Format::Json => out_json(&json!({
            "format": "ragstage.data.info.v1",
            "name": dataset.name,
            "about": dataset.about.map(about_json),
            "source": dataset.source.map(source_json),
            "samplers": samplers(dataset.name),
        }))?,
        Format::Text => out(&info_text(&dataset, &samplers(dataset.name)))?,
    }
    Ok(exit::OK)
}

/// The algorithms of `data sample` that take a dataset.
fn samplers(name: &str) -> Vec<&'static str> {
    let mut algorithms = Vec::new();
    if sample::is_supported(name, Algorithm::Stable) {
        algorithms.push("stable");
    }
    if sample::is_supported(name, Algorithm::OpenViking(Mode::Stratified)) {
        algorithms.push("openviking");
    }
    algorithms
}

fn downloaded(name: &str) -> PathBuf {
    Path::new(DATA).join(Source::find(name).map_or(name, |source| source.folder))
}

fn fetch(flags: &DownloadFlags) -> Result<PathBuf, Failure> {
    let dataset = find(&flags.name)?;
    let source = dataset.source.ok_or_else(|| Failure::NotThere {
        what: format!("it is not known where {} can be downloaded from", dataset.name),
        hint: dataset.about.map_or_else(String::new, |about| format!("its authors' page is {}", about.homepage)),
    })?;
    let to = flags.to.clone().unwrap_or_else(|| downloaded(source.name));
    let request = Request { source, to: &to, mirror: flags.mirror.as_deref().map(Mirror::of), force: flags.force };
    let bar = DownloadBar::new("dataset");
    let fetched = download(&request, &|notice| bar.notice(&notice));
    bar.finish();
    let fetched = fetched.map_err(Failure::Data)?;
    out(&fetched.files.iter().map(|file| format!("{}  {}\n", file.sha256, file.url)).collect::<String>())?;
    let folder = fetched.folder.display();
    if fetched.was_there {
        tell!("{} is in {folder} already", source.name);
    } else {
        tell!("{} is in {folder}", source.name);
    }
    Ok(to)
}

fn part(name: &str, flags: &PartFlags, from: &Path, to: Option<&Path>) -> Result<u8, Failure> {
    find(name)?;
    let wanted = wanted(flags)?;
    let to = to.map_or_else(|| Path::new(SAMPLES).join(name), Path::to_path_buf);
    let metadata = sample::sample(name, &wanted, from, &to).map_err(Failure::Sample)?;
    out_json(&metadata)?;
    tell!("the sample is in {}", to.display());
    Ok(exit::OK)
}

fn wanted(flags: &PartFlags) -> Result<Part, Failure> {
    if flags.documents.is_none() && flags.questions.is_none() && !flags.full {
        return Err(Failure::Usage("expected --documents N, --questions N, both, or --full".to_string()));
    }
    let algorithm = match (flags.algorithm, flags.mode) {
        (SampleAlgorithm::Stable, None) => Algorithm::Stable,
        (SampleAlgorithm::Stable, Some(_)) => {
            return Err(Failure::Usage("--mode belongs to --algorithm openviking".to_string()));
        }
        (SampleAlgorithm::Openviking, mode) => Algorithm::OpenViking(match mode {
            Some(SampleMode::Random) => Mode::Random,
            Some(SampleMode::Stratified) | None => Mode::Stratified,
        }),
    };
    if flags.exact && algorithm != Algorithm::Stable {
        return Err(Failure::Usage("--exact does not go with --algorithm openviking".to_string()));
    }
    Ok(Part { documents: flags.documents, questions: flags.questions, exact: flags.exact, seed: flags.seed, algorithm })
}

fn prepare(flags: &PrepareFlags) -> Result<u8, Failure> {
    // Told before anything is downloaded.
    let part_wanted = wanted(&flags.part)?;
    sample::check_support(&flags.name, part_wanted.algorithm).map_err(Failure::Sample)?;
    let from = fetch(&DownloadFlags {
        name: flags.name.clone(),
        to: flags.download_to.clone(),
        mirror: flags.mirror.clone(),
        force: flags.force,
    })?;
    part(&flags.name, &flags.part, &from, flags.to.as_deref())
}
