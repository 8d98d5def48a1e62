//! What one account has used of its windows (pure).
//!
//! A request is counted before it is sent and settled when its answer is in, so that a kill between the two forgets
//! nothing. The minute is kept as slots of a quarter second: a slot leaves 60 s after its end, measured from answers, so no
//! minute the server may draw, fixed or rolling, ever holds more than the plan allows.

use super::LONGEST_WAIT;
use crate::contract::account::{AccountLimits, Remaining};
use crate::contract::eastern::{eastern_day, month_of};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

const SLOT_MS: i64 = 250;
const MINUTE_MS: i64 = 60_000;
/// An unsettled request this old belongs to a process that is gone, and its minute has passed.
const ABANDONED_MS: i64 = 180_000;
/// A pause that ends later was noted by a clock that was ahead.
const LONGEST_PAUSE_MS: i64 = LONGEST_WAIT.as_millis() as i64;
/// So near to midnight the API may draw its day elsewhere than this clock does.
const NEAR_MIDNIGHT_MS: i64 = 60_000;

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

impl From<AccountLimits> for Allowance {
    fn from(limits: AccountLimits) -> Self {
        Self { per_minute: limits.per_minute, per_day: limits.per_day, per_month: limits.per_month }
    }
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

/// A request that was counted and may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// When it was counted.
    pub(super) at: Timestamp,
    /// Its number among all requests of the account on this host.
    number: u64,
    /// Requests then under way whose answers had not come.
    others_under_way: u32,
}

/// What the counts say to a request that wants to go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is counted; send it.
    Go(Ticket),
    /// Not before this many milliseconds have passed: the minute is full.
    WaitMinute(i64),
    /// Not before this many milliseconds have passed: the API asked for a pause.
    WaitAsked(i64),
    /// The day's allowance is spent, or its caps allow no request a minute.
    DaySpent,
    /// The month's allowance is spent.
    MonthSpent,
}

/// What one account has used.
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
    /// Requests ever counted.
    #[serde(default)]
    sent: u64,
    /// Eastern day on which `/v1/me` last spoke; none while these counts may miss something.
    #[serde(default)]
    learned_on: Option<Date>,
}

impl Counts {
    fn roll(&mut self, now: Timestamp) {
        let now_ms = now.as_millisecond();
        let oldest = (now_ms - MINUTE_MS).div_euclid(SLOT_MS);
        let newest = now_ms.div_euclid(SLOT_MS);
        // What lies ahead of a clock set back would be kept until the clock is there again.
        self.slots.iter_mut().for_each(|(slot, _)| *slot = newest.min(*slot));
        self.under_way.iter_mut().for_each(|sent| *sent = now_ms.min(*sent));
        self.not_before = self.not_before.min(now_ms + LONGEST_PAUSE_MS);
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

    /// Caps of the account where `/v1/me` gave them this Eastern day and nothing has cast a doubt on these counts since.
    pub fn caps_of_today(&self, now: Timestamp) -> Option<Allowance> {
        // What is told around midnight may be of the day before: it is asked for again once no clock can be in doubt.
        let is_told = self.learned_on == Some(eastern_day(now)) || !is_far_from_midnight(now);
        self.caps.filter(|_| is_told)
    }

    /// The API refused a request that these counts had room for: others use the account.
    pub fn doubt(&mut self) {
        self.learned_on = None;
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
        // Caps without a request a minute hold on the day they were told; on another one a minute may ask `/v1/me` anew.
        let is_closed = allowance.per_minute == 0 && self.learned_on == Some(eastern_day(now));
        if is_closed || self.day_used >= allowance.per_day {
            return Verdict::DaySpent;
        }
        if self.minute_used() >= allowance.per_minute.max(1) {
            return Verdict::WaitMinute((self.first_leaves_at(now_ms) - now_ms).max(1));
        }
        let others_under_way = self.under_way.len() as u32;
        self.under_way.push(now_ms);
        self.day_used = self.day_used.saturating_add(1);
        self.month_used = self.month_used.saturating_add(1);
        self.sent += 1;
        Verdict::Go(Ticket { at: now, number: self.sent, others_under_way })
    }

    /// When the minute holds one request less; at the latest a minute from now, where one under way may come back sooner.
    fn first_leaves_at(&self, now_ms: i64) -> i64 {
        let answered = self.slots.iter().map(|(slot, _)| (slot + 1) * SLOT_MS + MINUTE_MS);
        let abandoned = self.under_way.iter().map(|sent| sent + ABANDONED_MS);
        answered.chain(abandoned).min().unwrap_or(now_ms).min(now_ms + MINUTE_MS)
    }

    /// The answer of a request came, or will not come.
    pub fn settle(&mut self, ticket: &Ticket, now: Timestamp) {
        let sent_ms = ticket.at.as_millisecond();
        // A clock set back may have moved its entry to an earlier instant; the newest no later than it stands for it then.
        let known = self.under_way.iter().enumerate().filter(|(_, known)| **known <= sent_ms);
        if let Some(at) = known.max_by_key(|(_, known)| **known).map(|(at, _)| at) {
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

    /// Takes over what `/v1/me` said to the request of this ticket: caps as they are, and of each window what is used.
    ///
    /// More used than counted here: others use the account, and that holds at once. Less: a request counted here never
    /// reached the API, or a window began anew; the count then falls to what the API said and whatever it may not have
    /// seen yet, being under way or counted since. Around midnight, when the two clocks may stand in different days, it never falls.
    pub fn learn(&mut self, asked: &Ticket, now: Timestamp, caps: &Allowance, remaining: &Remaining) {
        self.roll(now);
        let unseen = u64::from(asked.others_under_way) + self.sent.saturating_sub(asked.number);
        let unseen = u32::try_from(unseen).unwrap_or(u32::MAX);
        let may_fall = [asked.at, now].into_iter().all(is_far_from_midnight);
        let corrected = |counted: u32, cap: u32, left: u32| {
            let told = cap.saturating_sub(left);
            let at_most = told.saturating_add(unseen);
            match told > counted {
                true => at_most,
                // One more: whether an API counts the asking itself is not written.
                false if may_fall => counted.min(at_most.saturating_add(1)),
                false => counted,
            }
        };
        self.day_used = corrected(self.day_used, caps.per_day, remaining.day);
        self.month_used = corrected(self.month_used, caps.per_month, remaining.month);
        let elsewhere = caps.per_minute.saturating_sub(remaining.minute).saturating_sub(self.minute_used());
        if elsewhere > 0 {
            self.count(now, elsewhere);
        }
        self.caps = Some(*caps);
        self.learned_on = may_fall.then(|| eastern_day(now));
    }

    /// Requests ever counted.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Requests under way.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Takes in the counts of another key that turned out to be of the same account. What of a day and a month is used
    /// `/v1/me` has just told, but for the requests under way.
    pub(super) fn absorb(&mut self, other: Self) {
        let unseen = u32::try_from(other.under_way.len()).unwrap_or(u32::MAX);
        self.day_used = self.day_used.saturating_add(unseen);
        self.month_used = self.month_used.saturating_add(unseen);
        self.slots.extend(other.slots);
        self.slots.sort_unstable();
        self.under_way.extend(other.under_way);
        self.not_before = self.not_before.max(other.not_before);
        self.sent += other.sent;
    }

    /// Requests used in each window.
    pub fn used(&mut self, now: Timestamp) -> Used {
        self.roll(now);
        Used { minute: self.minute_used(), day: self.day_used, month: self.month_used }
    }

    /// Requests left in each window.
    pub fn remaining(&mut self, now: Timestamp, allowance: &Allowance) -> Remaining {
        self.roll(now);
        Remaining {
            minute: allowance.per_minute.saturating_sub(self.minute_used()),
            day: allowance.per_day.saturating_sub(self.day_used),
            month: allowance.per_month.saturating_sub(self.month_used),
        }
    }
}

fn is_far_from_midnight(instant: Timestamp) -> bool {
    let day = |ms: i64| Timestamp::from_millisecond(instant.as_millisecond() + ms).map(eastern_day);
    day(-NEAR_MIDNIGHT_MS).ok() == day(NEAR_MIDNIGHT_MS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALLOWANCE: Allowance = Allowance { per_minute: 3, per_day: 10, per_month: 20 };

    fn at(ms: i64) -> Timestamp {
        // Noon in the east.
        Timestamp::from_millisecond(1_784_131_200_000 + ms).expect("an instant")
    }

    fn send(counts: &mut Counts, ms: i64, allowance: &Allowance) -> Ticket {
        match counts.admit(at(ms), allowance) {
            Verdict::Go(ticket) => ticket,
            other => panic!("{other:?}"),
        }
    }

    fn send_and_settle(counts: &mut Counts, ms: i64) -> Ticket {
        let ticket = send(counts, ms, &ALLOWANCE);
        counts.settle(&ticket, at(ms + 40));
        ticket
    }

    fn left(minute: u32, day: u32, month: u32) -> Remaining {
        Remaining { minute, day, month }
    }

    #[derive(Clone, Copy)]
    enum Step {
        Ask,
        Answered(Ticket),
    }

    /// So many askers, each with one request at a time, over one ledger; gives when each request reached the server, which
    /// is at any time between its sending and its answer.
    fn arrivals(askers: usize, latency_ms: i64, lag_ms: i64, per_minute: u32, until_ms: i64) -> Vec<i64> {
        let allowance = Allowance { per_minute, per_day: u32::MAX, per_month: u32::MAX };
        let mut counts = Counts::default();
        let mut next: Vec<(i64, Step)> = (0..askers).map(|asker| (asker as i64, Step::Ask)).collect();
        let mut arrivals = Vec::new();
        loop {
            let asker = (0..askers).min_by_key(|asker| next[*asker].0).expect("an asker");
            let (ms, step) = next[asker];
            if ms > until_ms {
                arrivals.sort_unstable();
                return arrivals;
            }
            next[asker] = match step {
                Step::Ask => match counts.admit(at(ms), &allowance) {
                    Verdict::Go(ticket) => {
                        arrivals.push(ms + arrivals.len() as i64 * 7_919 % latency_ms);
                        (ms + latency_ms, Step::Answered(ticket))
                    }
                    Verdict::WaitMinute(wait) => (ms + wait + lag_ms, Step::Ask),
                    other => panic!("{other:?}"),
                },
                Step::Answered(ticket) => {
                    counts.settle(&ticket, at(ms));
                    (ms + lag_ms, Step::Ask)
                }
            };
        }
    }

    #[test]
    fn a_slow_server_costs_less_than_a_twentieth_of_the_pace() {
        for (per_minute, askers, latency_ms) in [
            (20, 1, 300),
            (60, 1, 300),
            (120, 1, 300),
            (120, 3, 300),
            (120, 3, 1_000),
            (60, 2, 1_000),
            (20, 3, 1_000),
        ] {
            let minutes = 20;
            let arrivals = arrivals(askers, latency_ms, 3, per_minute, minutes * MINUTE_MS);
            let share = arrivals.len() as f64 / (minutes as f64 * f64::from(per_minute));
            assert!(share > 0.95, "{share:.3} of {per_minute} a minute with {askers} at {latency_ms} ms");
        }
    }

    proptest! {
        #[test]
        fn no_sixty_seconds_at_the_server_hold_more_than_the_minute_allows(
            askers in 1usize..9,
            latency_ms in 1i64..4_000,
            lag_ms in 0i64..50,
            per_minute in 1u32..130,
        ) {
            let arrivals = arrivals(askers, latency_ms, lag_ms, per_minute, 5 * MINUTE_MS);
            let beyond = arrivals.windows(per_minute as usize + 1).find(|some| some[per_minute as usize] - some[0] <= MINUTE_MS);
            prop_assert!(beyond.is_none(), "{:?}", beyond);
        }
    }

    #[test]
    fn a_killed_request_still_counts_and_is_given_up_after_a_while() {
        let mut counts = Counts::default();
        for _ in 0..3 {
            send(&mut counts, 0, &ALLOWANCE);
        }
        assert!(matches!(counts.admit(at(1_000), &ALLOWANCE), Verdict::WaitMinute(59_000..=60_000)));
        send(&mut counts, 180_001, &ALLOWANCE);
    }

    #[test]
    fn the_day_is_spent_until_the_next_and_the_month_goes_on() {
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
    fn what_others_used_holds_at_once() {
        let mut counts = Counts::default();
        let asked = send_and_settle(&mut counts, 0);
        counts.learn(&asked, at(100), &ALLOWANCE, &left(1, 4, 20));
        assert_eq!(counts.remaining(at(100), &ALLOWANCE), left(1, 4, 19));
    }

    #[test]
    fn what_never_reached_the_api_is_given_back_but_for_what_it_may_not_have_seen_yet() {
        let wide = Allowance { per_minute: 1_000, per_day: 100, per_month: 200 };
        let mut counts = Counts::default();
        let lost: Vec<Ticket> = (0..50).map(|ms| send(&mut counts, ms, &wide)).collect();
        lost.iter().for_each(|ticket| counts.settle(ticket, at(100)));
        let other = send(&mut counts, 200, &wide);
        let asked = send(&mut counts, 300, &wide);
        let later = send(&mut counts, 310, &wide);
        counts.settle(&asked, at(400));
        // The API has seen ten and the asking.
        counts.learn(&asked, at(400), &wide, &left(989, 89, 189));
        // Eleven, the two it may not have seen, and one in case it does not count the asking.
        assert_eq!(counts.used(at(400)).day, 14);
        assert_eq!(counts.used(at(400)).month, 14);
        assert_eq!(counts.used(at(400)).minute, 53, "a minute passes by itself");
        counts.settle(&other, at(500));
        counts.settle(&later, at(500));
    }

    #[test]
    fn around_midnight_nothing_is_given_back() {
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
    fn caps_are_known_for_a_day_or_until_the_api_refuses_what_there_was_room_for() {
        let mut counts = Counts::default();
        let asked = send_and_settle(&mut counts, 0);
        assert_eq!(counts.caps_of_today(at(50)), None);
        counts.learn(&asked, at(100), &ALLOWANCE, &left(2, 9, 19));
        assert_eq!(counts.caps_of_today(at(200)), Some(ALLOWANCE));
        assert_eq!(counts.caps_of_today(at(24 * 3_600_000)), None);
        counts.doubt();
        assert_eq!((counts.caps_of_today(at(200)), counts.caps()), (None, Some(ALLOWANCE)));
    }

    #[test]
    fn a_pause_asked_for_holds_everything_back() {
        let mut counts = Counts::default();
        counts.pause_until(at(5_000));
        counts.pause_until(at(2_000));
        assert_eq!(counts.admit(at(1_000), &ALLOWANCE), Verdict::WaitAsked(4_000));
        send(&mut counts, 5_000, &ALLOWANCE);
    }

    #[test]
    fn a_clock_set_back_keeps_no_request_under_way_and_no_pause_for_years() {
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
    fn an_answer_that_comes_after_the_clock_was_set_back_is_counted_once() {
        let mut counts = Counts::default();
        let before = send(&mut counts, 3_600_000, &ALLOWANCE);
        let after = send(&mut counts, 0, &ALLOWANCE);
        for ticket in [before, after] {
            counts.settle(&ticket, at(100));
        }
        assert_eq!((counts.under_way(), counts.used(at(100)).minute), (0, 2));
    }

    #[test]
    fn minutes_without_requests_end_the_day_and_the_next_day_may_ask_again() {
        let none = Allowance { per_minute: 0, ..ALLOWANCE };
        let mut counts = Counts::default();
        let asked = send_and_settle(&mut counts, 0);
        counts.learn(&asked, at(100), &none, &left(0, 9, 19));
        assert_eq!(counts.admit(at(100), &none), Verdict::DaySpent);
        assert_eq!(counts.admit(at(3_600_000), &none), Verdict::DaySpent);
        let next_day = 24 * 3_600_000;
        send(&mut counts, next_day, &none);
        assert!(matches!(counts.admit(at(next_day + 100), &none), Verdict::WaitMinute(59_000..=60_000)));
    }
}
