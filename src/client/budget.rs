//! Holds each request back until the account's windows, the API's pauses and the run's own bounds allow it.

use super::counts::{Allowance, Counts, Ticket, Verdict};
use super::error::{ClientError, Window};
use super::ledger::Ledger;
use super::stop::Stop;
use crate::contract::account::{Account, Remaining};
use crate::contract::eastern::{day_start, eastern_day, plus_days};
use jiff::{SignedDuration, Timestamp};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
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
    /// One request at a time waits for its turn, in the order in which they came.
    gate: Mutex<()>,
    sent: AtomicU64,
    settled: AtomicU64,
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
        let deadline = bounds.max_time.and_then(|time| Instant::now().checked_add(time));
        let (gate, sent, settled) = (Mutex::default(), AtomicU64::new(0), AtomicU64::new(0));
        Self { ledger, clock, bounds, gate, sent, settled, deadline, stop }
    }

    /// Requests sent through this gate.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Requests sent through this gate that have no answer yet.
    pub fn under_way(&self) -> u64 {
        self.sent().saturating_sub(self.settled.load(Ordering::Relaxed))
    }

    /// The run's own bound on its requests.
    pub fn max_requests(&self) -> Option<u64> {
        self.bounds.max_requests
    }

    /// Requests this run may still send in each window, by the ledger.
    ///
    /// # Errors
    /// `Ledger` when the file cannot be read.
    pub fn remaining(&self) -> Result<Remaining, ClientError> {
        let now = (self.clock)();
        self.update(|counts| counts.remaining(now, &self.allowance(counts)))
    }

    /// Requests this run may send in windows of which nothing is used.
    ///
    /// # Errors
    /// `Ledger` when the file cannot be read.
    pub fn per_window(&self) -> Result<Allowance, ClientError> {
        self.update(|counts| self.allowance(counts))
    }

    /// Caps of the account, where `/v1/me` gave them this Eastern day and nothing speaks against the counts since.
    pub(super) fn caps_of_today(&self) -> Result<Option<Allowance>, ClientError> {
        let now = (self.clock)();
        self.update(|counts| counts.caps_of_today(now))
    }

    /// Takes over what `/v1/me` said.
    pub(super) fn learn(&self, asked: &Ticket, account: &Account) -> Result<(), ClientError> {
        let learned = self.ledger.learn(asked, (self.clock)(), &account.limits.into(), &account.remaining);
        learned.map_err(|source| self.unkept(source))
    }

    /// Waits until one request may go out and counts it.
    ///
    /// # Errors
    /// `BudgetSpent`, `WaitTooLong`, `Stopped` or `Ledger`; nothing was counted then.
    pub(super) async fn admit(&self) -> Result<Ticket, ClientError> {
        let _turn = self.gate.lock().await;
        if self.bounds.max_requests.is_some_and(|most| self.sent() >= most) {
            return Err(spent(Window::Run, None));
        }
        loop {
            self.stop.check()?;
            self.check_deadline()?;
            let now = (self.clock)();
            let wait_ms = match self.update(|counts| counts.admit(now, &self.allowance(counts)))? {
                Verdict::Go(ticket) => {
                    self.sent.fetch_add(1, Ordering::Relaxed);
                    return Ok(ticket);
                }
                Verdict::WaitMinute(ms) | Verdict::WaitAsked(ms) => ms,
                Verdict::DaySpent => return Err(spent(Window::Day, Some(next_day(now)))),
                Verdict::MonthSpent => return Err(spent(Window::Month, Some(next_month(now)))),
            };
            self.wait(Duration::from_millis(u64::try_from(wait_ms).unwrap_or(1))).await?;
        }
    }

    /// The request of this ticket has its answer, or will have none.
    pub(super) fn settle(&self, ticket: &Ticket) -> Result<(), ClientError> {
        self.settled.fetch_add(1, Ordering::Relaxed);
        let now = (self.clock)();
        self.update(|counts| counts.settle(ticket, now))
    }

    /// The API refused a request that the ledger had room for.
    pub(super) fn doubt(&self) -> Result<(), ClientError> {
        self.update(Counts::doubt)
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
            return Err(self.too_long(pause));
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

    /// The error of a pause that is longer than the run may wait.
    pub(super) fn too_long(&self, pause: Duration) -> ClientError {
        let wait_secs = pause.as_secs_f64().ceil() as u64;
        let wait = SignedDuration::from_secs(i64::try_from(wait_secs).unwrap_or(i64::MAX));
        let until = (self.clock)().checked_add(wait).unwrap_or(Timestamp::MAX);
        ClientError::WaitTooLong { wait_secs, until }
    }

    /// Without a deadline of its own a run sits out minutes, not days.
    fn longest_pause(&self) -> Duration {
        self.bounds.max_time.unwrap_or(Duration::from_secs(15 * 60))
    }

    /// Ends the run's requests once its time is over.
    fn check_deadline(&self) -> Result<(), ClientError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(spent(Window::Time, None)),
            _ => Ok(()),
        }
    }

    /// What may be used: the caps that `/v1/me` gave last, less what is kept for others.
    fn allowance(&self, counts: &Counts) -> Allowance {
        let caps = counts.caps().unwrap_or(UNKNOWN_CAPS);
        Allowance {
            per_minute: caps.per_minute,
            per_day: caps.per_day.saturating_sub(self.bounds.keep_per_day),
            per_month: caps.per_month.saturating_sub(self.bounds.keep_per_month),
        }
    }

    fn update<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> Result<T, ClientError> {
        self.ledger.update((self.clock)(), change).map_err(|source| self.unkept(source))
    }

    fn unkept(&self, source: io::Error) -> ClientError {
        ClientError::Ledger { path: self.ledger.path().display().to_string(), source }
    }
}

fn spent(window: Window, until: Option<Timestamp>) -> ClientError {
    ClientError::BudgetSpent { window, until }
}

fn next_day(now: Timestamp) -> Timestamp {
    day_start(plus_days(eastern_day(now), 1))
}

fn next_month(now: Timestamp) -> Timestamp {
    let last = eastern_day(now).last_of_month();
    day_start(plus_days(last, 1))
}
