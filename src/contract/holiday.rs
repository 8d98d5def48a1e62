//! Florida's state holidays, on which the office that registers businesses is closed.
//!
//! Source: section 110.117(1), Florida Statutes. Juneteenth is not in it. A holiday on a Saturday is observed on the Friday
//! before, one on a Sunday on the Monday after.

use jiff::civil::{Date, Weekday};

/// The holidays on a fixed day: month, day, name.
const FIXED: [(i8, i8, &str); 4] = [
    (1, 1, "New Year's Day"),
    (7, 4, "Independence Day"),
    (11, 11, "Veterans' Day"),
    (12, 25, "Christmas Day"),
];

/// The holidays on a weekday of a month: month, which one (-1 for the last), weekday, name.
const BY_WEEKDAY: [(i8, i8, Weekday, &str); 4] = [
    (1, 3, Weekday::Monday, "Martin Luther King Jr. Day"),
    (5, -1, Weekday::Monday, "Memorial Day"),
    (9, 1, Weekday::Monday, "Labor Day"),
    (11, 4, Weekday::Thursday, THANKSGIVING),
];

const THANKSGIVING: &str = "Thanksgiving Day";
const AFTER_THANKSGIVING: &str = "Friday after Thanksgiving";

/// The name of the state holiday on a day, or observed on it; `None` for a day on which state offices are open.
///
/// The weekend day itself has the name too. A New Year's Day on a Saturday is observed in the old year.
pub fn holiday_name(day: Date) -> Option<&'static str> {
    fixed(day).or_else(|| by_weekday(day)).or_else(|| {
        let before = day.yesterday().ok()?;
        (by_weekday(before)? == THANKSGIVING).then_some(AFTER_THANKSGIVING)
    })
}

/// Whether a day has the filings of its weekday: no holiday, no first open day after one, and no 1st or 15th of a month, dates that
/// filers ask for.
pub fn is_ordinary(day: Date) -> bool {
    !matches!(day.day(), 1 | 15) && holiday_name(day).is_none() && !is_reopening(day)
}

/// Whether a day is an open one whose last day from Monday to Friday before was a holiday.
fn is_reopening(day: Date) -> bool {
    let is_weekend = |day: &Date| matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
    let mut before = std::iter::successors(day.yesterday().ok(), |day| day.yesterday().ok());
    !is_weekend(&day) && before.find(|day| !is_weekend(day)).is_some_and(|day| holiday_name(day).is_some())
}

/// The holiday on a fixed day that is on `day`, or observed on it.
fn fixed(day: Date) -> Option<&'static str> {
    let shifted = match day.weekday() {
        Weekday::Friday => day.tomorrow().ok(),
        Weekday::Monday => day.yesterday().ok(),
        _ => None,
    };
    [Some(day), shifted].into_iter().flatten().find_map(|day| {
        let named = FIXED.iter().find(|(month, of_month, _)| (*month, *of_month) == (day.month(), day.day()));
        named.map(|(_, _, name)| *name)
    })
}

fn by_weekday(day: Date) -> Option<&'static str> {
    let named = BY_WEEKDAY.iter().find(|(month, nth, weekday, _)| {
        (*month, *weekday) == (day.month(), day.weekday())
            && day.nth_weekday_of_month(*nth, *weekday).is_ok_and(|found| found == day)
    });
    named.map(|(_, _, _, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::plus_days;
    use jiff::civil::date;

    /// The weekdays of a year that have a holiday's name, with the name's first letter.
    fn closed(year: i16) -> Vec<(i8, i8, char)> {
        let days = (0..366).map(|after| plus_days(date(year, 1, 1), after)).filter(|day| day.year() == year);
        let open_week = days.filter(|day| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday));
        let named = open_week.filter_map(|day| Some((day, holiday_name(day)?.chars().next()?)));
        named.map(|(day, first)| (day.month(), day.day(), first)).collect()
    }

    #[test]
    fn the_state_is_closed_on_its_holidays_of_2024_to_2027_and_on_no_other_weekday() {
        for (year, [king, memorial, independence, labor, veterans, thanksgiving, christmas]) in [
            (2024, [(1, 15), (5, 27), (7, 4), (9, 2), (11, 11), (11, 28), (12, 25)]),
            (2025, [(1, 20), (5, 26), (7, 4), (9, 1), (11, 11), (11, 27), (12, 25)]),
            (2026, [(1, 19), (5, 25), (7, 3), (9, 7), (11, 11), (11, 26), (12, 25)]),
            (2027, [(1, 18), (5, 31), (7, 5), (9, 6), (11, 11), (11, 25), (12, 24)]),
        ] {
            let friday = (thanksgiving.0, thanksgiving.1 + 1);
            let mut expected = vec![(1, 1, 'N')];
            for (day, first) in
                [king, memorial, independence, labor, veterans, thanksgiving, friday, christmas]
                    .into_iter()
                    .zip("MMILVTFC".chars())
            {
                expected.push((day.0, day.1, first));
            }
            // January 1, 2028 is a Saturday.
            expected.extend((year == 2027).then_some((12, 31, 'N')));
            assert_eq!(closed(year), expected, "{year}");
        }
    }

    #[test]
    fn a_holiday_on_a_weekend_has_its_name_on_both_days() {
        for day in [date(2026, 7, 3), date(2026, 7, 4), date(2027, 7, 4), date(2027, 7, 5)] {
            assert_eq!(holiday_name(day), Some("Independence Day"), "{day}");
        }
        assert_eq!(holiday_name(date(2023, 1, 2)), Some("New Year's Day"));
        assert_eq!(holiday_name(date(2026, 11, 27)), Some("Friday after Thanksgiving"));
    }

    #[test]
    fn ordinary_days_are_no_holidays_no_reopenings_and_no_dates_that_filers_ask_for() {
        let of_july: Vec<i8> = (1..=17).filter(|day| !is_ordinary(date(2026, 7, *day))).collect();
        // Independence Day is observed on Friday the 3rd; Monday the 6th has what was left for it.
        assert_eq!(of_july, [1, 3, 4, 6, 15]);
        assert!(!is_ordinary(date(2026, 9, 8)), "the Tuesday after Labor Day");
        assert!(!is_ordinary(date(2026, 11, 30)), "the Monday after Thanksgiving");
        assert!(is_ordinary(date(2026, 11, 28)), "the Saturday after Thanksgiving");
    }

    #[test]
    fn juneteenth_and_the_ends_of_the_calendar_are_no_holidays() {
        for day in
            [date(2026, 6, 19), date(2026, 10, 12), date(2026, 2, 16), Date::MIN.tomorrow().expect("a day")]
        {
            assert_eq!(holiday_name(day), None, "{day}");
        }
        assert_eq!(holiday_name(Date::MAX), None);
    }
}
