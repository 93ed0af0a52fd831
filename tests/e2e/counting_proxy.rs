//! A proxy before a real server that counts what goes through: whether a warm run asks nothing is seen at the server's door.

// Real servers are not there in every test run.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use super::wire::{Message, listen, respond};

/// The running proxy.
pub struct CountingProxy {
    address: SocketAddr,
    /// The path of the server's base URL.
    path: String,
    passed: Arc<Mutex<Vec<String>>>,
}

impl CountingProxy {
    /// A proxy before the server at `base_url`, `http://host:port/v1` or without a path.
    pub fn before(base_url: &str) -> Self {
        let rest = base_url.strip_prefix("http://").expect("a base URL");
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let passed: Arc<Mutex<Vec<String>>> = Arc::default();
        let (log, server) = (passed.clone(), host.to_string());
        let address = listen(move |stream| {
            let Some(message) = Message::read(&stream) else { return };
            log.lock().unwrap_or_else(PoisonError::into_inner).push(message.path.clone());
            if pass_on(&stream, &message, &server).is_none() {
                respond(&stream, 502, "", "the server is gone", 18);
            }
        });
        CountingProxy { address, path: path.trim_end_matches('/').to_string(), passed }
    }

    /// The base URL to ask instead of the server's.
    pub fn base_url(&self) -> String {
        format!("http://{}/{}", self.address, self.path).trim_end_matches('/').to_string()
    }

    /// How many requests went through.
    pub fn count(&self) -> usize {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The paths of the requests since this was last asked, which are counted no more.
    pub fn drain(&self) -> Vec<String> {
        std::mem::take(&mut *self.passed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The paths of the requests, in the order in which they came.
    pub fn paths(&self) -> Vec<String> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sends a request to the server and its response back; `None` where the server could not be asked.
fn pass_on(mut client: &TcpStream, message: &Message, server: &str) -> Option<()> {
    let mut upstream = TcpStream::connect(server).ok()?;
    let own = ["host", "connection", "content-length"];
    let kept = message.headers.iter().filter(|line| {
        let name = line.split(':').next().unwrap_or_default();
        !own.contains(&name.to_ascii_lowercase().as_str())
    });
    let mut head = format!("{} {} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n", message.method, message.path);
    head.extend(kept.map(|line| format!("{line}\r\n")));
    head.push_str(&format!("Content-Length: {}\r\n\r\n", message.body.len()));
    upstream.write_all(head.as_bytes()).and_then(|()| upstream.write_all(&message.body)).ok()?;
    let mut response = Vec::new();
    upstream.read_to_end(&mut response).ok()?;
    // Whoever asked may be dead by now.
    let _ = client.write_all(&response);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::model_server::{Act, ModelServer};
    use super::*;

    #[test]
    fn what_is_passed_on_is_counted_and_changed_in_nothing() {
        let server = ModelServer::new(|request| match request.number {
            1 => Act::Answer,
            _ => Act::Status(400, "X-Why: lamps", "no lamps today".to_string()),
        });
        let proxy = CountingProxy::before(&server.base_url());
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
        let mut statuses = Vec::new();
        for _ in 0..2 {
            let request = agent.post(format!("{}/embeddings", proxy.base_url())).header("Authorization", "Bearer k");
            let mut response = request.send(r#"{"input": ["a lamp"]}"#).expect("a response");
            statuses.push((response.status().as_u16(), response.body_mut().read_to_string().expect("a body")));
        }
        let asked = server.requests("embeddings");
        assert_eq!(asked[0].authorization.as_deref(), Some("Bearer k"));
        assert_eq!(statuses, [(200, asked[0].answer().to_string()), (400, "no lamps today".to_string())]);
        assert_eq!((proxy.count(), proxy.paths()), (2, vec!["/v1/embeddings".to_string(); 2]));
    }
}
