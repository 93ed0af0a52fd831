//! Vectors: texts embedded, and made ready to be searched.

mod embed;
mod embeddings;
mod exact;
mod hnsw;
mod index;
mod little_endian;
mod matrix;
mod neighbour;
mod options;
mod rows;
mod shortlist;
mod similarity;
mod texts;
mod vector_index;

pub use embed::{Embed, EmbedInput};
pub use embeddings::Embeddings;
pub use exact::Wanted;
pub use index::VectorIndex;
pub use neighbour::Neighbour;
pub use options::{Metric, VectorIndexKind, VectorOptions};
pub use vector_index::BuildVectorIndex;
