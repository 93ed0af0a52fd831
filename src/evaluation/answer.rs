//! `answer`: how answers are made.

use std::path::{Path, PathBuf};

use ragstage_stages::query::{AnswerOptions, ExtractiveOptions};

use super::chat_answer::{self, OPENAI};
use super::diagnostic::Faults;
use super::models::Models;
use super::recipe::Recipe;
use super::shape::{Choice, Field, Need, Record, Shape, Tagged};
use super::view::View;

/// What `answer` accepts.
pub(super) const ANSWER: Shape = Shape::Either(&[
    Shape::Choice(&[Choice { word: "none", doc: "no answers are made; only retrieval is evaluated" }]),
    Shape::Tagged(&PROVIDER),
]);

static PROVIDER: Tagged = Tagged {
    key: "provider",
    doc: "Who answers.",
    variants: &[("extractive", &EXTRACTIVE), ("openai", &OPENAI), ("system", &SYSTEM)],
    shared: &[],
};

static EXTRACTIVE: Record = Record {
    name: "extractive",
    doc: "The best sentences of the retrieved passages; no model.",
    fields: &[
        Field {
            name: "sentences",
            doc: "How many sentences an answer has at most.",
            shape: Shape::Int { min: 1, max: 1000 },
            need: Need::Default("2"),
        },
        Field {
            name: "results",
            doc: "How many results are read.",
            shape: Shape::Int { min: 1, max: 10_000 },
            need: Need::Default("5"),
        },
    ],
    together: &[],
};

static SYSTEM: Record = Record {
    name: "own_answer",
    doc: "The answer that the system under test gave along with its results.",
    fields: &[],
    together: &[],
};

/// What an answerer may name, and where its files are.
pub(super) struct Known<'a> {
    /// The folder that paths are relative to.
    pub base: &'a Path,
    /// The chat models.
    pub models: &'a Models,
    /// The recipes.
    pub recipes: &'a [Recipe],
    /// What the benchmark has a chat model told, by category.
    pub instructions: &'a [(&'a str, &'a str)],
}

/// The answerer that a checked `answer` stands for; `None` for no answers. Files that it names are added to `files`.
pub(super) fn convert(
    view: &View<'_>,
    known: &Known<'_>,
    files: &mut Vec<PathBuf>,
    faults: &mut Faults,
) -> Option<AnswerOptions> {
    if view.text() == Some("none") {
        return None;
    }
    if view.get("provider").text() == Some("openai") {
        let options = chat_answer::convert(view, known, files, faults);
        return options.map(|options| AnswerOptions::Chat(Box::new(options)));
    }
    let default = ExtractiveOptions::default();
    if view.get("provider").text() == Some("system") {
        if let Some(built) = known.recipes.iter().find(|recipe| recipe.is_built()) {
            let provider = view.get("provider");
            faults.add_hint(
                provider.start(),
                &provider.path,
                format!("the recipe `{}` is built here and gives no answer of its own", built.name),
                "leave `answer` out: systems then answer themselves and the other recipes extract".to_string(),
            );
        }
        return Some(AnswerOptions::System);
    }
    Some(AnswerOptions::Extractive(ExtractiveOptions {
        sentences: view.get("sentences").int().unwrap_or(default.sentences),
        results: view.get("results").int().unwrap_or(default.results),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<Option<AnswerOptions>, Vec<String>> {
        let models = Models { list: Vec::new(), incomplete: false };
        let known = Known { base: Path::new(""), models: &models, recipes: &[], instructions: &[] };
        checked(text, &ANSWER, |view, faults| convert(view, &known, &mut Vec::new(), faults))
    }

    #[test]
    fn defaults_are_those_of_the_answerer() {
        let default = Some(AnswerOptions::default());
        assert_eq!(read("{provider: extractive}").unwrap(), default);
        assert_eq!(
            read(&format!("{{provider: extractive, {}", &spelled_out(EXTRACTIVE.fields)[1..])).unwrap(),
            default
        );
        assert_eq!(read("none").unwrap(), None);
        assert_eq!(read("{provider: system}").unwrap(), Some(AnswerOptions::System));
    }

    #[test]
    fn faults_name_the_forms() {
        assert_eq!(
            read("extractive").unwrap_err(),
            ["1:1 : expected `none` or a mapping with `provider`, found the text `extractive`"]
        );
        assert_eq!(
            read("{provider: extractiv, sentences: 3}").unwrap_err(),
            ["1:12 provider: expected one of `extractive`, `openai`, `system`, found the text `extractiv` [did you \
                 mean `extractive`?]"]
        );
        assert_eq!(
            read("{provider: system, sentences: 3}").unwrap_err(),
            ["1:20 : unknown key `sentences` [keys here are provider]"]
        );
    }
}
