//! A database file with the catalogue, made by the `duckdb` command line program.

use super::super::duckdb::run;
use super::super::error::ExportError;
use super::super::outlet;
use super::super::replaceable::{check_duckdb_header, check_ducklake_tables};
use super::super::snapshot::snapshot;
use super::script::{TABLES, ducklake_script};
use crate::lake::{Commit, Lake};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// The names of all tables of a database.
const NAMES: &str = "SELECT table_name, 1 FROM duckdb_tables();";

/// The rows of each table of the newest snapshot, by its files.
const ROWS: &str = "SELECT table_name, CAST(sum(record_count) AS BIGINT) FROM ducklake_data_file file \
                    JOIN ducklake_table USING (table_id) WHERE file.end_snapshot IS NULL GROUP BY ALL;";

/// What an export made.
pub(crate) struct DucklakeExport {
    /// The newest snapshot.
    pub(crate) commit: Commit,
    /// The snapshots of the catalogue, oldest first.
    pub(crate) snapshots: Vec<u64>,
    /// Rows of the newest snapshot by table.
    pub(crate) rows: BTreeMap<String, u64>,
}

/// Makes the catalogue of all kept snapshots under another name, and names it `file` when it has them.
///
/// `program` is the path of `duckdb`, or a name to look for. `force` replaces a file that this export did not make.
pub(crate) fn export_ducklake(
    lake: &Lake,
    file: &Path,
    program: &Path,
    force: bool,
) -> Result<DucklakeExport, ExportError> {
    outlet::check_target(file, "file")?;
    if !force && check_duckdb_header(file)? {
        let read_only: [&OsStr; 2] = [file.as_os_str(), "-readonly".as_ref()];
        let name =
            |line: &'static str| line.strip_prefix("CREATE TABLE ")?.split_once('(').map(|(name, _)| name);
        let known: Vec<&str> = TABLES.lines().filter_map(name).collect();
        check_ducklake_tables(file, run(program, &read_only, NAMES)?.keys(), &known)?;
    }
    let commit = snapshot(lake, None)?;
    let (script, snapshots) = ducklake_script(lake, &commit, &[])?;
    let made = outlet::free_path_near(file)?;
    let rows = run(program, &[made.as_os_str()], &format!("{script}CHECKPOINT;\n{ROWS}\n"))?;
    for (table, manifest) in commit.tables.iter().filter(|(_, manifest)| !manifest.files.is_empty()) {
        let found = rows.get(table).copied().unwrap_or(0);
        if found != manifest.rows {
            let reason = format!("{table} has {found} rows there, {} in the lake", manifest.rows);
            return Err(ExportError::Duckdb(program.to_owned(), reason));
        }
    }
    outlet::publish(made, file)?;
    Ok(DucklakeExport { commit, snapshots, rows })
}
