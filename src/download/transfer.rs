//! One file over HTTP, continued where an earlier attempt stopped.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, SystemTime};

use ragstage_stages::model::retry_after;
use ureq::Agent;
use ureq::http::{HeaderMap, Response, header};

use super::fetch_error::{FetchError, FetchErrorKind};
use super::files::with_suffix;
use super::notice::Notice;

/// Attempts in a row that bring nothing before it is given up.
const ATTEMPTS: u32 = 4;
/// The pause after the first failed attempt; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause that a server may ask for; it is a person who waits.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A connection on which nothing arrives for so long is given up; the HTTP client knows only limits on the whole reply.
const PATIENCE: Duration = Duration::from_secs(60);
const BUFFER: usize = 1 << 16;
/// Buffers that may wait to be written.
const WAITING: usize = 8;

/// A file that is downloaded into `part`.
pub(crate) struct Transfer<'a> {
    /// Where it is.
    pub url: &'a str,
    /// What is there of it so far; a file beside it tells which version of the file that is.
    pub part: &'a Path,
    /// Its size, where it is pinned: then a part is worth continuing even if the server tells no version.
    pub bytes: Option<u64>,
    /// How long nothing may arrive before the connection counts as broken.
    patience: Duration,
}

impl<'a> Transfer<'a> {
    /// A file of `bytes` bytes, where that is pinned, at `url`.
    pub(crate) fn new(url: &'a str, part: &'a Path, bytes: Option<u64>) -> Self {
        Transfer { url, part, bytes, patience: PATIENCE }
    }

    /// Downloads what is missing, in several attempts if need be. The part stays when all fail.
    ///
    /// # Errors
    /// When the server refuses, has no such file, or cannot be reached, or the part cannot be written.
    pub(crate) fn run(&self, agent: &Agent, notice: &dyn Fn(Notice<'_>)) -> Result<(), FetchError> {
        let mut failed = 0;
        loop {
            let before = self.have();
            match self.attempt(agent, notice) {
                Err(error) if error.is_passing() => {
                    failed = if self.have() > before { 1 } else { failed + 1 };
                    let asked = error.retry_after_s();
                    if failed >= ATTEMPTS || asked.is_some_and(|seconds| seconds > LONGEST_PAUSE.as_secs()) {
                        return Err(error);
                    }
                    notice(Notice::Retrying { why: &error, after_s: asked });
                    std::thread::sleep(asked.map_or(PAUSE * 2u32.pow(failed - 1), Duration::from_secs));
                }
                outcome => return outcome,
            }
        }
    }

    /// Forgets what is there.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub(crate) fn forget(&self) -> Result<(), FetchError> {
        for path in [self.part.to_path_buf(), self.version_file()] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(FetchError::io("delete", &path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn attempt(&self, agent: &Agent, notice: &dyn Fn(Notice<'_>)) -> Result<(), FetchError> {
        let version = self.version();
        if version.is_none() && self.bytes.is_none() {
            self.forget()?;
        }
        let have = self.have();
        if self.bytes == Some(have) {
            return Ok(());
        }
        let mut request = agent.get(self.url).header(header::ACCEPT_ENCODING, "identity");
        if have > 0 {
            request = request.header(header::RANGE, format!("bytes={have}-"));
            if let Some(version) = &version {
                request = request.header(header::IF_RANGE, version);
            }
        }
        let response = request.call().map_err(|error| self.connection(error))?;
        let start = match response.status().as_u16() {
            200 => 0,
            206 if range_start(response.headers()) == Some(have) => have,
            206 | 416 => {
                // The part is longer than the file, or the server sends what nobody asked for: from the start, then.
                self.forget()?;
                return Err(self.fault(FetchErrorKind::Status { status: 416, retry_after_s: None }));
            }
            404 | 410 => return Err(self.fault(FetchErrorKind::NotThere)),
            status => {
                let retry_after_s = retry_after(response.headers(), SystemTime::now());
                return Err(self.fault(FetchErrorKind::Status { status, retry_after_s }));
            }
        };
        self.remember(&response)?;
        let size = length(response.headers()).map(|rest| rest + start);
        notice(Notice::Receiving { have: start, size });
        let io = |error| FetchError::io("write", self.part, error);
        let mut file = OpenOptions::new().create(true).append(true).open(self.part).map_err(io)?;
        file.set_len(start).map_err(io)?;
        self.receive(response, &mut file, start, notice)?;
        file.sync_all().map_err(io)?;
        match size {
            Some(size) if self.have() < size => Err(self
                .fault(FetchErrorKind::Connection(format!("the reply ended after {} of {size} bytes", self.have())))),
            _ => Ok(()),
        }
    }

    fn receive(
        &self,
        response: Response<ureq::Body>,
        file: &mut File,
        start: u64,
        notice: &dyn Fn(Notice<'_>),
    ) -> Result<(), FetchError> {
        let (sender, arriving) = sync_channel(WAITING);
        let mut reader = response.into_body().into_reader();
        // Ends with its connection, or when nobody takes what it reads any more.
        std::thread::spawn(move || {
            loop {
                let mut buffer = vec![0; BUFFER];
                let read = reader.read(&mut buffer).map(|read| {
                    buffer.truncate(read);
                    buffer
                });
                let is_last = read.as_ref().map_or(true, Vec::is_empty);
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        let mut have = start;
        loop {
            let bytes = match arriving.recv_timeout(self.patience) {
                Ok(read) => read.map_err(|error| self.connection(error.into()))?,
                Err(_) => {
                    let why = format!("nothing arrived for {} s", self.patience.as_secs_f64());
                    return Err(self.fault(FetchErrorKind::Connection(why)));
                }
            };
            if bytes.is_empty() {
                return Ok(());
            }
            file.write_all(&bytes).map_err(|error| FetchError::io("write", self.part, error))?;
            have += bytes.len() as u64;
            notice(Notice::Bytes(bytes.len() as u64));
            if let Some(size) = self.bytes.filter(|size| have > *size) {
                self.forget()?;
                return Err(self
                    .fault(FetchErrorKind::Mismatch { expected: format!("{size} bytes"), found: "more".to_string() }));
            }
        }
    }

    fn have(&self) -> u64 {
        std::fs::metadata(self.part).map_or(0, |found| found.len())
    }

    fn version_file(&self) -> PathBuf {
        with_suffix(self.part, ".version")
    }

    /// The version of the file that the part is of, if it came from this URL.
    fn version(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.version_file()).ok()?;
        let (url, version) = text.split_once('\n')?;
        (url == self.url && !version.is_empty()).then(|| version.to_string())
    }

    /// Keeps what tells the file's versions apart: a strong entity tag, else the time of its last change (RFC 9110, 13.1.5).
    fn remember(&self, response: &Response<ureq::Body>) -> Result<(), FetchError> {
        let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let tag = text(header::ETAG).filter(|tag| tag.starts_with('"'));
        let version = tag.or_else(|| text(header::LAST_MODIFIED)).unwrap_or_default();
        let path = self.version_file();
        std::fs::write(&path, format!("{}\n{version}", self.url)).map_err(|error| FetchError::io("write", &path, error))
    }

    fn connection(&self, error: ureq::Error) -> FetchError {
        self.fault(FetchErrorKind::Connection(error.to_string()))
    }

    fn fault(&self, kind: FetchErrorKind) -> FetchError {
        FetchError { operation: "download", place: self.url.to_string(), kind }
    }
}

/// The first byte of `Content-Range: bytes 5-9/10`.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::agent::agent;
    use super::*;

    #[test]
    fn a_connection_on_which_nothing_arrives_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/file", listener.local_addr().expect("an address"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut request = [0; 1024];
            let _ = stream.read(&mut request);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst").expect("half a reply");
            stream
        });
        let folder = tempfile::tempdir().expect("a folder");
        let part = folder.path().join("part");
        let transfer = Transfer { patience: Duration::from_millis(200), ..Transfer::new(&url, &part, None) };
        let error = transfer.attempt(&agent(), &|_| {}).expect_err("given up");
        assert_eq!(error.to_string(), format!("cannot download {url}: nothing arrived for 0.2 s"));
        assert!(error.is_passing(), "and tried again");
        assert_eq!(std::fs::read(&part).expect("what arrived"), b"first");
        drop(server.join());
    }
}
