//! How a program is started.

use std::fmt;
use std::path::PathBuf;

/// How a program is started. Its values are in no `Debug` text.
#[derive(Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments; at least one.
    pub command: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Added to its environment; values may be secrets.
    pub environment: Vec<(String, String)>,
    /// The environment variables that these values are made of: secrets that no reply may hold.
    pub variables: Vec<(String, String)>,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn names(pairs: &[(String, String)]) -> Vec<&str> {
            pairs.iter().map(|(name, _)| name.as_str()).collect()
        }
        f.debug_struct("Launch")
            .field("command", &self.command)
            .field("directory", &self.directory)
            .field("environment", &names(&self.environment))
            .field("variables", &names(&self.variables))
            .finish()
    }
}
