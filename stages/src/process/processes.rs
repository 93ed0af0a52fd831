//! As many processes of one program as there are calls at once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::launch::Launch;
use super::process::{Fault, Process};
use crate::error::{RowError, RowErrorKind};
use crate::model::json_reply::bad_reply;
use crate::model::secrets::Secrets;

/// How long processes may take to end after the end of their input, where only that proves their replies.
const FAREWELL: Duration = Duration::from_secs(2);

/// How replies are paired with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Every reply repeats the id of its request.
    ById,
    /// By the id where the process repeats it, else by their order.
    ByIdOrOrder,
}

/// Keeps as many processes as there are calls at once; each serves one call at a time. All end with this.
pub(crate) struct Processes {
    launch: Launch,
    pairing: Pairing,
    /// Whether each process first writes a line that says that it is ready.
    greets: bool,
    secrets: Secrets,
    idle: Mutex<Vec<Process>>,
    /// Why replies may belong to other requests.
    doubt: Mutex<Option<String>>,
}

impl Processes {
    /// Processes that are started as `launch` says, when they are needed. No reply may hold the value of one of its variables.
    pub(crate) fn new(launch: Launch, pairing: Pairing) -> Self {
        let secrets = Secrets::of(&launch.environment, &launch.variables);
        Processes { launch, pairing, greets: false, secrets, idle: Mutex::default(), doubt: Mutex::default() }
    }

    /// The same processes, each of which says that it is ready before it is asked: `{"ready": true}`, in a line of its own.
    pub(crate) fn that_greet(self) -> Self {
        Processes { greets: true, ..self }
    }

    /// Has one process wait for the first call, unless one does. One that greets has said that it is ready.
    ///
    /// # Errors
    /// `process` when it cannot be started, or ends before it is ready; `timeout` when it is not ready in time.
    pub(crate) fn ready(&self, timeout: Duration) -> Result<(), RowError> {
        let process = match self.waiting() {
            Some(process) => process,
            None => self.start(timeout).map_err(|error| self.masked(error))?,
        };
        locked(&self.idle).push(process);
        Ok(())
    }

    fn start(&self, timeout: Duration) -> Result<Process, RowError> {
        let mut process = Process::start(&self.launch, self.pairing)?;
        if self.greets {
            process.greeting(timeout)?;
        }
        Ok(process)
    }

    /// Asks once, in a process that is idle or a new one, and has `read` look at the reply. A process that was late, wrote
    /// what is no reply or ended is killed, for its next line could belong to an earlier request. One that wrote two lines
    /// for an earlier request is replaced: that is not the fault of this one.
    ///
    /// # Errors
    /// `timeout`; `process` with the end of its standard error when it cannot be started or ends; `bad_reply`; those of
    /// `body` and `read`.
    pub(crate) fn exchange<T>(
        &self,
        body: &dyn Fn(u64) -> Result<Vec<u8>, RowError>,
        timeout: Duration,
        read: impl FnOnce(Value) -> Result<T, RowError>,
    ) -> Result<T, RowError> {
        self.exchange_unmasked(body, timeout, read).map_err(|error| self.masked(error))
    }

    /// Ends all processes: each is told that nothing more is asked, and those that do not repeat ids are given a moment
    /// to show that they have nothing more to say.
    ///
    /// # Errors
    /// Why replies may belong to other requests, where a process wrote more lines than it was asked for.
    pub(crate) fn close(&self) -> Result<(), String> {
        let mut processes = std::mem::take(&mut *locked(&self.idle));
        processes.iter_mut().for_each(Process::close_input);
        let start = Instant::now();
        for mut process in processes.into_iter().filter(Process::is_unproved) {
            process.prove(FAREWELL.saturating_sub(start.elapsed()));
            self.doubt_as(&process);
        }
        match &*locked(&self.doubt) {
            None => Ok(()),
            Some(why) => Err(self.secrets.masked(why)),
        }
    }

    fn masked(&self, mut error: RowError) -> RowError {
        error.message = self.secrets.masked(&error.message);
        error
    }

    fn exchange_unmasked<T>(
        &self,
        body: &dyn Fn(u64) -> Result<Vec<u8>, RowError>,
        timeout: Duration,
        read: impl FnOnce(Value) -> Result<T, RowError>,
    ) -> Result<T, RowError> {
        if let Some(why) = &*locked(&self.doubt) {
            return Err(bad_reply(format!("not asked, for earlier replies are in doubt: {why}")));
        }
        let (mut process, asked) = loop {
            let mut process = match self.waiting() {
                Some(process) => process,
                None => self.start(timeout)?,
            };
            let asked = process.ask(body, timeout);
            self.doubt_as(&process);
            match asked {
                // A new process was asked nothing before, so that this ends.
                Err(Fault::Earlier(_)) if process.doubt().is_none() => {}
                Err(Fault::Earlier(error) | Fault::Own(error)) => break (process, Err(error)),
                Ok(reply) => break (process, Ok(reply)),
            }
        };
        let reply = asked.and_then(|reply| self.secrets.refuse_in(&reply).map(|()| reply)).and_then(read);
        match reply {
            Err(mut error) if of_the_process(error.kind) => {
                // One that ended has said its last words already.
                if self.pairing == Pairing::ById
                    && error.kind != RowErrorKind::Process
                    && let Some(words) = process.last_words()
                {
                    error.message = format!("{}; {words}", error.message);
                }
                Err(error)
            }
            reply => {
                locked(&self.idle).push(process);
                reply
            }
        }
    }

    /// An idle process. One that ended since its last reply is replaced: that is not the fault of the next request.
    fn waiting(&self) -> Option<Process> {
        loop {
            let mut process = locked(&self.idle).pop()?;
            if process.is_running() {
                return Some(process);
            }
            process.prove(FAREWELL);
            self.doubt_as(&process);
        }
    }

    fn doubt_as(&self, process: &Process) {
        if let Some(why) = process.doubt() {
            locked(&self.doubt).get_or_insert_with(|| why.to_string());
        }
    }
}

/// Whether a process is of no use any more after such a fault.
fn of_the_process(kind: RowErrorKind) -> bool {
    matches!(kind, RowErrorKind::BadReply | RowErrorKind::Timeout | RowErrorKind::Process)
}

/// A thread that panicked while holding one of these cannot have left it half changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an evaluator that is the shell script `script`, with the request's id in `$id`, replies to so many requests.
    fn replies(script: &str, requests: u64) -> Vec<Result<Value, RowError>> {
        let script = format!("while read -r id; do {script}; done");
        let launch = Launch {
            command: vec!["sh".to_string(), "-c".to_string(), script],
            directory: std::env::temp_dir(),
            environment: Vec::new(),
            variables: Vec::new(),
        };
        let processes = Processes::new(launch, Pairing::ById);
        let body = |id: u64| Ok(id.to_string().into_bytes());
        let ask = |_| processes.exchange(&body, Duration::from_secs(20), Ok);
        (0..requests).map(ask).collect()
    }

    /// Whether each of `replies` is blamed for a line too many; none has another fault.
    fn blamed(replies: &[Result<Value, RowError>]) -> Vec<bool> {
        let blamed = |reply: &Result<Value, RowError>| match reply {
            Ok(_) => false,
            Err(error) => {
                assert!(error.message.contains("wrote a line that nobody asked for: "), "{error}");
                true
            }
        };
        replies.iter().map(blamed).collect()
    }

    #[test]
    fn a_line_too_many_is_the_fault_of_the_request_that_it_follows() {
        let twice = r#"case $id in 3) printf '{"id":%s}\n{"id":%s}\n' $id $id;; *) echo "{\"id\":$id}";; esac"#;
        // The third of a process; the next one is the first of another.
        assert_eq!(blamed(&replies(twice, 5)), [false, false, true, false, false]);
        let always = r#"echo "{\"id\":$id}"; echo "{\"id\":$id}""#;
        assert_eq!(blamed(&replies(always, 3)), [true; 3]);
    }

    #[test]
    fn a_line_too_many_that_is_late_spoils_nothing() {
        let late = r#"echo "{\"id\":$id}"; if [ $id = 2 ]; then sleep 0.3; echo "{\"id\":$id}"; fi"#;
        assert_eq!(blamed(&replies(late, 4)), [false; 4]);
    }
}
