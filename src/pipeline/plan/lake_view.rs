//! What the newest snapshot has of each day: coverage, and the listed rows.

use super::stale_days::KnownDay;
use crate::contract::eastern::{day_of_epoch, days_newest_first};
use crate::contract::listing::Listing;
use crate::extract::query::row::{Interner, SeenRow};
use crate::lake::{Commit, Lake, Month, Staging};
use crate::pipeline::error::Result;
use crate::table::{CoverageRow, FilingColumns, Row, Table, read_rows, read_table};
use arrow_array::RecordBatch;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Coverage of a snapshot by listing label and day.
pub(crate) type Coverage = BTreeMap<String, BTreeMap<Date, KnownDay>>;

/// Coverage rows as the coverage of a snapshot.
pub(crate) fn by_listing(rows: Vec<CoverageRow>) -> Coverage {
    let mut coverage = Coverage::new();
    for row in rows {
        let known = KnownDay::of(&row);
        coverage.entry(row.entity_type).or_default().insert(row.filed_date, known);
    }
    coverage
}

/// Rows of the coverage table of a snapshot.
pub(crate) fn coverage_rows(lake: &Lake, commit: Option<&Commit>) -> Result<Vec<CoverageRow>> {
    match commit {
        Some(commit) => rows_of(lake.open_snapshot(commit).files(Table::Coverage.name())?),
        None => Ok(Vec::new()),
    }
}

/// All rows of a table that is not by month, as the next snapshot has them so far.
pub(crate) fn staged_rows<R: Row>(staging: &Staging) -> Result<Vec<R>> {
    rows_of(staging.sound_table(R::TABLE)?)
}

/// All rows of some files of a table.
pub(crate) fn rows_of<R: Row>(files: Vec<PathBuf>) -> Result<Vec<R>> {
    let mut rows = Vec::new();
    for file in files {
        rows.extend(read_rows(&file)?);
    }
    Ok(rows)
}

/// Rows that the newest snapshot has of one listing.
pub(crate) struct KnownRows {
    files: Vec<PathBuf>,
    listing: Listing,
    interner: Interner,
}

/// Columns that extraction compares.
const COMPARED: [&str; 9] = [
    "business_id",
    "filed_date",
    "entity_type",
    "listed",
    "industry_sector",
    "industry_type",
    "zip",
    "city",
    "name",
];

impl KnownRows {
    /// `files` are those of the filings.
    pub(crate) fn new(files: Vec<PathBuf>, listing: Listing) -> Self {
        Self { files, listing, interner: Interner::default() }
    }

    /// Rows listed on the days `from` to `to`.
    pub(crate) fn between(&mut self, from: Date, to: Date) -> Result<Vec<SeenRow>> {
        let months: BTreeSet<Month> = days_newest_first(from, to).filter_map(Month::of).collect();
        let of_months = |file: &&PathBuf| {
            let mut folders = file.components().filter_map(|part| part.as_os_str().to_str());
            folders.any(|folder| Month::from_folder(folder).is_some_and(|month| months.contains(&month)))
        };
        let files: Vec<PathBuf> = self.files.iter().filter(of_months).cloned().collect();
        let mut rows = Vec::new();
        for file in files {
            for batch in read_table(Table::Filings, &file, Some(&COMPARED))? {
                self.add_listed(&batch?, from, to, &mut rows)?;
            }
        }
        Ok(rows)
    }

    fn add_listed(
        &mut self,
        batch: &RecordBatch,
        from: Date,
        to: Date,
        rows: &mut Vec<SeenRow>,
    ) -> Result<()> {
        let columns = FilingColumns::new(batch);
        let (ids, dates, listed) = (columns.business_id()?, columns.filed_date()?, columns.listed()?);
        let (kinds, sectors) = (columns.entity_type()?, columns.industry_sector()?);
        let (types, zips) = (columns.industry_type()?, columns.zip()?);
        let (cities, names) = (columns.city()?, columns.name()?);
        for row in 0..columns.rows() {
            let day = day_of_epoch(dates.value(row)).filter(|day| from <= *day && *day <= to);
            let Some(filed_date) = day else { continue };
            if listed.value(row) && self.listing.holds(kinds.value(row)) {
                rows.push(SeenRow {
                    id: ids.value(row),
                    filed_date,
                    entity_type: self.interner.share(kinds.value(row)),
                    sector: self.interner.share(sectors.value(row)),
                    industry_type: self.interner.share(types.value(row)),
                    zip: self.interner.share(zips.value(row)),
                    city: self.interner.share(cities.value(row)),
                    name_prefix: self.interner.share_prefix(names.value(row)),
                });
            }
        }
        Ok(())
    }
}
