//! Where models are kept: once per user, for all evaluations.

use std::path::{Path, PathBuf};

use super::catalog::{CATALOG, nearest_name};

/// The environment variable that names the folder.
const VARIABLE: &str = "RAGSTAGE_MODELS";

/// The user's folder of models, each a folder of its own in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelHome {
    root: PathBuf,
}

impl ModelHome {
    /// The variables that say where the folder is.
    pub const VARIABLES: [&str; 3] = [VARIABLE, "XDG_DATA_HOME", "HOME"];

    /// `$RAGSTAGE_MODELS`, else `ragstage/models` in `$XDG_DATA_HOME` (XDG Base Directory Specification), else in
    /// `~/.local/share`; `None` where nothing of this is set.
    pub fn of(environment: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let given = |name: &str| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let data = || {
            given("XDG_DATA_HOME")
                .filter(|path| path.is_absolute())
                .or_else(|| given("HOME").map(|home| home.join(".local/share")))
        };
        let root = given(VARIABLE).or_else(|| data().map(|data| data.join("ragstage/models")))?;
        Some(ModelHome { root })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of model `name`, whether it is there or not. The name is one that [`check_name`] takes.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The name, of the models that are there and of those that can be fetched, that `name` is near to.
    pub fn nearest(&self, name: &str) -> Option<String> {
        // A folder that cannot be read has no model to offer.
        let here = self.names().unwrap_or_default();
        let known = CATALOG.iter().map(|model| model.name);
        nearest_name(name, known.chain(here.iter().map(String::as_str))).map(str::to_string)
    }

    /// The names of the models that are there, sorted.
    ///
    /// # Errors
    /// When the folder is there and cannot be read.
    pub fn names(&self) -> std::io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && check_name(&name).is_ok()
                && entry.path().is_dir()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Whether `name` may name a model: it becomes a folder's name.
///
/// # Errors
/// What is wrong with it, as a fragment.
pub fn check_name(name: &str) -> Result<(), String> {
    const LONGEST: usize = 80;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(allowed) || name.len() > LONGEST {
        return Err(format!(
            "expected the name of a model (letters, digits, `-`, `_` and `.`, at most {LONGEST}), found {name:?}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_users_own() {
        let home = |variables: &[(&str, &str)]| {
            let find =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
            ModelHome::of(&find).map(|home| home.root().display().to_string())
        };
        let all = [("RAGSTAGE_MODELS", "m"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(home(&all).as_deref(), Some("m"));
        assert_eq!(home(&all[1..]).as_deref(), Some("/x/ragstage/models"));
        assert_eq!(home(&all[2..]).as_deref(), Some("/h/.local/share/ragstage/models"));
        // The specification: relative paths are invalid and to be ignored.
        assert_eq!(home(&[("XDG_DATA_HOME", "x"), all[2]]).as_deref(), Some("/h/.local/share/ragstage/models"));
        assert_eq!(home(&[("RAGSTAGE_MODELS", "")]), None);
    }

    #[test]
    fn names_cannot_leave_the_folder() {
        assert_eq!(check_name("bge-small-en-v1.5"), Ok(()));
        for bad in ["", ".", "..", ".part", "a/b", "a b", "ä", "-x", &"x".repeat(81)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn only_models_are_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = ModelHome { root: folder.path().join("models") };
        assert_eq!(home.names().expect("names"), Vec::<String>::new());
        for name in ["b", "a", ".a.part"] {
            std::fs::create_dir_all(home.root().join(name)).expect("a folder");
        }
        std::fs::write(home.root().join("file"), "").expect("a file");
        assert_eq!(home.names().expect("names"), ["a", "b"]);
        std::fs::create_dir_all(home.root().join("potion-8m")).expect("a folder");
        assert_eq!(home.nearest("potoin-8m").as_deref(), Some("potion-8m"));
        assert_eq!(home.nearest("wordlama").as_deref(), Some("wordllama-l2-256"));
    }
}
