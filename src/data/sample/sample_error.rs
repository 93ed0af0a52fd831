//! Why no sample was made.

use std::fmt;

use ragstage_stages::error::InputError;

use crate::download::FetchError;

/// A sample that was not made. Nothing was written.
#[derive(Debug)]
#[non_exhaustive]
pub enum SampleError {
    /// What is asked for does not go together.
    Usage(String),
    /// Files are missing or malformed.
    Input(Vec<InputError>),
    /// What is asked for cannot be had of this dataset.
    Refused {
        /// What.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A file or folder of ours.
    Files(FetchError),
}

impl From<FetchError> for SampleError {
    fn from(error: FetchError) -> Self {
        SampleError::Files(error)
    }
}

impl From<InputError> for SampleError {
    fn from(error: InputError) -> Self {
        SampleError::Input(vec![error])
    }
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleError::Usage(why) => f.write_str(why),
            SampleError::Input(errors) => {
                let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&told.join("\n"))
            }
            SampleError::Refused { what, .. } => f.write_str(what),
            SampleError::Files(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SampleError {}
