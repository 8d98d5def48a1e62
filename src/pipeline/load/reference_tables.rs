//! Merges the API's lists and counts into their tables.
//!
//! Their rows have a day, but no time. A resumed run may merge answers that are older than those of another run of the same day. So the
//! time of each answer decides: an older answer only adds rows that the newer one lacks. The tables are the same in either order.

use super::landing::Landing;
use super::page_store::CameAt;
use crate::contract::count::DailyCount;
use crate::contract::reference::Sector;
use crate::extract::reference::Reference;
use crate::lake::{Staging, TableDelta};
use crate::pipeline::error::Result;
use crate::pipeline::plan::lake_view::rows_of;
use crate::pipeline::state::newest_lists::NewestLists;
use crate::pipeline::state::run_state::RunState;
use crate::table::{
    CountyFactsRow, CountyRow, DailyCountRow, EntityTypeRow, IndustryLabelRow, IndustryTypeRow,
    MonthlyCountRow, Row, SegmentRow, StatewideRow, Table, TypeCountRow,
};
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Merges the lists and counts of the run's day. The state of the parent snapshot has the times of those merged before.
pub(crate) fn merge_lists(
    reference: &Reference,
    counts: &[DailyCount],
    landing: &mut Landing,
    deltas: &mut BTreeMap<String, TableDelta>,
) -> Result<()> {
    let newest = RunState::of(landing.staging.parent()).lists;
    let day = landing.today;
    let (came, staging) = (&landing.lists_came, &mut landing.staging);
    let mut lists = Lists { day, came, newest: &newest, staging, deltas };
    let (stats, industries) = (&reference.stats, &reference.industries);
    lists.add(counts.iter().map(|count| DailyCountRow::from(day, count)))?;
    lists.add(reference.counties.iter().map(|county| CountyRow::from(day, county)))?;
    lists.add(stats.monthly.iter().flat_map(|month| MonthlyCountRow::from(day, month)))?;
    lists.add([StatewideRow::from(day, stats)])?;
    lists.add(stats.type_split_30d.iter().map(|split| TypeCountRow::from(day, split)))?;
    lists.add(industries.sectors.iter().flat_map(|sector| IndustryTypeRow::from(day, sector)))?;
    lists.add(industries.segments.iter().flat_map(|segment| SegmentRow::from(day, segment)))?;
    lists.add(reference.entity_types.iter().map(|entry| EntityTypeRow::from(day, entry)))?;
    stage_facts(&industries.sectors, &mut landing.staging, deltas)
}

/// Merges what the program itself knows: facts of the counties, and labels of industries, those of `sectors` included.
pub(crate) fn stage_facts(
    sectors: &[Sector],
    staging: &mut Staging,
    deltas: &mut BTreeMap<String, TableDelta>,
) -> Result<()> {
    let counties = CountyFactsRow::batch(&CountyFactsRow::all())?;
    let labels = IndustryLabelRow::batch(&IndustryLabelRow::all(sectors))?;
    for (table, rows) in [(Table::CountyFacts, counties), (Table::IndustryLabels, labels)] {
        deltas.insert(table.name().to_owned(), staging.merge(table, &rows)?);
    }
    Ok(())
}

/// Stages the types of businesses with their labels, which no file of the state has.
pub(crate) fn stage_types(staging: &mut Staging, as_of: Date) -> Result<()> {
    let rows = EntityTypeRow::batch(&EntityTypeRow::all(as_of))?;
    staging.replace(Table::EntityTypesHistory, &rows)?;
    staging.replace(Table::EntityTypes, &rows)?;
    Ok(())
}

/// Lists and counts of one day, and their tables.
struct Lists<'a> {
    day: Date,
    came: &'a CameAt,
    /// When those in the tables arrived.
    newest: &'a NewestLists,
    staging: &'a mut Staging,
    deltas: &'a mut BTreeMap<String, TableDelta>,
}

impl Lists<'_> {
    /// Merges rows into their table and its history. Rows of the history that may be newer replace them.
    fn add<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<()> {
        let mut rows: Vec<R> = rows.into_iter().collect();
        let read = rows.len() as u64;
        let Some(history) = R::TABLE.history() else { return Ok(()) };
        if self.newest.may_be_newer(self.day, R::TABLE, self.came.get(&R::TABLE).copied()) {
            // Of rows with the same key the last wins.
            rows.extend(rows_of::<R>(self.staging.sound_table(history)?)?);
        }
        let (latest, all) = self.staging.merge_observed(R::TABLE, &R::batch(&rows)?)?;
        for (table, delta) in [(R::TABLE, latest), (history, all)] {
            self.deltas.insert(table.name().to_owned(), TableDelta { read, ..delta });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::Lake;
    use crate::pipeline::load::recount::tests::at;
    use crate::table::read_rows;
    use jiff::civil::date;
    use std::path::Path;

    const DAY: Date = date(2026, 11, 20);

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

    fn count(filed_date: Date, filings: i64) -> DailyCountRow {
        DailyCountRow { observed_on: DAY, filed_date, filings }
    }

    /// The second an answer arrived, `businesses_total`, and counts of days.
    type Answer<'a> = (i64, i64, &'a [DailyCountRow]);

    /// The tables once answers are merged in this order, and what the last one added.
    fn merged(root: &Path, answers: &[Answer<'_>]) -> (Vec<StatewideRow>, Vec<DailyCountRow>, TableDelta) {
        let lake = Lake::open(root).expect("a lake");
        let mut staging = lake.stage("20261120T100000000Z-lists").expect("a snapshot begun");
        let (mut newest, mut deltas) = (NewestLists::default(), BTreeMap::new());
        for (second, total, counts) in answers {
            let came = CameAt::from([(Table::Statewide, at(*second)), (Table::DailyCounts, at(*second))]);
            let mut lists =
                Lists { day: DAY, came: &came, newest: &newest, staging: &mut staging, deltas: &mut deltas };
            lists.add([statewide(*total)]).expect("merged");
            lists.add(counts.iter().cloned()).expect("merged");
            newest.note(DAY, &came);
        }
        let file = |table: Table| staging.sound_table(table).expect("files").remove(0);
        let totals = read_rows(&file(Table::Statewide)).expect("rows");
        let counts = read_rows(&file(Table::DailyCounts)).expect("rows");
        (totals, counts, deltas.remove(Table::DailyCounts.name()).expect("a delta"))
    }

    #[test]
    fn the_newer_answer_wins_in_either_order_and_the_older_adds_missing_rows() {
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
}
