//! Existing and observed filings of one month → the month's new rows, and what changed. Pure.

use super::change_log::Changes;
use super::spill::micros;
use crate::lake::data_file::{column, int64, wrong_type};
use crate::lake::error::LakeError;
use crate::table::Change;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, DynComparator, TimestampMicrosecondArray, make_comparator,
};
use arrow::compute::{SortOptions, interleave_record_batch};
use arrow::datatypes::Date32Type;
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use jiff::civil::Date;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Columns that tell about observing, not about the business.
const OBSERVING: [&str; 3] = ["listed", "first_seen_at", "last_seen_at"];

/// What a month is merged from.
pub(crate) struct MonthInput<'a> {
    /// The rows of the lake, whose business was not observed in another month.
    pub(crate) existing: &'a RecordBatch,
    /// The newest observation of each business in this month.
    pub(crate) observed: &'a RecordBatch,
    /// Listings that were read to their proven end: Date32 day, and whether of fictitious names.
    pub(crate) complete: &'a BTreeSet<(i32, bool)>,
    /// Businesses found missing where their listing was not read to its end.
    pub(crate) gone: &'a BTreeMap<i64, Date>,
    /// When the run saw this, microseconds.
    pub(crate) observed_at: i64,
    /// Whether a business not known before is news.
    pub(crate) has_news: bool,
}

/// How many businesses of a month were found how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) vanished: u64,
    pub(crate) returned: u64,
}

/// The month after the merge, unsorted.
pub(crate) struct MonthMerge {
    pub(crate) rows: RecordBatch,
    pub(crate) counts: Counts,
}

/// Merges one month and notes its changes.
pub(crate) fn merge_month(input: &MonthInput<'_>, changes: &mut Changes) -> Result<MonthMerge, LakeError> {
    let sides = Sides::of(input)?;
    let mut merged = Merged::default();
    let mut is_known = vec![false; input.observed.num_rows()];
    for row in 0..input.existing.num_rows() {
        match sides.by_id.get(&sides.old.ids[row]) {
            Some(&seen) => {
                is_known[seen] = true;
                merged.meet(&sides, row, seen, changes)?;
            }
            None => merged.miss(&sides, row, input, changes),
        }
    }
    for row in (0..is_known.len()).filter(|row| !is_known[*row]) {
        merged.add(&sides, row, input.has_news, changes);
    }
    Ok(MonthMerge { counts: merged.counts, rows: merged.into_rows(input)? })
}

/// One side's columns, ready for use.
struct Side<'a> {
    ids: &'a [i64],
    days: &'a [i32],
    types: &'a arrow::array::StringArray,
    listed: &'a BooleanArray,
    first_seen: &'a [i64],
    last_seen: &'a [i64],
}

impl<'a> Side<'a> {
    fn of(rows: &'a RecordBatch) -> Result<Self, LakeError> {
        let days = column(rows, "filed_date")?;
        let types = column(rows, "entity_type")?;
        let listed = column(rows, "listed")?;
        Ok(Self {
            ids: int64(rows, "business_id")?.values(),
            days: days
                .as_primitive_opt::<Date32Type>()
                .ok_or_else(|| wrong_type("filed_date", days.data_type()))?
                .values(),
            types: types
                .as_string_opt::<i32>()
                .ok_or_else(|| wrong_type("entity_type", types.data_type()))?,
            listed: listed.as_boolean_opt().ok_or_else(|| wrong_type("listed", listed.data_type()))?,
            first_seen: micros(rows, "first_seen_at")?,
            last_seen: micros(rows, "last_seen_at")?,
        })
    }
}

/// A column that says something about the business, compared between the sides.
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
    fn of(input: &MonthInput<'a>) -> Result<Self, LakeError> {
        let new = Side::of(input.observed)?;
        let by_id = new.ids.iter().enumerate().map(|(row, id)| (*id, row)).collect();
        let fields = input.existing.schema_ref().fields();
        let mut data = Vec::new();
        for (at, field) in
            fields.iter().enumerate().filter(|(_, field)| !OBSERVING.contains(&field.name().as_str()))
        {
            let (old, new) = (&input.existing.columns()[at], column(input.observed, field.name())?);
            let compare = make_comparator(old, new, SortOptions::default());
            let compare = compare.map_err(LakeError::arrow("compare rows"))?;
            data.push(DataColumn { name: name_in(input.existing, at), old, new, compare });
        }
        Ok(Self { old: Side::of(input.existing)?, new, data, by_id })
    }
}

fn name_in(rows: &RecordBatch, at: usize) -> &str {
    rows.schema_ref().field(at).name()
}

/// Which row of which side makes each row of the result, and its observing columns.
#[derive(Default)]
struct Merged {
    picks: Vec<(usize, usize)>,
    listed: Vec<bool>,
    first_seen: Vec<i64>,
    last_seen: Vec<i64>,
    counts: Counts,
}

const OLD: usize = 0;
const NEW: usize = 1;

impl Merged {
    fn push(&mut self, pick: (usize, usize), listed: bool, first_seen: i64, last_seen: i64) {
        self.picks.push(pick);
        self.listed.push(listed);
        self.first_seen.push(first_seen);
        self.last_seen.push(last_seen);
    }

    fn keep(&mut self, sides: &Sides<'_>, row: usize, listed: bool) {
        self.push((OLD, row), listed, sides.old.first_seen[row], sides.old.last_seen[row]);
    }

    /// A known business was observed. An observation older than what the lake has says nothing.
    fn meet(
        &mut self,
        sides: &Sides<'_>,
        row: usize,
        seen: usize,
        changes: &mut Changes,
    ) -> Result<(), LakeError> {
        let (business_id, last_seen) = (sides.old.ids[row], sides.new.last_seen[seen]);
        if last_seen < sides.old.last_seen[row] {
            self.keep(sides, row, sides.old.listed.value(row));
            return Ok(());
        }
        let before = changes.len();
        for field in sides.data.iter().filter(|field| (field.compare)(row, seen) != Ordering::Equal) {
            let (old, new) = (text(field.old, row)?, text(field.new, seen)?);
            changes.push_changed(business_id, field.name, old, new);
        }
        let (was_listed, is_listed) = (sides.old.listed.value(row), sides.new.listed.value(seen));
        self.counts.changed += u64::from(changes.len() > before || (was_listed && !is_listed));
        if is_listed && !was_listed {
            changes.push(business_id, Change::Returned);
            self.counts.returned += 1;
        }
        self.push((NEW, seen), is_listed, sides.old.first_seen[row], last_seen);
        Ok(())
    }

    /// A known business was not observed: it vanished if its listing was read to the end since it was last seen.
    fn miss(&mut self, sides: &Sides<'_>, row: usize, input: &MonthInput<'_>, changes: &mut Changes) {
        let old = &sides.old;
        let listing = (old.days[row], old.types.value(row) == "fictitious");
        let vanished = old.listed.value(row)
            && old.last_seen[row] <= input.observed_at
            && (input.complete.contains(&listing) || input.gone.contains_key(&old.ids[row]));
        if vanished {
            changes.push(old.ids[row], Change::Vanished);
            self.counts.vanished += 1;
        }
        self.keep(sides, row, old.listed.value(row) && !vanished);
    }

    /// A business not known before.
    fn add(&mut self, sides: &Sides<'_>, seen: usize, is_news: bool, changes: &mut Changes) {
        if is_news {
            changes.push(sides.new.ids[seen], Change::Appeared);
        }
        self.counts.added += 1;
        let last_seen = sides.new.last_seen[seen];
        self.push((NEW, seen), sides.new.listed.value(seen), last_seen, last_seen);
    }

    fn into_rows(self, input: &MonthInput<'_>) -> Result<RecordBatch, LakeError> {
        let rows = interleave_record_batch(&[input.existing, input.observed], &self.picks)
            .map_err(LakeError::arrow("merge rows"))?;
        let instants = |micros: Vec<i64>| -> ArrayRef {
            Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC"))
        };
        let observing: [ArrayRef; 3] =
            [Arc::new(BooleanArray::from(self.listed)), instants(self.first_seen), instants(self.last_seen)];
        let mut columns = rows.columns().to_vec();
        for (name, values) in OBSERVING.iter().zip(observing) {
            let at = rows.schema_ref().index_of(name).map_err(LakeError::arrow("merge rows"))?;
            columns[at] = values;
        }
        RecordBatch::try_new(rows.schema(), columns).map_err(LakeError::arrow("merge rows"))
    }
}

/// A value as text, as it stands in `changes`; none for null.
fn text(values: &ArrayRef, row: usize) -> Result<Option<String>, LakeError> {
    if values.is_null(row) {
        return Ok(None);
    }
    array_value_to_string(values, row).map(Some).map_err(LakeError::arrow("show a value"))
}
