//! Rows of days and months: what is filed on them, and how complete they are.

use super::row::{Ratio, table_row};
use jiff::civil::Date;

table_row! {
    /// One day.
    DayRow of Days {
        filed_date: Date,
        filed_month: String,
        days_ago: i64,
        weekday: i64,
        holiday: Option<String>,
        filings: i64,
        expected: Option<i64>,
        complete: bool,
        settled: bool,
        usual_filings: Option<Ratio>,
        fullness: Option<Ratio>,
    }
}

table_row! {
    /// One month.
    MonthRow of Months {
        filed_month: String,
        month_number: i64,
        filings: i64,
        days_complete: i64,
        complete: bool,
        settled: bool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::row::tests::assert_round_trip;
    use jiff::civil::date;

    #[test]
    fn days_and_months_round_trip() {
        let day = DayRow {
            filed_date: date(2026, 11, 11),
            filed_month: "2026-11".to_owned(),
            days_ago: -3,
            weekday: 3,
            holiday: Some("Veterans' Day".to_owned()),
            filings: 2,
            expected: None,
            complete: false,
            settled: true,
            usual_filings: Some(Ratio(0.1)),
            fullness: None,
        };
        assert_round_trip(&[day]);
        let month = MonthRow {
            filed_month: "2026-11".to_owned(),
            month_number: 24_323,
            filings: 2,
            days_complete: 30,
            complete: true,
            settled: false,
        };
        assert_round_trip(&[month]);
    }
}
