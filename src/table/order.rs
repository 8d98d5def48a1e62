//! Sorts rows, and checks their order.

use super::error::TableError;
use super::schema::check_schema;
use super::tables::Table;
use arrow_array::RecordBatch;
use arrow_ord::sort::{LexicographicalComparator, SortColumn, lexsort_to_indices};
use arrow_schema::{ArrowError, SortOptions};
use arrow_select::take::take_record_batch;

/// The rows of a batch in the order of a table. A sorted batch is returned unchanged.
pub fn sort_batch(table: Table, batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    check_schema(batch.schema_ref(), &table.schema(), "a batch")?;
    let failed = |source| TableError::arrow("sort", "a batch", source);
    if first_unsorted(table, batch).map_err(failed)?.is_none() {
        return Ok(batch.clone());
    }
    let indices = lexsort_to_indices(&sort_columns(table, batch), None).map_err(failed)?;
    take_record_batch(batch, &indices).map_err(failed)
}

/// The first row of a batch that sorts before its predecessor.
pub(super) fn first_unsorted(table: Table, batch: &RecordBatch) -> Result<Option<u64>, ArrowError> {
    let rows = LexicographicalComparator::try_new(&sort_columns(table, batch))?;
    let unsorted = (1..batch.num_rows()).find(|row| rows.compare(row - 1, *row).is_gt());
    Ok(unsorted.map(|row| row as u64))
}

fn sort_columns(table: Table, batch: &RecordBatch) -> Vec<SortColumn> {
    let column = |(name, descending): &(&str, bool)| {
        let options = Some(SortOptions { descending: *descending, nulls_first: false });
        Some(SortColumn { values: batch.column_by_name(name)?.clone(), options })
    };
    table.sort().iter().filter_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::count::DailyCountRow;
    use crate::table::row::Row;
    use jiff::civil::{Date, date};
    use proptest::prelude::*;

    fn counts(days: &[(i8, i8)]) -> RecordBatch {
        let day = |day: i8| date(2026, 1, day);
        let rows: Vec<_> = days
            .iter()
            .map(|(observed_on, of)| DailyCountRow {
                observed_on: day(*observed_on),
                filed_date: day(*of),
                filings: 1,
            })
            .collect();
        DailyCountRow::batch(&rows).expect("a batch")
    }

    fn order(batch: &RecordBatch) -> Vec<(Date, Date)> {
        let rows = DailyCountRow::rows(batch).expect("rows");
        rows.into_iter().map(|row| (row.observed_on, row.filed_date)).collect()
    }

    proptest! {
        #[test]
        fn sorting_gives_the_tables_order_and_keeps_every_row(
            days in prop::collection::vec((1..28_i8, 1..28_i8), 0..60),
        ) {
            let batch = counts(&days);
            let sorted = sort_batch(Table::DailyCountsHistory, &batch).expect("sorted");
            let mut expected = order(&batch);
            expected.sort_by(|left, right| right.cmp(left));
            prop_assert_eq!(order(&sorted), expected);
            prop_assert_eq!(first_unsorted(Table::DailyCountsHistory, &sorted).expect("compared"), None);
        }
    }

    #[test]
    fn the_first_row_out_of_order_is_found() {
        let unsorted =
            |days: &[(i8, i8)]| first_unsorted(Table::DailyCountsHistory, &counts(days)).expect("compared");
        assert_eq!(unsorted(&[(2, 2), (2, 1), (1, 9)]), None);
        assert_eq!(unsorted(&[(2, 2), (2, 3), (1, 9)]), Some(1));
        assert_eq!(unsorted(&[(2, 2), (2, 1), (2, 2)]), Some(2));
        assert_eq!(unsorted(&[(2, 1)]), None);
        assert_eq!(unsorted(&[]), None);
    }
}
