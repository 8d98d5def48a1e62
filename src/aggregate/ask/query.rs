//! One query over the tables of a snapshot and the views on them.

use super::choose::NoRows;
use super::compared::days_with_days;
use super::statement::mistake;
use crate::aggregate::error::AggregateError;
use crate::aggregate::meaning::execute;
use crate::aggregate::on_disk;
use crate::aggregate::tables::{
    SnapshotFiles, Tables, collect, quiet_context, register_tables, with_columns,
};
use crate::aggregate::words::{problem, right_names, way_out};
use crate::table::VIEWS;
use polars::error::PolarsError;
use polars::prelude::LazyFrame;
use polars::sql::extract_table_identifiers;
use std::path::Path;

/// The tables that a query reads, directly or through a view; names that are neither are left out.
///
/// # Errors
///
/// [`AggregateError::Query`] for SQL that cannot be parsed.
pub(crate) fn tables_of_query(sql: &str) -> Result<Vec<String>, AggregateError> {
    if let Some((reason, way_out)) = mistake(sql) {
        return Err(AggregateError::Query { reason, way_out: Some(way_out) });
    }
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
    let tables = WithViews(tables);
    let mut context = register_tables("query", sql, &tables).map_err(of_query)?;
    let rows = execute(&mut context, sql).and_then(days_with_days).and_then(collect);
    let rows = rows.map_err(|error| wrong(&with_columns(error, sql, &tables)))?;
    on_disk::write(&mut on_disk::with_lake_types("query", rows).map_err(of_query)?, out)
}

/// An error of an aggregate as one of a query.
fn of_query(error: AggregateError) -> AggregateError {
    match error {
        AggregateError::Sql { error, .. } => wrong(&error),
        AggregateError::MissingTable { table, known, .. } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let way_out = Some(match table.contains('/') {
                true => "a query names the tables of the lake, not files: FROM filings".to_owned(),
                false => right_names(&table, &known),
            });
            AggregateError::Query { reason: format!("there is no table {table}"), way_out }
        }
        AggregateError::ColumnType { column, dtype, .. } => {
            let reason = format!("column {column} has the type {dtype}, which no table can have");
            AggregateError::Query { reason, way_out: Some(format!("cast it: CAST({column} AS STRING)")) }
        }
        other => other,
    }
}

/// The tables of a snapshot and the views on them. A table without files has none of its rows, and its columns.
struct WithViews<'t>(&'t SnapshotFiles);

impl WithViews<'_> {
    fn table(&self, name: &str) -> Option<Result<LazyFrame, PolarsError>> {
        match self.0.get(name)?.is_empty() {
            true => NoRows::default().scan(name),
            false => self.0.scan(name),
        }
    }
}

impl Tables for WithViews<'_> {
    fn scan(&self, name: &str) -> Option<Result<LazyFrame, PolarsError>> {
        if let Some(rows) = self.table(name) {
            return Some(rows);
        }
        let view = VIEWS.iter().find(|view| view.name == name)?;
        let mut context = quiet_context();
        for table in view.tables {
            match self.table(table)? {
                Ok(rows) => context.register(table, rows),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(context.execute(view.sql))
    }

    fn names(&self) -> Vec<&str> {
        VIEWS.iter().map(|view| view.name).chain(self.0.keys().map(String::as_str)).collect()
    }
}

fn wrong(error: &dyn std::fmt::Display) -> AggregateError {
    let said = error.to_string();
    AggregateError::Query { reason: problem(&said), way_out: way_out(&said) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::tiny_lake::lake_with_gap;

    fn ask(sql: &str) -> Result<u64, AggregateError> {
        let lake = lake_with_gap(None);
        tables_of_query(sql)?;
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
        assert!(said("SELEC name FROM filings").ends_with("did you mean SELECT?"));
        for sql in [
            "SELECT f.kounty FROM filings f",
            "SELECT f.kounty FROM days d JOIN filings AS f ON d.filed_date = f.filed_date",
        ] {
            assert_eq!(said(sql), "there is no column kounty; did you mean county?", "{sql}");
        }
        assert_eq!(
            said("SELECT filings.kounty FROM filings"),
            "there is no column kounty; did you mean county?"
        );
        assert_eq!(said("SELECT g.county FROM filings f"), "nothing in the query is called g; ");
        assert!(said("SELECT * FROM 'out/current/filings'").contains("not files: FROM filings"));
        assert_eq!(said("SELECT name FROM filings LIMIT 'x' FROM").lines().count(), 1);
    }
}
