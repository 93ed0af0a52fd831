//! `recipe` and `recipes`: how knowledge bases are built, or which systems are asked instead.

use std::path::Path;

use ragstage_stages::build::chunk::ChunkOptions;
use ragstage_stages::build::full_text::FullTextOptions;
use ragstage_stages::materialize::ParseOptions;

use super::chunk::CHUNK;
use super::diagnostic::Faults;
use super::full_text::FULL_TEXT;
use super::name::NAME;
use super::parse::PARSE;
use super::shape::{Field, Need, Record, Shape, Together};
use super::system::{SYSTEM, SystemConfig};
use super::view::View;
use super::{chunk, full_text, parse, system};

/// The name of a recipe that is alone and has none of its own.
const DEFAULT_NAME: &str = "default";

const PARSE_FIELD: Field =
    Field { name: "parse", doc: "How documents become text.", shape: Shape::Record(&PARSE), need: Need::Optional };

const CHUNK_FIELD: Field =
    Field { name: "chunk", doc: "How pages are cut.", shape: Shape::Record(&CHUNK), need: Need::Optional };

const FULL_TEXT_FIELD: Field = Field {
    name: "full_text",
    doc: "How text is indexed and ranked.",
    shape: Shape::Record(&FULL_TEXT),
    need: Need::Optional,
};

const SYSTEM_FIELD: Field = Field {
    name: "system",
    doc: "A system of your own that is asked instead of a knowledge base built here.",
    shape: Shape::Record(&SYSTEM),
    need: Need::Optional,
};

const TOGETHER: &[Together] = &[Together::Excludes("system", &["parse", "chunk", "full_text"])];

/// What `recipe` accepts: a recipe that is alone needs no name.
pub(super) static RECIPE: Record = Record {
    name: "recipe",
    doc: "How a knowledge base is built, or which system is asked instead.",
    fields: &[
        Field { name: "name", doc: "Name of the recipe.", shape: NAME, need: Need::Default("\"default\"") },
        PARSE_FIELD,
        CHUNK_FIELD,
        FULL_TEXT_FIELD,
        SYSTEM_FIELD,
    ],
    together: TOGETHER,
};

/// What an entry of `recipes` accepts.
pub(super) static NAMED_RECIPE: Record = Record {
    name: "named_recipe",
    doc: "A recipe among several.",
    fields: &[
        Field { name: "name", doc: "Name of the recipe, unique in the evaluation.", shape: NAME, need: Need::Required },
        PARSE_FIELD,
        CHUNK_FIELD,
        FULL_TEXT_FIELD,
        SYSTEM_FIELD,
    ],
    together: TOGETHER,
};

/// A way to build and query a knowledge base.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// Its name, unique in the evaluation.
    pub name: String,
    /// What it is.
    pub kind: RecipeKind,
}

/// What a recipe is.
#[derive(Debug, Clone, PartialEq)]
pub enum RecipeKind {
    /// A knowledge base that we build.
    Built {
        /// How documents become text.
        parse: ParseOptions,
        /// How pages are cut.
        chunk: ChunkOptions,
        /// How text is indexed and ranked.
        full_text: FullTextOptions,
    },
    /// Somebody's own system that we ask.
    System(SystemConfig),
}

impl Recipe {
    /// Whether the knowledge base is built by us.
    pub fn is_built(&self) -> bool {
        matches!(self.kind, RecipeKind::Built { .. })
    }
}

/// The recipe that a checked entry stands for.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> Recipe {
    let name = view.get("name").text().unwrap_or(DEFAULT_NAME).to_string();
    let system = view.get("system");
    let kind = if system.is_given() || view.is_faulty("system") {
        RecipeKind::System(system::convert(&system, base, environment, faults))
    } else {
        RecipeKind::Built {
            parse: parse::convert(&view.get("parse")),
            chunk: chunk::convert(&view.get("chunk"), faults),
            full_text: full_text::convert(&view.get("full_text")),
        }
    };
    Recipe { name, kind }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::checked;
    use super::*;

    fn read(text: &str) -> Result<Recipe, Vec<String>> {
        checked(text, &Shape::Record(&RECIPE), |view, faults| convert(view, Path::new(""), &|_| None, faults))
    }

    #[test]
    fn an_empty_recipe_has_every_default() {
        let kind = RecipeKind::Built {
            parse: ParseOptions::default(),
            chunk: ChunkOptions::default(),
            full_text: FullTextOptions::default(),
        };
        assert_eq!(read("{}").unwrap(), Recipe { name: "default".to_string(), kind });
    }

    #[test]
    fn a_system_excludes_the_parts_of_a_build() {
        let faults =
            read("{name: a, system: {http: 'http://a', version: '1'}, chunk: {size: 10}, parse: {}}").unwrap_err();
        assert_eq!(
            faults,
            [
                "1:53 : `chunk` has no meaning beside `system` [remove `chunk` or `system`]",
                "1:72 : `parse` has no meaning beside `system` [remove `parse` or `system`]",
            ]
        );
    }
}
