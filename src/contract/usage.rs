//! Requests used in each window of an account, as the server's meter counts them.
//!
//! A minute is 60 seconds from its first request; days and months are Eastern ones.
//!
//! Source: API document, "Limits".

use super::account::Remaining;
use super::eastern::{day_start, eastern_day, minus_days, plus_days};
use super::plan::PlanLimits;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// Requests used by an account in its three windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// First request of the minute that was last open.
    minute_since: Option<Timestamp>,
    minute: u32,
    /// Eastern day of the last request counted.
    day_on: Option<Date>,
    day: u32,
    /// First day of the Eastern month of the last request counted.
    month_on: Option<Date>,
    month: u32,
}

/// Eastern days for a store that has no time zones: yesterday, today, the next two days, and the day that ends them.
/// Each is its start and that of its month, in milliseconds since 1970.
pub fn days_around(now: Timestamp) -> [(i64, i64); 5] {
    let yesterday = minus_days(eastern_day(now), 1);
    std::array::from_fn(|number| {
        let day = plus_days(yesterday, u32::try_from(number).unwrap_or_default());
        (day_start(day).as_millisecond(), day_start(day.first_of_month()).as_millisecond())
    })
}

/// A request that was not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Seconds until the last of the full windows opens again, at least 1.
    pub retry_after_secs: u64,
}

impl Usage {
    /// The counts that a store keeps of minute, day and month: since when, in milliseconds since 1970, and how many. `None` where it has
    /// instants that no clock shows.
    pub fn of_store(windows: [(i64, i64); 3]) -> Option<Self> {
        let instant = |millis| Timestamp::from_millisecond(millis).ok();
        let [(minute_since, _), (day_on, _), (month_on, _)] = windows;
        let [minute, day, month] = windows.map(|(_, count)| u32::try_from(count).unwrap_or(u32::MAX));
        Some(Self {
            minute_since: Some(instant(minute_since)?),
            minute,
            day_on: Some(eastern_day(instant(day_on)?)),
            day,
            month_on: Some(eastern_day(instant(month_on)?)),
            month,
        })
    }

    /// Counts a request in all three windows, or in none when one of them is full.
    ///
    /// # Errors
    /// The wait until every full window has opened again.
    pub fn admit(&mut self, now: Timestamp, limits: &PlanLimits) -> Result<(), Refusal> {
        self.refusal(now, limits).map_or(Ok(()), Err)?;
        let mut current = self.at(now);
        current.minute_since = current.minute_since.or(Some(now));
        current.minute = current.minute.saturating_add(1);
        current.day = current.day.saturating_add(1);
        current.month = current.month.saturating_add(1);
        *self = current;
        Ok(())
    }

    /// The refusal of a further request; `None` when no window is full.
    pub fn refusal(&self, now: Timestamp, limits: &PlanLimits) -> Option<Refusal> {
        let opens = self.at(now).opens_at(now, limits)?;
        Some(Refusal { retry_after_secs: secs_until_rounded_up(now, opens) })
    }

    /// Requests left in each window.
    pub fn remaining(&self, now: Timestamp, limits: &PlanLimits) -> Remaining {
        let current = self.at(now);
        Remaining {
            minute: limits.per_minute.saturating_sub(current.minute),
            day: limits.per_day.saturating_sub(current.day),
            month: limits.per_month.saturating_sub(current.month),
        }
    }

    /// These counts with room for this many further requests in each window.
    #[must_use]
    pub fn with_reserve(mut self, requests: u32) -> Self {
        for count in [&mut self.minute, &mut self.day, &mut self.month] {
            *count = count.saturating_add(requests);
        }
        self
    }

    /// Whether these counts are of the same windows as others, and nowhere lower.
    pub fn covers(&self, other: &Self) -> bool {
        let windows = |usage: &Self| (usage.minute_since, usage.day_on, usage.month_on);
        windows(self) == windows(other)
            && self.minute >= other.minute
            && self.day >= other.day
            && self.month >= other.month
    }

    /// The windows at an instant: those that have ended are empty.
    ///
    /// A clock that was set back by a day at most does not empty a day or a month.
    /// It does end a minute, which could otherwise last for hours.
    /// Days further ahead come from a clock that was wrong, and would close the account until then.
    fn at(self, now: Timestamp) -> Self {
        let mut current = if self.is_ahead(now) { Self::default() } else { self };
        let today = eastern_day(now);
        let open = |since: &Timestamp| (0..MINUTE.as_secs() * 1_000).contains(&millis_between(*since, now));
        if !current.minute_since.as_ref().is_some_and(open) {
            (current.minute_since, current.minute) = (None, 0);
        }
        if current.day_on.is_none_or(|day| day < today) {
            (current.day_on, current.day) = (Some(today), 0);
        }
        if current.month_on.is_none_or(|month| month < today.first_of_month()) {
            (current.month_on, current.month) = (Some(today.first_of_month()), 0);
        }
        current
    }

    /// Whether the last request was counted more than a day after this one: by a clock that was ahead, or in a damaged file.
    pub fn is_ahead(&self, now: Timestamp) -> bool {
        let tomorrow = plus_days(eastern_day(now), 1);
        self.day_on.is_some_and(|day| day > tomorrow)
            || self.month_on.is_some_and(|month| month > tomorrow.first_of_month())
    }

    /// When the last of the full windows opens; `None` when none is full.
    fn opens_at(&self, now: Timestamp, limits: &PlanLimits) -> Option<Timestamp> {
        let is_open =
            self.minute < limits.per_minute && self.day < limits.per_day && self.month < limits.per_month;
        if is_open {
            return None;
        }
        let minute = self.minute_since.unwrap_or(now).checked_add(MINUTE).unwrap_or(Timestamp::MAX);
        let today = eastern_day(now);
        let day = day_start(plus_days(self.day_on.unwrap_or(today), 1));
        let month = day_start(plus_days(self.month_on.unwrap_or(today).last_of_month(), 1));
        let windows = [
            (self.minute >= limits.per_minute, minute),
            (self.day >= limits.per_day, day),
            (self.month >= limits.per_month, month),
        ];
        windows.into_iter().filter(|(full, _)| *full).map(|(_, opens)| opens).max()
    }
}

fn millis_between(since: Timestamp, now: Timestamp) -> i64 {
    now.as_millisecond() - since.as_millisecond()
}

fn secs_until_rounded_up(now: Timestamp, then: Timestamp) -> u64 {
    let millis = u64::try_from(millis_between(now, then)).unwrap_or(0);
    millis.div_ceil(1_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use jiff::ToSpan;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    fn limits(per_minute: u32, per_day: u32, per_month: u32) -> PlanLimits {
        PlanLimits { per_minute, per_day, per_month, ..Plan::Starter.limits() }
    }

    fn wait(usage: &mut Usage, now: Timestamp, limits: &PlanLimits) -> Option<u64> {
        usage.admit(now, limits).err().map(|refusal| refusal.retry_after_secs)
    }

    #[test]
    fn a_minute_is_60_seconds_from_its_first_request() {
        let (mut usage, limits) = (Usage::default(), limits(2, 100, 100));
        assert_eq!(wait(&mut usage, at("2026-07-31T12:00:30Z"), &limits), None);
        assert_eq!(wait(&mut usage, at("2026-07-31T12:01:10Z"), &limits), None);
        assert_eq!(wait(&mut usage, at("2026-07-31T12:01:10Z"), &limits), Some(20));
        assert_eq!(wait(&mut usage, at("2026-07-31T12:01:29.999Z"), &limits), Some(1));
        assert_eq!(wait(&mut usage, at("2026-07-31T12:01:30Z"), &limits), None);
        assert_eq!(usage.remaining(at("2026-07-31T12:01:30Z"), &limits).minute, 1);
    }

    #[test]
    fn a_refused_request_does_not_count() {
        let (mut usage, limits) = (Usage::default(), limits(1, 100, 100));
        let now = at("2026-07-31T12:00:00Z");
        assert_eq!(wait(&mut usage, now, &limits), None);
        let before = usage;
        assert_eq!(wait(&mut usage, now, &limits), Some(60));
        assert_eq!(usage, before);
        assert_eq!(usage.remaining(now, &limits), Remaining { minute: 0, day: 99, month: 99 });
    }

    #[test]
    fn a_day_ends_at_eastern_midnight_in_summer_and_winter() {
        for (late, midnight) in [
            ("2026-07-31T03:59:00Z", "2026-07-31T04:00:00Z"),
            ("2026-01-31T04:59:00Z", "2026-01-31T05:00:00Z"),
        ] {
            let (mut usage, limits) = (Usage::default(), limits(100, 1, 100));
            assert_eq!(wait(&mut usage, at(late), &limits), None);
            assert_eq!(wait(&mut usage, at(late), &limits), Some(60), "{late}");
            assert_eq!(wait(&mut usage, at(midnight), &limits), None, "{late}");
        }
    }

    #[test]
    fn days_on_which_the_clocks_change_are_23_and_25_hours_long() {
        for (midnight, hours) in [("2026-03-08T05:00:00Z", 23), ("2026-11-01T04:00:00Z", 25)] {
            let (mut usage, limits) = (Usage::default(), limits(100, 1, 100));
            assert_eq!(wait(&mut usage, at(midnight), &limits), None);
            assert_eq!(wait(&mut usage, at(midnight), &limits), Some(hours * 3_600), "{midnight}");
        }
    }

    #[test]
    fn the_wait_is_for_the_last_window_that_is_full() {
        let (mut usage, limits) = (Usage::default(), limits(1, 1, 1));
        let now = at("2026-07-30T16:00:00Z");
        assert_eq!(wait(&mut usage, now, &limits), None);
        assert_eq!(wait(&mut usage, now, &limits), Some(36 * 3_600));
        let august = at("2026-08-01T04:00:00Z");
        assert_eq!(usage.remaining(august, &limits), Remaining { minute: 1, day: 1, month: 1 });
        assert_eq!(wait(&mut usage, august, &limits), None);
    }

    #[test]
    fn a_clock_set_back_keeps_the_day_full_and_ends_the_minute() {
        let (mut usage, limits) = (Usage::default(), limits(1, 2, 100));
        let now = at("2026-07-31T12:00:00Z");
        assert_eq!(wait(&mut usage, now, &limits), None);
        let earlier = now - 30.hours();
        assert_eq!(usage.remaining(earlier, &limits), Remaining { minute: 1, day: 1, month: 99 });
        assert_eq!(wait(&mut usage, earlier, &limits), None);
        assert!(wait(&mut usage, earlier + 90.seconds(), &limits).is_some());
    }

    #[test]
    fn a_request_of_a_clock_far_ahead_closes_no_window() {
        let (now, limits) = (at("2026-07-31T12:00:00Z"), limits(1, 1, 1));
        for (ahead, is_damage) in [
            ("2026-07-31T13:00:00Z", false),
            ("2026-08-01T12:00:00Z", false),
            ("2026-08-02T12:00:00Z", true),
            ("2036-01-01T12:00:00Z", true),
        ] {
            let mut usage = Usage::default();
            assert_eq!(wait(&mut usage, at(ahead), &limits), None);
            assert_eq!(usage.is_ahead(now), is_damage, "{ahead}");
            assert_eq!(usage.remaining(now, &limits).day, u32::from(is_damage), "{ahead}");
            assert_eq!(wait(&mut usage, now, &limits).is_none(), is_damage, "{ahead}");
            assert!(wait(&mut usage, now, &limits).is_some_and(|secs| secs <= 32 * 86_400), "{ahead}");
        }
    }

    #[test]
    fn a_reserve_covers_its_requests_in_the_same_windows_only() {
        let (mut usage, limits) = (Usage::default(), limits(100, 100, 100));
        let now = at("2026-07-31T12:00:00Z");
        assert_eq!(wait(&mut usage, now, &limits), None);
        let ahead = usage.with_reserve(2);
        for is_covered in [true, true, false] {
            assert_eq!(wait(&mut usage, now, &limits), None);
            assert_eq!(ahead.covers(&usage), is_covered);
        }
        let mut later = usage;
        assert_eq!(wait(&mut later, now + 61.seconds(), &limits), None);
        assert!(!usage.with_reserve(50).covers(&later), "another minute");
    }

    #[test]
    fn days_around_a_month_end_have_the_start_of_their_month() {
        let starts = days_around(at("2026-11-01T03:59:59Z"));
        let (october, november) = (at("2026-10-01T04:00:00Z"), at("2026-11-01T04:00:00Z"));
        let expected = [
            ("2026-10-30T04:00:00Z", october),
            ("2026-10-31T04:00:00Z", october),
            ("2026-11-01T04:00:00Z", november),
            // The clocks change on the day before.
            ("2026-11-02T05:00:00Z", november),
            ("2026-11-03T05:00:00Z", november),
        ];
        assert_eq!(starts, expected.map(|(day, month)| (at(day).as_millisecond(), month.as_millisecond())));
    }

    #[test]
    fn usage_is_equal_after_a_round_trip_through_json() {
        let mut usage = Usage::default();
        usage.admit(at("2026-07-31T12:00:00.123456Z"), &Plan::Starter.limits()).expect("admitted");
        let text = serde_json::to_string(&usage).expect("JSON");
        assert_eq!(serde_json::from_str::<Usage>(&text).expect("usage"), usage);
    }
}
