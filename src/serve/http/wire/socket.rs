//! A client's socket: a client that stops reading or writing is dropped, and hyper's bare errors get the API's error body.

use super::bare_answer::better_answer;
use super::tls::Stream;
use super::waiting::Signs;
use hyper::body::{Buf, Bytes};
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

/// Most bytes kept of what came last.
const MAX_KEPT_BYTES: usize = 4096;

pub(in crate::serve::http) struct Socket {
    stream: Stream,
    docs_url: Arc<str>,
    signs: Signs,
    /// The last bytes of a head, as far as they came at once: a bare answer does not say what it answers.
    request: Vec<u8>,
    /// Runs while a write waits.
    write_timeout: Option<Pin<Box<Sleep>>>,
    /// What is still to be sent of an answer of the socket's own.
    substitute: Bytes,
    /// Set with such an answer: closing while the client still sends would discard the answer.
    lingering: Option<Lingering>,
}

/// A lingering close: reads until the client closes.
struct Lingering {
    until: Pin<Box<Sleep>>,
    discarded: usize,
}

impl Socket {
    pub(in crate::serve::http) fn new(stream: Stream, docs_url: Arc<str>, signs: Signs) -> Self {
        Self {
            stream,
            docs_url,
            signs,
            request: Vec::new(),
            write_timeout: None,
            substitute: Bytes::new(),
            lingering: None,
        }
    }

    /// Sends an answer without reading a request, and closes.
    pub(in crate::serve::http) async fn answer_and_close(stream: Stream, answer: Vec<u8>) -> Result<()> {
        let mut socket = Self::new(stream, "".into(), Signs::default());
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
        timeout.as_mut().poll(cx).map(|()| Err(Error::new(ErrorKind::TimedOut, "the client reads nothing")))
    }

    fn poll_substitute(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.substitute.is_empty() {
            let written = Pin::new(&mut self.stream).poll_write(cx, &self.substitute);
            match ready!(self.with_write_timeout(cx, written))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                sent => self.substitute.advance(sent),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Whether these bytes are a bare answer. They then count as written, and the next flush sends the substitute.
    fn replace_bare(&mut self, bytes: &[u8]) -> bool {
        let better = better_answer(bytes, &self.request, &self.docs_url);
        better.map(|answer| self.send_instead(answer)).is_some()
    }

    fn send_instead(&mut self, answer: Vec<u8>) {
        self.substitute = answer.into();
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

impl AsyncRead for Socket {
    /// A client that has had its time counts as gone.
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if self.signs.is_over() {
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, into))?;
        if self.signs.hear() {
            let new = &into.filled()[before..];
            self.request.clear();
            self.request.extend_from_slice(&new[..new.len().min(MAX_KEPT_BYTES)]);
        }
        Poll::Ready(Ok(()))
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
