//! What an evaluator says of itself: data that the registry, the schema and the documentation read.

use super::evaluator::Evaluator;
use super::identity::Identity;

/// Whether an evaluator takes a cut-off (`@k`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutoffRule {
    /// It has none.
    None,
    /// Without one the whole ranking counts.
    Optional,
    /// It means nothing without one.
    Required,
    /// Without one, this one.
    Default(u32),
}

/// What an option may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterKind {
    /// A whole number of at least `min`.
    Whole {
        /// The least value.
        min: i64,
        /// Its value where none is given.
        default: i64,
    },
    /// A number within bounds.
    Real {
        /// The least value.
        min: f64,
        /// The greatest value.
        max: f64,
        /// Its value where none is given.
        default: f64,
    },
    /// One of these words; the first where none is given.
    Choice(&'static [&'static str]),
    /// A text or a list of texts, in no order; these where none is given.
    Texts(&'static [&'static str]),
}

/// An option of an evaluator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name in the grammar.
    pub name: &'static str,
    /// One line on what it does.
    pub description: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
}

/// An evaluator that there is.
#[derive(Debug)]
pub struct Definition {
    /// Its name in the grammar.
    pub name: &'static str,
    /// Its full name.
    pub pretty: &'static str,
    /// One line on what it measures.
    pub description: &'static str,
    /// Where it is defined.
    pub citation: Option<&'static str>,
    /// Whether a higher value is a better one.
    pub higher_is_better: bool,
    /// What others call it; not understood, but answered with a hint.
    pub other_names: &'static [&'static str],
    /// Its cut-off.
    pub cutoff: CutoffRule,
    /// Its options, sorted by name.
    pub parameters: &'static [Parameter],
    /// Bumped by hand whenever a score changes for the same response and gold; in the key.
    pub code_version: u64,
    /// Makes it, from options that have been checked one by one; the error is a message on their combination.
    pub(crate) build: fn(Identity) -> Result<Box<dyn Evaluator>, String>,
}

/// `rel`, which all binary measures share.
pub(crate) const REL: Parameter = Parameter {
    name: "rel",
    description: "the least grade that counts as relevant (trec_eval -l)",
    kind: ParameterKind::Whole { min: 1, default: 1 },
};

/// `unit`, which all retrieval measures share.
pub(crate) const UNIT: Parameter = Parameter {
    name: "unit",
    description: "what is ranked and judged: documents, their pages, or chunks",
    kind: ParameterKind::Choice(&["document", "page", "chunk"]),
};

/// `variant`, which all measures that Heta Evaluation has too share.
pub(crate) const VARIANT: Parameter = Parameter {
    name: "variant",
    description: "heta: as Heta Evaluation computes it, to compare with its reports",
    kind: ParameterKind::Choice(&["standard", "heta"]),
};
