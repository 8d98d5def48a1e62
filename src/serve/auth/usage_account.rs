//! The counts of one account: what was counted, what the file has of it, and who waits for that.

use super::usage_file::Line;
use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use crate::contract::usage::{Refusal, Usage};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// One request in this many is written ahead.
const REQUESTS_PER_RESERVE: u32 = 100;
const MAX_RESERVE: u32 = 1_000;
/// Keys of an account whose last use is remembered: more than a plan has, and revoked ones.
pub(super) const MAX_KEYS: usize = 64;
/// A use of a key that is this much later than the last one is written at once.
const NEWS: SignedDuration = SignedDuration::from_hours(1);

/// The counts of one account.
#[derive(Debug, Default)]
pub(super) struct Account {
    name: String,
    counts: Mutex<Counts>,
    /// Notified after each write.
    written: Notify,
}

#[derive(Debug, Default)]
struct Counts {
    usage: Usage,
    /// Last use of each key, by its id.
    keys: BTreeMap<String, Timestamp>,
    /// What the file has: these counts, or more.
    line: Usage,
    /// Requests to write ahead.
    reserve: u32,
    /// Number of the last change.
    change: u64,
    /// The last change that the file has.
    kept: u64,
    /// The last change whose write failed.
    failed: u64,
    is_queued: bool,
}

impl Account {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// An account as the file has it.
    pub(super) fn read(line: Line) -> Self {
        let counts = Counts { usage: line.usage, line: line.usage, keys: line.keys, ..Counts::default() };
        Self { name: line.account, counts: Mutex::new(counts), ..Self::default() }
    }

    /// Counts one request with a key. Returns whether the line is to be queued.
    pub(super) fn admit(
        &self,
        key: &str,
        now: Timestamp,
        limits: &PlanLimits,
        reset: impl FnOnce(),
    ) -> Result<bool, Refusal> {
        let mut counts = self.lock();
        if counts.usage.is_ahead(now) {
            reset();
        }
        counts.usage.admit(now, limits)?;
        let is_news = counts.used(key, now);
        counts.reserve = reserve(limits);
        Ok(counts.changed(is_news))
    }

    pub(super) fn remaining(&self, now: Timestamp, limits: &PlanLimits) -> Remaining {
        self.lock().usage.remaining(now, limits)
    }

    /// Whether the file lacks requests and nobody is about to write them; the line is then to be queued.
    pub(super) fn is_due(&self) -> bool {
        let mut counts = self.lock();
        counts.kept < counts.change && !std::mem::replace(&mut counts.is_queued, true)
    }

    /// Whether the line is not exactly the counts; it is then to be queued once more, with nothing ahead.
    pub(super) fn settle(&self) -> bool {
        let mut counts = self.lock();
        counts.reserve = 0;
        let is_other = counts.line != counts.usage || counts.kept < counts.change;
        counts.change += u64::from(is_other);
        is_other
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The line to write, and the last change that it has.
    pub(super) fn take(&self) -> (u64, Line) {
        let mut counts = self.lock();
        counts.is_queued = false;
        let usage = counts.usage.with_reserve(counts.reserve);
        (counts.change, Line { account: self.name.clone(), usage, keys: counts.keys.clone() })
    }

    /// Takes note that a line was written, or could not be.
    pub(super) fn wrote(&self, change: u64, line: &Line, is_written: bool) {
        let mut counts = self.lock();
        if is_written {
            counts.line = line.usage;
            let is_ahead = counts.reserve > 0 && line.usage.covers(&counts.usage);
            counts.kept = if is_ahead { counts.change } else { change };
        } else {
            counts.failed = change;
        }
        drop(counts);
        self.written.notify_waiters();
    }

    /// The number of the last change.
    pub(super) fn last_change(&self) -> u64 {
        self.lock().change
    }

    /// Whether the file has a change; `None` while that is open.
    pub(super) fn state(&self, change: u64) -> Option<bool> {
        let counts = self.lock();
        (counts.kept >= change || counts.failed >= change).then_some(counts.kept >= change)
    }

    /// Waits until a change is written; false if it cannot be.
    pub(super) async fn kept(&self, change: u64) -> bool {
        loop {
            // Before the look: a write in between is not missed.
            let written = self.written.notified();
            if let Some(is_kept) = self.state(change) {
                return is_kept;
            }
            written.await;
        }
    }
}

impl Counts {
    /// Takes note of a change, which the line may have already unless it is news; whether it is to be queued.
    fn changed(&mut self, is_news: bool) -> bool {
        let is_behind = is_news || self.kept < self.change || !self.line.covers(&self.usage);
        self.change += 1;
        if !is_behind {
            self.kept = self.change;
            return false;
        }
        !std::mem::replace(&mut self.is_queued, true)
    }

    /// Takes note of the use of a key; whether that is news.
    fn used(&mut self, key: &str, now: Timestamp) -> bool {
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        if let Some(last) = self.keys.get_mut(key) {
            return now.duration_since(std::mem::replace(last, now)) >= NEWS;
        }
        if self.keys.len() >= MAX_KEYS
            && let Some(oldest) = self.keys.iter().min_by_key(|(_, last)| **last).map(|(key, _)| key.clone())
        {
            self.keys.remove(&oldest);
        }
        self.keys.insert(key.to_owned(), now);
        true
    }
}

/// Requests of an account that are written ahead.
fn reserve(limits: &PlanLimits) -> u32 {
    let least = limits.per_minute.min(limits.per_day).min(limits.per_month);
    (least / REQUESTS_PER_RESERVE).min(MAX_RESERVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_keys_used_last_are_remembered() {
        let mut counts = Counts::default();
        for number in 0..100 {
            counts.used("key_0", Timestamp::from_second(number).expect("an instant"));
            counts.used(&format!("key_{number}"), Timestamp::from_second(number).expect("an instant"));
        }
        assert_eq!(counts.keys.len(), MAX_KEYS);
        assert!(["key_0", "key_99", "key_40"].iter().all(|key| counts.keys.contains_key(*key)));
    }
}
