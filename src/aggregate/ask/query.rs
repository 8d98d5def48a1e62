//! One query over the tables of a snapshot and the views on them.

use super::choose::NoRows;
use crate::aggregate::dialect::{rows, tables_named};
use crate::aggregate::error::AggregateError;
use crate::aggregate::on_disk;
use crate::aggregate::tables::{SnapshotFiles, Tables};
use polars::error::PolarsError;
use polars::prelude::LazyFrame;
use std::path::{Path, PathBuf};

/// The tables that a query reads, directly or through a view; names that are neither are among them.
///
/// # Errors
///
/// [`AggregateError::Query`] for SQL that cannot be parsed.
pub(crate) fn tables_of_query(sql: &str) -> Result<Vec<String>, AggregateError> {
    tables_named(sql).map_err(AggregateError::Query)
}

/// Runs a query and writes its rows to a Parquet file. Returns their number. `tables` has every table of the snapshot; the files of
/// those that the query does not read may be left out.
///
/// # Errors
///
/// [`AggregateError::Query`] for SQL that cannot be parsed or run, with the nearest right name where one is wrong.
pub(crate) fn run_query(sql: &str, tables: &SnapshotFiles, out: &Path) -> Result<u64, AggregateError> {
    let mut rows = rows(sql, &OrEmpty(tables)).map_err(AggregateError::Query)?;
    on_disk::write(&mut rows, out)
}

/// The tables of a snapshot. One without files has none of its rows, and its columns.
struct OrEmpty<'t>(&'t SnapshotFiles);

impl Tables for OrEmpty<'_> {
    fn rows(&self, table: &str) -> Option<Result<(LazyFrame, Vec<PathBuf>), PolarsError>> {
        if self.0.get(table)?.is_empty() { NoRows::default().rows(table) } else { self.0.rows(table) }
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::dialect::Refusal;
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
            AggregateError::Query(Refusal { reason, hint, .. }) => {
                format!("{reason}; {}", hint.unwrap_or_default())
            }
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
        assert_eq!(said("SELECT g.county FROM filings f"), "there is no table g; there are f");
        assert!(said("SELECT * FROM 'out/current/filings'").contains("not files: FROM filings"));
        assert_eq!(said("SELECT name FROM filings LIMIT 'x' FROM").lines().count(), 1);
    }
}
