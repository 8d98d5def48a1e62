//! One query over the tables of a snapshot and the views on them.

use super::choose::NoRows;
use super::error::AggregateError;
use super::on_disk;
use super::run::{SnapshotFiles, Tables, collect, is_defined_in, quiet_context};
use super::words::{problem, right_names, way_out};
use crate::table::views::VIEWS;
use polars::prelude::LazyFrame;
use polars::sql::extract_table_identifiers;
use std::path::Path;

/// The tables that a query reads, directly or through a view; names that are neither are left out.
///
/// # Errors
///
/// [`AggregateError::Query`] for SQL that cannot be parsed.
pub(crate) fn tables_of_query(sql: &str) -> Result<Vec<String>, AggregateError> {
    let mut tables = Vec::new();
    for name in extract_table_identifiers(sql, false, true).map_err(|error| wrong(&error))? {
        match VIEWS.iter().find(|view| view.name == name) {
            Some(view) => tables.extend(view.tables.iter().map(|table| (*table).to_owned())),
            None => tables.push(name.clone()),
        }
    }
    Ok(tables)
}

/// Runs a query and writes its rows to a Parquet file. Returns their number. `tables` has every table of the snapshot; the files of
/// those that the query does not read may be left out.
///
/// # Errors
///
/// [`AggregateError::Query`] for SQL that cannot be parsed or run, with the nearest right name where one is wrong.
pub(crate) fn run_query(sql: &str, tables: &SnapshotFiles, out: &Path) -> Result<u64, AggregateError> {
    let mut context = quiet_context();
    for name in extract_table_identifiers(sql, false, true).map_err(|error| wrong(&error))? {
        match rows_of(&name, tables)? {
            Some(rows) => context.register(&name, rows),
            None if is_defined_in(sql, &name) => {}
            None => return Err(no_table(&name, tables)),
        }
    }
    let rows = context.execute(sql).and_then(collect).map_err(|error| wrong(&error))?;
    let mut rows = on_disk::with_lake_types("query", rows).map_err(|error| match error {
        AggregateError::ColumnType { column, dtype, .. } => {
            let reason = format!("column {column} has the type {dtype}, which no table can have");
            AggregateError::Query { reason, way_out: Some(format!("cast it: CAST({column} AS STRING)")) }
        }
        other => other,
    })?;
    on_disk::write(&mut rows, out)
}

/// The rows of a table or a view; none where there is neither.
fn rows_of(name: &str, tables: &SnapshotFiles) -> Result<Option<LazyFrame>, AggregateError> {
    if let Some(rows) = table_of(name, tables)? {
        return Ok(Some(rows));
    }
    let Some(view) = VIEWS.iter().find(|view| view.name == name) else { return Ok(None) };
    let mut context = quiet_context();
    for table in view.tables {
        match table_of(table, tables)? {
            Some(rows) => context.register(table, rows),
            None => return Ok(None),
        }
    }
    context.execute(view.sql).map(Some).map_err(|error| wrong(&error))
}

/// The rows of a table. One without files has none, and its columns.
fn table_of(name: &str, tables: &SnapshotFiles) -> Result<Option<LazyFrame>, AggregateError> {
    let rows = match tables.get(name) {
        Some(files) if files.is_empty() => NoRows::default().scan(name),
        Some(_) => tables.scan(name),
        None => None,
    };
    rows.transpose().map_err(|error| wrong(&error))
}

fn no_table(name: &str, tables: &SnapshotFiles) -> AggregateError {
    let known: Vec<&str> =
        VIEWS.iter().map(|view| view.name).chain(tables.keys().map(String::as_str)).collect();
    let way_out = Some(right_names(name, &known));
    AggregateError::Query { reason: format!("there is no table {name}"), way_out }
}

fn wrong(error: &dyn std::fmt::Display) -> AggregateError {
    let said = error.to_string();
    AggregateError::Query { reason: problem(&said), way_out: way_out(&said) }
}

#[cfg(test)]
mod tests {
    use super::super::tiny_lake::lake_with_gap;
    use super::*;

    fn ask(sql: &str) -> Result<u64, AggregateError> {
        let lake = lake_with_gap(None);
        run_query(sql, &lake.tables, &lake.dir.path().join("answer.parquet"))
    }

    #[test]
    fn tables_and_views_answer() {
        assert_eq!(ask("SELECT name FROM filings WHERE listed").expect("rows"), 9);
        assert_eq!(ask("WITH a AS (SELECT * FROM days) SELECT COUNT(*) FROM a").expect("rows"), 1);
        assert!(ask("SELECT change, name FROM changes_detail WHERE county = 'Duval'").expect("rows") > 0);
    }

    #[test]
    fn a_wrong_name_comes_with_the_nearest_right_one() {
        let said = |sql: &str| match ask(sql).expect_err("wrong SQL") {
            AggregateError::Query { reason, way_out } => format!("{reason}; {}", way_out.unwrap_or_default()),
            other => panic!("{other}"),
        };
        assert_eq!(said("SELECT * FROM filing"), "there is no table filing; did you mean filings?");
        assert!(said("SELECT countie FROM filings").contains("did you mean county?"));
        assert!(said("SELECT name FROM filings WHERE county = \"Duval\"").contains("'Duval'"));
        assert!(!said("SELEC name FROM filings").is_empty());
        assert_eq!(said("SELECT name FROM filings LIMIT 'x' FROM").lines().count(), 1);
    }
}
