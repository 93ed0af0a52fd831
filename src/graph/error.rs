//! Why there is no graph.

use ragstage_stages::error::InputError;

/// The graph cannot be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum GraphError {
    /// A file that the evaluation names is missing or unreadable, or a name in it is unknown.
    Input(Vec<InputError>),
}
