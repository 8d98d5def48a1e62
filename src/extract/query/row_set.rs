//! What extraction remembers of the rows it saw: enough to count them under any filter, and no more.

use super::slice::Slice;
use crate::contract::business::business_id;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound::Excluded;
use std::sync::Arc;

/// The parts of a row that a filter can ask for. Texts that repeat are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRow {
    /// The business; negative for a record whose id cannot be read, which is told apart by its text.
    pub id: i64,
    /// Filing date.
    pub filed_date: Date,
    /// Type key.
    pub entity_type: Arc<str>,
    /// Sector key.
    pub sector: Arc<str>,
    /// Industry type key.
    pub industry_type: Arc<str>,
    /// ZIP code as sent.
    pub zip: Arc<str>,
    /// City as sent.
    pub city: Arc<str>,
    /// First three characters of the name, upper case.
    pub name_start: Arc<str>,
}

/// Shares equal texts.
#[derive(Debug, Default)]
pub struct Interner(HashSet<Arc<str>>);

impl Interner {
    /// The one copy of a text.
    pub fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = Arc::from(text);
        self.0.insert(Arc::clone(&shared));
        shared
    }

    /// The one copy of the first three characters of a name, upper case.
    pub fn share_start(&mut self, name: &str) -> Arc<str> {
        let start: String = name.chars().flat_map(char::to_uppercase).take(3).collect();
        self.share(&start)
    }

    /// Reads what can be read of a record. A field that is missing or of another type reads as empty; a date that cannot
    /// be read is taken from the row before it, as a listing is ordered by date.
    pub fn read(&mut self, record: &RawValue, date_before: Date) -> SeenRow {
        let loose = Loose::read(record);
        let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).unwrap_or("").to_owned();
        let part = |name: &str| {
            loose
                .industry
                .as_ref()
                .and_then(|industry| industry.get(name))
                .and_then(Value::as_str)
                .unwrap_or("")
        };
        let id = business_id(&text(&loose.id)).unwrap_or_else(|| stand_in(record));
        let filed_date = text(&loose.filed_date).parse().unwrap_or(date_before);
        SeenRow {
            id,
            filed_date,
            entity_type: self.share(&text(&loose.entity_type)),
            sector: self.share(part("sector")),
            industry_type: self.share(part("type")),
            zip: self.share(&text(&loose.zip)),
            city: self.share(&text(&loose.city)),
            name_start: self.share_start(&text(&loose.name)),
        }
    }
}

/// A number for a record without a readable id: the same for the same text, and never a business's.
fn stand_in(record: &RawValue) -> i64 {
    let digest = blake3::hash(record.get().as_bytes());
    let mut bytes = [0u8; 8];
    bytes.copy_from_slice(&digest.as_bytes()[..8]);
    -((i64::from_le_bytes(bytes) >> 1).abs() + 1)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Loose {
    id: Option<Value>,
    filed_date: Option<Value>,
    name: Option<Value>,
    entity_type: Option<Value>,
    zip: Option<Value>,
    city: Option<Value>,
    industry: Option<Value>,
}

impl Loose {
    fn read(record: &RawValue) -> Self {
        serde_json::from_str(record.get()).unwrap_or_default()
    }
}

/// The rows of one listing, each once: those the API showed, and those of the lake that it was not seen to have dropped.
#[derive(Debug, Default)]
pub struct Seen {
    rows: HashMap<i64, SeenRow>,
    by_day: BTreeMap<Date, BTreeSet<i64>>,
    /// Rows of the lake, and whether the API has shown them since.
    held: HashMap<i64, bool>,
    /// Rows of the lake that the API lists no more, and the day they stood on.
    gone: BTreeMap<i64, Date>,
}

impl Seen {
    /// Takes in a row that the API shows; a row seen before is replaced.
    pub fn insert(&mut self, row: SeenRow) {
        if let Some(shown) = self.held.get_mut(&row.id) {
            *shown = true;
        }
        self.gone.remove(&row.id);
        self.put(row);
    }

    /// Takes in a row that the lake lists, unless the API has shown it.
    pub fn hold(&mut self, row: SeenRow) {
        if !self.rows.contains_key(&row.id) {
            self.held.insert(row.id, false);
            self.put(row);
        }
    }

    /// Takes the rows of the lake for as good as not shown: a page that told nothing new is not landed.
    pub fn forget_shown(&mut self) {
        self.held.values_mut().for_each(|shown| *shown = false);
    }

    /// Whether a row was taken in.
    pub fn has(&self, id: i64) -> bool {
        self.rows.contains_key(&id)
    }

    /// Whether a row is one of the lake's.
    pub fn is_held(&self, id: i64) -> bool {
        self.held.contains_key(&id)
    }

    /// Drops the rows of one day's cell that stand between two ids, both left out, and are not among `shown`: the API was seen
    /// to list none of them there. Gives those that are the lake's.
    pub fn drop_between(&mut self, cell: &Slice, oldest: i64, newest: i64, shown: &[i64]) -> Vec<SeenRow> {
        let shown: HashSet<i64> = shown.iter().copied().collect();
        let absent: Vec<i64> = self.ids(cell, oldest, newest).filter(|id| !shown.contains(id)).collect();
        let mut dropped = Vec::new();
        for id in absent {
            dropped.extend(self.rows.remove(&id).filter(|row| self.held.contains_key(&row.id)));
            if let Some(ids) = self.by_day.get_mut(&cell.to) {
                ids.remove(&id);
            }
        }
        self.gone.extend(dropped.iter().map(|row| (row.id, cell.to)));
        dropped
    }

    /// Takes a row of the lake back that was dropped and is listed still, as it is now.
    pub fn keep(&mut self, row: SeenRow) {
        self.gone.remove(&row.id);
        self.put(row);
    }

    /// Ids of one day's cell between two ids, both left out, newest first.
    pub fn ids<'s>(&'s self, cell: &'s Slice, oldest: i64, newest: i64) -> impl Iterator<Item = i64> + 's {
        let between = self.by_day.get(&cell.to).filter(|_| oldest < newest);
        let ids = between.into_iter().flat_map(move |ids| ids.range((Excluded(oldest), Excluded(newest))));
        ids.rev().copied().filter(|id| self.rows.get(id).is_some_and(|row| cell.filter.matches(row)))
    }

    /// Rows of the lake that the API lists no more, and the day they stood on.
    pub fn gone(&self) -> &BTreeMap<i64, Date> {
        &self.gone
    }

    /// Rows of a day that the API showed.
    pub fn shown_on(&self, day: Date) -> impl Iterator<Item = i64> + '_ {
        let ids = self.by_day.get(&day).into_iter().flatten().copied();
        ids.filter(|id| self.held.get(id).copied().unwrap_or(true))
    }

    fn put(&mut self, row: SeenRow) {
        let (id, day) = (row.id, row.filed_date);
        if let Some(before) = self.rows.insert(id, row)
            && before.filed_date != day
            && let Some(ids) = self.by_day.get_mut(&before.filed_date)
        {
            ids.remove(&id);
        }
        self.by_day.entry(day).or_default().insert(id);
    }

    /// Forgets a day, before it is read anew.
    pub fn forget(&mut self, day: Date) {
        for id in self.by_day.remove(&day).unwrap_or_default() {
            self.rows.remove(&id);
            self.held.remove(&id);
        }
        self.gone.retain(|_, stood_on| *stood_on != day);
    }

    /// Distinct rows of the days `from` to `to`.
    pub fn count_between(&self, from: Date, to: Date) -> u64 {
        self.by_day.range(from..=to).map(|(_, ids)| ids.len() as u64).sum()
    }

    /// Distinct rows of a day.
    pub fn count_on(&self, day: Date) -> u64 {
        self.count_between(day, day)
    }

    /// Distinct rows that belong to a slice.
    pub fn count(&self, slice: &Slice) -> u64 {
        if slice.filter == Default::default() {
            return self.count_between(slice.from, slice.to);
        }
        self.rows_of(slice.from, slice.to).filter(|row| slice.filter.matches(row)).count() as u64
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &SeenRow> {
        self.rows.values()
    }

    /// Rows of the days `from` to `to`.
    pub fn rows_of(&self, from: Date, to: Date) -> impl Iterator<Item = &SeenRow> {
        self.by_day.range(from..=to).flat_map(|(_, ids)| ids.iter().filter_map(|id| self.rows.get(id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    #[test]
    fn a_record_without_id_or_date_still_counts_once_and_stands_where_it_was() {
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
    fn a_row_of_the_lake_is_gone_only_where_the_api_was_seen_to_pass_it_over() {
        let day = date(2026, 7, 3);
        let cell = Slice { filter: Default::default(), from: day, to: day };
        let mut interner = Interner::default();
        let mut row = |id: i64| interner.read(&raw(&format!(r#"{{"id":"{id}","filed_date":"{day}"}}"#)), day);
        let mut seen = Seen::default();
        (1..=5).for_each(|id| seen.hold(row(id)));
        seen.insert(row(5));
        seen.insert(row(2));
        seen.insert(row(6));
        seen.drop_between(&cell, 2, 5, &[5, 2]);
        assert_eq!(seen.gone().keys().copied().collect::<Vec<_>>(), [3, 4]);
        assert_eq!(seen.ids(&cell, i64::MIN, i64::MAX).collect::<Vec<_>>(), [6, 5, 2, 1]);
        assert_eq!(seen.shown_on(day).collect::<Vec<_>>(), [2, 5, 6]);
        assert_eq!(seen.ids(&cell, 5, 5).count(), 0);
        seen.insert(row(4));
        assert_eq!(seen.gone().len(), 1, "it is there after all");
    }

    #[test]
    fn a_row_that_moved_to_another_day_is_counted_on_the_new_one_alone() {
        let mut interner = Interner::default();
        let mut seen = Seen::default();
        for day in ["2026-07-03", "2026-07-04"] {
            let record = raw(&format!(r#"{{"id":"7","filed_date":"{day}"}}"#));
            seen.insert(interner.read(&record, date(2026, 1, 1)));
        }
        assert_eq!((seen.count_on(date(2026, 7, 3)), seen.count_on(date(2026, 7, 4))), (0, 1));
    }
}
