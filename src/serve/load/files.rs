//! The Parquet files of a snapshot, its digest, the rows of a small table, and why they cannot be loaded.

use crate::contract::hint::MAKE_SNAPSHOT;
use crate::lake::{LakeError, Month};
use crate::serve::index::IndexError;
use crate::serve::index::month_files::MonthFiles;
use crate::table::{REPAIR, Row, Table, TableError, of_lake_file, read_parquet};
use parquet::errors::ParquetError;
use std::path::{Path, PathBuf};

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

/// The files of a table by month of filing; none of a table that is not stored so.
pub(super) fn by_month(snapshot: &Path, table: Table) -> Result<MonthFiles, LoadError> {
    let month = |path: &Path| Month::from_folder(path.parent()?.file_name()?.to_str()?);
    let files = files_of(snapshot, table)?;
    Ok(MonthFiles::new(files.into_iter().filter_map(|path| Some((month(&path)?, path))).collect()))
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

/// A digest of the names and sizes of all files; the name of a lake's file has a digest of its content. Times do not count:
/// a copy of the snapshot is the same.
pub(super) fn identity(snapshot: &Path) -> Result<[u8; 32], LoadError> {
    let mut files = Vec::new();
    find_files(snapshot, &mut files)?;
    files.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for path in files {
        let metadata = path.metadata().map_err(|source| LoadError::unreadable(&path, source))?;
        hasher.update(path.strip_prefix(snapshot).unwrap_or(&path).as_os_str().as_encoded_bytes());
        hasher.update(&metadata.len().to_le_bytes());
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

/// Why a snapshot cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A folder or file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// A file is not Parquet, or damaged.
    #[error("cannot read {0} as Parquet: {1}")]
    Damaged(PathBuf, #[source] ParquetError),
    /// A file is not what was committed.
    #[error(transparent)]
    Unsound(#[from] LakeError),
    /// A column of a file is missing or has another type.
    #[error("{0} has no column {1:?} of the type in its table; it was written with another schema")]
    Column(PathBuf, &'static str),
    /// The rows of a file are not those of its table.
    #[error("cannot read the rows of {0}: {1}")]
    Table(PathBuf, #[source] Box<TableError>),
    /// The folder has no filings.
    #[error("{0} has no filings folder; is it a snapshot of a lake?")]
    NoFilings(PathBuf),
    /// The rows of a snapshot contradict each other.
    #[error("cannot index the filings of {0}: {1}")]
    Rows(PathBuf, #[source] IndexError),
}

impl LoadError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable(path, source) => of_lake_file(path, source),
            Self::Damaged(..) | Self::Table(..) => Some(REPAIR.to_owned()),
            Self::Unsound(error) => error.hint(),
            Self::NoFilings(_) => Some(MAKE_SNAPSHOT.to_owned()),
            Self::Column(..) | Self::Rows(..) => None,
        }
    }

    pub(super) fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self::Unreadable(path.to_owned(), source)
    }

    pub(super) fn damaged(path: &Path, source: ParquetError) -> Self {
        Self::Damaged(path.to_owned(), source)
    }

    pub(super) fn table(path: &Path, error: TableError) -> Self {
        match error {
            TableError::Io { source, .. } => Self::unreadable(path, source),
            TableError::Parquet { source, .. } => Self::damaged(path, source),
            TableError::Arrow { source, .. } => Self::damaged(path, source.into()),
            source => Self::Table(path.to_owned(), source.into()),
        }
    }
}
