//! Models: what phases ask embedders, rerankers and chat models, over HTTP or in process.
//!
//! Every reply is a row of a row cache whose slot is the model's identity, so nothing is paid for twice, whichever phase,
//! recipe or benchmark asks.

mod chat;
mod chat_model;
mod embed;
mod embedder;
mod endpoint;
mod json_client;
pub(crate) mod json_reply;
mod price;
mod prompt;
mod reranker;
pub(crate) mod secrets;
mod usage;

pub use chat::{ChatReply, ChatRequest, Message, Outcome, ReplySchema, Role, ask_chat};
pub use chat_model::ChatModel;
pub use embed::{Embedded, TextRole, embed_texts};
pub use embedder::{BertEmbedder, EmbedderSpec, HashingEmbedder, OpenAiEmbedder, Pooling, StaticEmbedder};
pub use endpoint::Endpoint;
pub use json_client::JsonClient;
pub use price::Price;
pub use prompt::{Prompt, PromptFault};
pub use reranker::{Ranking, RerankRequest, Reranker, rerank};
pub use usage::{ModelUsage, Usage, UsageSource};
