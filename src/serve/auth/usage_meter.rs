//! The usage meter: request counts of every account, in a file of this server or in a store that several servers share.
//!
//! A request has one call, [`Meter::count`]. It returns when the count is where a restart does not lose it; in memory, at once.

use super::counted::{Admission, CountNotKept, MeterError, UsageMetrics, Use};
use super::file_counts::FileCounts;
use super::shared::SharedCounts;
use jiff::Timestamp;

/// The owner of the counts.
pub(crate) enum Meter {
    /// This server alone, in a file or in memory.
    File(FileCounts),
    /// A store.
    Shared(Box<SharedCounts>),
}

impl Default for Meter {
    fn default() -> Self {
        Self::File(FileCounts::in_memory(UsageMetrics::default()))
    }
}

impl Meter {
    /// Counts one request. A request over a limit is refused and not counted.
    pub(crate) async fn count(&self, used: Use<'_>) -> Result<Admission, CountNotKept> {
        match self {
            Self::File(counts) => counts.count(used).await,
            Self::Shared(counts) => counts.count(used).await,
        }
    }

    /// Whether requests can be counted, as far as this is known without one.
    pub(crate) fn is_usable(&self) -> bool {
        match self {
            Self::File(_) => true,
            Self::Shared(counts) => counts.is_usable(),
        }
    }

    /// Connects to a store for the first time. A store that is not there yet is a warning.
    pub(crate) async fn begin(&self, now: Timestamp) -> Result<(), MeterError> {
        match self {
            Self::File(_) => Ok(()),
            Self::Shared(counts) => counts.begin(now).await,
        }
    }

    /// Keeps the connection to a store, for ever.
    pub(crate) async fn stay_connected(&self, now: impl Fn() -> Timestamp) {
        match self {
            Self::File(_) => std::future::pending().await,
            Self::Shared(counts) => counts.stay_connected(now).await,
        }
    }

    /// Makes the counts of a file durable, and writes again what could not be written; blocking.
    pub(crate) fn sync(&self) {
        if let Self::File(counts) = self {
            counts.sync();
        }
    }

    /// Writes the exact counts of every account to a file, and waits for that a bounded time.
    pub(crate) async fn close(&self) -> Result<(), MeterError> {
        match self {
            Self::File(counts) => counts.close().await,
            Self::Shared(_) => Ok(()),
        }
    }
}
