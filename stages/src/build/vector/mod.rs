//! Vectors: texts embedded, and made ready to be searched.

mod embed;
mod options;
mod vector_index;

pub use embed::{Embed, EmbedInput};
pub use options::{Metric, VectorIndexKind, VectorOptions};
pub use vector_index::BuildVectorIndex;
