//! Values of one table of a snapshot, which may lack it.

use crate::aggregate::error::AggregateError;
use crate::aggregate::on_disk::Cells;
use crate::aggregate::run::TABLE_PREFIX;
use crate::aggregate::tables::SnapshotFiles;
use crate::table::{Row, read_rows};

/// What `read` makes of an aggregate; nothing when the snapshot does not have it, or has one of the user with other columns.
pub(super) fn of_aggregate<T: Default>(
    tables: &SnapshotFiles,
    name: &str,
    read: impl FnOnce(&Cells) -> Result<T, AggregateError>,
) -> Result<T, AggregateError> {
    let table = format!("{TABLE_PREFIX}{name}");
    let Some(file) = tables.get(&table).and_then(|files| files.first()) else { return Ok(T::default()) };
    Ok(read(&Cells::read(file)?).unwrap_or_else(|why| {
        tracing::warn!("the report shows nothing of {table}, which is not as shipped: {why}");
        T::default()
    }))
}

/// The rows of a table of the lake; none when the snapshot does not have it.
pub(super) fn rows_of<R: Row>(tables: &SnapshotFiles) -> Result<Vec<R>, AggregateError> {
    let mut rows = Vec::new();
    for path in tables.get(R::TABLE.name()).into_iter().flatten() {
        rows.extend(read_rows(path).map_err(|error| AggregateError::of_file(path, error))?);
    }
    Ok(rows)
}
