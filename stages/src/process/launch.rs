//! How a program is started.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{fmt, io};

/// How a program is started. Its values are in no `Debug` text.
#[derive(Clone, PartialEq, Eq, Default)]
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

impl Launch {
    /// The program's own name, for messages.
    pub(crate) fn program(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }

    /// Starts the program, in a group of its own: Ctrl-C is for us, who let calls in flight land, and its own children end
    /// with it. Its output and its standard error are pipes.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(&self, input: Stdio) -> io::Result<Child> {
        let mut builder = Command::new(self.program());
        builder
            .args(self.command.get(1..).unwrap_or_default())
            .current_dir(&self.directory)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut builder, 0);
        builder.spawn()
    }
}

/// Kills a program that was started as the head of a group, and all that it started, and reaps it.
pub(super) fn end_group(child: &mut Child) {
    // Each of these fails only where there is nothing left to end.
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}
