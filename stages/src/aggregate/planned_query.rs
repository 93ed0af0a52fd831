//! What an evaluation asks for.

use ragstage_cache::key::walk_texts;
use ragstage_cache::{KeyVisitor, Walk};

/// One query mode of one recipe, with the evaluators of its responses.
///
/// Summaries and reports follow the plan, not the tables that there happen to be: where a knowledge base could not be
/// built there is no table at all, and its cases are failures that must be seen.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedQuery {
    /// The recipe's name.
    pub recipe: String,
    /// The query's name, unique within the recipe.
    pub query: String,
    /// The query mode, e.g. `full_text_search`.
    pub mode: String,
    /// Canonical names of the evaluators, in the evaluation's order.
    pub evaluators: Vec<String>,
}

impl Walk for PlannedQuery {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("", "planned_query");
        v.text("recipe", &self.recipe);
        v.text("query", &self.query);
        v.text("mode", &self.mode);
        walk_texts(v, "evaluators", &self.evaluators);
        v.end();
    }
}
