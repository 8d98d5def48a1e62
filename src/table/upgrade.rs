//! Rows written under an older schema version, in the columns of today: one pure step a version and table.
//!
//! Whoever changes a table's columns raises [`super::tables::SCHEMA_VERSION`] and adds a [`Step`] to [`Upgrades::SHIPPED`]. The
//! next run of a lake then rewrites that table's files in one commit; older snapshots stay as they are and are read
//! through the steps.

use super::error::TableError;
use super::tables::{SCHEMA_VERSION, Table};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

/// What one schema version changed in one table.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The table.
    pub table: Table,
    /// The version that has the new columns.
    pub to: u32,
    /// Rows with the columns of the version before → rows with the new columns.
    pub apply: fn(&RecordBatch) -> Result<RecordBatch, ArrowError>,
}

/// Steps from the first schema version to today's, in the order of their versions.
#[derive(Debug, Clone, Copy)]
pub struct Upgrades(&'static [Step]);

impl Upgrades {
    /// Those of this program. No table has changed its columns since version 1.
    pub const SHIPPED: Self = Self(&[]);

    /// Other steps, for tests of the way they are taken.
    pub const fn of(steps: &'static [Step]) -> Self {
        Self(steps)
    }

    fn steps(self, table: Table, from: u32) -> impl Iterator<Item = &'static Step> {
        self.0.iter().filter(move |step| step.table == table && step.to > from && step.to <= SCHEMA_VERSION)
    }

    /// Whether a table has other columns today than under version `from`.
    pub fn touch(self, table: Table, from: u32) -> bool {
        self.steps(table, from).next().is_some()
    }

    /// Rows of version `from` in today's columns.
    ///
    /// # Errors
    ///
    /// [`TableError::Arrow`] for rows that a step cannot take: they are not of that version.
    pub fn apply(self, table: Table, from: u32, rows: RecordBatch) -> Result<RecordBatch, TableError> {
        let apply = |rows: RecordBatch, step: &Step| (step.apply)(&rows);
        let failed = |source| TableError::arrow("upgrade", table.name(), source);
        self.steps(table, from).try_fold(rows, apply).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array};
    use std::sync::Arc;

    fn add(rows: &RecordBatch, name: &str) -> Result<RecordBatch, ArrowError> {
        let names = rows.schema_ref().fields().iter().map(|field| field.name().clone());
        let zeros: ArrayRef = Arc::new(Int64Array::from(vec![0; rows.num_rows()]));
        RecordBatch::try_from_iter(names.zip(rows.columns().to_vec()).chain([(name.to_owned(), zeros)]))
    }

    const TWO: Upgrades = Upgrades::of(&[
        Step { table: Table::Counties, to: SCHEMA_VERSION - 1, apply: |rows| add(rows, "one") },
        Step { table: Table::Counties, to: SCHEMA_VERSION, apply: |rows| add(rows, "two") },
        Step { table: Table::Counties, to: SCHEMA_VERSION + 1, apply: |rows| add(rows, "not yet") },
    ]);

    #[test]
    fn only_the_steps_since_a_version_are_taken_in_order() {
        let first: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        let rows = RecordBatch::try_from_iter([("zero", first)]).expect("rows");
        let names = |from, table| {
            let rows = TWO.apply(table, from, rows.clone()).expect("upgraded");
            rows.schema_ref().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(SCHEMA_VERSION - 1, Table::Counties), ["zero", "two"]);
        assert_eq!(names(SCHEMA_VERSION, Table::Counties), ["zero"]);
        assert_eq!(names(SCHEMA_VERSION - 1, Table::Filings), ["zero"]);
        assert!(
            TWO.touch(Table::Counties, SCHEMA_VERSION - 1) && !TWO.touch(Table::Counties, SCHEMA_VERSION)
        );
    }
}
