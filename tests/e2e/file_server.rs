//! A server of files that may cut its replies and may know ranges. It is plain sockets, since no server library would cut a
//! reply in the middle.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// How the server behaves.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Whether it honours `Range`.
    pub ranges: bool,
    /// How many replies with a body are cut in the middle, first ones first.
    pub cuts: usize,
    /// The status of every reply, where it is not what it should be.
    pub status: Option<u16>,
}

/// A server that does what it should.
pub const ORDERLY: Manner = Manner { ranges: true, cuts: 0, status: None };

struct Shared {
    files: BTreeMap<String, Vec<u8>>,
    manner: Mutex<Manner>,
    asked: Mutex<Vec<String>>,
}

/// The running server.
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
        let shared = Arc::new(Shared { files, manner: Mutex::new(manner), asked: Mutex::default() });
        let served = shared.clone();
        // Ends with the test process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = serve(stream, &served);
            }
        });
        FileServer { address, shared }
    }

    /// The URL that the files are below.
    pub fn url(&self) -> String {
        format!("http://{}/base", self.address)
    }

    /// Behaves in another manner from now on.
    pub fn behave(&self, manner: Manner) {
        *self.shared.manner.lock().unwrap_or_else(PoisonError::into_inner) = manner;
    }

    /// What was asked for since the last call: the file, then its range where one was given, in order.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_string();
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_string());
    }
    let range = headers.get("range").cloned();
    let told = path.strip_prefix("/base/").unwrap_or(&path).to_string();
    let told = range.as_ref().map_or(told.clone(), |range| format!("{told} {range}"));
    shared.asked.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    let mut manner = shared.manner.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = shared.files.get(&path).filter(|_| manner.status.is_none());
    let Some(bytes) = bytes else {
        let status = manner.status.unwrap_or(404);
        return write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let tag = format!("\"{}\"", bytes.len());
    let start = range
        .filter(|_| manner.ranges && headers.get("if-range").is_none_or(|given| *given == tag))
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let body = &bytes[start.unwrap_or(0)..];
    match start {
        Some(start) => {
            write!(stream, "HTTP/1.1 206 Part\r\nContent-Range: bytes {start}-{}/{0}\r\n", bytes.len())?;
        }
        None => write!(stream, "HTTP/1.1 200 OK\r\n")?,
    }
    write!(stream, "ETag: {tag}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    if manner.cuts > 0 {
        manner.cuts -= 1;
        return stream.write_all(&body[..body.len() / 2]);
    }
    stream.write_all(body)
}
