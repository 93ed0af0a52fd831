//! Graph: the entities and relations that a unit's chunks speak of.

mod abbreviation;
mod build;
mod canonical;
mod extract;
mod fact_text;
mod lexical;
mod llm;
mod merge;
mod options;
mod page_rank;
mod prompt;

pub use build::BuildGraph;
pub use canonical::canonical_name;
pub use extract::ExtractGraph;
pub use fact_text::{entity_text, relation_text};
pub use merge::{Merged, is_vague_type, merge};
pub use options::{DEFAULT_MAX_ENTITIES, DEFAULT_MAX_TOKENS, GraphExtractor, GraphOptions, LlmExtractor};
pub use page_rank::page_rank;
