//! Footers that stay in memory, within a bound, and look-ups of single businesses by them.

use super::column_values::Unpacker;
use super::footer::{check_places, check_table};
use super::lookup::{ID, KnownFile, check_pages};
use super::placed::PlacedFile;
use super::read::decoded;
use crate::table::error::TableError;
use crate::table::row::{Part, Row};
use crate::table::schema::without_field_ids;
use crate::table::tables::Table;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::{ColumnChunkMask, PageIndexPolicy, ParquetStatisticsPolicy};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Bytes of a column's Arrow type and levels, counted generously: the library does not say them.
const ARROW_COLUMN_BYTES: usize = 1024;

/// The footers of the files that were asked for last.
#[derive(Debug)]
pub struct KeptFooters {
    /// Bytes of them at most.
    most: usize,
    kept: Mutex<Kept>,
    unpacker: Unpacker,
}

#[derive(Debug, Default)]
struct Kept {
    footers: HashMap<PathBuf, KeptFooter>,
    uses: u64,
}

#[derive(Debug)]
struct KeptFooter {
    footer: ArrowReaderMetadata,
    of: Version,
    bytes: usize,
    /// Number of the last use.
    used: u64,
}

/// What distinguishes a file from another one of its name: its size, and when it was changed.
type Version = (u64, Option<SystemTime>);

impl KeptFooters {
    /// Keeps footers of this number of bytes at most; those used last.
    pub fn within(most: usize) -> Self {
        Self { most, kept: Mutex::default(), unpacker: Unpacker::default() }
    }

    /// The rows of one business in a file of a table, in its order.
    ///
    /// # Errors
    ///
    /// As [`read_table`](crate::table::read_table), from the file as it is now: it is opened each time.
    pub fn rows_of_business<P: Part>(
        &self,
        path: &Path,
        business_id: i64,
    ) -> Result<Vec<P::Row>, TableError> {
        let (file, metadata) = PlacedFile::open(path)?;
        let footer = self.footer(P::Row::TABLE, path, &file, (metadata.len(), metadata.modified().ok()))?;
        let known = KnownFile { file: &Arc::new(file), path, footer: &footer, unpacker: &self.unpacker };
        decoded(
            || known.rows_of_business::<P>(business_id),
            |source| TableError::parquet("read", path, source),
        )
        .inspect_err(|_| drop(self.kept().footers.remove(path)))
    }

    fn footer(
        &self,
        table: Table,
        path: &Path,
        file: &PlacedFile,
        of: Version,
    ) -> Result<ArrowReaderMetadata, TableError> {
        if let Some(footer) = self.kept().get(path, of) {
            return Ok(footer);
        }
        let footer = footer_of(table, path, file)?;
        let columns = footer.schema().fields().len();
        let bytes = footer.metadata().memory_size()
            + ARROW_COLUMN_BYTES * columns
            + size_of::<KeptFooter>()
            + path.as_os_str().len();
        if bytes <= self.most {
            self.kept().insert(path, KeptFooter { footer: footer.clone(), of, bytes, used: 0 }, self.most);
        }
        Ok(footer)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn get(&mut self, path: &Path, of: Version) -> Option<ArrowReaderMetadata> {
        self.uses += 1;
        let kept = self.footers.get_mut(path).filter(|kept| kept.of == of)?;
        kept.used = self.uses;
        Some(kept.footer.clone())
    }

    fn insert(&mut self, path: &Path, footer: KeptFooter, most: usize) {
        self.footers.remove(path);
        while self.bytes() + footer.bytes > most {
            let oldest = self.footers.iter().min_by_key(|(_, kept)| kept.used).map(|(path, _)| path.clone());
            let Some(oldest) = oldest else { break };
            self.footers.remove(&oldest);
        }
        self.footers.insert(path.to_owned(), KeptFooter { used: self.uses, ..footer });
    }

    fn bytes(&self) -> usize {
        self.footers.values().map(|footer| footer.bytes).sum()
    }
}

/// The footer of a file of a table, with the places of its pages; of statistics only those of the id.
pub(super) fn footer_of(
    table: Table,
    path: &Path,
    file: &PlacedFile,
) -> Result<ArrowReaderMetadata, TableError> {
    let damaged = |source| TableError::parquet("read", path, source);
    let id = [table.schema().index_of(ID).unwrap_or_default()];
    let options = ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_page_index_policy(PageIndexPolicy::Optional)
        .with_column_index_mask(ColumnChunkMask::columns(id))
        .with_column_stats_policy(ParquetStatisticsPolicy::skip_except(&id))
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
    let footer = ArrowReaderMetadata::load(file, options).map_err(damaged)?;
    check_places(footer.metadata()).map_err(damaged)?;
    check_table(table, path, footer.metadata(), &without_field_ids(footer.schema().fields()))?;
    check_pages(footer.metadata()).map_err(damaged)?;
    Ok(footer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use crate::table::business::{OfficerRow, ShownOfficer};
    use crate::table::file::lookup::tests::{officers, shown};
    use crate::table::file::write::tests::write_rows;

    fn write(path: &Path, businesses: i64) {
        let rows: Vec<OfficerRow> = (1..=businesses).flat_map(officers).collect();
        write_rows(&rows, path, &[]).expect("written");
    }

    #[test]
    fn footers_stay_within_their_bound_and_those_used_last_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths: Vec<PathBuf> = (1..=9).map(|file| folder.path().join(format!("{file}.parquet"))).collect();
        paths.iter().zip(1..).for_each(|(path, businesses)| write(path, businesses));
        let all = KeptFooters::within(usize::MAX);
        let find = |footers: &KeptFooters, path: &PathBuf| {
            let found = footers.rows_of_business::<ShownOfficer>(path, 1).expect("rows");
            assert_eq!(found, shown(&officers(1)));
        };
        paths.iter().for_each(|path| find(&all, path));
        let bound = all.kept().bytes() / 2;
        assert!(all.kept().bytes() > 9 * 5 * ARROW_COLUMN_BYTES);
        let footers = KeptFooters::within(bound);
        for path in paths.iter().chain(&paths) {
            find(&footers, &paths[0]);
            find(&footers, path);
            let kept = footers.kept();
            assert!(kept.bytes() <= bound, "{} of {bound}", kept.bytes());
            assert!(kept.footers.contains_key(&paths[0]) && kept.footers.contains_key(path));
        }
        let none = KeptFooters::within(100);
        find(&none, &paths[0]);
        assert_eq!(none.kept().bytes(), 0);
    }

    #[test]
    fn a_file_that_changed_is_read_as_it_is_and_a_damaged_or_missing_one_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("part.parquet");
        let footers = KeptFooters::within(1 << 20);
        let find = |id| footers.rows_of_business::<ShownOfficer>(&path, id);
        write(&path, 10);
        assert_eq!(find(11).expect("no rows"), []);
        write(&path, 3_000);
        assert_eq!(find(11).expect("rows"), shown(&officers(11)));
        let bytes = std::fs::read(&path).expect("a file");
        std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("cut");
        assert!(matches!(find(11), Err(TableError::Parquet { .. })));
        std::fs::write(&path, &bytes).expect("written");
        assert_eq!(find(11).expect("rows"), shown(&officers(11)));
        std::fs::remove_file(&path).expect("removed");
        assert!(matches!(find(11), Err(TableError::Io { .. })));
    }

    #[test]
    fn fuzz_of_looked_up_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("part.parquet");
        write(&path, 4);
        let whole = std::fs::read(&path).expect("a file");
        let changed = folder.path().join("changed.parquet");
        try_changed(&[whole.as_slice()], |input| {
            std::fs::write(&changed, input).expect("written");
            let _ = KeptFooters::within(1 << 20).rows_of_business::<ShownOfficer>(&changed, 2);
        });
    }
}
