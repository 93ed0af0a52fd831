//! Supporting facts: whether a response rests on just the sentences, or documents, that its question needs.

mod agreement;
mod fact;
mod fact_evaluator;
mod joint;
mod joint_em;
mod joint_evaluator;
mod joint_f1;
mod joint_precision;
mod joint_recall;
mod parameters;
mod passage;
mod supporting_facts_em;
mod supporting_facts_f1;
mod supporting_facts_precision;
mod supporting_facts_recall;

pub(super) use joint_em::JOINT_EM;
pub(super) use joint_f1::JOINT_F1;
pub(super) use joint_precision::JOINT_PRECISION;
pub(super) use joint_recall::JOINT_RECALL;
pub(super) use supporting_facts_em::SUPPORTING_FACTS_EM;
pub(super) use supporting_facts_f1::SUPPORTING_FACTS_F1;
pub(super) use supporting_facts_precision::SUPPORTING_FACTS_PRECISION;
pub(super) use supporting_facts_recall::SUPPORTING_FACTS_RECALL;
