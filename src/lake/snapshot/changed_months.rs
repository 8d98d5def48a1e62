//! A snapshot being made, as the checks before publishing look at it: only what differs from the parent is read.

use super::staging::Staging;
use crate::lake::data_file::{ids_in_part, int64, read_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Month, month_in};
use crate::lake::format::manifest::StagedFile;
use crate::lake::integrity::verify::SeenKeys;
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet};
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
    /// As [`Staging::files`], after a look whether the files kept from the parent are what its commit says.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn sound_files(&self) -> Result<BTreeMap<String, Vec<PathBuf>>, LakeError> {
        self.tables.values().flatten().try_for_each(|file| self.check_kept(file))?;
        Ok(self.files())
    }

    /// Files of one table as of now, after the same look.
    ///
    /// # Errors
    ///
    /// As [`Staging::sound_files`].
    pub fn sound_table(&self, table: Table) -> Result<Vec<PathBuf>, LakeError> {
        let files = self.of_table(table.name());
        files.iter().try_for_each(|file| self.check_kept(file))?;
        Ok(files.iter().map(|file| file.path.clone()).collect())
    }

    /// Months of filings whose files differ from the parent's.
    pub fn changed_months(&self) -> BTreeMap<Month, MonthFiles> {
        let parent = self.parent.as_ref();
        let old = parent.and_then(|parent| parent.tables.get(Table::Filings.name()));
        let old = old.map_or(&[][..], |manifest| &manifest.files);
        let new = self.of_table(Table::Filings.name());
        let old_digests: BTreeSet<&str> = old.iter().map(|entry| entry.blake3.as_str()).collect();
        let new_digests: BTreeSet<&str> = new.iter().map(|file| file.entry.blake3.as_str()).collect();
        let mut months: BTreeMap<Month, MonthFiles> = BTreeMap::new();
        for entry in old.iter().filter(|entry| !new_digests.contains(entry.blake3.as_str())) {
            if let (Some(month), Some(path)) = (month_in(&entry.path), self.parent_path(entry)) {
                months.entry(month).or_default().before.push(path);
            }
        }
        for file in new.iter().filter(|file| !old_digests.contains(file.entry.blake3.as_str())) {
            if let Some(month) = month_in(&file.entry.path) {
                months.entry(month).or_default().after.push(file.path.clone());
            }
        }
        months
    }

    /// Rows of new files whose key another row of the table has too, or that have none, by table; only tables that have
    /// some.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn odd_keys(&self) -> Result<BTreeMap<Table, u64>, LakeError> {
        let mut odd = BTreeMap::new();
        for table in Table::ALL {
            let (new, kept): (Vec<_>, Vec<_>) =
                self.of_table(table.name()).iter().partition(|file| file.is_new);
            if new.is_empty() {
                continue;
            }
            let rows = match table {
                Table::Filings => odd_ids(&new, &kept)?,
                _ => odd_rows(table, &new)?,
            };
            if rows > 0 {
                odd.insert(table, rows);
            }
        }
        Ok(odd)
    }
}

/// Businesses that stand in the new months twice, or in a new and a kept one.
fn odd_ids(new: &[&StagedFile], kept: &[&StagedFile]) -> Result<u64, LakeError> {
    let mut ids = Vec::new();
    let mut nulls = 0;
    for file in new {
        let column = read_part(&file.path, Some(&["business_id"]))?;
        let column = int64(&column, "business_id")?;
        nulls += arrow::array::Array::null_count(column);
        ids.extend_from_slice(column.values());
    }
    ids.sort_unstable();
    let mut odd = nulls + ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
    for file in kept {
        odd += ids_in_part(&file.path, &ids)?.len();
    }
    Ok(odd as u64)
}

fn odd_rows(table: Table, new: &[&StagedFile]) -> Result<u64, LakeError> {
    let mut seen = SeenKeys::default();
    let mut nulls = 0;
    for file in new {
        let rows = read_part(&file.path, Some(table.key()))?;
        nulls += rows.columns().iter().map(|column| column.null_count()).sum::<usize>();
        seen.add(table, &rows)?;
    }
    Ok((nulls + seen.count_repeated()) as u64)
}
