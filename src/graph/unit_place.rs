//! Where in an evaluation a node belongs.

use std::sync::Arc;

use ragstage_stages::artifact::Unit;
use ragstage_stages::model::EmbedderSpec;
use ragstage_stages::query::{ImportSpec, SystemSpec};

use super::node::{NodeId, Scope};
use crate::evaluation::{QuerySpec, Recipe};

/// Where in an evaluation a node belongs.
pub(super) struct UnitPlace<'a> {
    pub(super) benchmark: &'a str,
    pub(super) unit: &'a Arc<Unit>,
    pub(super) recipe: &'a Recipe,
    /// Of a recipe that is a system under test.
    pub(super) system: Option<&'a Arc<SystemSpec>>,
    /// Of a recipe whose responses were made elsewhere.
    pub(super) import: Option<&'a Arc<ImportSpec>>,
    /// Of a recipe with vectors.
    pub(super) embedder: Option<&'a Arc<EmbedderSpec>>,
    pub(super) prepare: NodeId,
}

impl UnitPlace<'_> {
    pub(super) fn place(&self) -> String {
        format!("{}/{}", self.benchmark, self.unit.unit_id)
    }

    pub(super) fn scope(&self, query: Option<&QuerySpec>) -> Scope {
        Scope {
            benchmark: self.benchmark.to_string(),
            unit: Some(self.unit.unit_id.clone()),
            recipes: vec![self.recipe.name.clone()],
            query: query.map(|query| query.name.clone()),
            evaluator: None,
            evaluation: None,
        }
    }
}
