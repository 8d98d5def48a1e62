//! A client's socket: a client that stops reading is dropped, and hyper's bare errors get the API's error body.

use super::tls::Stream;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A client that accepts no byte of its answer for this long is dropped.
const WRITE_TIMEOUT: Duration = Duration::from_secs(8);
/// After an answer of the socket's own, the client has this long to read it and close.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);
/// Most bytes read and discarded during a lingering close.
const MAX_DISCARDED_BYTES: usize = 1024 * 1024;

/// The answers that hyper makes itself, all without a body: how they begin, status, reason, message.
const BARE_ANSWERS: [(&[u8], u16, &str, &str); 3] = [
    (b"HTTP/1.1 400 ", 400, "Bad Request", "this is not an HTTP request that can be read"),
    (b"HTTP/1.1 414 ", 414, "URI Too Long", "the target of the request is too long"),
    (b"HTTP/1.1 431 ", 431, "Request Header Fields Too Large", "the head of the request is too large"),
];

pub(super) struct Socket {
    stream: Stream,
    docs_url: Arc<str>,
    /// Runs while a write waits.
    write_timeout: Option<Pin<Box<Sleep>>>,
    /// An answer of the socket's own, and the number of its bytes sent.
    substitute: Option<(Vec<u8>, usize)>,
    /// Set with such an answer: closing while the client still sends would discard the answer.
    lingering: Option<Lingering>,
}

/// A lingering close: reads until the client closes.
struct Lingering {
    until: Pin<Box<Sleep>>,
    discarded: usize,
}

impl Socket {
    pub(super) fn new(stream: Stream, docs_url: Arc<str>) -> Self {
        Self { stream, docs_url, write_timeout: None, substitute: None, lingering: None }
    }

    /// Sends an answer without reading a request, and closes.
    pub(super) async fn answer_and_close(stream: Stream, answer: Vec<u8>) -> Result<()> {
        let mut socket = Self::new(stream, "".into());
        socket.send_instead(answer);
        socket.shutdown().await
    }

    /// The result of a write; an error once it has waited for [`WRITE_TIMEOUT`].
    fn with_write_timeout<T>(&mut self, cx: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.write_timeout = None;
            return written;
        }
        let timeout = self.write_timeout.get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        match timeout.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client reads nothing"))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_substitute(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some((answer, sent)) = &mut self.substitute {
            if *sent == answer.len() {
                self.substitute = None;
                break;
            }
            let written = Pin::new(&mut self.stream).poll_write(cx, &answer[*sent..]);
            if let Poll::Ready(Ok(count)) = &written {
                *sent += count;
            }
            if ready!(self.with_write_timeout(cx, written))? == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Whether these bytes are a bare answer. They then count as written, and the next flush sends the substitute.
    fn replace_bare(&mut self, bytes: &[u8]) -> bool {
        let better = better_answer(bytes, &self.docs_url);
        let is_bare = better.is_some();
        if let Some(answer) = better {
            self.send_instead(answer);
        }
        is_bare
    }

    fn send_instead(&mut self, answer: Vec<u8>) {
        self.substitute = Some((answer, 0));
        self.lingering = Some(Lingering { until: Box::pin(sleep(LINGER_TIMEOUT)), discarded: 0 });
    }

    /// Reads and discards until the client closes, or one of the limits is reached.
    fn poll_lingering_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Some(lingering) = &mut self.lingering else { return Poll::Ready(Ok(())) };
        let mut space = [0; 4096];
        while lingering.discarded < MAX_DISCARDED_BYTES {
            let mut rest = ReadBuf::new(&mut space);
            match Pin::new(&mut self.stream).poll_read(cx, &mut rest) {
                Poll::Ready(Ok(())) if !rest.filled().is_empty() => {
                    lingering.discarded += rest.filled().len();
                }
                Poll::Ready(_) => break,
                Poll::Pending => return lingering.until.as_mut().poll(cx).map(Ok),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// The answer to send instead of a bare one of hyper; `None` for any other bytes.
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
        ready!(self.poll_substitute(cx))?;
        if self.replace_bare(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.with_write_timeout(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        ready!(self.poll_substitute(cx))?;
        if let [only] = pieces
            && self.replace_bare(only)
        {
            return Poll::Ready(Ok(only.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.with_write_timeout(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_substitute(cx))?;
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.with_write_timeout(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_substitute(cx))?;
        let ended = Pin::new(&mut self.stream).poll_shutdown(cx);
        ready!(self.with_write_timeout(cx, ended))?;
        self.poll_lingering_close(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_answers_of_hyper_are_replaced() {
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
