//! When a run that does not fit one day's budget will be complete (pure).

use crate::client::{Allowance, Client, ClientError};
use crate::contract::account::Remaining;
use crate::contract::eastern::plus_days;
use jiff::civil::Date;

/// A later completion counts as never.
const LONGEST_DAYS: u32 = 3_660;

/// Requests that may be spent, today and on later days.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpendableBudget {
    pub(crate) remaining: Remaining,
    /// Requests of a full day and a full month, less those kept for other users.
    pub(crate) allowance: Allowance,
    /// The pipeline's limit for one run; one run a day is assumed.
    pub(crate) per_run: Option<u64>,
    /// Days, today included, on which nothing more can be sent: a run has reached its limit, or the API asked for a pause.
    pub(crate) idle_days: u32,
}

impl SpendableBudget {
    pub(crate) fn of(client: &Client) -> Result<Self, ClientError> {
        let budget = client.budget();
        let (remaining, allowance) = (budget.remaining()?, budget.per_window()?);
        Ok(Self { remaining, allowance, per_run: budget.bounds.max_requests, idle_days: 0 })
    }
}

/// The Eastern day on which the last of `requests` can be sent, if a run resumes every day; none if it never can.
pub(crate) fn complete_on(requests: u64, today: Date, budget: &SpendableBudget) -> Option<Date> {
    let (mut left, mut month_left) = (requests, u64::from(budget.remaining.month));
    let per_run = budget.per_run.unwrap_or(u64::MAX);
    for ahead in 0..LONGEST_DAYS {
        let day = plus_days(today, ahead);
        if ahead > 0 && day.day() == 1 {
            month_left = u64::from(budget.allowance.per_month);
        }
        let of_day = match ahead {
            _ if ahead < budget.idle_days => 0,
            0 => u64::from(budget.remaining.day),
            // A day begins with 1 request for what the account has left.
            _ => u64::from(budget.allowance.per_day).saturating_sub(1),
        };
        let spent = left.min(of_day).min(month_left).min(per_run);
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

    fn budget(day: u32, month: u32) -> SpendableBudget {
        SpendableBudget {
            remaining: Remaining { minute: 20, day, month },
            allowance: Allowance { per_minute: 20, per_day: 1_001, per_month: 10_000 },
            per_run: None,
            idle_days: 0,
        }
    }

    #[test]
    fn completion_counts_days_months_pauses_and_limits_of_a_run() {
        let bounded = SpendableBudget { per_run: Some(12), idle_days: 1, ..budget(900, 9_000) };
        let paused = SpendableBudget { idle_days: 2, ..budget(900, 9_000) };
        let mut none = budget(0, 0);
        none.allowance.per_day = 0;
        for (requests, budget, expected, why) in [
            (900, budget(900, 9_000), Some(date(2026, 7, 10)), "it fits today"),
            (901, budget(900, 9_000), Some(date(2026, 7, 11)), "a larger one takes days"),
            (2_900, budget(900, 9_000), Some(date(2026, 7, 12)), "a larger one takes days"),
            (150, budget(900, 100), Some(date(2026, 8, 1)), "a spent month delays it to the next"),
            (1_150, budget(900, 100), Some(date(2026, 8, 2)), "a spent month delays it to the next"),
            (24, bounded, Some(date(2026, 7, 12)), "a run with its own limit counts as one a day"),
            (1, paused, Some(date(2026, 7, 12)), "a pause over midnight delays it"),
            (1, none, None, "an account without requests never completes"),
        ] {
            assert_eq!(complete_on(requests, date(2026, 7, 10), &budget), expected, "{requests}: {why}");
        }
    }

    proptest! {
        #[test]
        fn more_requests_never_complete_sooner(less in 0u64..50_000, more in 0u64..50_000, day in 0u32..1_000, month in 0u32..10_000) {
            let today = date(2026, 7, 10);
            let (one, other) = (less.min(more), less.max(more));
            prop_assert!(complete_on(one, today, &budget(day, month)) <= complete_on(other, today, &budget(day, month)));
        }
    }
}
