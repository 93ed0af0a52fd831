//! In what two sides differ by their keys.

use serde::Serialize;

use ragstage_stages::aggregate::Side;

/// A field of which two sides have another value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its dotted path, e.g. `recipe.chunk.size`.
    pub path: String,
    /// The first's value; `None` where it has no such field.
    pub first: Option<String>,
    /// The second's value.
    pub second: Option<String>,
}

impl Difference {
    /// All of them, by path.
    pub(super) fn between(first: &Side, second: &Side) -> Vec<Self> {
        let mut paths: Vec<&String> = first.identity.keys().chain(second.identity.keys()).collect();
        paths.sort_unstable();
        paths.dedup();
        let difference = |path: &String| Difference {
            path: path.clone(),
            first: first.identity.get(path).cloned(),
            second: second.identity.get(path).cloned(),
        };
        paths.into_iter().map(difference).filter(|difference| difference.first != difference.second).collect()
    }
}
