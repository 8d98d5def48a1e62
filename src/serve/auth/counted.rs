//! What the owners of request counts have in common: the result of a count, the metrics, and the errors.

use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use crate::contract::usage::Refusal;
use jiff::Timestamp;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use std::io;
use std::path::PathBuf;

/// A request to count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'a> {
    pub(crate) account: &'a str,
    /// The id of the account's key.
    pub(crate) key: &'a str,
    /// The time of this server.
    pub(crate) now: Timestamp,
    pub(crate) limits: &'a PlanLimits,
}

/// Whether a request is admitted: it was counted, or is refused because a window of its account is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    pub(crate) refusal: Option<Refusal>,
    /// Requests that the account has left.
    pub(crate) left: Remaining,
}

impl Admission {
    /// Whether the request is to be answered.
    pub(crate) fn admitted(&self) -> Result<(), Refusal> {
        self.refusal.map_or(Ok(()), Err)
    }
}

/// A request whose count cannot be kept. It may count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountNotKept;

/// What the metrics show of the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageMetrics {
    /// Request counts that could not be written.
    pub(crate) failures: Counter,
    /// Counts of days to come that were reset.
    pub(crate) resets: Counter,
    /// 1 while the store of shared counts cannot be used.
    pub(crate) store_unusable: Gauge,
}

impl UsageMetrics {
    /// Takes note of an account whose counts were of days to come.
    pub(super) fn note_reset(&self, account: &str) {
        self.resets.inc();
        tracing::warn!(account, "the requests counted were of days to come; they are counted from zero");
    }
}

/// Why counts cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    /// The file cannot be read or written.
    #[error("cannot use the usage file {0}: {1}")]
    Storage(PathBuf, #[source] io::Error),
    /// Another process counts in the file.
    #[error("another server counts its requests in {0}; two of them would let an account do twice as much")]
    Locked(PathBuf),
    /// The file is something else.
    #[error("{0} is not a usage file")]
    Foreign(PathBuf),
    /// The store of shared counts answers, but refuses this server, or is something else: its address and what it says.
    #[error("the store of the request counts, {0}, cannot be used: {1}")]
    Store(String, String),
}

impl MeterError {
    /// The way out.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Storage(..) => "make room, or keep the counts in another file: --usage FILE",
            Self::Locked(_) => "stop the other server, or give this one a file of its own with --usage FILE",
            Self::Foreign(_) => "give the file of an earlier server, or a new one",
            Self::Store(..) => {
                "check --usage, SUNLAKE_USAGE_USER, and SUNLAKE_USAGE_PASSWORD or SUNLAKE_USAGE_PASSWORD_FILE"
            }
        };
        Some(hint.to_owned())
    }
}
