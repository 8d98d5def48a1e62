//! Existing and observed filings of one month → the month's new rows and its changes. Pure.

use super::change_log::Changes;
use super::known_before::KnownBefore;
use super::row_key::value_text;
use crate::contract::reference::EntityType;
use crate::lake::data_file::column;
use crate::lake::error::LakeError;
use crate::lake::snapshot::staging::TableDelta;
use crate::table::{Change, FilingColumns};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow_ord::ord::{DynComparator, make_comparator};
use arrow_schema::SortOptions;
use arrow_select::interleave::interleave_record_batch;
use hashbrown::HashMap;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Columns that describe the observation, not the business.
const OBSERVATION: [&str; 3] = ["listed", "first_seen_at", "changed_at"];
/// Columns made from other columns: they differ only with those, or when the program makes them otherwise.
const DERIVED: [&str; 2] = ["city_clean", "county_key"];

/// What a merge knows about the listings that were read.
pub(super) struct Listings {
    /// Listings that were read completely: Date32 day, and whether of fictitious names.
    pub(super) complete: BTreeSet<(i32, bool)>,
    /// Businesses that were missing from a listing: its Date32 day, and whether of fictitious names.
    pub(super) gone: BTreeMap<i64, (i32, bool)>,
    /// When the run observed the listings, in microseconds.
    pub(super) observed_at: i64,
    /// What the lake knew of businesses that it has no more.
    pub(super) known_before: KnownBefore,
}

/// Whether a business of this Date32 day and type that the lake did not have is news.
pub(super) type IsNews<'a> = dyn Fn(i32, &str) -> bool + 'a;

/// Merges one month: `existing` rows of the lake, less those of businesses that were observed in another month, and the
/// newest observation of each business. Returns the rows, unsorted, with the businesses by what happened to them, and adds what changed to `changes`.
pub(super) fn merge_month(
    existing: &RecordBatch,
    observed: &RecordBatch,
    listings: &Listings,
    is_news: &IsNews<'_>,
    changes: &mut Changes,
) -> Result<(RecordBatch, TableDelta), LakeError> {
    let sides = Sides::of(existing, observed, listings)?;
    let mut merged = Merged::default();
    let mut is_known = vec![false; observed.num_rows()];
    for row in 0..existing.num_rows() {
        match sides.by_id.get(&sides.old.ids[row]) {
            Some(&seen) => {
                is_known[seen] = true;
                merged.merge_observed(&sides, row, seen, changes)?;
            }
            None => merged.merge_absent(&sides.old, row, listings, changes),
        }
    }
    for row in (0..is_known.len()).filter(|row| !is_known[*row] && !sides.new.is_gone(*row, listings)) {
        let is_news = is_news(sides.new.days[row], sides.new.types.value(row));
        merged.add(&sides.new, row, listings, is_news, changes);
    }
    let counts = std::mem::take(&mut merged.counts);
    Ok((merged.into_rows(existing, observed)?, counts))
}

/// The columns of one side that decide the merge.
struct Side<'a> {
    ids: &'a [i64],
    days: &'a [i32],
    types: &'a StringArray,
    listed: &'a BooleanArray,
    first_seen: &'a [i64],
    changed: &'a [i64],
}

impl<'a> Side<'a> {
    fn of(rows: &'a RecordBatch) -> Result<Self, LakeError> {
        let filings = FilingColumns::new(rows);
        Ok(Self {
            ids: filings.business_id()?.values(),
            days: filings.filed_date()?.values(),
            types: filings.entity_type()?,
            listed: filings.listed()?,
            first_seen: filings.first_seen_at()?.values(),
            changed: filings.changed_at()?.values(),
        })
    }

    /// Date32 day and whether of fictitious names: the listing of a row.
    fn listing(&self, row: usize) -> (i32, bool) {
        (self.days[row], self.types.value(row) == EntityType::Fictitious.key())
    }

    /// Whether an observed row left its listing later in the same run.
    fn is_gone(&self, row: usize, listings: &Listings) -> bool {
        listings.gone.get(&self.ids[row]) == Some(&self.listing(row))
    }
}

/// A column that describes the business, compared between the sides.
struct DataColumn<'a> {
    name: &'a str,
    old: &'a ArrayRef,
    new: &'a ArrayRef,
    compare: DynComparator,
}

struct Sides<'a> {
    old: Side<'a>,
    new: Side<'a>,
    data: Vec<DataColumn<'a>>,
    by_id: HashMap<i64, usize>,
}

impl<'a> Sides<'a> {
    fn of(
        existing: &'a RecordBatch,
        observed: &'a RecordBatch,
        listings: &Listings,
    ) -> Result<Self, LakeError> {
        let new = Side::of(observed)?;
        let rows = (0..observed.num_rows()).filter(|row| !new.is_gone(*row, listings));
        let by_id = rows.map(|row| (new.ids[row], row)).collect();
        let mut data = Vec::new();
        let names = existing.schema_ref().fields().iter().map(|field| field.name().as_str());
        for name in names.filter(|name| !OBSERVATION.contains(name) && !DERIVED.contains(name)) {
            let (old, new) = (column(existing, name)?, column(observed, name)?);
            let compare = make_comparator(old, new, SortOptions::default());
            data.push(DataColumn {
                name,
                old,
                new,
                compare: compare.map_err(LakeError::arrow("compare rows"))?,
            });
        }
        Ok(Self { old: Side::of(existing)?, new, data, by_id })
    }
}

/// The side and row that each row of the result comes from, and its [`OBSERVATION`] columns.
#[derive(Default)]
struct Merged {
    picks: Vec<(usize, usize)>,
    listed: Vec<bool>,
    first_seen: Vec<i64>,
    changed: Vec<i64>,
    counts: TableDelta,
}

const OLD: usize = 0;
const NEW: usize = 1;

impl Merged {
    fn push(&mut self, pick: (usize, usize), listed: bool, first_seen: i64, changed: i64) {
        self.picks.push(pick);
        self.listed.push(listed);
        self.first_seen.push(first_seen);
        self.changed.push(changed);
    }

    fn keep(&mut self, old: &Side<'_>, row: usize, listed: bool) {
        self.push((OLD, row), listed, old.first_seen[row], old.changed[row]);
    }

    /// Merges a known business that was observed. An observation older than the lake's record changes nothing.
    fn merge_observed(
        &mut self,
        sides: &Sides<'_>,
        row: usize,
        seen: usize,
        changes: &mut Changes,
    ) -> Result<(), LakeError> {
        let (business_id, seen_at) = (sides.old.ids[row], sides.new.changed[seen]);
        if seen_at < sides.old.changed[row] {
            self.keep(&sides.old, row, sides.old.listed.value(row));
            return Ok(());
        }
        let before = changes.len();
        for field in sides.data.iter().filter(|field| (field.compare)(row, seen) != Ordering::Equal) {
            let (old, new) = (value_text(field.old, row)?, value_text(field.new, seen)?);
            changes.push_field(business_id, Change::Changed, field.name, old, new);
        }
        let (was_listed, is_listed) = (sides.old.listed.value(row), sides.new.listed.value(seen));
        let is_changed = changes.len() > before;
        self.counts.changed += u64::from(is_changed || (was_listed && !is_listed));
        if is_listed && !was_listed {
            changes.push(business_id, Change::Returned);
            self.counts.returned += 1;
        }
        let changed = if is_changed { seen_at } else { sides.old.changed[row] };
        self.push((NEW, seen), is_listed, sides.old.first_seen[row], changed);
        Ok(())
    }

    /// Merges a known business that was not observed: it vanished if its listing was read completely since it last
    /// changed.
    fn merge_absent(&mut self, old: &Side<'_>, row: usize, listings: &Listings, changes: &mut Changes) {
        let vanished = old.listed.value(row)
            && old.changed[row] <= listings.observed_at
            && (listings.complete.contains(&old.listing(row)) || listings.gone.contains_key(&old.ids[row]));
        if vanished {
            changes.push(old.ids[row], Change::Vanished);
            self.counts.vanished += 1;
        }
        self.keep(old, row, old.listed.value(row) && !vanished);
    }

    /// Adds a business that the lake does not have; `is_news` if it was not there before and no day was read late.
    fn add(
        &mut self,
        new: &Side<'_>,
        seen: usize,
        listings: &Listings,
        is_news: bool,
        changes: &mut Changes,
    ) {
        let (id, observed, is_listed) = (new.ids[seen], new.changed[seen], new.listed.value(seen));
        let (day, is_fictitious) = new.listing(seen);
        let past = listings.known_before.of_business(id, day, is_fictitious);
        if past.is_some_and(|past| past.was_gone) && is_listed {
            changes.push(id, Change::Returned);
            self.counts.returned += 1;
        } else if past.is_none() && is_news {
            changes.push(id, Change::Appeared);
        }
        self.counts.added += 1;
        let first_seen = past.map_or(observed, |past| past.first_seen.min(observed));
        self.push((NEW, seen), is_listed, first_seen, observed);
    }

    fn into_rows(self, existing: &RecordBatch, observed: &RecordBatch) -> Result<RecordBatch, LakeError> {
        let failed = || LakeError::arrow("merge rows");
        let is_all_new = self.picks.iter().copied().eq((0..observed.num_rows()).map(|row| (NEW, row)));
        let rows = if is_all_new {
            observed.clone()
        } else {
            interleave_record_batch(&[existing, observed], &self.picks).map_err(failed())?
        };
        let instants = |micros: Vec<i64>| -> ArrayRef {
            Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC"))
        };
        let observation: [ArrayRef; 3] =
            [Arc::new(BooleanArray::from(self.listed)), instants(self.first_seen), instants(self.changed)];
        let mut columns = rows.columns().to_vec();
        for (name, values) in OBSERVATION.iter().zip(observation) {
            columns[rows.schema_ref().index_of(name).map_err(failed())?] = values;
        }
        RecordBatch::try_new(rows.schema(), columns).map_err(failed())
    }
}
