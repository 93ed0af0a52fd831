//! Evidence: which pieces of gold evidence the results hold, by place, id or text.

mod evidence_evaluator;
mod findings;
mod matcher;
mod ndcg;
mod openviking_recall;
mod parameters;
mod piece;
mod precision;
mod recall;
mod reference;
mod token_cover;

pub(super) use findings::Findings;
pub(super) use matcher::Matcher;
pub(super) use ndcg::EVIDENCE_NDCG;
pub(super) use openviking_recall::OPENVIKING_RECALL;
pub(super) use precision::EVIDENCE_PRECISION;
pub(super) use recall::EVIDENCE_RECALL;
pub(crate) use reference::ids;
pub(super) use token_cover::TokenSet;
