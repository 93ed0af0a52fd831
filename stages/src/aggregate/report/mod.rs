//! The report of an evaluation: one JSON document with everything, and two renderings for people.

mod action;
mod bar;
mod case_response;
mod case_result;
mod case_results;
mod case_texts;
mod evaluation_report;
mod findings;
mod heta_manifest;
mod human_agreement;
mod json_object;
mod knowledge_base_name;
mod lints;
mod page;
mod report_key;
mod run_info;
mod scale;
mod shown_cases;
mod slice_table;
mod view;
mod worst_cases;

pub use action::{BuildReport, EvaluatorInfo, QueryInfo, REPORT_KEY, RecipeInfo};
pub use case_results::CaseResults;
pub use knowledge_base_name::refuse_knowledge_base_name;
pub use lints::LINTS;
pub use report_key::refuse_report_id;
pub use run_info::RunInfo;
