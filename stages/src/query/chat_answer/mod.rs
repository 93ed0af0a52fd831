//! Answers of a chat model from what was found.

mod answerer;
mod marks;
mod options;
mod passages;
mod prompt;

pub(super) use answerer::answers;
pub use options::{ChatAnswerOptions, ContextOptions};
pub use prompt::{AnswerPrompt, Template, TemplateFault};
