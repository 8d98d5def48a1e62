//! Counts the requests of every account; all its keys share one count, and a restart forgives nothing.

use super::keys::replace_file;
use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use crate::contract::usage::{Refusal, Usage};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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
    /// The file is not what it should be.
    #[error("{path} is not a usage file: {source}; move it away to count from zero")]
    Form {
        /// Where.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// The counts of all accounts.
#[derive(Debug, Default)]
pub struct Meter {
    usage: Mutex<BTreeMap<String, Usage>>,
    path: Option<PathBuf>,
    changed: AtomicBool,
}

impl Meter {
    /// Opens the counts kept in a file; a missing file starts at zero, no path keeps nothing.
    ///
    /// # Errors
    /// [`MeterError`] when there is a file that cannot be read.
    pub fn open(path: Option<PathBuf>) -> Result<Self, MeterError> {
        let usage = match &path {
            None => BTreeMap::new(),
            Some(path) => match std::fs::read(path) {
                Ok(bytes) => serde_json::from_slice(&bytes)
                    .map_err(|source| MeterError::Form { path: path.clone(), source })?,
                Err(source) if source.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
                Err(source) => return Err(MeterError::File { path: path.clone(), source }),
            },
        };
        Ok(Self { usage: Mutex::new(usage), path, changed: AtomicBool::new(false) })
    }

    /// Counts a request of an account.
    ///
    /// # Errors
    /// [`Refusal`] when one of its windows is full; the request is then not counted.
    pub fn admit(&self, account: &str, now: Timestamp, limits: &PlanLimits) -> Result<(), Refusal> {
        let mut all = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let usage = match all.get_mut(account) {
            Some(usage) => usage,
            None => all.entry(account.to_owned()).or_default(),
        };
        usage.admit(now, limits)?;
        self.changed.store(true, Ordering::Release);
        Ok(())
    }

    /// Requests an account has left.
    pub fn remaining(&self, account: &str, now: Timestamp, limits: &PlanLimits) -> Remaining {
        let all = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(account).copied().unwrap_or_default().remaining(now, limits)
    }

    /// Writes the counts down if they have changed since they were last written.
    ///
    /// # Errors
    /// [`MeterError::File`]; the next call tries again.
    pub fn write_if_changed(&self) -> Result<(), MeterError> {
        let Some(path) = &self.path else { return Ok(()) };
        if !self.changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let written = serde_json::to_vec(&*self.usage.lock().unwrap_or_else(PoisonError::into_inner))
            .map_err(std::io::Error::from)
            .and_then(|bytes| replace_file(path, &bytes));
        written.map_err(|source| {
            self.changed.store(true, Ordering::Release);
            MeterError::File { path: path.clone(), source }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;

    #[test]
    fn a_restart_forgives_nothing_and_accounts_do_not_share() {
        let (folder, limits) = (tempfile::tempdir().expect("a folder"), Plan::Starter.limits());
        let path = folder.path().join("usage.json");
        let now: Timestamp = "2026-07-31T12:00:00Z".parse().expect("an instant");
        let meter = Meter::open(Some(path.clone())).expect("a meter");
        meter.admit("acme", now, &limits).expect("admitted");
        meter.write_if_changed().expect("written");
        let again = Meter::open(Some(path.clone())).expect("a meter");
        assert_eq!(again.remaining("acme", now, &limits), Remaining { minute: 19, day: 999, month: 9_999 });
        assert_eq!(again.remaining("other", now, &limits).day, 1_000);
        std::fs::write(&path, "{").expect("damaged");
        assert!(matches!(Meter::open(Some(path)), Err(MeterError::Form { .. })));
    }
}
