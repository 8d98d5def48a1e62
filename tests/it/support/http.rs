//! The smallest HTTP client: one request, one connection, nothing rewritten on the way.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer as it came.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }
}

/// Sends a request without a body.
pub(crate) fn send(
    to: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> std::io::Result<Answer> {
    exchange(to, method, target, headers, None)
}

/// Sends a request.
pub(crate) fn exchange(
    to: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: Option<&[u8]>,
) -> std::io::Result<Answer> {
    let mut connection = Connection::open(to)?;
    let mut head = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {to}\r\n"));
    }
    if let Some(body) = body {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    connection.write(&[head.as_bytes(), body.unwrap_or_default()].concat())?;
    read_answer(&mut connection.stream, method == "HEAD")
}

/// A connection that is kept for one request after another.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn open(to: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(to)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Reads the next answer; one without a length ends with the connection.
    pub(crate) fn answer(&mut self) -> std::io::Result<Answer> {
        read_answer(&mut self.stream, false)
    }

    /// GET with a key, the connection left open.
    pub(crate) fn get(&mut self, target: &str, key: &str) -> std::io::Result<Answer> {
        self.write(
            format!("GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n").as_bytes(),
        )?;
        self.answer()
    }

    /// Reads until the other side closes; the bytes that came.
    pub(crate) fn rest(&mut self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).map(|_| bytes)
    }
}

fn read_answer(stream: &mut BufReader<TcpStream>, is_head: bool) -> std::io::Result<Answer> {
    let broken = || std::io::Error::other("not an HTTP answer");
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or_else(broken)?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut answer = Answer { status, headers, body: Vec::new() };
    if is_head {
        return Ok(answer);
    }
    match answer.header("content-length").and_then(|text| text.parse().ok()) {
        Some(length) => {
            answer.body = vec![0; length];
            stream.read_exact(&mut answer.body)?;
        }
        None => {
            stream.read_to_end(&mut answer.body)?;
        }
    }
    Ok(answer)
}
