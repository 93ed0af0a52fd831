//! What became of the rows of a row group, without what is in them.

use ragstage_cache::table::Texts;

use crate::error::RowError;

/// The cases of a row group, why they have no row, and whether what they have is a refusal.
pub type RowOutcomes = (Texts, Vec<Option<RowError>>, Vec<bool>);
