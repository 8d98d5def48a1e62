//! What a lake claims of its days, and what of it is true.

use crate::support::changing_api::{Change, State};
use crate::support::lake::{current, files_below};
use crate::support::listings::Query;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use sunlake::table::{CoverageRow, FilingRow, Row, read_rows};

type Ids = BTreeSet<u64>;

/// The listing of a day: `*`, or fictitious names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DayListing {
    pub(super) day: Date,
    pub(super) is_fictitious: bool,
}

impl fmt::Display for DayListing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.day, if self.is_fictitious { "fictitious" } else { "*" })
    }
}

impl DayListing {
    /// The ids that the API lists now.
    fn listed(self, api: &State) -> Ids {
        let kind = self.is_fictitious.then(|| "fictitious".to_owned());
        api.listings.rows(&Query::of_days(self.day, self.day, kind)).map(|filing| filing.id).collect()
    }

    fn changes(self, api: &State) -> impl Iterator<Item = &Change> {
        let is_of =
            move |change: &&Change| (change.filed, change.is_fictitious) == (self.day, self.is_fictitious);
        api.changes.iter().filter(is_of)
    }
}

/// A lake's calendar and rows.
pub(super) struct Claims {
    pub(super) is_complete: BTreeMap<DayListing, bool>,
    ids: BTreeMap<DayListing, Ids>,
}

impl Claims {
    pub(super) fn of(lake: &Path) -> Self {
        let mut is_complete = BTreeMap::new();
        for row in table::<CoverageRow>(lake) {
            let is_fictitious = match row.entity_type.as_str() {
                "*" => false,
                "fictitious" => true,
                _ => continue,
            };
            is_complete.insert(DayListing { day: row.filed_date, is_fictitious }, row.complete);
        }
        let mut ids: BTreeMap<_, Ids> = BTreeMap::new();
        for row in table::<FilingRow>(lake).into_iter().filter(|row| row.listed) {
            let is_fictitious = row.entity_type == "fictitious";
            let of_day = ids.entry(DayListing { day: row.filed_date, is_fictitious }).or_default();
            assert!(
                of_day.insert(row.business_id.unsigned_abs()),
                "{} is twice in the lake",
                row.business_id
            );
        }
        Self { is_complete, ids }
    }

    /// What of a day that the lake calls complete is true.
    pub(super) fn judge(&self, of: DayListing, api: &State) -> Finding {
        let lake = self.ids.get(&of).cloned().unwrap_or_default();
        let now = of.listed(api);
        let shown = before_the_unseen(&now, of, api);
        let verdict = match () {
            () if lake == now => Verdict::True,
            () if lake == shown => Verdict::Overtaken,
            () if lake.len() == shown.len() || lake.len() == now.len() => Verdict::Hidden,
            () => Verdict::Wrong,
        };
        Finding { of, verdict, lake, now }
    }
}

/// The listing without the changes that no answer has shown.
fn before_the_unseen(now: &Ids, of: DayListing, api: &State) -> Ids {
    let mut ids = now.clone();
    for change in of.changes(api).filter(|change| change.shown_by.is_none()) {
        match change.came {
            true => ids.remove(&change.id),
            false => ids.insert(change.id),
        };
    }
    // A row that came unseen and was dissolved unseen was never there.
    for change in of.changes(api).filter(|change| change.came && change.shown_by.is_none()) {
        ids.remove(&change.id);
    }
    ids
}

/// All rows of a table of the newest snapshot; none before there is one.
fn table<R: Row>(lake: &Path) -> Vec<R> {
    if !lake.join("current").exists() {
        return Vec::new();
    }
    let files = files_below(&current(lake).join(R::TABLE.name()));
    files.iter().flat_map(|file| read_rows(file).expect("rows")).collect()
}

/// How true it is that a day is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    True,
    /// It was true when the API last answered about rows that changed; they changed after it.
    Overtaken,
    /// The number is right, the rows are not.
    Hidden,
    /// The number is not right, and an answer has shown it.
    Wrong,
}

/// A day as the lake has it and as the API lists it.
pub(super) struct Finding {
    pub(super) of: DayListing,
    pub(super) verdict: Verdict,
    lake: Ids,
    now: Ids,
}

impl Finding {
    pub(super) fn has_same_number(&self) -> bool {
        self.lake.len() == self.now.len()
    }

    /// Counts, ids, and how they came to differ.
    pub(super) fn explained(&self, api: &State) -> String {
        let missing: Vec<_> = self.now.difference(&self.lake).collect();
        let strange: Vec<_> = self.lake.difference(&self.now).collect();
        let (listed, landed) = (self.now.len(), self.lake.len());
        let mut text = format!(
            "{}: {listed} listed, {landed} in the lake as complete; not in the lake {:?}, no more listed {:?}",
            self.of,
            first(&missing),
            first(&strange),
        );
        let differs = |change: &&Change| missing.contains(&&change.id) || strange.contains(&&change.id);
        for change in self.of.changes(api).filter(differs).take(MOST_SHOWN) {
            let what = if change.came { "came" } else { "was dissolved" };
            let shown = change.shown_by.as_deref().unwrap_or("no answer yet");
            text.push_str(&format!("\n      {} {what} after {}; shown by {shown}", change.id, change.after));
        }
        text
    }
}

/// Ids and changes of a day that a failure names.
const MOST_SHOWN: usize = 4;

fn first<T>(all: &[T]) -> &[T] {
    &all[..all.len().min(MOST_SHOWN)]
}
