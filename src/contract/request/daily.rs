//! The daily endpoints: the days that are counted, and the day that is listed.
//!
//! Source: API document, "GET /v1/fl/filings/daily" and "GET /v1/fl/filings/daily/{date}".

use super::super::eastern::window_start;
use super::super::error::Violation;
use super::super::plan::PlanLimits;
use super::argument::{Arguments, CheckedPage};
use super::param::DEFAULT_DAYS;
use jiff::civil::Date;

/// The number of days that are counted, today included: from 1 to 90; more than the plan's window are reduced to it.
///
/// # Errors
/// Every broken rule.
pub fn checked_days(arguments: Arguments, limits: &PlanLimits) -> Result<u32, Vec<Violation>> {
    let days = arguments.integer("days").unwrap_or(DEFAULT_DAYS).min(limits.window_days);
    arguments.finish(Some(days))
}

/// The day of a listing and the page of it, checked against the plan.
///
/// # Errors
/// Every broken rule; one for a day before the window only when no other is broken.
pub fn checked_day(
    mut arguments: Arguments,
    limits: &PlanLimits,
    today: Date,
) -> Result<(Date, CheckedPage), Vec<Violation>> {
    let date = arguments.day("date");
    let page = CheckedPage::read(&mut arguments, limits);
    let oldest = window_start(today, limits.window_days);
    match date {
        Some(date) if date > today => {
            let message = format!("date must not be in the future; today is {today}, not {date}");
            arguments.reject(Violation::invalid("date", message));
        }
        Some(date) if date < oldest => arguments.reject(Violation::before_window(
            "date",
            format!("{date} is older than the plan's daily window, which reaches back to {oldest}"),
        )),
        _ => {}
    }
    arguments.finish(date.map(|date| (date, page)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::contract::request::endpoint::Endpoint;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 7, 31);

    fn day(argument: &str, query: &str) -> Result<(Date, CheckedPage), (u16, String)> {
        let arguments = Arguments::from_request(Endpoint::DailyFilings, Some(argument), query);
        checked_day(arguments, &Plan::Starter.limits(), TODAY)
            .map_err(|broken| (broken[0].status, broken[0].message.clone()))
    }

    fn days(query: &str) -> Result<u32, String> {
        let arguments = Arguments::from_request(Endpoint::DailyCounts, None, query);
        checked_days(arguments, &Plan::Starter.limits()).map_err(|broken| broken[0].message.clone())
    }

    #[test]
    fn days_are_1_to_90_and_at_most_the_window() {
        assert_eq!(days(""), Ok(30));
        assert_eq!(days("days=1"), Ok(1));
        assert_eq!(days("days=90"), Ok(30));
        for wrong in ["days=0", "days=91", "days=07", "days=7.0", "days=", "days=seven", "days=-1"] {
            assert!(days(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_day_is_real_not_in_the_future_and_inside_the_window() {
        for (argument, query, status, says) in [
            ("2026-07-31", "limit=0", 400, "limit must be"),
            ("2026-08-01", "", 400, "in the future"),
            ("2026-02-30", "", 400, "a real day"),
            ("2026-7-1", "", 400, "a real day"),
            ("%zz", "", 400, "percent-encoding"),
            ("2026-07-01", "", 403, "reaches back to 2026-07-02"),
            ("2026-07-01", "limit=0", 400, "limit must be"),
            ("2026-07-31", "offset=1001", 400, "maximum of 1000"),
        ] {
            let (got, message) = day(argument, query).expect_err(argument);
            assert_eq!(got, status, "{argument}?{query}: {message}");
            assert!(message.contains(says), "{argument}?{query}: {message}");
        }
        let (filed, page) = day("2026-07-02", "limit=1000&offset=100").expect("a right listing");
        assert_eq!((filed, page.limit(), page.offset()), (date(2026, 7, 2), 50, 100));
    }
}
