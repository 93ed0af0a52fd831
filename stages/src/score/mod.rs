//! Score: evaluators over cached responses.

mod action;
mod answers;
mod case;
mod definition;
mod evaluator;
mod evidence;
mod grammar;
mod heta;
mod identity;
mod json_equality;
pub mod judge;
mod locator;
pub mod measures;
mod normal;
mod openviking_text;
mod plain_text;
mod python_text;
mod qrels;
mod ranked_unit;
mod ranking;
mod registry;
mod retrieval;
mod row_digests;
mod sample_scores;
mod source;
mod spec;
mod squad_text;
#[cfg(test)]
mod test_case;
mod text_match;

pub use action::ScoreResponses;
pub use answers::openviking_refuses;
pub use definition::{CutoffRule, Definition, Parameter, ParameterKind};
pub use evaluator::{CaseView, Description, Evaluator, Reads, ResponseView, Scorable, ScoreTogether};
pub(crate) use evidence::ids as hit_ids;
pub use grammar::GrammarError;
pub use normal::normal_form;
pub use openviking_text::normalize as openviking_text;
pub use qrels::Qrels;
pub use ranking::trec_order;
pub use registry::{Alias, UnknownEvaluator, aliases, definitions, evaluator, names};
pub(crate) use source::{raw_key_document, text_of as id_text};
pub use spec::EvaluatorSpec;
