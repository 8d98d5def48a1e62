//! Pauses between requests, for those who watch a run; and how long the account's windows will delay requests.

use super::counts::{Allowance, Counts};
use crate::contract::account::Remaining;
use jiff::Timestamp;
use std::time::Duration;

/// Why no request is sent for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseReason {
    /// The minute's requests are spent.
    Minute,
    /// The API asked for it, by a `Retry-After`.
    Asked,
    /// A request failed and is sent again.
    Retry,
}

/// A pause that begins now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Why.
    pub reason: PauseReason,
    /// How long, at most.
    pub length: Duration,
}

/// The account's windows as they were when the last request was sent or delayed.
#[derive(Debug, Clone)]
pub(crate) struct Quota {
    pub(super) counts: Counts,
    pub(super) allowance: Allowance,
}

impl Quota {
    /// Requests left in each window; none while the account's limits are unknown.
    pub(crate) fn remaining(&mut self, now: Timestamp) -> Option<Remaining> {
        self.counts.caps.map(|_| self.counts.remaining(now, &self.allowance))
    }

    /// How long, about, the minute's limit and the API's pause delay the last of this many more requests.
    pub(crate) fn delay(&mut self, requests: u64, now: Timestamp) -> Duration {
        let ms = self.counts.delay_ms(requests, now, &self.allowance);
        Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }
}
