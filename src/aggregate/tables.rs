//! The tables that SQL may name, and the rows of a query over them.

use super::error::AggregateError;
use super::words::column_of_table;
use polars::error::{PolarsError, set_warning_function};
use polars::frame::DataFrame;
use polars::prelude::{Engine, LazyFrame, OptFlags, PlRefPath, ScanArgsParquet};
use polars::sql::{SQLContext, extract_table_identifiers};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The rows of a query, read and aggregated in batches, so that memory does not grow with the lake.
///
/// A filter after `CROSS JOIN` stays where the SQL has it. Pushed down, it becomes a range join, which the streaming
/// engine lacks as built. Common plans are pushed down into as well, so they are not looked for: a table that a query
/// names twice is read twice. A query that needs a range join runs in memory, and one with `IN (SELECT …)`: the streaming engine would
/// hold the subquery's rows once for each row.
pub(super) fn collect(query: LazyFrame) -> Result<DataFrame, PolarsError> {
    match in_pieces(&query)? {
        Some(query) => query.collect_with_engine(Engine::Streaming).map(|rows| rows.unwrap_single()),
        None => query.collect(),
    }
}

/// The query as the streaming engine can run it; none where it cannot.
pub(super) fn in_pieces(query: &LazyFrame) -> Result<Option<LazyFrame>, PolarsError> {
    let pushing_down = OptFlags::PREDICATE_PUSHDOWN | OptFlags::COMM_SUBPLAN_ELIM;
    let query = query.clone().with_optimizations(query.get_current_optimizations() - pushing_down);
    let plan = query.explain(true)?;
    Ok((!["RANGE JOIN", "IEJOIN", "HCONCAT"].iter().any(|step| plan.contains(step))).then_some(query))
}

/// The files of a snapshot's tables, by table name.
pub type SnapshotFiles = BTreeMap<String, Vec<PathBuf>>;

/// The tables that SQL may name.
pub(super) trait Tables {
    /// The rows of a table; none where there is no such table.
    fn scan(&self, table: &str) -> Option<Result<LazyFrame, PolarsError>>;

    fn names(&self) -> Vec<&str>;
}

impl Tables for SnapshotFiles {
    fn scan(&self, table: &str) -> Option<Result<LazyFrame, PolarsError>> {
        self.get(table).filter(|files| !files.is_empty()).map(|files| scan(files))
    }

    fn names(&self) -> Vec<&str> {
        self.iter().filter(|(_, files)| !files.is_empty()).map(|(known, _)| known.as_str()).collect()
    }
}

/// A context whose warnings go to the log. polars would print them.
pub(super) fn quiet_context() -> SQLContext {
    set_warning_function(|what, _| tracing::debug!("polars: {what}"));
    SQLContext::new()
}

/// A context with only the tables that `sql` names.
pub(super) fn register_tables(
    name: &str,
    sql: &str,
    tables: &dyn Tables,
) -> Result<SQLContext, AggregateError> {
    let failed = |error| AggregateError::Sql { aggregate: name.to_owned(), error };
    let context = quiet_context();
    for table in extract_table_identifiers(sql, false, true).map_err(failed)? {
        match tables.scan(&table) {
            Some(rows) => context.register(&table, rows.map_err(failed)?),
            None if is_defined_in(sql, &table) => {}
            None => return Err(missing_table(name, table, tables)),
        }
    }
    Ok(context)
}

/// An error about a column of a named table, with the columns of that table: polars leaves them out.
pub(super) fn with_columns(error: PolarsError, sql: &str, tables: &dyn Tables) -> PolarsError {
    let said = error.to_string();
    let Some((column, name)) = column_of_table(&said) else { return error };
    let all = extract_table_identifiers(sql, false, true).unwrap_or_default();
    let called = |table: &&String| table.as_str() == name || is_called(sql, table, name);
    let rows = all.iter().find(called).and_then(|table| tables.scan(table));
    let Some(Ok(schema)) = rows.map(|rows| rows.and_then(|mut rows| rows.collect_schema())) else {
        return error;
    };
    let known: Vec<&str> = schema.iter_names().map(|name| name.as_str()).collect();
    PolarsError::ColumnNotFound(format!("unable to find column {column:?}; valid columns: {known:?}").into())
}

/// Whether the SQL gives a table a shorter name, as `FROM filings f` and `FROM filings AS f` do.
fn is_called(sql: &str, table: &str, name: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "(),;".contains(c);
    let words: Vec<&str> = sql.split(is_end).filter(|word| !word.eq_ignore_ascii_case("as")).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| pair[0].eq_ignore_ascii_case(table) && pair[1] == name)
}

fn missing_table(name: &str, table: String, tables: &dyn Tables) -> AggregateError {
    let known = tables.names().into_iter().map(str::to_owned).collect();
    AggregateError::MissingTable { aggregate: name.to_owned(), table, known }
}

/// Whether the SQL itself defines `name`, as `WITH name AS (...)` does.
fn is_defined_in(sql: &str, name: &str) -> bool {
    let words: Vec<&str> = sql
        .lines()
        .filter(|line| !line.trim_start().starts_with("--"))
        .flat_map(|line| line.split_inclusive(['(', ')', ',']))
        .flat_map(str::split_whitespace)
        .collect();
    words.windows(2).any(|pair| {
        pair[0].trim_matches('"').eq_ignore_ascii_case(name)
            && (pair[1].eq_ignore_ascii_case("as") || pair[1].eq_ignore_ascii_case("as("))
    })
}

/// A lazy scan of the files of one table. Columns of the path (`filed_month=...`) are not part of it.
fn scan(files: &[PathBuf]) -> Result<LazyFrame, PolarsError> {
    let paths = files.iter().map(|path| PlRefPath::try_from_path(path)).collect::<Result<Vec<_>, _>>()?;
    let mut args = ScanArgsParquet { glob: false, ..ScanArgsParquet::default() };
    args.hive_options.enabled = Some(false);
    LazyFrame::scan_parquet_files(paths.into(), args)
}

#[cfg(test)]
mod tests {
    use super::super::tiny_lake::lake_with_gap;
    use super::*;

    #[test]
    fn rows_that_a_subquery_chooses_are_read_in_memory() {
        let lake = lake_with_gap(None);
        let query =
            |sql: &str| register_tables("mine", sql, &lake.tables).expect(sql).execute(sql).expect(sql);
        let chosen = query("SELECT name FROM filings WHERE county IN (SELECT county FROM filings)");
        assert!(in_pieces(&chosen).expect("a plan").is_none());
        assert!(
            in_pieces(&query("SELECT name FROM filings WHERE county IN ('Bay')")).expect("a plan").is_some()
        );
    }

    #[test]
    fn names_that_the_sql_defines_are_not_tables() {
        let sql = "-- nope AS (\nWITH a AS (SELECT 1), b AS\n(SELECT 2) SELECT * FROM a, b, c";
        for (name, defined) in [("a", true), ("b", true), ("c", false), ("nope", false)] {
            assert_eq!(is_defined_in(sql, name), defined, "{name}");
        }
    }
}
