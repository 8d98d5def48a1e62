//! A DuckDB file with the tables and aggregates of a snapshot, made by the `duckdb` command line program.

use super::described::{Described, describe, partitioning, quoted, text_of, write_comments, write_views};
use super::error::ExportError;
use super::outlet;
use super::replaceable::{check_duckdb_header, check_tables, is_table_or_view, snapshot_table};
use super::snapshot::{selected_tables, snapshot};
use crate::contract::escape::pattern_of;
use crate::lake::{Commit, Lake};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The names of all tables and views of a database.
const NAMES: &str = "SELECT table_name, 1 FROM duckdb_tables() UNION ALL \
                     SELECT view_name, 1 FROM duckdb_views() WHERE NOT internal;";

/// Makes the database under another name, and names it `file` when every table has its rows. Returns rows by table.
///
/// No `number` is the newest snapshot, no `names` are all tables and aggregates. `program` is the path of `duckdb`, or a name
/// to look for. `force` replaces a file that no export made.
pub(crate) fn export_duckdb(
    lake: &Lake,
    file: &Path,
    number: Option<u64>,
    names: &[String],
    program: &Path,
    force: bool,
) -> Result<(Commit, BTreeMap<String, u64>), ExportError> {
    check_target(file, program, force, &[], is_table_or_view)?;
    let commit = snapshot(lake, number)?;
    let selected = selected_tables(&commit, names)?;
    let mut tables = describe(lake, &commit)?;
    tables.retain(|table| selected.contains(&table.name));
    let sql = statements(lake, &commit, &tables)?;
    let expected = tables.iter().map(|table| (table.name.as_str(), commit.tables[&table.name].rows));
    let counts = make_database(file, program, &sql, expected)?;
    Ok((commit, counts))
}

/// Fails if there is something in the place of a database that no export made: it has the tables that such an export has `always`, and no
/// other than `is_made` allows. `force` allows any file.
pub(super) fn check_target(
    file: &Path,
    program: &Path,
    force: bool,
    always: &[&str],
    is_made: impl Fn(&str) -> bool,
) -> Result<(), ExportError> {
    outlet::check_target(file, "file")?;
    if !force && check_duckdb_header(file)? {
        let found = run(program, &[file.as_os_str(), "-readonly".as_ref()], NAMES)?;
        check_tables(file, found.keys(), always, is_made)?;
    }
    Ok(())
}

/// Makes a database under another name, and names it `file` when each table has its rows. Returns rows by table, as `sql` printed them.
pub(super) fn make_database<'n>(
    file: &Path,
    program: &Path,
    sql: &str,
    expected: impl Iterator<Item = (&'n str, u64)>,
) -> Result<BTreeMap<String, u64>, ExportError> {
    // A database that fails leaves its log.
    let folder = outlet::folder_near(file)?;
    let made = folder.path().join("database");
    let counts = run(program, &[made.as_os_str()], sql)?;
    for (table, rows) in expected {
        let found = counts.get(table).copied().unwrap_or(0);
        if found != rows {
            let reason = format!("{table} has {found} rows there, {rows} in the lake");
            return Err(ExportError::Duckdb(program.to_owned(), reason));
        }
    }
    outlet::publish(&made, file)?;
    Ok(counts)
}

/// The statements that make the tables, then a table of the snapshot, and that print the rows of each table.
fn statements(lake: &Lake, commit: &Commit, tables: &[Described]) -> Result<String, ExportError> {
    let files: Vec<String> =
        tables.iter().map(|table| file_list(lake, commit, table)).collect::<Result<_, _>>()?;
    Ok(text_of(|sql| {
        writeln!(sql, "SET TimeZone = 'UTC';")?;
        for (table, files) in tables.iter().zip(&files) {
            let (name, options) = (&table.name, partitioning(table));
            writeln!(sql, "CREATE TABLE {name} AS SELECT * FROM read_parquet([{files}], {options});")?;
            write_comments(sql, "TABLE", table)?;
        }
        write_views(sql, tables)?;
        writeln!(sql, "{}", snapshot_table(commit))?;
        writeln!(sql, "CHECKPOINT;")?;
        let counts = tables.iter().map(|table| format!("SELECT '{0}', count(*) FROM {0}", table.name));
        writeln!(sql, "{};", counts.collect::<Vec<_>>().join(" UNION ALL "))
    }))
}

/// The verified files of a table as SQL literals, oldest last.
fn file_list(lake: &Lake, commit: &Commit, table: &Described) -> Result<String, ExportError> {
    let mut files = Vec::new();
    let snapshot = lake.open_snapshot(commit);
    for entry in commit.tables[&table.name].files.iter().rev() {
        files.push(quoted(&pattern_of(&snapshot.file(entry)?.display().to_string())));
    }
    Ok(files.join(", "))
}

/// Runs `sql` with the program on a database, the first of the arguments; returns the names and numbers that it printed.
fn run(program: &Path, arguments: &[&OsStr], sql: &str) -> Result<BTreeMap<String, u64>, ExportError> {
    let failed = |reason: String| ExportError::Duckdb(program.to_owned(), reason);
    let mut child = Command::new(program)
        .args(["-batch", "-bail", "-init", "/dev/null", "-csv", "-noheader"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| ExportError::NoDuckdb(program.to_owned(), error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends early writes the reason to stderr.
        let _ = stdin.write_all(sql.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !stderr.trim().is_empty() {
        return Err(failed(format!("{}, {}", output.status, stderr.trim())));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let lines = printed.lines().filter_map(|line| line.split_once(','));
    Ok(lines.filter_map(|(name, rows)| Some((name.to_owned(), rows.trim().parse().ok()?))).collect())
}
