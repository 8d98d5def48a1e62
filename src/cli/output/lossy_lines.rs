//! Log lines of a server: a thread of its own writes them, so that a reader of stderr that stalls stops no request. Lines that do
//! not fit the queue are dropped and counted.

use prometheus_client::metrics::counter::Counter;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Most lines that wait to be written.
const QUEUE: usize = 1_024;
/// How long the end of the program waits for the last lines.
const END_TIMEOUT: Duration = Duration::from_secs(1);

enum Entry {
    Line(Vec<u8>),
    /// Answered when all lines before it are written.
    End(SyncSender<()>),
}

/// A writer that never waits.
#[derive(Debug, Clone)]
pub(super) struct LossyLines {
    queue: SyncSender<Entry>,
    dropped: Counter,
}

impl LossyLines {
    /// Starts the thread that writes into `out`. Lines are dropped too when it cannot be started.
    pub(super) fn new(out: impl Write + Send + 'static, dropped: Counter) -> Self {
        let (queue, entries) = sync_channel(QUEUE);
        let started = std::thread::Builder::new().name("log".to_owned());
        // Without the thread nobody receives, and every line is dropped and counted.
        let _ = started.spawn(move || write_all(&entries, out));
        Self { queue, dropped }
    }

    /// Waits until the lines so far and a last text are written, for a second at most.
    pub(super) fn finish(&self, last: &str) -> io::Result<()> {
        self.clone().write_all(last.as_bytes())?;
        let (written, waits) = sync_channel(1);
        if self.queue.try_send(Entry::End(written)).is_ok() {
            // The lines that are left after this time have no reader.
            let _ = waits.recv_timeout(END_TIMEOUT);
        }
        Ok(())
    }
}

impl Write for LossyLines {
    /// The subscriber gives a line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.queue.try_send(Entry::Line(line.to_vec())).is_err() {
            self.dropped.inc();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(entries: &Receiver<Entry>, mut out: impl Write) {
    for entry in entries {
        // If stderr is closed, nobody can read the error.
        let _ = match entry {
            Entry::Line(line) => out.write_all(&line),
            Entry::End(written) => {
                let _ = written.send(());
                Ok(())
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    /// Hands on each line, and takes the next only when it is allowed to.
    struct Slow {
        written: Sender<Vec<u8>>,
        allowed: Receiver<()>,
    }

    impl Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.allowed.recv().map_err(io::Error::other)?;
            self.written.send(line.to_vec()).map_err(io::Error::other)?;
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_beyond_the_queue_are_dropped_and_counted_and_the_others_are_complete_and_in_order() {
        let (written, lines) = channel();
        let (allow, allowed) = channel();
        let dropped = Counter::default();
        let mut log = LossyLines::new(Slow { written, allowed }, dropped.clone());
        let sent = QUEUE + 100;
        for number in 0..sent {
            log.write_all(format!("{number}\n").as_bytes()).expect("never fails");
        }
        let lost = usize::try_from(dropped.get()).expect("small");
        // The thread may have taken one line out of the queue.
        assert!(lost == 100 || lost == 99, "{lost}");
        for _ in lost..sent {
            allow.send(()).expect("a thread");
        }
        // The queue may still be full, and then there is no place for the mark of the end.
        let kept: Vec<Vec<u8>> = lines.iter().take(sent - lost).collect();
        assert_eq!(kept.first().map(Vec::as_slice), Some(&b"0\n"[..]));
        assert!(kept.is_sorted_by_key(|line| String::from_utf8_lossy(line).trim().parse::<usize>().ok()));
        allow.send(()).expect("a thread");
        log.finish("last\n").expect("never fails");
        assert_eq!(lines.try_recv().as_deref(), Ok(&b"last\n"[..]));
    }
}
