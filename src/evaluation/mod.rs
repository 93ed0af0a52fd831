//! The evaluation file: one benchmark, recipes, queries, evaluators, statistics and gates, as YAML or JSON.
//!
//! A file becomes an [`Evaluation`] in three steps: `tree` reads the text into nodes that know their place, `check`
//! walks them against the `shape` of each element, and each element turns its node into its struct. Every step collects
//! all faults; [`read`] gives either an evaluation or every [`Diagnostic`]. The same shapes print the JSON Schema
//! ([`json_schema`]), so that what an editor accepts cannot drift from what [`read`] accepts.

mod answer;
mod benchmark;
mod chat_answer;
mod check;
mod chunk;
mod diagnostic;
mod embed;
mod endpoint;
mod evaluators;
mod file;
mod full_text;
mod gates;
mod graph;
mod human_labels;
mod judge;
mod limits;
mod listed;
mod mode;
mod model_place;
mod models;
mod name;
mod node;
mod openviking_config;
mod own_evaluator;
mod parse;
mod placeholders;
mod program;
mod prompt;
mod python_file;
mod queries;
mod recipe;
mod report;
mod rerankers;
mod responses;
mod rubric;
mod run;
mod scalar;
mod schema;
mod secrets;
mod shape;
mod starter;
mod statistics;
mod syntax;
mod system;
mod system_http;
mod system_openviking;
mod text_file;
mod tree;
mod vector;
mod view;

#[cfg(test)]
mod faults_test;

pub use diagnostic::{Diagnostic, EvaluationErrors};
pub use embed::{BertConfig, EmbedConfig};
pub use evaluators::{CheckEvaluator, EvaluatorConfig};
pub use file::{Evaluation, read};
pub use gates::GateSpec;
pub use judge::JudgeConfig;
pub use limits::{Limits, PoolLimits};
pub use model_place::ModelPlace;
pub use models::ServedModel;
pub use openviking_config::{NotCarried, OpenVikingConfig, OpenVikingLlm, read_openviking_config};
pub use own_evaluator::{OwnEvaluator, same};
pub use program::{ProgramConfig, evaluator_file};
pub use queries::{FULL_TEXT_SEARCH, QuerySpec};
pub use recipe::{BuiltRecipe, Recipe, RecipeKind};
pub use responses::{IMPORTED, RecordedTables, ResponsesConfig, ResponsesPlace};
pub use schema::json_schema;
pub use starter::starter;
pub use system::SystemConfig;
