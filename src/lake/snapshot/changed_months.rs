//! What differs between a snapshot being made and its parent: only that is read by the checks before publishing.

use super::diff::differing_files;
use super::staging::Staging;
use crate::lake::data_file::{business_ids, ids_in_part, read_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Month, month_in};
use crate::lake::format::manifest::{FileEntry, StagedFile};
use crate::lake::merge::row_key::SeenKeys;
use crate::table::Table;
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
    pub fn odd_keys(&self) -> Result<BTreeMap<Table, u64>, LakeError> {
        let mut odd = BTreeMap::new();
        for table in Table::ALL {
            let (new, kept): (Vec<_>, Vec<_>) =
                self.of_table(table.name()).iter().partition(|file| file.is_new);
            if new.is_empty() {
                continue;
            }
            let months: Option<Vec<Month>> = new.iter().map(|file| month_in(&file.entry.path)).collect();
            let rows = match (table, months) {
                (Table::Filings, _) => odd_ids(&new, &kept)?,
                (_, Some(months)) => {
                    let odd =
                        new.iter().zip(months).map(|(file, month)| self.odd_in_month(table, file, month));
                    odd.sum::<Result<u64, LakeError>>()?
                }
                (_, None) => {
                    let mut seen = SeenKeys::default();
                    for file in new {
                        seen.add(table, &read_part(&file.path, Some(table.key()))?)?;
                    }
                    seen.count_repeated() as u64
                }
            };
            if rows > 0 {
                odd.insert(table, rows);
            }
        }
        Ok(odd)
    }

    /// Number of rows of a month's file whose key is in another row of it, or whose business is in another month.
    fn odd_in_month(&self, table: Table, file: &StagedFile, month: Month) -> Result<u64, LakeError> {
        let mut seen = SeenKeys::default();
        seen.add(table, &read_part(&file.path, Some(table.key()))?)?;
        let mut ids = business_ids(&file.path)?;
        ids.sort_unstable();
        let filings = self.of_table(Table::Filings.name()).iter();
        let mut of_month = Vec::new();
        for filings in filings.filter(|filings| month_in(&filings.entry.path) == Some(month)) {
            of_month.extend(ids_in_part(&filings.path, &ids)?);
        }
        of_month.sort_unstable();
        let strays = ids.iter().filter(|id| of_month.binary_search(id).is_err()).count();
        Ok((seen.count_repeated() + strays) as u64)
    }
}

/// Number of businesses that are in the new months twice, or in a new and a kept month.
fn odd_ids(new: &[&StagedFile], kept: &[&StagedFile]) -> Result<u64, LakeError> {
    let rows: u64 = new.iter().map(|file| file.entry.rows).sum();
    let mut ids = Vec::with_capacity(usize::try_from(rows).unwrap_or(0));
    for file in new {
        ids.extend(business_ids(&file.path)?);
    }
    ids.sort_unstable();
    let mut odd = ids.windows(2).filter(|pair| pair[0] == pair[1]).count();
    for file in kept {
        odd += ids_in_part(&file.path, &ids)?.len();
    }
    Ok(odd as u64)
}
