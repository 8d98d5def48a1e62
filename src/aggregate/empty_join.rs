//! Queries that have no rows because a table that they join has none: the other tables need not be read.

use super::meaning::parsed;
use super::tables::{SnapshotFiles, Tables};
use crate::table::{Footer, TableError};
use polars::error::PolarsError;
use polars::prelude::LazyFrame;
use sqlparser::ast::{JoinOperator, SetExpr, Statement, TableFactor, TableWithJoins};
use std::path::PathBuf;

/// Whether a query joins a table without rows, and keeps only rows that all its tables have.
pub(super) fn joins_no_rows(sql: &str, tables: &SnapshotFiles) -> Result<bool, TableError> {
    let statements = parsed(sql).unwrap_or_default();
    let [Statement::Query(query)] = &statements[..] else { return Ok(false) };
    let SetExpr::Select(select) = &*query.body else { return Ok(false) };
    let [from] = &select.from[..] else { return Ok(false) };
    let is_inner =
        |operator: &JoinOperator| matches!(operator, JoinOperator::Join(_) | JoinOperator::Inner(_));
    if query.with.is_some() || !from.joins.iter().all(|join| is_inner(&join.join_operator)) {
        return Ok(false);
    }
    for table in joined(from) {
        if let Some(files) = tables.get(&table)
            && has_no_rows(files)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names of joined tables; none of a table that nothing is joined to.
fn joined(from: &TableWithJoins) -> Vec<String> {
    let joined = from.joins.iter().map(|join| &join.relation);
    let all = joined.chain((!from.joins.is_empty()).then_some(&from.relation));
    let name = |table: &TableFactor| match table {
        TableFactor::Table { name, .. } => Some(name.to_string()),
        _ => None,
    };
    all.filter_map(name).collect()
}

fn has_no_rows(files: &[PathBuf]) -> Result<bool, TableError> {
    for file in files {
        if Footer::open(file)?.rows() > 0 {
            return Ok(false);
        }
    }
    Ok(!files.is_empty())
}

/// The tables of a snapshot, without their rows.
pub(super) struct WithoutRows<'t>(pub(super) &'t SnapshotFiles);

impl Tables for WithoutRows<'_> {
    fn scan(&self, table: &str) -> Option<Result<LazyFrame, PolarsError>> {
        Some(self.0.scan(table)?.map(|rows| rows.limit(0)))
    }

    fn names(&self) -> Vec<&str> {
        self.0.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::tiny_lake::{TinyLake, row};
    use crate::table::Table;

    #[test]
    fn only_a_query_that_keeps_the_rows_of_all_its_tables_has_none() {
        let filing = row([("filed_date", "2026-07-31"), ("county", "Duval")]);
        let lake = TinyLake::of([
            (Table::Filings, vec![filing]),
            (Table::Changes, Vec::new()),
            (Table::DailyCounts, vec![row([("filed_date", "2026-07-31")])]),
        ]);
        let on = "ON c.business_id = f.business_id";
        for (sql, expected) in [
            (
                format!(
                    "SELECT f.county, COUNT(*) AS n FROM changes c JOIN filings f {on} GROUP BY f.county"
                ),
                true,
            ),
            (format!("SELECT COUNT(*) AS n FROM filings f INNER JOIN changes c {on}"), true),
            (format!("SELECT f.county FROM filings f LEFT JOIN changes c {on}"), false),
            (
                "SELECT f.county FROM filings f JOIN daily_counts c ON c.filed_date = f.filed_date"
                    .to_owned(),
                false,
            ),
            ("SELECT field FROM changes".to_owned(), false),
            ("SELECT county FROM filings".to_owned(), false),
            ("SELEC".to_owned(), false),
        ] {
            assert_eq!(joins_no_rows(&sql, &lake.tables).expect("footers"), expected, "{sql}");
            if expected {
                let count = lake.run("mine", &sql).expect("runs").rows;
                assert_eq!(count, u64::from(sql.starts_with("SELECT COUNT")), "{sql}");
            }
        }
    }
}
