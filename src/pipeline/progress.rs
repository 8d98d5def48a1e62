//! What a run reports while it works: one event at a time, and how far it is.

use super::plan::lake_view::Coverage;
use super::publish::summary::Requests;
use super::state::run_state::WantedDays;
use crate::client::{Budget, Pause, PauseReason};
use crate::contract::eastern::span_days;
use jiff::Timestamp;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What happens in a run.
#[derive(Debug)]
pub enum Event<'e> {
    /// A run begins or resumes, with this folder.
    Begun(&'e Path),
    /// The requests of the run's reading so far, before anything else can fail.
    Spent(&'e Requests),
    /// An answer came, or a range of days is complete.
    Reading(Reading),
    /// No request is sent for a while.
    Pausing(Pause),
    /// The run has read what it wanted, and does this next.
    Working(Work),
    /// A part of the run is done.
    Done(Done),
}

/// How far the reading is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// Answers, from the API or the archive.
    pub requests: u64,
    /// Answers that the run is estimated to take; none before the estimate.
    pub planned: Option<u64>,
    /// Rows on the pages so far.
    pub filings: u64,
    /// Complete days. The listings of a run are read one after the other, and each counts as its part of a day.
    pub days: u64,
    /// Days wanted; 0 where a pipeline reads no days.
    pub days_wanted: u64,
    /// Requests left today and this month; none before the account's limits are known.
    pub quota: Option<(u32, u32)>,
    /// Estimated time that the requests left take; none before the estimate.
    pub time_left: Option<Duration>,
}

/// What a run does after its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Merges rows into tables.
    Merging,
    /// Computes this many aggregates.
    AddingUp(u64),
    /// Checks, commits, and writes catalogue and report.
    Publishing,
}

/// A finished part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// Read this many filings in that time.
    Read(u64, Duration),
    /// Looked up this many businesses in that time.
    LookedUp(u64, Duration),
    /// Computed this many aggregates in that time.
    AddedUp(u64, Duration),
    /// Published this snapshot.
    Published(u64),
    /// Left this snapshot for review.
    Held(u64),
    /// Nothing differs from this snapshot.
    Unchanged(Option<u64>),
}

/// Takes what happens in a run.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(Event<'_>) + Send + Sync>);

impl Events {
    /// Passes every event to a function.
    pub fn new(listener: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    pub(crate) fn report(&self, event: Event<'_>) {
        (self.0)(event);
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

/// How far a run is; shared by its steps.
#[derive(Clone)]
pub(crate) struct Progress {
    events: Events,
    tally: Arc<Mutex<Tally>>,
}

#[derive(Debug)]
struct Tally {
    reading: Reading,
    plan: Option<Plan>,
    wanted: Option<WantedDays>,
    /// Answers from the API, and when the first was asked for.
    answers: u64,
    begun: Instant,
    /// Time in which requests were delayed.
    paused: Duration,
}

impl Progress {
    pub(crate) fn new(events: Events) -> Self {
        Self { events, tally: Arc::new(Mutex::new(Tally::new())) }
    }

    /// Forgets the run before.
    pub(crate) fn restart(&self) {
        self.with(|tally| *tally = Tally::new());
    }

    /// Passes on the pauses of a client.
    pub(crate) fn pauses(&self) -> impl Fn(Pause) + Send + Sync + 'static {
        let progress = self.clone();
        move |pause| {
            // A retry may overlap other requests, whose time counts.
            if pause.reason != PauseReason::Retry {
                progress.with(|tally| tally.paused += pause.length);
            }
            progress.events.report(Event::Pausing(pause));
        }
    }

    pub(crate) fn report(&self, event: Event<'_>) {
        self.events.report(event);
    }

    /// Notes how many answers the run takes in all, and the rows that they are to give; 0 where that is unknown.
    pub(crate) fn plan(&self, needed: u64, rows: u64) {
        self.with(|tally| tally.plan = Some(Plan { needed, rows, begun_at: tally.reading.requests }));
    }

    /// Answers the run takes in all, by the plan, once that is known.
    pub(crate) fn planned(&self) -> Option<u64> {
        self.with(|tally| tally.plan.map(|plan| plan.needed))
    }

    /// Notes the days that the run wants.
    pub(crate) fn want(&self, wanted: WantedDays, coverage: &Coverage) {
        self.with(|tally| tally.wanted = Some(wanted));
        self.note_days(coverage);
    }

    /// Counts the complete days among those wanted.
    pub(crate) fn note_days(&self, coverage: &Coverage) {
        self.with(|tally| {
            let Some(wanted) = &tally.wanted else { return };
            let days = u64::from(span_days(wanted.from, wanted.to));
            let known = wanted.listings.iter().filter_map(|label| coverage.get(label));
            let known = known.flat_map(|days| days.range(wanted.from..=wanted.to));
            let complete = known.filter(|(_, day)| day.complete).count();
            tally.reading.days = (complete / wanted.listings.len().max(1)) as u64;
            tally.reading.days_wanted = days;
        });
    }

    /// Notes an answer, which took this many requests, and reports how far the run is.
    pub(crate) fn answered(&self, sent: u64, filings: u64, budget: &Budget, now: Timestamp) {
        let reading = self.with(|tally| {
            tally.answers += u64::from(sent > 0);
            tally.reading.requests += 1;
            tally.reading.filings = filings;
            tally.reading.planned = tally.plan.map(|plan| plan.in_all(&tally.reading));
            if let Some(mut quota) = budget.quota() {
                let left = quota.remaining(now);
                tally.reading.quota = left.map(|left| (left.day, left.month));
                tally.reading.time_left = tally.reading.planned.map(|planned| {
                    let requests = planned.saturating_sub(tally.reading.requests);
                    tally.at_this_speed(requests).max(quota.delay(requests, now))
                });
            }
            tally.reading
        });
        self.events.report(Event::Reading(reading));
    }

    fn with<T>(&self, act: impl FnOnce(&mut Tally) -> T) -> T {
        act(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The estimate of a run.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Answers in all.
    needed: u64,
    /// Rows that they are to give; 0 where that is unknown.
    rows: u64,
    /// Answers before the first row.
    begun_at: u64,
}

/// Rows that say how many rows an answer gives.
const ENOUGH_ROWS: u64 = 2_000;

impl Plan {
    /// Answers in all, by the rows that each gave so far: days that are read in parts take more than the estimate. At most twice that.
    fn in_all(&self, reading: &Reading) -> u64 {
        let (seen, spent) = (reading.filings, reading.requests.saturating_sub(self.begun_at));
        if seen < ENOUGH_ROWS {
            return self.needed;
        }
        let left = spent * self.rows.saturating_sub(seen) / seen;
        (reading.requests + left).clamp(self.needed, 2 * self.needed)
    }
}

impl Tally {
    fn new() -> Self {
        let (begun, paused) = (Instant::now(), Duration::ZERO);
        Self { reading: Reading::default(), plan: None, wanted: None, answers: 0, begun, paused }
    }

    /// How long requests take, by those so far, if nothing holds them back.
    fn at_this_speed(&self, requests: u64) -> Duration {
        let busy = self.begun.elapsed().saturating_sub(self.paused);
        busy.mul_f64(requests as f64 / self.answers.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_in_all_follow_the_rows_that_answers_give() {
        let plan = Plan { needed: 2_025, rows: 199_710, begun_at: 12 };
        let in_all = |requests, filings| plan.in_all(&Reading { requests, filings, ..Reading::default() });
        // Of a run that took 2,299.
        for (requests, filings) in [(59, 4_900), (299, 27_474), (1_019, 87_104), (1_919, 162_760)] {
            let found = in_all(requests, filings);
            assert!((2_025..2_500).contains(&found), "{requests}: {found}");
        }
        assert_eq!(in_all(13, 100), 2_025, "too early to say");
        assert_eq!(in_all(600, 3_000), 4_050);
        let newest_ends = Plan { needed: 94, rows: 1_057, begun_at: 6 };
        let reading = Reading { requests: 40, filings: 3_400, ..Reading::default() };
        assert_eq!(newest_ends.in_all(&reading), 94, "pages of known rows are no measure");
    }
}
