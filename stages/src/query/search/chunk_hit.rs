//! A chunk as a result.

use serde_json::Value;

use crate::artifact::{Chunk, Hit, Json};

/// A chunk as a result, with where it is from.
pub fn chunk_hit(chunk: &Chunk, score: f64) -> Hit {
    let mut source = Json::new();
    let mut put = |name: &str, value: Value| source.insert(name.to_string(), value);
    put("document_id", chunk.document_id.as_str().into());
    put("source_key", chunk.source_key.as_str().into());
    put("name", chunk.name.as_str().into());
    put("page_index", chunk.page_index.into());
    put("chunk_index", chunk.chunk_index.into());
    put("start", chunk.start.into());
    put("end", chunk.end.into());
    if let Some(title) = &chunk.title {
        put("title", title.as_str().into());
    }
    if let Some(heading) = &chunk.heading {
        put("heading", heading.as_str().into());
    }
    Hit {
        id: chunk.chunk_id.clone(),
        text: chunk.text.as_str().into(),
        score: Some(score),
        kind: "chunk".to_string(),
        source: source.into(),
        metadata: Json::new(),
    }
}
