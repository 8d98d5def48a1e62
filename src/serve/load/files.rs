//! The Parquet files of a snapshot, the snapshot's digest, and the rows of a small table.

use super::error::LoadError;
use crate::table::{Row, Table, read_parquet};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The folder of a table.
pub(super) fn folder(snapshot: &Path, table: Table) -> PathBuf {
    snapshot.join(table.name())
}

/// The files of a table, newest month first: partitions are named by month, and rows in this order need no sorting. A table
/// without a folder has none.
pub(super) fn files_of(snapshot: &Path, table: Table) -> Result<Vec<PathBuf>, LoadError> {
    let mut files = Vec::new();
    if folder(snapshot, table).is_dir() {
        find_files(&folder(snapshot, table), &mut files)?;
    }
    files.sort_unstable_by(|a, b| b.cmp(a));
    Ok(files)
}

/// Calls `take` with every row of a table, file by file. For tables with few rows.
pub(super) fn each_row<R: Row>(snapshot: &Path, mut take: impl FnMut(R)) -> Result<(), LoadError> {
    for path in files_of(snapshot, R::TABLE)? {
        let failed = |error| LoadError::table(&path, error);
        for batch in read_parquet(&path, None).map_err(failed)? {
            let rows = batch.and_then(|batch| R::rows(&batch)).map_err(failed)?;
            rows.into_iter().for_each(&mut take);
        }
    }
    Ok(())
}

/// A digest of the names, sizes and times of all files; the name of a lake's file has a digest of its content.
pub(super) fn identity(snapshot: &Path) -> Result<[u8; 32], LoadError> {
    let mut files = Vec::new();
    find_files(snapshot, &mut files)?;
    files.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for path in files {
        let metadata = path.metadata().map_err(|source| LoadError::unreadable(&path, source))?;
        let written = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        hasher.update(path.strip_prefix(snapshot).unwrap_or(&path).as_os_str().as_encoded_bytes());
        hasher.update(&metadata.len().to_le_bytes());
        hasher.update(&written.unwrap_or_default().as_nanos().to_le_bytes());
    }
    Ok(*hasher.finalize().as_bytes())
}

fn find_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    let unreadable = |source| LoadError::unreadable(folder, source);
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            find_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push(path);
        }
    }
    Ok(())
}
