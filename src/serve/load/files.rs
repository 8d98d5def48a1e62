//! The Parquet files of a snapshot: which there are, opened, and what tells them from those of another.

use super::LoadError;
use crate::table::Table;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Where the files of a table lie.
pub(super) fn folder(snapshot: &Path, table: Table) -> PathBuf {
    snapshot.join(table.name())
}

/// The files of a table, newest month first: partitions are named by month, and this order spares the index its sort. A
/// table without a folder has none.
pub(super) fn files_of(snapshot: &Path, table: Table) -> Result<Vec<PathBuf>, LoadError> {
    let mut files = Vec::new();
    if folder(snapshot, table).is_dir() {
        find_files(&folder(snapshot, table), &mut files)?;
    }
    files.sort_unstable_by(|a, b| b.cmp(a));
    Ok(files)
}

/// A file, its footer read.
pub(super) fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, LoadError> {
    let file = File::open(path).map_err(|source| LoadError::unreadable(path, source))?;
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(|source| LoadError::damaged(path, source))
}

/// A digest of names, sizes and times of all files: names of a lake's files are digests of their content.
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
