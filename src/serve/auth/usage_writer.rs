//! The usage file of a running server: its lock, its lines as accounts have them written, and its syncs.

use super::counted::{MeterError, UsageMetrics};
use super::usage_account::Account;
use super::usage_file::{Contents, Line, Place, open_locked, width};
use crate::serve::rarely::Rarely;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// The file behind a meter.
pub(super) struct UsageWriter {
    pub(super) path: PathBuf,
    /// Has the lock on the file.
    lock: File,
    pub(super) write_at: Box<WriteAt>,
    /// Where the next new line goes.
    end: AtomicU64,
    /// Whether lines were written since the last sync.
    is_unsynced: AtomicBool,
    warnings: Rarely,
    metrics: UsageMetrics,
}

/// Writes bytes at a place of the file, or of a slow disk in a test.
pub(super) type WriteAt = dyn Fn(&[u8], u64) -> io::Result<()> + Send + Sync;

impl UsageWriter {
    /// Opens a file, and reads its lines.
    pub(super) fn open(
        path: PathBuf,
        metrics: UsageMetrics,
    ) -> Result<(Self, Vec<(Line, Place)>), MeterError> {
        let failed = |source| MeterError::Storage(path.clone(), source);
        let lock = open_locked(&path)?;
        let bytes = std::fs::read(&path).map_err(failed)?;
        let contents = Contents::of(&bytes).ok_or_else(|| MeterError::Foreign(path.clone()))?;
        for line in &contents.damaged {
            tracing::warn!(path = %path.display(), line, "a line of the usage file is damaged; its account is counted from zero");
        }
        let mut end = bytes.len() as u64;
        if contents.is_torn {
            lock.write_all_at(b"\n", end).map_err(failed)?;
            end += 1;
        }
        let lines = lock.try_clone().map_err(failed)?;
        let file = Self {
            write_at: Box::new(move |bytes, place| lines.write_all_at(bytes, place)),
            lock,
            end: AtomicU64::new(end),
            is_unsynced: AtomicBool::new(false),
            warnings: Rarely::once_a_minute(),
            metrics,
            path,
        };
        Ok((file, contents.lines))
    }

    /// Writes the line of an account, whose place is locked; blocking.
    pub(super) fn write(&self, account: &Account, place: &mut Option<Place>, reserve: u32) -> io::Result<()> {
        let line = account.line(reserve);
        let text = line.text(place.as_ref());
        let kept = place.take().filter(|place| width(place) == text.len());
        let begin = match kept {
            Some(place) => place.start,
            None => self.end.fetch_add(text.len() as u64, Ordering::Relaxed),
        };
        *place = Some(begin..begin + text.len() as u64);
        (self.write_at)(&text, begin).inspect_err(|error| self.report(error))?;
        self.is_unsynced.store(true, Ordering::Release);
        account.wrote(line);
        Ok(())
    }

    /// Makes what was written durable; blocking.
    pub(super) fn sync(&self) {
        if self.is_unsynced.swap(false, Ordering::AcqRel)
            && let Err(error) = self.lock.sync_data()
        {
            self.report(&error);
        }
    }

    /// Counts a failure, and logs at most one a minute.
    fn report(&self, error: &io::Error) {
        self.metrics.failures.inc();
        if self.warnings.is_due(Instant::now()) {
            tracing::warn!(path = %self.path.display(), %error, "request counts cannot be written; requests that are not in the file get 503");
        }
    }
}
