//! When lists and counts arrived.

use super::page_store::Pages;
use crate::client::Call;
use crate::contract::param::MAX_DAYS;
use crate::pipeline::error::Result;
use crate::table::Table;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// When the answers arrived that tables are made from.
pub(crate) type CameAt = BTreeMap<Table, Timestamp>;

/// When lists and counts arrived, as far as a run's archive has them.
pub(crate) fn came_at(pages: &Pages) -> Result<CameAt> {
    let mut came = CameAt::new();
    let mut note = |target: &str, tables: &[Table]| -> Result<()> {
        if let Some(page) = pages.archive().get(target, 0)? {
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
    // Each run requests its own number of days.
    for days in 1..=MAX_DAYS {
        note(Call::daily_counts(days).target(), &[Table::DailyCounts])?;
    }
    Ok(came)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::RawArchive;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    #[test]
    fn the_archive_has_the_time_of_each_answer() {
        let root = tempfile::tempdir().expect("a folder");
        let mut archive = RawArchive::open(root.path()).expect("an archive");
        for (target, second) in [("/v1/fl/stats", 4), ("/v1/fl/filings/daily?days=31", 5), ("/v1/me", 6)] {
            archive.append(target, 0, 200, at(second), b"{}").expect("kept");
        }
        let came = came_at(&Pages::new(archive)).expect("instants");
        let expected = [
            (Table::DailyCounts, at(5)),
            (Table::MonthlyCounts, at(4)),
            (Table::Statewide, at(4)),
            (Table::TypeSplit, at(4)),
        ];
        assert_eq!(came, CameAt::from(expected));
    }
}
