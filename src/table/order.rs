//! Sorts rows, and checks their order.

use super::error::TableError;
use super::layout::{FileLayout, check_schema};
use arrow::array::{DynComparator, RecordBatch, make_comparator};
use arrow::compute::{SortColumn, SortOptions, lexsort_to_indices, take_record_batch};
use arrow::error::ArrowError;
use std::cmp::Ordering;

/// The rows of a batch in the order of a layout. A sorted batch is returned unchanged.
pub fn sort_batch(layout: impl Into<FileLayout>, batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    let layout = layout.into();
    check_schema(batch.schema_ref(), &layout.schema, "a batch")?;
    let failed = |source| TableError::arrow("sort", "a batch", source);
    if layout.sort.is_empty() || first_unsorted(&layout, None, batch).map_err(failed)?.is_none() {
        return Ok(batch.clone());
    }
    let indices = lexsort_to_indices(&sort_columns(&layout, batch), None).map_err(failed)?;
    take_record_batch(batch, &indices).map_err(failed)
}

/// The first row of a batch that sorts before its predecessor; `before` is the batch ahead.
pub(super) fn first_unsorted(
    layout: &FileLayout,
    before: Option<&RecordBatch>,
    batch: &RecordBatch,
) -> Result<Option<usize>, ArrowError> {
    if layout.sort.is_empty() || batch.num_rows() == 0 {
        return Ok(None);
    }
    let columns = sort_columns(layout, batch);
    if let Some(before) = before.filter(|before| before.num_rows() > 0) {
        let seam = comparators(&sort_columns(layout, before), &columns)?;
        if compare(&seam, before.num_rows() - 1, 0) == Ordering::Greater {
            return Ok(Some(0));
        }
    }
    let within = comparators(&columns, &columns)?;
    Ok((1..batch.num_rows()).find(|row| compare(&within, row - 1, *row) == Ordering::Greater))
}

fn sort_columns(layout: &FileLayout, batch: &RecordBatch) -> Vec<SortColumn> {
    let column = |(name, descending): &(&str, bool)| {
        let options = Some(SortOptions { descending: *descending, nulls_first: false });
        Some(SortColumn { values: batch.column_by_name(name)?.clone(), options })
    };
    layout.sort.iter().filter_map(column).collect()
}

fn comparators(left: &[SortColumn], right: &[SortColumn]) -> Result<Vec<DynComparator>, ArrowError> {
    let pairs = left.iter().zip(right);
    pairs
        .map(|(left, right)| make_comparator(&left.values, &right.values, left.options.unwrap_or_default()))
        .collect()
}

fn compare(comparators: &[DynComparator], left: usize, right: usize) -> Ordering {
    comparators.iter().fold(Ordering::Equal, |order, compare| order.then_with(|| compare(left, right)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::count::DailyCountRow;
    use crate::table::row::Row;
    use crate::table::tables::Table;
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
            let layout = FileLayout::from(Table::DailyCountsHistory);
            prop_assert_eq!(first_unsorted(&layout, None, &sorted).expect("compared"), None);
        }
    }

    #[test]
    fn rows_out_of_order_between_batches_are_found() {
        let layout = FileLayout::from(Table::DailyCountsHistory);
        let unsorted = |before: &[(i8, i8)], batch: &[(i8, i8)]| {
            first_unsorted(&layout, Some(&counts(before)), &counts(batch)).expect("compared")
        };
        assert_eq!(unsorted(&[(2, 2)], &[(2, 1), (1, 9)]), None);
        assert_eq!(unsorted(&[(2, 2)], &[(2, 3), (1, 9)]), Some(0));
        assert_eq!(unsorted(&[(2, 2)], &[(2, 1), (2, 2)]), Some(1));
        assert_eq!(unsorted(&[], &[(2, 1)]), None);
    }
}
