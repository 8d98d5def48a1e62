//! Joining, sorting, and checking the order of rows.

use super::layout::check_schema;
use super::{FileLayout, TableError};
use arrow::array::{ArrayRef, DynComparator, RecordBatch, make_comparator};
use arrow::compute::{SortColumn, SortOptions, lexsort_to_indices, take_record_batch};
use arrow::error::ArrowError;
use std::cmp::Ordering;

/// The rows of several batches of a layout's schema as one batch.
///
/// # Errors
///
/// A batch of another schema, and [`TableError::Arrow`] when the texts of a column pass 2 GiB.
pub fn concat_batches(
    layout: impl Into<FileLayout>,
    batches: &[RecordBatch],
) -> Result<RecordBatch, TableError> {
    let layout = layout.into();
    for batch in batches {
        check_schema(batch.schema_ref(), layout.schema(), "a batch")?;
    }
    arrow::compute::concat_batches(layout.schema(), batches)
        .map_err(|source| TableError::arrow("join", "a batch", source))
}

/// The rows of a batch in the order of a layout; a batch already in order is given back as it is.
///
/// # Errors
///
/// A batch of another schema.
pub fn sort_batch(layout: impl Into<FileLayout>, batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    let layout = layout.into();
    check_schema(batch.schema_ref(), layout.schema(), "a batch")?;
    let failed = |source| TableError::arrow("sort", "a batch", source);
    if layout.sort().is_empty() || first_unsorted(&layout, None, batch).map_err(failed)?.is_none() {
        return Ok(batch.clone());
    }
    let columns: Vec<SortColumn> = sort_columns(&layout, batch)
        .into_iter()
        .map(|(values, options)| SortColumn { values, options: Some(options) })
        .collect();
    let indices = lexsort_to_indices(&columns, None).map_err(failed)?;
    take_record_batch(batch, &indices).map_err(failed)
}

/// The first row of a batch that stands before the row ahead of it; `before` is the batch ahead.
pub(super) fn first_unsorted(
    layout: &FileLayout,
    before: Option<&RecordBatch>,
    batch: &RecordBatch,
) -> Result<Option<usize>, ArrowError> {
    if layout.sort().is_empty() || batch.num_rows() == 0 {
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

fn sort_columns(layout: &FileLayout, batch: &RecordBatch) -> Vec<(ArrayRef, SortOptions)> {
    layout
        .sort()
        .iter()
        .filter_map(|(name, descending)| {
            let options = SortOptions { descending: *descending, nulls_first: false };
            batch.column_by_name(name).map(|values| (values.clone(), options))
        })
        .collect()
}

fn comparators(
    left: &[(ArrayRef, SortOptions)],
    right: &[(ArrayRef, SortOptions)],
) -> Result<Vec<DynComparator>, ArrowError> {
    let pairs = left.iter().zip(right);
    pairs
        .map(|((left, options), (right, _))| make_comparator(left.as_ref(), right.as_ref(), *options))
        .collect()
}

fn compare(comparators: &[DynComparator], left: usize, right: usize) -> Ordering {
    comparators
        .iter()
        .map(|comparator| comparator(left, right))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}
