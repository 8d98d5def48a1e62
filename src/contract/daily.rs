//! The daily endpoints: how many days are counted, and which day is listed.
//!
//! Source: API document, "GET /v1/fl/filings/daily" and "GET /v1/fl/filings/daily/{date}".

use super::argument::Arguments;
use super::eastern::window_start;
use super::endpoint::Endpoint;
use super::error::Violation;
use super::param::DEFAULT_DAYS;
use super::plan::PlanLimits;
use super::query::join;
use super::search::CheckedPage;
use jiff::civil::Date;

/// The query of the daily counts, as sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DailyCountsQuery {
    /// Days back from today, today included.
    pub days: Option<u32>,
}

impl DailyCountsQuery {
    /// The query string; empty when nothing is set.
    pub fn to_query(self) -> String {
        join(self.days.map(|days| ("days", days.to_string())))
    }

    /// The days that will come back under a plan.
    ///
    /// # Errors
    /// Every broken rule.
    pub fn check(self, limits: &PlanLimits) -> Result<CheckedDays, Vec<Violation>> {
        let pairs: Vec<_> = self.days.map(|days| ("days".to_owned(), days.to_string())).into_iter().collect();
        CheckedDays::from_arguments(Arguments::from_pairs(Endpoint::DailyCounts, &pairs), limits)
    }
}

/// How many days are counted: between 1 and 90, no more than the plan's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedDays {
    days: u32,
}

impl CheckedDays {
    /// Checks the parameters of the daily counts; more days than the plan's window are cut, not refused.
    ///
    /// # Errors
    /// Every broken rule.
    pub fn from_arguments(arguments: Arguments, limits: &PlanLimits) -> Result<Self, Vec<Violation>> {
        let days = arguments.integer("days").unwrap_or(DEFAULT_DAYS).min(limits.window_days);
        arguments.settle(Some(Self { days }))
    }

    /// Days, today included.
    pub const fn days(self) -> u32 {
        self.days
    }
}

/// The listing of one day, as sent; the date stands in the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyFilingsQuery {
    /// The filing day.
    pub date: Date,
    /// Rows of a page.
    pub limit: Option<u32>,
    /// Rows before the page.
    pub offset: Option<u32>,
}

impl DailyFilingsQuery {
    /// The path with the date in it.
    pub fn to_path(self) -> String {
        Endpoint::DailyFilings.path(Some(&self.date.to_string()))
    }

    /// The query string; empty when nothing is set.
    pub fn to_query(self) -> String {
        join(self.page_pairs())
    }

    /// The listing a server of this plan would give.
    ///
    /// # Errors
    /// Every broken rule; one for a day before the window only when no other is broken.
    pub fn check(self, limits: &PlanLimits, today: Date) -> Result<CheckedDay, Vec<Violation>> {
        let date = std::iter::once(("date", self.date.to_string()));
        let pairs: Vec<_> =
            date.chain(self.page_pairs()).map(|(name, value)| (name.to_owned(), value)).collect();
        CheckedDay::from_arguments(Arguments::from_pairs(Endpoint::DailyFilings, &pairs), limits, today)
    }

    fn page_pairs(self) -> impl Iterator<Item = (&'static str, String)> {
        let limit = self.limit.map(|limit| ("limit", limit.to_string()));
        let offset = self.offset.map(|offset| ("offset", offset.to_string()));
        limit.into_iter().chain(offset)
    }
}

/// A listing of one day that the plan allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedDay {
    date: Date,
    page: CheckedPage,
}

impl CheckedDay {
    /// Checks the parameters of the listing of a day.
    ///
    /// # Errors
    /// Every broken rule; one for a day before the window only when no other is broken.
    pub fn from_arguments(
        mut arguments: Arguments,
        limits: &PlanLimits,
        today: Date,
    ) -> Result<Self, Vec<Violation>> {
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
        arguments.settle(date.map(|date| Self { date, page }))
    }

    /// The filing day.
    pub const fn date(&self) -> Date {
        self.date
    }

    /// The page of it.
    pub const fn page(&self) -> CheckedPage {
        self.page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 7, 31);

    fn day(argument: &str, query: &str) -> Result<CheckedDay, (u16, String)> {
        let arguments = Arguments::from_request(Endpoint::DailyFilings, Some(argument), query);
        CheckedDay::from_arguments(arguments, &Plan::Starter.limits(), TODAY)
            .map_err(|broken| (broken[0].status, broken[0].message.clone()))
    }

    fn days(query: &str) -> Result<u32, String> {
        let arguments = Arguments::from_request(Endpoint::DailyCounts, None, query);
        CheckedDays::from_arguments(arguments, &Plan::Starter.limits())
            .map(CheckedDays::days)
            .map_err(|broken| broken[0].message.clone())
    }

    #[test]
    fn days_are_1_to_90_and_the_window_cuts_them() {
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
        assert_eq!(day("2026-07-02", "limit=1000").map(|day| day.page().limit()), Ok(50));
    }

    #[test]
    fn what_the_client_sends_is_what_the_server_reads() {
        let sent = DailyFilingsQuery { date: TODAY, limit: Some(50), offset: Some(100) };
        assert_eq!(sent.to_path(), "/v1/fl/filings/daily/2026-07-31");
        assert_eq!(sent.to_query(), "limit=50&offset=100");
        assert_eq!(DailyCountsQuery { days: Some(7) }.to_query(), "days=7");
        let checked = sent.check(&Plan::Starter.limits(), TODAY).expect("a right listing");
        assert_eq!((checked.date(), checked.page().offset()), (TODAY, 100));
    }
}
