//! The aggregates: SQL files run by polars over a snapshot's tables, one Parquet file each.
//!
//! A file `pipelines/aggregates/<name>.sql` becomes the table `agg_<name>`. The shipped files keep to the SQL that
//! polars, DuckDB and Spark share, so they run unchanged on each, and end in an `ORDER BY` over a key, so that the same
//! tables give the same bytes.
//!
//! **Architecture invariant:** polars is named in this module only. What leaves it is a Parquet file or plain values.
//!
//! Everything here blocks the calling thread; call it off the async threads.

mod adds_up;
mod cells;
mod choose;
mod dry_run;
mod figures;
mod on_disk;
mod reconcile;
#[cfg(test)]
mod shipped_tests;
#[cfg(test)]
mod tiny_lake;

pub use adds_up::{Sum, check_sum};
pub use choose::choose_businesses;
pub use dry_run::{check_aggregate, check_condition};
pub use figures::{
    CityFigures, CountyFigures, CoverageDay, DayFigures, Figures, MonthFigures, SettlingDay, WeekdayFigures,
    ZipFigures, read_figures,
};
pub use reconcile::{Comparison, Reconciliation, Scope, read_reconciliation};

use polars::error::PolarsError;
use polars::frame::DataFrame;
use polars::prelude::{Engine, LazyFrame, OptFlags, PlRefPath, ScanArgsParquet};
use polars::sql::{SQLContext, extract_table_identifiers};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Start of the table name of every aggregate.
pub const TABLE_PREFIX: &str = "agg_";

/// Why an aggregate could not be read, run or written.
#[derive(Debug, thiserror::Error)]
pub enum AggregateError {
    /// The folder or file of SQL cannot be read.
    #[error("cannot read the aggregates of {}: {source}", path.display())]
    Unreadable {
        /// Folder or file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file name does not make a table name.
    #[error("{} cannot name a table: an aggregate's file name is made of a-z, 0-9 and _, then .sql", path.display())]
    BadName {
        /// The file.
        path: PathBuf,
    },
    /// The SQL names a table that the snapshot does not have.
    #[error(
        "aggregate {aggregate}.sql reads table {table}, which the snapshot does not have; it has {known}"
    )]
    MissingTable {
        /// Name of the aggregate.
        aggregate: String,
        /// Name of the table.
        table: String,
        /// The tables there are.
        known: String,
    },
    /// The SQL cannot be parsed or run.
    #[error("aggregate {aggregate}.sql cannot run: {}", first_line(source))]
    Sql {
        /// Name of the aggregate.
        aggregate: String,
        /// What polars said.
        source: PolarsError,
    },
    /// A condition that chooses businesses cannot be parsed or run.
    #[error("`[enrich] where`, {condition:?}, cannot run: {reason}")]
    Condition {
        /// As it was given.
        condition: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A column has a type that the lake does not keep.
    #[error("aggregate {aggregate}.sql gives column {column} the type {dtype}")]
    ColumnType {
        /// Name of the aggregate.
        aggregate: String,
        /// The column.
        column: String,
        /// Its type, in polars' words.
        dtype: String,
    },
    /// The result cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: PolarsError,
    },
    /// The file of a table or an aggregate is not as it was written.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: PolarsError,
    },
}

impl AggregateError {
    /// The same, an aggregate's file named with the folder it lies in.
    #[must_use]
    pub fn of_folder(mut self, folder: &Path) -> Self {
        if let Self::MissingTable { aggregate, .. }
        | Self::Sql { aggregate, .. }
        | Self::ColumnType { aggregate, .. } = &mut self
        {
            *aggregate = folder.join(aggregate.as_str()).display().to_string();
        }
        self
    }
}

/// The first sentence of what polars says; how it came to fail follows in many lines.
fn first_line(said: &dyn Display) -> String {
    said.to_string().lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// A written aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregateFile {
    /// Name of the aggregate; its table is `agg_<name>`.
    pub name: String,
    /// The Parquet file.
    pub path: PathBuf,
    /// Rows in it.
    pub rows: u64,
}

/// The aggregates of a folder: name and SQL of each `*.sql` file, by name. Other files are left alone.
///
/// # Errors
/// `Unreadable` for the folder or a file, `BadName` for a name outside `[a-z0-9_]+`.
pub fn load_aggregates(dir: &Path) -> Result<Vec<(String, String)>, AggregateError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| AggregateError::Unreadable { path, source }
    };
    let mut aggregates = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(unreadable(dir))? {
        let path = entry.map_err(unreadable(dir))?.path();
        if path.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        let name = aggregate_name(&path)?;
        let sql = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        aggregates.push((name, sql));
    }
    aggregates.sort();
    Ok(aggregates)
}

/// The comment at the head of an aggregate's SQL, its marks taken away: a question, then what its columns are.
pub fn head_comment(sql: &str) -> String {
    let lines = sql.lines().map_while(|line| line.strip_prefix("--"));
    let plain = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    plain.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn aggregate_name(path: &Path) -> Result<String, AggregateError> {
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    let name = path.file_stem().and_then(|stem| stem.to_str()).filter(is_name);
    name.map(str::to_owned).ok_or_else(|| AggregateError::BadName { path: path.to_owned() })
}

/// Runs one aggregate over the files of the snapshot's tables and writes `<out>/agg_<name>.parquet`.
///
/// Only the tables that the SQL names need to be there. The same tables give the same bytes.
///
/// # Errors
/// `MissingTable`, `Sql`, `ColumnType` when the SQL is at fault; `Write` when the disk is.
pub fn run_aggregate(
    name: &str,
    sql: &str,
    tables: &SnapshotFiles,
    out: &Path,
) -> Result<AggregateFile, AggregateError> {
    let failed = |source| AggregateError::Sql { aggregate: name.to_owned(), source };
    let mut context = register_tables(name, sql, tables)?;
    let result = context.execute(sql).and_then(collect).map_err(failed)?;
    let mut result = on_disk::with_lake_types(name, result)?;
    let path = out.join(format!("{TABLE_PREFIX}{name}.parquet"));
    let rows = on_disk::write(&mut result, &path)?;
    Ok(AggregateFile { name: name.to_owned(), path, rows })
}

/// The rows of a query, read and added up in pieces, so that memory does not grow with the lake.
///
/// A filter after `CROSS JOIN` stays where the SQL has it: pushed down it becomes a range join, which the engine that works
/// in pieces does not have as built. Plans in common are pushed down into too, so none is looked for: a table that a query
/// names twice is read twice. A query that asks for such a join is run in memory.
fn collect(query: LazyFrame) -> Result<DataFrame, PolarsError> {
    match in_pieces(&query)? {
        Some(query) => query.collect_with_engine(Engine::Streaming).map(|rows| rows.unwrap_single()),
        None => query.collect(),
    }
}

/// The query as the engine that works in pieces can run it; none where it cannot.
fn in_pieces(query: &LazyFrame) -> Result<Option<LazyFrame>, PolarsError> {
    let pushing_down = OptFlags::PREDICATE_PUSHDOWN | OptFlags::COMM_SUBPLAN_ELIM;
    let query = query.clone().with_optimizations(query.get_current_optimizations() - pushing_down);
    let plan = query.explain(true)?;
    Ok((!["RANGE JOIN", "IEJOIN"].iter().any(|join| plan.contains(join))).then_some(query))
}

/// Files of each table of a snapshot.
pub type SnapshotFiles = BTreeMap<String, Vec<PathBuf>>;

/// The tables that SQL may name.
trait Tables {
    /// The rows of a table; none where there is no such table.
    fn scan(&self, table: &str) -> Option<Result<LazyFrame, PolarsError>>;

    /// Names of the tables there are.
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

/// A context that knows the tables named in `sql`, and nothing else.
fn register_tables(name: &str, sql: &str, tables: &dyn Tables) -> Result<SQLContext, AggregateError> {
    let failed = |source| AggregateError::Sql { aggregate: name.to_owned(), source };
    let context = SQLContext::new();
    for table in extract_table_identifiers(sql, false, true).map_err(failed)? {
        match tables.scan(&table) {
            Some(rows) => context.register(&table, rows.map_err(failed)?),
            None if is_defined_in(sql, &table) => {}
            None => return Err(missing_table(name, table, tables)),
        }
    }
    Ok(context)
}

fn missing_table(name: &str, table: String, tables: &dyn Tables) -> AggregateError {
    let known = tables.names();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
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
    use super::tiny_lake::TinyLake;
    use super::*;

    #[test]
    fn missing_table_is_named_with_the_file_that_reads_it() {
        let lake = TinyLake::default();
        let error = lake.run("mine", "SELECT x FROM nowhere").expect_err("no such table");
        assert!(
            matches!(&error, AggregateError::MissingTable { table, .. } if table == "nowhere"),
            "{error}"
        );
        assert!(error.to_string().contains("mine.sql"), "{error}");
        assert!(error.to_string().contains("filings"), "says what there is: {error}");
    }

    #[test]
    fn table_without_files_is_missing() {
        let lake = TinyLake::default();
        let tables = BTreeMap::from([("filings".to_owned(), Vec::new())]);
        let error =
            run_aggregate("mine", "SELECT id FROM filings", &tables, lake.out()).expect_err("no files");
        assert!(matches!(error, AggregateError::MissingTable { .. }), "{error}");
    }

    #[test]
    fn wrong_sql_names_its_file() {
        let lake = TinyLake::default();
        for sql in
            ["SELEKT 1", "SELECT nothing FROM filings", "", "SELECT 1 FROM filings; SELECT 2 FROM filings"]
        {
            let error = lake.run("broken", sql).expect_err(sql);
            assert!(error.to_string().contains("broken.sql"), "{error}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            let error = error.of_folder(Path::new("pipelines/aggregates"));
            assert!(error.to_string().contains("pipelines/aggregates/broken.sql"), "{error}");
        }
    }

    #[test]
    fn names_the_sql_defines_are_no_tables() {
        let sql = "-- nope AS (\nWITH a AS (SELECT 1), b AS\n(SELECT 2) SELECT * FROM a, b, c";
        for (name, defined) in [("a", true), ("b", true), ("c", false), ("nope", false)] {
            assert_eq!(is_defined_in(sql, name), defined, "{name}");
        }
    }

    #[test]
    fn folder_gives_sql_files_by_name_and_refuses_names_that_make_no_table() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in [("b_2.sql", "two"), ("a.sql", "one"), ("README.md", "no")] {
            std::fs::write(dir.path().join(name), text).expect("a file");
        }
        let pair = |name: &str, sql: &str| (name.to_owned(), sql.to_owned());
        assert_eq!(load_aggregates(dir.path()).expect("names"), [pair("a", "one"), pair("b_2", "two")]);
        std::fs::write(dir.path().join("Top-10.sql"), "x").expect("a file");
        let error = load_aggregates(dir.path()).expect_err("a bad name");
        assert!(error.to_string().contains("Top-10.sql"), "{error}");
        assert!(matches!(load_aggregates(&dir.path().join("no")), Err(AggregateError::Unreadable { .. })));
    }

    #[test]
    fn same_tables_give_the_same_bytes() {
        let lake = TinyLake::default();
        let sql = "SELECT county, COUNT(*) AS n FROM filings GROUP BY county ORDER BY county";
        let read = || std::fs::read(lake.run("mine", sql).expect("runs").path).expect("bytes");
        assert_eq!(read(), read());
    }
}
