//! Holds each request back until the account's windows, the API's pauses and the run's own bounds allow it.

use super::error::{ClientError, Window};
use super::ledger::{Allowance, Counts, Ledger, Verdict};
use super::stop::Stop;
use crate::contract::account::{Account, Remaining};
use crate::contract::eastern::{day_start, eastern_day, plus_days};
use jiff::Timestamp;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// The wall clock, passed in by the outermost layer.
pub type Clock = fn() -> Timestamp;

/// What a run may spend.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    /// Requests a day left for the account's other users.
    pub keep_per_day: u32,
    /// Requests a month left for the account's other users.
    pub keep_per_month: u32,
    /// Requests of this run; none means no bound of its own.
    pub max_requests: Option<u64>,
    /// Time of this run; none means no bound of its own.
    pub max_time: Option<Duration>,
}

/// The gate each request passes.
#[derive(Debug)]
pub struct Budget {
    ledger: Ledger,
    clock: Clock,
    bounds: Bounds,
    caps: Mutex<Option<Allowance>>,
    sent: AtomicU64,
    deadline: Option<Instant>,
    stop: Stop,
}

/// Before `/v1/me` has ever spoken: the smallest plan's pace.
const UNKNOWN_CAPS: Allowance = Allowance { per_minute: 20, per_day: u32::MAX, per_month: u32::MAX };

/// Added to a pause, so that a clock running a little faster than the server's does not end it early.
const PAUSE_MARGIN_MS: i64 = 50;

impl Budget {
    /// A gate over the ledger of one account.
    pub fn new(ledger: Ledger, clock: Clock, bounds: Bounds, stop: Stop) -> Self {
        let deadline = bounds.max_time.map(|time| Instant::now() + time);
        let caps = Mutex::new(None);
        Self { ledger, clock, bounds, caps, sent: AtomicU64::new(0), deadline, stop }
    }

    /// Requests sent through this gate.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Takes over caps and remaining requests from the account record.
    ///
    /// # Errors
    /// `Ledger` when the file cannot be kept.
    pub fn learn(&self, account: &Account) -> Result<(), ClientError> {
        let limits = account.limits;
        let caps =
            Allowance { per_minute: limits.per_minute, per_day: limits.per_day, per_month: limits.per_month };
        if let Ok(mut known) = self.caps.lock() {
            *known = Some(caps);
        }
        let now = (self.clock)();
        self.update(|counts| counts.correct(now, &caps, &account.remaining))
    }

    /// Requests this run may still send in each window, by the ledger.
    ///
    /// # Errors
    /// `Ledger` when the file cannot be read.
    pub fn remaining(&self) -> Result<Remaining, ClientError> {
        let now = (self.clock)();
        self.update(|counts| counts.remaining(now, &self.allowance(counts)))
    }

    /// Waits until one request may go out and counts it; gives the instant it was counted at.
    ///
    /// # Errors
    /// `BudgetSpent`, `WaitTooLong`, `Stopped` or `Ledger`; nothing was counted then.
    pub(super) async fn admit(&self) -> Result<Timestamp, ClientError> {
        if self.bounds.max_requests.is_some_and(|most| self.sent() >= most) {
            return Err(spent(Window::Run, "a new run".to_owned()));
        }
        loop {
            self.stop.check()?;
            let now = (self.clock)();
            let wait_ms = match self.update(|counts| counts.admit(now, &self.allowance(counts)))? {
                Verdict::Go => {
                    self.sent.fetch_add(1, Ordering::Relaxed);
                    return Ok(now);
                }
                Verdict::WaitMinute(ms) | Verdict::WaitAsked(ms) => ms,
                Verdict::DaySpent => return Err(spent(Window::Day, next_day(now))),
                Verdict::MonthSpent => return Err(spent(Window::Month, next_month(now))),
            };
            self.wait(Duration::from_millis(u64::try_from(wait_ms).unwrap_or(1))).await?;
        }
    }

    /// The request counted at `sent` has its answer, or will have none.
    pub(super) fn settle(&self, sent: Timestamp) -> Result<(), ClientError> {
        let now = (self.clock)();
        self.update(|counts| counts.settle(sent, now))
    }

    /// What tells the run to stop.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Holds every request of the account back for as long as the API asked.
    pub(super) fn pause(&self, pause: Duration) -> Result<(), ClientError> {
        let ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX / 2) + PAUSE_MARGIN_MS;
        let until = (self.clock)().as_millisecond().saturating_add(ms);
        let until = Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX);
        self.update(|counts| counts.pause_until(until))
    }

    /// Sleeps, unless that would pass the deadline or the run is told to stop meanwhile.
    pub(super) async fn wait(&self, pause: Duration) -> Result<(), ClientError> {
        if !self.may_wait(pause) {
            return Err(ClientError::WaitTooLong { wait_secs: pause.as_secs_f64().ceil() as u64 });
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(()),
            () = self.stop.told() => Err(ClientError::Stopped),
        }
    }

    /// Whether a pause ends before the run must.
    pub(super) fn may_wait(&self, pause: Duration) -> bool {
        pause <= self.longest_pause()
            && self.deadline.is_none_or(|deadline| Instant::now() + pause <= deadline)
    }

    /// Without a deadline of its own a run sits out minutes, not days.
    fn longest_pause(&self) -> Duration {
        self.bounds.max_time.unwrap_or(Duration::from_secs(15 * 60))
    }

    /// Ends the run's requests once its time is over.
    pub(super) fn check_deadline(&self) -> Result<(), ClientError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(spent(Window::Time, "a new run".to_owned())),
            _ => Ok(()),
        }
    }

    /// What may be used: the caps that `/v1/me` gave this process, else those it gave an earlier one.
    fn allowance(&self, counts: &Counts) -> Allowance {
        let known = self.caps.lock().ok().and_then(|caps| *caps);
        let caps = known.or(counts.caps()).unwrap_or(UNKNOWN_CAPS);
        Allowance {
            per_minute: caps.per_minute,
            per_day: caps.per_day.saturating_sub(self.bounds.keep_per_day),
            per_month: caps.per_month.saturating_sub(self.bounds.keep_per_month),
        }
    }

    fn update<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> Result<T, ClientError> {
        self.ledger
            .update(change)
            .map_err(|source| ClientError::Ledger { path: self.ledger.path().display().to_string(), source })
    }
}

fn spent(window: Window, until: String) -> ClientError {
    ClientError::BudgetSpent { window, until }
}

fn next_day(now: Timestamp) -> String {
    day_start(plus_days(eastern_day(now), 1)).to_string()
}

fn next_month(now: Timestamp) -> String {
    let last = eastern_day(now).last_of_month();
    day_start(plus_days(last, 1)).to_string()
}
