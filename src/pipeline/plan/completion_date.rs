//! When a run that does not fit one day's budget will be complete (pure).

use crate::client::Allowance;
use crate::contract::account::Remaining;
use crate::contract::eastern::plus_days;
use jiff::civil::Date;

/// Beyond so many days nobody plans.
const LONGEST_DAYS: u32 = 3_660;

/// What may be spent, today and on the days to come.
#[derive(Debug, Clone, Copy)]
pub struct Means {
    /// Left of today and of this month.
    pub remaining: Remaining,
    /// A whole day's and a whole month's, less what is kept for others.
    pub allowance: Allowance,
    /// The pipeline's own bound on a run; one run a day is counted on.
    pub per_run: Option<u64>,
    /// Days, today included, on which nothing more can be sent, whatever remains: a run has used its own bound, or the API
    /// asked for a pause.
    pub idle_days: u32,
}

/// The Eastern day on which the last of so many requests can be sent, if runs go on every day; none when they never can.
pub fn complete_on(requests: u64, today: Date, means: &Means) -> Option<Date> {
    let (mut left, mut month_left) = (requests, u64::from(means.remaining.month));
    let a_run = means.per_run.unwrap_or(u64::MAX);
    for ahead in 0..LONGEST_DAYS {
        let day = plus_days(today, ahead);
        if ahead > 0 && day.day() == 1 {
            month_left = u64::from(means.allowance.per_month);
        }
        let of_day = match ahead {
            _ if ahead < means.idle_days => 0,
            0 => u64::from(means.remaining.day),
            // A day begins with the question what the account has left.
            _ => u64::from(means.allowance.per_day).saturating_sub(1),
        };
        let spent = left.min(of_day).min(month_left).min(a_run);
        (left, month_left) = (left - spent, month_left - spent);
        if left == 0 {
            return Some(day);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use proptest::prelude::*;

    fn means(day: u32, month: u32) -> Means {
        Means {
            remaining: Remaining { minute: 20, day, month },
            allowance: Allowance { per_minute: 20, per_day: 1_001, per_month: 10_000 },
            per_run: None,
            idle_days: 0,
        }
    }

    #[test]
    fn what_fits_is_complete_today_and_the_rest_takes_days() {
        let today = date(2026, 7, 10);
        assert_eq!(complete_on(900, today, &means(900, 9_000)), Some(today));
        assert_eq!(complete_on(901, today, &means(900, 9_000)), Some(date(2026, 7, 11)));
        assert_eq!(complete_on(2_900, today, &means(900, 9_000)), Some(date(2026, 7, 12)));
    }

    #[test]
    fn a_spent_month_is_waited_out() {
        let today = date(2026, 7, 10);
        assert_eq!(complete_on(150, today, &means(900, 100)), Some(date(2026, 8, 1)));
        assert_eq!(complete_on(1_150, today, &means(900, 100)), Some(date(2026, 8, 2)));
    }

    #[test]
    fn runs_with_a_bound_of_their_own_are_counted_one_a_day() {
        let bounded = Means { per_run: Some(12), idle_days: 1, ..means(900, 9_000) };
        assert_eq!(complete_on(24, date(2026, 7, 10), &bounded), Some(date(2026, 7, 12)));
    }

    #[test]
    fn a_pause_over_midnight_is_waited_out() {
        let paused = Means { idle_days: 2, ..means(900, 9_000) };
        assert_eq!(complete_on(1, date(2026, 7, 10), &paused), Some(date(2026, 7, 12)));
    }

    #[test]
    fn an_account_without_requests_never_completes() {
        let mut none = means(0, 0);
        none.allowance.per_day = 0;
        assert_eq!(complete_on(1, date(2026, 7, 10), &none), None);
    }

    proptest! {
        #[test]
        fn more_requests_are_never_done_sooner(less in 0u64..50_000, more in 0u64..50_000, day in 0u32..1_000, month in 0u32..10_000) {
            let today = date(2026, 7, 10);
            let (one, other) = (less.min(more), less.max(more));
            prop_assert!(complete_on(one, today, &means(day, month)) <= complete_on(other, today, &means(day, month)));
        }
    }
}
