//! Counts the requests of every account; all its keys share one count, and a restart forgives nothing.
//!
//! A file has a line of fixed width for each account. The line is written over before the request is answered, so the
//! end of the process, however sudden, loses no count; the disk is asked to keep it once a second, so a power cut loses what
//! was counted in the last one.

use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use crate::contract::usage::{Refusal, Usage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that the counts of a line take at most, the name apart.
const COUNTS_WIDTH: usize = 256;
/// The width of a line is a multiple of it.
const WIDTH_STEP: usize = 64;

/// Why counts cannot be kept on disk.
#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    /// The file cannot be read or written.
    #[error("cannot use the usage file {path}: {source}")]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another process counts in the file.
    #[error(
        "another server counts its requests in {path}; two of them would let an account do twice as much"
    )]
    Held {
        /// Where.
        path: PathBuf,
    },
    /// The file is not what it should be.
    #[error("{path} is not a usage file: {source}; move it away to count from zero")]
    Form {
        /// Where.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    account: String,
    #[serde(flatten)]
    usage: Usage,
}

/// What an account has used, and the place of its line.
#[derive(Debug, Default)]
struct Kept {
    usage: Usage,
    place: Option<Place>,
    is_unwritten: bool,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    offset: u64,
    width: usize,
}

#[derive(Debug, Default)]
struct Book {
    accounts: BTreeMap<String, Kept>,
    /// Where the next line begins.
    end: u64,
}

/// The counts of all accounts.
#[derive(Debug, Default)]
pub struct Meter {
    book: Mutex<Book>,
    file: Option<(PathBuf, File)>,
    is_changed: AtomicBool,
}

impl Meter {
    /// Opens the counts kept in a file; a missing file starts at zero, no path keeps nothing.
    ///
    /// # Errors
    /// [`MeterError`] when there is a file that cannot be read, or that another process counts in.
    pub fn open(path: Option<PathBuf>) -> Result<Self, MeterError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let file = open_alone(&path)?;
        let text = std::fs::read_to_string(&path)
            .map_err(|source| MeterError::File { path: path.clone(), source })?;
        let book = Book::read(&text).map_err(|source| MeterError::Form { path: path.clone(), source })?;
        Ok(Self { book: Mutex::new(book), file: Some((path, file)), is_changed: AtomicBool::new(false) })
    }

    /// Counts a request of an account.
    ///
    /// # Errors
    /// [`Refusal`] when one of its windows is full; the request is then not counted.
    pub fn admit(&self, account: &str, now: Timestamp, limits: &PlanLimits) -> Result<(), Refusal> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.kept(account).usage.admit(now, limits)?;
        if let Some((_, file)) = &self.file {
            // What could not be written is tried again, and told, when the disk is asked to keep it.
            let _ = book.write(account, file);
            self.is_changed.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Requests an account has left.
    pub fn remaining(&self, account: &str, now: Timestamp, limits: &PlanLimits) -> Remaining {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let usage = book.accounts.get(account).map(|kept| kept.usage).unwrap_or_default();
        usage.remaining(now, limits)
    }

    /// Has the disk keep what was counted since the last time.
    ///
    /// # Errors
    /// [`MeterError::File`]; the next call tries again.
    pub fn keep(&self) -> Result<(), MeterError> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        if !self.is_changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let written = {
            let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
            book.write_unwritten(file)
        };
        written.and_then(|()| file.sync_data()).map_err(|source| {
            self.is_changed.store(true, Ordering::Release);
            MeterError::File { path: path.clone(), source }
        })
    }
}

/// Opens a file that no other process counts in.
fn open_alone(path: &Path) -> Result<File, MeterError> {
    let unusable = |source| MeterError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(unusable)?;
    }
    let file =
        File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(MeterError::Held { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

impl Book {
    fn read(text: &str) -> Result<Self, serde_json::Error> {
        let mut book = Self::default();
        for line in text.split_inclusive('\n') {
            if !line.trim().is_empty() {
                let Line { account, usage } = serde_json::from_str(line)?;
                let place = Some(Place { offset: book.end, width: line.len() });
                book.accounts.insert(account, Kept { usage, place, is_unwritten: false });
            }
            book.end += line.len() as u64;
        }
        Ok(book)
    }

    fn kept(&mut self, account: &str) -> &mut Kept {
        if !self.accounts.contains_key(account) {
            self.accounts.insert(account.to_owned(), Kept::default());
        }
        self.accounts.entry(account.to_owned()).or_default()
    }

    /// Writes the line of an account over the one it has; a new account's goes to the end.
    fn write(&mut self, account: &str, file: &File) -> std::io::Result<()> {
        let end = self.end;
        let kept = self.kept(account);
        kept.is_unwritten = true;
        let line = Line { account: account.to_owned(), usage: kept.usage };
        let mut text = serde_json::to_vec(&line)?;
        let width = (account.len() * 6 + COUNTS_WIDTH).next_multiple_of(WIDTH_STEP);
        let place =
            kept.place.filter(|place| place.width > text.len()).unwrap_or(Place { offset: end, width });
        text.resize(place.width - 1, b' ');
        text.push(b'\n');
        file.write_all_at(&text, place.offset)?;
        kept.is_unwritten = false;
        kept.place = Some(place);
        self.end = end.max(place.offset + place.width as u64);
        Ok(())
    }

    fn write_unwritten(&mut self, file: &File) -> std::io::Result<()> {
        let unwritten = self.accounts.iter().filter(|(_, kept)| kept.is_unwritten);
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
    fn the_end_of_a_process_forgives_nothing_and_accounts_do_not_share() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), Plan::Starter.limits());
        let path = folder.path().join("state/usage.jsonl");
        let now = at("2026-07-31T12:00:00Z");
        for (spent, account) in [(0, "acme"), (1, "acme"), (0, "the \"other\"\n"), (2, "acme")] {
            // Nothing is kept by name at the end of this: a meter that is dropped is one that was killed.
            let meter = Meter::open(Some(path.clone())).expect("a meter");
            assert_eq!(meter.remaining(account, now, &limits).minute, 20 - spent, "{account}");
            meter.admit(account, now, &limits).expect("admitted");
        }
        let meter = Meter::open(Some(path.clone())).expect("a meter");
        assert_eq!(meter.remaining("acme", now, &limits), Remaining { minute: 17, day: 997, month: 9_997 });
        assert_eq!(meter.remaining("the \"other\"\n", now, &limits).day, 999);
        assert_eq!(meter.remaining("none", now, &limits).day, 1_000);
        assert_eq!(std::fs::read_to_string(&path).expect("lines").lines().count(), 2);
        meter.keep().expect("kept");
    }

    #[test]
    fn one_process_counts_in_a_file_and_a_file_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("usage.jsonl");
        let meter = Meter::open(Some(path.clone())).expect("a meter");
        assert!(matches!(Meter::open(Some(path.clone())), Err(MeterError::Held { .. })));
        drop(meter);
        std::fs::write(&path, "{").expect("damaged");
        assert!(matches!(Meter::open(Some(path)), Err(MeterError::Form { .. })));
    }

    #[test]
    fn the_widest_counts_fit_their_line() {
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
        // Three counts of ten digits in place of one of one digit each.
        assert!(text.trim_end().len() + 27 < text.len(), "{text}");
    }
}
