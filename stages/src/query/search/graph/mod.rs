//! The parts of `graph_search`: the graph in memory, what of it a query means, and the chunks that this leads to.

mod facts;
mod lexical_match;
mod ranking;
mod vector_match;

pub(super) use facts::{Fact, FactHit, GraphFacts};
pub(super) use lexical_match::LexicalMatch;
pub(super) use ranking::{RankedChunk, by_hits, by_page_rank};
pub(super) use vector_match::{VectorAsk, VectorMatch};
