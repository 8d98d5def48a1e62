//! Why a request gave no answer that can be used.

use jiff::Timestamp;
use std::time::Duration;

/// A window in which the account's requests are counted, or a bound of this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The Eastern day.
    Day,
    /// The Eastern month.
    Month,
    /// The run's own `max_requests`.
    Run,
    /// The run's own `max_minutes`.
    Time,
}

impl std::fmt::Display for Window {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Day => "the requests that the run may use of the account's this Eastern day",
            Self::Month => "the requests that the run may use of the account's this Eastern month",
            Self::Run => "the run's max_requests",
            Self::Time => "the run's max_minutes",
        })
    }
}

/// Why a request gave no answer that can be used. Targets are paths with queries; the key is never part of one.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The API answered with an error status that a retry would not change.
    #[error("GET {target} was refused with status {status}: {message}")]
    Refused {
        /// Path and query asked for.
        target: String,
        /// HTTP status.
        status: u16,
        /// The API's own words.
        message: String,
    },
    /// The API asked for a pause, or was briefly unable: 429, 500, 502, 503, 504.
    #[error("GET {target} answered {status}: {message}")]
    Busy {
        /// Path and query asked for.
        target: String,
        /// HTTP status.
        status: u16,
        /// The API's own words, if it had any.
        message: String,
        /// `Retry-After`, when one was sent.
        retry_after: Option<Duration>,
    },
    /// No connection, no answer in time, or a body that broke off.
    #[error("GET {target} failed: {reason}")]
    Transport {
        /// Path and query asked for.
        target: String,
        /// What the network said.
        reason: String,
    },
    /// An answer that is not what the API document promises: a redirect, HTML, broken JSON, a body beyond bounds.
    #[error("GET {target} answered outside its contract: {reason}")]
    OutsideContract {
        /// Path and query asked for.
        target: String,
        /// What was wrong with it.
        reason: String,
        /// Whether the same call may well give a good answer.
        retryable: bool,
    },
    /// Every attempt failed.
    #[error("gave up after {attempts} attempts: {last}")]
    GaveUp {
        /// Attempts made.
        attempts: u32,
        /// What the last one met.
        last: Box<ClientError>,
    },
    /// A budget is spent; nothing was sent.
    #[error("{window} are spent")]
    BudgetSpent {
        /// Whose budget.
        window: Window,
        /// When it opens again; none for a bound of the run's own.
        until: Option<Timestamp>,
    },
    /// The API asked for a longer pause than the run may take.
    #[error("the API asks for a pause of {wait_secs} s, longer than the run may wait")]
    WaitTooLong {
        /// Whole seconds asked for.
        wait_secs: u64,
        /// When they are over.
        until: Timestamp,
    },
    /// The run was told to stop.
    #[error("stopped by a signal")]
    Stopped,
    /// The ledger of requests cannot be kept; nothing is sent without it.
    #[error("the request ledger {path} cannot be kept: {source}")]
    Ledger {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The address, or the way to it, cannot be used.
    #[error("{0}")]
    Settings(String),
}

impl ClientError {
    /// Whether the same call may be sent again.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Transport { .. } => true,
            Self::OutsideContract { retryable, .. } => *retryable,
            _ => false,
        }
    }

    /// The pause the API asked for; no request goes out before it has passed.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// When it is worth to go on, where that is known.
    pub fn go_on_after(&self) -> Option<Timestamp> {
        match self {
            Self::BudgetSpent { until, .. } => *until,
            Self::WaitTooLong { until, .. } => Some(*until),
            _ => None,
        }
    }

    /// The status of a refusal.
    pub fn refused_status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the run may go on later from where it stands: budget, pause, deadline, signal.
    pub fn is_pause(&self) -> bool {
        matches!(self, Self::BudgetSpent { .. } | Self::WaitTooLong { .. } | Self::Stopped)
    }
}
