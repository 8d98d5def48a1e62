//! The API's own Eastern day. A run is never as of a later one: days that have not come would count as read and empty, and every
//! later run of an earlier day would be refused.

use super::context::RunContext;
use super::error::{PipelineError, Result};
use super::state::SourceKind;
use crate::client::{Call, Client};
use crate::contract::count::DailyCount;
use crate::contract::eastern::eastern_day;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

/// Difference between two clocks that is usual. This long before and after midnight they may differ by a day.
const USUAL_SKEW: SignedDuration = SignedDuration::from_mins(5);

/// Fails if the run's day is later than that of the API's clock. An API under test may have a day of its own, which its counts
/// show; they are requested only if its clock is behind.
pub(crate) async fn check_clock(context: &RunContext, client: &Client) -> Result<()> {
    let Some(clock) = api_clock(context.now, client) else { return Ok(()) };
    // The embedded API is as of the run's day.
    if context.source == SourceKind::Embedded || reaches(context.today, eastern_day(clock), Some(clock)) {
        return Ok(());
    }
    let answer = client.fetch(&Call::daily_counts(1)).await?;
    match newest(&answer.value.data) {
        Some(_) => check_counts(context.today, &answer.value.data, Some(clock)),
        None => Err(PipelineError::LaterDay { today: context.today, api_day: eastern_day(clock) }),
    }
}

/// Fails if the run's day is later than the newest day that the API counts, which is its own.
pub(crate) fn check_counts(today: Date, counts: &[DailyCount], clock: Option<Timestamp>) -> Result<()> {
    match newest(counts) {
        Some(api_day) if !reaches(today, api_day, clock) => Err(PipelineError::LaterDay { today, api_day }),
        _ => Ok(()),
    }
}

/// The API's clock, by the `Date` header of its last answer; none without one.
pub(crate) fn api_clock(now: fn() -> Timestamp, client: &Client) -> Option<Timestamp> {
    now().checked_sub(client.skew()?).ok()
}

fn newest(counts: &[DailyCount]) -> Option<Date> {
    counts.iter().map(|count| count.date).max()
}

/// Whether the API's day is the run's or later.
fn reaches(today: Date, api_day: Date, clock: Option<Timestamp>) -> bool {
    let is_near_midnight = || {
        let day_at = |offset: SignedDuration| {
            clock.map(|clock| eastern_day(clock.saturating_add(offset).unwrap_or(clock)))
        };
        day_at(-USUAL_SKEW) != day_at(USUAL_SKEW)
    };
    today <= api_day || (api_day.tomorrow().ok() == Some(today) && is_near_midnight())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_later_day_is_accepted_only_next_to_midnight_and_only_by_one_day() {
        let noon = "2026-07-30T16:00:00Z".parse().ok();
        let before_midnight = "2026-07-31T03:59:00Z".parse().ok();
        let api_day = date(2026, 7, 30);
        for (today, clock, expected) in [
            (date(2026, 7, 29), noon, true),
            (api_day, noon, true),
            (api_day, None, true),
            (date(2026, 7, 31), noon, false),
            (date(2026, 7, 31), None, false),
            (date(2026, 7, 31), before_midnight, true),
            (date(2026, 8, 1), before_midnight, false),
        ] {
            assert_eq!(reaches(today, api_day, clock), expected, "{today} {clock:?}");
        }
    }

    #[test]
    fn the_newest_counted_day_is_the_apis_own() {
        let counts = [date(2026, 7, 31), date(2026, 7, 30)].map(|date| DailyCount { date, count: 0 });
        assert!(check_counts(date(2026, 7, 31), &counts, None).is_ok());
        let error = check_counts(date(2026, 8, 1), &counts, None).expect_err("a later day");
        assert!(matches!(error, PipelineError::LaterDay { api_day, .. } if api_day == date(2026, 7, 31)));
        assert!(check_counts(date(2026, 8, 1), &[], None).is_ok(), "an API that counts no days");
    }
}
