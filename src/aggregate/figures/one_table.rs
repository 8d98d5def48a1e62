//! Values of one table of a snapshot, which may lack it.

use crate::aggregate::error::AggregateError;
use crate::aggregate::on_disk::Cells;
use crate::aggregate::run::TABLE_PREFIX;
use crate::aggregate::tables::SnapshotFiles;

/// What `read` makes of an aggregate; nothing when the snapshot does not have it, or has one of the user with other columns.
pub(super) fn of_aggregate<T: Default>(
    tables: &SnapshotFiles,
    name: &str,
    read: impl FnOnce(&Cells) -> Result<T, AggregateError>,
) -> Result<T, AggregateError> {
    let table = format!("{TABLE_PREFIX}{name}");
    of_table(tables, &table, |cells| {
        Ok(read(cells).unwrap_or_else(|why| {
            tracing::warn!("the report shows nothing of {table}, which is not as shipped: {why}");
            T::default()
        }))
    })
}

/// What `read` makes of a table of one file; nothing when the snapshot does not have it.
pub(super) fn of_table<T: Default>(
    tables: &SnapshotFiles,
    name: &str,
    read: impl FnOnce(&Cells) -> Result<T, AggregateError>,
) -> Result<T, AggregateError> {
    let file = tables.get(name).and_then(|files| files.first());
    file.map_or_else(|| Ok(T::default()), |file| read(&Cells::read(file)?))
}
