//! What one account has used of its windows (pure).
//!
//! A request is counted before it is sent and released when its answer is in, so a kill between the two forgets nothing.

use super::minute::MinuteWindow;
use crate::contract::account::{AccountLimits, Remaining};
use crate::contract::eastern::{eastern_day, month_of};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::time::Duration;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

/// The longest pause obeyed: no window of an account is longer than a month. A later end was noted by a clock that was ahead.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(32 * 86_400);
/// This near to midnight the API's day may differ from this clock's.
const NEAR_MIDNIGHT_MS: i64 = 60_000;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    #[serde(flatten)]
    minute: MinuteWindow,
    day: String,
    day_used: u32,
    month: String,
    month_used: u32,
    /// No request before this time, in ms: the API's `Retry-After`.
    not_before: i64,
    /// Limits of the account, by the last answer of `/v1/me`.
    #[serde(default)]
    pub(super) caps: Option<Allowance>,
    /// Requests ever counted.
    #[serde(default)]
    pub(super) sent: u64,
    /// Eastern day of the last answer of `/v1/me`; none while these counts may be too low.
    #[serde(default)]
    learned_on: Option<Date>,
}

impl Counts {
    fn roll(&mut self, now: Timestamp) {
        self.minute.roll(now);
        self.not_before = self.not_before.min(now.as_millisecond() + LONGEST_WAIT.as_millis() as i64);
        let today = eastern_day(now);
        let (day, month) = (today.to_string(), month_of(today));
        if self.day != day {
            (self.day, self.day_used) = (day, 0);
        }
        if self.month != month {
            (self.month, self.month_used) = (month, 0);
        }
    }

    /// Limits of the account, if `/v1/me` reported them this Eastern day and the counts are not marked stale since.
    pub(crate) fn caps_of_today(&self, now: Timestamp) -> Option<Allowance> {
        // An answer near midnight may be of the day before: `/v1/me` is asked again once both clocks agree on the day.
        let is_current = self.learned_on == Some(eastern_day(now)) || !is_far_from_midnight(now);
        self.caps.filter(|_| is_current)
    }

    /// Marks the counts as too low: the API refused a request for which there was room, so others use the account.
    pub(crate) fn mark_stale(&mut self) {
        self.learned_on = None;
    }

    /// Decides whether a request may be sent now; `Go` has already counted it.
    pub(crate) fn admit(&mut self, now: Timestamp, allowance: &Allowance) -> Verdict {
        self.roll(now);
        let now_ms = now.as_millisecond();
        if now_ms < self.not_before {
            return Verdict::WaitAsked(self.not_before - now_ms);
        }
        if self.month_used >= allowance.per_month {
            return Verdict::MonthSpent;
        }
        // A limit of 0 per minute holds for the day it was reported on. On another day, one request may ask `/v1/me` again.
        let is_closed = allowance.per_minute == 0 && self.learned_on == Some(eastern_day(now));
        if is_closed || self.day_used >= allowance.per_day {
            return Verdict::DaySpent;
        }
        if self.minute.used() >= allowance.per_minute.max(1) {
            return Verdict::WaitMinute(self.minute.wait_ms(now));
        }
        let others_under_way = self.minute.under_way() as u32;
        self.minute.begin(now);
        self.day_used = self.day_used.saturating_add(1);
        self.month_used = self.month_used.saturating_add(1);
        self.sent += 1;
        Verdict::Go(Ticket { at: now, number: self.sent, others_under_way })
    }

    /// Estimated milliseconds until this many more requests may have begun, by the minute's limit and the API's pause.
    pub(super) fn delay_ms(&mut self, requests: u64, now: Timestamp, allowance: &Allowance) -> i64 {
        self.roll(now);
        let by_minute = self.minute.delay_ms(requests, now, allowance.per_minute);
        by_minute.max(self.not_before - now.as_millisecond())
    }

    /// Notes that a request was answered, or will not be.
    pub(crate) fn release(&mut self, ticket: &Ticket, now: Timestamp) {
        self.minute.release(ticket.at, now);
    }

    /// Takes back a request that was counted and will not be sent.
    pub(super) fn give_back(&mut self, ticket: &Ticket, now: Timestamp) {
        self.roll(now);
        self.minute.give_back(ticket.at);
        let (then, today) = (eastern_day(ticket.at), eastern_day(now));
        self.day_used = self.day_used.saturating_sub(u32::from(then == today));
        self.month_used = self.month_used.saturating_sub(u32::from(month_of(then) == month_of(today)));
        // Numbers that follow must not repeat one that another request has.
        self.sent -= u64::from(self.sent == ticket.number);
    }

    /// Notes a pause that the API asked for; it never shortens a longer one.
    pub(crate) fn pause_until(&mut self, instant: Timestamp) {
        self.not_before = self.not_before.max(instant.as_millisecond());
    }

    /// Takes over the answer of `/v1/me` to the request of this ticket: its limits, and the requests used in each window.
    ///
    /// More used than counted here: others use the account, so the count rises. Fewer: a request counted here never reached
    /// the API, or a window began anew. The count then falls to the API's, plus the requests it may not have seen: those under way
    /// and those counted since. Near midnight the two clocks may be in different days, so the count never falls.
    pub(crate) fn learn(&mut self, asked: &Ticket, now: Timestamp, caps: &Allowance, remaining: &Remaining) {
        self.roll(now);
        let unseen = u64::from(asked.others_under_way) + self.sent.saturating_sub(asked.number);
        let unseen = u32::try_from(unseen).unwrap_or(u32::MAX);
        let may_fall = [asked.at, now].into_iter().all(is_far_from_midnight);
        let corrected = |counted: u32, cap: u32, left: u32| {
            let reported = cap.saturating_sub(left);
            let at_most = reported.saturating_add(unseen);
            if reported > counted {
                at_most
            } else if may_fall {
                // One more: the API document does not say whether `/v1/me` counts itself.
                counted.min(at_most.saturating_add(1))
            } else {
                counted
            }
        };
        self.day_used = corrected(self.day_used, caps.per_day, remaining.day);
        self.month_used = corrected(self.month_used, caps.per_month, remaining.month);
        let by_others = caps.per_minute.saturating_sub(remaining.minute).saturating_sub(self.minute.used());
        if by_others > 0 {
            self.minute.count(now, by_others);
        }
        self.caps = Some(*caps);
        self.learned_on = may_fall.then(|| eastern_day(now));
    }

    pub(super) fn under_way(&self) -> usize {
        self.minute.under_way()
    }

    /// Adds the counts of another key of the same account, which `/v1/me` has just reported without the requests under way.
    pub(super) fn absorb(&mut self, other: Self) {
        let unseen = u32::try_from(other.under_way()).unwrap_or(u32::MAX);
        self.day_used = self.day_used.saturating_add(unseen);
        self.month_used = self.month_used.saturating_add(unseen);
        self.minute.absorb(other.minute);
        self.not_before = self.not_before.max(other.not_before);
        self.sent += other.sent;
    }

    pub(crate) fn used(&mut self, now: Timestamp) -> Used {
        self.roll(now);
        Used { minute: self.minute.used(), day: self.day_used, month: self.month_used }
    }

    pub(crate) fn remaining(&mut self, now: Timestamp, allowance: &Allowance) -> Remaining {
        let used = self.used(now);
        Remaining {
            minute: allowance.per_minute.saturating_sub(used.minute),
            day: allowance.per_day.saturating_sub(used.day),
            month: allowance.per_month.saturating_sub(used.month),
        }
    }
}

fn is_far_from_midnight(instant: Timestamp) -> bool {
    let day = |ms: i64| Timestamp::from_millisecond(instant.as_millisecond() + ms).map(eastern_day);
    day(-NEAR_MIDNIGHT_MS).ok() == day(NEAR_MIDNIGHT_MS).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const ALLOWANCE: Allowance = Allowance { per_minute: 3, per_day: 10, per_month: 20 };

    pub(crate) fn at(ms: i64) -> Timestamp {
        // Noon in the east.
        Timestamp::from_millisecond(1_784_131_200_000 + ms).expect("an instant")
    }

    fn send(counts: &mut Counts, ms: i64, allowance: &Allowance) -> Ticket {
        match counts.admit(at(ms), allowance) {
            Verdict::Go(ticket) => ticket,
            other => panic!("{other:?}"),
        }
    }

    fn send_and_release(counts: &mut Counts, ms: i64) -> Ticket {
        let ticket = send(counts, ms, &ALLOWANCE);
        counts.release(&ticket, at(ms + 40));
        ticket
    }

    fn left(minute: u32, day: u32, month: u32) -> Remaining {
        Remaining { minute, day, month }
    }

    #[test]
    fn killed_request_counts_for_its_minute_and_then_expires() {
        let mut counts = Counts::default();
        for _ in 0..3 {
            send(&mut counts, 0, &ALLOWANCE);
        }
        assert!(matches!(counts.admit(at(1_000), &ALLOWANCE), Verdict::WaitMinute(59_000..=60_000)));
        send(&mut counts, 180_001, &ALLOWANCE);
    }

    #[test]
    fn spent_day_ends_at_midnight_and_month_keeps_counting() {
        let mut counts = Counts::default();
        let wide = Allowance { per_minute: 1_000, ..ALLOWANCE };
        for _ in 0..10 {
            send(&mut counts, 0, &wide);
        }
        assert_eq!(counts.admit(at(1), &wide), Verdict::DaySpent);
        let next_day = at(24 * 3_600_000);
        send(&mut counts, 24 * 3_600_000, &wide);
        assert_eq!(counts.remaining(next_day, &wide), left(999, 9, 9));
    }

    #[test]
    fn requests_of_others_count_at_once() {
        let mut counts = Counts::default();
        let asked = send_and_release(&mut counts, 0);
        counts.learn(&asked, at(100), &ALLOWANCE, &left(1, 4, 20));
        assert_eq!(counts.remaining(at(100), &ALLOWANCE), left(1, 4, 19));
    }

    #[test]
    fn lost_requests_are_returned_except_those_the_api_may_not_have_seen() {
        let wide = Allowance { per_minute: 1_000, per_day: 100, per_month: 200 };
        let mut counts = Counts::default();
        let lost: Vec<Ticket> = (0..50).map(|ms| send(&mut counts, ms, &wide)).collect();
        lost.iter().for_each(|ticket| counts.release(ticket, at(100)));
        let other = send(&mut counts, 200, &wide);
        let asked = send(&mut counts, 300, &wide);
        let later = send(&mut counts, 310, &wide);
        counts.release(&asked, at(400));
        // The API has seen 10 requests and `/v1/me`.
        counts.learn(&asked, at(400), &wide, &left(989, 89, 189));
        // 11, the 2 it may not have seen, and 1 in case `/v1/me` does not count itself.
        assert_eq!(counts.used(at(400)).day, 14);
        assert_eq!(counts.used(at(400)).month, 14);
        assert_eq!(counts.used(at(400)).minute, 53, "the minute is not corrected downwards");
        counts.release(&other, at(500));
        counts.release(&later, at(500));
    }

    #[test]
    fn counts_never_fall_near_midnight() {
        let midnight = 12 * 3_600_000;
        let wide = Allowance { per_minute: 1_000, per_day: 100, per_month: 200 };
        let mut counts = Counts::default();
        for ms in 0..50 {
            send(&mut counts, midnight - 40_000 + ms, &wide);
        }
        let asked = send(&mut counts, midnight - 30_000, &wide);
        counts.learn(&asked, at(midnight - 29_000), &wide, &left(1_000, 99, 199));
        assert_eq!(counts.used(at(midnight - 29_000)).day, 51);
    }

    #[test]
    fn limits_are_known_for_a_day_or_until_an_unexpected_refusal() {
        let mut counts = Counts::default();
        let asked = send_and_release(&mut counts, 0);
        assert_eq!(counts.caps_of_today(at(50)), None);
        counts.learn(&asked, at(100), &ALLOWANCE, &left(2, 9, 19));
        assert_eq!(counts.caps_of_today(at(200)), Some(ALLOWANCE));
        assert_eq!(counts.caps_of_today(at(24 * 3_600_000)), None);
        counts.mark_stale();
        assert_eq!((counts.caps_of_today(at(200)), counts.caps), (None, Some(ALLOWANCE)));
    }

    #[test]
    fn pause_delays_every_request_and_is_never_shortened() {
        let mut counts = Counts::default();
        counts.pause_until(at(5_000));
        counts.pause_until(at(2_000));
        assert_eq!(counts.admit(at(1_000), &ALLOWANCE), Verdict::WaitAsked(4_000));
        send(&mut counts, 5_000, &ALLOWANCE);
    }

    #[test]
    fn clock_set_back_by_years_keeps_no_request_and_no_long_pause() {
        let (years, longest) = (5 * 365 * 86_400_000, 32 * 86_400_000);
        let mut counts = Counts::default();
        for _ in 0..3 {
            send(&mut counts, years, &ALLOWANCE);
        }
        assert!(matches!(counts.admit(at(0), &ALLOWANCE), Verdict::WaitMinute(59_000..=60_000)));
        counts.pause_until(at(years));
        assert_eq!(counts.admit(at(180_000), &ALLOWANCE), Verdict::WaitAsked(longest));
        assert_eq!(counts.under_way(), 0);
        send(&mut counts, 180_000 + longest, &ALLOWANCE);
    }

    #[test]
    fn answer_after_clock_set_back_is_counted_once() {
        let mut counts = Counts::default();
        let before = send(&mut counts, 3_600_000, &ALLOWANCE);
        let after = send(&mut counts, 0, &ALLOWANCE);
        for ticket in [before, after] {
            counts.release(&ticket, at(100));
        }
        assert_eq!((counts.under_way(), counts.used(at(100)).minute), (0, 2));
    }

    #[test]
    fn limit_of_0_per_minute_ends_the_day_and_next_day_asks_again() {
        let none = Allowance { per_minute: 0, ..ALLOWANCE };
        let mut counts = Counts::default();
        let asked = send_and_release(&mut counts, 0);
        counts.learn(&asked, at(100), &none, &left(0, 9, 19));
        assert_eq!(counts.admit(at(100), &none), Verdict::DaySpent);
        assert_eq!(counts.admit(at(3_600_000), &none), Verdict::DaySpent);
        let next_day = 24 * 3_600_000;
        send(&mut counts, next_day, &none);
        assert!(matches!(counts.admit(at(next_day + 100), &none), Verdict::WaitMinute(59_000..=60_000)));
    }
}
