//! Where the files of a model are: by name in the user's folder of models, or a folder.

use std::path::{Path, PathBuf};

use ragstage_stages::error::Place;

use super::diagnostic::Faults;
use super::shape::{Field, Need, Refusal, Shape, TextRule};
use super::view::View;
use crate::models::{ModelHome, check_name};

pub(super) const MODEL_PLACE_FIELD: Field = Field {
    name: "model",
    doc: "A model that `ragstage models get` fetched, by name; or, with a `/` or a `.` in front, the folder of one, relative to \
          this file.",
    shape: Shape::Text(&TextRule {
        expected: "the name or folder of a model",
        pattern: Some(r"^(?:\..*|.*/.*|[A-Za-z0-9][A-Za-z0-9._-]{0,79})$"),
        refuse: refuse_model,
    }),
    need: Need::Required,
};

/// Where the files of a model are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPlace {
    /// What the evaluation file says.
    pub model: String,
    /// The folder that this is.
    pub folder: PathBuf,
    /// The folder of models that it is a name in; `None` where it is a folder.
    pub home: Option<ModelHome>,
    /// Where the evaluation file says it.
    pub at: Place,
}

/// The place that the checked text at `view` stands for; `base` is the folder of the evaluation file.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> Option<ModelPlace> {
    let model = view.text()?.to_string();
    let at = faults.place(view.start());
    if is_folder(&model) {
        return Some(ModelPlace { folder: base.join(&model), model, home: None, at });
    }
    let Some(home) = ModelHome::of(environment) else {
        let message = format!("the folder of model `{model}` is not known: neither RAGSTAGE_MODELS nor HOME is set");
        let hint = "set RAGSTAGE_MODELS to the folder that `ragstage models get` put it in";
        faults.add_hint(view.start(), &view.path, message, hint.to_string());
        return None;
    };
    Some(ModelPlace { folder: home.folder(&model), model, home: Some(home), at })
}

fn is_folder(model: &str) -> bool {
    model.contains('/') || model.starts_with('.')
}

fn refuse_model(model: &str) -> Option<Refusal> {
    if is_folder(model) {
        return None;
    }
    let hint =
        "`ragstage models list` names those that are known; a folder has a `/` in it or a `.` in front".to_string();
    check_name(model).err().map(|message| Refusal { message, hint: Some(hint) })
}

#[cfg(test)]
mod tests {
    use super::super::shape::Record;
    use super::super::view::tests::checked;
    use super::*;

    static HOLDER: Record = Record { name: "holder", doc: "", fields: &[MODEL_PLACE_FIELD], together: &[] };

    fn read(model: &str, home: Option<&str>) -> Result<Option<ModelPlace>, Vec<String>> {
        let environment = |name: &str| home.filter(|_| name == "RAGSTAGE_MODELS").map(str::to_string);
        checked(&format!("{{model: '{model}'}}"), &Shape::Record(&HOLDER), |view, faults| {
            convert(&view.get("model"), Path::new("base"), &environment, faults)
        })
    }

    #[test]
    fn names_are_in_the_users_folder_and_folders_beside_the_file() {
        let folder = |model: &str| {
            let place = read(model, Some("/models")).expect("a model").expect("a model");
            (place.folder.display().to_string(), place.home.is_some())
        };
        assert_eq!(folder("potion-8m"), ("/models/potion-8m".to_string(), true));
        assert_eq!(folder("./potion"), ("base/./potion".to_string(), false));
        assert_eq!(folder("../m/potion"), ("base/../m/potion".to_string(), false));
        assert_eq!(folder("/m/potion"), ("/m/potion".to_string(), false));
    }

    #[test]
    fn what_is_neither_is_refused() {
        let faults = read("my potion", Some("/models")).unwrap_err();
        assert!(faults[0].contains("expected the name of a model") && faults[0].contains("models list"), "{faults:?}");
        let faults = read("potion", None).unwrap_err();
        assert_eq!(
            faults,
            ["1:9 model: the folder of model `potion` is not known: neither RAGSTAGE_MODELS nor HOME is set [set \
                 RAGSTAGE_MODELS to the folder that `ragstage models get` put it in]"]
        );
    }
}
