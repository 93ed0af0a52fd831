//! A server of files that may refuse, cut, hold back and miscount its replies, and may know ranges. It is plain sockets, since no
//! server library would cut a reply in the middle.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// How the server behaves.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Whether it honours `Range`.
    pub ranges: bool,
    /// How many replies with a body are cut in the middle, first ones first.
    pub cuts: usize,
    /// The status of replies, where it is not what it should be.
    pub status: Option<u16>,
    /// How many replies have that status, first ones first.
    pub refusals: usize,
    /// The seconds that such a reply asks to wait.
    pub retry_after: Option<u64>,
    /// How many bytes more than there are a reply says that it has.
    pub lie: i64,
    /// Whether replies with a body stop in the middle, until the server behaves otherwise.
    pub holds: bool,
}

/// A server that does what it should.
pub const ORDERLY: Manner =
    Manner { ranges: true, cuts: 0, status: None, refusals: usize::MAX, retry_after: None, lie: 0, holds: false };

struct Shared {
    files: BTreeMap<String, Vec<u8>>,
    manner: Mutex<Manner>,
    changed: Condvar,
    asked: Mutex<Vec<String>>,
}

/// The running server. It is also a proxy that has all files itself, whatever host is asked for.
pub struct FileServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl FileServer {
    /// Serves `files` below `/base/`.
    pub fn new(files: &[(&str, Vec<u8>)], manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let files = files.iter().map(|(name, bytes)| (format!("/base/{name}"), bytes.clone())).collect();
        let shared =
            Arc::new(Shared { files, manner: Mutex::new(manner), changed: Condvar::new(), asked: Mutex::default() });
        let served = shared.clone();
        // Ends with the test process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = served.clone();
                std::thread::spawn(move || {
                    // Whoever asked may be dead by now.
                    let _ = serve(stream, &served);
                });
            }
        });
        FileServer { address, shared }
    }

    /// The server's own URL.
    pub fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The URL that the files are below.
    pub fn url(&self) -> String {
        format!("{}/base", self.root())
    }

    /// Behaves in another manner from now on.
    pub fn behave(&self, manner: Manner) {
        *self.shared.manner.lock().unwrap_or_else(PoisonError::into_inner) = manner;
        self.shared.changed.notify_all();
    }

    /// What was asked for since the last call: the file, then its range where one was given, in order.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The path and the headers of a request.
type Request = (String, BTreeMap<String, String>);

fn read(reader: &mut impl BufRead) -> std::io::Result<Request> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_string();
    let method = line.split(' ').next().unwrap_or_default().to_string();
    let mut headers = BTreeMap::from([("method".to_string(), method)]);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { return Ok((path, headers)) };
        headers.insert(name.to_ascii_lowercase(), value.to_string());
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut path, mut headers) = read(&mut reader)?;
    if headers["method"] == "CONNECT" {
        log(shared, format!("CONNECT {path}"));
        write!(stream, "HTTP/1.1 200 Connected\r\n\r\n")?;
        (path, headers) = read(&mut reader)?;
    } else if let Some((host, below)) = path.strip_prefix("http://").and_then(|rest| rest.split_once('/')) {
        log(shared, format!("proxy for {host}"));
        path = format!("/{below}");
    }
    let range = headers.get("range").cloned();
    let told = path.strip_prefix("/base/").unwrap_or(&path).to_string();
    log(shared, range.as_ref().map_or(told.clone(), |range| format!("{told} {range}")));
    let (manner, is_refused, is_cut) = {
        let mut manner = shared.manner.lock().unwrap_or_else(PoisonError::into_inner);
        let is_refused = manner.status.is_some() && manner.refusals > 0;
        let is_cut = !is_refused && shared.files.contains_key(&path) && manner.cuts > 0;
        manner.refusals -= usize::from(is_refused);
        manner.cuts -= usize::from(is_cut);
        (*manner, is_refused, is_cut)
    };
    let Some(bytes) = shared.files.get(&path).filter(|_| !is_refused) else {
        let status = manner.status.filter(|_| is_refused).unwrap_or(404);
        let wait = manner.retry_after.map(|wait| format!("Retry-After: {wait}\r\n")).unwrap_or_default();
        return write!(stream, "HTTP/1.1 {status} No\r\n{wait}Content-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let tag = format!("\"{}\"", bytes.len());
    let start = range
        .filter(|_| manner.ranges && headers.get("if-range").is_none_or(|given| *given == tag))
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let body = bytes.get(start.unwrap_or(0)..).unwrap_or_default();
    match start {
        Some(start) => {
            write!(stream, "HTTP/1.1 206 Part\r\nContent-Range: bytes {start}-{}/{0}\r\n", bytes.len())?;
        }
        None => write!(stream, "HTTP/1.1 200 OK\r\n")?,
    }
    let length = (body.len() as i64 + manner.lie).max(0);
    write!(stream, "ETag: {tag}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    let (first, second) = body.split_at(body.len() / 2);
    if is_cut {
        return stream.write_all(first);
    }
    if manner.holds {
        stream.write_all(first)?;
        let manner = shared.manner.lock().unwrap_or_else(PoisonError::into_inner);
        let _released = shared.changed.wait_while(manner, |manner| manner.holds);
        return stream.write_all(second);
    }
    stream.write_all(body)
}

fn log(shared: &Shared, what: String) {
    shared.asked.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}
