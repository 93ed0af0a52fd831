//! Score: evaluators over cached responses.

mod action;
mod answer_contains;
mod answer_evaluator;
mod answer_exact_match;
mod answer_match;
mod case;
mod definition;
mod evaluator;
mod evidence;
mod grammar;
mod heta;
mod identity;
mod json_equality;
mod locator;
pub mod measures;
mod normal;
mod python_text;
mod qrels;
mod ranking;
mod registry;
mod retrieval;
mod row_digests;
mod source;
mod spec;
mod text_match;
mod token_f1;

pub use action::ScoreResponses;
pub use definition::{CutoffRule, Definition, Parameter, ParameterKind};
pub use evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
pub(crate) use evidence::ids as hit_ids;
pub use grammar::GrammarError;
pub use normal::normal_form;
pub use qrels::Qrels;
pub use registry::{Alias, UnknownEvaluator, aliases, definitions, evaluator, names};
pub(crate) use source::{raw_key_document, text_of as id_text};
pub use spec::EvaluatorSpec;
