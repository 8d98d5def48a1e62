//! Which snapshots are kept (pure).

use super::history::SnapshotEntry;
use jiff::civil::Date;
use std::collections::BTreeSet;

/// How many snapshots are kept; the others may be pruned. The newest and the pinned ones are always kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// This many of the newest.
    pub last: u32,
    /// The newest of each of the last days that have one.
    pub daily: u32,
    /// The newest of each of the last weeks (Monday to Sunday) that have one.
    pub weekly: u32,
    /// The newest of each of the last months that have one.
    pub monthly: u32,
}

impl Retention {
    /// Whether no rule is set.
    pub const fn is_empty(&self) -> bool {
        self.last == 0 && self.daily == 0 && self.weekly == 0 && self.monthly == 0
    }

    /// The snapshots that no rule keeps, oldest first; none when no rule is set.
    pub fn expired(&self, snapshots: &[&SnapshotEntry]) -> BTreeSet<u64> {
        if self.is_empty() {
            return BTreeSet::new();
        }
        let mut newest_first = snapshots.to_vec();
        newest_first.sort_by_key(|entry| std::cmp::Reverse(entry.snapshot));
        let mut stay: BTreeSet<u64> =
            newest_first.iter().filter(|entry| entry.pinned).map(|entry| entry.snapshot).collect();
        stay.extend(newest_first.iter().take(self.last.max(1) as usize).map(|entry| entry.snapshot));
        stay.extend(newest_of_each(&newest_first, self.daily, |day| (day.year(), day.day_of_year())));
        stay.extend(newest_of_each(&newest_first, self.weekly, |day| {
            let week = day.iso_week_date();
            (week.year(), i16::from(week.week()))
        }));
        stay.extend(newest_of_each(&newest_first, self.monthly, |day| (day.year(), i16::from(day.month()))));
        let all = newest_first.into_iter().map(|entry| entry.snapshot);
        all.filter(|snapshot| !stay.contains(snapshot)).collect()
    }
}

/// The newest snapshot of each of the last `count` periods that have one.
fn newest_of_each(
    newest_first: &[&SnapshotEntry],
    count: u32,
    period: impl Fn(Date) -> (i16, i16),
) -> Vec<u64> {
    let mut periods = BTreeSet::new();
    let mut kept = Vec::new();
    for snapshot in newest_first {
        if periods.len() < count as usize && periods.insert(period(snapshot.today)) {
            kept.push(snapshot.snapshot);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::snapshot::history::SnapshotState;
    use jiff::Timestamp;
    use jiff::civil::date;

    fn published(snapshot: u64, today: Date) -> SnapshotEntry {
        SnapshotEntry {
            snapshot,
            state: SnapshotState::Published,
            pinned: false,
            current: false,
            parent: None,
            restores: None,
            committed_at: Timestamp::UNIX_EPOCH,
            today,
            run_id: String::new(),
            pipeline: String::new(),
            filings: 0,
            rows: 0,
            bytes: 0,
        }
    }

    /// One snapshot a day from 2026-01-01, two on every tenth day.
    fn year() -> Vec<SnapshotEntry> {
        let mut snapshots = Vec::new();
        for back in 0..365 {
            let day = date(2026, 1, 1).saturating_add(jiff::Span::new().days(back));
            for _ in 0..if back % 10 == 0 { 2 } else { 1 } {
                snapshots.push(published(snapshots.len() as u64 + 1, day));
            }
        }
        snapshots
    }

    fn stay(retention: Retention, snapshots: &[SnapshotEntry]) -> Vec<u64> {
        let expired = retention.expired(&snapshots.iter().collect::<Vec<_>>());
        snapshots.iter().map(|entry| entry.snapshot).filter(|number| !expired.contains(number)).collect()
    }

    #[test]
    fn without_a_rule_nothing_expires_and_the_newest_never_does() {
        assert_eq!(stay(Retention::default(), &year()).len(), year().len());
        let newest = year().len() as u64;
        for retention in [
            Retention { last: 1, ..Retention::default() },
            Retention { monthly: 1, ..Retention::default() },
            Retention { daily: 1, weekly: 1, ..Retention::default() },
        ] {
            assert_eq!(stay(retention, &year()), [newest], "{retention:?}");
        }
    }

    #[test]
    fn days_weeks_and_months_keep_their_newest() {
        let snapshots = year();
        let days_of = |retention| {
            let numbers = stay(retention, &snapshots);
            let of = |entry: &&SnapshotEntry| numbers.contains(&entry.snapshot);
            snapshots.iter().filter(of).map(|entry| entry.today).collect::<Vec<Date>>()
        };
        let monthly = days_of(Retention { monthly: 3, ..Retention::default() });
        assert_eq!(monthly, [date(2026, 10, 31), date(2026, 11, 30), date(2026, 12, 31)]);
        let weekly = days_of(Retention { weekly: 3, ..Retention::default() });
        assert_eq!(weekly, [date(2026, 12, 20), date(2026, 12, 27), date(2026, 12, 31)]);
        let daily = days_of(Retention { daily: 4, ..Retention::default() });
        assert_eq!(daily.len(), 4);
        assert_eq!(stay(Retention { daily: 10, ..Retention::default() }, &snapshots).len(), 10);
    }

    #[test]
    fn a_pinned_snapshot_is_kept() {
        let mut snapshots = year();
        snapshots[6].pinned = true;
        let kept = stay(Retention { last: 2, ..Retention::default() }, &snapshots);
        assert_eq!((kept.len(), kept[0]), (3, 7));
    }
}
