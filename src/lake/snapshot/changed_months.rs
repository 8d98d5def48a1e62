//! What differs between a snapshot being made and its parent: only that is read by the checks before publishing.

use super::diff::differing_files;
use super::staging::Staging;
use crate::lake::data_file::{business_ids, ids_in_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Month, month_in};
use crate::lake::format::manifest::{FileEntry, StagedFile};
use crate::lake::merge::row_key::SeenKeys;
use crate::table::{FilingColumns, Table, read_batch};
use arrow_ord::partition::partition;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files of a month of filings that differ from the parent's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonthFiles {
    /// Those of the parent.
    pub before: Vec<PathBuf>,
    /// Those of the coming snapshot.
    pub after: Vec<PathBuf>,
}

impl Staging {
    /// Months of filings whose files differ from the parent's.
    pub fn changed_months(&self) -> BTreeMap<Month, MonthFiles> {
        let name = Table::Filings.name();
        let old: Vec<&FileEntry> = self.parent.iter().flat_map(|parent| parent.files(Some(name))).collect();
        let new: Vec<&FileEntry> = self.of_table(name).iter().map(|file| &file.entry).collect();
        let dir = self.parent.as_ref().map(|parent| self.lake.layout.snapshot(parent.snapshot));
        let parent_path = |entry: &FileEntry| dir.as_ref().map(|dir| dir.join(&entry.path));
        let differing = differing_files([&old, &new]).into_iter();
        let paths = |[old, new]: [Vec<&FileEntry>; 2]| MonthFiles {
            before: old.into_iter().filter_map(parent_path).collect(),
            after: new.into_iter().filter_map(|entry| self.file_of(&entry.blake3)).collect(),
        };
        differing.filter_map(|(month, files)| Some((month?, paths(files)))).collect()
    }

    /// Number of rows in new files whose key is also in another row, by table; tables without such rows are left out. The
    /// columns of a key are never null: no file with a null there is written.
    ///
    /// A business is in one month of filings. Its rows in other tables by month are in the same month, so one month at a time is in
    /// memory; a row of a business of another month counts too.
    pub fn invalid_keys(&self) -> Result<BTreeMap<Table, u64>, LakeError> {
        let mut invalid = BTreeMap::new();
        let mut by_month: BTreeMap<Month, Vec<(Table, &StagedFile)>> = BTreeMap::new();
        for table in Table::ALL {
            let (new, kept): (Vec<_>, Vec<_>) =
                self.of_table(table.name()).iter().partition(|file| file.is_new);
            let months: Option<Vec<Month>> = new.iter().map(|file| month_in(&file.entry.path)).collect();
            match (table, months) {
                _ if new.is_empty() => {}
                (Table::Filings, _) => *invalid.entry(table).or_default() += repeated_ids(&new, &kept)?,
                (_, Some(months)) => {
                    new.iter()
                        .zip(months)
                        .for_each(|(file, month)| by_month.entry(month).or_default().push((table, file)));
                }
                (_, None) => *invalid.entry(table).or_default() += repeated_keys(table, &new)?,
            }
        }
        for (month, files) in by_month {
            let businesses = self.businesses_of(month)?;
            for (table, file) in files {
                *invalid.entry(table).or_default() += invalid_in_month(table, file, &businesses)?;
            }
        }
        invalid.retain(|_, rows| *rows > 0);
        Ok(invalid)
    }

    /// The businesses of a month, ascending.
    fn businesses_of(&self, month: Month) -> Result<Vec<i64>, LakeError> {
        let mut ids = Vec::new();
        for filings in self.of_table(Table::Filings.name()) {
            if month_in(&filings.entry.path) == Some(month) {
                ids.extend(business_ids(&filings.path)?);
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }
}

/// Number of rows of files whose key is in another row of them.
fn repeated_keys(table: Table, files: &[&StagedFile]) -> Result<u64, LakeError> {
    let mut seen = SeenKeys::default();
    for file in files {
        seen.add(table, &read_batch(&file.path, Some(table.key()))?)?;
    }
    Ok(seen.count_repeated() as u64)
}

/// Number of rows of a month's file whose key is in another row of it, or whose business is none of the month's.
fn invalid_in_month(table: Table, file: &StagedFile, businesses: &[i64]) -> Result<u64, LakeError> {
    let rows = read_batch(&file.path, Some(table.key()))?;
    // A file is in the order of its table, so equal keys are neighbours.
    let keys = partition(rows.columns()).map_err(LakeError::arrow("compare rows"))?.len();
    let of_rows = FilingColumns::new(&rows).business_id()?.values();
    let strays = of_rows.iter().filter(|id| businesses.binary_search(id).is_err()).count();
    Ok((rows.num_rows() - keys + strays) as u64)
}

/// Number of businesses that are in the new months twice, or in a new and a kept month.
fn repeated_ids(new: &[&StagedFile], kept: &[&StagedFile]) -> Result<u64, LakeError> {
    let rows: u64 = new.iter().map(|file| file.entry.rows).sum();
    let mut ids = Vec::with_capacity(usize::try_from(rows).unwrap_or(0));
    for file in new {
        ids.extend(business_ids(&file.path)?);
    }
    ids.sort_unstable();
    let mut invalid = ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
    for file in kept {
        invalid += ids_in_part(&file.path, &ids)?.len();
    }
    Ok(invalid as u64)
}
