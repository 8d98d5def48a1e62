//! What an export may replace: what an export made. Anything else needs `--force`.

use super::described::{describe, quoted};
use super::error::ExportError;
use crate::lake::{Commit, Lake};
use crate::table::Table;
use crate::table::VIEWS;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The table of a `DuckDB` file that says which snapshot it holds.
const SNAPSHOT_TABLE: &str = "sunlake_snapshot";

/// Bytes 8 to 11 of every `DuckDB` file.
const DUCKDB_MAGIC: &[u8] = b"DUCK";

/// Fails if `<table>.csv` of one of these tables is not an export's, or the folder holds files but none of an export.
pub(super) fn check_csv(
    lake: &Lake,
    commit: &Commit,
    folder: &Path,
    tables: &[String],
) -> Result<(), ExportError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let names: BTreeSet<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let mut is_of_an_export = names.iter().all(|name| name.starts_with('.'));
    for table in describe(lake, commit)? {
        let name = format!("{}.csv", table.name);
        if !names.contains(&name) {
            continue;
        }
        let path = folder.join(name);
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let is_made = begins_with(&path, format!("{}\r\n", columns.join(",")).as_bytes());
        if !is_made && tables.contains(&table.name) {
            return Err(not_made(&path, format!("its first line has other columns than {}", table.name)));
        }
        is_of_an_export |= is_made;
    }
    if is_of_an_export { Ok(()) } else { Err(not_made(folder, "it holds other files".to_owned())) }
}

/// Fails if a file is there that is no `DuckDB` file. Returns whether a file is there.
pub(super) fn check_duckdb_header(file: &Path) -> Result<bool, ExportError> {
    let Ok(mut open) = File::open(file) else { return Ok(false) };
    let mut head = [0; 12];
    if open.read_exact(&mut head).is_ok() && head.ends_with(DUCKDB_MAGIC) {
        Ok(true)
    } else {
        Err(not_made(file, "it is no DuckDB file".to_owned()))
    }
}

/// Fails if a database with these tables and views lacks one that an export has always, or has one that no export makes.
pub(super) fn check_tables<'n>(
    file: &Path,
    names: impl Iterator<Item = &'n String>,
    always: &[&str],
    is_made: impl Fn(&str) -> bool,
) -> Result<(), ExportError> {
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let always: BTreeSet<&str> = always.iter().copied().chain([SNAPSHOT_TABLE]).collect();
    if let Some(missing) = always.difference(&names).next() {
        return Err(not_made(file, format!("it has no table {missing}")));
    }
    let others: Vec<&str> = names.difference(&always).copied().filter(|name| !is_made(name)).collect();
    if others.is_empty() { Ok(()) } else { Err(not_made(file, format!("it also has {}", others.join(", ")))) }
}

/// Whether an export of tables makes one of this name.
pub(super) fn is_table_or_view(name: &str) -> bool {
    Table::from_name(name).is_some() || name.starts_with("agg_") || VIEWS.iter().any(|view| view.name == name)
}

/// The statement that makes the table which says of which snapshot a database is.
pub(super) fn snapshot_table(commit: &Commit) -> String {
    let (number, at, today) = (commit.snapshot, commit.committed_at, commit.today);
    format!(
        "CREATE TABLE {SNAPSHOT_TABLE} AS SELECT CAST({number} AS BIGINT) AS snapshot, \
         CAST('{at}' AS TIMESTAMPTZ) AS committed_at, DATE '{today}' AS today, {} AS run_id;",
        quoted(&commit.run_id)
    )
}

fn begins_with(path: &Path, head: &[u8]) -> bool {
    let mut found = vec![0; head.len()];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut found).is_ok() && found == head)
}

fn not_made(path: &Path, what: String) -> ExportError {
    ExportError::NotMade { path: path.to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duckdb_file_is_replaced_only_if_an_export_made_all_of_it() {
        let check = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            check_tables(Path::new("x.duckdb"), names.iter(), &[], is_table_or_view)
                .map_err(|error| error.to_string())
        };
        assert_eq!(check(&["agg_mine", "businesses", "filings", "sunlake_snapshot"]), Ok(()));
        for (names, says) in [
            (&["filings", "notes", "sunlake_snapshot"][..], "it also has notes"),
            (&["filings"], "no table sunlake_snapshot"),
            (&[], "no table sunlake_snapshot"),
        ] {
            let error = check(names).expect_err("another file");
            assert!(
                error.contains("x.duckdb was not made by this command") && error.contains(says),
                "{error}"
            );
        }
    }
}
