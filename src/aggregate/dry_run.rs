//! Checks before the first request that SQL can run: plans it over the lake's tables without rows.

use super::choose::chosen;
use super::error::AggregateError;
use super::on_disk;
use super::run::{Tables, register_tables};
use crate::table::{ColumnKind, Table, columns};
use polars::datatypes::{DataType, Field, TimeUnit, TimeZone};
use polars::error::PolarsError;
use polars::frame::DataFrame;
use polars::prelude::{IntoLazy as _, LazyFrame, Schema};

/// Plans an aggregate over tables without rows.
pub(crate) fn check_aggregate(name: &str, sql: &str) -> Result<(), AggregateError> {
    let failed = |source| AggregateError::Sql { aggregate: name.to_owned(), source };
    let mut context = register_tables(name, sql, &NoRows)?;
    // The plan gives the columns; running it would take memory.
    let schema = context.execute(sql).and_then(|mut query| query.collect_schema()).map_err(failed)?;
    on_disk::with_lake_types(name, DataFrame::empty_with_schema(&schema)).map(drop)
}

/// Plans the choice of businesses from tables without rows.
pub(crate) fn check_condition(condition: &str) -> Result<(), AggregateError> {
    chosen(condition, &NoRows, |mut query| query.collect_schema()).map(drop)
}

/// All tables of the lake, without rows.
struct NoRows;

impl Tables for NoRows {
    fn scan(&self, table: &str) -> Option<Result<LazyFrame, PolarsError>> {
        let table = Table::ALL.into_iter().find(|known| known.name() == table)?;
        let fields = columns(table).iter();
        let fields = fields.map(|column| Field::new(column.name.into(), in_polars(column.kind)));
        Some(Ok(DataFrame::empty_with_schema(&Schema::from_iter(fields)).lazy()))
    }

    fn names(&self) -> Vec<&str> {
        Table::ALL.into_iter().map(Table::name).collect()
    }
}

/// A type of the lake as polars reads it.
fn in_polars(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Int32 => DataType::Int32,
        ColumnKind::Int64 => DataType::Int64,
        ColumnKind::Text => DataType::String,
        ColumnKind::Boolean => DataType::Boolean,
        ColumnKind::Date => DataType::Date,
        ColumnKind::Timestamp => DataType::Datetime(TimeUnit::Microseconds, Some(TimeZone::UTC)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tiny_lake::TinyLake;
    use super::*;
    use crate::aggregate::run::load_aggregates;
    use std::path::Path;

    #[test]
    fn wrong_sql_is_reported_without_a_lake() {
        assert!(matches!(check_aggregate("mine", "SELEC 1"), Err(AggregateError::Sql { .. })));
        assert!(matches!(
            check_aggregate("mine", "SELECT kounty FROM filings"),
            Err(AggregateError::Sql { .. })
        ));
        assert!(matches!(
            check_aggregate("mine", "SELECT county FROM filing"),
            Err(AggregateError::MissingTable { .. })
        ));
        assert!(matches!(check_condition("countyx = 3"), Err(AggregateError::Condition { .. })));
        assert!(
            check_condition("county = 'Orange' AND business_id NOT IN (SELECT business_id FROM details)")
                .is_ok()
        );
    }

    #[test]
    fn shipped_aggregates_run_over_tables_without_rows() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/aggregates");
        for (name, sql) in load_aggregates(&folder).expect("the shipped ones") {
            check_aggregate(&name, &sql).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn tables_without_rows_have_the_types_of_those_on_disk() {
        let lake = TinyLake::default();
        for table in Table::ALL {
            let columns = |tables: &dyn Tables| {
                let mut frame = tables.scan(table.name()).expect("there").expect("a scan");
                frame.collect_schema().expect("a schema")
            };
            if lake.tables.contains_key(table.name()) {
                assert_eq!(columns(&NoRows), columns(&lake.tables), "{}", table.name());
            }
        }
    }
}
