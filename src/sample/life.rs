//! Events after a filing: annual reports, a new address, a new agent, dissolution.
//!
//! Each event has its own day; a record shows the events up to the day of the sample.

use super::chance::{Draw, Purpose};
use crate::contract::eastern::plus_days;
use crate::contract::reference::EntityType;
use jiff::civil::{Date, Weekday, date};

/// Share of businesses that dissolve within about 14 months.
const ENDS_EARLY: f64 = 0.012;
/// Share dissolved in September of the year after the filing year for a missing report.
const ENDS_FIRST_SEPTEMBER: f64 = 0.36;
/// The same in every later year.
const ENDS_LATER_SEPTEMBER: f64 = 0.088;
/// Share of businesses that change something within about 12 months.
const CHANGES: f64 = 0.03;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Moved,
    NewAgent,
}

/// The state of a business on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) dissolved: Option<Date>,
    /// Year of its last annual report; that of its posting, or the one before, until it reports.
    pub(super) last_report_year: i16,
    pub(super) change: Option<Change>,
}

/// The life of a business up to and with `today`.
pub(super) fn life(seed: u64, id: u64, kind: EntityType, filed: Date, posted: Date, today: Date) -> Life {
    let mut draw = Draw::of(seed, Purpose::Life, id);
    let begun = posted.max(filed);
    let ends = draw.happens(ENDS_EARLY).then(|| plus_days(begun, early_end(&mut draw)));
    let changes = draw.happens(CHANGES).then(|| plus_days(begun, draw.between(5, 360) as u32));
    let change = if draw.happens(0.6) { Change::Moved } else { Change::NewAgent };
    let (last_report_year, struck_off) = if kind == EntityType::Fictitious {
        (first_report_year(filed, posted), None)
    } else {
        reports(&mut draw, filed, posted, today)
    };
    let dissolved = [ends, struck_off].into_iter().flatten().min().filter(|day| *day <= today);
    let before_end = |day: &Date| *day <= today && dissolved.is_none_or(|end| *day < end);
    Life { dissolved, last_report_year, change: changes.filter(before_end).map(|_| change) }
}

/// Days to an early end: many businesses end within a month.
fn early_end(draw: &mut Draw) -> u32 {
    let days = if draw.happens(0.4) { draw.between(2, 30) } else { draw.between(31, 420) };
    days as u32
}

fn first_report_year(filed: Date, posted: Date) -> i16 {
    if filed.year() >= posted.year() { posted.year() } else { posted.year() - 1 }
}

/// The year of the last report, and the day of dissolution for a missing one.
/// The report is due by May 1 of each year after the filing; businesses without one are dissolved in September.
fn reports(draw: &mut Draw, filed: Date, posted: Date, today: Date) -> (i16, Option<Date>) {
    let mut last_year = first_report_year(filed, posted);
    for year in (filed.year() + 1).max(posted.year())..=today.year() {
        let share = if year == filed.year() + 1 { ENDS_FIRST_SEPTEMBER } else { ENDS_LATER_SEPTEMBER };
        let (fails, report_day) = (draw.happens(share), draw.between(0, 119) as u32);
        let strike = date(year, 9, 1).nth_weekday_of_month(4, Weekday::Friday).ok();
        if fails && strike.is_some_and(|strike| strike > posted) {
            return (last_year, strike);
        }
        let reported = plus_days(date(year, 1, 2), report_day);
        if reported > posted && reported <= today {
            last_year = last_year.max(year);
        }
    }
    (last_year, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lives(today: Date) -> Vec<Life> {
        let (filed, posted) = (date(2025, 3, 3), date(2025, 3, 7));
        (0..10_000).map(|id| life(1, id, EntityType::Llc, filed, posted, today)).collect()
    }

    fn active_share(today: Date) -> f64 {
        lives(today).iter().filter(|life| life.dissolved.is_none()).count() as f64 / 10_000.0
    }

    #[test]
    fn few_end_before_the_second_september_and_a_third_in_it() {
        assert!(active_share(date(2026, 9, 24)) > 0.98);
        assert!((0.60..0.67).contains(&active_share(date(2026, 9, 25))));
        assert!((0.25..0.31).contains(&active_share(date(2035, 12, 1))));
    }

    #[test]
    fn the_past_does_not_change_with_the_day() {
        let (today, later) = (lives(date(2026, 9, 30)), lives(date(2027, 3, 1)));
        for (before, after) in today.iter().zip(&later) {
            assert!(before.dissolved.is_none() || before.dissolved == after.dissolved);
            assert!(before.change.is_none() || before.change == after.change);
            assert!(before.last_report_year <= after.last_report_year);
        }
    }

    #[test]
    fn reports_come_in_the_years_after_the_filing() {
        assert!(lives(date(2025, 12, 31)).iter().all(|life| life.last_report_year == 2025));
        let reported = lives(date(2026, 5, 2)).iter().filter(|life| life.last_report_year == 2026).count();
        assert!((6_000..6_800).contains(&reported), "{reported}");
    }
}
