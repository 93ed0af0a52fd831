//! Models that a scripted server serves.

use ragstage_stages::model::{ChatModel, Endpoint, OpenAiEmbedder, Price, RerankApi, Reranker};

use crate::model_server::ModelServer;

/// What no message and no row may hold.
pub const KEY: &str = "sk-very-secret";

/// A dollar per million tokens read, two per million written.
pub const PRICE: Price = Price { input_per_million: 1.0, output_per_million: 2.0 };

fn endpoint(server: &ModelServer) -> Endpoint {
    Endpoint {
        label: "default".to_string(),
        base_url: server.base_url(),
        headers: vec![("Authorization".to_string(), format!("Bearer {KEY}"))],
        variables: vec![("MODEL_KEY".to_string(), KEY.to_string())],
    }
}

/// A chat model with structured output.
pub fn chat_model(server: &ModelServer) -> ChatModel {
    let (name, model) = ("small".to_string(), "small-1".to_string());
    ChatModel { name, model, endpoint: endpoint(server), structured: true, price: PRICE }
}

/// An embedder that is asked for `batch` texts at once.
pub fn embedder(server: &ModelServer, batch: u32) -> OpenAiEmbedder {
    OpenAiEmbedder {
        model: "embed-1".to_string(),
        endpoint: endpoint(server),
        dimensions: None,
        normalize: true,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        batch,
        price: PRICE,
    }
}

/// A reranker that is asked about `batch` candidates at once.
pub fn reranker(server: &ModelServer, api: RerankApi, batch: u32) -> Reranker {
    Reranker { model: "rerank-1".to_string(), endpoint: endpoint(server), api, batch, price: PRICE }
}
