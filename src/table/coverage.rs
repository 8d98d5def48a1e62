//! Rows of `coverage`: how complete each day is.

use super::Table;
use super::row::row_columns;
use crate::contract::listing::Listing;
use jiff::Timestamp;
use jiff::civil::Date;

/// The `entity_type` of a day's listing without fictitious names.
pub const EVERY_OTHER_TYPE: &str = Listing::Untyped.label();

/// How complete one listing of one day is. The column dictionary says what each field means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the column dictionary has the meaning of each column")]
pub struct CoverageRow {
    pub filed_date: Date,
    pub entity_type: String,
    pub expected: i64,
    pub landed: i64,
    pub complete: bool,
    pub settled: bool,
    pub checked_at: Timestamp,
}

row_columns!(CoverageRow, Table::Coverage, {
    filed_date, entity_type, expected, landed, complete, settled, checked_at,
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::row::tests::assert_round_trip;
    use jiff::civil::date;

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
}
