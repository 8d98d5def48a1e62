//! Days and months in Eastern time, the time zone of every boundary in the API.
//!
//! Source: API document, "Limits", last bullet.

use jiff::civil::Date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, Zoned};
use std::sync::LazyLock;

/// Found once: a request asks for the day several times. The rules are those in the program: the variable `TZDIR` may lead to others, or to
/// none.
static EASTERN: LazyLock<TimeZone> =
    LazyLock::new(|| TimeZoneDatabase::bundled().get("America/New_York").unwrap_or(TimeZone::UTC));
/// The day whose number is 0.
const EPOCH: Date = Date::constant(1970, 1, 1);

/// An instant as Eastern time.
pub fn eastern(instant: Timestamp) -> Zoned {
    instant.to_zoned(EASTERN.clone())
}

/// An instant to the minute, in Eastern time, such as `2026-11-21 00:00 Eastern time`.
pub(crate) fn instant(at: Timestamp) -> String {
    format!("{} Eastern time", eastern(at).strftime("%Y-%m-%d %H:%M"))
}

/// The Eastern day of an instant.
pub fn eastern_day(instant: Timestamp) -> Date {
    eastern(instant).date()
}

/// The instant at which an Eastern day begins.
pub fn day_start(day: Date) -> Timestamp {
    day.to_zoned(EASTERN.clone()).map(|zoned| zoned.timestamp()).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The oldest day of a window of `days` days that ends on `today`; today counts as day 1.
///
/// Source: API document, "Limits", daily filings window.
pub fn window_start(today: Date, days: u32) -> Date {
    minus_days(today, days.saturating_sub(1))
}

/// `day` minus `days` days; the first day of the calendar at the earliest.
pub fn minus_days(day: Date, days: u32) -> Date {
    day.saturating_sub(duration_of(days.into()))
}

/// `day` plus `days` days; the last day of the calendar at the latest.
pub fn plus_days(day: Date, days: u32) -> Date {
    day.saturating_add(duration_of(days.into()))
}

/// The time of a number of days. Days are counted by durations: jiff's spans, which also have months, take longer.
const fn duration_of(days: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * days)
}

/// Days from one day to a later one.
fn days_between(from: Date, to: Date) -> i64 {
    to.duration_since(from).as_hours() / 24
}

/// Days from `from` to `to`, both ends included; 0 when `from` is after `to`.
pub fn span_days(from: Date, to: Date) -> u32 {
    u32::try_from(days_between(from, to) + 1).unwrap_or(0)
}

/// The days from `to` back to `from`, newest first, both ends included.
pub fn days_newest_first(from: Date, to: Date) -> impl Iterator<Item = Date> {
    (0..span_days(from, to)).map(move |back| minus_days(to, back))
}

/// The number of a day in a date column: days since 1970-01-01.
pub fn epoch_days(day: Date) -> i32 {
    days_between(EPOCH, day) as i32
}

/// The day with this number, counted from 1970-01-01; `None` beyond the years −9999 to 9999.
pub fn day_of_epoch(days: i32) -> Option<Date> {
    EPOCH.checked_add(duration_of(days.into())).ok()
}

/// The month of a day as `YYYY-MM`, the text of the `filed_month` partition key.
pub fn month_of(day: Date) -> String {
    format!("{:04}-{:02}", day.year(), day.month())
}

/// Reads a date of the form `YYYY-MM-DD`; `None` for another form, or for a day that does not exist.
pub fn parse_date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shaped {
        return None;
    }
    let number = |digits: &[u8]| digits.iter().fold(0, |number, digit| 10 * number + i16::from(digit - b'0'));
    let (month, day) = (number(&bytes[5..7]) as i8, number(&bytes[8..]) as i8);
    // The calendar has no year 0.
    Date::new(number(&bytes[..4]), month, day).ok().filter(|day| day.year() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn an_eastern_day_begins_at_eastern_midnight_in_summer_and_winter() {
        let at = |text: &str| eastern_day(text.parse().expect("an instant"));
        assert_eq!(at("2026-07-31T03:59:59Z"), date(2026, 7, 30));
        assert_eq!(at("2026-07-31T04:00:00Z"), date(2026, 7, 31));
        assert_eq!(at("2026-01-31T04:59:59Z"), date(2026, 1, 30));
        assert_eq!(at("2026-01-31T05:00:00Z"), date(2026, 1, 31));
    }

    #[test]
    fn an_instant_is_written_to_the_minute() {
        let at = "2026-11-21T05:00:00.123456789Z".parse().expect("an instant");
        assert_eq!(instant(at), "2026-11-21 00:00 Eastern time");
    }

    #[test]
    fn today_is_day_one_of_its_window() {
        assert_eq!(window_start(date(2026, 7, 31), 1), date(2026, 7, 31));
        assert_eq!(window_start(date(2026, 7, 31), 30), date(2026, 7, 2));
        assert_eq!(window_start(date(2024, 3, 1), 2), date(2024, 2, 29));
    }

    #[test]
    fn spans_count_both_ends() {
        assert_eq!(span_days(date(2026, 1, 1), date(2026, 4, 2)), 92);
        assert_eq!(span_days(date(2026, 1, 2), date(2026, 1, 1)), 0);
    }

    #[test]
    fn the_calendar_ends_without_a_panic() {
        assert_eq!(minus_days(date(2026, 1, 1), u32::MAX), Date::MIN);
        assert_eq!(plus_days(date(2026, 1, 1), u32::MAX), Date::MAX);
        for day in [Date::MIN, date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), Date::MAX] {
            assert_eq!(day_of_epoch(epoch_days(day)), Some(day));
        }
        assert_eq!((epoch_days(date(1969, 12, 31)), epoch_days(date(2000, 3, 1))), (-1, 11_017));
        let beyond = [i32::MIN, epoch_days(Date::MIN) - 1, epoch_days(Date::MAX) + 1, i32::MAX];
        assert_eq!(beyond.map(day_of_epoch), [None; 4]);
    }

    #[test]
    fn every_day_of_the_calendar_has_a_number() {
        for (day, number) in [
            (date(1970, 1, 1), 0),
            (date(1969, 12, 31), -1),
            (date(2026, 7, 16), 20_650),
            (date(1845, 3, 3), -45_594),
        ] {
            assert_eq!((epoch_days(day), day_of_epoch(number)), (number, Some(day)));
        }
        for edge in [Date::MIN, Date::MAX] {
            assert_eq!(day_of_epoch(epoch_days(edge)), Some(edge));
        }
        assert_eq!([i32::MIN, i32::MAX].map(day_of_epoch), [None, None]);
    }

    #[test]
    fn a_date_has_one_form() {
        assert_eq!(parse_date("2024-02-29"), Some(date(2024, 2, 29)));
        for wrong in
            ["2023-02-29", "2024-2-9", "20240229", "2024-02-29T00:00", "+024-02-29", "2024-13-01", ""]
        {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
    }
}
