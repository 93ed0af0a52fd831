//! Which evaluator with which options: what an evaluation file says under `evaluators`.

use serde::{Deserialize, Serialize};

use crate::artifact::Json;

/// An evaluator as written: `nDCG@10`, `P(rel=2)@5`, or `{name: token_f1, options: {...}}`.
///
/// The text form is ir-measures' grammar: a name, parameters in parentheses, and a cut-off after `@`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluatorSpec {
    /// Its name without parameters, e.g. `nDCG`.
    pub name: String,
    /// The cut-off, where one is given.
    #[serde(default)]
    pub cutoff: Option<u32>,
    /// Its parameters.
    #[serde(default)]
    pub options: Json,
}
