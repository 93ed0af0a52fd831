//! A program that is run to its end for what it prints.

use std::io::Read;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::launch::{Launch, end_group};
use super::process::tail;
use crate::model::secrets::Secrets;

/// How often a program that runs is looked after.
const GLANCE: Duration = Duration::from_millis(50);
/// How long the last words of a program that ended are waited for: what it started may hold its standard error open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long a program may run and how much it may print.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OutputLimits {
    /// From its start to its end.
    pub(crate) timeout: Duration,
    /// Bytes on its standard output.
    pub(crate) bytes: u64,
}

/// Why there is no output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputError {
    /// It could not be started.
    NotStarted(String),
    /// It ended badly, or was ended since it took too long or printed too much; with the end of its standard error.
    Failed(String),
    /// It was ended since the run is to stop.
    Stopped,
}

/// Runs the program that `launch` says until it ends, with nothing on its standard input, and gives all that it printed. `stop`
/// says when the run is to stop. No message holds a secret of `launch`.
///
/// # Errors
/// As [`OutputError`] says. An exit code other than 0 is one, whatever was printed.
pub(crate) fn output(launch: &Launch, limits: OutputLimits, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, OutputError> {
    let secrets = Secrets::of(&launch.environment, &launch.variables);
    let name = launch.program();
    let not_started = |why: String| OutputError::NotStarted(secrets.masked(&format!("cannot start {name:?}: {why}")));
    let mut child = launch.start(Stdio::null()).map_err(|error| not_started(error.to_string()))?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        end_group(&mut child);
        return Err(not_started("it has no pipes".to_string()));
    };
    let (send, printed) = channel();
    let (last, words) = channel();
    let most = limits.bytes;
    thread::spawn(move || send.send(read(stdout, most)));
    thread::spawn(move || last.send(tail(stderr)));
    let ended = run(&mut child, &printed, limits, stop);
    // What it started must not go on without it.
    end_group(&mut child);
    ended.map_err(|end| match end {
        End::Stopped => OutputError::Stopped,
        End::Failed(how) => {
            let words = words.recv_timeout(LAST_WORDS).unwrap_or_default();
            let words = match words.trim() {
                "" => "nothing is on its standard error".to_string(),
                words => format!("its standard error ends with: {words}"),
            };
            OutputError::Failed(secrets.masked(&format!("{name:?} {how}; {words}")))
        }
    })
}

/// Why a program did not come to a good end.
enum End {
    Stopped,
    Failed(String),
}

fn run(
    child: &mut Child,
    printed: &Receiver<Option<Vec<u8>>>,
    limits: OutputLimits,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>, End> {
    let start = Instant::now();
    let late = || {
        let seconds = limits.timeout.as_secs_f64();
        End::Failed(format!("did not end within {seconds} s"))
    };
    let mut output = None;
    loop {
        if stop() {
            return Err(End::Stopped);
        }
        let left = limits.timeout.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(late());
        }
        if output.is_none() {
            match printed.recv_timeout(GLANCE.min(left)) {
                Ok(Some(bytes)) => output = Some(bytes),
                Ok(None) => return Err(End::Failed(format!("printed more than {} bytes", limits.bytes))),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(End::Failed("printed what could not be read".to_string()));
                }
            }
        }
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(output.unwrap_or_default()),
            Ok(Some(status)) => return Err(End::Failed(ended(status))),
            Ok(None) => thread::sleep(GLANCE.min(left)),
            Err(error) => return Err(End::Failed(format!("could not be waited for: {error}"))),
        }
    }
}

/// How a program ended that did not end well.
fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => format!("was ended ({status})"),
    }
}

/// All that is printed, or nothing where that is more than `most` bytes.
fn read(stdout: ChildStdout, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // What cannot be read any more has ended; how, its exit status tells.
    let _ = stdout.take(most.saturating_add(1)).read_to_end(&mut bytes);
    (bytes.len() as u64 <= most).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(script: &str) -> Launch {
        Launch {
            command: ["sh", "-c", script].map(str::to_string).to_vec(),
            directory: ".".into(),
            environment: vec![("TOKEN".to_string(), "sk-12345678".to_string())],
            variables: vec![("TOKEN".to_string(), "sk-12345678".to_string())],
        }
    }

    fn run_for(script: &str, timeout: Duration, bytes: u64) -> Result<String, OutputError> {
        let output = output(&launch(script), OutputLimits { timeout, bytes }, &|| false)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn what_is_printed_is_given_whole() {
        assert_eq!(run_for("echo one; echo not this >&2; printf two; cat", MINUTE, 100).as_deref(), Ok("one\ntwo"));
        let long = run_for("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done", MINUTE, 1 << 20);
        assert_eq!(long.map(|text| text.len()), Ok(220_000));
    }

    #[test]
    fn bad_ends_are_told_with_the_last_words_and_without_secrets() {
        let failed = |script: &str| match run_for(script, MINUTE, 100) {
            Err(OutputError::Failed(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            failed("echo '{}'; echo bad key $TOKEN >&2; exit 7"),
            "\"sh\" ended with exit code 7; its standard error ends with: bad key ***"
        );
        assert_eq!(failed("exit 1"), "\"sh\" ended with exit code 1; nothing is on its standard error");
        assert!(failed("kill -9 $$").starts_with("\"sh\" was ended (signal: 9"));
        assert!(failed("yes").starts_with("\"sh\" printed more than 100 bytes"));
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        let script = format!("(sleep 2; touch {}) & echo waiting >&2; wait", mark.display());
        let late = run_for(&script, Duration::from_millis(300), 100);
        let why = "\"sh\" did not end within 0.3 s; its standard error ends with: waiting";
        assert_eq!(late, Err(OutputError::Failed(why.to_string())));
        thread::sleep(Duration::from_millis(2500));
        assert!(!mark.exists(), "its child went on");
    }

    #[test]
    fn a_run_that_is_to_stop_ends_it() {
        let limits = OutputLimits { timeout: MINUTE, bytes: 100 };
        assert_eq!(output(&launch("sleep 30"), limits, &|| true), Err(OutputError::Stopped));
        let missing = Launch { command: vec!["./no-such-program".to_string()], ..launch("") };
        let Err(OutputError::NotStarted(why)) = output(&missing, limits, &|| false) else { panic!("it started") };
        assert!(why.starts_with("cannot start \"./no-such-program\": "), "{why}");
    }
}
