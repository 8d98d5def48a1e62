//! Whether plain http answers at an https address: a server without TLS may wait in silence for the rest of what it takes for a request.

use reqwest::Url;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Longest silence of a server before it is asked whether it speaks plain http.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// Asks in plain http, with nothing of a call. A server with TLS answers that with 400, or not at all.
pub(super) async fn is_plain_http(base: &Url) -> bool {
    let Some((host, port)) = base.host_str().zip(base.port_or_known_default()) else { return false };
    let host = host.trim_matches(['[', ']']).to_owned();
    let asked = tokio::task::spawn_blocking(move || ask(&host, port)).await;
    matches!(asked, Ok(Ok(head)) if head.starts_with(b"HTTP/1.") && !head.ends_with(b"400"))
}

/// The first bytes of an answer, up to its status.
fn ask(host: &str, port: u16) -> io::Result<[u8; 12]> {
    let address = (host, port).to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
    let mut stream = TcpStream::connect_timeout(&address, SILENCE)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.write_all(
        format!("GET / HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    /// A server of one plain request, which it answers with a status.
    async fn asked(status: &'static str) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("https://{}", listener.local_addr().expect("an address"));
        let server = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a caller");
            let lines = BufReader::new(&stream).lines().map(|line| line.expect("a request"));
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            (&stream).write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes()).expect("a reader");
        });
        let found = is_plain_http(&Url::parse(&base).expect("an address")).await;
        server.join().expect("a server");
        found
    }

    #[tokio::test]
    async fn a_server_that_refuses_plain_http_has_tls() {
        assert!(asked("404 Not Found").await);
        assert!(!asked("400 Bad Request").await);
        assert!(!is_plain_http(&Url::parse("https://127.0.0.1:9").expect("an address")).await);
    }
}
