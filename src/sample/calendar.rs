//! The number of filings on each date: weekdays, months, first of the month, holidays, January 1.
//!
//! Measured on the public daily files of 2026; the yearly level is 675,000 Florida LLCs and 150,000 fictitious names.

use super::chance::{Draw, Purpose};
use crate::contract::eastern::minus_days;
use crate::contract::holiday::holiday_name;
use jiff::civil::{Date, Weekday, date};

/// LLC filings of the mean business day of the year.
const BUSINESS_DAY: f64 = 2_227.0;
/// LLC filings of a weekday on which the office is closed.
const CLOSED_DAY: f64 = 270.0;
/// LLC filings of a first of a month on which the office is closed: dates that filers asked for.
const CLOSED_FIRST: f64 = 3_300.0;
const NEW_YEAR: f64 = 10_000.0;
/// The first open day after a closed one, as a multiple of the mean business day.
const REOPENING: f64 = 1.9;
const FICTITIOUS_OPEN: f64 = 590.0;
const FICTITIOUS_CLOSED: f64 = 25.0;
/// Monday to Sunday, as a multiple of the mean of Monday to Friday.
const WEEKDAYS: [f64; 7] = [1.33, 0.96, 1.01, 0.91, 0.81, 0.21, 0.19];
/// January to December, as a multiple of the year's mean.
const MONTHS: [f64; 12] = [1.12, 1.04, 1.07, 1.03, 1.00, 0.97, 0.95, 0.94, 0.96, 0.99, 0.94, 0.99];
/// Days the office was closed beyond its yearly holidays.
const CLOSED_ONCE: [Date; 2] = [date(2026, 7, 2), date(2026, 7, 6)];

/// Expected filings that carry one date, for all of Florida.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DayVolume {
    /// LLCs dated by the day they were handed in.
    pub(super) llc_regular: f64,
    /// LLCs whose filers asked for this very date: most come before it.
    pub(super) llc_chosen: f64,
    /// Share of the chosen ones that are posted before their date.
    pub(super) chosen_ahead: f64,
    pub(super) fictitious: f64,
}

/// The volume of a day, with noise from the seed.
pub(super) fn volume(seed: u64, day: Date) -> DayVolume {
    let mut draw = Draw::of(seed, Purpose::Volume, day_key(day));
    let noise = 1.0 + 0.14 * (draw.unit() + draw.unit() + draw.unit() - 1.5);
    let calm = 1.0 + (noise - 1.0) / 4.0;
    let expected = expected(day);
    DayVolume {
        llc_regular: expected.llc_regular * noise,
        llc_chosen: expected.llc_chosen * calm,
        fictitious: expected.fictitious * noise,
        ..expected
    }
}

fn day_key(day: Date) -> u64 {
    day.year() as u64 * 10_000 + day.month() as u64 * 100 + day.day() as u64
}

fn expected(day: Date) -> DayVolume {
    let month = MONTHS[usize::from(day.month().unsigned_abs()) - 1];
    let weekday = WEEKDAYS[usize::from(day.weekday().to_monday_zero_offset().unsigned_abs())];
    let open = is_open(day);
    let plain = BUSINESS_DAY * month * weekday;
    let llc_regular = match (open, is_weekend(day)) {
        (true, _) if follows_closure(day) => BUSINESS_DAY * month * REOPENING,
        (true, _) if day.month() == 1 && day.day() <= 15 => plain * 1.2,
        (false, false) => CLOSED_DAY,
        _ => plain,
    };
    let llc_chosen = match (day.month(), day.day()) {
        (1, 1) => NEW_YEAR - llc_regular,
        (_, 1) if open => 0.7 * plain,
        (_, 1) => CLOSED_FIRST - llc_regular,
        (_, 15) if open => 0.15 * plain,
        _ => 0.0,
    };
    DayVolume {
        llc_regular,
        llc_chosen: llc_chosen.max(0.0),
        chosen_ahead: if (day.month(), day.day()) == (1, 1) { 0.9 } else { 0.55 },
        fictitious: if open { FICTITIOUS_OPEN * month } else { FICTITIOUS_CLOSED },
    }
}

pub(super) fn is_open(day: Date) -> bool {
    !is_weekend(day) && !is_holiday(day)
}

pub(super) fn is_weekend(day: Date) -> bool {
    matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday)
}

/// The last working day of the week before this one was a holiday.
fn follows_closure(day: Date) -> bool {
    let back = if day.weekday() == Weekday::Monday { 3 } else { 1 };
    is_holiday(minus_days(day, back))
}

fn is_holiday(day: Date) -> bool {
    holiday_name(day).is_some() || CLOSED_ONCE.contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::plus_days;

    #[test]
    fn the_office_keeps_the_state_holidays() {
        let days = [(1, 1), (1, 19), (5, 25), (7, 3), (9, 7), (11, 11), (11, 26), (11, 27), (12, 25)];
        let mut closed =
            days.map(|(month, day)| date(2026, month, day)).into_iter().chain([date(2023, 1, 2)]);
        assert!(closed.all(|day| !is_open(day)));
        let open = [date(2026, 6, 19), date(2026, 7, 1), date(2026, 7, 7), date(2026, 11, 30)];
        assert!(open.into_iter().all(is_open));
    }

    #[test]
    fn a_year_holds_the_known_number_of_filings() {
        for (year, days) in [(2025, 365), (2026, 365), (2024, 366)] {
            let volumes = (0..days).map(|after| volume(1, plus_days(date(year, 1, 1), after)));
            let (llc, fictitious) = volumes.fold((0.0, 0.0), |(llc, fictitious), day| {
                (llc + day.llc_regular + day.llc_chosen, fictitious + day.fictitious)
            });
            assert!((655_000.0..715_000.0).contains(&llc), "{year}: {llc}");
            assert!((140_000.0..160_000.0).contains(&fictitious), "{year}: {fictitious}");
        }
    }

    #[test]
    fn first_of_month_closed_days_and_new_year_differ() {
        let llc = |day| {
            let volume = expected(day);
            volume.llc_regular + volume.llc_chosen
        };
        assert_eq!(llc(date(2026, 1, 1)), 10_000.0);
        assert_eq!(llc(date(2026, 8, 1)), 3_300.0);
        assert!((3_500.0..4_000.0).contains(&llc(date(2026, 7, 1))));
        assert!(llc(date(2026, 7, 3)) < 300.0);
        assert!((3_900.0..4_200.0).contains(&llc(date(2026, 7, 7))));
        assert!((llc(date(2026, 7, 15)) / llc(date(2026, 7, 22)) - 1.15).abs() < 0.01);
    }
}
