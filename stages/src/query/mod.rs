//! Query: what a knowledge base finds and answers for each case.

mod answer;
pub(crate) mod case_rows;
mod chat_answer;
mod extractive;
mod import;
mod options;
mod retrieve;
pub mod search;
pub mod system;

pub use answer::AnswerQuestions;
pub use chat_answer::{AnswerPrompt, ChatAnswerOptions, ContextOptions, Template, TemplateFault};
pub use extractive::Extractive;
pub use import::{IMPORTED, ImportResponses, ImportSource, ImportSpec, Missing};
pub use options::{AnswerOptions, ExtractiveOptions, HttpUrls, SystemSpec, Transport};
pub use retrieve::{ExternalKb, ModeSpec, Retrieve, TRACE};
