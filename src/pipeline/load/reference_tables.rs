//! The API's lists and counts on their way into the lake.
//!
//! Their rows name the day they are of, and no instant. A run that goes on brings answers from before it was killed, and other runs of
//! that day may have merged newer ones meanwhile. So it is looked at when each answer came: an older one only adds what the newer one
//! left open, and the tables are the same whichever was merged first.

use super::landing::Landing;
use super::page_store::Pages;
use crate::client::Call;
use crate::contract::count::DailyCount;
use crate::contract::param::MAX_DAYS;
use crate::extract::reference::Reference;
use crate::lake::{Staging, TableDelta};
use crate::pipeline::PipelineError;
use crate::pipeline::state::{NewestLists, RunState};
use crate::table::{
    CountyRow, DailyCountRow, EntityTypeRow, IndustryTypeRow, MonthlyCountRow, Row, SegmentRow, StatewideRow,
    Table, TypeCountRow, read_rows,
};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// When the answers came that tables are made from.
pub(crate) type CameAt = BTreeMap<Table, Timestamp>;

/// When lists and counts came, as far as a run's archive has them.
pub(crate) fn came_at(pages: &Pages) -> Result<CameAt, PipelineError> {
    let mut came = CameAt::new();
    let mut note = |target: &str, tables: &[Table]| -> Result<(), PipelineError> {
        if let Some(page) = pages.0.borrow().get(target, 0)? {
            for table in tables {
                let newest = came.entry(*table).or_insert(page.received_at);
                *newest = page.received_at.max(*newest);
            }
        }
        Ok(())
    };
    note(Call::entity_types().target(), &[Table::EntityTypes])?;
    note(Call::industries().target(), &[Table::IndustryTypes, Table::IndustrySegments])?;
    note(Call::counties().target(), &[Table::Counties])?;
    note(Call::stats().target(), &[Table::MonthlyCounts, Table::Statewide, Table::TypeSplit])?;
    // For how many days the run asked is its own affair.
    for days in 1..=MAX_DAYS {
        note(Call::daily_counts(days).target(), &[Table::DailyCounts])?;
    }
    Ok(came)
}

/// Merges lists and counts as those of a day; what the snapshot below has merged is in its state.
pub(crate) fn merge_lists(
    day: Date,
    (reference, counts): (&Reference, &[DailyCount]),
    landing: &mut Landing,
    deltas: &mut BTreeMap<String, TableDelta>,
) -> Result<(), PipelineError> {
    let parent = landing.staging.parent();
    let newest = parent.map(|commit| RunState::from_commit(&commit.state).lists).unwrap_or_default();
    let (came, staging) = (&landing.lists_came, &mut landing.staging);
    let mut lists = Lists { day, came, newest: &newest, staging, deltas };
    let (stats, industries) = (&reference.stats, &reference.industries);
    lists.lay(counts.iter().map(|count| DailyCountRow::from(day, count)))?;
    lists.lay(reference.counties.iter().map(|county| CountyRow::from(day, county)))?;
    lists.lay(stats.monthly.iter().flat_map(|month| MonthlyCountRow::from(day, month)))?;
    lists.lay([StatewideRow::from(day, stats)])?;
    lists.lay(stats.type_split_30d.iter().map(|split| TypeCountRow::from(day, split)))?;
    lists.lay(industries.sectors.iter().flat_map(|sector| IndustryTypeRow::from(day, sector)))?;
    lists.lay(industries.segments.iter().flat_map(|segment| SegmentRow::from(day, segment)))?;
    lists.lay(reference.entity_types.iter().map(|entry| EntityTypeRow::from(day, entry)))
}

/// Lists and counts of one day, and where they go.
struct Lists<'a> {
    day: Date,
    came: &'a CameAt,
    /// When those came that the tables hold.
    newest: &'a NewestLists,
    staging: &'a mut Staging,
    deltas: &'a mut BTreeMap<String, TableDelta>,
}

impl Lists<'_> {
    /// Lays rows over those of their table; where these may be newer, under them.
    fn lay<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<(), PipelineError> {
        let mut rows: Vec<R> = rows.into_iter().collect();
        let read = rows.len() as u64;
        if self.newest.may_outdo(self.day, R::TABLE, self.came.get(&R::TABLE).copied()) {
            // Of rows with one key the last wins.
            for file in self.staging.sound_table(R::TABLE)? {
                rows.extend(read_rows::<R>(&file)?);
            }
        }
        let delta = self.staging.merge(R::TABLE, &R::batch(&rows)?)?;
        self.deltas.insert(R::TABLE.name().to_owned(), TableDelta { read, ..delta });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::{Lake, RawArchive};
    use jiff::civil::date;
    use std::cell::RefCell;
    use std::path::Path;
    use std::rc::Rc;

    const DAY: Date = date(2026, 11, 20);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    fn statewide(businesses_total: i64) -> StatewideRow {
        StatewideRow {
            observed_on: DAY,
            businesses_total,
            latest_filing_date: DAY,
            updated_at: String::new(),
            filings_last_7_days: 0,
            filings_last_30_days: 0,
            filings_previous_30_days: 0,
            filings_last_365_days: 0,
        }
    }

    fn count(date: Date, count: i64) -> DailyCountRow {
        DailyCountRow { observed_on: DAY, date, count }
    }

    /// Answers by the second they came: `businesses_total`, and counts of days.
    type Answer<'a> = (i64, i64, &'a [DailyCountRow]);

    /// What the tables hold once answers were merged in this order, and what the last of them was said to add.
    fn merged(root: &Path, answers: &[Answer<'_>]) -> (Vec<StatewideRow>, Vec<DailyCountRow>, TableDelta) {
        let lake = Lake::open(root).expect("a lake");
        let mut staging = lake.stage("20261120T100000000Z-lists").expect("a snapshot begun");
        let (mut newest, mut deltas) = (NewestLists::default(), BTreeMap::new());
        for (second, total, counts) in answers {
            let came = CameAt::from([(Table::Statewide, at(*second)), (Table::DailyCounts, at(*second))]);
            let mut lists =
                Lists { day: DAY, came: &came, newest: &newest, staging: &mut staging, deltas: &mut deltas };
            lists.lay([statewide(*total)]).expect("merged");
            lists.lay(counts.iter().cloned()).expect("merged");
            newest.note(DAY, &came);
        }
        let file = |table: Table| staging.sound_table(table).expect("files").remove(0);
        let totals = read_rows(&file(Table::Statewide)).expect("rows");
        let counts = read_rows(&file(Table::DailyCounts)).expect("rows");
        (totals, counts, deltas.remove(Table::DailyCounts.name()).expect("a delta"))
    }

    #[test]
    fn the_newer_answer_of_a_day_stays_whichever_is_merged_later_and_the_older_fills_up() {
        let (yesterday, before) = (date(2026, 11, 19), date(2026, 11, 18));
        let older = [count(yesterday, 5), count(before, 7)];
        let newer = [count(yesterday, 6)];
        let (older, newer): (Answer<'_>, Answer<'_>) = ((1, 6_586, &older), (2, 6_592, &newer));
        for order in [[older, newer], [newer, older]] {
            let root = tempfile::tempdir().expect("a folder");
            let (totals, counts, delta) = merged(root.path(), &order);
            assert_eq!(totals, [statewide(6_592)]);
            assert_eq!(counts, [count(yesterday, 6), count(before, 7)]);
            assert_eq!(delta.read, order[1].2.len() as u64);
            assert_eq!(delta.total, 2);
        }
    }

    #[test]
    fn the_archive_tells_when_each_answer_came() {
        let root = tempfile::tempdir().expect("a folder");
        let mut archive = RawArchive::open(root.path()).expect("an archive");
        for (target, second) in [("/v1/fl/stats", 4), ("/v1/fl/filings/daily?days=31", 5), ("/v1/me", 6)] {
            archive.append(target, 0, 200, at(second), b"{}").expect("kept");
        }
        let came = came_at(&Pages(Rc::new(RefCell::new(archive)))).expect("instants");
        let expected = [
            (Table::DailyCounts, at(5)),
            (Table::MonthlyCounts, at(4)),
            (Table::Statewide, at(4)),
            (Table::TypeSplit, at(4)),
        ];
        assert_eq!(came, CameAt::from(expected));
    }
}
