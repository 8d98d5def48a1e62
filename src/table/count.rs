//! Rows of counts: the API's own per day, per county, per month, statewide, by type; those of the lake's days and months.

use super::column::OBSERVED_ON;
use super::row::{Ratio, table_row};
use crate::contract::count::{County, DailyCount, MonthlyCount, Stats, TypeCount};
use crate::contract::listing::Listing;
use crate::contract::reference::EntityType;
use jiff::Timestamp;
use jiff::civil::Date;

/// The `entity_type` of what a month's total has more than its types.
pub const UNSPLIT: &str = "unsplit";

table_row! {
    /// The API's count of one day.
    DailyCountRow of DailyCounts {
        observed_on: Date = OBSERVED_ON,
        filed_date: Date = "filing date",
        filings: i64 = "businesses filed that day, as the API counts",
    }
}

impl DailyCountRow {
    /// The row of a count that the API gave on a day.
    pub fn from(observed_on: Date, record: &DailyCount) -> Self {
        Self { observed_on, filed_date: record.date, filings: record.count }
    }
}

table_row! {
    /// The API's counts of one county.
    CountyRow of Counties {
        observed_on: Date = OBSERVED_ON,
        county: String = "county name",
        county_key: String = "county key in capitals",
        filings_last_7_days: i64 = "filings of the last 7 days",
        filings_last_30_days: i64 = "filings of the last 30 days",
        filings_previous_30_days: i64 = "filings of the 30 days before the last 30",
        active_businesses: i64 = "active businesses",
    }
}

impl CountyRow {
    /// The row of a county that the API gave on a day.
    pub fn from(observed_on: Date, record: &County) -> Self {
        Self {
            observed_on,
            county: record.name.clone(),
            county_key: record.key.clone(),
            filings_last_7_days: record.filings_last_7_days,
            filings_last_30_days: record.filings_last_30_days,
            filings_previous_30_days: record.filings_previous_30_days,
            active_businesses: record.active_businesses,
        }
    }
}

table_row! {
    /// The API's count of one month and one type.
    MonthlyCountRow of MonthlyCounts {
        observed_on: Date = OBSERVED_ON,
        filed_month: String = "YYYY-MM",
        entity_type: String = "business type, other, or unsplit: what the month's total has more than its types; it may be negative",
        filings: i64 = "filings; over all types, the API's total of the month",
        partial: bool = "true for the current month while it lasts",
    }
}

impl MonthlyCountRow {
    /// The rows of one month, one a type. They add up to its total: what no type counts is a row of its own.
    pub fn from(observed_on: Date, record: &MonthlyCount) -> Vec<Self> {
        let row = |entity_type: &str, filings: i64| Self {
            observed_on,
            filed_month: record.month.clone(),
            entity_type: entity_type.to_owned(),
            filings,
            partial: record.partial,
        };
        let mut rows: Vec<Self> = record.by_type.iter().map(|(kind, filings)| row(kind, *filings)).collect();
        let unsplit =
            record.by_type.values().fold(record.total, |left, filings| left.saturating_sub(*filings));
        if unsplit != 0 || rows.is_empty() {
            rows.push(row(UNSPLIT, unsplit));
        }
        rows
    }
}

table_row! {
    /// The API's statewide figures of one day.
    StatewideRow of Statewide {
        observed_on: Date = OBSERVED_ON,
        businesses_total: i64 = "all businesses of the register",
        latest_filing_date: Date = "newest filing date",
        updated_at: String = "the API's own timestamp, as sent",
        filings_last_7_days: i64 = "filings of the last 7 days",
        filings_last_30_days: i64 = "filings of the last 30 days",
        filings_previous_30_days: i64 = "filings of the 30 days before the last 30",
        filings_last_365_days: i64 = "filings of the last 365 days",
    }
}

impl StatewideRow {
    /// The row of the stats that the API gave on a day; its months and split are rows of other tables.
    pub fn from(observed_on: Date, record: &Stats) -> Self {
        Self {
            observed_on,
            businesses_total: record.businesses_total,
            latest_filing_date: record.latest_filing_date,
            updated_at: record.updated_at.clone(),
            filings_last_7_days: record.filings.last_7_days,
            filings_last_30_days: record.filings.last_30_days,
            filings_previous_30_days: record.filings.previous_30_days,
            filings_last_365_days: record.filings.last_365_days,
        }
    }
}

table_row! {
    /// The API's count of one type in the last 30 days.
    TypeCountRow of TypeSplit {
        observed_on: Date = OBSERVED_ON,
        entity_type: String = "business type",
        filings: i64 = "filings of the last 30 days",
    }
}

impl TypeCountRow {
    /// The row of a type's count that the API gave on a day.
    pub fn from(observed_on: Date, record: &TypeCount) -> Self {
        Self { observed_on, entity_type: record.kind.clone(), filings: record.n }
    }
}

/// The `entity_type` of a day's listing without fictitious names.
pub const EVERY_OTHER_TYPE: &str = Listing::Untyped.label();

/// Whether a day's listing counts in its sums, with the other listings of the day. One of a single type is part of that of every other
/// type; fictitious names are not.
pub(crate) fn counts_in_sums(entity_type: &str, has_every_other_type: bool) -> bool {
    !has_every_other_type || entity_type == EVERY_OTHER_TYPE || entity_type == EntityType::Fictitious.key()
}

table_row! {
    /// How complete one listing of one day is.
    CoverageRow of Coverage {
        filed_date: Date = "filing date",
        entity_type: String = "the listing: * for all types but fictitious, or the one type that was asked for",
        expected: i64 = "rows the API said the day has",
        landed: i64 = "rows of the day that the lake shows as listed",
        complete: bool = "true when the lake holds exactly the rows the API counts for the day",
        settled: bool = "true when the day was read complete 30 days or more after it ended",
        checked_at: Timestamp = "when completeness was last checked",
    }
}

table_row! {
    /// One day.
    DayRow of Days {
        filed_date: Date = "filing date",
        filed_month: String = "YYYY-MM",
        filed_week: Date = "Monday of its week",
        days_ago: i64 = "days since, 0 today: the day of the newest statewide figures; below 0 for filings dated ahead",
        weekday: i64 = "1 Monday to 7 Sunday",
        holiday: Option<String> = "Florida state holiday, on which the state's office is closed",
        ordinary: bool = "whether the day has the filings of its weekday: no holiday, no first open day after one, no 1st or 15th of a month",
        filings: i64 = "listed businesses",
        filed: Option<i64> = "businesses filed, listed or no more; null of a day that was not complete within 90 days: the API no longer shows all of them",
        expected: Option<i64> = "rows the API said the day has, when it was last read; null where it was not",
        complete: bool = "whether coverage proves the day complete, fictitious names included",
        settled: bool = "whether all of it was read complete 30 days or more after it ended",
        usual_filings: Option<Ratio> = "of the last 114 days: mean of the same weekday over ordinary and complete days from 30 to 113 days ago",
        fullness: Option<Ratio> = "filings / usual_filings; 1 is as full as usual",
        four_weeks_before: Option<i64> = "of an ordinary and complete day with filed: mean of filed, rounded, of the same weekday in the four weeks before, over at least two such days",
        growth_window: Option<String> = "newer or older where growth counts the day: an ordinary and complete day with filed of 15 to 42 days ago, and the one 28 days before it",
    }
}

table_row! {
    /// One month.
    MonthRow of Months {
        filed_month: String = "YYYY-MM",
        month_number: i64 = "year * 12 + month: the month before has 1 less, the same month a year ago 12 less",
        filings: i64 = "listed businesses",
        filed: Option<i64> = "businesses filed, listed or no more; null where days has none: years can be compared by this alone",
        days_ago: i64 = "days since its newest day, 0 today; from 15 on nearly all filings have arrived",
        days_complete: i64 = "days up to today that coverage proves complete, fictitious names included",
        complete: bool = "whether the month is over and every day of it is complete",
        settled: bool = "whether the month is complete and every day of it is settled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::count::StatsFilings;
    use crate::table::row::tests::assert_round_trip;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 11, 20);

    fn month(month: &str, total: i64, partial: bool, by_type: &[(&str, i64)]) -> MonthlyCount {
        let by_type = by_type.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect();
        MonthlyCount { month: month.to_owned(), total, partial, by_type }
    }

    #[test]
    fn days_and_counties_round_trip() {
        let row = DailyCountRow::from(TODAY, &DailyCount { date: date(2026, 11, 19), count: 2_500 });
        assert_eq!((row.filed_date, row.filings), (date(2026, 11, 19), 2_500));
        assert_round_trip(&[row]);

        let county = County {
            key: "ST_JOHNS".to_owned(),
            name: "St. Johns".to_owned(),
            filings_last_7_days: 1,
            filings_last_30_days: 2,
            filings_previous_30_days: 3,
            active_businesses: 4,
        };
        let row = CountyRow::from(TODAY, &county);
        assert_eq!((row.county_key.as_str(), row.county.as_str()), ("ST_JOHNS", "St. Johns"));
        assert_eq!((row.filings_last_7_days, row.filings_last_30_days), (1, 2));
        assert_eq!((row.filings_previous_30_days, row.active_businesses), (3, 4));
        assert_round_trip(&[row]);
    }

    #[test]
    fn the_rows_of_a_month_add_up_to_its_total_even_where_its_types_do_not() {
        let months = [
            month("2026-11", 40, true, &[("llc", 30), ("other", 5)]),
            month("2026-10", 90, false, &[("llc", 90)]),
            month("2026-09", 0, false, &[]),
        ];
        let rows: Vec<_> = months.iter().flat_map(|month| MonthlyCountRow::from(TODAY, month)).collect();
        let seen: Vec<_> = rows
            .iter()
            .map(|row| (&row.filed_month[..], &row.entity_type[..], row.filings, row.partial))
            .collect();
        let expected = [
            ("2026-11", "llc", 30, true),
            ("2026-11", "other", 5, true),
            ("2026-11", UNSPLIT, 5, true),
            ("2026-10", "llc", 90, false),
            ("2026-09", UNSPLIT, 0, false),
        ];
        assert_eq!(seen, expected);
        assert_round_trip(&rows);
    }

    #[test]
    fn statewide_figures_and_the_split_round_trip() {
        let stats = Stats {
            businesses_total: 4_000_000,
            latest_filing_date: date(2026, 11, 19),
            updated_at: "2026-11-20T10:00:00.000Z".to_owned(),
            filings: StatsFilings { last_7_days: 1, last_30_days: 2, previous_30_days: 3, last_365_days: 4 },
            monthly: Vec::new(),
            type_split_30d: vec![TypeCount { kind: "llc".to_owned(), n: 2 }],
        };
        assert_round_trip(&[StatewideRow::from(TODAY, &stats)]);
        let split = TypeCountRow::from(TODAY, &stats.type_split_30d[0]);
        assert_eq!((split.entity_type.as_str(), split.filings), ("llc", 2));
        assert_round_trip(&[split]);
    }

    #[test]
    fn coverage_round_trips() {
        let row = CoverageRow {
            filed_date: date(2026, 1, 1),
            entity_type: EVERY_OTHER_TYPE.to_owned(),
            expected: 10_000,
            landed: 9_999,
            complete: false,
            settled: true,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let other = CoverageRow { complete: true, settled: false, ..row.clone() };
        assert_round_trip(&[row, other]);
    }

    #[test]
    fn days_and_months_round_trip() {
        let day = DayRow {
            filed_date: date(2026, 11, 11),
            filed_month: "2026-11".to_owned(),
            filed_week: date(2026, 11, 9),
            days_ago: -3,
            weekday: 3,
            holiday: Some("Veterans' Day".to_owned()),
            ordinary: false,
            filings: 2,
            filed: Some(3),
            expected: None,
            complete: false,
            settled: true,
            usual_filings: Some(Ratio(0.1)),
            fullness: None,
            four_weeks_before: Some(4),
            growth_window: Some("newer".to_owned()),
        };
        assert_round_trip(&[day]);
        let month = MonthRow {
            filed_month: "2026-11".to_owned(),
            month_number: 24_323,
            filings: 2,
            filed: None,
            days_ago: 20,
            days_complete: 30,
            complete: true,
            settled: false,
        };
        assert_round_trip(&[month]);
    }
}
