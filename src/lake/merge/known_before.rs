//! What a lake knew of businesses whose rows a repair left out. They are no news when they come back.

use super::losses::Losses;
use crate::contract::eastern::day_of_epoch;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Month;
use crate::lake::snapshot::staging::Staging;
use crate::table::{Change, ChangeRow, Row as _, Table};
use hashbrown::HashMap;

/// What is known of a business whose row is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Past {
    /// When the lake had it first, as far as known, in microseconds.
    pub(super) first_seen: i64,
    /// Whether it was no longer listed.
    pub(super) was_gone: bool,
}

/// The businesses that a merge would find new, although the lake had them.
#[derive(Debug, Default)]
pub(super) struct KnownBefore {
    by_id: HashMap<i64, Past>,
    losses: Losses,
}

impl KnownBefore {
    /// By the losses and the changes of a lake; nothing where nothing is lost.
    pub(super) fn of(staging: &Staging) -> Result<Self, LakeError> {
        let losses = staging.losses.clone();
        let mut by_id: HashMap<i64, Past> = HashMap::new();
        let mut rows: Vec<ChangeRow> = Vec::new();
        for file in staging.of_table(Table::Changes.name()).iter().filter(|_| !losses.is_empty()) {
            rows.extend(ChangeRow::rows(&staging.read(Table::Changes, std::iter::once(file))?)?);
        }
        rows.sort_by_key(|row| row.observed_at);
        for row in rows {
            let first_seen = row.observed_at.as_microsecond();
            let past = by_id.entry(row.business_id).or_insert(Past { first_seen, was_gone: false });
            match row.change {
                Change::Vanished => past.was_gone = true,
                Change::Returned => past.was_gone = false,
                Change::Appeared | Change::Changed => {}
            }
        }
        Ok(Self { by_id, losses })
    }

    /// What is known of a business without a row that is observed in a listing: its Date32 day, and whether of fictitious names.
    pub(super) fn of_business(&self, id: i64, day: i32, is_fictitious: bool) -> Option<Past> {
        let day = day_of_epoch(day).filter(|day| !self.losses.read.contains(&(*day, is_fictitious)));
        let had_at = day.and_then(Month::of).and_then(|month| self.losses.months.get(&month));
        let of_month = had_at.map(|at| Past { first_seen: at.as_microsecond(), was_gone: false });
        self.by_id.get(&id).copied().or(of_month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::epoch_days;
    use jiff::Timestamp;
    use jiff::civil::{Date, date};
    use std::collections::BTreeSet;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    #[test]
    fn a_listing_of_a_lost_month_is_no_news_until_it_was_read_again() {
        let (day, other) = (date(2026, 11, 20), date(2026, 12, 1));
        let month = Month::of(day).expect("a month");
        let mut losses = Losses::default();
        losses.note(month, at(50));
        losses.note(month, at(70));
        losses.note_read([(day, false), (other, false)]);
        assert_eq!(losses.read, BTreeSet::from([(day, false)]));
        let known = |losses: &Losses, (day, is_fictitious): (Date, bool)| {
            let known = KnownBefore { by_id: HashMap::new(), losses: losses.clone() };
            known.of_business(7, epoch_days(day), is_fictitious).map(|past| past.first_seen)
        };
        assert_eq!(known(&losses, (day, true)), Some(50_000_000));
        assert_eq!(known(&losses, (day, false)), None);
        assert_eq!(known(&losses, (other, false)), None);
        let text = serde_json::to_string(&losses).expect("JSON");
        assert_eq!(serde_json::from_str::<Losses>(&text).expect("losses"), losses);
        losses.note(month, at(90));
        assert_eq!(known(&losses, (day, false)), Some(50_000_000));
        losses.forget_before(day);
        assert!(!losses.is_empty());
        losses.forget_before(other);
        assert!(losses.is_empty());
    }
}
