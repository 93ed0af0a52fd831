//! HTTP over plain sockets, for scripted servers: no server library would cut a reply in the middle.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Message {
    /// The method.
    // Not every kind of test asks for it.
    #[allow(dead_code)]
    pub method: String,
    /// The path, with the query.
    pub path: String,
    /// The header lines.
    pub headers: Vec<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Message {
    /// Reads one; `None` when the other side went away.
    pub fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_string())
        };
        let first = line()?;
        let mut words = first.split(' ').map(str::to_string);
        let (method, path) = (words.next()?, words.next()?);
        let mut headers = Vec::new();
        loop {
            let header = line()?;
            if header.is_empty() {
                break;
            }
            headers.push(header);
        }
        let mut message = Message { method, path, headers, body: Vec::new() };
        let length = message.header("content-length").map_or(Some(0), |length| length.parse().ok())?;
        message.body = vec![0; length];
        reader.read_exact(&mut message.body).ok()?;
        Some(message)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.headers.iter().filter_map(|line| line.split_once(':'));
        pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }
}

/// Listens on a free port and gives every connection to `serve`, each in a thread. It ends with the test process: a thread that
/// waits for connections holds nothing that matters.
pub fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let serve = std::sync::Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// The head of a response whose body has `length` bytes, with one more header line or none.
pub fn head(status: u16, header: &str, length: usize) -> String {
    let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
    format!("HTTP/1.1 {status} Scripted\r\nConnection: close\r\nContent-Length: {length}\r\n{header}\r\n")
}

/// Writes a response that says it has `length` bytes.
pub fn respond(mut stream: &TcpStream, status: u16, header: &str, body: &str, length: usize) {
    // Whoever asked may be dead by now.
    let _ = stream.write_all(format!("{}{body}", head(status, header, length)).as_bytes());
}
