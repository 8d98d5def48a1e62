//! Days and months of the lake, from counts and coverage. Pure.

use crate::contract::eastern::{epoch_days, minus_days, month_of};
use crate::contract::holiday::{holiday_name, is_ordinary};
use crate::contract::reference::EntityType;
use crate::table::{CoverageRow, DayRow, EVERY_OTHER_TYPE, MonthRow, Ratio, counts_in_sums};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Days whose fullness is shown, with those that it is compared with.
const COMPARED_DAYS: i64 = 114;
/// After these days hardly any filing still arrives.
const FULL_AFTER_DAYS: i64 = 30;

/// The newer days whose growth is shown: nearly all of their filings have arrived. Each is compared with the day this many days before.
const GROWING: std::ops::Range<i64> = 15..43;
const GROWS_IN: u32 = 28;
/// Growth of fewer days is none.
const LEAST_GROWING: usize = 10;
/// Weeks with which a day is compared, and how many of them it takes.
const WEEKS_BEFORE: u32 = 4;
const LEAST_WEEKS: i64 = 2;

/// The businesses of one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DayCount {
    pub(crate) listed: i64,
    /// Listed or no more; none where an API may have shown too few.
    pub(crate) filed: Option<i64>,
}

/// What coverage says of one day, all listings together.
pub(super) struct Covered {
    pub(super) expected: i64,
    pub(super) landed: i64,
    pub(super) complete: bool,
    pub(super) settled: bool,
    /// Whether a listing of all types was read, which has no fictitious names.
    pub(super) is_untyped: bool,
    has_names: bool,
}

impl Covered {
    const NOTHING: Self =
        Self { expected: 0, landed: 0, complete: true, settled: true, is_untyped: false, has_names: false };

    /// Whether the listing of fictitious names was not read.
    pub(super) const fn lacks_names(&self) -> bool {
        self.is_untyped && !self.has_names
    }
}

/// One row for each day with filings or coverage, newest first. `today` is the day of the newest statewide figures.
pub(crate) fn days(filings: &BTreeMap<Date, DayCount>, coverage: &[CoverageRow], today: Date) -> Vec<DayRow> {
    let covered = covered(coverage);
    let dates: BTreeSet<Date> = filings.keys().chain(covered.keys()).copied().collect();
    let day = |date: &Date| {
        let covered = covered.get(date);
        let is_read = |covered: &&Covered| covered.is_untyped && covered.has_names;
        let nothing = DayCount { listed: 0, filed: Some(0) };
        let count = filings.get(date).copied().unwrap_or(nothing);
        let proven = covered.filter(is_read).filter(|_| *date <= today);
        DayRow {
            filed_date: *date,
            filed_month: month_of(*date),
            filed_week: minus_days(*date, date.weekday().to_monday_zero_offset().unsigned_abs().into()),
            days_ago: i64::from(epoch_days(today) - epoch_days(*date)),
            weekday: date.weekday().to_monday_one_offset().into(),
            holiday: holiday_name(*date).map(str::to_owned),
            ordinary: is_ordinary(*date),
            filings: count.listed,
            filed: count.filed,
            expected: covered.map(|covered| covered.expected),
            complete: proven.is_some_and(|covered| covered.complete),
            settled: proven.is_some_and(|covered| covered.settled),
            usual_filings: None,
            fullness: None,
            four_weeks_before: None,
            growth_window: None,
        }
    };
    let mut days: Vec<DayRow> = dates.iter().rev().map(day).collect();
    compare(&mut days);
    let comparable = comparable(&days);
    compare_with_weeks_before(&mut days, &comparable);
    mark_growing(&mut days, &comparable);
    days
}

/// Days that can be compared with others of their weekday, and what was filed on them: of an older day fewer are still listed.
fn comparable(days: &[DayRow]) -> BTreeMap<Date, i64> {
    let is_comparable = |day: &&DayRow| day.ordinary && day.complete;
    days.iter().filter(is_comparable).filter_map(|day| Some((day.filed_date, day.filed?))).collect()
}

/// Gives each comparable day the mean of its weekday in the weeks before.
fn compare_with_weeks_before(days: &mut [DayRow], comparable: &BTreeMap<Date, i64>) {
    for day in days.iter_mut().filter(|day| comparable.contains_key(&day.filed_date)) {
        let before =
            (1..=WEEKS_BEFORE).filter_map(|week| comparable.get(&minus_days(day.filed_date, 7 * week)));
        let (filings, weeks) = before.fold((0, 0), |(filings, weeks), more| (filings + more, weeks + 1));
        day.four_weeks_before = (weeks >= LEAST_WEEKS).then(|| (2 * filings + weeks) / (2 * weeks));
    }
}

/// Marks the days of which growth is shown: pairs of one weekday, four weeks apart, both comparable.
fn mark_growing(days: &mut [DayRow], comparable: &BTreeMap<Date, i64>) {
    let before = |day: Date| minus_days(day, GROWS_IN);
    let newer = days.iter().filter(|day| GROWING.contains(&day.days_ago)).map(|day| day.filed_date);
    let newer: BTreeSet<Date> =
        newer.filter(|day| [*day, before(*day)].iter().all(|day| comparable.contains_key(day))).collect();
    let older: BTreeSet<Date> = newer.iter().map(|day| before(*day)).collect();
    for day in days.iter_mut().filter(|_| newer.len() >= LEAST_GROWING) {
        let sides = [("newer", &newer), ("older", &older)];
        let side = sides.into_iter().find(|(_, of)| of.contains(&day.filed_date));
        day.growth_window = side.map(|(name, _)| name.to_owned());
    }
}

/// What coverage says of each day.
pub(super) fn covered(coverage: &[CoverageRow]) -> BTreeMap<Date, Covered> {
    let untyped = coverage.iter().filter(|row| row.entity_type == EVERY_OTHER_TYPE);
    let untyped: BTreeSet<Date> = untyped.map(|row| row.filed_date).collect();
    let counts = |row: &&CoverageRow| counts_in_sums(&row.entity_type, untyped.contains(&row.filed_date));
    let mut days = BTreeMap::new();
    for row in coverage.iter().filter(counts) {
        let day = days.entry(row.filed_date).or_insert(Covered::NOTHING);
        day.expected += row.expected;
        day.landed += row.landed;
        day.complete &= row.complete;
        day.settled &= row.settled && row.complete;
        day.is_untyped |= row.entity_type == EVERY_OTHER_TYPE;
        day.has_names |= row.entity_type == EntityType::Fictitious.key();
    }
    days
}

/// Compares each recent day with the mean of its weekday.
fn compare(days: &mut [DayRow]) {
    let mut usual: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let is_usual = |day: &&DayRow| {
        (FULL_AFTER_DAYS..COMPARED_DAYS).contains(&day.days_ago) && day.complete && day.ordinary
    };
    for day in days.iter().filter(is_usual) {
        let (filings, number) = usual.entry(day.weekday).or_default();
        *filings += day.filings;
        *number += 1;
    }
    for day in days.iter_mut().filter(|day| (0..COMPARED_DAYS).contains(&day.days_ago)) {
        let mean = usual.get(&day.weekday).map(|(filings, number)| *filings as f64 / *number as f64);
        day.usual_filings = mean.map(Ratio);
        day.fullness = mean.filter(|mean| *mean > 0.0).map(|mean| Ratio(day.filings as f64 / mean));
    }
}

/// One row for each month that has a day, newest first.
pub(crate) fn months(days: &[DayRow]) -> Vec<MonthRow> {
    let mut by_month: BTreeMap<&str, Vec<&DayRow>> = BTreeMap::new();
    for day in days {
        by_month.entry(&day.filed_month).or_default().push(day);
    }
    by_month.into_iter().rev().map(|(month, days)| month_row(month, &days)).collect()
}

fn month_row(month: &str, days: &[&DayRow]) -> MonthRow {
    let first = days[0].filed_date.first_of_month();
    let days_complete = days.iter().filter(|day| day.complete).count();
    // Today is not over.
    let is_over = days.iter().all(|day| day.days_ago > 0);
    let complete = is_over && days_complete == usize::try_from(first.days_in_month()).unwrap_or(0);
    MonthRow {
        filed_month: month.to_owned(),
        month_number: i64::from(first.year()) * 12 + i64::from(first.month()),
        filings: days.iter().map(|day| day.filings).sum(),
        filed: days.iter().map(|day| day.filed).sum(),
        days_ago: days.iter().map(|day| day.days_ago).min().unwrap_or(0),
        days_complete: days_complete as i64,
        complete,
        settled: complete && days.iter().all(|day| day.settled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 11, 20);

    fn read(day: Date, kind: &str, settled: bool) -> CoverageRow {
        CoverageRow {
            filed_date: day,
            entity_type: kind.to_owned(),
            expected: 3,
            landed: 3,
            complete: true,
            settled,
            checked_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn counts(days: impl IntoIterator<Item = (Date, i64)>) -> BTreeMap<Date, DayCount> {
        let count = |(day, listed)| (day, DayCount { listed, filed: Some(listed + 1) });
        days.into_iter().map(count).collect()
    }

    fn both(day: Date, settled: bool) -> [CoverageRow; 2] {
        [read(day, EVERY_OTHER_TYPE, settled), read(day, "fictitious", settled)]
    }

    #[test]
    fn a_day_is_complete_when_both_listings_are_and_it_is_not_to_come() {
        let (monday, tomorrow) = (date(2026, 11, 16), date(2026, 11, 21));
        let mut coverage = both(monday, false).to_vec();
        coverage.extend(both(tomorrow, true));
        coverage.push(read(TODAY, EVERY_OTHER_TYPE, true));
        // A pipeline asked for one type alone on some morning.
        coverage.push(CoverageRow { complete: false, ..read(monday, "llc", false) });
        let filings = counts([(monday, 5), (date(2026, 11, 11), 1)]);
        let days = days(&filings, &coverage, TODAY);
        let seen: Vec<_> = days
            .iter()
            .map(|day| (day.days_ago, day.weekday, day.filings, day.expected, day.complete, day.settled))
            .collect();
        let expected = [
            (-1, 6, 0, Some(6), false, false),
            (0, 5, 0, Some(3), false, false),
            (4, 1, 5, Some(6), true, false),
            (9, 3, 1, None, false, false),
        ];
        assert_eq!(seen, expected);
        assert_eq!(days[3].holiday.as_deref(), Some("Veterans' Day"));
    }

    #[test]
    fn fullness_compares_with_ordinary_days_of_the_weekday() {
        // Fridays; 35 and 42 days ago are October 16 and 9, 49 is October 2, 112 is July 31, 119 July 24.
        let fridays = [0, 7, 35, 42, 119].map(|ago| minus_days(TODAY, ago));
        let filings = counts(fridays.into_iter().zip([30, 5, 10, 30, 900]));
        let coverage: Vec<CoverageRow> = fridays.iter().flat_map(|day| both(*day, true)).collect();
        let days = days(&filings, &coverage, TODAY);
        let seen: Vec<_> = days.iter().map(|day| (day.usual_filings, day.fullness)).collect();
        let of = |fullness| (Some(Ratio(20.0)), Some(Ratio(fullness)));
        assert_eq!(seen, [of(1.5), of(0.25), of(0.5), of(1.5), (None, None)]);
    }

    #[test]
    fn a_month_is_complete_when_it_is_over_and_every_day_is() {
        let september = (1..=30).map(|day| date(2026, 9, day));
        let october = (1..=30).map(|day| date(2026, 10, day));
        let november = (1..=20).map(|day| date(2026, 11, day));
        let coverage: Vec<CoverageRow> =
            september.chain(october).chain(november).flat_map(|day| both(day, day.month() == 9)).collect();
        let filings = counts([(date(2026, 9, 3), 4), (date(2026, 9, 4), 1)]);
        let months = months(&days(&filings, &coverage, TODAY));
        let seen: Vec<_> = months
            .iter()
            .map(|month| {
                (&month.filed_month[..], month.filings, month.days_complete, month.complete, month.settled)
            })
            .collect();
        let expected = [
            ("2026-11", 0, 20, false, false),
            ("2026-10", 0, 30, false, false),
            ("2026-09", 5, 30, true, true),
        ];
        assert_eq!(seen, expected);
        assert_eq!([0, 1, 2].map(|at| months[at].days_ago), [0, 21, 51]);
        assert_eq!(months[2].filed, Some(7), "with those that are no longer listed");
        assert_eq!(months[0].month_number - months[2].month_number, 2);
    }
    /// Complete days, newest first, with as many filings as they are days old.
    fn complete_days(ago: std::ops::Range<u32>) -> Vec<DayRow> {
        let dates: Vec<Date> = ago.map(|ago| minus_days(TODAY, ago)).collect();
        let coverage: Vec<CoverageRow> = dates.iter().flat_map(|day| both(*day, true)).collect();
        let ago = |day: &Date| i64::from(epoch_days(TODAY) - epoch_days(*day));
        days(&counts(dates.iter().map(|day| (*day, ago(day)))), &coverage, TODAY)
    }

    #[test]
    fn a_day_of_which_it_is_not_known_what_was_filed_is_compared_with_none() {
        let dates: Vec<Date> = (0..80).map(|ago| minus_days(TODAY, ago)).collect();
        let coverage: Vec<CoverageRow> = dates.iter().flat_map(|day| both(*day, true)).collect();
        let counts = dates.iter().map(|day| (*day, DayCount { listed: 5, filed: None })).collect();
        let days = days(&counts, &coverage, TODAY);
        assert!(days.iter().all(|day| day.four_weeks_before.is_none() && day.growth_window.is_none()));
        assert!(days.iter().any(|day| day.fullness == Some(Ratio(1.0))), "by what is listed");
    }

    #[test]
    fn growth_counts_pairs_of_a_weekday_of_which_both_are_ordinary_and_complete() {
        let days = complete_days(0..80);
        let of = |name: &str| -> Vec<i64> {
            let side = days.iter().filter(|day| day.growth_window.as_deref() == Some(name));
            side.map(|day| day.days_ago).collect()
        };
        let (newer, older) = (of("newer"), of("older"));
        assert_eq!(newer.iter().map(|ago| ago + 28).collect::<Vec<_>>(), older);
        // Between October 9 and November 5, and 28 days before each: November 1 and October 15; September 15 and October 1 are the
        // partners of October 13 and 29. No holiday, and the 5th of October does not follow one.
        let left_out: Vec<i64> = (15..43).filter(|ago| !newer.contains(ago)).collect();
        assert_eq!(left_out, [19, 22, 36, 38]);
        assert!(complete_days(0..52).iter().all(|day| day.growth_window.is_none()), "7 pairs are too few");
    }

    #[test]
    fn a_day_is_compared_with_the_same_weekday_of_four_weeks() {
        let days = complete_days(0..80);
        let before = |ago: i64| days.iter().find(|day| day.days_ago == ago).expect("a day").four_weeks_before;
        assert_eq!(before(21), Some(40), "filed 28, 35, 42 and 49 days ago, rounded up");
        assert_eq!(before(19), None, "November 1");
        assert_eq!(before(15), Some((23 + 30 + 44) / 3), "15 days and 3 weeks ago is October 15");
        assert_eq!((before(65), before(68)), (Some(77), None), "79 days ago is the last, at least two count");
    }
}
