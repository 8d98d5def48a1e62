//! Why a request gave no usable answer.

use crate::contract::eastern::instant;
use crate::contract::hint::{TRUST, of_io};
use jiff::Timestamp;
use std::time::Duration;

/// What a request returns.
pub(crate) type Result<T, E = ClientError> = std::result::Result<T, E>;

/// Why a request gave no answer that can be used. Targets are paths with queries; the key is never part of one.
#[expect(missing_docs, reason = "the message of an error names its fields")]
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The API answered with an error status that a retry would not change.
    #[error("GET {target} was refused with status {status}: {message}")]
    Refused { target: String, status: u16, message: String },
    /// The API is busy or over a limit, or a gateway before it gave up: 408, 425, 429, and most of 500 to 599.
    #[error("GET {target} answered {status}: {message}")]
    Busy { target: String, status: u16, message: String, retry_after: Option<Duration> },
    /// No connection, no answer in time, or an incomplete body.
    #[error("GET {target} failed: {reason}")]
    Transport { target: String, reason: String },
    /// The address is https, and what answers there is not TLS. Nothing of the request was sent.
    #[error("GET {target} failed: the address begins with https://, but plain http answers there")]
    PlainHttp { target: String },
    /// The other side of the connection cannot be trusted, or no terms of TLS suit both. Nothing of the request was sent.
    #[error("GET {target} failed: {reason}")]
    Untrusted { target: String, reason: String, is_certificate: bool },
    /// The proxy of the environment cannot be used as it is given.
    #[error("GET {target} failed: the proxy of HTTPS_PROXY or ALL_PROXY {reason}")]
    ProxyRefused { target: String, reason: String },
    /// An answer that the API document does not describe: a redirect, HTML, broken JSON, a body that is too large.
    #[error("GET {target} answered outside its contract: {reason}")]
    OutsideContract { target: String, reason: String, retryable: bool },
    /// Every attempt failed.
    #[error("gave up after {attempts} attempt{}: {last}", if *attempts == 1 { "" } else { "s" })]
    GaveUp { attempts: u32, last: Box<ClientError> },
    /// A budget is spent; nothing was sent. A bound of the run has no `until`.
    #[error("{what} are spent")]
    BudgetSpent { what: &'static str, until: Option<Timestamp> },
    /// The API asked for a longer pause than the run may take.
    #[error("the API asks for a pause of {wait_secs} s, longer than the run may wait")]
    WaitTooLong { wait_secs: u64, until: Timestamp },
    /// The run was stopped.
    #[error("stopped by a signal")]
    Stopped,
    /// The ledger of requests cannot be read or written; nothing is sent without it.
    #[error("the request ledger {path} cannot be kept: {source}")]
    Ledger { path: String, source: std::io::Error },
    /// There is no client for https: mostly because the system has no certificates of authorities.
    #[error("the HTTP client cannot be created: {reason}")]
    NoClient { reason: String },
    /// The address or the connection settings cannot be used.
    #[error("{0}")]
    Settings(String),
}

impl ClientError {
    /// The way out, where it does not depend on the address or the key.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::BudgetSpent { until: Some(until), .. } | Self::WaitTooLong { until, .. } => {
                return Some(format!("run the same command again after {}", instant(*until)));
            }
            Self::BudgetSpent { until: None, .. } | Self::Stopped => "run the same command again",
            Self::Untrusted { is_certificate: true, .. } => TRUST,
            Self::GaveUp { last, .. } => return last.hint(),
            Self::Ledger { source, .. } => return of_io(source),
            Self::NoClient { .. } => {
                "install the system's store of certificates (ca-certificates), or name a PEM file with authorities in SSL_CERT_FILE"
            }
            Self::ProxyRefused { .. } => {
                "give it as HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT, or exclude the host of the API with NO_PROXY"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Whether the same call may be sent again.
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Transport { .. } | Self::OutsideContract { retryable: true, .. }
        )
    }

    /// The pause that the API asked for; no request is sent before it has passed.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        if let Self::Busy { retry_after, .. } = self { *retry_after } else { None }
    }

    /// Earliest time to run again; none if unknown.
    pub(crate) fn run_again_after(&self) -> Option<Timestamp> {
        match self {
            Self::BudgetSpent { until, .. } => *until,
            Self::WaitTooLong { until, .. } => Some(*until),
            _ => None,
        }
    }

    /// Whether a later run may resume: a spent budget, a long pause, a deadline, a signal.
    pub(crate) fn is_pause(&self) -> bool {
        matches!(self, Self::BudgetSpent { .. } | Self::WaitTooLong { .. } | Self::Stopped)
    }
}
