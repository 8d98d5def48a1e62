//! Chooses businesses by a condition in SQL; checks before the first request that SQL can run, by planning it over the
//! lake's tables without rows.

use crate::aggregate::dialect::{check_is_condition, plan, rows};
use crate::aggregate::error::AggregateError;
use crate::aggregate::order::in_order;
use crate::aggregate::run::TABLE_PREFIX;
use crate::aggregate::tables::{SnapshotFiles, Tables};
use crate::table::{ColumnKind, Table, columns};
use polars::datatypes::{DataType, Field, TimeUnit, TimeZone};
use polars::error::PolarsError;
use polars::frame::DataFrame;
use polars::prelude::{IntoLazy as _, LazyFrame, Schema};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Ids of the filings that a condition chooses, newest first. The condition follows `WHERE` and may name every table.
pub(crate) fn choose_businesses(condition: &str, tables: &SnapshotFiles) -> Result<Vec<i64>, AggregateError> {
    if tables.get("filings").is_none_or(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let frame = rows(&choice(condition)?, tables).map_err(AggregateError::Condition)?;
    let ids = frame.column("business_id").and_then(|column| column.i64());
    let ids = ids.map_err(|error| AggregateError::Condition(error.into()))?;
    Ok(ids.iter().flatten().collect())
}

/// The query of the ids that a condition chooses.
fn choice(condition: &str) -> Result<String, AggregateError> {
    check_is_condition(condition).map_err(AggregateError::Condition)?;
    // The line break keeps a comment in the condition from hiding the bracket.
    Ok(format!(
        "SELECT business_id FROM filings WHERE (\n{condition}\n) ORDER BY filed_date DESC, business_id DESC"
    ))
}

/// Plans aggregates, each given by its name and SQL, over tables without rows.
pub(crate) fn check_aggregates(aggregates: &[(String, String)]) -> Result<(), AggregateError> {
    let mut tables = NoRows::default();
    for (name, sql) in in_order(aggregates)? {
        // The plan gives the columns; running it would take memory.
        let planned = plan(sql, &tables).map_err(|refusal| AggregateError::of_sql(name, refusal))?;
        tables.aggregates.insert(format!("{TABLE_PREFIX}{name}"), planned.without_rows());
    }
    Ok(())
}

/// Plans the choice of businesses from tables without rows.
pub(crate) fn check_condition(condition: &str) -> Result<(), AggregateError> {
    plan(&choice(condition)?, &NoRows::default()).map(drop).map_err(AggregateError::Condition)
}

/// All tables of the lake, and the aggregates planned so far, without rows.
#[derive(Default)]
pub(super) struct NoRows {
    aggregates: BTreeMap<String, DataFrame>,
}

impl Tables for NoRows {
    fn rows(&self, table: &str) -> Option<Result<(LazyFrame, Vec<PathBuf>), PolarsError>> {
        if let Some(planned) = self.aggregates.get(table) {
            return Some(Ok((planned.clone().lazy(), Vec::new())));
        }
        let fields = columns(Table::from_name(table)?).iter();
        let fields = fields.map(|column| Field::new(column.name.into(), in_polars(column.kind)));
        let rows = DataFrame::empty_with_schema(&Schema::from_iter(fields)).lazy();
        Some(Ok((rows, Vec::new())))
    }

    fn names(&self) -> Vec<&str> {
        let aggregates = self.aggregates.keys().map(String::as_str);
        Table::ALL.into_iter().map(|table| table.name()).chain(aggregates).collect()
    }
}

/// A type of the lake as polars reads it.
fn in_polars(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Int32 => DataType::Int32,
        ColumnKind::Int64 => DataType::Int64,
        ColumnKind::Text => DataType::String,
        ColumnKind::Boolean => DataType::Boolean,
        ColumnKind::Double => DataType::Float64,
        ColumnKind::Date => DataType::Date,
        ColumnKind::Timestamp => DataType::Datetime(TimeUnit::Microseconds, Some(TimeZone::UTC)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::run::load_aggregates;
    use crate::aggregate::tiny_lake::{TinyLake, row};
    use std::path::Path;

    #[test]
    fn a_condition_chooses_the_newest_first_and_a_wrong_one_is_quoted() {
        let filing = |id, kind| {
            row([
                ("business_id", id),
                ("entity_type", kind),
                ("listed", "true"),
                ("filed_date", "2026-07-31"),
            ])
        };
        let older = row([("business_id", "9"), ("listed", "true"), ("filed_date", "2026-07-01")]);
        let lake = TinyLake::of([(
            Table::Filings,
            vec![older, filing("1", "llc"), filing("2", "trust"), filing("3", "llc")],
        )]);
        let all = choose_businesses("TRUE", &lake.tables).expect("ids");
        assert_eq!(all, [3, 2, 1, 9]);
        let listed = choose_businesses("listed AND entity_type = 'llc' -- only these", &lake.tables);
        assert_eq!(listed.expect("ids"), [3, 1]);
        let error = choose_businesses("kounty = 'Orange'", &lake.tables).expect_err("no such column");
        assert!(error.to_string().ends_with("there is no column kounty"), "{error}");
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
        assert!(choose_businesses("TRUE", &SnapshotFiles::new()).expect("nothing to choose from").is_empty());
    }

    #[test]
    fn wrong_sql_is_reported_without_a_lake() {
        let check = |sql: &str| check_aggregates(&[("mine".to_owned(), sql.to_owned())]);
        assert!(matches!(check("SELEC 1"), Err(AggregateError::Sql { .. })));
        assert!(matches!(check("SELECT kounty FROM filings"), Err(AggregateError::Sql { .. })));
        assert!(matches!(check("SELECT county FROM filing"), Err(AggregateError::MissingTable { .. })));
        assert!(matches!(check_condition("countyx = 3"), Err(AggregateError::Condition(_))));
        for several in
            ["1=1) OR (1=1", "TRUE) ORDER BY name LIMIT 3 --", "TRUE; SELECT 1", "TRUE ORDER BY name", ""]
        {
            let error = check_condition(several).expect_err(several);
            assert!(matches!(error, AggregateError::Condition(_)), "{several}: {error}");
        }
        let error = check_condition("1=1) OR (1=1").expect_err("two conditions").to_string();
        assert_eq!(error, "`where` cannot run: it is more than one condition: it continues with )");
        assert!(
            check_condition("county = 'Orange' AND business_id NOT IN (SELECT business_id FROM details)")
                .is_ok()
        );
    }

    #[test]
    fn shipped_aggregates_run_over_tables_without_rows() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/aggregates");
        check_aggregates(&load_aggregates(&folder).expect("the shipped ones")).expect("all can be planned");
    }

    #[test]
    fn tables_without_rows_have_the_types_of_those_on_disk() {
        let lake = TinyLake::default();
        for table in Table::ALL {
            let columns = |tables: &dyn Tables| {
                let (mut frame, _) = tables.rows(table.name()).expect("there").expect("a scan");
                frame.collect_schema().expect("a schema")
            };
            if lake.tables.contains_key(table.name()) {
                assert_eq!(columns(&NoRows::default()), columns(&lake.tables), "{}", table.name());
            }
        }
    }
}
