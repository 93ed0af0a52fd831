//! The report of an evaluation: one JSON document with everything, and two renderings for people.

mod action;
mod bar;
mod case_response;
mod case_result;
mod case_results;
mod case_texts;
mod evaluation_report;
mod findings;
mod human_agreement;
mod json_object;
mod lints;
mod page;
mod scale;
mod shown_cases;
mod slice_table;
mod view;
mod worst_cases;

pub use action::{BuildReport, EvaluatorInfo, QueryInfo, RecipeInfo};
pub use case_results::CaseResults;
pub use lints::LINTS;
