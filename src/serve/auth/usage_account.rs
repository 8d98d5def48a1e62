//! The counts of one account, and what the file has of them.

use super::counted::Use;
use super::usage_file::{Line, Place};
use crate::contract::account::Remaining;
use crate::contract::plan::PlanLimits;
use crate::contract::usage::Refusal;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One request in this many is written ahead.
const REQUESTS_PER_RESERVE: u32 = 100;
const MAX_RESERVE: u32 = 1_000;
/// Keys of an account whose last use is remembered: more than a plan has, and revoked ones.
pub(super) const MAX_KEYS: usize = 64;
/// A use of a key that is this much later than the last one is written at once.
const NEWS: SignedDuration = SignedDuration::from_hours(1);

/// The counts of one account.
#[derive(Debug)]
pub(super) struct Account {
    counts: Mutex<Counts>,
    /// Where its line is. Only the holder of this lock writes the line.
    pub(super) place: Arc<tokio::sync::Mutex<Option<Place>>>,
}

#[derive(Debug)]
struct Counts {
    line: Line,
    /// What the file has: these counts, or more.
    written: Line,
}

impl Account {
    pub(super) fn new(line: Line, place: Option<Place>) -> Self {
        let written = line.clone();
        Self { counts: Mutex::new(Counts { line, written }), place: Arc::new(tokio::sync::Mutex::new(place)) }
    }

    /// Counts one request.
    pub(super) fn admit(&self, used: Use<'_>, reset: impl FnOnce(&str)) -> Result<(), Refusal> {
        let line = &mut self.lock().line;
        if line.usage.is_ahead(used.now) {
            reset(&line.account);
        }
        line.usage.admit(used.now, used.limits)?;
        note_use(&mut line.keys, used.key, used.now);
        Ok(())
    }

    pub(super) fn remaining(&self, now: Timestamp, limits: &PlanLimits) -> Remaining {
        self.lock().line.usage.remaining(now, limits)
    }

    /// Whether a crash now forgets nothing: the file has each request, and each use of a key to the hour.
    pub(super) fn is_kept(&self) -> bool {
        let counts = self.lock();
        let is_known = |(key, last): (&String, &Timestamp)| {
            counts.written.keys.get(key).is_some_and(|written| last.duration_since(*written) < NEWS)
        };
        counts.written.usage.covers(&counts.line.usage) && counts.line.keys.iter().all(is_known)
    }

    /// Whether the file has exactly these counts.
    pub(super) fn is_exact(&self) -> bool {
        let counts = self.lock();
        counts.written == counts.line
    }

    /// The line to write, with some requests ahead.
    pub(super) fn line(&self, reserve: u32) -> Line {
        let line = self.lock().line.clone();
        Line { usage: line.usage.with_reserve(reserve), ..line }
    }

    /// Takes note of what was written.
    pub(super) fn wrote(&self, line: Line) {
        self.lock().written = line;
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes note of the use of a key, and forgets the oldest of too many.
fn note_use(keys: &mut BTreeMap<String, Timestamp>, key: &str, now: Timestamp) {
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    if let Some(last) = keys.get_mut(key) {
        *last = now;
        return;
    }
    if keys.len() >= MAX_KEYS
        && let Some(oldest) = keys.iter().min_by_key(|(_, last)| **last).map(|(key, _)| key.clone())
    {
        keys.remove(&oldest);
    }
    keys.insert(key.to_owned(), now);
}

/// Requests of an account that are written ahead.
pub(super) fn reserve(limits: &PlanLimits) -> u32 {
    let least = limits.per_minute.min(limits.per_day).min(limits.per_month);
    (least / REQUESTS_PER_RESERVE).min(MAX_RESERVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_keys_used_last_are_remembered() {
        let mut keys = BTreeMap::new();
        for number in 0..100 {
            note_use(&mut keys, "key_0", Timestamp::from_second(number).expect("an instant"));
            note_use(
                &mut keys,
                &format!("key_{number}"),
                Timestamp::from_second(number).expect("an instant"),
            );
        }
        assert_eq!(keys.len(), MAX_KEYS);
        assert!(["key_0", "key_99", "key_40"].iter().all(|key| keys.contains_key(*key)));
    }
}
