//! One DuckDB file with the tables and aggregates of a snapshot, made by the `duckdb` command line program.

use super::catalog::quoted;
use super::csv::wanted;
use super::described::{Described, describe};
use super::{ExportError, outlet, snapshot};
use crate::lake::{Commit, Lake};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is wanted of an export to a database file.
#[derive(Debug, Clone)]
pub struct DuckdbExport {
    /// The snapshot; none for the newest.
    pub snapshot: Option<u64>,
    /// Tables and aggregates by name; all of them when empty.
    pub tables: Vec<String>,
    /// The `duckdb` program: a path, or a name to look for.
    pub program: PathBuf,
}

/// Makes the database beside `file` and gives it that name when every table has its rows. Gives rows by table.
///
/// # Errors
/// [`ExportError::NoDuckdb`] when there is no such program, [`ExportError::Duckdb`] with what it said,
/// [`ExportError::Asked`] where `file` is a folder; what the lake and the target's disk say.
pub fn export_duckdb(
    lake: &Lake,
    file: &Path,
    export: &DuckdbExport,
) -> Result<(Commit, BTreeMap<String, u64>), ExportError> {
    outlet::check_file(file)?;
    let commit = snapshot(lake, export.snapshot)?;
    let wanted = wanted(&commit, &export.tables)?;
    let mut tables = describe(lake, &commit)?;
    tables.retain(|table| wanted.contains(&table.name));
    let mut sql = String::from("SET TimeZone = 'UTC';\n");
    for table in &tables {
        push_table(&mut sql, lake, &commit, table)?;
    }
    push_snapshot(&mut sql, &commit);
    sql.push_str("CHECKPOINT;\n");
    push_counts(&mut sql, &tables);
    let made = outlet::beside(file)?;
    let counts = run(&export.program, &made, &sql)?;
    for table in &tables {
        let found = counts.get(&table.name).copied().unwrap_or(0);
        if found != table.rows {
            let said = format!("{} has {found} rows there, {} in the lake", table.name, table.rows);
            return Err(ExportError::Duckdb { program: export.program.clone(), said });
        }
    }
    outlet::publish(made, file)?;
    Ok((commit, counts))
}

fn push_table(sql: &mut String, lake: &Lake, commit: &Commit, table: &Described) -> Result<(), ExportError> {
    let mut files = Vec::new();
    let snapshot = lake.open_snapshot(commit);
    for entry in table.files.iter().rev() {
        files.push(quoted(&snapshot.file(entry)?.display().to_string()));
    }
    let (name, files) = (&table.name, files.join(", "));
    let options = match table.is_partitioned {
        true => "hive_partitioning = true, hive_types = {'filed_month': VARCHAR}",
        false => "hive_partitioning = false",
    };
    push(sql, format_args!("CREATE TABLE {name} AS SELECT * FROM read_parquet([{files}], {options});\n"));
    push(sql, format_args!("COMMENT ON TABLE {name} IS {};\n", quoted(&table.about)));
    for column in table.columns.iter().filter(|column| !column.meaning.is_empty()) {
        let meaning = quoted(&column.meaning);
        push(sql, format_args!("COMMENT ON COLUMN {name}.\"{}\" IS {meaning};\n", column.name));
    }
    Ok(())
}

/// Which snapshot the file holds, in the file.
fn push_snapshot(sql: &mut String, commit: &Commit) {
    let (number, at, today) = (commit.snapshot, commit.committed_at, commit.today);
    let run = quoted(&commit.run_id);
    push(
        sql,
        format_args!(
            "CREATE TABLE sunlake_snapshot AS SELECT CAST({number} AS BIGINT) AS snapshot, \
             CAST('{at}' AS TIMESTAMPTZ) AS committed_at, DATE '{today}' AS today, {run} AS run_id;\n"
        ),
    );
}

fn push_counts(sql: &mut String, tables: &[Described]) {
    let counts = tables.iter().map(|table| format!("SELECT '{0}', count(*) FROM {0}", table.name));
    push(sql, format_args!("{};\n", counts.collect::<Vec<_>>().join(" UNION ALL ")));
}

fn push(sql: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = sql.write_fmt(words);
}

/// Has the program carry out `sql` on `database`; gives the names and numbers it printed.
fn run(program: &Path, database: &Path, sql: &str) -> Result<BTreeMap<String, u64>, ExportError> {
    let failed = |said: String| ExportError::Duckdb { program: program.to_owned(), said };
    let mut child = Command::new(program)
        .args(["-batch", "-bail", "-init", "/dev/null", "-csv", "-noheader"])
        .arg(database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| ExportError::NoDuckdb { program: program.to_owned(), source })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read all says why on stderr.
        let _ = stdin.write_all(sql.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !said.trim().is_empty() {
        return Err(failed(format!("{}, {}", output.status, said.trim())));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let lines = printed.lines().filter_map(|line| line.split_once(','));
    Ok(lines.filter_map(|(name, rows)| Some((name.to_owned(), rows.trim().parse().ok()?))).collect())
}
