//! The usage meter: request counts of every account, which a restart does not reset.
//!
//! The file has one line of fixed width an account. A request's line is overwritten before the request is answered, so a
//! kill loses no count. The file is synced once a second, so a power cut loses at most the counts of the last second.

use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use crate::contract::usage::{Refusal, Usage};
use jiff::Timestamp;
use prometheus_client::metrics::counter::Counter;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most bytes of a line without the account's name.
const COUNTS_WIDTH: usize = 256;
/// The width of a line is a multiple of this.
const WIDTH_STEP: usize = 64;

/// Why counts cannot be kept on disk.
#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    /// The file cannot be read or written.
    #[error("cannot use the usage file {0}: {1}")]
    Storage(PathBuf, #[source] std::io::Error),
    /// Another process counts in the file.
    #[error("another server counts its requests in {0}; two of them would let an account do twice as much")]
    Locked(PathBuf),
    /// The file is damaged.
    #[error("{0} is not a usage file: {1}; move it away to count from zero")]
    Malformed(PathBuf, #[source] serde_json::Error),
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    account: String,
    #[serde(flatten)]
    usage: Usage,
}

/// The counts of one account, and where its line is.
#[derive(Debug, Default)]
struct Entry {
    usage: Usage,
    slot: Option<Slot>,
    is_unwritten: bool,
}

/// The bytes of a line in the file.
#[derive(Debug, Clone, Copy)]
struct Slot {
    offset: u64,
    width: usize,
}

#[derive(Debug, Default)]
struct Counts {
    accounts: BTreeMap<String, Entry>,
    end: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Meter {
    counts: Mutex<Counts>,
    file: Option<(PathBuf, File)>,
    is_changed: AtomicBool,
    /// Counts of days to come that were reset.
    pub(crate) resets: Counter,
}

impl Meter {
    /// Opens the counts of a file. A missing file counts from zero; without a path the counts stay in memory.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self, MeterError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let file = open_locked(&path)?;
        let text =
            std::fs::read_to_string(&path).map_err(|source| MeterError::Storage(path.clone(), source))?;
        let counts = Counts::read(&text).map_err(|source| MeterError::Malformed(path.clone(), source))?;
        Ok(Self { counts: Mutex::new(counts), file: Some((path, file)), ..Self::default() })
    }

    /// Counts one request of an account; a request over a limit is refused and not counted.
    pub(crate) fn admit(&self, account: &str, now: Timestamp, limits: &PlanLimits) -> Result<(), Refusal> {
        let mut counts = self.lock();
        let usage = &mut counts.entry(account).usage;
        if usage.is_ahead(now) {
            self.resets.inc();
            tracing::warn!(account, "the requests counted were of days to come; they are counted from zero");
        }
        usage.admit(now, limits)?;
        if let Some((_, file)) = &self.file {
            // The next sync tries again, and reports the error.
            let _ = counts.write(account, file);
            self.is_changed.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Requests that an account has left.
    pub(crate) fn remaining(&self, account: &str, now: Timestamp, limits: &PlanLimits) -> Remaining {
        let usage = self.lock().accounts.get(account).map(|entry| entry.usage).unwrap_or_default();
        usage.remaining(now, limits)
    }

    /// Makes the counts durable; after an error the next call tries again.
    pub(crate) fn sync(&self) -> Result<(), MeterError> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        if !self.is_changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        // A statement of its own, so that the sync is done without the lock.
        let written = self.lock().write_unwritten(file);
        written.and_then(|()| file.sync_data()).map_err(|source| {
            self.is_changed.store(true, Ordering::Release);
            MeterError::Storage(path.clone(), source)
        })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file, under a lock that no other process has.
fn open_locked(path: &Path) -> Result<File, MeterError> {
    let failed = |source| MeterError::Storage(path.to_owned(), source);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file =
        File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(MeterError::Locked(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

impl Counts {
    fn read(text: &str) -> Result<Self, serde_json::Error> {
        let mut counts = Self::default();
        for line in text.split_inclusive('\n') {
            if !line.trim().is_empty() {
                let Line { account, usage } = serde_json::from_str(line)?;
                let slot = Some(Slot { offset: counts.end, width: line.len() });
                counts.accounts.insert(account, Entry { usage, slot, is_unwritten: false });
            }
            counts.end += line.len() as u64;
        }
        Ok(counts)
    }

    fn entry(&mut self, account: &str) -> &mut Entry {
        self.accounts.entry(account.to_owned()).or_default()
    }

    /// Overwrites the line of an account; a new account's line is appended.
    fn write(&mut self, account: &str, file: &File) -> std::io::Result<()> {
        let end = self.end;
        let entry = self.entry(account);
        entry.is_unwritten = true;
        let line = Line { account: account.to_owned(), usage: entry.usage };
        let mut text = serde_json::to_vec(&line)?;
        let width = (account.len() * 6 + COUNTS_WIDTH).next_multiple_of(WIDTH_STEP);
        let slot = entry.slot.filter(|slot| slot.width > text.len()).unwrap_or(Slot { offset: end, width });
        text.resize(slot.width - 1, b' ');
        text.push(b'\n');
        file.write_all_at(&text, slot.offset)?;
        entry.is_unwritten = false;
        entry.slot = Some(slot);
        self.end = end.max(slot.offset + slot.width as u64);
        Ok(())
    }

    fn write_unwritten(&mut self, file: &File) -> std::io::Result<()> {
        let unwritten = self.accounts.iter().filter(|(_, entry)| entry.is_unwritten);
        let names: Vec<String> = unwritten.map(|(name, _)| name.clone()).collect();
        names.iter().try_for_each(|name| self.write(name, file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    #[test]
    fn killed_process_loses_no_count_and_accounts_do_not_share() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), Plan::Starter.limits());
        let path = folder.path().join("state/usage.jsonl");
        let now = at("2026-07-31T12:00:00Z");
        for (spent, account) in [(0, "acme"), (1, "acme"), (0, "the \"other\"\n"), (2, "acme")] {
            // Nothing is written when a meter is dropped, so each round ends like a kill.
            let meter = Meter::open(Some(path.clone())).expect("a meter");
            assert_eq!(meter.remaining(account, now, &limits).minute, 20 - spent, "{account}");
            meter.admit(account, now, &limits).expect("admitted");
        }
        let meter = Meter::open(Some(path.clone())).expect("a meter");
        assert_eq!(meter.remaining("acme", now, &limits), Remaining { minute: 17, day: 997, month: 9_997 });
        assert_eq!(meter.remaining("the \"other\"\n", now, &limits).day, 999);
        assert_eq!(meter.remaining("none", now, &limits).day, 1_000);
        assert_eq!(std::fs::read_to_string(&path).expect("lines").lines().count(), 2);
        meter.sync().expect("synced");
    }

    #[test]
    fn file_is_locked_by_one_process_and_a_malformed_one_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let meter = Meter::open(Some(path.clone())).expect("a meter");
        assert!(matches!(Meter::open(Some(path.clone())), Err(MeterError::Locked(_))));
        drop(meter);
        std::fs::write(&path, "{").expect("damaged");
        assert!(matches!(Meter::open(Some(path)), Err(MeterError::Malformed(..))));
    }

    #[test]
    fn counts_of_a_clock_far_ahead_are_reset_and_reported_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let limits = PlanLimits { per_day: 3, ..Plan::Starter.limits() };
        let meter = Meter::open(Some(path.clone())).expect("a meter");
        for _ in 0..3 {
            meter.admit("acme", at("2036-01-01T12:00:00Z"), &limits).expect("admitted");
        }
        drop(meter);
        let meter = Meter::open(Some(path)).expect("a meter");
        for spent in 1..=2 {
            meter.admit("acme", at("2026-07-31T12:00:00Z"), &limits).expect("admitted");
            assert_eq!(meter.remaining("acme", at("2026-07-31T12:00:00Z"), &limits).day, 3 - spent);
        }
        assert_eq!(meter.resets.get(), 1);
    }

    #[test]
    fn widest_counts_fit_their_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let all = PlanLimits {
            per_minute: u32::MAX,
            per_day: u32::MAX,
            per_month: u32::MAX,
            ..Plan::Agency.limits()
        };
        let meter = Meter::open(Some(path.clone())).expect("a meter");
        meter.admit("\u{1}", at("2026-07-31T12:00:00.123456789Z"), &all).expect("admitted");
        let text = std::fs::read_to_string(&path).expect("a line");
        // Three counts of ten digits in place of one digit each.
        assert!(text.trim_end().len() + 27 < text.len(), "{text}");
    }
}
