//! The budget: delays each request until the account's limits, the API's pauses and the run's own bounds allow it.

use super::block::Block;
use super::counts::{Allowance, Counts, Ticket, Verdict};
use super::error::{ClientError, Result};
use super::ledger::Ledger;
use super::pause::{Pause, PauseReason, Quota};
use crate::contract::account::{Account, Remaining};
use crate::contract::eastern::{day_start, eastern_day, plus_days};
use jiff::Timestamp;
use jiff::civil::Date;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

/// Returns the current time; the outermost layer passes it in.
pub(crate) type Clock = fn() -> Timestamp;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds {
    /// Requests a day left for the account's other users.
    pub(crate) keep_per_day: u32,
    pub(crate) keep_per_month: u32,
    /// Requests of this run; none means no bound of its own.
    pub(crate) max_requests: Option<u64>,
    pub(crate) max_time: Option<Duration>,
}

/// Lets a request pass when it may be sent.
pub(crate) struct Budget {
    ledger: Ledger,
    clock: Clock,
    pub(crate) bounds: Bounds,
    /// One request at a time waits, in order of arrival.
    gate: Mutex<()>,
    sent: AtomicU64,
    released: AtomicU64,
    /// Requests of each window that wait for a later purpose of this run.
    aside: AtomicU32,
    deadline: Option<Instant>,
    pub(super) stop: Stop,
    /// Takes every pause.
    listener: Box<dyn Fn(Pause) + Send + Sync>,
    block: std::sync::Mutex<Block>,
}

/// Limits before the first answer of `/v1/me`: the pace of the smallest plan.
const UNKNOWN_CAPS: Allowance = Allowance { per_minute: 20, per_day: u32::MAX, per_month: u32::MAX };

/// The longest pause of a run without a bound on its time.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// Added to a pause, because this clock may run faster than the server's.
const PAUSE_MARGIN: Duration = Duration::from_millis(50);

impl Budget {
    pub(crate) fn new(ledger: Ledger, clock: Clock, bounds: Bounds, stop: Stop) -> Self {
        let deadline = bounds.max_time.and_then(|time| Instant::now().checked_add(time));
        let (gate, sent, released) = (Mutex::default(), AtomicU64::new(0), AtomicU64::new(0));
        let (aside, block) = Default::default();
        let listener = Box::new(|_| {});
        Self { ledger, clock, bounds, gate, sent, released, aside, deadline, stop, listener, block }
    }

    /// The same budget, which reports its pauses to `listener`.
    pub(crate) fn reporting_to(mut self, listener: impl Fn(Pause) + Send + Sync + 'static) -> Self {
        self.listener = Box::new(listener);
        self
    }

    /// The account's windows when a request was last sent or delayed; none before.
    pub(crate) fn quota(&self) -> Option<Quota> {
        self.block().quota.clone()
    }

    /// Sets requests aside: until this is called with 0, none of them is sent.
    pub(crate) fn set_aside(&self, requests: u32) {
        self.aside.store(requests, Ordering::Relaxed);
    }

    /// Requests sent by this run.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Requests of this run without an answer.
    pub(crate) fn under_way(&self) -> u64 {
        self.sent().saturating_sub(self.released.load(Ordering::Relaxed))
    }

    /// Requests that this run may still send in each window, by the ledger.
    pub(crate) fn remaining(&self) -> Result<Remaining> {
        self.settle()?;
        let now = (self.clock)();
        self.update(|counts| counts.remaining(now, &self.allowance(counts)))
    }

    /// Requests that this run may send in a window with none used.
    pub(crate) fn per_window(&self) -> Result<Allowance> {
        if let Some(quota) = self.block().open_quota((self.clock)()) {
            return Ok(quota.allowance);
        }
        self.update(|counts| self.allowance(counts))
    }

    pub(super) fn caps_of_today(&self) -> Result<Option<Allowance>> {
        let now = (self.clock)();
        if let Some(quota) = self.block().open_quota(now) {
            return Ok(quota.counts.caps_of_today(now));
        }
        self.update(|counts| counts.caps_of_today(now))
    }

    pub(super) fn learn(&self, asked: &Ticket, account: &Account) -> Result<()> {
        self.settle()?;
        let learned = self.ledger.learn(asked, (self.clock)(), &account.limits.into(), &account.remaining);
        learned.map_err(|source| self.unkept(source))
    }

    /// Waits until a request may be sent, and counts it. After an error, nothing was counted.
    pub(super) async fn admit(&self) -> Result<Ticket> {
        let _turn = self.gate.lock().await;
        let used = self.sent() + u64::from(self.aside.load(Ordering::Relaxed));
        if self.bounds.max_requests.is_some_and(|most| used >= most) {
            return Err(spent("the run's max_requests", None));
        }
        loop {
            self.stop.check()?;
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(spent("the run's max_minutes", None));
            }
            let now = (self.clock)();
            let (reason, wait_ms) = match self.verdict(now)? {
                Verdict::Go(ticket) => {
                    self.sent.fetch_add(1, Ordering::Relaxed);
                    return Ok(ticket);
                }
                Verdict::WaitMinute(ms) => (PauseReason::Minute, ms),
                Verdict::WaitAsked(ms) => (PauseReason::Asked, ms),
                Verdict::DaySpent => {
                    let until = day_after(eastern_day(now));
                    return Err(spent("the account's requests of this Eastern day", Some(until)));
                }
                Verdict::MonthSpent => {
                    let until = day_after(eastern_day(now).last_of_month());
                    return Err(spent("the account's requests of this Eastern month", Some(until)));
                }
            };
            self.wait(reason, Duration::from_millis(u64::try_from(wait_ms).unwrap_or(1))).await?;
        }
    }

    /// Decides about one more request, and remembers the windows as they are then.
    fn verdict(&self, now: Timestamp) -> Result<Verdict> {
        let mut block = self.block();
        match block.next(now) {
            Some(ticket) => Ok(Verdict::Go(ticket)),
            None => {
                let decided = self.update(|counts| block.refill(counts, &self.allowance(counts), now));
                decided.inspect_err(|_| block.forget())
            }
        }
    }

    pub(super) fn release(&self, ticket: &Ticket) -> Result<()> {
        self.released.fetch_add(1, Ordering::Relaxed);
        let now = (self.clock)();
        let mut block = self.block();
        if block.answer(*ticket) { self.update(|counts| block.release_in(counts, now)) } else { Ok(()) }
    }

    /// Notes every answer in the ledger, and gives back what was counted and not sent.
    fn settle(&self) -> Result<()> {
        let now = (self.clock)();
        let mut block = self.block();
        if block.is_settled() { Ok(()) } else { self.update(|counts| block.settle_in(counts, now)) }
    }

    fn block(&self) -> MutexGuard<'_, Block> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn mark_stale(&self) -> Result<()> {
        self.settle()?;
        self.update(Counts::mark_stale)
    }

    /// Delays every request of the account by the pause that the API asked for.
    pub(super) fn pause(&self, pause: Duration) -> Result<()> {
        self.settle()?;
        let until = (self.clock)().checked_add(pause + PAUSE_MARGIN).unwrap_or(Timestamp::MAX);
        self.update(|counts| counts.pause_until(until))
    }

    /// Sleeps; fails when the pause is too long or the run is stopped.
    async fn wait(&self, reason: PauseReason, pause: Duration) -> Result<()> {
        if !self.may_wait(pause) {
            return Err(self.too_long(pause));
        }
        (self.listener)(Pause { reason, length: pause });
        self.stop.sleep(pause).await
    }

    /// Reports a pause before a failed request is sent again.
    pub(super) fn report_retry(&self, is_asked: bool, pause: Duration) {
        let reason = if is_asked { PauseReason::Asked } else { PauseReason::Retry };
        (self.listener)(Pause { reason, length: pause });
    }

    pub(super) fn may_wait(&self, pause: Duration) -> bool {
        pause <= self.bounds.max_time.unwrap_or(LONGEST_PAUSE)
            && self.deadline.is_none_or(|deadline| Instant::now() + pause <= deadline)
    }

    pub(super) fn too_long(&self, pause: Duration) -> ClientError {
        let wait_secs = pause.as_secs_f64().ceil() as u64;
        let wait = Duration::from_secs(wait_secs);
        let until = (self.clock)().checked_add(wait).unwrap_or(Timestamp::MAX);
        ClientError::WaitTooLong { wait_secs, until }
    }

    /// Requests that may be used: the account's limits minus what is kept for others.
    fn allowance(&self, counts: &Counts) -> Allowance {
        let caps = counts.caps.unwrap_or(UNKNOWN_CAPS);
        let aside = self.aside.load(Ordering::Relaxed);
        Allowance {
            per_minute: caps.per_minute,
            per_day: caps.per_day.saturating_sub(self.bounds.keep_per_day.saturating_add(aside)),
            per_month: caps.per_month.saturating_sub(self.bounds.keep_per_month.saturating_add(aside)),
        }
    }

    fn update<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> Result<T> {
        self.ledger.update((self.clock)(), change).map_err(|source| self.unkept(source))
    }

    fn unkept(&self, source: io::Error) -> ClientError {
        ClientError::Ledger { path: self.ledger.path().display().to_string(), source }
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        if let Err(error) = self.settle() {
            tracing::warn!("{error}");
        }
    }
}

fn spent(what: &'static str, until: Option<Timestamp>) -> ClientError {
    ClientError::BudgetSpent { what, until }
}

fn day_after(day: Date) -> Timestamp {
    day_start(plus_days(day, 1))
}

/// Whether the run is to stop; can be awaited.
#[derive(Debug, Clone)]
pub struct Stop {
    requested: watch::Receiver<bool>,
}

/// Sets a [`Stop`].
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<bool>);

impl StopSwitch {
    /// A switch and the flag it sets.
    pub fn new() -> (Self, Stop) {
        let (sender, requested) = watch::channel(false);
        (Self(sender), Stop { requested })
    }

    /// Sets the flag.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Fails once the run is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if *self.requested.borrow() { Err(ClientError::Stopped) } else { Ok(()) }
    }

    /// Sleeps; fails as soon as the run is to stop.
    pub(super) async fn sleep(&self, pause: Duration) -> Result<()> {
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(()),
            () = self.requested() => Err(ClientError::Stopped),
        }
    }

    /// Returns once the run is to stop; never, if the switch was dropped before.
    pub(crate) async fn requested(&self) {
        let mut requested = self.requested.clone();
        if requested.wait_for(|requested| *requested).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
