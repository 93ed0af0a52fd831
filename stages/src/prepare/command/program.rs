//! The program, and what its output depends on.

use std::path::PathBuf;
use std::time::Duration;

use ragstage_cache::key::walk_texts;
use ragstage_cache::{Digest, KeyVisitor, Walk};
use serde::{Deserialize, Serialize};

use crate::contract::Context;
use crate::error::{InputError, Place, StageError, StageErrorKind};
use crate::model::secrets::Secrets;
use crate::prepare::listing::SourceFile;
use crate::process::{Launch, OutputError, OutputLimits, output};
use crate::step::Step;

/// More would be no benchmark, and is no output that is worth memory.
const MOST_BYTES: u64 = 8 << 30;

/// A program that prints a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkProgram {
    /// Its words as they are in the key: none is a path of this machine.
    pub words: Vec<String>,
    /// What its owner calls this state of it.
    pub version: String,
    /// Seconds from its start to its end; in no key.
    pub timeout_s: f64,
    /// How it is started, with secrets in it; in no key.
    #[serde(skip)]
    pub launch: Launch,
}

impl Walk for BenchmarkProgram {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("program", "program");
        walk_texts(v, "command", &self.words);
        v.text("version", &self.version);
        v.end();
    }
}

impl BenchmarkProgram {
    /// What errors about its output call it.
    pub(in crate::prepare) fn place(&self) -> PathBuf {
        PathBuf::from(format!("output of {}", self.words.join(" ")))
    }

    /// Runs it once and gives what it printed. `files` are those that the output depends on.
    ///
    /// # Errors
    /// An input error where it ends badly, takes too long, prints a secret, or one of `files` changes meanwhile. The provider
    /// cannot be used where it cannot be started.
    pub(in crate::prepare) fn run(&self, context: &dyn Context, files: &[&SourceFile]) -> Result<Vec<u8>, StageError> {
        let step = Step::Sources;
        let wrong = |message: String, hint: &str| {
            StageError::input(step, vec![InputError::new(Place::file(self.place()), message).hint(hint)])
        };
        context.may_start_programs()?;
        let limits = OutputLimits {
            timeout: Duration::try_from_secs_f64(self.timeout_s).unwrap_or(Duration::MAX),
            bytes: MOST_BYTES,
        };
        let printed = output(&self.launch, limits, &|| context.may_start_programs().is_err());
        let bytes = printed.map_err(|error| match error {
            OutputError::NotStarted(why) => {
                StageError { step, kind: StageErrorKind::Provider(format!("benchmark: {why}")) }
            }
            OutputError::Failed(why) => wrong(why, "run the command by hand in the folder of the evaluation file"),
            OutputError::Stopped => StageError { step, kind: StageErrorKind::Cancelled },
        })?;
        for file in files {
            // What was printed would be kept under the digest of a file that it was not made from.
            if context.source(&file.digest)?.is_none() {
                let error =
                    InputError::new(Place::file(&file.path), "the file changed or went away while the program ran");
                return Err(StageError::input(step, vec![error.hint("run again")]));
            }
        }
        if let Some(name) = Secrets::of(&self.launch.environment, &self.launch.variables).variable_in(&bytes) {
            let message =
                format!("it holds the value of the environment variable {name}, which would go into the store");
            let hint = "take it out of the output or, where it is no secret, write it into the evaluation file";
            return Err(wrong(message, hint));
        }
        Ok(bytes)
    }

    /// Its output as a source file.
    pub(in crate::prepare) fn file(&self, role: &str, digest: Digest, size: u64) -> SourceFile {
        SourceFile { role: role.to_string(), path: self.place(), digest, size }
    }
}
