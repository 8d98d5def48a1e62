//! The account's requests, counted in one file that every process of the host shares.
//!
//! A request is written down before it is sent and settled when its answer is in, so that a kill
//! between the two forgets nothing. The minute is kept as slots of a quarter second: a slot leaves
//! 60 s after its end, measured from answers, so no minute the server may draw, fixed or rolling,
//! ever holds more than the plan allows.

use crate::contract::account::Remaining;
use crate::contract::eastern::{eastern_day, month_of};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const SLOT_MS: i64 = 250;
const MINUTE_MS: i64 = 60_000;
/// An unsettled request this old belongs to a process that is gone, and its minute has passed.
const ABANDONED_MS: i64 = 180_000;

/// Requests allowed in each window, after what is kept for the account's other users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// A minute.
    pub per_minute: u32,
    /// An Eastern day.
    pub per_day: u32,
    /// An Eastern month.
    pub per_month: u32,
}

/// Requests used in each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The last 60 s.
    pub minute: u32,
    /// This Eastern day.
    pub day: u32,
    /// This Eastern month.
    pub month: u32,
}

/// What the ledger says to a request that wants to go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is written down; send it.
    Go,
    /// Not before this many milliseconds have passed: the minute is full.
    WaitMinute(i64),
    /// Not before this many milliseconds have passed: the API asked for a pause.
    WaitAsked(i64),
    /// The day's allowance is spent.
    DaySpent,
    /// The month's allowance is spent.
    MonthSpent,
}

/// The counts themselves: pure, and the whole content of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Slot number and requests whose answers came in it.
    slots: Vec<(i64, u32)>,
    /// When each request still under way was sent, in ms.
    under_way: Vec<i64>,
    day: String,
    day_used: u32,
    month: String,
    month_used: u32,
    /// No request before this instant, in ms: the API's Retry-After.
    not_before: i64,
    /// Caps of the account as `/v1/me` gave them last.
    #[serde(default)]
    caps: Option<Allowance>,
}

impl Counts {
    fn roll(&mut self, now: Timestamp) {
        let now_ms = now.as_millisecond();
        let oldest = (now_ms - MINUTE_MS).div_euclid(SLOT_MS);
        let newest = now_ms.div_euclid(SLOT_MS);
        for slot in &mut self.slots {
            // A clock set back would keep a slot for ever.
            slot.0 = slot.0.min(newest);
        }
        self.slots.retain(|(slot, _)| *slot >= oldest);
        self.under_way.retain(|sent| now_ms - sent < ABANDONED_MS);
        let today = eastern_day(now);
        let (day, month) = (today.to_string(), month_of(today));
        if self.day != day {
            (self.day, self.day_used) = (day, 0);
        }
        if self.month != month {
            (self.month, self.month_used) = (month, 0);
        }
    }

    /// Caps of the account as `/v1/me` gave them last; none before it was asked.
    pub fn caps(&self) -> Option<Allowance> {
        self.caps
    }

    fn minute_used(&self) -> u32 {
        self.slots.iter().map(|(_, count)| count).sum::<u32>() + self.under_way.len() as u32
    }

    /// Asks to send one request now; `Go` has already counted it.
    pub fn admit(&mut self, now: Timestamp, allowance: &Allowance) -> Verdict {
        self.roll(now);
        let now_ms = now.as_millisecond();
        if now_ms < self.not_before {
            return Verdict::WaitAsked(self.not_before - now_ms);
        }
        if self.month_used >= allowance.per_month {
            return Verdict::MonthSpent;
        }
        if self.day_used >= allowance.per_day {
            return Verdict::DaySpent;
        }
        if self.minute_used() >= allowance.per_minute {
            let oldest = self.slots.first().map_or(now_ms.div_euclid(SLOT_MS), |(slot, _)| *slot);
            return Verdict::WaitMinute(((oldest + 1) * SLOT_MS + MINUTE_MS - now_ms).max(1));
        }
        self.under_way.push(now_ms);
        self.day_used += 1;
        self.month_used += 1;
        Verdict::Go
    }

    /// The answer of a request sent at `sent` came, or will not come.
    pub fn settle(&mut self, sent: Timestamp, now: Timestamp) {
        let sent_ms = sent.as_millisecond();
        if let Some(at) = self.under_way.iter().position(|known| *known == sent_ms) {
            self.under_way.swap_remove(at);
        }
        self.count(now, 1);
    }

    fn count(&mut self, now: Timestamp, requests: u32) {
        let slot = now.as_millisecond().div_euclid(SLOT_MS);
        match self.slots.last_mut() {
            Some((last, count)) if *last == slot => *count += requests,
            _ => self.slots.push((slot, requests)),
        }
    }

    /// Notes a pause the API asked for; a shorter one never shortens a longer one.
    pub fn pause_until(&mut self, instant: Timestamp) {
        self.not_before = self.not_before.max(instant.as_millisecond());
    }

    /// Takes over what `/v1/me` says: caps as they are, remaining requests downwards only, as others may use the account, nobody gives back.
    pub fn correct(&mut self, now: Timestamp, caps: &Allowance, remaining: &Remaining) {
        self.roll(now);
        self.caps = Some(*caps);
        self.day_used = self.day_used.max(caps.per_day.saturating_sub(remaining.day));
        self.month_used = self.month_used.max(caps.per_month.saturating_sub(remaining.month));
        let elsewhere = caps.per_minute.saturating_sub(remaining.minute).saturating_sub(self.minute_used());
        if elsewhere > 0 {
            self.count(now, elsewhere);
        }
    }

    /// Requests used in each window by this ledger.
    pub fn used(&mut self, now: Timestamp) -> Used {
        self.roll(now);
        Used { minute: self.minute_used(), day: self.day_used, month: self.month_used }
    }

    /// Requests left in each window by this ledger.
    pub fn remaining(&mut self, now: Timestamp, allowance: &Allowance) -> Remaining {
        self.roll(now);
        Remaining {
            minute: allowance.per_minute.saturating_sub(self.minute_used()),
            day: allowance.per_day.saturating_sub(self.day_used),
            month: allowance.per_month.saturating_sub(self.month_used),
        }
    }
}

/// The file that holds `Counts`, changed only under its lock.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// A ledger at this path; the file comes with the first request.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads, changes and writes the counts as one step among all processes.
    ///
    /// # Errors
    /// What the file system says. A file that does not read as a ledger is an error too: counts are never guessed.
    pub fn update<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> io::Result<T> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let lock = File::options().create(true).append(true).open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let mut counts = self.read()?;
        let result = change(&mut counts);
        let staged = self.path.with_extension("staged");
        let mut file = File::create(&staged)?;
        file.write_all(&serde_json::to_vec(&counts).map_err(io::Error::other)?)?;
        std::fs::rename(&staged, &self.path)?;
        Ok(result)
    }

    fn read(&self) -> io::Result<Counts> {
        match std::fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("not a ledger ({error}); remove it to start from /v1/me"),
                )
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Counts::default()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWANCE: Allowance = Allowance { per_minute: 3, per_day: 10, per_month: 20 };

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_785_500_000_000 + ms).expect("an instant")
    }

    fn send(counts: &mut Counts, ms: i64) -> Verdict {
        let verdict = counts.admit(at(ms), &ALLOWANCE);
        if verdict == Verdict::Go {
            counts.settle(at(ms), at(ms + 40));
        }
        verdict
    }

    #[test]
    fn no_sixty_seconds_hold_more_than_the_minute_allows() {
        let mut counts = Counts::default();
        let mut sent = Vec::new();
        let mut ms = 0;
        while sent.len() < 9 {
            match send(&mut counts, ms) {
                Verdict::Go => sent.push(ms),
                Verdict::WaitMinute(wait) => ms += wait,
                other => panic!("{other:?}"),
            }
        }
        assert!(sent.windows(4).all(|four| four[3] - four[0] > 60_000), "{sent:?}");
        assert!(sent[8] < 123_000, "the allowance is used: {sent:?}");
    }

    #[test]
    fn a_killed_request_still_counts() {
        let mut counts = Counts::default();
        for _ in 0..3 {
            assert_eq!(counts.admit(at(0), &ALLOWANCE), Verdict::Go);
        }
        assert!(matches!(counts.admit(at(1_000), &ALLOWANCE), Verdict::WaitMinute(_)));
    }

    #[test]
    fn the_day_is_spent_until_the_next_and_the_month_goes_on() {
        let mut counts = Counts::default();
        let wide = Allowance { per_minute: 1_000, ..ALLOWANCE };
        for _ in 0..10 {
            assert_eq!(counts.admit(at(0), &wide), Verdict::Go);
        }
        assert_eq!(counts.admit(at(1), &wide), Verdict::DaySpent);
        let next_day = at(24 * 3_600_000);
        assert_eq!(counts.admit(next_day, &wide), Verdict::Go);
        assert_eq!(counts.remaining(next_day, &wide).day, 9);
    }

    #[test]
    fn the_account_record_corrects_downwards_only() {
        let mut counts = Counts::default();
        send(&mut counts, 0);
        counts.correct(at(100), &ALLOWANCE, &Remaining { minute: 1, day: 4, month: 20 });
        assert_eq!(counts.remaining(at(100), &ALLOWANCE), Remaining { minute: 1, day: 4, month: 19 });
        counts.correct(at(200), &ALLOWANCE, &Remaining { minute: 3, day: 10, month: 20 });
        assert_eq!(counts.remaining(at(200), &ALLOWANCE).day, 4);
    }

    #[test]
    fn a_pause_asked_for_holds_everything_back() {
        let mut counts = Counts::default();
        counts.pause_until(at(5_000));
        counts.pause_until(at(2_000));
        assert_eq!(counts.admit(at(1_000), &ALLOWANCE), Verdict::WaitAsked(4_000));
        assert_eq!(counts.admit(at(5_000), &ALLOWANCE), Verdict::Go);
    }

    #[test]
    fn a_damaged_ledger_is_told_and_not_guessed() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::at(folder.path().join("budget.json"));
        ledger.update(|counts| counts.admit(at(0), &ALLOWANCE)).expect("a first request");
        std::fs::write(ledger.path(), b"{").expect("damage");
        assert!(ledger.update(|_| ()).is_err());
    }
}
