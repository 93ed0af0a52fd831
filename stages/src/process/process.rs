//! One process that reads requests and writes replies, a line each.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::launch::{Launch, end_group};
use super::processes::Pairing;
use crate::error::{RowError, RowErrorKind};
use crate::model::json_reply::{bad_reply, describe, excerpt, json};

/// A longer line is taken for no reply, so that a process that never stops costs no memory.
const LONGEST_LINE: u64 = 64 << 20;
/// How much of the end of its standard error is quoted when a process ends.
const STDERR_BYTES: usize = 2000;
/// How long the last words and the exit status of a process that closed its output are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long a process's first reply is held back, for a line too many that follows at once. This is no proof: it only keeps
/// a process that always writes too much from having any reply kept, and from having the case after blamed for it.
const SETTLING: Duration = Duration::from_millis(100);
/// The field that pairs a reply with its request.
const ID: &str = "id";
/// The field of the line by which a process greets.
const READY: &str = "ready";

/// A line that a process wrote.
struct Line {
    /// What is before its end; nothing where that was too long to be kept.
    bytes: Option<Vec<u8>>,
    /// Whether the next line was there with it.
    followed: bool,
}

/// Why a request has no reply.
pub(super) enum Fault {
    /// For a reason of its own.
    Own(RowError),
    /// Since the process wrote more than one line for an earlier request: it is of no use any more, and this request is to be
    /// asked of another.
    Earlier(RowError),
}

impl From<RowError> for Fault {
    fn from(error: RowError) -> Self {
        Fault::Own(error)
    }
}

/// A running process with its pipes, each served by a thread of its own so that no call waits longer than it may.
pub(super) struct Process {
    child: Child,
    /// Whether the process and its group were killed and reaped; their number may be somebody else's by now.
    over: bool,
    /// None once its input is closed.
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<Line>,
    stderr: Receiver<String>,
    program: String,
    /// How many requests it got.
    asked: u64,
    /// Whether it has to repeat a request's id: it did so before, or must from the start.
    repeats_ids: bool,
    /// Whether its next reply is held back for [`SETTLING`], with an id or without.
    settles: bool,
    /// Whether it gave a reply that no id and nothing else has proved to belong to its request.
    unproved: bool,
    doubt: Option<String>,
}

impl Process {
    /// Starts what `launch` says.
    pub(super) fn start(launch: &Launch, pairing: Pairing) -> Result<Self, RowError> {
        let program = launch.program().to_string();
        let failed = |why: String| RowError::new(RowErrorKind::Process, format!("cannot start {program:?}: {why}"));
        let mut child = launch.start(Stdio::piped()).map_err(|error| failed(error.to_string()))?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            end_group(&mut child);
            return Err(failed("it has no pipes".to_string()));
        };
        let (requests, to_write) = channel();
        let (read, replies) = sync_channel(1);
        let (last, words) = channel();
        thread::spawn(move || write_lines(stdin, &to_write));
        thread::spawn(move || read_lines(stdout, &read));
        thread::spawn(move || last.send(tail(stderr)));
        Ok(Process {
            child,
            over: false,
            requests: Some(requests),
            replies,
            stderr: words,
            program,
            asked: 0,
            repeats_ids: pairing == Pairing::ById,
            settles: pairing == Pairing::ById,
            unproved: false,
            doubt: None,
        })
    }

    /// Whether it has not ended.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for the line by which a process that greets says that it is ready.
    pub(super) fn greeting(&mut self, timeout: Duration) -> Result<(), RowError> {
        match self.line(timeout)? {
            Line { bytes: Some(line), .. } if json(&line)?.get(READY) == Some(&Value::Bool(true)) => Ok(()),
            line => Err(self.unasked(line)),
        }
    }

    /// The next line that it writes.
    fn line(&mut self, timeout: Duration) -> Result<Line, RowError> {
        match self.replies.recv_timeout(timeout) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Err(RowError::new(
                RowErrorKind::Timeout,
                format!("no reply of {:?} within {} s", self.program, timeout.as_secs_f64()),
            )),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// Sends the request that `body` makes for a request number, and waits for the reply. After an error the process is of no
    /// use any more.
    pub(super) fn ask(
        &mut self,
        body: &dyn Fn(u64) -> Result<Vec<u8>, RowError>,
        timeout: Duration,
    ) -> Result<Value, Fault> {
        match self.replies.try_recv() {
            Ok(line) => return Err(self.left_over(line)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Err(self.ended().into()),
        }
        self.asked += 1;
        let mut line = body(self.asked)?;
        line.push(b'\n');
        if self.requests.as_ref().is_none_or(|requests| requests.send(line).is_err()) {
            return Err(self.ended().into());
        }
        match self.line(timeout)? {
            Line { bytes: Some(line), followed } => self.paired(json(&line)?, followed),
            Line { bytes: None, .. } => {
                Err(bad_reply(format!("{:?} wrote a line of more than {LONGEST_LINE} bytes", self.program)).into())
            }
        }
    }

    /// Why earlier replies of this process may belong to other requests, once that is known.
    pub(super) fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// Tells the process that nothing more is asked.
    pub(super) fn close_input(&mut self) {
        self.requests = None;
    }

    /// Whether it may have written a line too many, which only the end of its output tells.
    pub(super) fn is_unproved(&self) -> bool {
        self.unproved
    }

    /// Waits, for `wait` at most, until its output ends, and doubts its replies if there is one more line.
    pub(super) fn prove(&mut self, wait: Duration) {
        if let Ok(line) = self.replies.recv_timeout(wait) {
            self.unasked(line);
        }
    }

    /// The reply without its id, if that allows it to be the one to the last request. A line that `followed` it at once
    /// leaves open which of the two is.
    fn paired(&mut self, mut reply: Value, followed: bool) -> Result<Value, Fault> {
        let id = reply.as_object_mut().and_then(|fields| fields.remove(ID)).filter(|id| !id.is_null());
        let with_id = id.is_some();
        match id {
            None if self.repeats_ids => {
                return Err(bad_reply(format!("{ID}: expected {} as in the request, found nothing", self.asked)).into());
            }
            None => self.settles |= !self.unproved,
            Some(id) if id == self.asked => {
                // There were as many lines as requests up to here, so the earlier ones are in step, too.
                self.repeats_ids = true;
                self.unproved = false;
            }
            Some(id) => {
                let why = format!("{ID}: expected {} as in the request, found {}", self.asked, describe(&id));
                self.doubt_replies(&why);
                let error = bad_reply(why);
                // Whatever was asked earlier had its reply.
                let earlier = self.repeats_ids && id.as_u64().is_some_and(|id| (1..self.asked).contains(&id));
                return Err(if earlier { Fault::Earlier(error) } else { Fault::Own(error) });
            }
        }
        let wait = match (followed, std::mem::take(&mut self.settles)) {
            (true, _) => Some(LAST_WORDS),
            (false, true) => Some(SETTLING),
            (false, false) => None,
        };
        if let Some(line) = wait.and_then(|wait| self.replies.recv_timeout(wait).ok()) {
            return Err(self.unasked(line).into());
        }
        self.unproved |= !with_id;
        Ok(reply)
    }

    /// What `line` means, which was there before the next request was sent.
    fn left_over(&mut self, line: Line) -> Fault {
        match self.asked {
            0 => Fault::Own(self.unasked(line)),
            _ => Fault::Earlier(self.unasked(line)),
        }
    }

    fn unasked(&mut self, line: Line) -> RowError {
        let line = match line.bytes {
            Some(line) => excerpt(&String::from_utf8_lossy(&line)),
            None => format!("one of more than {LONGEST_LINE} bytes"),
        };
        let why = format!("{:?} wrote a line that nobody asked for: {line}", self.program);
        self.doubt_replies(&why);
        bad_reply(why)
    }

    fn doubt_replies(&mut self, why: &str) {
        if self.unproved {
            self.doubt = Some(why.to_string());
        }
    }

    /// How the process ended, with its last words.
    fn ended(&mut self) -> RowError {
        let status = self.status();
        self.end();
        let how = match status {
            Some(status) => format!("ended ({status})"),
            None => "closed its output".to_string(),
        };
        let words = self.last_words().unwrap_or_else(|| "nothing on its standard error".to_string());
        RowError::new(RowErrorKind::Process, format!("{:?} {how} without a reply; {words}", self.program))
    }

    /// Ends the process, and quotes the end of its standard error where there is one that was not quoted before.
    pub(super) fn last_words(&mut self) -> Option<String> {
        self.end();
        let words = self.stderr.recv_timeout(LAST_WORDS).unwrap_or_default();
        let words = words.trim();
        (!words.is_empty()).then(|| format!("its standard error ends with: {words}"))
    }

    /// Kills the process and what it started, and reaps it.
    fn end(&mut self) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        end_group(&mut self.child);
    }

    /// The exit status, which may follow the end of the output by a moment.
    fn status(&mut self) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if start.elapsed() < LAST_WORDS => thread::sleep(Duration::from_millis(5)),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Passes requests on until one cannot be written.
fn write_lines(mut stdin: ChildStdin, requests: &Receiver<Vec<u8>>) {
    while let Ok(line) = requests.recv() {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Passes lines on until there are no more or nobody wants them; a line without an end is none.
fn read_lines(stdout: ChildStdout, replies: &SyncSender<Line>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(_) if line.last() == Some(&b'\n') => {
                let followed = reader.buffer().contains(&b'\n');
                if replies.send(Line { bytes: Some(line), followed }).is_err() {
                    return;
                }
            }
            Ok(_) if line.len() as u64 == LONGEST_LINE => {
                // The rest could be read as lines of their own, so this is the last.
                let _ = replies.send(Line { bytes: None, followed: false });
                return;
            }
            _ => return,
        }
    }
}

/// Reads to the end and gives its last lines, whole ones only: half a secret could not be masked.
pub(super) fn tail(mut stderr: ChildStderr) -> String {
    let mut last = VecDeque::new();
    let mut cut = false;
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        last.extend(buffer.iter().take(count));
        let excess = last.len().saturating_sub(STDERR_BYTES);
        cut |= excess > 0;
        last.drain(..excess);
    }
    let text = String::from_utf8_lossy(last.make_contiguous()).into_owned();
    match text.split_once('\n') {
        Some((_, whole)) if cut => whole.to_string(),
        None if cut => String::new(),
        _ => text,
    }
}
