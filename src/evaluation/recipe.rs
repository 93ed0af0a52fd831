//! `recipe` and `recipes`: how knowledge bases are built, or which systems are asked instead.

use std::path::Path;

use ragstage_stages::build::chunk::ChunkOptions;
use ragstage_stages::build::full_text::FullTextOptions;
use ragstage_stages::build::graph::{DEFAULT_MAX_ENTITIES, GraphExtractor, GraphOptions};
use ragstage_stages::build::vector::VectorOptions;
use ragstage_stages::materialize::ParseOptions;
use ragstage_stages::model::HashingEmbedder;

use super::chunk::CHUNK;
use super::diagnostic::Faults;
use super::embed::{EMBED, EmbedConfig};
use super::full_text::FULL_TEXT;
use super::graph::GRAPH;
use super::models::Models;
use super::name::NAME;
use super::parse::PARSE;
use super::responses::{RESPONSES, ResponsesConfig};
use super::shape::{Field, Need, Record, Shape, Together};
use super::system::{SYSTEM, SystemConfig};
use super::system_openviking::{self, OPENVIKING};
use super::vector::VECTOR;
use super::view::View;
use super::{chunk, embed, full_text, graph, parse, responses, system, vector};

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

const EMBED_FIELD: Field = Field {
    name: "embed",
    doc: "What turns texts into vectors; the modes that search vectors need it.",
    shape: Shape::Tagged(&EMBED),
    need: Need::Optional,
};

const VECTOR_FIELD: Field =
    Field { name: "vector", doc: "How vectors are compared.", shape: Shape::Record(&VECTOR), need: Need::Optional };

const GRAPH_FIELD: Field = Field {
    name: "graph",
    doc: "A graph of entities and relations; the modes that search it need it.",
    shape: Shape::Record(&GRAPH),
    need: Need::Optional,
};

const SYSTEM_FIELD: Field = Field {
    name: "system",
    doc: "A system of your own that is asked instead of a knowledge base built here.",
    shape: Shape::Either(&[Shape::Keyed("provider", &OPENVIKING), Shape::Record(&SYSTEM)]),
    need: Need::Optional,
};

const RESPONSES_FIELD: Field = Field {
    name: "responses",
    doc: "Responses that were made elsewhere, in a file; nothing is built and nobody is asked.",
    shape: Shape::Record(&RESPONSES),
    need: Need::Optional,
};

const TOGETHER: &[Together] = &[
    Together::Excludes("system", &["parse", "chunk", "full_text", "embed", "vector", "graph"]),
    Together::Excludes("responses", &["system", "parse", "chunk", "full_text", "embed", "vector", "graph"]),
];

/// What `recipe` accepts: a recipe that is alone needs no name.
pub(super) static RECIPE: Record = Record {
    name: "recipe",
    doc: "How a knowledge base is built, or which system is asked instead.",
    fields: &[
        Field { name: "name", doc: "Name of the recipe.", shape: NAME, need: Need::Default("\"default\"") },
        PARSE_FIELD,
        CHUNK_FIELD,
        FULL_TEXT_FIELD,
        EMBED_FIELD,
        VECTOR_FIELD,
        GRAPH_FIELD,
        SYSTEM_FIELD,
        RESPONSES_FIELD,
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
        EMBED_FIELD,
        VECTOR_FIELD,
        GRAPH_FIELD,
        SYSTEM_FIELD,
        RESPONSES_FIELD,
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

/// How a knowledge base is built here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BuiltRecipe {
    /// How documents become text.
    pub parse: ParseOptions,
    /// How pages are cut.
    pub chunk: ChunkOptions,
    /// How text is indexed and ranked.
    pub full_text: FullTextOptions,
    /// What turns texts into vectors.
    pub embed: Option<EmbedConfig>,
    /// How vectors are compared.
    pub vector: VectorOptions,
    /// Who finds entities and relations.
    pub graph: Option<GraphOptions>,
}

/// What a recipe is.
#[derive(Debug, Clone, PartialEq)]
pub enum RecipeKind {
    /// A knowledge base that we build.
    Built(BuiltRecipe),
    /// Somebody's own system that we ask.
    System(SystemConfig),
    /// Responses that were made elsewhere.
    Responses(ResponsesConfig),
}

impl Recipe {
    /// Whether the knowledge base is built by us.
    pub fn is_built(&self) -> bool {
        matches!(self.kind, RecipeKind::Built(_))
    }
}

/// The recipe that a checked entry stands for.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    models: &Models,
    faults: &mut Faults,
) -> Recipe {
    let name = view.get("name").text().unwrap_or(DEFAULT_NAME).to_string();
    let system = view.get("system");
    let set = view.get("responses");
    let kind = if set.is_given() || view.is_faulty("responses") {
        RecipeKind::Responses(responses::convert(&set, base))
    } else if system.is_given() || view.is_faulty("system") {
        let convert = match system.get("provider").is_given() {
            true => system_openviking::convert,
            false => system::convert,
        };
        RecipeKind::System(convert(&system, base, environment, faults))
    } else {
        // What is there but faulty has been reported; it must not be missed as well by the queries that read it.
        let faulty = |key: &str| view.get(key).is_given() || view.is_faulty(key);
        let any_graph = || GraphOptions { extractor: GraphExtractor::Lexical, max_entities: DEFAULT_MAX_ENTITIES };
        let any_embed = || EmbedConfig::Hashing(HashingEmbedder { dimensions: 8 });
        RecipeKind::Built(BuiltRecipe {
            parse: parse::convert(&view.get("parse")),
            chunk: chunk::convert(&view.get("chunk"), faults),
            full_text: full_text::convert(&view.get("full_text")),
            embed: embed::convert(&view.get("embed"), base, environment, faults)
                .or_else(|| faulty("embed").then(any_embed)),
            vector: vector::convert(&view.get("vector")),
            graph: graph::convert(&view.get("graph"), models, faults).or_else(|| faulty("graph").then(any_graph)),
        })
    };
    Recipe { name, kind }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::checked;
    use super::*;

    fn read(text: &str) -> Result<Recipe, Vec<String>> {
        checked(text, &Shape::Record(&RECIPE), |view, faults| {
            let models = Models { list: Vec::new(), incomplete: false };
            convert(view, Path::new(""), &|_| None, &models, faults)
        })
    }

    #[test]
    fn an_empty_recipe_has_every_default() {
        let kind = RecipeKind::Built(BuiltRecipe::default());
        assert_eq!(read("{}").unwrap(), Recipe { name: "default".to_string(), kind });
    }

    #[test]
    fn a_faulty_part_is_not_missing_as_well() {
        let read = |text: &str| {
            let mut kind = None;
            let faults = checked(text, &Shape::Record(&RECIPE), |view, faults| {
                let models = Models { list: Vec::new(), incomplete: false };
                kind = Some(convert(view, Path::new(""), &|_| None, &models, faults).kind);
            });
            (kind, faults.expect_err("a fault").len())
        };
        let (Some(RecipeKind::Built(recipe)), 1) = read("{graph: {extractor: llm}}") else { panic!("no one fault") };
        assert_eq!((recipe.graph.is_some(), recipe.embed.is_some()), (true, false));
        let place = "{embed: {provider: static, model: 'a b'}}";
        let (Some(RecipeKind::Built(recipe)), 1) = read(place) else { panic!("no one fault") };
        assert_eq!((recipe.graph.is_some(), recipe.embed.is_some()), (false, true));
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
