//! A database file with the catalogue, made by the `duckdb` command line program.

use super::super::duckdb::{check_target, make_database};
use super::super::error::ExportError;
use super::super::snapshot::snapshot;
use super::script::{TABLES, ducklake_script};
use crate::lake::{Commit, Lake};
use std::collections::BTreeMap;
use std::path::Path;

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
    let name = |line: &'static str| line.strip_prefix("CREATE TABLE ")?.split_once('(').map(|(name, _)| name);
    let always: Vec<&str> = TABLES.lines().filter_map(name).collect();
    check_target(file, program, force, &always, |_| false)?;
    let commit = snapshot(lake, None)?;
    let (script, snapshots) = ducklake_script(lake, &commit, &[])?;
    let of_files = commit.tables.iter().filter(|(_, manifest)| !manifest.files.is_empty());
    let expected = of_files.map(|(table, manifest)| (table.as_str(), manifest.rows));
    let rows = make_database(file, program, &format!("{script}CHECKPOINT;\n{ROWS}\n"), expected)?;
    Ok(DucklakeExport { commit, snapshots, rows })
}
