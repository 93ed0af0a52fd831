//! Names of modes to modes.

use ragstage_stages::query::search::SearchMode;

use super::super::check::check;
use super::super::diagnostic::Faults;
use super::super::models::Models;
use super::super::node::{Node, Value};
use super::super::prompt::PromptFiles;
use super::super::rerankers::Rerankers;
use super::super::shape::{Record, Shape};
use super::super::view::View;
use super::{
    full_text_search, graph_search, hybrid_search, multihop_search, rerank_search, rewrite_search, vector_search,
};

/// What modes are made of beside their options.
pub(in super::super) struct Modes<'a> {
    /// The chat models that options may name.
    pub models: &'a Models,
    /// The rerankers that options may name.
    pub rerankers: &'a Rerankers,
    /// Reads prompts that options name.
    pub prompts: &'a PromptFiles<'a>,
}

/// Makes a mode of its checked options.
type Convert = fn(&View<'_>, &Modes<'_>, &mut Faults) -> Option<SearchMode>;

/// A mode by its names.
struct Entry {
    /// Its own name, then Heta's where it is another and its defaults are the same.
    names: &'static [&'static str],
    options: &'static Record,
    convert: Convert,
}

/// The modes, in the order in which messages list them.
static MODES: &[Entry] = &[
    Entry { names: &["full_text_search"], options: &full_text_search::OPTIONS, convert: full_text_search::convert },
    Entry { names: &["vector_search"], options: &vector_search::OPTIONS, convert: vector_search::convert },
    Entry { names: &["hybrid_search"], options: &hybrid_search::OPTIONS, convert: hybrid_search::convert },
    Entry {
        names: &["graph_search", "heta_graph_search"],
        options: &graph_search::OPTIONS,
        convert: graph_search::convert,
    },
    Entry { names: &["rerank_search"], options: &rerank_search::OPTIONS, convert: rerank_search::convert },
    Entry { names: &["heta_rerank_search"], options: &rerank_search::OPTIONS, convert: rerank_search::convert_heta },
    Entry { names: &["rewrite_search"], options: &rewrite_search::OPTIONS, convert: rewrite_search::convert },
    Entry { names: &["heta_rewrite_search"], options: &rewrite_search::OPTIONS, convert: rewrite_search::convert_heta },
    Entry { names: &["multihop_search"], options: &multihop_search::OPTIONS, convert: multihop_search::convert },
    Entry {
        names: &["heta_multihop_search"],
        options: &multihop_search::OPTIONS,
        convert: multihop_search::convert_heta,
    },
];

/// Whether there is a mode of that name.
pub(in super::super) fn is_mode(name: &str) -> bool {
    mode_names().any(|known| known == name)
}

/// The names of all modes.
pub(in super::super) fn mode_names() -> impl Iterator<Item = &'static str> {
    MODES.iter().flat_map(|entry| entry.names.iter().copied())
}

/// The options of the mode `name`; `None` where there is no such mode.
pub(in super::super) fn mode_options(name: &str) -> Option<Vec<&'static str>> {
    let entry = MODES.iter().find(|entry| entry.names.contains(&name))?;
    Some(entry.options.fields.iter().map(|field| field.name).collect())
}

impl Modes<'_> {
    /// The mode `name` with the options at `options`, which may be absent. Faults of the options are reported; `None` then, or
    /// where there is no such mode.
    pub(in super::super) fn convert(&self, name: &str, options: &View<'_>, faults: &mut Faults) -> Option<SearchMode> {
        let entry = MODES.iter().find(|entry| entry.names.contains(&name))?;
        // The options are free as far as the file's own shape goes: they are checked here, on a copy, once the mode is known.
        // Absent ones are checked as well, for some modes need some.
        let mut node = options.copied().unwrap_or(Node { start: options.start(), value: Value::Map(Vec::new()) });
        let before = faults.len();
        check(&mut node, &Shape::Record(entry.options), &options.path, faults);
        let view = View::of(&node, &options.path);
        let mode = (entry.convert)(&view, self, faults);
        mode.filter(|_| faults.len() == before)
    }
}
