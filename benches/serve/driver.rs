//! Sends requests over kept connections and notes how long each answer took.

use hdrhistogram::Histogram;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The bytes of the request with a number.
pub(crate) type Requests<'a> = &'a (dyn Fn(u64) -> Vec<u8> + Sync);

/// What came of a drive.
pub(crate) struct Measured {
    /// Microseconds from the moment a request was due to its last byte.
    pub(crate) latency: Histogram<u64>,
    /// Answers other than 200.
    pub(crate) refused: u64,
    /// Bytes of all bodies.
    pub(crate) bytes: u64,
    /// How long it was driven.
    pub(crate) length: Duration,
}

impl Measured {
    fn new(length: Duration) -> Self {
        let latency = Histogram::new_with_bounds(1, 60_000_000, 3).expect("bounds");
        Self { latency, refused: 0, bytes: 0, length }
    }

    fn note(&mut self, took: Duration, answer: &Answer) {
        self.latency.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1));
        self.refused += u64::from(answer.status != 200);
        self.bytes += answer.length as u64;
    }

    fn add(&mut self, other: &Self) {
        self.latency.add(&other.latency).expect("the same bounds");
        self.refused += other.refused;
        self.bytes += other.bytes;
    }

    /// A percentile in milliseconds.
    pub(crate) fn millis(&self, percentile: f64) -> f64 {
        self.latency.value_at_percentile(percentile) as f64 / 1_000.0
    }

    /// Answers a second.
    pub(crate) fn rate(&self) -> f64 {
        self.latency.len() as f64 / self.length.as_secs_f64()
    }

    /// Bytes of a body, on average.
    pub(crate) fn mean_bytes(&self) -> u64 {
        self.bytes / self.latency.len().max(1)
    }
}

/// Requests at a fixed rate, whether or not answers come; a latency counts from when its request was due.
pub(crate) fn open_loop(
    to: SocketAddr,
    connections: usize,
    rate: u64,
    length: Duration,
    requests: Requests<'_>,
) -> Measured {
    let total = rate * length.as_secs();
    let begun = Instant::now() + Duration::from_millis(50);
    on_threads(connections, length, |thread, measured| {
        let mut connection = Connection::open(to);
        for number in (thread as u64..total).step_by(connections) {
            let bytes = requests(number);
            let due = begun + Duration::from_nanos(number * 1_000_000_000 / rate);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let answer = connection.exchange(&bytes);
            measured.note(due.elapsed(), &answer);
        }
    })
}

/// Each connection sends its next request when it has its answer.
pub(crate) fn closed_loop(
    to: SocketAddr,
    connections: usize,
    length: Duration,
    requests: Requests<'_>,
) -> Measured {
    let begun = Instant::now();
    on_threads(connections, length, |thread, measured| {
        let mut connection = Connection::open(to);
        for number in (thread as u64..).step_by(connections) {
            let bytes = requests(number);
            let sent = Instant::now();
            let answer = connection.exchange(&bytes);
            measured.note(sent.elapsed(), &answer);
            if begun.elapsed() > length {
                return;
            }
        }
    })
}

fn on_threads(threads: usize, length: Duration, drive: impl Fn(usize, &mut Measured) + Sync) -> Measured {
    let drive = &drive;
    let mut all = Measured::new(length);
    std::thread::scope(|scope| {
        let driven: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    let mut measured = Measured::new(length);
                    drive(thread, &mut measured);
                    measured
                })
            })
            .collect();
        driven.into_iter().for_each(|thread| all.add(&thread.join().expect("a driver")));
    });
    all
}

/// An answer, read and thrown away.
struct Answer {
    status: u16,
    length: usize,
}

/// A connection that is kept.
struct Connection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
    line: String,
}

impl Connection {
    fn open(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        Self { stream: BufReader::with_capacity(64 * 1024, stream), body: Vec::new(), line: String::new() }
    }

    fn exchange(&mut self, request: &[u8]) -> Answer {
        self.stream.get_mut().write_all(request).expect("a request");
        let (mut status, mut length, mut is_chunked) = (0, 0, false);
        loop {
            self.read_line();
            let line = self.line.trim_end();
            if line.is_empty() {
                break;
            }
            if status == 0 {
                status = line.split(' ').nth(1).and_then(|text| text.parse().ok()).expect("a status");
            } else if let Some((name, value)) = line.split_once(':') {
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.trim().parse().expect("a length");
                }
                is_chunked |= name.eq_ignore_ascii_case("transfer-encoding");
            }
        }
        if is_chunked {
            length = self.read_chunks();
        } else {
            self.read_body(length);
        }
        Answer { status, length }
    }

    fn read_chunks(&mut self) -> usize {
        let mut total = 0;
        loop {
            self.read_line();
            let length = usize::from_str_radix(self.line.trim(), 16).expect("a chunk");
            self.read_body(length);
            self.read_line();
            total += length;
            if length == 0 {
                return total;
            }
        }
    }

    fn read_line(&mut self) {
        self.line.clear();
        self.stream.read_line(&mut self.line).expect("a line of the answer");
    }

    fn read_body(&mut self, length: usize) {
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body).expect("the body");
    }
}
