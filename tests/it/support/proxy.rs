//! A proxy between client and server: logs every request, and answers as a script says instead of, or after, the server.

use super::http::{self, Answer};
use super::{PATIENCE, wait_for};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// 1 for the first request the proxy saw.
    pub(crate) number: usize,
    pub(crate) target: String,
    pub(crate) authorization: Option<String>,
    pub(crate) at: Instant,
    /// Whether its answer was sent to the end.
    pub(crate) answered: bool,
}

/// What to do with a request.
pub(crate) enum Reply {
    /// Asks the server and gives its answer.
    Forward,
    /// Asks the server and gives its answer, its body changed.
    Change(fn(String) -> String),
    /// Asks the server, sends these bytes in place of the bytes of its answer, and closes the connection.
    Instead(fn(Vec<u8>) -> Vec<u8>),
    /// Answers in the server's place.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Asks the server and breaks off in the middle of its answer.
    BreakOff,
    /// Resets the connection without reading the request.
    Reset,
    /// Asks the server and gives its answer in small pieces, over this time.
    Slow(Duration),
    /// Waits for [`Proxy::release`], then asks the server.
    Hold,
}

/// A page with a total as if a row had come.
pub(crate) fn with_a_row_more(body: String) -> String {
    let mut page: serde_json::Value = serde_json::from_str(&body).expect("a page");
    let total = page["pagination"]["total"].as_u64().expect("a total");
    page["pagination"]["total"] = (total + 1).into();
    page.to_string()
}

impl Reply {
    /// An error with the documented body.
    pub(crate) fn error(status: u16, headers: Vec<(&'static str, String)>) -> Self {
        let body =
            serde_json::json!({ "statusCode": status, "message": "not now", "docs_url": "http://x/docs" });
        Self::Answer(status, headers, body.to_string())
    }
}

type Script = dyn FnMut(&Request) -> Reply + Send;

struct Shared {
    upstream: SocketAddr,
    script: Mutex<Box<Script>>,
    log: Mutex<Vec<Request>>,
    is_open: Mutex<bool>,
    opened: Condvar,
    closed: AtomicBool,
}

/// The proxy; it stops accepting when dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// A proxy that follows a script, which sees every request once, in order.
    pub(crate) fn scripted(
        upstream: SocketAddr,
        script: impl FnMut(&Request) -> Reply + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            upstream,
            script: Mutex::new(Box::new(script)),
            log: Mutex::default(),
            is_open: Mutex::new(false),
            opened: Condvar::new(),
            closed: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || accept(&listener, &accepting));
        Self { address, shared }
    }

    /// A proxy that only counts.
    pub(crate) fn counting(upstream: SocketAddr) -> Self {
        Self::scripted(upstream, |_| Reply::Forward)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The targets without those that the last check of a run asks for again: fresh counts, figures and totals.
    pub(crate) fn pages(&self) -> Vec<String> {
        let mut seen = std::collections::BTreeSet::new();
        let mut targets = self.targets();
        let is_fresh = |target: &str| target.contains("/daily?") || target.ends_with("/stats");
        targets.retain(|target| {
            !target.contains("limit=1&") && (!is_fresh(target) || seen.insert(target.clone()))
        });
        targets
    }

    /// Follows another script from now on.
    pub(crate) fn follow(&self, script: impl FnMut(&Request) -> Reply + Send + 'static) {
        *locked(&self.shared.script) = Box::new(script);
    }

    /// Every request so far, in order.
    pub(crate) fn log(&self) -> Vec<Request> {
        locked(&self.shared.log).clone()
    }

    /// Targets of every request so far, without `/v1/me`, which a run always asks.
    pub(crate) fn targets(&self) -> Vec<String> {
        self.log().into_iter().map(|request| request.target).filter(|target| target != "/v1/me").collect()
    }

    /// Blocks every request after `answered` more until the gate opens, and waits until the first one is blocked.
    pub(crate) fn hold_after(&self, answered: usize) {
        *locked(&self.shared.is_open) = false;
        let mut left = answered;
        self.follow(move |_| {
            if left == 0 {
                return Reply::Hold;
            }
            left -= 1;
            Reply::Forward
        });
    }

    /// Waits until there are this many requests.
    pub(crate) fn wait_for_requests(&self, number: usize) {
        self.wait_for_requests_within(number, PATIENCE);
    }

    pub(crate) fn wait_for_requests_within(&self, number: usize, patience: Duration) {
        wait_for(&format!("request number {number}"), patience, || {
            (locked(&self.shared.log).len() >= number).then_some(())
        });
    }

    /// Opens the gate.
    pub(crate) fn release(&self) {
        *locked(&self.shared.is_open) = true;
        self.shared.opened.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.release();
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        if let Ok(stream) = stream {
            let shared = Arc::clone(shared);
            std::thread::spawn(move || {
                // A client that went away is the test's own doing.
                let _ = converse(&stream, &shared);
            });
        }
    }
}

/// Answers one request after another on a connection.
fn converse(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(head) = peek_head(stream)? {
        let (number, reply) = note(shared, &head);
        if matches!(reply, Reply::Reset) {
            // What was not read makes the system send a reset.
            return Ok(());
        }
        std::io::Read::read_exact(&mut &*stream, &mut vec![0; head.len()])?;
        let goes_on = carry_out(stream, shared, number, reply)?;
        if !goes_on {
            return Ok(());
        }
    }
    Ok(())
}

/// The head of the next request, left unread; none when the client closed the connection.
fn peek_head(stream: &TcpStream) -> std::io::Result<Option<String>> {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let length = stream.peek(&mut bytes)?;
        if length == 0 {
            return Ok(None);
        }
        if let Some(end) = bytes[..length].windows(4).position(|four| four == b"\r\n\r\n") {
            return Ok(Some(String::from_utf8_lossy(&bytes[..end + 4]).into_owned()));
        }
        std::thread::yield_now();
    }
}

fn note(shared: &Shared, head: &str) -> (usize, Reply) {
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let authorization = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("authorization").then(|| value.trim().to_owned())
    });
    let mut log = locked(&shared.log);
    let number = log.len() + 1;
    let request = Request { number, target, authorization, at: Instant::now(), answered: false };
    let reply = locked(&shared.script)(&request);
    log.push(request);
    (number, reply)
}

/// Whether the connection stays open afterwards.
fn carry_out(stream: &TcpStream, shared: &Shared, number: usize, reply: Reply) -> std::io::Result<bool> {
    let whole = match reply {
        Reply::Reset => return Ok(false),
        Reply::Answer(status, headers, body) => {
            let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            message(&Answer { status, headers, body: body.into_bytes() })
        }
        Reply::Change(change) => {
            let mut answer = ask(shared, number)?;
            answer.body = change(answer.text()).into_bytes();
            message(&answer)
        }
        Reply::Hold => {
            let mut is_open = locked(&shared.is_open);
            while !*is_open {
                is_open = shared.opened.wait(is_open).unwrap_or_else(PoisonError::into_inner);
            }
            drop(is_open);
            message(&ask(shared, number)?)
        }
        Reply::Slow(time) => {
            let whole = message(&ask(shared, number)?);
            send_slowly(stream, &whole, time)?;
            return Ok(true);
        }
        Reply::BreakOff => {
            let whole = message(&ask(shared, number)?);
            (&mut &*stream).write_all(&whole[..whole.len() - whole.len() / 3])?;
            return Ok(false);
        }
        Reply::Instead(bytes) => {
            (&mut &*stream).write_all(&bytes(message(&ask(shared, number)?)))?;
            return Ok(false);
        }
        Reply::Forward => message(&ask(shared, number)?),
    };
    (&mut &*stream).write_all(&whole)?;
    locked(&shared.log)[number - 1].answered = true;
    Ok(true)
}

fn ask(shared: &Shared, number: usize) -> std::io::Result<Answer> {
    let request = locked(&shared.log)[number - 1].clone();
    let authorization = request.authorization.unwrap_or_default();
    http::send(shared.upstream, "GET", &request.target, &[("Authorization", &authorization)])
}

fn message(answer: &Answer) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} Answer\r\nContent-Length: {}\r\n", answer.status, answer.body.len());
    let kept = ["content-type", "date", "retry-after", "location"];
    for (name, value) in &answer.headers {
        if kept.contains(&name.to_ascii_lowercase().as_str()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&answer.body);
    bytes
}

fn send_slowly(stream: &TcpStream, bytes: &[u8], time: Duration) -> std::io::Result<()> {
    const PIECES: usize = 10;
    for piece in bytes.chunks(bytes.len().div_ceil(PIECES)) {
        std::thread::sleep(time / PIECES as u32);
        (&mut &*stream).write_all(piece)?;
    }
    Ok(())
}
