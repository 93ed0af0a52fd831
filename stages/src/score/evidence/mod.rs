//! Evidence: which pieces of gold evidence the results hold, by place, id or text.

mod evidence_evaluator;
mod findings;
mod hits;
mod map;
mod matcher;
mod mrr;
mod ndcg;
mod openviking_recall;
mod parameters;
mod piece;
mod precision;
mod recall;
mod reference;
mod token_cover;

pub(super) use findings::Findings;
pub(super) use hits::EVIDENCE_HITS;
pub(super) use map::EVIDENCE_MAP;
pub(super) use matcher::Matcher;
pub(super) use mrr::EVIDENCE_MRR;
pub(super) use ndcg::EVIDENCE_NDCG;
pub(super) use openviking_recall::OPENVIKING_RECALL;
pub(super) use precision::EVIDENCE_PRECISION;
pub(super) use recall::EVIDENCE_RECALL;
pub(crate) use reference::ids;
pub(super) use reference::refers;
pub(super) use token_cover::TokenSet;
