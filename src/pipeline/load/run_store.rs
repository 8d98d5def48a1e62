//! The known rows of a listing, for extraction: those of the lake, as corrected by what this run has read.

use super::landing::Landing;
use crate::contract::listing::Listing;
use crate::extract::error::StoreError;
use crate::extract::listing::{ListingStore, Reading};
use crate::extract::query::row::{Interner, SeenRow};
use crate::pipeline::error::Result;
use crate::pipeline::plan::lake_view::KnownRows;
use crate::pipeline::progress::Progress;
use crate::pipeline::state::provenance::{JournalReading, key_of};
use crate::table::FilingRow;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Rows known before days are read.
pub(crate) enum Known {
    /// Of days that this run has not read yet.
    Lake(KnownRows),
    /// Of days that it has read.
    Gathered(BTreeMap<Date, Vec<SeenRow>>),
}

/// Where the readings of a listing land.
pub(crate) struct RunStore<'l> {
    pub(crate) landing: &'l mut Landing,
    pub(crate) known: Known,
    pub(crate) now: fn() -> Timestamp,
    pub(crate) progress: Progress,
}

impl ListingStore for RunStore<'_> {
    fn known(&mut self, from: Date, to: Date) -> Result<Vec<SeenRow>, StoreError> {
        match &mut self.known {
            Known::Lake(rows) => Ok(rows.between(from, to)?),
            Known::Gathered(rows) => {
                Ok(rows.range_mut(from..=to).flat_map(|(_, rows)| std::mem::take(rows)).collect())
            }
        }
    }

    fn land(&mut self, mut reading: Reading) -> Result<(), StoreError> {
        self.add_unseen(&mut reading)?;
        self.landing.land(reading, (self.now)())?;
        self.progress.note_days(&self.landing.coverage.days);
        Ok(())
    }

    fn mark_incomplete(&mut self, label: &'static str, totals: &BTreeMap<Date, u64>) {
        self.landing.mark_incomplete(label, totals, (self.now)());
    }
}

impl RunStore<'_> {
    /// Adds the rows of a single type that the lake lists on days read from the first row to the last, and that were not among these.
    /// Of all types together such rows are found when the rows are merged.
    fn add_unseen(&mut self, reading: &mut Reading) -> Result<()> {
        let is_of_all = Listing::EVERY_TYPE.iter().any(|listing| listing.label() == reading.label);
        let Known::Lake(lake) = &mut self.known else { return Ok(()) };
        let whole = reading.days.iter().filter(|day| !is_of_all && day.whole && day.complete);
        let whole: BTreeSet<Date> = whole.map(|day| day.day).collect();
        let (Some(oldest), Some(newest)) = (whole.first(), whole.last()) else { return Ok(()) };
        let is_unseen = |row: &SeenRow| {
            whole.contains(&row.filed_date) && reading.rows.get(&row.id) != Some(&row.filed_date)
        };
        let unseen = lake.between(*oldest, *newest)?.into_iter().filter(is_unseen);
        reading.gone.extend(unseen.map(|row| (row.id, row.filed_date)));
        Ok(())
    }
}

/// The rows of some days of a listing, in one pass: those of the lake, then those of each reading of this run, in order.
pub(crate) fn gather(
    landing: &Landing,
    lake: &mut KnownRows,
    label: &str,
    days: &BTreeSet<Date>,
) -> Result<BTreeMap<Date, Vec<SeenRow>>> {
    let mut interner = Interner::default();
    let mut rows: BTreeMap<i64, SeenRow> = BTreeMap::new();
    let (Some(oldest), Some(newest)) = (days.first(), days.last()) else { return Ok(BTreeMap::new()) };
    let of_lake = lake.between(*oldest, *newest)?.into_iter().filter(|row| days.contains(&row.filed_date));
    rows.extend(of_lake.map(|row| (row.id, row)));
    for entry in landing.journal.readings().filter(|entry| entry.label == label) {
        replace(&mut rows, &mut interner, landing, entry, days)?;
    }
    let mut by_day: BTreeMap<Date, Vec<SeenRow>> = BTreeMap::new();
    rows.into_values().for_each(|row| by_day.entry(row.filed_date).or_default().push(row));
    Ok(by_day)
}

/// Replaces rows by those of a reading, on the days that it left complete.
fn replace(
    rows: &mut BTreeMap<i64, SeenRow>,
    interner: &mut Interner,
    landing: &Landing,
    entry: &JournalReading,
    days: &BTreeSet<Date>,
) -> Result<()> {
    let complete = entry.days.iter().map(|day| day.reading).filter(|day| day.complete);
    let read: BTreeMap<Date, bool> =
        complete.filter(|day| days.contains(&day.day)).map(|day| (day.day, day.whole)).collect();
    if read.is_empty() {
        return Ok(());
    }
    let is_whole = |day: &Date| read.get(day).copied().unwrap_or(false);
    rows.retain(|id, row| !entry.gone.contains_key(id) && !is_whole(&row.filed_date));
    for key in entry.pages.iter().map(key_of) {
        for row in landing.normalized(&key)?.rows {
            let day = row.filed_date;
            if read.contains_key(&day) && !entry.skipped.contains(&(row.business_id, day)) {
                rows.insert(row.business_id, seen_row(interner, &row));
            }
        }
    }
    Ok(())
}

fn seen_row(interner: &mut Interner, row: &FilingRow) -> SeenRow {
    SeenRow {
        id: row.business_id,
        filed_date: row.filed_date,
        entity_type: interner.share(&row.entity_type),
        sector: interner.share(&row.industry_sector),
        industry_type: interner.share(&row.industry_type),
        zip: interner.share(&row.zip),
        city: interner.share(&row.city),
        name_prefix: interner.share_prefix(&row.name),
    }
}
