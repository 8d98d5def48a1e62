//! A client's socket as the HTTP machine sees it: one that takes nothing for too long is dropped, and a request that
//! cannot be read is answered with the error body of every other error.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A client that takes no byte of its answer for so long is gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(8);

/// A client whose request could not be read has so long to read why.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(1);
/// So much of what such a client goes on sending is read and thrown away.
const MAX_WASTED_BYTES: usize = 1024 * 1024;

/// The answers that hyper makes by itself, all without a body, and what they mean.
const BARE_ANSWERS: [(&[u8], u16, &str, &str); 3] = [
    (b"HTTP/1.1 400 ", 400, "Bad Request", "this is not an HTTP request that can be read"),
    (b"HTTP/1.1 414 ", 414, "URI Too Long", "the target of the request is too long"),
    (b"HTTP/1.1 431 ", 431, "Request Header Fields Too Large", "the head of the request is too large"),
];

/// A client's socket.
pub(crate) struct Socket {
    stream: TcpStream,
    stalled: Option<Pin<Box<Sleep>>>,
    docs_url: String,
    /// An answer of our own in place of a bare one, and how much of it is out.
    instead: Option<(Vec<u8>, usize)>,
    /// Once there was such an answer: to close on what the client still sends would take the answer away.
    farewell: Option<Farewell>,
}

/// Waits for a client to go.
struct Farewell {
    until: Pin<Box<Sleep>>,
    wasted: usize,
}

impl Socket {
    /// A socket whose errors point at a reference.
    pub(crate) fn new(stream: TcpStream, docs_url: &str) -> Self {
        Self { stream, stalled: None, docs_url: docs_url.to_owned(), instead: None, farewell: None }
    }

    /// A write that waits is given up after a while.
    fn watched<T>(&mut self, cx: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client takes nothing"))),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Sends what stands in place of a bare answer.
    fn poll_instead(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some((answer, sent)) = &mut self.instead {
            if *sent == answer.len() {
                self.instead = None;
                break;
            }
            let written = Pin::new(&mut self.stream).poll_write(cx, &answer[*sent..]);
            if let Poll::Ready(Ok(count)) = &written {
                *sent += count;
            }
            if ready!(self.watched(cx, written))? == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Whether these bytes are a bare answer; they are then taken as written, and ours is sent at the next flush.
    fn replaces(&mut self, bytes: &[u8]) -> bool {
        self.instead = better_answer(bytes, &self.docs_url).map(|answer| (answer, 0));
        if self.instead.is_some() {
            self.farewell = Some(Farewell { until: Box::pin(sleep(FAREWELL_TIMEOUT)), wasted: 0 });
        }
        self.instead.is_some()
    }

    /// Reads and throws away until the client has gone, or has had its time.
    fn poll_farewell(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Some(farewell) = &mut self.farewell else { return Poll::Ready(Ok(())) };
        let mut space = [0; 4096];
        while farewell.wasted < MAX_WASTED_BYTES {
            let mut rest = ReadBuf::new(&mut space);
            match Pin::new(&mut self.stream).poll_read(cx, &mut rest) {
                Poll::Ready(Ok(())) if !rest.filled().is_empty() => farewell.wasted += rest.filled().len(),
                Poll::Ready(_) => break,
                Poll::Pending => return farewell.until.as_mut().poll(cx).map(Ok),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// What to send in place of an answer that hyper made by itself.
fn better_answer(bytes: &[u8], docs_url: &str) -> Option<Vec<u8>> {
    let (_, status, reason, message) = BARE_ANSWERS.into_iter().find(|(head, ..)| bytes.starts_with(head))?;
    let is_bare =
        bytes.ends_with(b"\r\n\r\n") && bytes.windows(21).any(|line| line == b"\r\ncontent-length: 0\r\n");
    let body =
        serde_json::json!({ "statusCode": status, "message": message, "docs_url": docs_url }).to_string();
    let length = body.len();
    is_bare.then(|| {
        format!(
            "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
             cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}"
        )
        .into_bytes()
    })
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        ready!(self.poll_instead(cx))?;
        if self.replaces(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watched(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        ready!(self.poll_instead(cx))?;
        if let [only] = pieces
            && self.replaces(only)
        {
            return Poll::Ready(Ok(only.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.watched(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_instead(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_instead(cx))?;
        ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        self.poll_farewell(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bare_answer_is_replaced() {
        let bare = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let better = String::from_utf8(better_answer(bare, "http://x/docs").expect("better")).expect("text");
        let (head, body) = better.split_once("\r\n\r\n").expect("head and body");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{better}");
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!((&body["statusCode"], &body["docs_url"]), (&400.into(), &"http://x/docs".into()));
        for other in [
            &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            b"{\"content-length: 0\"}",
        ] {
            assert_eq!(better_answer(other, ""), None);
        }
    }
}
