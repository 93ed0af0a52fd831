//! Query modes: how results are found in a knowledge base that is built here.
//!
//! A mode is data ([`SearchMode`]): it says which artifacts it reads and what of itself is in a key. Opened on a knowledge base
//! it is a [`Search`]. Modes compose: `hybrid`, `rerank`, `rewrite` and `multihop` ask other modes.

mod chunk_hit;
mod distinct_asks;
mod full_text_search;
mod fusion;
mod graph;
mod graph_search;
mod hybrid_search;
mod knowledge_base;
mod lexical_planner;
mod lexical_reranker;
mod lexical_rewriter;
mod mode;
mod multihop_case;
mod multihop_search;
mod on_failure;
mod prompted_model;
mod query_words;
mod rerank_search;
mod rewrite_search;
mod searcher;
mod vector_lookup;
mod vector_search;

pub use chunk_hit::chunk_hit;
pub use full_text_search::FullTextSearch;
pub use graph_search::{GraphMatch, GraphRanking, GraphSearch};
pub use hybrid_search::{HybridPart, HybridSearch};
pub use knowledge_base::{KbArtifact, KnowledgeBase};
pub use mode::SearchMode;
pub use multihop_search::{Merge, MultihopSearch, Planner};
pub use on_failure::OnFailure;
pub use prompted_model::PromptedModel;
pub use rerank_search::{RerankBy, RerankSearch};
pub use rewrite_search::{RewriteSearch, Rewriter};
pub use searcher::{Ask, Found, Search, SearchAlone};
pub use vector_search::VectorSearch;
