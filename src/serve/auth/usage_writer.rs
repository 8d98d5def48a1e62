//! The thread that writes the usage file: all lines that are due at a time, at once.

use super::usage_account::Account;
use super::usage_file::{Image, parts_of};
use crate::serve::rarely::Rarely;
use prometheus_client::metrics::counter::Counter;
use std::fs::File;
use std::io;
use std::iter::once;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Where the lines go: a file, or a slow disk in a test.
pub(super) trait Target: Send + 'static {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

impl Target for File {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }
}

/// What goes wrong with the file, and how often it is reported.
#[derive(Debug)]
pub(super) struct Trouble {
    path: PathBuf,
    failures: Counter,
    warnings: Rarely,
    last: Mutex<Option<io::ErrorKind>>,
    /// Whether lines may wait for a second attempt.
    has_unwritten: AtomicBool,
}

impl Trouble {
    pub(super) fn new(path: PathBuf, failures: Counter) -> Self {
        let warnings = Rarely::default();
        Self { path, failures, warnings, last: Mutex::default(), has_unwritten: AtomicBool::new(false) }
    }

    /// Counts a failure, and logs at most one a minute.
    pub(super) fn report(&self, error: &io::Error) {
        self.failures.inc();
        self.has_unwritten.store(true, Ordering::Release);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.kind());
        if self.warnings.is_due(Instant::now()) {
            tracing::warn!(path = %self.path.display(), %error, "request counts cannot be written; requests that are not in the file get 503");
        }
    }

    pub(super) fn take_unwritten(&self) -> bool {
        self.has_unwritten.swap(false, Ordering::AcqRel)
    }

    /// The last error of the file; a file without one is slow.
    pub(super) fn last_error(&self) -> io::Error {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(io::ErrorKind::TimedOut).into()
    }
}

/// The queue of the thread. The thread ends when this is dropped.
#[derive(Debug)]
pub(super) struct UsageWriter {
    queue: Sender<Arc<Account>>,
    /// Whether lines were written since the last sync.
    is_unsynced: Arc<AtomicBool>,
}

impl UsageWriter {
    pub(super) fn start(image: Image, target: impl Target, trouble: Arc<Trouble>) -> io::Result<Self> {
        let (queue, queued) = channel();
        let is_unsynced = Arc::<AtomicBool>::default();
        let written = Arc::clone(&is_unsynced);
        let run = move || write_all(&queued, image, &target, &trouble, &written);
        std::thread::Builder::new().name("usage".to_owned()).spawn(run)?;
        Ok(Self { queue, is_unsynced })
    }

    /// Has the line of an account written.
    pub(super) fn queue(&self, account: Arc<Account>) {
        // Without the thread nobody writes, and the answers become 503.
        let _ = self.queue.send(account);
    }

    pub(super) fn take_unsynced(&self) -> bool {
        self.is_unsynced.swap(false, Ordering::AcqRel)
    }
}

fn write_all(
    queued: &Receiver<Arc<Account>>,
    mut image: Image,
    target: &impl Target,
    trouble: &Trouble,
    is_unsynced: &AtomicBool,
) {
    while let Ok(first) = queued.recv() {
        let group: Vec<_> = once(first).chain(queued.try_iter()).collect();
        let taken: Vec<_> = group.iter().map(|account| account.take()).collect();
        let places: Vec<_> = taken.iter().map(|(_, line)| image.put(line)).collect();
        let mut failed = Vec::new();
        for part in parts_of(places.clone()) {
            match target.write_all_at(image.part(&part), part.start as u64) {
                Ok(()) => is_unsynced.store(true, Ordering::Release),
                Err(error) => {
                    trouble.report(&error);
                    failed.push(part);
                }
            }
        }
        for ((account, (change, line)), place) in group.iter().zip(&taken).zip(places) {
            let is_written = !failed.iter().any(|part| part.contains(&place.start));
            account.wrote(*change, line, is_written);
        }
    }
}
