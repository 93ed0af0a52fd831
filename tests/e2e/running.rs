//! A run that goes on while a test does something to it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::space::{Ran, Space, read_events};

/// How long a test waits for what must come before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that was started and not waited for.
pub struct Running {
    child: Child,
    events: PathBuf,
}

impl Running {
    /// Starts `ragstage run` with `arguments`, words separated by blanks. Its events go to the file `name`.
    pub fn start(space: &Space, name: &str, arguments: &str) -> Self {
        Running::spawn(space, space.command(), name, arguments)
    }

    /// The same with a command of the caller's.
    pub fn spawn(space: &Space, mut command: Command, name: &str, arguments: &str) -> Self {
        let events = space.path(name);
        let child = command
            .args(["run", "--events"])
            .arg(&events)
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        Running { child, events }
    }

    /// Waits until an event of this kind was written.
    pub fn wait_for(&mut self, event: &str) {
        let start = Instant::now();
        while !read_events(&self.events).iter().any(|found| found["event"] == event) {
            assert!(start.elapsed() < PATIENCE, "there is no event {event}");
            if let Some(status) = self.child.try_wait().expect("a child") {
                // It may have been written between the look and the end.
                assert!(
                    read_events(&self.events).iter().any(|found| found["event"] == event),
                    "ended ({status}) without an event {event}"
                );
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a signal, by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success(), "kill -{name}");
    }

    /// Whether it has ended.
    pub fn ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Kills it (-9) and waits until it is gone.
    pub fn kill(mut self) -> Ran {
        // An error says that it has ended by itself, which a test at a random moment allows.
        let _ = self.child.kill();
        self.finish()
    }

    /// Waits for its end.
    pub fn finish(self) -> Ran {
        let output = self.child.wait_with_output().expect("a child");
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            events: read_events(&self.events),
        }
    }
}
