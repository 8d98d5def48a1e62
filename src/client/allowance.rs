//! Requests allowed and used in each window of an account.

use crate::contract::account::AccountLimits;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Requests allowed in each window: minute, Eastern day, Eastern month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Allowance {
    pub(crate) per_minute: u32,
    pub(crate) per_day: u32,
    pub(crate) per_month: u32,
}

impl From<AccountLimits> for Allowance {
    fn from(limits: AccountLimits) -> Self {
        Self { per_minute: limits.per_minute, per_day: limits.per_day, per_month: limits.per_month }
    }
}

/// Requests used in each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Used {
    /// The last 60 s.
    pub(crate) minute: u32,
    pub(crate) day: u32,
    pub(crate) month: u32,
}

/// A request that was counted and may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// When it was counted.
    pub(super) at: Timestamp,
    /// Its number among all requests of the account on this host.
    pub(super) number: u64,
    /// Other requests that had no answer then.
    pub(super) others_under_way: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Send it: it is counted.
    Go(Ticket),
    /// The minute is full: wait this many milliseconds.
    WaitMinute(i64),
    /// The API asked for a pause: wait this many milliseconds.
    WaitAsked(i64),
    /// The day's requests are spent, or the account's limits allow no request per minute.
    DaySpent,
    MonthSpent,
}
