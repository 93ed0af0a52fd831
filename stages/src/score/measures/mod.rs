//! Retrieval measures, one per file: functions of a ranking of documents and graded judgements, as trec_eval has them.

mod ap;
mod measure;
mod ndcg;
mod precision;
mod recall;
mod rr;
mod success;

pub use ap::{Ap, Divisor};
pub use measure::Measure;
pub use ndcg::{Gain, Ndcg};
pub use precision::Precision;
pub use recall::Recall;
pub use rr::ReciprocalRank;
pub use success::Success;

pub(crate) use ap::AP;
pub(crate) use ndcg::NDCG;
pub(crate) use precision::PRECISION;
pub(crate) use recall::RECALL;
pub(crate) use rr::RR;
pub(crate) use success::SUCCESS;
