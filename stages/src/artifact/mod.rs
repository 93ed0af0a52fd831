//! The artifacts that stages hand to each other: one file per type, each with its rows and its Parquet or JSON form.
//!
//! Every table has a schema name and version; a change of columns is a new version and a bump of the code version of the
//! step that writes it. Nested values of open shape (metadata, locators) are compact JSON text with sorted keys.

mod answers;
mod chunks;
mod detail;
mod documents;
mod entities;
mod extracted;
mod gold;
mod json;
mod mentions;
mod observations;
mod parsed;
mod queries;
mod relations;
mod results;
mod row_outcomes;
mod row_parts;
mod score_keys;
mod scores;
mod shared;
mod units;

pub use answers::{Answer, AnswerRows, AnswerSample, Answers, Citation};
pub use chunks::{Chunk, Chunks};
pub use detail::Detail;
pub use documents::{Document, Documents};
pub use entities::{Entities, Entity};
pub use extracted::{ChunkFacts, Extracted, ExtractedChunk, FoundAlias, FoundEntity, FoundRelation};
pub use gold::{Evidence, Gold, GoldRows, Golds};
pub use json::{Json, from_json, to_json};
pub use mentions::{FactKind, Mention, Mentions};
pub use observations::{Observation, Observations};
pub use parsed::{Heading, Page, ParsedDocument, ParsedDocuments};
pub use queries::{Queries, Query};
pub use relations::{Relation, Relations};
pub use results::{Hit, KnownSources, ResultRows, Results, Retrieved, STATED_RECALL};
pub use row_outcomes::RowOutcomes;
pub use row_parts::RowParts;
pub use score_keys::{ScoreKey, ScoreKeys};
pub use scores::{Score, ScoreOutcome, ScoreOutcomes, ScoreRow, ScoreRows, ScoreState, ScoreValue, Scores};
pub use units::{BenchmarkInfo, Unit, UnitRows, Units};
