//! Models: what phases ask embedders, rerankers and chat models, over HTTP or in process.
//!
//! Every reply is a row of a row cache whose slot is the model's identity, so nothing is paid for twice, whichever phase,
//! recipe or benchmark asks.

mod chat;
mod chat_model;
mod chat_reply;
mod chat_request;
mod embed;
mod embed_endpoint;
mod embedder;
mod embedding_reply;
mod endpoint;
mod feature_hasher;
mod json_client;
pub(crate) mod json_reply;
mod local_embedder;
mod model_folder;
mod price;
mod prompt;
mod rerank_reply;
mod reranker;
mod retry_after;
pub(crate) mod secrets;
#[cfg(feature = "bert")]
mod sentence_transformer;
mod sentence_transformer_files;
mod static_model;
pub(crate) mod template_error;
mod tensor_file;
mod usage;

pub(crate) use chat::CHAT_VERSION;
pub use chat::{Outcome, ask_chat};
pub use chat_model::ChatModel;
pub use chat_reply::ChatReply;
pub use chat_request::{ChatRequest, Message, ReplySchema, Role};
pub use embed::{Embedded, TextRole, embed_texts};
pub use embedder::{BertEmbedder, EmbedderSpec, HashingEmbedder, OpenAiEmbedder, Pooling, StaticEmbedder};
pub use endpoint::Endpoint;
pub use json_client::JsonClient;
pub(crate) use json_client::{Exchange, Exchanged, Patience};
pub use local_embedder::{HAS_BERT, LocalEmbedder, open as open_local_embedder};
pub use model_folder::{ModelFile, model_digest};
pub use price::{Price, dollars};
pub(crate) use prompt::PROMPT_FUEL;
pub use prompt::{Prompt, PromptFault};
pub use reranker::{Ranking, RerankApi, RerankRequest, Reranker, rerank};
pub use retry_after::retry_after;
pub use sentence_transformer_files::{
    LENGTH_FILE, ModelFileFault, POOLING_FILE, SENTENCE_TRANSFORMER_FILES, SentenceTransformerDefaults,
};
pub use static_model::STATIC_MODEL_FILES;
pub use usage::{ModelUsage, Usage, UsageSource};
