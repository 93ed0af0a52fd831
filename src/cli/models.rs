//! `models`.

use std::path::PathBuf;

use serde_json::json;

use super::download_bar::DownloadBar;
use super::failure::Failure;
use super::flags::{Format, ModelsCommand, ModelsFlags};
use super::out::{out, out_json};
use crate::download::FetchErrorKind;
use crate::exit;
use crate::models::{CATALOG, CatalogModel, ModelHome, ModelSource, check_name, fetch};

/// Lists and fetches the models of embedders that run in process.
///
/// # Errors
/// When a name is none, a model is not there, or it cannot be fetched.
pub fn models(flags: &ModelsFlags) -> Result<u8, Failure> {
    let home = ModelHome::of(&|name| std::env::var(name).ok()).ok_or_else(|| Failure::NotThere {
        what: "there is no folder for models: neither RAGSTAGE_MODELS nor HOME is set".to_string(),
        hint: "set RAGSTAGE_MODELS to a folder".to_string(),
    })?;
    match &flags.command {
        ModelsCommand::List { format } => list(&home, *format),
        ModelsCommand::Get { name, from } => get(&home, name, from.as_deref()),
        ModelsCommand::Path { name } => path(&home, name),
    }
}

fn list(home: &ModelHome, format: Format) -> Result<u8, Failure> {
    let failed = |error| Failure::Io { what: format!("read {}", home.root().display()), error };
    let here = home.names().map_err(failed)?;
    let own: Vec<&String> = here.iter().filter(|name| CatalogModel::find(name).is_none()).collect();
    match format {
        Format::Json => {
            let known = CATALOG.iter().map(|model| {
                json!({
                    "name": model.name, "provider": model.provider, "dimensions": model.dimensions, "bytes": model.bytes(),
                    "licence": model.licence, "upstream": model.upstream, "pinned": true,
                    "here": here.iter().any(|name| name == model.name),
                })
            });
            let own = own.iter().map(|name| json!({"name": name, "pinned": false, "here": true}));
            out_json(&json!({
                "format": "ragstage.models.list.v1",
                "folder": home.root().display().to_string(),
                "models": known.chain(own).collect::<Vec<_>>(),
            }))?;
        }
        Format::Text => {
            let mut text = format!(
                "{:<20} {:<9} {:>10} {:>6}  {:<5} licence\n",
                "model", "provider", "dimensions", "size", "here"
            );
            for model in &CATALOG {
                let is_here = if here.iter().any(|name| name == model.name) { "yes" } else { "no" };
                text += &format!(
                    "{:<20} {:<9} {:>10} {:>6}  {is_here:<5} {}\n",
                    model.name,
                    model.provider,
                    model.dimensions,
                    model.size(),
                    model.licence
                );
            }
            for name in own {
                text += &format!("{name:<20} {:<9} {:>10} {:>6}  {:<5} -\n", "-", "-", "-", "yes");
            }
            text += &format!("folder: {}\n", home.root().display());
            out(&text)?;
        }
    }
    Ok(exit::OK)
}

fn get(home: &ModelHome, name: &str, from: Option<&str>) -> Result<u8, Failure> {
    check_name(name).map_err(Failure::Usage)?;
    let source = from.map_or(ModelSource::Upstream, ModelSource::of);
    let bar = DownloadBar::new("model");
    let fetched = fetch(home, name, &source, &|notice| bar.notice(&notice));
    bar.finish();
    let fetched = fetched.map_err(|error| match (&error.kind, CatalogModel::nearest(name)) {
        (FetchErrorKind::Unknown(_), Some(near)) => {
            let hint = format!("did you mean `{near}`? One of your own is taken with --from DIR or --from URL");
            Failure::NotThere { what: error.to_string(), hint }
        }
        _ => Failure::Model(error),
    })?;
    let sums =
        fetched.files.iter().map(|file| format!("{}  {}\n", file.sha256, fetched.folder.join(&file.name).display()));
    out(&sums.collect::<String>())?;
    let folder = fetched.folder.display();
    match (fetched.was_there, fetched.pinned) {
        (true, _) => tell!("{name} is in {folder} already"),
        (false, true) => tell!("{name} is in {folder}"),
        (false, false) => {
            tell!("{name} is in {folder}; nothing pins its files: compare the sums above with its publisher's")
        }
    }
    Ok(exit::OK)
}

fn path(home: &ModelHome, name: &str) -> Result<u8, Failure> {
    check_name(name).map_err(Failure::Usage)?;
    let folder: PathBuf = home.folder(name);
    if !folder.is_dir() {
        return Err(Failure::NotThere {
            what: format!("there is no model {name} in {}", home.root().display()),
            hint: match (CatalogModel::find(name), home.nearest(name)) {
                (Some(model), _) => format!("`ragstage models get {name}` fetches it ({})", model.size()),
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => format!("`ragstage models get {name} --from DIR|URL` takes it from there"),
            },
        });
    }
    out(&format!("{}\n", folder.display()))?;
    Ok(exit::OK)
}
