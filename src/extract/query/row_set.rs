//! The rows of one listing, countable under any filter.

use super::row::SeenRow;
use super::slice::Slice;
use hashbrown::{HashMap, HashSet};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::Excluded;

/// The rows of one listing, each once: those that the API listed, and those of the lake that are not known to be removed.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    rows: HashMap<i64, SeenRow>,
    by_day: BTreeMap<Date, BTreeSet<i64>>,
    /// Ids of the lake, and whether the API has listed them in this reading.
    from_lake: HashMap<i64, bool>,
}

impl Seen {
    /// An empty set with room for as many rows as this one has.
    pub(crate) fn with_room(&self) -> Self {
        Self { rows: HashMap::with_capacity(self.rows.len()), ..Self::default() }
    }

    /// Adds a row that the API listed; replaces an earlier copy.
    pub(crate) fn insert(&mut self, row: SeenRow) {
        if let Some(shown) = self.from_lake.get_mut(&row.id) {
            *shown = true;
        }
        self.put(row);
    }

    /// Adds a row of the lake, unless the API has listed it.
    pub(crate) fn insert_known(&mut self, row: SeenRow) {
        if !self.rows.contains_key(&row.id) {
            self.from_lake.insert(row.id, false);
            self.put(row);
        }
    }

    /// Marks the rows of the lake as not listed in this reading: a page without changes is not stored.
    pub(crate) fn forget_shown(&mut self) {
        self.from_lake.values_mut().for_each(|shown| *shown = false);
    }

    pub(crate) fn is_from_lake(&self, id: i64) -> bool {
        self.from_lake.contains_key(&id)
    }

    /// Removes a day's rows between two ids, both exclusive, that are not in `shown`. Returns the removed rows of the lake.
    pub(crate) fn drop_between(
        &mut self,
        cell: &Slice,
        oldest: i64,
        newest: i64,
        shown: &[i64],
    ) -> Vec<SeenRow> {
        let shown: HashSet<i64> = shown.iter().copied().collect();
        let absent: Vec<i64> = self.ids(cell, oldest, newest).filter(|id| !shown.contains(id)).collect();
        let mut dropped = Vec::new();
        for id in absent {
            dropped.extend(self.rows.remove(&id).filter(|row| self.from_lake.contains_key(&row.id)));
            if let Some(ids) = self.by_day.get_mut(&cell.to) {
                ids.remove(&id);
            }
        }
        dropped
    }

    /// Ids of one day's query between two ids, both exclusive, newest first.
    pub(crate) fn ids<'s>(
        &'s self,
        cell: &'s Slice,
        oldest: i64,
        newest: i64,
    ) -> impl Iterator<Item = i64> + 's {
        let between = self.by_day.get(&cell.to).filter(|_| oldest < newest);
        let ids = between.into_iter().flat_map(move |ids| ids.range((Excluded(oldest), Excluded(newest))));
        ids.rev().copied().filter(|id| self.rows.get(id).is_some_and(|row| cell.matches(row)))
    }

    /// Ids of a day that the API listed.
    pub(crate) fn shown_on(&self, day: Date) -> impl Iterator<Item = i64> + '_ {
        let ids = self.by_day.get(&day).into_iter().flatten().copied();
        ids.filter(|id| self.from_lake.get(id).copied().unwrap_or(true))
    }

    /// Adds a row in its current form; replaces an earlier copy.
    pub(crate) fn put(&mut self, row: SeenRow) {
        let (id, day) = (row.id, row.filed_date);
        if let Some(before) = self.rows.insert(id, row)
            && before.filed_date != day
            && let Some(ids) = self.by_day.get_mut(&before.filed_date)
        {
            ids.remove(&id);
        }
        self.by_day.entry(day).or_default().insert(id);
    }

    /// Removes all rows of a day, before it is read again.
    pub(crate) fn forget(&mut self, day: Date) {
        for id in self.by_day.remove(&day).unwrap_or_default() {
            self.rows.remove(&id);
            self.from_lake.remove(&id);
        }
    }

    /// Distinct rows of the days `from` to `to`.
    pub(crate) fn count_between(&self, from: Date, to: Date) -> u64 {
        self.by_day.range(from..=to).map(|(_, ids)| ids.len() as u64).sum()
    }

    pub(crate) fn count_on(&self, day: Date) -> u64 {
        self.count_between(day, day)
    }

    pub(crate) fn count(&self, slice: &Slice) -> u64 {
        if slice.filter == Default::default() {
            return self.count_between(slice.from, slice.to);
        }
        self.rows_in(slice).count() as u64
    }

    pub(crate) fn row(&self, id: i64) -> Option<&SeenRow> {
        self.rows.get(&id)
    }

    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &SeenRow> {
        self.rows.values()
    }

    /// The rows of a slice.
    pub(crate) fn rows_in<'s>(&'s self, slice: &'s Slice) -> impl Iterator<Item = &'s SeenRow> {
        self.rows_of(slice.from, slice.to).filter(|row| slice.matches(row))
    }

    pub(crate) fn rows_of(&self, from: Date, to: Date) -> impl Iterator<Item = &SeenRow> {
        self.by_day.range(from..=to).flat_map(|(_, ids)| ids.iter().filter_map(|id| self.rows.get(id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::query::row::Interner;
    use jiff::civil::date;
    use serde_json::value::RawValue;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn record_without_id_or_date_counts_once_on_the_day_before_it() {
        let mut interner = Interner::default();
        let record = raw(r#"{"id": null, "filed_date": 7, "name": "ab"}"#);
        let row = interner.read(&record, date(2026, 7, 3));
        assert!(row.id < 0);
        assert_eq!(row.filed_date, date(2026, 7, 3));
        let mut seen = Seen::default();
        seen.insert(row.clone());
        seen.insert(interner.read(&record, date(2026, 7, 3)));
        assert_eq!(seen.count_on(date(2026, 7, 3)), 1);
    }

    #[test]
    fn row_of_the_lake_is_gone_only_where_pages_skip_it() {
        let day = date(2026, 7, 3);
        let cell = Slice { filter: Default::default(), from: day, to: day };
        let mut interner = Interner::default();
        let mut row = |id: i64| interner.read(&raw(&format!(r#"{{"id":"{id}","filed_date":"{day}"}}"#)), day);
        let mut seen = Seen::default();
        (1..=5).for_each(|id| seen.insert_known(row(id)));
        seen.insert(row(5));
        seen.insert(row(2));
        seen.insert(row(6));
        let gone = seen.drop_between(&cell, 2, 5, &[5, 2]);
        assert_eq!(gone.iter().map(|row| row.id).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(seen.ids(&cell, i64::MIN, i64::MAX).collect::<Vec<_>>(), [6, 5, 2, 1]);
        assert_eq!(seen.shown_on(day).collect::<Vec<_>>(), [2, 5, 6]);
        assert_eq!(seen.ids(&cell, 5, 5).count(), 0);
        seen.insert(row(4));
        assert!(seen.row(4).is_some() && seen.row(3).is_none(), "it is listed again");
    }

    #[test]
    fn row_with_a_new_day_is_counted_on_that_day_only() {
        let mut interner = Interner::default();
        let mut seen = Seen::default();
        for day in ["2026-07-03", "2026-07-04"] {
            let record = raw(&format!(r#"{{"id":"7","filed_date":"{day}"}}"#));
            seen.insert(interner.read(&record, date(2026, 1, 1)));
        }
        assert_eq!((seen.count_on(date(2026, 7, 3)), seen.count_on(date(2026, 7, 4))), (0, 1));
    }
}
